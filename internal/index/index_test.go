package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// A change of the files makes a new snapshot. The new snapshot has the entries
// of the unchanged files, and the next generation.
func TestEachChangeMakesAGeneration(t *testing.T) {
	files := tree{"commands/same.md": "Same."}
	memory, disk := files.inMemory(t), files.onDisk(t)
	for _, kind := range []struct {
		name  string
		fsys  *confine.FS
		files afero.Fs
	}{
		{"memory", confined(t)(confine.Over(memory, "/")), memory},
		{"disk", confined(t)(confine.New(disk)), afero.NewBasePathFs(afero.NewOsFs(), disk)},
	} {
		t.Run(kind.name, func(t *testing.T) {
			x := commandsOf(t, Config{MaxFileSize: 100}, kind.fsys, "commands")
			expect(t, x, "same commands/same.md")
			for i, step := range []struct {
				name   string
				change func() error
				want   string
			}{
				{"a new file", func() error { return write(kind.files, "commands/a.md", "One.") }, "a commands/a.md; same commands/same.md"},
				{"another content of the same size and time", func() error { return write(kind.files, "commands/a.md", "Two.") }, "a commands/a.md; same commands/same.md"},
				{"another size", func() error { return write(kind.files, "commands/a.md", "Three.") }, "a commands/a.md; same commands/same.md"},
				{"a dependency", func() error { return write(kind.files, "commands/a.md", "---\nis_dependency: yes\n---\n") }, "same commands/same.md"},
				{"a file that is too large", func() error { return write(kind.files, "commands/a.md", string(make([]byte, 101))) }, "same commands/same.md; FILE_TOO_LARGE commands/a.md"},
				{"a file that is larger still", func() error { return write(kind.files, "commands/a.md", string(make([]byte, 102))) }, "same commands/same.md; FILE_TOO_LARGE commands/a.md"},
				{"a file that is readable again", func() error { return write(kind.files, "commands/a.md", "One.") }, "a commands/a.md; same commands/same.md"},
				{"a directory of the same name", func() error {
					return errors.Join(kind.files.Remove("/commands/a.md"), kind.files.Mkdir("/commands/a.md", 0o755))
				}, "same commands/same.md; NOT_A_FILE commands/a.md"},
				{"a removed directory", func() error { return kind.files.Remove("/commands/a.md") }, "same commands/same.md"},
			} {
				before := x.Last()
				must.Do(t, step.change())
				now := expect(t, x, step.want)
				if now == before || now.Generation != uint64(i+2) {
					t.Errorf("%s: generation %d, want %d", step.name, now.Generation, i+2)
				}
				must.Equal(t, step.name, before.Lookup("same"), now.Lookup("same"))
			}
		})
	}
}

func TestChangedReportsEachNewSnapshot(t *testing.T) {
	files := tree{"commands/a.md": ""}.inMemory(t)
	var changes [][]*Snapshot
	x := commandsOf(t, Config{Changed: func(before, now *Snapshot) { changes = append(changes, []*Snapshot{before, now}) }}, confined(t)(confine.Over(files, "/")), "commands")
	first := snapshotOf(t, x)
	snapshotOf(t, x)
	must.Do(t, write(files, "commands/b.md", ""))
	second := snapshotOf(t, x)
	snapshotOf(t, x)
	if len(changes) != 1 || changes[0][0] != first || changes[0][1] != second {
		t.Errorf("%d changes: %v", len(changes), changes)
	}
}

// counting counts the opens of directories.
func counting(t *testing.T, tr tree) (fsys *confine.FS, dirs *atomic.Int64) {
	dirs = new(atomic.Int64)
	return confined(t)(confine.Over(faulty{tr.inMemory(t), func(op, name string) error {
		if op == "open " && path.Ext(name) == "" {
			dirs.Add(1)
		}
		return nil
	}}, "/")), dirs
}

func TestSnapshotWithinTheTTL(t *testing.T) {
	fsys, scans := counting(t, tree{"commands/a.md": ""})
	now := time.Unix(1_000_000, 0)
	x := commandsOf(t, Config{TTL: time.Minute, Now: func() time.Time { return now }}, fsys, "commands")
	served := func(scanned bool, snapshot func(context.Context) (*Snapshot, error)) {
		t.Helper()
		before := scans.Load()
		must.Get(snapshot(t.Context()))(t)
		must.Equal(t, "scanned", scanned, scans.Load() > before)
	}
	served(true, x.Snapshot)
	now = now.Add(time.Minute - 1)
	served(false, x.Snapshot)
	served(true, x.Validate)
	now = now.Add(time.Minute - 1)
	served(false, x.Snapshot) // the validation began a new period
	now = now.Add(1)
	served(true, x.Snapshot)
}

// An error ends the period in which a snapshot is served without validation, and
// begins no other.
func TestAnErrorEndsTheTTL(t *testing.T) {
	files := tree{"commands/a.md": ""}.inMemory(t)
	now := time.Unix(1_000_000, 0)
	x := commandsOf(t, Config{TTL: time.Minute, Now: func() time.Time { return now }}, confined(t)(confine.Over(files, "/")), "commands")
	expect(t, x, "a commands/a.md")
	must.Do(t, files.RemoveAll("/commands"))
	for _, snapshot := range []func(context.Context) (*Snapshot, error){x.Validate, x.Snapshot} {
		must.Fail(snapshot(t.Context()))(t, "a missing directory", fs.ErrNotExist)
	}
	must.Do(t, errors.Join(files.Mkdir("/commands", 0o755), write(files, "commands/b.md", "")))
	expect(t, x, "b commands/b.md")
}

func TestAnImmutableLayerIsScannedOnce(t *testing.T) {
	fixed, scans := counting(t, tree{"x/a.md": ""})
	files := tree{"y/b.md": ""}.inMemory(t)
	x := commandsOf(t, Config{Layers: []Layer{{Name: "x", FS: fixed, Dir: "x", Immutable: true}, {Name: "y", FS: confined(t)(confine.Over(files, "/")), Dir: "y"}}}, nil)
	first := expect(t, x, "a x/a.md; b y/b.md")
	once := scans.Load()
	must.Do(t, write(files, "y/c.md", ""))
	second := expect(t, x, "a x/a.md; b y/b.md; c y/c.md")
	must.Equal(t, "Load", once, scans.Load())
	must.Equal(t, "Lookup", second.Lookup("a"), first.Lookup("a"))
	info := confine.Info{Modified: first.Lookup("a").Stamp.Modified()}
	if !x.Settled(0, info, time.Now()) || x.Settled(1, info, time.Now()) {
		t.Error("only the files of the immutable layer are settled without a change time")
	}
}

func TestConcurrentCallsShareAScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var scans atomic.Int64
		release := make(chan struct{})
		fsys := confined(t)(confine.Over(faulty{tree{"commands/a.md": ""}.inMemory(t), func(op, name string) error {
			if op == "open " && path.Base(name) == "a.md" {
				scans.Add(1)
				<-release
			}
			return nil
		}}, "/"))
		x := commandsOf(t, Config{}, fsys, "commands")
		results := make(chan error, 20)
		for range 20 {
			go func() {
				_, err := x.Snapshot(t.Context())
				results <- err
			}()
		}
		synctest.Wait()
		close(release)
		for range 20 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if n := scans.Load(); n > 2 {
			t.Errorf("%d scans for 20 calls at the same time", n)
		}
	})
}

// unclosed makes an index of the directory commands. The test closes the index.
func unclosed(t *testing.T, config Config, fsys *confine.FS) *Index {
	t.Helper()
	config.Layers, config.MaxFileSize, config.Valid = layersOf(fsys, "commands"), 1<<20, names.Plain
	return must.Get(New(client.Commands, config))(t)
}

// While the filesystem hangs, a call ends with its context, and Close waits.
func TestAScanThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		fsys := confined(t)(confine.Over(faulty{tree{"commands/a.md": "", "commands/b.md": ""}.inMemory(t), func(op, name string) error {
			if op == "open " && path.Base(name) == "a.md" {
				<-release
			}
			return nil
		}}, "/"))
		x := unclosed(t, Config{}, fsys)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := x.Snapshot(ctx)
			ended <- err
		}()
		synctest.Wait()
		cancel()
		must.Is(t, "a call whose context has ended", context.Canceled, <-ended)
		closed := make(chan struct{})
		go func() {
			x.Close()
			close(closed)
		}()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("Close returned during a call of the filesystem")
		default:
		}
		close(release)
		<-closed
		if x.Last() != nil {
			t.Error("a canceled scan made a snapshot")
		}
	})
}

func TestClosed(t *testing.T) {
	fsys := confined(t)(confine.Over(tree{"commands/a.md": ""}.inMemory(t), "/"))
	t.Run("by Close", func(t *testing.T) {
		x := unclosed(t, Config{}, confined(t)(confine.New(tree{"commands/a.md": ""}.onDisk(t))))
		e := snapshotOf(t, x).Lookup("a")
		x.Close()
		must.Fail(x.Snapshot(t.Context()))(t, "Snapshot", fs.ErrClosed)
		must.Equal(t, "the file of a closed index is known", false, isSame(x, e))
	})
	t.Run("by the end of the lifetime", func(t *testing.T) {
		lifetime, end := context.WithCancel(t.Context())
		x := commandsOf(t, Config{Lifetime: lifetime}, fsys, "commands")
		snapshotOf(t, x)
		end()
		must.Fail(x.Snapshot(t.Context()))(t, "Snapshot", fs.ErrClosed)
	})
	t.Run("a context that has ended", func(t *testing.T) {
		x := commandsOf(t, Config{}, fsys, "commands")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must.Fail(x.Snapshot(ctx))(t, "Snapshot", context.Canceled)
	})
}

// TestLayersThatCannotBeRead lists two layers, "one" and "two".
func TestLayersThatCannotBeRead(t *testing.T) {
	denied := func(op, name string) error {
		if op == "open " && path.Base(name) == "one" {
			return fs.ErrPermission
		}
		return nil
	}
	for _, tt := range []struct {
		name  string
		tree  tree
		fault func(op, name string) error
		layer Layer  // the flags of layer one
		want  string // the snapshot, or "" if nil
		err   error
		at    int // the layer of the error
	}{
		{name: "one is missing", tree: tree{"two/b.md": ""}, want: "b two/b.md"},
		{name: "both are missing", tree: tree{"x": ""}, want: "empty", err: fs.ErrNotExist},
		{name: "one is missing and the root exists", tree: tree{"two/b.md": ""}, layer: Layer{InRoot: true}, want: "b two/b.md"},
		{name: "one is a file", tree: tree{"one": "", "two/b.md": ""}, err: confine.ErrNotDir},
		{name: "one is denied", tree: tree{"one/a.md": "", "two/b.md": ""}, fault: denied, err: fs.ErrPermission},
		{name: "one is denied and optional", tree: tree{"one/a.md": "", "two/b.md": ""}, fault: denied, layer: Layer{Optional: true}, want: "b two/b.md; FOLDER_UNREADABLE one"},
		{name: "one is a file and optional", tree: tree{"one": "", "two/b.md": ""}, layer: Layer{Optional: true}, want: "b two/b.md; FOLDER_UNREADABLE one"},
		{name: "one is denied and optional, two is missing", tree: tree{"one/a.md": ""}, fault: denied, layer: Layer{Optional: true}, want: "FOLDER_UNREADABLE one", err: fs.ErrPermission},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.fault == nil {
				tt.fault = func(string, string) error { return nil }
			}
			fsys := confined(t)(confine.Over(faulty{tt.tree.inMemory(t), tt.fault}, "/"))
			one, two := tt.layer, Layer{Name: "two", FS: fsys, Dir: "two"}
			one.Name, one.FS, one.Dir = "one", fsys, "one"
			x := commandsOf(t, Config{Layers: []Layer{one, two}}, nil)
			for range 2 { // the second call finds the same
				s, err := x.Snapshot(t.Context())
				must.Is(t, "error", tt.err, err)
				var failed *LayerError
				if errors.As(err, &failed) && (failed.Layer != tt.at || failed.NoRoot || failed.Error() != failed.Err.Error()) {
					t.Errorf("%+v, want an error of layer %d", failed, tt.at)
				}
				switch {
				case tt.want == "" && s != nil:
					t.Errorf("snapshot %q, want none", lines(x, s))
				case tt.want == "empty":
					must.Len(t, "snapshot", 0, s.Entries)
					must.Len(t, "snapshot", 0, s.Problems())
				case tt.want != "":
					must.Match(t, "snapshot", splitLines(tt.want), lines(x, s))
				}
				if s != nil && s.Generation != 1 {
					t.Errorf("generation %d of the same files", s.Generation)
				}
			}
		})
	}
}

// A missing root is an error, even if another layer exists.
func TestARootThatIsMissing(t *testing.T) {
	root := tree{"commands/a.md": ""}.onDisk(t)
	other := confined(t)(confine.Over(afero.FromIOFS{FS: fstest.MapFS{"b.md": {}}}, "."))
	x := commandsOf(t, Config{Layers: []Layer{
		{Name: "commands", FS: confined(t)(confine.New(root)), Dir: "commands", InRoot: true}, {Name: "built in", FS: other, Dir: "."},
	}}, nil)
	expect(t, x, "a commands/a.md; b built in/b.md")
	must.Do(t, os.RemoveAll(root))
	var failed *LayerError
	if s, err := x.Snapshot(t.Context()); !errors.As(err, &failed) || !failed.NoRoot || s != nil {
		t.Errorf("got %v, %v", s, err)
	}
	must.Do(t, errors.Join(os.MkdirAll(filepath.Join(root, "commands"), 0o755), os.WriteFile(filepath.Join(root, "commands", "c.md"), nil, 0o644)))
	expect(t, x, "b built in/b.md; c commands/c.md")
}

// TestAScanEndsWithItsContext ends the context at each call of the filesystem. A
// scan that ends early leaves no snapshot, and each snapshot is complete.
func TestAScanEndsWithItsContext(t *testing.T) {
	commands := tree{"layer/a.md": "", "layer/sub/b.md": "", "layer/sub/deep/c.md": "", "layer/x/d.md": ""}
	skills := tree{"layer/SKILL.md": "", "layer/a/SKILL.md": "", "layer/a/part/SKILL.md": "", "layer/web/b/SKILL.md": "", "layer/web/deep/c/SKILL.md": ""}
	for name, tt := range map[string]struct {
		tree tree
		open func(t testing.TB, config Config, fsys *confine.FS, dirs ...string) *Index
		want int
	}{
		"commands":                {commands, commandsOf, 4},
		"skills":                  {skills, skillsOf, 4},
		"a layer that is a skill": {tree{"layer/SKILL.md": skillText("a"), "layer/scripts/x": ""}, skillsOf, 1},
	} {
		for last := 1; ; last++ {
			ctx, cancel := context.WithCancel(t.Context())
			var calls atomic.Int64
			fsys := confined(t)(confine.Over(faulty{tt.tree.inMemory(t), func(string, string) error {
				if calls.Add(1) == int64(last) {
					cancel()
				}
				return nil
			}}, "/"))
			x := tt.open(t, Config{Nested: true, Depth: 4}, fsys, "layer")
			s, err := x.validate(ctx, freshness{})
			switch {
			case err == nil && len(s.Entries) != tt.want:
				t.Errorf("%s: the end at call %d gives the snapshot %q", name, last, lines(x, s))
			case err != nil && (!errors.Is(err, context.Canceled) || x.Last() != nil):
				t.Errorf("%s: the end at call %d: %v, with the snapshot %v", name, last, err, x.Last())
			}
			ended := ctx.Err() != nil
			cancel()
			if !ended {
				break
			}
		}
	}
}

// A file that is read last may come from the previous scan if the context ends
// during the read.
func TestAScanFailsIfTheContextEndsInTheLastRead(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	x := must.Get(newIndex(Config{Layers: []Layer{{Name: "commands", FS: confined(t)(confine.New(t.TempDir())), Dir: "."}},
		kind: kind{scan: func(s *scan, _ *confine.Dir, _ string) error {
			cancel()
			<-s.Context.Done()
			return nil
		}}}))(t)
	must.Fail(x.Snapshot(ctx))(t, "Snapshot", context.Canceled)
	x.Close()
	if x.Last() != nil {
		t.Error("a canceled scan has made a snapshot")
	}
}
