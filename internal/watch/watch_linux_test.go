package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fsnotify/fsnotify"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// TestAClosedWatcherHasNoWatches moves watched directories. fsnotify has not
// handled the moves when the watcher closes, because no goroutine receives the
// events.
func TestAClosedWatcherHasNoWatches(t *testing.T) {
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	events, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	w := &Watch{watcher: newWatcher(events)}
	add := func(paths ...string) {
		for _, path := range paths {
			must.Do(t, w.Add(path, true))
		}
	}
	for _, path := range []string{a, b} {
		must.Do(t, os.Mkdir(path, 0o755))
	}
	add(dir, a, b)
	instance := inotifyOf(t, dir)
	for _, rename := range [][2]string{{a, c}, {b, a}} {
		must.Do(t, os.Rename(rename[0], rename[1]))
	}
	add(a, c) // other directories than before, with the watches of b and a

	w.watcher.close()
	must.Equal(t, "watches of the closed watcher", "", watchesOf(t, instance))
}

// inotifyOf returns a duplicate of the descriptor of the inotify instance that
// watches a directory. The duplicate keeps the instance open after a close.
func inotifyOf(t *testing.T, dir string) int {
	t.Helper()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	watch := fmt.Sprintf(" ino:%x ", info.Sys().(*syscall.Stat_t).Ino)
	for fd := range 1000 {
		if text, err := os.ReadFile(fmt.Sprint("/proc/self/fdinfo/", fd)); err == nil && strings.Contains(string(text), watch) {
			duplicate, err := syscall.Dup(fd)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { syscall.Close(duplicate) })
			return duplicate
		}
	}
	t.Fatal("no descriptor watches the directory")
	return -1
}

// watchesOf returns a line for each watch of an inotify instance.
func watchesOf(t *testing.T, fd int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprint("/proc/self/fdinfo/", fd))
	if err != nil {
		t.Fatal(err)
	}
	_, watches, _ := strings.Cut(string(text), "inotify ")
	return watches
}
