//go:build unix

package servertest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/blob"
)

// catalog returns a catalog over the directories "commands" and "skills" of a bucket.
func (b *bucket) catalog(opts blob.Options, more ...toolshelf.Option) *toolshelf.Catalog {
	b.t.Helper()
	s := b.store(opts)
	sub := func(dir string) fs.FS {
		fsys, err := s.Sub(dir)
		if err != nil {
			b.t.Fatal(err)
		}
		return fsys
	}
	cat, err := toolshelf.New(append([]toolshelf.Option{toolshelf.WithRoot(b.t.TempDir()), toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(),
		toolshelf.WithCommandsFS("bucket", sub("commands")), toolshelf.WithSkillsFS("bucket", sub("skills"))}, more...)...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { cat.Close() })
	return cat
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
		if err != nil {
			t.Fatal(err)
		}
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
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
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
	if all := names(t, cat); len(all) != 0 {
		t.Errorf("the empty bucket has the commands %q", all)
	}
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
				if err != nil {
					t.Fatal(err)
				}
				got += info.Name + ": " + info.Description + ", "
			}
			if got != test.want {
				t.Errorf("the commands are %q; want %q", got, test.want)
			}
		})
	}
}

func TestACatalogDuringAnOutage(t *testing.T) {
	b := newBucket(t)
	b.put("commands/deploy.md", command("Deploy"))
	unreachable := errors.New("unreachable")
	fail := func(*http.Request) (*http.Response, error) { return nil, unreachable }

	cat := b.catalog(blob.Options{})
	names(t, cat)
	b.intercept(fail)
	if _, err := cat.List(t.Context(), toolshelf.Page{}); !errors.Is(err, unreachable) {
		t.Errorf("List without Stale: error %v; want the error of the request", err)
	}
	if _, err := cat.Get(t.Context(), "deploy"); !errors.Is(err, unreachable) {
		t.Errorf("Get without Stale: error %v; want the error of the request", err)
	}

	b.intercept(nil)
	var outage error
	cat = b.catalog(blob.Options{Stale: func(err error, age time.Duration) error { outage = err; return nil }})
	names(t, cat)
	want := must.Get(cat.Get(t.Context(), "deploy"))(t)
	b.intercept(fail)
	if all := names(t, cat); len(all) != 1 || !errors.Is(outage, unreachable) {
		t.Errorf("List with Stale: %q, outage %v", all, outage)
	}
	if got, err := cat.Get(t.Context(), "deploy"); err != nil || got.Content != want.Content {
		t.Errorf("Get with Stale: %q, %v", got.Content, err)
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
	if _, err := cat.List(ctx, toolshelf.Page{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want context.Canceled", err)
	}
	<-ended // the request does not outlive the call
}
