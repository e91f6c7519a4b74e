package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A staleStore serves its last good snapshot while the bucket does not answer.
type staleStore struct {
	storeFS
	last *fs.FS
}

func staleStoreOf(b *bucket, prefix string) staleStore {
	return staleStore{b.store(prefix), new(fs.FS)}
}

func (s staleStore) Snapshot(ctx context.Context) (fs.FS, error) {
	now, err := s.storeFS.Snapshot(ctx)
	switch {
	case err == nil:
		*s.last = now
		return now, nil
	case *s.last == nil:
		return nil, err
	}
	return staleSnapshot{(*s.last).(*snapshotFS), err}, nil
}

// Sub returns the store of a directory. Its last good snapshot is a part of the last good
// snapshot of s.
func (s staleStore) Sub(dir string) (fs.FS, error) {
	below := staleStoreOf(s.bucket, s.prefix+dir+"/")
	if last, ok := (*s.last).(*snapshotFS); ok {
		v := &snapshotFS{store: below.storeFS, objects: map[string]object{}, dirs: map[string]map[string]object{".": {}}}
		for name, o := range last.objects {
			if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
				v.objects[rest] = o
				v.add(rest, o)
			}
		}
		*below.last = v
	}
	return below, nil
}

type staleSnapshot struct {
	*snapshotFS
	err error
}

func (s staleSnapshot) Stale() error { return s.err }

var errOutage = errors.New("connection refused")

// outage lets all requests of a bucket fail.
func outage(string, string) error { return errOutage }

// A touch during an outage stays pending until the store answers. Calls ask the store once
// in a second.
func TestATouchDuringAnOutage(t *testing.T) {
	for _, versioned := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var feed testFeed
			b := newBucket()
			b.tree = versioned
			b.fill(3, 0)
			c := catalogOf(t, staleStoreOf(b, "commands/"), b.store("skills/"), feed.option(time.Hour))
			synctest.Wait()
			feed.touch()
			time.Sleep(time.Second)
			expect := func(name string, total int, requests string) {
				t.Helper()
				b.count()
				must.Equal(t, name, total,
					must.Get(c.List(t.Context(), toolshelf.Page{}))(t).Pagination.Total)
				must.Equal(t, name, requests, b.count())
			}
			b.put("commands/new.md", "text")
			b.setFault(outage)
			expect("no touch", 3, "")
			feed.touch("new.md")
			expect("a touch", 3, "1 LIST")
			expect("another call", 3, "")
			time.Sleep(time.Second)
			expect("a second later", 3, "1 LIST")
			b.setFault(nil)
			expect("within a second", 3, "")
			time.Sleep(time.Second)
			expect("after the outage", 4, "1 GET 1 LIST")
			time.Sleep(time.Minute)
			expect("no change", 4, "")
		})
	}
}

// If an outage begins after a listing, the list keeps the commands, and calls read the rest
// once in a second, until the store answers.
func TestAnOutageDuringAScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var feed testFeed
		b := newBucket()
		b.fill(3, 0)
		c := catalogOf(t, staleStoreOf(b, "commands/"), b.store("skills/"), feed.option(time.Hour))
		synctest.Wait()
		feed.touch()
		time.Sleep(time.Second)
		b.put("commands/c00000.md", "new")
		b.put("commands/new.md", "text")
		lists := 0
		b.setFault(func(op, _ string) error {
			if op == "LIST" {
				if lists++; lists == 1 {
					return nil
				}
			}
			return errOutage
		})
		b.count()
		feed.touch()
		for i, want := range []string{"4 GET 1 LIST", "4 GET 1 LIST", "", ""} {
			must.Equal(t, "call", 3,
				must.Get(c.List(t.Context(), toolshelf.Page{}))(t).Pagination.Total)
			must.Equal(t, i, want, b.count())
		}
		b.setFault(nil)
		time.Sleep(2 * time.Second)
		list := must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
		must.Equal(t, "after the outage", 4, list.Pagination.Total)
		must.Equal(t, "after the outage", "new", list.Commands[0].Description)
	})
}

// A layer on the disk is scanned in each call, and does not make the calls ask a store that
// does not answer.
func TestAnOutageBesideADirectory(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "commands"), 0o777))
	synctest.Test(t, func(t *testing.T) {
		var feed testFeed
		b := newBucket()
		b.fill(3, 0)
		c := catalogtest.Open(t, toolshelf.WithRoot(dir), toolshelf.WithCommandsDir("commands"),
			toolshelf.WithCommandsFS("store", staleStoreOf(b, "commands/")), feed.option(time.Hour))
		synctest.Wait()
		feed.touch()
		time.Sleep(time.Second)
		b.setFault(outage)
		b.count()
		feed.touch()
		for _, want := range []string{"1 LIST", "", ""} {
			if err := listPage(t.Context(), c); err != nil {
				t.Error(err)
			}
			must.Equal(t, "b.count()", want, b.count())
		}
	})
}

// Get serves old content only while the store serves its last good snapshot.
func TestAStoreThatRefusesItsLastSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBucket()
		b.fill(3, 0)
		store := staleStoreOf(b, "commands/")
		c := catalogOf(t, store, b.store("skills/"))
		must.Do(t, listPage(t.Context(), c))
		b.setFault(outage)
		if err := get("c00001")(t.Context(), c); err != nil {
			t.Errorf("with the last good snapshot: %v", err)
		}
		*store.last = nil
		time.Sleep(time.Second)
		for _, name := range []string{"c00001", "c00002"} {
			must.Is(t, name, errOutage, get(name)(t.Context(), c))
		}
	})
}

// During an outage, a catalog serves what the store still lists, as far as the catalog has the
// bytes: small files after a list, and all commands and skills after a Get. Other bytes are
// ErrFileRead, with the error of the store in the chain, after a few requests.
func TestTheMethodsDuringAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("text\n", 1000)
		b := newBucket()
		b.fill(3, 3)
		for _, name := range []string{"long", "unread"} {
			b.put("commands/"+name+".md", "Long.\n\n"+long)
			b.put("skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: Long\n---\n"+long)
		}
		c := catalogOf(t, staleStoreOf(b, "commands/"), staleStoreOf(b, "skills/"))
		readFile := func(path string) call {
			return func(ctx context.Context, c *toolshelf.Catalog) error {
				_, err := c.ReadSkillFile(ctx, "s001", path)
				return err
			}
		}
		searchSkills := func(ctx context.Context, c *toolshelf.Catalog) error {
			_, err := c.SearchSkills(ctx, "skill", 10)
			return err
		}
		for _, before := range []call{listPage, listSkills, get("long"), getSkill("long")} {
			must.Do(t, before(t.Context(), c))
		}
		b.count()
		b.setFault(outage)
		for _, tt := range []struct {
			name  string
			call  call
			fails bool
			want  string
		}{
			{"List", listPage, false, "1 LIST"},
			{"ListSkills", listSkills, false, "1 LIST"},
			{"unknown name", unknown("missing"), false, "1 LIST"},
			{"page of prompts", usagePage, false, "2 GET 2 HEAD 4 LIST"}, // the long files
			{"Search", searchFor("word1"), false, "2 GET 1 LIST"},
			{"SearchSkills", searchSkills, false, "2 GET 2 HEAD 3 LIST"},
			{"Get", get("c00001"), false, "1 GET"},
			{"Get of a long command", get("long"), false, "1 GET 1 HEAD 1 LIST"},
			{"Get of an unread command", get("unread"), true, "2 GET 1 LIST"},
			{"GetSkill", getSkill("s001"), false, "1 LIST"},
			{"GetSkill of a long skill", getSkill("long"), false, "1 LIST"},
			{"GetSkill of an unread skill", getSkill("unread"), true, "2 GET 3 LIST"},
			{"ReadSkillFile of SKILL.md", readFile("SKILL.md"), false, "1 LIST"},
			{"ReadSkillFile", readFile("references/0.md"), true, "2 GET 3 LIST"},
		} {
			err := tt.call(t.Context(), c)
			if !tt.fails && err != nil || tt.fails && !(errors.Is(err, toolshelf.ErrFileRead) && errors.Is(err, errOutage) && strings.Contains(err.Error(), "connection refused")) {
				t.Errorf("%s: %v", tt.name, err)
			}
			must.Equal(t, tt.name, tt.want, b.count())
		}
		view := must.Get(c.View(toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Name != "s000" })))(t)
		defer view.Close()
		must.Contain(t, "ReadSkillFile with a filter",
			string(must.Get(view.ReadSkillFile(t.Context(), "s002", "SKILL.md"))(t)), "Body.")
	})
}

// Without a last good snapshot, every call during an outage asks the store, and the touch
// stays pending.
func TestATouchBeforeAFailedListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var feed testFeed
		b := newBucket()
		b.fill(3, 0)
		c := catalogOf(t, b.store("commands/"), b.store("skills/"), feed.option(time.Hour))
		synctest.Wait()
		b.setFault(outage)
		feed.touch()
		time.Sleep(time.Second)
		for range 2 {
			must.Is(t, "error", errOutage, listPage(t.Context(), c))
		}
		b.setFault(nil)
		b.count()
		if err := listPage(t.Context(), c); err != nil {
			t.Error(err)
		}
		must.Match(t, "requests after the outage", "3 GET 1 LIST", b.count())
	})
}

// A missingStore is a store without a snapshot.
type missingStore struct {
	fstest.MapFS
	err error
}

func (s missingStore) Snapshot(context.Context) (fs.FS, error) { return nil, s.err }

// If the error of a store says more than fs.ErrNotExist, the message contains the reason.
func TestTheMessageHasTheReasonOfAStore(t *testing.T) {
	revision := fmt.Errorf("git: revision %q: %w: create or fetch the reference", "nosuchbranch", fs.ErrNotExist)
	const reason = ` (git: revision "nosuchbranch": file does not exist: create or fetch the reference)`
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"plain", fs.ErrNotExist, ""},
		{"of the operating system", &fs.PathError{Op: "open", Path: "/srv/.git", Err: syscall.ENOENT}, ""},
		{"a reason", revision, reason},
		{"a reason with a path", &fs.PathError{Op: "list", Path: "/srv", Err: revision}, reason},
		{"two lines", fmt.Errorf("a\nb: %w", fs.ErrNotExist), ` (a\nb: file does not exist)`},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := missingStore{err: test.err}
			c := catalogtest.Open(t, toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("repo", store), toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("repo", store))
			_, list := c.List(t.Context(), toolshelf.Page{})
			_, skills := c.ListSkills(t.Context())
			_, get := c.Get(t.Context(), "deploy")
			for _, got := range []struct {
				err  error
				want string
			}{
				{list, "Commands folder not found at path: repo" + test.want},
				{skills, "Skills folder not found at path: repo" + test.want},
				{get, `there is no command "deploy", because no directory of commands exists` + test.want + "; check the configuration"},
			} {
				var e *toolshelf.Error
				if !errors.As(got.err, &e) || e.Message != got.want || !errors.Is(e, toolshelf.ErrDirectoryNotFound) && !errors.Is(e, toolshelf.ErrCommandNotFound) {
					t.Errorf("error %v\nwant  %s", got.err, got.want)
				}
			}
		})
	}
}
