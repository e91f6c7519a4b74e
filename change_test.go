package toolshelf_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
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

// exiting is a filesystem whose Open calls a function, while the function is set.
type exiting struct {
	fs.FS
	exit *atomic.Pointer[func()]
}

func (e exiting) Open(name string) (fs.File, error) {
	if exit := e.exit.Load(); exit != nil {
		(*exit)()
	}
	return e.FS.Open(name)
}

// messages are the messages of a logger.
type messages struct {
	mu   sync.Mutex
	text strings.Builder
}

func (m *messages) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text.Write(p)
}

func (m *messages) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text.String()
}

// In the background, no caller can receive a panic of the caller's filesystem or of a filter.
// The catalog logs the panic, the next call receives the panic if the panic happens again, and
// a later Change has all names.
func TestAPanicInTheBackgroundIsLoggedAndEndsNothing(t *testing.T) {
	for way, exit := range map[string]func(){"runtime.Goexit": runtime.Goexit, "panic: of the program": func() { panic("of the program") }} {
		for source, open := range map[string]func(t *testing.T, root string, exits *atomic.Pointer[func()], logger toolshelf.Option) (c *toolshelf.Catalog, notice func()){
			"a scan of WithWatch": func(t *testing.T, root string, exits *atomic.Pointer[func()], logger toolshelf.Option) (*toolshelf.Catalog, func()) {
				return catalog(t, logger, toolshelf.WithRoot(root), toolshelf.WithWatch(),
					toolshelf.WithCommandsFS("built in", exiting{fstest.MapFS{}, exits})), func() {}
			},
			"a scan of WithFeed": func(t *testing.T, root string, exits *atomic.Pointer[func()], logger toolshelf.Option) (*toolshelf.Catalog, func()) {
				connected := make(chan func(paths ...string), 1)
				c := catalog(t, logger, toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(),
					toolshelf.WithCommandsFS("commands", exiting{os.DirFS(filepath.Join(root, "commands")), exits}),
					toolshelf.WithFeed(time.Hour, func(ctx context.Context, touch func(paths ...string)) error {
						connected <- touch
						<-ctx.Done()
						return ctx.Err()
					}))
				touch := <-connected
				touch()
				return c, func() { touch() }
			},
			"a filter before a Change": func(t *testing.T, root string, exits *atomic.Pointer[func()], logger toolshelf.Option) (*toolshelf.Catalog, func()) {
				c := catalog(t, logger, toolshelf.WithRoot(root))
				view, err := c.View(toolshelf.WithCommandFilter(func(toolshelf.CommandInfo) bool {
					if exit := exits.Load(); exit != nil {
						(*exit)()
					}
					return true
				}))
				if err != nil {
					t.Fatal(err)
				}
				return view, func() { names(t, c) }
			},
		} {
			t.Run(source+", "+way, func(t *testing.T) {
				root := diskOf(t, map[string]string{"commands/a.md": "A."})
				var logged messages
				var exits atomic.Pointer[func()]
				c, notice := open(t, root, &exits, toolshelf.WithLogger(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelError}))))
				names(t, c)
				added := make(chan string, 10)
				c.OnChange(func(change toolshelf.Change) {
					for _, name := range change.Commands.Added {
						added <- name
					}
				})
				exits.Store(&exit)
				write(t, "B.", root, "commands", "b.md")
				notice()
				eventually(t, func() string {
					if !strings.Contains(logged.String(), "exit") || !strings.Contains(logged.String(), way) {
						return "logged: " + logged.String()
					}
					return ""
				})
				if returned(func() { _, _ = c.List(t.Context(), toolshelf.Page{}) }) {
					t.Error("the next call returned")
				}
				exits.Store(nil)
				write(t, "C.", root, "commands", "c.md")
				notice()
				for _, want := range []string{"b", "c"} {
					select {
					case got := <-added:
						if got != want {
							t.Errorf("added %s, want %s", got, want)
						}
					case <-time.After(patience):
						t.Fatalf("no change has %s", want)
					}
				}
			})
		}
	}
}

// returned reports whether f returns, and neither panics nor calls runtime.Goexit.
func returned(f func()) (returned bool) {
	var done sync.WaitGroup
	done.Go(func() {
		defer func() { _ = recover() }()
		f()
		returned = true
	})
	done.Wait()
	return returned
}
