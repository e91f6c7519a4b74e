package watch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/paths"
)

// watched is a Watch of a directory with the file a.md, after a scan. The path of the directory has
// no links.
func watched(t *testing.T) (*Watch, string) {
	t.Helper()
	dir := paths.Real(t.TempDir())
	must.Do(t, os.WriteFile(filepath.Join(dir, "a.md"), []byte("a"), 0o644))
	w, err := New([]Dir{{Path: dir, Top: dir}}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	for end := time.Now().Add(20 * time.Second); !w.Clean(); {
		w.Begin()
		w.Visit(dir)
		w.End(nil)
		if time.Now().After(end) {
			t.Fatal("the watch reports changes without end")
		}
	}
	return w, dir
}

func TestACleanWatchHasSeenEverything(t *testing.T) {
	for _, tt := range []struct {
		name string
		scan func(w *Watch, dir string) error
	}{
		{"a directory that cannot be watched, as with a full watch table", func(w *Watch, dir string) error { w.Visit(filepath.Join(dir, "missing")); return nil }},
		{"a link", func(w *Watch, dir string) error { w.Unwatched(); return nil }},
		{"a scan that failed", func(w *Watch, dir string) error { return os.ErrPermission }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, dir := watched(t)
			w.Begin()
			w.Visit(dir)
			if w.Clean() {
				t.Error("the watch is clean during a scan")
			}
			err := tt.scan(w, dir)
			w.End(err)
			if w.Clean() {
				t.Error("the watch is clean")
			}
		})
	}
}

func TestAnOverflowIsAChange(t *testing.T) {
	follow := NewFollower()
	w := &Watch{report: follow.Report}
	events := &fsnotify.Watcher{Events: make(chan fsnotify.Event), Errors: make(chan error)}
	w.start(events)
	events.Errors <- fsnotify.ErrEventOverflow
	<-follow.wake
	if !w.dirty.Load() || !w.watcher.stale {
		t.Error("the watch is clean after missed events")
	}
	close(events.Errors)
	w.done.Wait()
}

// On Windows, the Close of fsnotify may never return.
func TestCloseOfAWatchIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Watch{report: func() {}, unwait: func() {}}
		w.start(&fsnotify.Watcher{Events: make(chan fsnotify.Event), Errors: make(chan error)})
		never := make(chan struct{})
		w.watcher.end = func() { <-never }
		begin := time.Now()
		w.Close()
		must.Equal(t, "close has waited", maxClose, time.Since(begin))
		close(never)
	})
}

func TestRelevantEvents(t *testing.T) {
	w, dir := watched(t)
	above := filepath.Dir(dir)
	w.mu.Lock()
	current := w.watcher
	w.mu.Unlock()
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
		w.mu.Lock()
		current.stale = false
		w.mu.Unlock()
		got := w.relevant(current, tt.event)
		w.mu.Lock()
		if got != tt.relevant || current.stale != tt.stale {
			t.Errorf("%v: relevant is %t and stale %t, want %t and %t", tt.event, got, current.stale, tt.relevant, tt.stale)
		}
		w.mu.Unlock()
	}
}

func TestACanceledScanIsRepeated(t *testing.T) {
	w, _ := watched(t)
	w.Begin()
	w.End(context.Canceled)
	if !w.dirty.Load() {
		t.Error("no scan will find the changes that the canceled scan has not reported")
	}
}

func TestAReplacedDirectoryIsNoticedWithoutAnEvent(t *testing.T) {
	w, dir := watched(t)
	must.Do(t, os.Rename(dir, dir+".old"))
	t.Cleanup(func() { os.RemoveAll(dir + ".old") })
	if w.Clean() {
		t.Error("the watch is clean without the directory")
	}
	must.Do(t, os.Mkdir(dir, 0o755))
	if w.Clean() {
		t.Error("the watch is clean with another directory of the name")
	}
}

// Two mounts of a directory are two paths without links. The test adds a link, because a mount
// needs root.
func TestEveryEventIsRelevantWithTwoPathsOfADirectory(t *testing.T) {
	w, dir := watched(t)
	other := filepath.Join(t.TempDir(), "other")
	hosttest.Symlink(t, dir, other)
	event := fsnotify.Event{Name: filepath.Join(filepath.Dir(other), "a.md"), Op: fsnotify.Create}
	for _, relevant := range []bool{false, true} {
		w.Begin()
		must.Do(t, w.Add(filepath.Dir(other), false))
		if relevant {
			must.Do(t, w.Add(other, true))
		}
		w.End(nil)
		w.mu.Lock()
		current := w.watcher
		w.mu.Unlock()
		must.Equal(t, "relevant", relevant, w.relevant(current, event))
	}
}
