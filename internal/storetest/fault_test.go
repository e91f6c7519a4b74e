package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// With 20 ms for each request.
func TestTimesOfASlowStore(t *testing.T) {
	commands := 10_000
	if testing.Short() {
		commands = 1000
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBucket()
		b.padding = strings.Repeat("text\n", 1000) // longer than the part that List reads
		b.fill(commands, 0)
		b.delay = 20 * time.Millisecond
		c := catalogOf(t, b.store("commands/"), b.store("skills/"))
		for _, tt := range []struct {
			name string
			call call
			most time.Duration
		}{
			{"cold List", listPage, 10 * time.Second},
			{"warm List", listPage, 1500 * time.Millisecond},
			{"first Search", searchFor("word7"), 10 * time.Second},
			{"repeated Search", searchFor("word8"), 1500 * time.Millisecond},
			{"first page of prompts", usagePage, 1500 * time.Millisecond},
		} {
			begin := time.Now()
			if err := tt.call(t.Context(), c); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if got := time.Since(begin); got > tt.most {
				t.Errorf("%s takes %v, want at most %v", tt.name, got, tt.most)
			}
		}
		readTexts(t, c)
	})
}

// The limit of a search does not include the time of the listing.
func TestASearchAfterASlowListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBucket()
		b.fill(10, 0)
		b.setFault(func(op, _ string) error {
			if op == "LIST" {
				time.Sleep(time.Minute)
			}
			return nil
		})
		c := catalogOf(t, b.store("commands/"), b.store("skills/"))
		if err := searchFor("word7")(t.Context(), c); err != nil {
			t.Error(err)
		}
	})
}

// A call that a deadline interrupts keeps the files that it has read. The next call
// continues.
func TestAnInterruptedCallContinues(t *testing.T) {
	const commands, skills = 1000, 300
	for _, tt := range []struct {
		name  string
		call  call
		files int
		lists int
	}{
		{"List", listPage, commands, 1},
		{"ListSkills", listSkills, skills, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBucket()
				b.fill(commands, skills)
				b.delay = 20 * time.Millisecond
				c := catalogOf(t, b.store("commands/"), b.store("skills/"), bridge.WithMaxReads(8).(toolshelf.Option))
				read := func() (n int) {
					b.mu.Lock()
					defer b.mu.Unlock()
					n = b.requests["GET"]
					clear(b.requests)
					return n
				}
				all := 0
				for range 2 {
					ctx, cancel := context.WithTimeout(t.Context(), 309*time.Millisecond)
					must.Is(t, "call", context.DeadlineExceeded, tt.call(ctx, c))
					cancel()
					synctest.Wait()
					n := read()
					if n == 0 {
						t.Error("an interrupted call reads nothing")
					}
					all += n
				}
				must.Do(t, tt.call(t.Context(), c))
				// The requests in progress at a deadline may be repeated.
				if all += read(); all > tt.files+2*8 {
					t.Errorf("%d requests for %d files", all, tt.files)
				}
			})
		})
	}
}

// If the snapshot of a store has the version of the last scan, a call does not scan. A file
// that the last scan could not read is read again.
func TestASnapshotWithTheSameVersionIsNotScanned(t *testing.T) {
	b := newBucket()
	b.fill(5, 0)
	b.tree = true
	c := catalogOf(t, b.store("commands/"), b.store("skills/"))
	for _, tt := range []struct {
		name  string
		do    func()
		scans int64
		want  string
	}{
		{"the first call", func() {}, 1, "Command 1"},
		{"no change", func() {}, 0, "Command 1"},
		{"a change", func() { b.put("commands/c00001.md", "new") }, 1, "new"},
		{"no change since", func() {}, 0, "new"},
		{"a change that cannot be read", func() {
			b.put("commands/c00001.md", "newer")
			b.setFault(func(op, key string) error {
				if op == "GET" {
					return errors.New("connection reset")
				}
				return nil
			})
		}, 1, "new"},
		{"the next attempt", func() {}, 1, "new"},
		{"a successful attempt", func() { b.setFault(nil) }, 1, "newer"},
		{"no change after the attempts", func() {}, 0, "newer"},
	} {
		tt.do()
		before := b.scans.Load()
		must.Equal(t, tt.name, tt.want,
			must.Get(c.List(t.Context(), toolshelf.Page{}))(t).Commands[1].Description)
		must.Equal(t, tt.name, tt.scans, b.scans.Load()-before)
	}
}

// A store fails between two good states.
func TestAStoreWithFaults(t *testing.T) {
	reset := errors.New("connection reset")
	change := func(b *bucket) {
		b.put("commands/c00001.md", "New text of command 1.\n")
		b.put("commands/c00009.md", "A new command.\n")
	}
	changed := func(key string) bool { return key == "commands/c00001.md" || key == "commands/c00009.md" }
	old := []string{"c00000", "c00001", "c00002"}
	for _, tt := range []struct {
		name  string
		fault func(b *bucket) func(op, key string) error
		code  toolshelf.Code // of the error; "" for no error
		want  []string       // names of the list; a name with * has the new content
		lint  []string       // paths of diagnostics
	}{
		{"unreachable", func(*bucket) func(op, key string) error {
			return func(op, key string) error { return reset }
		}, toolshelf.CodeFileRead, nil, nil},
		{"no permission to list", func(*bucket) func(op, key string) error {
			return func(op, key string) error {
				if op == "LIST" {
					return fs.ErrPermission
				}
				return nil
			}
		}, toolshelf.CodePermissionDenied, nil, nil},
		{"no permission to read", func(*bucket) func(op, key string) error {
			return func(op, key string) error {
				if op == "GET" && changed(key) {
					return fs.ErrPermission
				}
				return nil
			}
		}, "", []string{"c00000", "c00002"}, []string{"commands/c00001.md", "commands/c00009.md"}},
		{"a failed read", func(*bucket) func(op, key string) error {
			return func(op, key string) error {
				if op == "GET" && changed(key) {
					return reset
				}
				return nil
			}
		}, "", old, []string{"commands/c00001.md", "commands/c00009.md"}},
		{"removed after the listing", func(b *bucket) func(op, key string) error {
			return func(op, key string) error {
				if op == "GET" && key == "commands/c00001.md" {
					return fs.ErrNotExist
				}
				return nil
			}
		}, "", []string{"c00000", "c00002", "c00009*"}, nil},
		{"overwritten after the listing", func(b *bucket) func(op, key string) error {
			var once sync.Once
			return func(op, key string) error {
				if op == "GET" && key == "commands/c00001.md" {
					once.Do(func() { b.put(key, "New text of command 1.\n") })
				}
				return nil
			}
		}, "", []string{"c00000", "c00001*", "c00002", "c00009*"}, nil},
	} {
		for _, kind := range []string{"plain", "snapshots", "snapshots with versions"} {
			t.Run(tt.name+", "+kind, func(t *testing.T) {
				b := newBucket()
				b.fill(3, 0)
				b.tree = kind == "snapshots with versions"
				var store fs.FS = b.store("commands/")
				if kind == "plain" {
					store = bucketFS{b, "commands/"}
				}
				c := catalogOf(t, store, b.store("skills/"))
				names := func() (names []string, code toolshelf.Code) {
					list, err := c.List(t.Context(), toolshelf.Page{})
					for _, command := range list.Commands {
						if !strings.HasPrefix(command.Description, "Command ") {
							command.Name += "*"
						}
						names = append(names, command.Name)
					}
					return names, toolshelf.CodeOf(err)
				}
				if got, code := names(); code != "" || !slices.Equal(got, old) {
					t.Fatalf("%q, %v", got, code)
				}
				change(b)
				b.setFault(tt.fault(b))
				for range 2 {
					if got, code := names(); code != tt.code || !slices.Equal(got, tt.want) {
						t.Errorf("%q, %q, want %q, %q", got, code, tt.want, tt.code)
					}
				}
				if tt.code == "" {
					all := must.Get(c.Lint(t.Context()))(t)
					var paths []string
					for _, d := range all {
						if d.Code == agentmd.DiagFileRead {
							paths = append(paths, d.Path)
						}
					}
					must.Match(t, "diagnostics", tt.lint, slices.Compact(paths))
				}
				b.setFault(nil)
				if got, code := names(); code != "" || !slices.Equal(got, []string{"c00000", "c00001*", "c00002", "c00009*"}) {
					t.Errorf("after the fault: %q, %q", got, code)
				}
			})
		}
	}
}

// A listing that ends early is an error, and no file is lost.
func TestHalfAListingOfAStore(t *testing.T) {
	for _, kind := range []string{"plain", "snapshots"} {
		t.Run(kind, func(t *testing.T) {
			b := newBucket()
			b.fill(pageOfKeys+1, 0)
			var store fs.FS = b.store("commands/")
			if kind == "plain" {
				store = bucketFS{b, "commands/"}
			}
			c := catalogOf(t, store, b.store("skills/"))
			for _, want := range []string{"1001 GET 2 LIST", "2 LIST"} {
				b.setFault(nil)
				list, err := c.List(t.Context(), toolshelf.Page{})
				if err != nil || list.Pagination.Total != pageOfKeys+1 {
					t.Fatalf("%d commands, %v", list.Pagination.Total, err)
				}
				must.Equal(t, "b.count()", want, b.count())
				lists := 0
				b.setFault(func(op, _ string) error {
					if op == "LIST" {
						if lists++; lists%2 == 0 {
							return errors.New("connection reset")
						}
					}
					return nil
				})
				must.Is(t, "the first half", toolshelf.ErrFileRead, listPage(t.Context(), c))
				b.count()
			}
		})
	}
}

// If a store lists some of its directories, the lists keep the entries of the others, and
// the next call reads the rest, with a feed too.
func TestAStoreThatListsSomeDirectories(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var feed testFeed
		b := newBucket()
		for _, name := range []string{"commands/a.md", "commands/team/b.md", "commands/team/deep/c.md", "skills/d/SKILL.md", "skills/tools/e/SKILL.md"} {
			b.put(name, "---\nname: x\ndescription: x\n---\n")
		}
		c := catalogOf(t, bucketFS{b, "commands/"}, bucketFS{b, "skills/"}, feed.option(time.Hour), toolshelf.WithNestedCommands(), toolshelf.WithSkillDepth(3))
		synctest.Wait()
		names := func() (all []string) {
			t.Helper()
			list, err := c.List(t.Context(), toolshelf.Page{})
			if err != nil {
				t.Error(err)
			}
			for _, command := range list.Commands {
				all = append(all, command.Name)
			}
			skills, err := c.ListSkills(t.Context())
			if err != nil {
				t.Error(err)
			}
			for _, s := range skills {
				all = append(all, s.Name)
			}
			return all
		}
		feed.touch()
		before := []string{"a", "team:b", "team:deep:c", "d", "e"}
		must.Match(t, "before the fault", before, names())
		b.put("commands/team/new.md", "text")
		b.put("skills/tools/f/SKILL.md", "---\nname: x\ndescription: x\n---\n")
		b.setFault(func(op, key string) error {
			if op == "LIST" && (key == "commands/team/" || key == "skills/tools/") {
				return errOutage
			}
			return nil
		})
		feed.touch()
		must.Match(t, "during the fault", before, names())
		b.setFault(nil)
		must.Match(t, "after the fault", []string{"a", "team:b", "team:deep:c", "team:new", "d", "e", "f"}, names())
	})
}

// If a store does not answer during the read of a new file without a version, the next
// call reads the file, with a feed too.
func TestAnUnreadFileWithoutAVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var feed testFeed
		down := false
		files := fstest.MapFS{"a.md": {Data: []byte("A")}}
		c := catalogOf(t, faultyFS{files, func(string) error {
			if down {
				return errOutage
			}
			return nil
		}}, fstest.MapFS{}, feed.option(time.Hour))
		synctest.Wait()
		down = true
		feed.touch()
		must.Len(t, "during the fault", 0,
			must.Get(c.List(t.Context(), toolshelf.Page{}))(t).Commands)
		down = false
		must.Len(t, "after the fault", 1,
			must.Get(c.List(t.Context(), toolshelf.Page{}))(t).Commands)
	})
}

// A faultyFS returns an error instead of a file.
type faultyFS struct {
	fs.FS
	fault func(name string) error
}

func (f faultyFS) Open(name string) (fs.File, error) {
	if name != "." {
		if err := f.fault(name); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	return f.FS.Open(name)
}

// A skill that changes between the listing of its files and the read has the new content.
func TestASkillThatChangesAfterTheListing(t *testing.T) {
	for _, tt := range []struct {
		name, key, requests string
		read                func(c *toolshelf.Catalog) (string, error)
	}{
		{"GetSkill", "SKILL.md", "3 GET 3 LIST", func(c *toolshelf.Catalog) (string, error) {
			skill, err := c.GetSkill(t.Context(), "s001")
			return skill.Content, err
		}},
		{"ReadSkillFile", "references/0.md", "3 GET 3 LIST", func(c *toolshelf.Catalog) (string, error) {
			raw, err := c.ReadSkillFile(t.Context(), "s001", "references/0.md")
			return string(raw), err
		}},
		{"Skill.FS, after GetSkill", "references/0.md", "4 GET 4 LIST", func(c *toolshelf.Catalog) (string, error) {
			skill := must.Get(c.GetSkill(t.Context(), "s001"))(t)
			raw, err := fs.ReadFile(skill.FS(), "references/0.md")
			return string(raw), err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBucket()
			b.fill(0, 2)
			b.put("skills/s001/SKILL.md", "---\nname: s001\ndescription: Skill\n---\n"+strings.Repeat("text\n", 1000)) // longer than the part that ListSkills reads
			c := catalogOf(t, b.store("commands/"), b.store("skills/"))
			must.Do(t, listSkills(t.Context(), c))
			key, changes := "skills/s001/"+tt.key, 0
			b.setFault(func(op, requested string) error {
				if op == "GET" && requested == key && changes < 2 {
					changes++
					b.put(key, "new")
				}
				return nil
			})
			b.count()
			must.Equal(t, "read", "new", must.Get(tt.read(c))(t))
			must.Equal(t, "requests", tt.requests, b.count())
		})
	}
}

// A skill whose directory cannot be listed again has the error of the list, not the error of the read.
func TestASkillThatChangesBeforeAnOutage(t *testing.T) {
	b := newBucket()
	b.fill(0, 2)
	c := catalogOf(t, b.store("commands/"), b.store("skills/"))
	must.Do(t, listSkills(t.Context(), c))
	key, changed := "skills/s001/references/0.md", false
	b.setFault(func(op, requested string) error {
		switch {
		case op == "LIST" && changed:
			changed = false
			return errOutage
		case op == "GET" && requested == key:
			changed = true
			b.put(key, "new")
		}
		return nil
	})
	_, err := c.ReadSkillFile(t.Context(), "s001", "references/0.md")
	must.Is(t, "error", errOutage, err)
}

// A Snapshot that returns neither a filesystem nor an error is an error.
func TestASnapshotWithoutAFilesystem(t *testing.T) {
	b := newBucket()
	b.fill(1, 1)
	c := catalogOf(t, absentFS{b.store("commands/")}, b.store("skills/"))
	must.Is(t, "error", toolshelf.ErrFileRead, listPage(t.Context(), c))
}

type absentFS struct{ storeFS }

func (absentFS) Snapshot(context.Context) (fs.FS, error) { return nil, nil }

// The end of a context reaches the store.
func TestContextsReachTheStore(t *testing.T) {
	b := newBucket()
	b.fill(3, 3)
	waiting := waitingFS{b.store("commands/"), make(chan struct{}, 1)}
	c := catalogOf(t, waiting, waitingFS{b.store("skills/"), waiting.begun})
	for name, call := range map[string]call{"List": listPage, "ListSkills": listSkills, "Search": searchFor("word1"), "Get": get("c00001")} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-waiting.begun
			cancel()
		}()
		must.Is(t, name, context.Canceled, call(ctx, c))
	}
	if err := c.Close(); err != nil { // waits for the store
		t.Error(err)
	}
}

// A waitingFS answers no listing before the end of its context.
type waitingFS struct {
	storeFS
	begun chan struct{}
}

func (w waitingFS) Snapshot(ctx context.Context) (fs.FS, error) {
	w.begun <- struct{}{}
	<-ctx.Done()
	return nil, fmt.Errorf("snapshot: %w", ctx.Err())
}

func TestAnErrorOfAStoreNamesTheConnection(t *testing.T) {
	b := newBucket()
	b.fill(1, 0)
	c := catalogOf(t, b.store("commands/"), b.store("skills/"))
	b.setFault(func(op, _ string) error {
		if op == "GET" {
			return errors.New("503 slow down")
		}
		return nil
	})
	_, err := c.Get(t.Context(), "c00000")
	must.Is(t, "Get", toolshelf.ErrFileRead, err, "check the connection to the store")
	problems, err := c.Lint(t.Context())
	if err != nil || !slices.ContainsFunc(problems, func(d toolshelf.Diagnostic) bool {
		return strings.Contains(d.Suggestion, "check the connection to the store")
	}) {
		t.Errorf("Lint: %v, %v", problems, err)
	}
}
