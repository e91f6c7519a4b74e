//go:build unix

package servertest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/stores/blob"
)

// catalog returns a catalog over the directories "commands" and "skills" of a bucket.
func (b *bucket) catalog(opts blob.Options, more ...toolshelf.Option) *toolshelf.Catalog {
	b.t.Helper()
	s := b.store(opts)
	sub := func(dir string) fs.FS {
		return must.Get(s.Sub(dir))(b.t)
	}
	return catalogtest.Open(b.t, append([]toolshelf.Option{
		toolshelf.WithRoot(b.t.TempDir()), toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(),
		toolshelf.WithCommandsFS("bucket", sub("commands")),
		toolshelf.WithSkillsFS("bucket", sub("skills")),
	}, more...)...)
}

func command(description string) string {
	return fmt.Sprintf("---\ndescription: %s\n---\nDo this: %s.\n", description, description)
}

func skill(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\nDo this: %s.\n", name, description, description)
}

// names returns the names of the listed commands.
func names(t *testing.T, cat *toolshelf.Catalog) (all []string) {
	t.Helper()
	for info, err := range cat.All(t.Context()) {
		must.Do(t, err)
		all = append(all, info.Name)
	}
	return all
}

func TestACatalogSeesEveryChange(t *testing.T) {
	b := newBucket(t)
	b.put("commands/deploy.md", command("Deploy slowly"))
	b.put("skills/pdf/SKILL.md", skill("pdf", "Read PDF files"))
	b.put("skills/pdf/scripts/extract.py", "print('text')")
	cat := b.catalog(blob.Options{}, toolshelf.WithNestedCommands())
	expect := func(want string) {
		t.Helper()
		got := fmt.Sprint(names(t, cat))
		for _, name := range []string{"deploy", "frontend:component"} {
			c, err := cat.Get(t.Context(), name)
			if err != nil && !errors.Is(err, toolshelf.ErrCommandNotFound) {
				t.Fatal(err)
			}
			got += " " + c.Metadata.Description
		}
		s, err := cat.GetSkill(t.Context(), "pdf")
		if err != nil && !errors.Is(err, toolshelf.ErrSkillNotFound) {
			t.Fatal(err)
		}
		got += fmt.Sprintf(" %s %d", s.Description, len(s.Files))
		must.Equal(t, "got", want, got)
	}
	expect("[deploy] Deploy slowly  Read PDF files 2")
	b.put("commands/deploy.md", command("Deploy faster")) // the same size, and usually the same second
	expect("[deploy] Deploy faster  Read PDF files 2")
	b.put("commands/frontend/component.md", command("Build a component"))
	expect("[deploy frontend:component] Deploy faster Build a component Read PDF files 2")
	b.delete("commands/deploy.md")
	expect("[frontend:component]  Build a component Read PDF files 2")
	b.put("skills/pdf/SKILL.md", skill("pdf", "Fill PDF forms"))
	expect("[frontend:component]  Build a component Fill PDF forms 2")
	b.delete("skills/pdf/scripts/extract.py")
	expect("[frontend:component]  Build a component Fill PDF forms 1")
	b.delete("skills/pdf/SKILL.md")
	expect("[frontend:component]  Build a component  0")
	b.delete("commands/frontend/component.md")
	must.Len(t, "the empty bucket", 0, names(t, cat))
}

func TestACatalogWhoseFilesChangeDuringTheScan(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(b *bucket, key string)
		want   string
	}{
		{"overwritten", func(b *bucket, key string) { b.put(key, command("Again")) }, "deploy: Again, review: Again, "},
		{"deleted", (*bucket).delete, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBucket(t)
			b.put("commands/deploy.md", command("First"))
			b.put("commands/review.md", command("First"))
			cat := b.catalog(blob.Options{})
			var once sync.Once
			b.intercept(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodGet && isObject(r) {
					once.Do(func() {
						test.change(b, "commands/deploy.md")
						test.change(b, "commands/review.md")
					})
				}
				return nil, nil
			})
			got := ""
			for info, err := range cat.All(t.Context()) {
				must.Do(t, err)
				got += info.Name + ": " + info.Description + ", "
			}
			must.Equal(t, "the commands", test.want, got)
		})
	}
}

func TestACatalogEndsWithTheContext(t *testing.T) {
	b := newBucket(t)
	b.put("commands/deploy.md", command("Deploy"))
	cat := b.catalog(blob.Options{})
	ended := make(chan struct{}, 10)
	ctx, cancel := context.WithCancel(t.Context())
	b.intercept(func(r *http.Request) (*http.Response, error) {
		cancel() // while the server works
		<-r.Context().Done()
		ended <- struct{}{}
		return nil, r.Context().Err()
	})
	must.Fail(cat.List(ctx, toolshelf.Page{}))(t, "error", context.Canceled)
	<-ended // the request does not outlive the call
}

// With Options.Stale, a catalog serves what the catalog has listed, as far as the bytes are in
// memory: files of at most 4 KB after a list, longer commands and SKILL.md files after a Get.
func TestMethodsDuringAnOutage(t *testing.T) {
	unreachable := errors.New("unreachable")
	stale := func(err error, age time.Duration) error {
		if !errors.Is(err, unreachable) || age <= 0 {
			t.Errorf("Stale receives %v and the age %v", err, age)
		}
		return nil
	}
	feed := func(ctx context.Context, touch func(...string)) error {
		touch()
		<-ctx.Done()
		return nil
	}
	get := func(name string) func(*toolshelf.Catalog) (string, error) {
		return func(c *toolshelf.Catalog) (string, error) {
			found, err := c.Get(t.Context(), name)
			return found.Metadata.Description, err
		}
	}
	getSkill := func(name string) func(*toolshelf.Catalog) (string, error) {
		return func(c *toolshelf.Catalog) (string, error) {
			found, err := c.GetSkill(t.Context(), name)
			return found.Description, err
		}
	}
	calls := []struct {
		name, want string
		bytes      int // 0 for a list, 1 for a small file, 2 for a larger file, 3 for another file of a skill
		do         func(c *toolshelf.Catalog) (string, error)
	}{
		{"List", "2", 0, func(c *toolshelf.Catalog) (string, error) {
			list, err := c.List(t.Context(), toolshelf.Page{})
			return fmt.Sprint(len(list.Commands)), err
		}},
		{"ListSkills", "2", 0, func(c *toolshelf.Catalog) (string, error) {
			skills, err := c.ListSkills(t.Context())
			return fmt.Sprint(len(skills)), err
		}},
		{"Get", "Deploy", 1, get("deploy")},
		{"GetSkill", "Read PDF files", 1, getSkill("pdf")},
		{"Get of a long command", "Deploy more", 2, get("long")},
		{"GetSkill of a long SKILL.md", "Read long files", 2, getSkill("long")},
		{"ReadSkillFile", "run", 3, func(c *toolshelf.Catalog) (string, error) {
			raw, err := c.ReadSkillFile(t.Context(), "pdf", "scripts/run.sh")
			return string(raw), err
		}},
	}
	long := strings.Repeat("Do the next step.\n", 500)
	for _, test := range []struct {
		name    string
		stale   func(error, time.Duration) error
		options []toolshelf.Option
		before  int // the calls before the outage have fewer bytes
		kept    int // the calls that succeed during the outage have fewer bytes
	}{
		{"without Stale", nil, nil, 4, 0},
		{"nothing listed", stale, nil, 0, 0},
		{"listed", stale, nil, 1, 2},
		{"listed, with a feed", stale, []toolshelf.Option{toolshelf.WithFeed(time.Hour, feed)}, 1, 2},
		{"read", stale, nil, 4, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBucket(t)
			b.put("commands/deploy.md", command("Deploy"))
			b.put("commands/long.md", command("Deploy more")+long)
			b.put("skills/pdf/SKILL.md", skill("pdf", "Read PDF files"))
			b.put("skills/pdf/scripts/run.sh", "run")
			b.put("skills/long/SKILL.md", skill("long", "Read long files")+long)
			cat := b.catalog(blob.Options{Stale: test.stale}, test.options...)
			for _, call := range calls {
				if call.bytes < test.before {
					must.Equal(t, call.name, call.want, must.Get(call.do(cat))(t))
				}
			}
			b.intercept(func(*http.Request) (*http.Response, error) { return nil, unreachable })
			for _, call := range append(calls, calls...) {
				got, err := call.do(cat)
				if call.bytes < test.kept {
					must.Equal(t, call.name, call.want, got)
					must.Do(t, err)
				} else if !errors.Is(err, toolshelf.ErrFileRead) || !errors.Is(err, unreachable) {
					t.Errorf("%s: %v", call.name, err)
				}
			}
			b.intercept(nil)
			if len(test.options) > 0 {
				return // the feed reports no change
			}
			b.put("commands/deploy.md", command("Deploy again"))
			b.put("skills/pdf/SKILL.md", skill("pdf", "Read PDF files again"))
			must.Equal(t, "Get after the outage", "Deploy again",
				must.Get(cat.Get(t.Context(), "deploy"))(t).Metadata.Description)
			must.Equal(t, "GetSkill after the outage", "Read PDF files again",
				must.Get(cat.GetSkill(t.Context(), "pdf"))(t).Description)
		})
	}
}

// requests counts the requests of calls.
type requests struct {
	*bucket
	catalog *toolshelf.Catalog
}

func (r requests) expect(name string, call func(context.Context, *toolshelf.Catalog) error, lists, gets, heads int) {
	r.t.Helper()
	var err error
	got := r.counted(func() { err = call(r.t.Context(), r.catalog) })
	if want := fmt.Sprintf("%d LIST, %d GET, %d HEAD", lists, gets, heads); err != nil || got != want {
		r.t.Errorf("%s: %s, %v; want %s", name, got, err, want)
	}
}

func list(ctx context.Context, cat *toolshelf.Catalog) error {
	_, err := cat.List(ctx, toolshelf.Page{})
	return err
}

func get(ctx context.Context, cat *toolshelf.Catalog) error {
	_, err := cat.Get(ctx, "c00007")
	return err
}

func getUnknown(ctx context.Context, cat *toolshelf.Catalog) error {
	_, err := cat.Get(ctx, "unknown")
	return want(err, toolshelf.ErrCommandNotFound)
}

func listPrompts(ctx context.Context, cat *toolshelf.Catalog) error {
	adapter, err := mcpadapter.New(cat)
	if err == nil {
		_, err = adapter.ListPrompts(ctx, nil)
	}
	return err
}

func listSkills(ctx context.Context, cat *toolshelf.Catalog) error {
	_, err := cat.ListSkills(ctx)
	return err
}

func getSkill(ctx context.Context, cat *toolshelf.Catalog) error {
	s, err := cat.GetSkill(ctx, "s0007")
	if err == nil && len(s.Files) != 2 {
		err = fmt.Errorf("files %v", s.Files)
	}
	return err
}

func search(ctx context.Context, cat *toolshelf.Catalog) error {
	_, err := cat.Search(ctx, "step", 10)
	return err
}

// fill writes commands, and skills with two files each.
func (b *bucket) fill(commands, skills int) {
	b.t.Helper()
	for i := range commands {
		b.place(fmt.Sprintf("commands/c%05d.md", i), command(fmt.Sprintf("Do step %d", i)))
	}
	for i := range skills {
		name := fmt.Sprintf("s%04d", i)
		b.place("skills/"+name+"/SKILL.md", skill(name, "Do the work"))
		b.place("skills/"+name+"/scripts/run.sh", "echo run")
	}
}

func TestRequestsOfACatalog(t *testing.T) {
	commands, skills := 10_000, 500
	if testing.Short() {
		commands, skills = 1_200, 60
	}
	b := newBucket(t)
	b.fill(commands, skills)
	pages := func(keys int) int { return (keys + 999) / 1000 }
	r := requests{b, b.catalog(blob.Options{})}
	r.expect("List", list, pages(commands), commands, 0)
	r.expect("List again", list, pages(commands), 0, 0)
	r.expect("Get", get, 0, 1, 0)
	r.expect("Get again", get, 0, 0, 1)
	r.expect("Get of an unknown name", getUnknown, pages(commands), 0, 0)
	r.expect("ListSkills", listSkills, pages(2*skills), skills, 0)
	r.expect("ListSkills again", listSkills, pages(2*skills), 0, 0)
	r.expect("a page of prompts", listPrompts, pages(commands)+pages(2*skills), 0, 0) // the lists have read the short files as a whole
	r.expect("GetSkill", getSkill, 1, 0, 0)
}

func TestRequestsOfASearch(t *testing.T) {
	b := newBucket(t)
	b.fill(200, 0)
	r := requests{b, b.catalog(blob.Options{})}
	r.expect("List", list, 1, 200, 0) // reads the short files as a whole
	r.expect("Search", search, 1, 0, 0)

	b.place("commands/c00007.md", command("Do step 7")+strings.Repeat("Do a long step.\n", 1000))
	r.expect("Search after a change of a long file", search, 1, 2, 0) // the beginning and the whole file
	r.expect("Search again", search, 1, 0, 0)
}
