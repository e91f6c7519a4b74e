package index

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// watched is an index of one directory with one file, its first scan over. No
// scan runs in the background.
func watched(t *testing.T) (*Index, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	fsys := confined(t)(confine.New(dir))
	x, err := Commands(Config{Layers: []Layer{{Name: "commands", FS: fsys, Dir: "."}}, MaxFileSize: 100, Valid: names.Plain, Watch: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	x.watch.cancel()
	for end := time.Now().Add(20 * time.Second); !x.watch.clean(); {
		if _, err := x.Snapshot(t.Context()); err != nil || time.Now().After(end) {
			t.Fatalf("a watch that finds no rest: %v", err)
		}
	}
	return x, dir
}

func TestAWatchThatCannotSeeIsNotReliedUpon(t *testing.T) {
	for _, tt := range []struct {
		name string
		scan func(w *watch, dir string) error
	}{
		{"a folder that cannot be watched, as with a full watch table", func(w *watch, dir string) error { w.visit(filepath.Join(dir, "missing")); return nil }},
		{"a link", func(w *watch, dir string) error { w.markUnwatched(); return nil }},
		{"a scan that failed", func(w *watch, dir string) error { return os.ErrPermission }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, dir := watched(t)
			x.watch.beginScan()
			x.watch.visit(dir)
			if x.watch.clean() {
				t.Error("the watch vouches for a snapshot while a scan is under way")
			}
			err := tt.scan(x.watch, dir)
			x.watch.endScan(err)
			if x.watch.clean() {
				t.Error("the watch vouches for what it cannot see")
			}
		})
	}
}

func TestAnOverflowIsAChange(t *testing.T) {
	w := &watch{wake: make(chan struct{}, 1)}
	events := &fsnotify.Watcher{Events: make(chan fsnotify.Event), Errors: make(chan error)}
	w.start(events)
	events.Errors <- fsnotify.ErrEventOverflow
	<-w.wake
	if !w.dirty.Load() || !w.watcher.stale {
		t.Error("the watch vouches for what it has missed")
	}
	close(events.Errors)
	w.done.Wait()
}

func TestOnlyARouteMattersAboveALayer(t *testing.T) {
	x, dir := watched(t)
	above := filepath.Dir(dir)
	x.watch.mu.Lock()
	current := x.watch.watcher
	x.watch.mu.Unlock()
	for _, tt := range []struct {
		event           fsnotify.Event
		relevant, stale bool
	}{
		{fsnotify.Event{Name: filepath.Join(above, "other"), Op: fsnotify.Create}, false, false},
		{fsnotify.Event{Name: filepath.Join(dir, "a.md"), Op: fsnotify.Rename}, true, false},
		{fsnotify.Event{Name: dir, Op: fsnotify.Chmod}, true, false},
		{fsnotify.Event{Name: dir, Op: fsnotify.Rename}, true, true},
		{fsnotify.Event{}, true, true},
	} {
		x.watch.mu.Lock()
		current.stale = false
		x.watch.mu.Unlock()
		got := x.watch.relevant(current, tt.event)
		x.watch.mu.Lock()
		if got != tt.relevant || current.stale != tt.stale {
			t.Errorf("%v: relevant is %t and stale %t, want %t and %t", tt.event, got, current.stale, tt.relevant, tt.stale)
		}
		x.watch.mu.Unlock()
	}
}

func TestCloseEndsScansBeforeTheWatch(t *testing.T) {
	dir := t.TempDir()
	fsys := confined(t)(confine.New(dir))
	begun := make(chan struct{})
	var added error
	x, err := newIndex(Config{Layers: []Layer{{Name: "commands", FS: fsys, Dir: "."}}, Watch: true, Now: time.Now},
		func(s *scan, _ *confine.Dir, _ string) (*layerFiles, error) {
			close(begun)
			<-s.ctx.Done()
			added = s.watch.add(dir, true)
			return nil, s.ctx.Err()
		})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	x.Close()
	if added != nil {
		t.Errorf("a scan that Close ends adds a directory to a watch that has ended: %v", added)
	}
}

func TestAScanThatItsCallersGaveUpIsMadeUpFor(t *testing.T) {
	x, _ := watched(t)
	x.watch.beginScan()
	x.watch.endScan(context.Canceled)
	if !x.watch.dirty.Load() {
		t.Error("nobody looks for the changes that the scan has not told of")
	}
}

func TestAnotherFolderUnderTheNameIsNoticedWithoutAnEvent(t *testing.T) {
	x, dir := watched(t)
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir + ".old") })
	if x.watch.clean() {
		t.Error("the watch vouches for a folder that is not there")
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if x.watch.clean() {
		t.Error("the watch vouches for another folder of the name")
	}
}
