package toolshelf_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

func TestOnChangeWithoutWatching(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"commands/a.md": "a", "commands/b.md": "b", "skills/s/SKILL.md": ""})
	c := catalog(t, toolshelf.WithFs(fsys))
	changes := make(chan toolshelf.Change)
	stop := c.OnChange(func(change toolshelf.Change) { changes <- change })
	names(t, c) // the first scan is not a change
	if err := errors.Join(fsys.Remove("commands/a.md"), afero.WriteFile(fsys, "commands/b.md", []byte("longer"), 0o644), afero.WriteFile(fsys, "commands/C.md", nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	names(t, c)
	want := toolshelf.Change{Commands: toolshelf.Names{Added: []string{"C"}, Removed: []string{"a"}, Changed: []string{"b"}}}
	if diff := cmp.Diff(want, <-changes); diff != "" {
		t.Errorf("change (-want +got):\n%s", diff)
	}
	stop()
	stop()
	if err := fsys.Remove("commands/b.md"); err != nil {
		t.Fatal(err)
	}
	names(t, c)
	select {
	case change := <-changes:
		t.Errorf("a change after stop: %+v", change)
	default:
	}
}

func TestASlowSubscriberDelaysNothingElse(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"commands/a.md": "a"})
	c := catalog(t, toolshelf.WithFs(fsys))
	entered, leave := make(chan bool), make(chan bool)
	var slow []string
	done := make(chan bool)
	c.OnChange(func(change toolshelf.Change) {
		entered <- true
		<-leave
		if slow = append(slow, change.Commands.Added...); len(slow) == 10 {
			close(done)
		}
	})
	var quick atomic.Int64
	c.OnChange(func(change toolshelf.Change) { quick.Add(int64(len(change.Commands.Added))) })
	names(t, c)
	for i := range 10 {
		if err := afero.WriteFile(fsys, fmt.Sprintf("commands/n%d.md", i), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		names(t, c)
		if i == 0 {
			<-entered // and blocks
		}
	}
	eventually(t, func() string {
		if n := quick.Load(); n != 10 {
			return fmt.Sprintf("the other subscriber received %d", n)
		}
		return ""
	})
	leave <- true
	<-entered // one change with all names since the first
	leave <- true
	<-done
}

func TestOnChangeAfterClose(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memory(t, ".")))
	c.Close()
	c.OnChange(func(toolshelf.Change) { t.Error("called") })()
}

func TestALaterDirectoryIsReportedWithoutAWatch(t *testing.T) {
	fsys := afero.NewMemMapFs()
	c := catalog(t, toolshelf.WithFs(fsys))
	changes := make(chan toolshelf.Change)
	c.OnChange(func(change toolshelf.Change) { changes <- change })
	look := func(want error) {
		t.Helper()
		if _, err := c.List(t.Context(), toolshelf.Page{}); !errors.Is(err, want) {
			t.Fatal(err)
		}
	}
	look(toolshelf.ErrDirectoryNotFound)
	for range 2 {
		if err := afero.WriteFile(fsys, "commands/a.md", nil, 0o644); err != nil {
			t.Fatal(err)
		}
		look(nil)
		want := toolshelf.Change{Commands: toolshelf.Names{Added: []string{"a"}}}
		if diff := cmp.Diff(want, <-changes); diff != "" {
			t.Errorf("a directory came (-want +got):\n%s", diff)
		}
		if err := fsys.RemoveAll("commands"); err != nil {
			t.Fatal(err)
		}
		look(toolshelf.ErrDirectoryNotFound)
		want = toolshelf.Change{Commands: toolshelf.Names{Removed: []string{"a"}}}
		if diff := cmp.Diff(want, <-changes); diff != "" {
			t.Errorf("a directory went (-want +got):\n%s", diff)
		}
	}
}

func TestOnChangeEndsWithTheGoroutineOfItsFunction(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"commands/a.md": "a"})
	c := catalog(t, toolshelf.WithFs(fsys))
	names(t, c)
	exited := make(chan struct{})
	stop := c.OnChange(func(toolshelf.Change) {
		defer close(exited)
		runtime.Goexit()
	})
	if err := fsys.Remove("commands/a.md"); err != nil {
		t.Fatal(err)
	}
	names(t, c)
	<-exited
	for end := time.Now().Add(patience); toolshelf.Subscribers(c) > 0; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("the subscription has not ended")
		}
	}
	stop()
}
