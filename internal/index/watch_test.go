package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/paths"
)

// watchedIndex is an index of a directory with the file a.md. The first scan has
// ended, and no scan runs in the background. The path of the directory has no links.
func watchedIndex(t *testing.T) (*Index, string) {
	t.Helper()
	dir := paths.Real(t.TempDir())
	must.Do(t, os.WriteFile(filepath.Join(dir, "a.md"), []byte("a"), 0o644))
	fsys := confined(t)(confine.New(dir))
	x := must.Get(New(client.Commands, Config{Layers: []Layer{{Name: "commands", FS: fsys, Dir: "."}}, MaxFileSize: 100, Valid: names.Plain, Watch: true, Now: time.Now}))(t)
	t.Cleanup(x.Close)
	x.follow.Stop()
	for end := time.Now().Add(20 * time.Second); !x.watch.Clean(); {
		if _, err := x.Snapshot(t.Context()); err != nil || time.Now().After(end) {
			t.Fatalf("the watch reports changes without end: %v", err)
		}
	}
	return x, dir
}

func TestCloseEndsScansBeforeTheWatch(t *testing.T) {
	dir := t.TempDir()
	fsys := confined(t)(confine.New(dir))
	begun := make(chan struct{})
	var added error
	x := must.Get(newIndex(Config{Layers: []Layer{{Name: "commands", FS: fsys, Dir: "."}}, Watch: true, Now: time.Now,
		kind: kind{scan: func(s *scan, _ *confine.Dir, _ string) error {
			close(begun)
			<-s.Context.Done()
			added = s.Watch.Add(dir, true)
			return s.Context.Err()
		}}}))(t)
	<-begun
	x.Close()
	if added != nil {
		t.Errorf("the watch ended before the scan: %v", added)
	}
}

// TestWatchReportsEachChange waits for the scan that follows each change. No call
// asks for a snapshot.
func TestWatchReportsEachChange(t *testing.T) {
	root := tree{"top/commands/a.md": ""}.onDisk(t)
	dir := filepath.Join(root, "top", "commands")
	found := make(chan []string, 100)
	x := commandsOf(t, Config{Watch: true, Nested: true, Changed: func(_, now *Snapshot) { found <- entryNames(now.Entries) }},
		confined(t)(confine.New(root)), "top/commands")
	snapshotOf(t, x)
	put := func(elem ...string) error {
		file := filepath.Join(elem...)
		return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644))
	}
	for _, step := range []struct {
		name   string
		change func() error
		want   []string
	}{
		{"a new file", func() error { return put(dir, "b.md") }, []string{"a", "b"}},
		{"a new subdirectory", func() error { return put(dir, "sub", "c.md") }, []string{"a", "b", "sub:c"}},
		{"a file in the new subdirectory", func() error { return put(dir, "sub", "d.md") }, []string{"a", "b", "sub:c", "sub:d"}},
		{"a renamed subdirectory", func() error { return os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "moved")) }, []string{"a", "b", "moved:c", "moved:d"}},
		{"a file in the renamed subdirectory", func() error { return put(dir, "moved", "e.md") }, []string{"a", "b", "moved:c", "moved:d", "moved:e"}},
		{"a removed directory", func() error { return os.RemoveAll(dir) }, []string{}},
		{"a directory created again", func() error { return put(dir, "f.md") }, []string{"f"}},
		{"a renamed directory above", func() error { return os.Rename(filepath.Join(root, "top"), filepath.Join(root, "old")) }, []string{}},
		{"another directory above", func() error { return put(dir, "g.md") }, []string{"g"}},
	} {
		must.Do(t, step.change())
		for got := []string(nil); !slices.Equal(got, step.want); {
			select {
			case got = <-found:
			case <-time.After(20 * time.Second):
				t.Fatalf("%s: got %q, want %q", step.name, got, step.want)
			}
		}
	}
}

// A snapshot behind a link is validated by each call, because a link has no
// event for a change of its target.
func TestALinkedFileIsNotWatched(t *testing.T) {
	root := tree{"commands/a.md": "-> ../text.md", "text.md": "One."}.onDisk(t)
	x := commandsOf(t, Config{Watch: true}, confined(t)(confine.New(root)), "commands")
	for _, want := range []string{"One.", "Two.", "Three."} {
		must.Do(t, os.WriteFile(filepath.Join(root, "text.md"), []byte(want), 0o644))
		must.Equal(t, `snapshotOf(t, x).Lookup("a")`, want,
			snapshotOf(t, x).Lookup("a").Description())
	}
}

// A clean watch saves the scan: the second snapshot is the same without a call
// of the filesystem other than a stat of the layer's directory.
func TestACleanWatchSavesTheScan(t *testing.T) {
	x, _ := watchedIndex(t)
	scans := 0
	scanner := x.config.kind.scan
	x.config.kind.scan = func(s *scan, dir *confine.Dir, dirPath string) error {
		scans++
		return scanner(s, dir, dirPath)
	}
	must.Equal(t, "Last", snapshotOf(t, x), x.Last())
	must.Equal(t, "scans", 0, scans)
	if _, err := x.Validate(t.Context()); err != nil || scans != 1 {
		t.Errorf("Validate: %d scans, %v", scans, err)
	}
}

// A missing directory of a layer does not cost a scan for each call, and the watch sees the
// creation of the directory.
func TestAWatchIsCleanWithoutTheDirectoryOfALayer(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "a.md"), []byte("a"), 0o644))
	fsys := confined(t)(confine.New(dir))
	layers := []Layer{{Name: "missing", FS: fsys, Dir: "x/missing"}, {Name: "commands", FS: fsys, Dir: "."}}
	x := must.Get(New(client.Commands, Config{Layers: layers, MaxFileSize: 100, Valid: names.Plain, Watch: true, Now: time.Now}))(t)
	t.Cleanup(x.Close)
	await := func(what string, done func(*Snapshot) bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !done(snapshotOf(t, x)); {
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	await("the watch is not clean without the directory", func(*Snapshot) bool { return x.watch.Clean() })
	must.Do(t, os.MkdirAll(filepath.Join(dir, "x", "missing"), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(dir, "x", "missing", "b.md"), []byte("b"), 0o644))
	await("the file in the created directory is not listed", func(s *Snapshot) bool { return s.Lookup("b") != nil })
}

// A scan can end while a call decides whether the last snapshot is valid. Snapshot
// calls Now before clean.
func TestACleanWatchReturnsTheLastScan(t *testing.T) {
	x, dir := watchedIndex(t)
	before := x.Last()
	x.config.TTL = 1
	x.config.Now = func() time.Time {
		x.config.Now = time.Now
		if err := os.WriteFile(filepath.Join(dir, "b.md"), nil, 0o644); err != nil {
			t.Error(err)
		}
		for end := time.Now().Add(20 * time.Second); x.Last() == before || !x.watch.Clean(); {
			if _, err := x.Validate(t.Context()); err != nil || time.Now().After(end) {
				t.Errorf("the watch reports changes without end: %v", err)
				break
			}
		}
		return time.Now()
	}
	must.Equal(t, "entryNames(snapshotOf(t, x).Entries)", 2,
		len(entryNames(snapshotOf(t, x).Entries)))
}

// The layers on other filesystems are not watched.
func TestAFixedLayerIsNotWatched(t *testing.T) {
	fixed := confined(t)(confine.Over(tree{"x/a.md": ""}.inMemory(t), "/"))
	x := commandsOf(t, Config{Watch: true, Layers: []Layer{{Name: "x", FS: fixed, Dir: "x", Fixed: true}}}, nil)
	expect(t, x, "a x/a.md")
	if dirs, scan := watched(x.Layers()), newScan(t.Context(), x, 0, view{fs: fixed}); len(dirs) > 0 || scan.Watch != nil {
		t.Errorf("watched: %v, %v", dirs, scan.Watch)
	}
}

// A link that leads nowhere has another error than a missing directory.
func TestAWatchNoticesALinkInPlaceOfAMissingDirectory(t *testing.T) {
	root := tree{"commands/a.md": "One."}.onDisk(t)
	fsys := confined(t)(confine.New(root))
	x := commandsOf(t, Config{Watch: true, Layers: []Layer{{Name: "x", FS: fsys, Dir: "x/commands", MayBeMissing: true}, {Name: "commands", FS: fsys, Dir: "commands"}}}, nil)
	snapshotOf(t, x)
	hosttest.Symlink(t, "../outside", filepath.Join(root, "x"))
	for end := time.Now().Add(20 * time.Second); ; {
		if _, err := x.Snapshot(t.Context()); errors.Is(err, confine.ErrEscape) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the watch does not notice the link")
		}
	}
}

// A link leads to the directory of another layer, and the system has one watch for a directory with
// two paths. The directory that the link leads to keeps its inode number after a removal on some
// filesystems, so only events show the removal.
func TestOneWatchServesAllPathsOfADirectory(t *testing.T) {
	dirs := []string{"commands", "more/commands"}
	for _, tt := range []struct {
		name   string
		files  tree
		layers []string
		dir    string // of the new files
		change func(root string) error
	}{
		{"the link is above a missing directory", tree{"commands/a.md": "", "more": "-> commands"}, dirs, "commands", nil},
		{"in the other order", tree{"commands/a.md": "", "more": "-> commands"}, []string{dirs[1], dirs[0]}, "commands", nil},
		{"the directory is below the layer", tree{"commands/sub/a.md": "", "more": "-> commands/sub"}, dirs, "commands/sub", nil},
		{"the link replaces a directory", tree{"commands/a.md": "", "more/": ""}, dirs, "commands", func(root string) error {
			return errors.Join(os.Remove(filepath.Join(root, "more")), os.Symlink("commands", filepath.Join(root, "more")))
		}},
		{"the directory is made again", tree{"elsewhere/x/": "", "commands": "-> elsewhere/x"}, dirs[:1], "commands", func(root string) error {
			dir := filepath.Join(root, "elsewhere", "x")
			return errors.Join(os.Remove(dir), os.Mkdir(dir, 0o755))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := tt.files.onDisk(t)
			w := watchedBeside(t, root, true, tt.layers)
			defer w.close()
			step := func(err error) {
				t.Helper()
				if err = errors.Join(err, w.agree()); err != nil {
					t.Fatal(err)
				}
			}
			if tt.change != nil {
				step(tt.change(root))
			}
			for _, name := range []string{"b", "c"} {
				step(os.WriteFile(filepath.Join(root, tt.dir, name+".md"), nil, 0o644))
			}
		})
	}
}

// A pair is an index with a watch and the same index without a watch.
type pair struct{ watched, plain *Index }

// watchedBeside returns a pair after the first scan. No scan runs in the background.
func watchedBeside(t rapid.TB, root string, nested bool, dirs []string) pair {
	t.Helper()
	index := func(watch bool) *Index {
		fsys := must.Get(confine.New(root))(t)
		return must.Get(New(client.Commands, Config{Layers: layersOf(fsys, dirs...), MaxFileSize: 100, Valid: names.Plain, Nested: nested, Watch: watch, Now: time.Now}))(t)
	}
	p := pair{index(true), index(false)}
	p.watched.follow.Stop()
	p.watched.follow.Wait()
	must.Do(t, p.agree())
	return p
}

func (p pair) close() {
	for _, x := range []*Index{p.watched, p.plain} {
		x.Close()
		x.Layer(0).FS.Close()
	}
}

// agree waits until both indexes have the same commands. Only a report of the watch can change the
// result of another call.
func (p pair) agree() error {
	contents := func(x *Index) []string {
		s, err := x.Snapshot(context.Background())
		if s == nil {
			return []string{err.Error()}
		}
		return lines(x, s)
	}
	want := contents(p.plain)
	timeout := time.After(20 * time.Second)
	for {
		got := contents(p.watched)
		if slices.Equal(want, got) {
			return nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-timeout:
			return fmt.Errorf("the watch reports no change (-plain +watched):\n%s", cmp.Diff(want, got))
		}
	}
}

// TestWatchAgreesWithAnIndexWithoutAWatch draws trees with links between layers and missing layers.
func TestWatchAgreesWithAnIndexWithoutAWatch(t *testing.T) {
	hosttest.NeedsSymlinks(t)
	name := rapid.SampledFrom([]string{"a", "b"})
	place := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "path"), "/") })
	changes := map[string]func(at, other string) error{
		"make": func(at, _ string) error { return os.MkdirAll(at, 0o755) },
		"write": func(at, other string) error {
			return os.WriteFile(filepath.Join(at, filepath.Base(other)+".md"), nil, 0o644)
		},
		"remove": func(at, _ string) error { return os.RemoveAll(at) },
		"rename": os.Rename,
		"link": func(at, other string) error {
			target, err := filepath.Rel(filepath.Dir(at), other)
			return errors.Join(err, os.Symlink(target, at))
		},
	}
	kinds := rapid.SampledFrom(append(slices.Sorted(maps.Keys(changes)), "write", "write"))
	rapid.Check(t, func(rt *rapid.T) {
		root := t.TempDir()
		change := func() {
			at, other := filepath.Join(root, place.Draw(rt, "at")), filepath.Join(root, place.Draw(rt, "other"))
			_ = changes[kinds.Draw(rt, "change")](at, other) // a change that the filesystem rejects changes nothing
		}
		for range rapid.IntRange(2, 10).Draw(rt, "before") {
			change()
		}
		p := watchedBeside(rt, root, rapid.Bool().Draw(rt, "nested"), rapid.SliceOfNDistinct(place, 2, 3, rapid.ID).Draw(rt, "layers"))
		defer p.close()
		for range rapid.IntRange(2, 8).Draw(rt, "changes") {
			change()
			must.Do(rt, p.agree())
		}
	})
}
