package toolshelf_test

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"math/bits"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"go.uber.org/goleak"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

//go:embed testdata/projects/*.txt
var projects embed.FS

// filesOf returns the files of a project of testdata/projects.
func filesOf(project string) map[string]string {
	text := must.Get(projects.ReadFile("testdata/projects/" + project + ".txt"))(must.Program)
	return must.Files(string(text))
}

// A hook is a filesystem with functions around the calls that read. A function may be nil.
type hook struct {
	afero.Fs
	before func(op, name string) error        // an error is the result of the call
	info   func(info fs.FileInfo) fs.FileInfo // other metadata
	file   func(f afero.File) afero.File      // another file in place of an opened file
}

// A reading is a file with another Read and another ReadAt.
type reading struct {
	afero.File
	read   func(p []byte) (int, error)
	readAt func(p []byte, offset int64) (int, error)
}

func (r reading) Read(p []byte) (int, error) { return r.read(p) }

func (r reading) ReadAt(p []byte, offset int64) (int, error) { return r.readAt(p, offset) }

func (h hook) Open(name string) (afero.File, error) {
	return h.open(name, func() (afero.File, error) { return h.Fs.Open(name) })
}

func (h hook) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	return h.open(name, func() (afero.File, error) { return h.Fs.OpenFile(name, flag, perm) })
}

func (h hook) open(name string, open func() (afero.File, error)) (afero.File, error) {
	if err := h.call("open", name); err != nil {
		return nil, err
	}
	f, err := open()
	if err == nil && h.info != nil {
		f = hookedFile{f, h.info}
	}
	if err == nil && h.file != nil {
		f = h.file(f)
	}
	return f, err
}

func (h hook) Stat(name string) (fs.FileInfo, error) {
	if err := h.call("stat", name); err != nil {
		return nil, err
	}
	info, err := h.Fs.Stat(name)
	if err == nil && h.info != nil {
		info = h.info(info)
	}
	return info, err
}

func (h hook) call(op, name string) error {
	if h.before == nil {
		return nil
	}
	return h.before(op, filepath.ToSlash(name))
}

type hookedFile struct {
	afero.File
	info func(fs.FileInfo) fs.FileInfo
}

func (f hookedFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	if err == nil {
		info = f.info(info)
	}
	return info, err
}

// onOpen returns a hook that calls f before each file or directory is opened.
func onOpen(fsys afero.Fs, f func(name string)) hook {
	return hook{Fs: fsys, before: func(op, name string) error {
		if op == "open" {
			f(name)
		}
		return nil
	}}
}

// An opened counts the opens of each file.
type opened struct {
	mu    sync.Mutex
	opens map[string]int
}

func (o *opened) add(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.opens == nil {
		o.opens = map[string]int{}
	}
	if path.Ext(name) != "" {
		o.opens[name]++
	}
}

// files returns the opens since the last call.
func (o *opened) files() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() { o.opens = nil }()
	return o.opens
}

// untilClosed returns a function of a hook that waits for the gate.
func untilClosed(gate <-chan struct{}) func(op, name string) error {
	return func(string, string) error { <-gate; return nil }
}

func TestUnreadable(t *testing.T) {
	broken := map[string]error{
		"Build.md": fs.ErrPermission, "crlf.md": errors.New("input/output error"),
	}
	c := catalog(t, toolshelf.WithFs(catalogtest.Faulty{Fs: memory(t, "."), Opens: broken}))
	want := []string{"analyze-logs", "broken", "deploy_app", "empty", "zeta"}
	must.Match(t, "one unreadable file, the others", want, names(t, c))
	_, err := c.Get(t.Context(), "Build")
	must.Is(t, "Get", toolshelf.ErrFileRead, err)
	must.Is(t, "Get", fs.ErrPermission, err)
	if got := strings.Join(problems(t, c), "\n"); !strings.Contains(got, "FILE_READ_ERROR commands/Build.md") || !strings.Contains(got, "FILE_READ_ERROR commands/crlf.md") {
		t.Errorf("Lint reports\n%s", got)
	}

	denied := map[string]error{"commands": fs.ErrPermission}
	c = catalog(t, toolshelf.WithFs(catalogtest.Faulty{Fs: memory(t, "."), Opens: denied}))
	for op, call := range map[string]func() error{
		"List": func() error { _, err := c.List(t.Context(), toolshelf.Page{}); return err },
		"Get":  func() error { _, err := c.Get(t.Context(), "Build"); return err },
		"Lint": func() error { _, err := c.Lint(t.Context()); return err },
	} {
		if err := call(); !errors.Is(err, toolshelf.ErrPermissionDenied) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s of an unreadable directory: %v", op, err)
		}
	}
}

func TestEachCallSeesTheCurrentFiles(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "one"})
	file := func(name string) string { return filepath.Join(root, "commands", name) }
	c := catalog(t, toolshelf.WithRoot(root))
	description := func(name string) string {
		command, err := c.Get(t.Context(), name)
		if err != nil {
			return string(toolshelf.CodeOf(err))
		}
		for info := range c.All(t.Context()) {
			if info.Name == name && info.Description != command.Metadata.Description {
				t.Errorf("%s: List has %q, Get has %q", name, info.Description, command.Metadata.Description)
			}
		}
		return command.Metadata.Description
	}
	for _, step := range []struct {
		name   string
		change func()
		want   string // description of a
	}{
		{"as it was", func() {}, "one"},
		{"edited", func() { must.Do(t, os.WriteFile(file("a.md"), []byte("three"), 0o644)) }, "three"},
		{"edited to the same size", func() { must.Do(t, os.WriteFile(file("a.md"), []byte("seven"), 0o644)) }, "seven"},
		{"edited to the same size, its time set back", func() {
			info := must.Get(os.Stat(file("a.md")))(t)
			must.Do(t, os.WriteFile(file("a.md"), []byte("eight"), 0o644))
			must.Do(t, os.Chtimes(file("a.md"), info.ModTime(), info.ModTime()))
		}, "eight"},
		{"replaced", func() {
			must.Do(t, os.WriteFile(file("new"), []byte("forty"), 0o644))
			must.Do(t, os.Rename(file("new"), file("a.md")))
		}, "forty"},
		{"removed", func() { must.Do(t, os.Remove(file("a.md"))) }, "COMMAND_NOT_FOUND"},
		{"made again", func() { must.Do(t, os.WriteFile(file("a.md"), []byte("again"), 0o644)) }, "again"},
		{"a replaced directory", func() {
			must.Do(t, os.Rename(filepath.Join(root, "commands"), filepath.Join(root, "old")))
			must.Do(t, os.Mkdir(filepath.Join(root, "commands"), 0o755))
			must.Do(t, os.WriteFile(file("a.md"), []byte("other"), 0o644))
		}, "other"},
	} {
		step.change()
		must.Equal(t, step.name, step.want, description("a"))
	}
}

func TestCancelledContext(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memory(t, ".")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for op, call := range everyMethod(ctx, c) {
		must.Equal(t, op, context.Canceled, call())
	}
}

func TestClosed(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memory(t, ".")))
	for range 2 {
		must.Do(t, c.Close())
	}
	for op, call := range everyMethod(t.Context(), c) {
		err := call()
		must.Is(t, op, toolshelf.ErrClosed, err)
		op, _, _ = strings.Cut(strings.Replace(op, "Invoked", "Get", 1), ",")
		must.Contain(t, op, err, "toolshelf: "+op+": ")
	}
}

func TestNilFiltersShowEverything(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, shop())), nil, toolshelf.Filter(nil))
	view := must.Get(c.View(nil, toolshelf.Filter(nil)))(t)
	for name, c := range map[string]*toolshelf.Catalog{"the catalog": c, "the view": view} {
		must.Len(t, name, 3, names(t, c))
	}
}

func TestCloseOfAViewClosesNothingElse(t *testing.T) {
	owner := catalog(t, toolshelf.WithFs(memoryOf(t, shop())))
	view := must.Get(owner.View(withoutAdmin()...))(t)
	inner := must.Get(view.View())(t)
	works := func(c *toolshelf.Catalog) error {
		_, listErr := c.List(t.Context(), toolshelf.Page{})
		_, getErr := c.Get(t.Context(), "buy")
		_, skillErr := c.GetSkill(t.Context(), "cart")
		_, dirErr := c.ListDir(t.Context(), ".")
		_, viewErr := c.View()
		for _, err := range []error{getErr, skillErr, dirErr, viewErr} {
			must.Equal(t, "List", toolshelf.CodeOf(listErr), toolshelf.CodeOf(err))
		}
		return listErr
	}
	for range 2 {
		must.Do(t, view.Close())
		must.Is(t, "a closed view", toolshelf.ErrClosed, works(view))
	}
	for name, c := range map[string]*toolshelf.Catalog{"the owner": owner, "a view of the view": inner} {
		must.Is(t, name, nil, works(c))
	}
	must.Do(t, owner.Close())
	must.Is(t, "a view of a closed catalog", toolshelf.ErrClosed, works(inner))
}

func TestOnChangeOfAViewReportsItsEntries(t *testing.T) {
	root := diskOf(t, shop())
	owner := catalog(t, toolshelf.WithRoot(root))
	view := must.Get(owner.View(withoutAdmin()[1], toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Description != "secret" })))(t)
	names(t, owner)
	skillsOf(t, owner)
	changes := make(chan toolshelf.Change, 10)
	view.OnChange(func(c toolshelf.Change) { changes <- c })
	closing := must.Get(owner.View())(t)
	closing.OnChange(func(toolshelf.Change) { t.Error("OnChange of a closed view is called") })
	must.Do(t, closing.Close())

	for _, step := range []struct {
		name  string
		files map[string]string // "" removes the file
		want  toolshelf.Change
	}{
		{"a new command that the filter keeps is added", map[string]string{"commands/new.md": "New.", "commands/hidden.md": "---\ndescription: secret\n---\n"},
			toolshelf.Change{Commands: toolshelf.Names{Added: []string{"new"}}}},
		{"a command that the filter no longer keeps is removed", map[string]string{"commands/new.md": "---\ndescription: secret\n---\n", "commands/buy.md": "---\ndescription: other\n---\n"},
			toolshelf.Change{Commands: toolshelf.Names{Removed: []string{"new"}, Changed: []string{"buy"}}}},
		{"a command that the filter keeps again is added", map[string]string{"commands/new.md": "New.", "skills/admin-tools/SKILL.md": "x", "skills/cart/SKILL.md": ""},
			toolshelf.Change{Commands: toolshelf.Names{Added: []string{"new"}}, Skills: toolshelf.Names{Changed: []string{"cart"}}}},
	} {
		for file, content := range step.files {
			file = filepath.Join(root, file)
			err := os.Remove(file)
			if content != "" {
				err = os.WriteFile(file, []byte(content), 0o644)
			}
			must.Do(t, err)
		}
		names(t, owner)
		skillsOf(t, owner)
		got := <-changes
		for end := time.After(10 * time.Second); !cmp.Equal(got, step.want); {
			// Commands and skills may arrive in two changes.
			select {
			case more := <-changes:
				got.Skills = more.Skills
			case <-end:
				t.Fatalf("%s (-want +got):\n%s", step.name, cmp.Diff(step.want, got))
			}
		}
	}
}

func TestCachesDropRemovedFiles(t *testing.T) {
	files := map[string]string{
		"commands/kept.md": "k", "skills/kept/SKILL.md": skillFile("kept"), "skills/kept/a/b.txt": "b",
		"commands/removed.md": "r", "skills/removed/SKILL.md": skillFile("removed"), "skills/removed/a/b.txt": "b",
	}
	fsys := dated(memoryOf(t, files))
	c := catalog(t, toolshelf.WithFs(fsys))
	for name := range skillsOf(t, c) {
		must.Get(c.GetSkill(t.Context(), name, toolshelf.Digests()))(t)
	}
	for _, name := range names(t, c) {
		must.Get(c.Get(t.Context(), name))(t)
	}
	must.Equal(t, "toolshelf.CachedFiles(c)", 8, toolshelf.CachedFiles(c))
	for _, name := range []string{"commands/removed.md", "skills/removed/SKILL.md", "skills/removed/a/b.txt"} {
		must.Do(t, fsys.Remove(name))
	}
	names(t, c)
	skillsOf(t, c)
	must.Equal(t, "toolshelf.CachedFiles(c)", 4, toolshelf.CachedFiles(c))
	must.Do(t, afero.WriteFile(fsys, "commands/kept.md", []byte("changed"), 0o644))
	must.Equal(t, "Content", "changed", must.Get(c.Get(t.Context(), "kept"))(t).Content)
}

func TestCacheTTL(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"commands/a.md": "one", "commands/b.md": "b"})
	now := time.Unix(1_000_000, 0)
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithCacheTTL(time.Minute), toolshelf.WithClock(func() time.Time { return now }))
	must.Match(t, "names", []string{"a", "b"}, names(t, c))
	must.Do(t, errors.Join(afero.WriteFile(fsys, "commands/a.md", []byte("two, longer"), 0o644), fsys.Remove("commands/b.md"),
		afero.WriteFile(fsys, "commands/c.md", []byte("c"), 0o644)))
	now = now.Add(time.Minute - 1)
	must.Match(t, "within the TTL", []string{"a", "b"}, names(t, c))
	must.Equal(t, "Get within the TTL serves", "two, longer",
		must.Get(c.Get(t.Context(), "a"))(t).Content)
	must.Fail(c.Get(t.Context(), "b"))(t, "Get within the TTL of a removed file", toolshelf.ErrCommandNotFound)
	now = now.Add(1)
	must.Match(t, "after the TTL", []string{"a", "c"}, names(t, c))
}

func TestOnChangeWithoutWatching(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"commands/a.md": "a", "commands/b.md": "b", "skills/s/SKILL.md": ""})
	c := catalog(t, toolshelf.WithFs(fsys))
	changes := make(chan toolshelf.Change)
	stop := c.OnChange(func(change toolshelf.Change) { changes <- change })
	names(t, c) // the first scan is not a change
	must.Do(t, errors.Join(fsys.Remove("commands/a.md"), afero.WriteFile(fsys, "commands/b.md", []byte("longer"), 0o644), afero.WriteFile(fsys, "commands/C.md", nil, 0o644)))
	names(t, c)
	want := toolshelf.Change{Commands: toolshelf.Names{Added: []string{"C"}, Removed: []string{"a"}, Changed: []string{"b"}}}
	must.Match(t, "change", want, <-changes)
	stop()
	stop()
	must.Do(t, fsys.Remove("commands/b.md"))
	names(t, c)
	select {
	case change := <-changes:
		t.Errorf("a change after stop: %+v", change)
	default:
	}
}

type allowAll struct{}

func (allowAll) Allowed(context.Context, toolshelf.Item) bool { return true }

// Change documents which files of a skill count.
func TestFilesOfASkillThatCauseAChange(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		gated      bool
		want       []string
	}{
		{"SKILL.md", "skills/s/SKILL.md", false, []string{"s"}},
		{"another file", "skills/s/run.sh", false, nil},
		{"a new file", "skills/s/new.sh", false, nil},
		{"another file in a gated layer", "skills/s/run.sh", true, []string{"s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := memoryOf(t, map[string]string{"commands/a.md": "a", "skills/s/SKILL.md": "", "skills/s/run.sh": ""})
			options := []toolshelf.Option{toolshelf.WithFs(fsys)}
			if tt.gated {
				options = append(options, toolshelf.WithGate(allowAll{}))
			}
			c := catalog(t, options...)
			changes := make(chan toolshelf.Change)
			defer c.OnChange(func(change toolshelf.Change) { changes <- change })()
			scan := func() {
				names(t, c)
				must.Get(c.ListSkills(t.Context()))(t)
			}
			scan()
			must.Do(t, errors.Join(afero.WriteFile(fsys, tt.file, []byte("longer"), 0o644), afero.WriteFile(fsys, "commands/a.md", []byte("longer"), 0o644)))
			must.Get(c.ListSkills(t.Context()))(t)
			scan()
			var got toolshelf.Change
			for got.Commands.Changed == nil {
				change := <-changes
				got.Commands.Changed = change.Commands.Changed
				got.Skills.Changed = append(got.Skills.Changed, change.Skills.Changed...)
			}
			must.Match(t, "changed skills", tt.want, got.Skills.Changed)
		})
	}
}

func TestOnChangeWithoutASourceLogsOnce(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options []toolshelf.Option
		want    int
	}{
		{"no source", nil, 1},
		{"WithCacheTTL", []toolshelf.Option{toolshelf.WithCacheTTL(time.Hour)}, 1},
		{"WithWatch", []toolshelf.Option{toolshelf.WithRoot(t.TempDir()), toolshelf.WithWatch()}, 0},
	} {
		var logged bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn}))
		c := catalog(t, append(tt.options, toolshelf.WithLogger(logger))...)
		for _, c := range []*toolshelf.Catalog{c, c, must.Get(c.View())(t)} {
			c.OnChange(func(toolshelf.Change) {})()
		}
		must.Equal(t, tt.name, tt.want, strings.Count(logged.String(), "OnChange"))
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
		must.Fail(c.List(t.Context(), toolshelf.Page{}))(t, "List", want)
	}
	look(toolshelf.ErrDirectoryNotFound)
	for range 2 {
		must.Do(t, afero.WriteFile(fsys, "commands/a.md", nil, 0o644))
		look(nil)
		want := toolshelf.Change{Commands: toolshelf.Names{Added: []string{"a"}}}
		must.Match(t, "a directory came", want, <-changes)
		must.Do(t, fsys.RemoveAll("commands"))
		look(toolshelf.ErrDirectoryNotFound)
		want = toolshelf.Change{Commands: toolshelf.Names{Removed: []string{"a"}}}
		must.Match(t, "a directory went", want, <-changes)
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
				view := must.Get(c.View(toolshelf.WithCommandFilter(func(toolshelf.CommandInfo) bool {
					if exit := exits.Load(); exit != nil {
						(*exit)()
					}
					return true
				})))(t)
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
				must.Equal(t, "the next call returned", false,
					returned(func() { _, _ = c.List(t.Context(), toolshelf.Page{}) }))
				exits.Store(nil)
				write(t, "C.", root, "commands", "c.md")
				notice()
				for _, want := range []string{"b", "c"} {
					select {
					case got := <-added:
						must.Equal(t, "added", want, got)
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

// manyHeaders returns n old files with the same text.
func manyHeaders(n int, name, text string) fstest.MapFS {
	files := fstest.MapFS{}
	for i := range n {
		files[fmt.Sprintf(name, i)] = &fstest.MapFile{Data: []byte(text), ModTime: time.Unix(1_600_000_000, 5)}
	}
	return files
}

func notKept(d toolshelf.Diagnostic) bool { return d.Code == "FRONTMATTER_NOT_KEPT" }

// lintNotKept counts the files with agentmd.DiagFrontmatterNotKept.
func lintNotKept(t *testing.T, c *toolshelf.Catalog) int {
	t.Helper()
	diagnostics := must.Get(c.Lint(t.Context()))(t)
	return len(slices.DeleteFunc(diagnostics, func(d toolshelf.Diagnostic) bool { return !notKept(d) }))
}

func TestMemoryOfDescriptionsIsBounded(t *testing.T) {
	const n, length = 800, 60_000
	files := manyHeaders(n, "c%d.md", "---\ndescription: "+strings.Repeat("y", length)+"\n---\n")
	c := catalog(t, toolshelf.WithCommandsFS("x", files))
	heap := heapOf(func() any {
		must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
		return c
	})
	if heap > 40<<20 {
		t.Errorf("%d MB are kept", heap>>20)
	}
	whole, cut := []string{}, []string{}
	for info, err := range c.All(t.Context()) {
		switch {
		case err != nil:
			t.Fatal(err)
		case info.Description == strings.Repeat("y", length):
			whole = append(whole, info.Name)
		case info.Description == strings.Repeat("y", 1<<10)+"…":
			cut = append(cut, info.Name)
		default:
			t.Errorf("%s has the description %.40q of %d bytes", info.Name, info.Description, len(info.Description))
		}
	}
	if reported := lintNotKept(t, c); len(cut) == 0 || len(whole) < n/2 || reported != len(cut) {
		t.Fatalf("%d are cut, %d are whole, Lint reports %d", len(cut), len(whole), reported)
	}
	command, err := c.Get(t.Context(), cut[0])
	if err != nil || len(command.Metadata.Description) != length || slices.ContainsFunc(command.Diagnostics, notKept) {
		t.Errorf("Get returns %d bytes, %v, %v", len(command.Metadata.Description), command.Diagnostics, err)
	}
	// Removed files free memory for other files.
	for _, name := range whole {
		delete(files, name+".md")
	}
	for range 2 { // the first scan still counts the removed files
		must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	}
	if reported := lintNotKept(t, c); reported > 0 {
		t.Errorf("%d files are cut of %d, for which there is room", reported, len(cut))
	}
}

func TestMemoryOfSkillsIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("many long headers")
	}
	const n = 50 * 64 / bits.UintSize // more than 32 MiB of values
	text := "---\nname: s%d\ndescription: d\ndisable-model-invocation: true\nuser-invocable: no\nmetadata:\n  a: [" + strings.Repeat("y,", 25_000) + "]\n---\n"
	files := manyHeaders(n, "s%d/SKILL.md", "")
	for i := range n {
		files[fmt.Sprintf("s%d/SKILL.md", i)].Data = fmt.Appendf(nil, text, i)
	}
	c := catalog(t, toolshelf.WithSkillsFS("x", files))
	heap := heapOf(func() any {
		must.Do(t, func() error { _, err := c.SkillsPrompt(t.Context()); return err }())
		return c
	})
	if heap > 40<<20 {
		t.Errorf("%d MB are kept", heap>>20)
	}
	skills := must.Get(c.ListSkills(t.Context()))(t)
	cut := 0
	for _, s := range skills {
		if s.DeclaredName != s.Name || s.Description != "d" || !s.DisableModelInvocation || s.UserInvocable {
			t.Fatalf("a skill without its first fields: %+v", s)
		}
		if !slices.ContainsFunc(s.Diagnostics, notKept) {
			continue
		}
		if cut++; cut == 1 {
			skill, err := c.GetSkill(t.Context(), s.Name)
			if err != nil || len(skill.Metadata["a"]) < 10_000 || slices.ContainsFunc(skill.Diagnostics, notKept) {
				t.Errorf("GetSkill returns %d bytes, %v, %v", len(skill.Metadata["a"]), skill.Diagnostics, err)
			}
		}
	}
	if reported := lintNotKept(t, c); cut == 0 || reported != cut {
		t.Errorf("%d of %d skills are cut, Lint reports %d", cut, n, reported)
	}
}

// A range over 300 skills of 1 MiB holds a few of the texts.
func TestTheMemoryOfSkillsIsBoundedInARange(t *testing.T) {
	const n, size = 300, 1 << 20
	root := t.TempDir()
	for i := range n {
		file := filepath.Join(root, "skills", fmt.Sprintf("s%03d", i), "SKILL.md")
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(skillFile("s")), 0o644), os.Truncate(file, size)))
	}
	c := catalog(t, toolshelf.WithRoot(root))
	most, seen := int64(0), 0
	for skill, err := range c.Skills(t.Context()) {
		if err != nil || len(skill.Content) != size-len(skillFile("s")) {
			t.Fatal(skill.Name, err)
		}
		if seen++; seen%30 == 0 {
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			most = max(most, int64(memory.HeapAlloc))
		}
	}
	// A text is up to three times in memory: in the cache of GetSkill, as Raw and as Content.
	if seen != n || most > 2*96<<20 {
		t.Errorf("%d skills, %d MiB in memory", seen, most>>20)
	}
}

func TestNewRejectsInvalidOptions(t *testing.T) {
	for name, option := range map[string]toolshelf.Option{
		"no filesystem":                          toolshelf.WithFs(nil),
		"no FS":                                  toolshelf.WithCommandsFS("x", nil),
		"no name":                                toolshelf.WithSkillsFS("", sub(t, "skills")),
		"an empty directory name":                toolshelf.WithCommandsDir("a", ""),
		"a size of 0":                            toolshelf.WithMaxFileSize(0),
		"trusted directories without the policy": toolshelf.WithSymlinks(toolshelf.SymlinksInside, "/srv"),
		"the policy without directories":         toolshelf.WithSymlinks(toolshelf.SymlinksTrusted),
		"directories with the policy for all":    toolshelf.WithSymlinks(toolshelf.SymlinksAll, "/srv"),
		"a relative trusted directory":           toolshelf.WithSymlinks(toolshelf.SymlinksTrusted, "dotfiles"),
		"no such policy":                         toolshelf.WithSymlinks(7),
		"no embedder":                            toolshelf.WithEmbedder(nil),
		"an embedder without an ID":              toolshelf.WithEmbedder(&embedder{}),
		"a cache of vectors without an embedder": toolshelf.WithVectorCache(t.TempDir()),
		"a relative cache of vectors":            toolshelf.WithVectorCache("cache"),
	} {
		must.Fail(toolshelf.New(option))(t, name, toolshelf.ErrInvalidOption)
	}
}

// TestOptionsCompileOnlyWithTheirMethods assigns the result type of each option to the option types
// of the methods, as the compiler does.
func TestOptionsCompileOnlyWithTheirMethods(t *testing.T) {
	const (
		dirs    = "ListDir Tree FindFiles"
		files   = dirs + " Grep"
		search  = "Search SearchSkills"
		prompts = "SkillsPrompt CommandsPrompt"
		all     = files + " " + search + " Lint ReadFile GetSkill " + prompts
	)
	for _, tt := range []struct {
		name    string
		option  any // a function that returns the option
		methods string
	}{
		{"After", toolshelf.After, dirs},
		{"SortedBy", toolshelf.SortedBy, dirs},
		{"Exclude", toolshelf.Exclude, files},
		{"Gitignore", toolshelf.Gitignore, files},
		{"Limit", toolshelf.Limit, files},
		{"MaxDepth", toolshelf.MaxDepth, files},
		{"ShowHidden", toolshelf.ShowHidden, files},
		{"SkipDependencies", toolshelf.SkipDependencies, files},
		{"Budget", toolshelf.Budget, files + " " + prompts},
		{"Tokens", toolshelf.Tokens, files + " " + prompts},
		{"WithProgress", func() (o toolshelf.WithProgress) { return }, files + " " + search + " Lint"},
		{"ContextLines", toolshelf.ContextLines, "Grep"},
		{"InFiles", toolshelf.InFiles, "Grep"},
		{"IgnoreCase, Literal and WholeWords", func() (o toolshelf.GrepMode) { return }, "Grep"},
		{"Column", toolshelf.Column, "ReadFile"},
		{"Lines", toolshelf.Lines, "ReadFile"},
		{"MaxBytes", toolshelf.MaxBytes, "ReadFile"},
		{"PromptFirst", toolshelf.PromptFirst, prompts},
		{"PromptFor", toolshelf.PromptFor, prompts},
		{"PromptLocations", toolshelf.PromptLocations, prompts},
		{"Digests", toolshelf.Digests, "GetSkill"},
	} {
		option := reflect.TypeOf(tt.option).Out(0)
		var methods []string
		for name := range strings.FieldsSeq(all) {
			method, _ := reflect.TypeFor[*toolshelf.Catalog]().MethodByName(name)
			if parameters := method.Type; option.AssignableTo(parameters.In(parameters.NumIn() - 1).Elem()) {
				methods = append(methods, name)
			}
		}
		must.Equal(t, tt.name, tt.methods, strings.Join(methods, " "))
	}
}

//go:embed all:testdata/project
var embedded embed.FS

func TestMain(m *testing.M) {
	// A flag of the command line takes precedence. Parallel tests wait for reports of the system
	// most of the time.
	for name, value := range map[string]int{"rapid.checks": catalogtest.Rounds(40, 1000), "test.parallel": 8} {
		if err := flag.Set(name, strconv.Itoa(value)); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

const patience = catalogtest.Patience

var (
	catalog    = catalogtest.Open
	memoryOf   = catalogtest.Memory
	diskOf     = catalogtest.Disk
	eventually = catalogtest.Eventually
	write      = catalogtest.Write
	corpus     = catalogtest.Corpus
	written    = catalogtest.Written
	checkError = catalogtest.CheckError

	needsChangeTimes = catalogtest.NeedsChangeTimes
)

// names returns the names of all pages of List.
func names(t testing.TB, c *toolshelf.Catalog) []string {
	t.Helper()
	var all []string
	for info, err := range c.All(t.Context()) {
		must.Do(t, err)
		all = append(all, info.Name)
	}
	return all
}

// heapOf returns the number of bytes that the result of f keeps in memory.
func heapOf(f func() any) int64 {
	before := catalogtest.Heap()
	kept := f()
	after := catalogtest.Heap()
	runtime.KeepAlive(kept)
	return after - before
}

// onEveryFilesystem runs a test over testdata/project on each kind of filesystem. The test
// receives a function that makes a catalog with the layers commands and skills.
func onEveryFilesystem(t *testing.T, test func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog)) {
	for _, kind := range []struct {
		name    string
		options func(t *testing.T) []toolshelf.Option
	}{
		{"memory, relative", func(t *testing.T) []toolshelf.Option {
			return []toolshelf.Option{toolshelf.WithFs(memory(t, "."))}
		}},
		{"memory, absolute", func(t *testing.T) []toolshelf.Option {
			return []toolshelf.Option{toolshelf.WithFs(memory(t, "/srv/project")), toolshelf.WithRoot("/srv/project")}
		}},
		{"memory, absolute layers", func(t *testing.T) []toolshelf.Option {
			return []toolshelf.Option{toolshelf.WithFs(memory(t, "/srv/project")),
				toolshelf.WithCommandsDir("/srv/project/commands"), toolshelf.WithSkillsDir("/srv/project/skills")}
		}},
		{"embedded", func(t *testing.T) []toolshelf.Option {
			return []toolshelf.Option{toolshelf.WithCommandsFS("built in", sub(t, "commands")), toolshelf.WithSkillsFS("built in", sub(t, "skills"))}
		}},
		{"disk", func(t *testing.T) []toolshelf.Option {
			return []toolshelf.Option{toolshelf.WithRoot(filepath.Join("testdata", "project"))}
		}},
		{"disk, as a given OsFs", func(t *testing.T) []toolshelf.Option {
			return []toolshelf.Option{toolshelf.WithFs(afero.NewOsFs()), toolshelf.WithRoot(filepath.Join("testdata", "project"))}
		}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			test(t, func(more ...toolshelf.Option) *toolshelf.Catalog {
				t.Helper()
				return catalog(t, append(kind.options(t), more...)...)
			})
		})
	}
}

func sub(t *testing.T, dir string) fs.FS {
	t.Helper()
	return must.Get(fs.Sub(embedded, "testdata/project/"+dir))(t)
}

// memory is testdata/project in memory, below root.
func memory(t *testing.T, root string) afero.Fs {
	t.Helper()
	project := must.Get(fs.Sub(embedded, "testdata/project"))(t)
	files := map[string]string{}
	must.Do(t, fs.WalkDir(project, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(project, path)
		files[filepath.Join(root, path)] = string(data)
		return err
	}))
	return memoryOf(t, files)
}

// problems returns "CODE path" for each diagnostic that concerns files.
func problems(t testing.TB, c *toolshelf.Catalog, opts ...toolshelf.LintOption) []string {
	t.Helper()
	diagnostics := must.Get(c.Lint(t.Context(), opts...))(t)
	var all []string
	for _, d := range diagnostics {
		all = append(all, string(d.Code)+" "+d.Path)
	}
	return all
}
