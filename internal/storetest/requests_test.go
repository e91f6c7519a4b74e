package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// fill adds commands, and skills of one to four files.
func (b *bucket) fill(commands, skills int) {
	for i := range commands {
		b.put(fmt.Sprintf("commands/c%05d.md", i), fmt.Sprintf("---\ndescription: Command %d\n---\nRun $1 with word%d.\n%s", i, i, b.padding))
	}
	for i := range skills {
		dir := fmt.Sprintf("skills/s%03d/", i)
		b.put(dir+"SKILL.md", fmt.Sprintf("---\nname: s%03d\ndescription: Skill %d\n---\nBody.\n", i, i))
		for j := range i % 4 {
			b.put(fmt.Sprint(dir, "references/", j, ".md"), "text")
		}
	}
}

// catalogOf returns a catalog of the commands and skills in a bucket.
func catalogOf(t testing.TB, commands, skills fs.FS, options ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	return catalogtest.Open(t, append([]toolshelf.Option{
		toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(),
		toolshelf.WithCommandsFS("commands", commands), toolshelf.WithSkillsFS("skills", skills),
	}, options...)...)
}

// A call of a catalog, for tables.
type call func(ctx context.Context, c *toolshelf.Catalog) error

func listPage(ctx context.Context, c *toolshelf.Catalog) error {
	_, err := c.List(ctx, toolshelf.Page{})
	return err
}

func get(name string) call {
	return func(ctx context.Context, c *toolshelf.Catalog) error {
		_, err := c.Get(ctx, name)
		return err
	}
}

func unknown(name string) call {
	return func(ctx context.Context, c *toolshelf.Catalog) error {
		if _, err := c.Get(ctx, name); !errors.Is(err, toolshelf.ErrCommandNotFound) {
			return fmt.Errorf("no %w: %w", toolshelf.ErrCommandNotFound, err)
		}
		return nil
	}
}

func listSkills(ctx context.Context, c *toolshelf.Catalog) error {
	_, err := c.ListSkills(ctx)
	return err
}

func getSkill(name string) call {
	return func(ctx context.Context, c *toolshelf.Catalog) error {
		_, err := c.GetSkill(ctx, name)
		return err
	}
}

func usagePage(ctx context.Context, c *toolshelf.Catalog) error {
	_, err := bridge.Of[toolshelf.SkillInfo, toolshelf.SkillFile](c).ListUsage(ctx, 0, "", nil)
	return err
}

// readTexts searches until the texts are read: in a bubble of synctest, Close cannot wait for a
// read of the background.
func readTexts(t *testing.T, c *toolshelf.Catalog) {
	t.Helper()
	for {
		if found, err := c.Search(t.Context(), "word7", 1); err != nil || !found.Partial {
			return
		}
	}
}

func searchFor(query string) call {
	return func(ctx context.Context, c *toolshelf.Catalog) error {
		found, err := c.Search(ctx, query, 0)
		if err == nil && len(found.Results) == 0 {
			err = errors.New("no result")
		}
		return err
	}
}

// The requests to a store with versions whose listings have the metadata of the files.
// The files are short, so List and ListSkills read their whole text.
func TestRequestsToAPlainStore(t *testing.T) {
	b := newBucket()
	b.fill(2500, 40)
	c := catalogOf(t, bucketFS{b, "commands/"}, bucketFS{b, "skills/"})
	for _, tt := range []struct {
		name string
		call call
		want string
	}{
		{"cold List", listPage, "2500 GET 3 LIST"},
		{"warm List", listPage, "3 LIST"},
		{"first Get", get("c00007"), "1 GET"},
		{"repeated Get", get("c00007"), "1 HEAD"},
		{"unknown name", unknown("missing"), "3 LIST"},
		{"first Search", searchFor("word7"), "3 LIST"},
		{"repeated Search", searchFor("word8"), "3 LIST"},
		{"cold ListSkills", listSkills, "40 GET 1 LIST"},
		{"warm ListSkills", listSkills, "40 HEAD 1 LIST"},
		{"first page of prompts", usagePage, "40 HEAD 4 LIST"}, // of List and ListSkills
		{"repeated page of prompts", usagePage, "40 HEAD 4 LIST"},
		{"GetSkill", getSkill("s000"), "1 LIST"},
		{"GetSkill with a subdirectory", getSkill("s003"), "2 LIST"},
	} {
		if err := tt.call(t.Context(), c); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		must.Equal(t, tt.name, tt.want, b.count())
	}
}

// The requests to a store with all interfaces.
func TestRequestsToAStore(t *testing.T) {
	commands := 10_000
	if testing.Short() {
		commands = 2500
	}
	lists := fmt.Sprint((commands+pageOfKeys-1)/pageOfKeys, " LIST")
	b := newBucket()
	b.fill(commands, 499)
	b.put("skills/long/SKILL.md", "---\nname: long\ndescription: Long skill\n---\n"+strings.Repeat("text\n", 1000))
	c := catalogOf(t, b.store("commands/"), b.store("skills/"))
	expect := func(name string, call call, want string) {
		t.Helper()
		if err := call(t.Context(), c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		must.Equal(t, name, want, b.count())
	}
	expect("cold List", listPage, fmt.Sprint(commands, " GET ", lists))
	expect("warm List", listPage, lists)
	expect("first Get", get("c00007"), "1 GET")
	expect("repeated Get", get("c00007"), "1 HEAD")
	expect("unknown name", unknown("missing"), lists)
	expect("first Search", searchFor("word7"), lists)
	expect("repeated Search", searchFor("word8"), lists)
	expect("cold ListSkills", listSkills, "500 GET 2 LIST")
	expect("warm ListSkills", listSkills, "2 LIST")
	both := fmt.Sprint((commands+pageOfKeys-1)/pageOfKeys+2, " LIST")
	expect("first page of prompts", usagePage, both)
	expect("repeated page of prompts", usagePage, both)
	expect("first GetSkill", getSkill("s003"), "1 LIST")
	expect("first GetSkill of a long SKILL.md", getSkill("long"), "1 GET 1 LIST")
	expect("repeated GetSkill of a long SKILL.md", getSkill("long"), "1 LIST")
}

// A changed file is read again even if its size and its time stay the same, also within
// one second.
func TestAVersionShowsEachChange(t *testing.T) {
	b := newBucket()
	b.fill(3, 1)
	c := catalogOf(t, bucketFS{b, "commands/"}, bucketFS{b, "skills/"})
	for i := range 4 {
		word := fmt.Sprintf("apple%d", i)
		b.put("commands/c00001.md", "---\ndescription: "+word+"\n---\n"+word+" ${input:"+word+"}\n")
		b.put("skills/s000/SKILL.md", "---\nname: s000\ndescription: "+word+"\n---\n"+word+"\n")
		for range 2 {
			list, err := c.List(t.Context(), toolshelf.Page{})
			if err != nil || list.Commands[1].Description != word {
				t.Errorf("List: %v, %v, want %s", list.Commands, err, word)
			}
			command, err := c.Get(t.Context(), "c00001")
			if err != nil || command.Metadata.Description != word {
				t.Errorf("Get: %q, %v, want %s", command.Metadata.Description, err, word)
			}
			skills, err := c.ListSkills(t.Context())
			if err != nil || skills[0].Description != word {
				t.Errorf("ListSkills: %v, %v, want %s", skills, err, word)
			}
			skill, err := c.GetSkill(t.Context(), "s000", toolshelf.Digests())
			if err != nil || skill.Content != word+"\n" {
				t.Errorf("GetSkill: %q, %v, want %s", skill.Content, err, word)
			}
			if err := searchFor(word)(t.Context(), c); err != nil {
				t.Errorf("Search for %s: %v", word, err)
			}
			usage, err := bridge.Of[toolshelf.SkillInfo, toolshelf.SkillFile](c).ListUsage(t.Context(), 0, "", nil)
			if err != nil || len(usage.Rows[1].Arguments) != 1 || usage.Rows[1].Arguments[0].Name != word {
				t.Errorf("ListUsage: %v, %v, want %s", usage.Rows, err, word)
			}
		}
	}
}

// With 20 ms for each request, many files are read at the same time.
func TestAStoreIsReadInParallel(t *testing.T) {
	for _, limit := range []int{0, 5} {
		synctest.Test(t, func(t *testing.T) {
			b := newBucket()
			b.padding = strings.Repeat("text\n", 1000) // longer than the part that List reads
			b.fill(1000, 20)
			b.delay = 20 * time.Millisecond
			var options []toolshelf.Option
			want := 64
			if limit > 0 {
				options, want = append(options, bridge.WithMaxReads(limit).(toolshelf.Option)), limit
			}
			c := catalogOf(t, bucketFS{b, "commands/"}, bucketFS{b, "skills/"}, options...)
			for _, tt := range []struct {
				name string
				call call
			}{{"List", listPage}, {"ListUsage", usagePage}, {"Search", searchFor("word7")}} {
				b.mu.Lock()
				b.most = 0
				b.mu.Unlock()
				if err := tt.call(t.Context(), c); err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
				b.mu.Lock()
				most := b.most
				b.mu.Unlock()
				if most > want || most < min(want, 50)-2 {
					t.Errorf("%s: %d requests at the same time, want %d", tt.name, most, want)
				}
			}
			readTexts(t, c)
		})
	}
}

// A store fails during a read of the manifests. The list keeps the plugins, and the next call
// without a fault sees the change.
func TestAStoreThatFailsToReadManifests(t *testing.T) {
	reset := errors.New("connection reset")
	for _, failing := range []string{"plugins/.claude-plugin/marketplace.json", "plugins/a/.claude-plugin/plugin.json", "plugins/a/"} {
		for _, kind := range []string{"plain", "snapshots", "snapshots with versions", "a feed"} {
			if strings.HasSuffix(failing, "/") && kind != "plain" {
				continue // a snapshot lists no directory
			}
			t.Run(failing+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBucket()
					b.put("plugins/.claude-plugin/marketplace.json", `{"name": "m", "plugins": [{"name": "a", "source": "./a"}]}`)
					b.put("plugins/a/.claude-plugin/plugin.json", `{"name": "a", "version": "1"}`)
					b.put("plugins/a/commands/go.md", "Go.")
					b.tree = kind == "snapshots with versions"
					var store fs.FS = b.store("plugins/")
					if kind == "plain" {
						store = bucketFS{b, "plugins/"}
					}
					var feed testFeed
					options := []toolshelf.Option{toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(), toolshelf.WithPluginsFS("plugins", store)}
					if kind == "a feed" {
						options = append(options, feed.option(time.Hour))
					}
					c := catalogtest.Open(t, options...)
					synctest.Wait()
					answer := func() string {
						list, err := c.List(t.Context(), toolshelf.Page{})
						var all []string
						for _, row := range list.Commands {
							all = append(all, row.Name)
						}
						plugins, pluginsErr := c.Plugins(t.Context())
						for _, p := range plugins {
							all = append(all, p.Name+" "+p.Version)
						}
						if err := errors.Join(err, pluginsErr); err != nil {
							all = append(all, err.Error())
						}
						return strings.Join(all, ", ")
					}
					if got := answer(); got != "a:go, a 1" {
						t.Fatal(got)
					}
					if kind == "a feed" {
						feed.touch("a")
						synctest.Wait()
						if got := answer(); got != "a:go, a 1" {
							t.Fatal(got)
						}
					}
					b.put("plugins/.claude-plugin/marketplace.json", `{"name": "m", "plugins": [{"name": "a", "source": "./a"}], "description": "New."}`)
					b.put("plugins/a/.claude-plugin/plugin.json", `{"name": "a", "version": "2"}`)
					b.setFault(func(op, key string) error {
						if key == failing && op != "HEAD" {
							return reset
						}
						return nil
					})
					if kind == "a feed" {
						feed.touch("a")
						synctest.Wait()
					}
					for range 2 {
						must.Equal(t, "during the fault", "a:go, a 1", answer())
					}
					lint, err := c.Lint(t.Context())
					if failed := func(d toolshelf.Diagnostic) bool { return d.Code == agentmd.DiagFileRead }; err != nil || !slices.ContainsFunc(lint, failed) {
						t.Errorf("%v, %v", lint, err)
					}
					b.setFault(nil)
					must.Equal(t, "after the fault", "a:go, a 2", answer())
				})
			})
		}
	}
}
