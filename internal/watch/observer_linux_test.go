package watch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fsnotify/fsnotify"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/mounts"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// directories creates the directories of a new directory, and returns the directory.
func directories(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		must.Do(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	return dir
}

func observer(t *testing.T, dirs ...string) *Observer {
	t.Helper()
	o := NewObserver(dirs, func() {})
	t.Cleanup(func() {
		if !o.closed {
			o.Close()
		}
	})
	return o
}

// needsLocal skips the test if another program or machine can change the directory without an
// event.
func needsLocal(t *testing.T, dir string) {
	t.Helper()
	if !mounts.ReadTable().Local(dir) {
		t.Skip("the filesystem is not on a disk or in memory of this machine")
	}
}

// An Observer ignores the other files of a directory, such as the source files of a project.
func TestAnObserverHearsOfTheNamesOfItsCalls(t *testing.T) {
	dir := directories(t, "sub", "whole", "created")
	needsLocal(t, dir)
	o := observer(t, dir)
	look := o.Begin()
	if look == nil {
		t.Skip("the system does not watch directories")
	}
	at := func(elem ...string) string { return filepath.Join(append([]string{dir}, elem...)...) }
	look.File(at("AGENTS.md"))
	look.Dir(at("sub"))
	look.Dir(at("new.go", "below"))
	look.Whole(at("whole"))
	must.Do(t, os.WriteFile(at("new.go"), nil, 0o644))
	look.Dir(at("missing"))
	look.Dir(at("later"))
	must.Do(t, os.Rename(at("created"), at("later")))
	if _, ok := look.Generation(); !ok {
		t.Fatal("a directory is not watched")
	}
	w := o.watch.Load()
	w.mu.Lock()
	current := w.watcher
	w.mu.Unlock()
	for _, tt := range []struct {
		name     string
		op       fsnotify.Op
		relevant bool
	}{
		{at("AGENTS.md"), fsnotify.Write, true},
		{at("agents.md"), fsnotify.Create, true}, // the filesystem can ignore the letter case
		{at("main.go"), fsnotify.Create, false},
		{at("new.go"), fsnotify.Create, false}, // a file in place of a directory
		{at("missing"), fsnotify.Remove, false},
		{at("later"), fsnotify.Create, true},
		{at("sub", "main.go"), fsnotify.Write, false},
		{at("sub"), fsnotify.Remove, true},
		{at("whole", "main.go"), fsnotify.Write, true},
		{filepath.Join(filepath.Dir(dir), "other"), fsnotify.Create, false},
		{dir, fsnotify.Rename, true},
		{"", 0, true},
	} {
		if got := w.relevant(current, fsnotify.Event{Name: tt.name, Op: tt.op}); got != tt.relevant {
			t.Errorf("%s of %q: %t", tt.op, tt.name, got)
		}
	}
}

func TestAnObserverTrustsNoCallWithAnUnwatchedDirectory(t *testing.T) {
	for name, call := range map[string]func(o *Observer, look *Look, dir string){
		"a link":                  func(_ *Observer, look *Look, dir string) { look.Dir(filepath.Join(dir, "link", "sub")) },
		"a remote filesystem":     func(o *Observer, look *Look, dir string) { o.table = ""; look.Dir(dir) },
		"too many directories":    func(o *Observer, look *Look, dir string) { o.observed = maxObserved; look.Dir(dir) },
		"too many names":          func(o *Observer, look *Look, dir string) { o.wanted = maxWanted; look.File(filepath.Join(dir, "a")) },
		"a directory of a kernel": func(_ *Observer, look *Look, _ string) { look.Dir("/proc/self") },
		"a file without events":   func(_ *Observer, look *Look, _ string) { look.Fail() },
		"a closed Observer":       func(o *Observer, look *Look, dir string) { o.Close(); look.Dir(dir) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := directories(t, "sub")
			hosttest.Symlink(t, ".", filepath.Join(dir, "link"))
			o := observer(t, dir)
			look := o.Begin()
			if look == nil {
				t.Skip("the system does not watch directories")
			}
			call(o, look, dir)
			if _, ok := look.Generation(); ok {
				t.Error("the call has a generation")
			}
		})
	}
}

// After an event that can change the path of a watched directory, another watcher watches the
// directories again.
func TestAnObserverWatchesAVanishedDirectoryAgain(t *testing.T) {
	dir := directories(t, "sub")
	needsLocal(t, dir)
	heard := make(chan bool, 100)
	o := NewObserver([]string{dir}, func() { heard <- true })
	t.Cleanup(o.Close)
	for range 3 {
		look := o.Begin()
		if look == nil {
			t.Skip("the system does not watch directories")
		}
		look.Dir(filepath.Join(dir, "sub"))
		generation, ok := look.Generation()
		if !ok {
			t.Fatal("the directory is not watched")
		}
		must.Do(t, os.Remove(filepath.Join(dir, "sub")))
		for o.Unchanged(generation) {
			<-heard // also once after the first Begin
		}
		must.Do(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	}
}
