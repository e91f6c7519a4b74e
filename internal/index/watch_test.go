package index

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/toolshelf-go/toolshelf/internal/confine"
)

// watched is an index of one folder with one file, its first scan over and
// nothing to follow.
func watched(t *testing.T) (*Index, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	fsys := confine.New(dir, confine.Options{})
	x, err := Commands(Config{Layers: []Layer{{Name: "commands", FS: fsys, Dir: "."}}, MaxFileSize: 100, Valid: PlainName, Watch: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		x.Close()
		fsys.Close()
	})
	for end := time.Now().Add(20 * time.Second); !x.watch.clean(x); {
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
		{"a link", func(w *watch, dir string) error { w.throughLink(); return nil }},
		{"a scan that failed", func(w *watch, dir string) error { return os.ErrPermission }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, dir := watched(t)
			x.watch.begin(1)
			x.watch.layer(0, dir)
			if x.watch.clean(x) {
				t.Error("the watch vouches for a snapshot while a scan is under way")
			}
			err := tt.scan(x.watch, dir)
			x.watch.end(err)
			if x.watch.clean(x) {
				t.Error("the watch vouches for what it cannot see")
			}
		})
	}
}

func TestAnOverflowIsAChange(t *testing.T) {
	w := &watch{wake: make(chan struct{}, 1), events: &fsnotify.Watcher{Events: make(chan fsnotify.Event), Errors: make(chan error)}}
	w.done.Go(w.listen)
	w.events.Errors <- fsnotify.ErrEventOverflow
	<-w.wake
	if !w.dirty.Load() {
		t.Error("the watch vouches for what it has missed")
	}
	close(w.events.Errors)
	w.done.Wait()
}

func TestAnotherFolderUnderTheNameIsNoticedWithoutAnEvent(t *testing.T) {
	x, dir := watched(t)
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir + ".old") })
	if x.watch.clean(x) {
		t.Error("the watch vouches for a folder that is not there")
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if x.watch.clean(x) {
		t.Error("the watch vouches for another folder of the name")
	}
}
