package toolshelf_test

import (
	gocmp "cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// patience limits the wait for an event that should take milliseconds.
const patience = 20 * time.Second

// eventually waits until check reports "" and fails with its last report.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		report := check()
		if report == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(report)
		}
	}
}

func write(t testing.TB, text string, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func TestCacheTTL(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"commands/a.md": "one", "commands/b.md": "b"})
	now := time.Unix(1_000_000, 0)
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithCacheTTL(time.Minute), toolshelf.WithClock(func() time.Time { return now }))
	if diff := cmp.Diff([]string{"a", "b"}, names(t, c)); diff != "" {
		t.Fatal(diff)
	}
	if err := errors.Join(afero.WriteFile(fsys, "commands/a.md", []byte("two, longer"), 0o644), fsys.Remove("commands/b.md"),
		afero.WriteFile(fsys, "commands/c.md", []byte("c"), 0o644)); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute - 1)
	if diff := cmp.Diff([]string{"a", "b"}, names(t, c)); diff != "" {
		t.Errorf("within the TTL (-want +got):\n%s", diff)
	}
	if got, err := c.Get(t.Context(), "a"); err != nil || got.Content != "two, longer" {
		t.Errorf("Get within the TTL serves %q, %v", got.Content, err)
	}
	if _, err := c.Get(t.Context(), "b"); !errors.Is(err, toolshelf.ErrCommandNotFound) {
		t.Errorf("Get within the TTL of a removed file: %v", err)
	}
	now = now.Add(1)
	if diff := cmp.Diff([]string{"a", "c"}, names(t, c)); diff != "" {
		t.Errorf("after the TTL (-want +got):\n%s", diff)
	}
}

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

func TestWatchRequiresTheSystemsFilesystem(t *testing.T) {
	if _, err := toolshelf.New(toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithWatch()); !errors.Is(err, toolshelf.ErrInvalidOption) {
		t.Error(err)
	}
}

// watching returns a catalog with WithWatch after its first scan.
func watching(t *testing.T, opts ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	c := catalog(t, append(opts, toolshelf.WithWatch())...)
	names(t, c)
	return c
}

func TestWatchSeesChanges(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "one", "commands/sub/deep.md": "deep"})
	dir := filepath.Join(root, "commands")
	c := watching(t, toolshelf.WithRoot(root), toolshelf.WithNestedCommands())
	expect := func(step string, want map[string]string) {
		t.Helper()
		eventually(t, func() string {
			got := map[string]string{}
			for info, err := range c.All(t.Context()) {
				if err != nil {
					return fmt.Sprintf("%s: %v", step, err)
				}
				got[info.Name] = info.Description
			}
			if diff := cmp.Diff(want, got); diff != "" {
				return fmt.Sprintf("%s (-want +got):\n%s", step, diff)
			}
			return ""
		})
	}
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	expect("at first", map[string]string{"a": "one", "sub:deep": "deep"})
	write(t, "two", dir, "a.md")
	expect("an edit", map[string]string{"a": "two", "sub:deep": "deep"})
	write(t, "new", dir, "b.md")
	must(os.Remove(filepath.Join(dir, "a.md")))
	expect("one added, one removed", map[string]string{"b": "new", "sub:deep": "deep"})
	write(t, "---\nis_dependency: true\n---\n", dir, "b.md")
	expect("one hidden", map[string]string{"sub:deep": "deep"})
	write(t, "deeper", dir, "new", "x.md")
	expect("a new directory", map[string]string{"sub:deep": "deep", "new:x": "deeper"})
	write(t, "changed", dir, "new", "x.md")
	expect("an edit in it", map[string]string{"sub:deep": "deep", "new:x": "changed"})
	must(os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "moved")))
	expect("a renamed directory", map[string]string{"moved:deep": "deep", "new:x": "changed"})
	write(t, "again", dir, "moved", "deep.md")
	expect("an edit in that", map[string]string{"moved:deep": "again", "new:x": "changed"})
	must(os.RemoveAll(dir))
	eventually(t, func() string {
		if _, err := c.List(t.Context(), toolshelf.Page{}); !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
			return fmt.Sprintf("the removed directory: %v", err)
		}
		return ""
	})
	write(t, "reborn", dir, "z.md")
	expect("the directory created again", map[string]string{"z": "reborn"})
	must(os.Rename(root, root+".moved"))
	write(t, "elsewhere", root, "commands", "z.md")
	expect("a replaced directory above", map[string]string{"z": "elsewhere"})
	must(os.RemoveAll(root + ".moved"))
}

func TestWatchSeesChangesBehindLinks(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "a", "docs/b.md": "one", "kit/s/SKILL.md": "---\nname: s\ndescription: one\n---\n", "skills/x/y": ""})
	if err := errors.Join(os.Symlink("../docs/b.md", filepath.Join(root, "commands", "b.md")), os.Symlink("../kit/s", filepath.Join(root, "skills", "s"))); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	c := watching(t, toolshelf.WithRoot(root))
	for i := range 50 {
		text := fmt.Sprint("text ", i)
		write(t, text, root, "docs", "b.md")
		write(t, "---\nname: s\ndescription: "+text+"\n---\n", root, "kit", "s", "SKILL.md")
		var got string
		for info := range c.All(t.Context()) {
			if info.Name == "b" {
				got = info.Description
			}
		}
		skills, err := c.ListSkills(t.Context())
		if err != nil || got != text || skills[0].Description != text {
			t.Fatalf("%q and %q, %v; want %q", got, skills[0].Description, err, text)
		}
	}
}

func TestABurstIsOneChange(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "a"})
	c := watching(t, toolshelf.WithRoot(root))
	added := map[string]bool{}
	changes := make(chan toolshelf.Change, 1000)
	c.OnChange(func(change toolshelf.Change) { changes <- change })
	for i := range 500 {
		write(t, "x", root, "commands", fmt.Sprintf("n%03d.md", i))
	}
	calls := 0
	for len(added) < 500 {
		change := <-changes
		calls++
		for _, name := range change.Commands.Added {
			added[name] = true
		}
	}
	if calls > 20 {
		t.Errorf("500 files caused %d changes", calls)
	}
	t.Logf("500 files, %d changes", calls)
}

func TestWatchReportsAChangeWithoutACall(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "a", "skills/s/SKILL.md": "---\nname: s\ndescription: s\n---\n"})
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithWatch())
	changes := make(chan toolshelf.Change, 10)
	c.OnChange(func(change toolshelf.Change) { changes <- change })
	names(t, c)
	if _, err := c.ListSkills(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(t, "---\nname: s\ndescription: other\n---\n", root, "skills", "s", "SKILL.md")
	want := toolshelf.Change{Skills: toolshelf.Names{Changed: []string{"s"}}}
	if diff := cmp.Diff(want, <-changes); diff != "" {
		t.Errorf("change (-want +got):\n%s", diff)
	}
}

func TestADirectoryCreatedAgainIsReportedWithoutACall(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "a"})
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithWatch())
	changes := make(chan toolshelf.Change, 10)
	c.OnChange(func(change toolshelf.Change) { changes <- change })
	names(t, c)
	if err := os.RemoveAll(filepath.Join(root, "commands")); err != nil {
		t.Fatal(err)
	}
	write(t, "b", root, "commands", "b.md")
	added, removed := map[string]bool{}, map[string]bool{}
	for !added["b"] || !removed["a"] {
		change := <-changes
		for _, name := range change.Commands.Added {
			added[name] = true
		}
		for _, name := range change.Commands.Removed {
			removed[name] = true
		}
	}
}

// A directory that is missing is an empty list, whether it never existed or was
// removed, and the watch covers the nearest directory above.
func TestALaterDirectoryIsReported(t *testing.T) {
	const skill = "---\nname: s\ndescription: s\n---\n"
	for name, tt := range map[string]struct {
		files   map[string]string // at first
		options []toolshelf.Option
		below   string // the root, below a temporary directory
		dir     string // the layer, or a directory above, to create and remove
		path    string // the first file
		text    string
		skills  bool
		want    string // the name that is added and removed; "" is "a"
	}{
		"commands":            {dir: "commands", path: "commands/a.md"},
		"commands, nested":    {dir: "commands", path: "commands/x/y/a.md", want: "x:y:a", options: []toolshelf.Option{toolshelf.WithNestedCommands()}},
		"skills":              {dir: "skills", path: "skills/a/SKILL.md", text: skill, skills: true},
		"beside other layers": {files: map[string]string{"skills/b/SKILL.md": skill}, dir: "commands", path: "commands/a.md"},
		"two levels":          {dir: ".claude", path: ".claude/commands/a.md", options: []toolshelf.Option{toolshelf.WithCommandsDir(".claude/commands")}},
		"three levels":        {dir: "x", path: "x/y/z/a.md", options: []toolshelf.Option{toolshelf.WithCommandsDir("x/y/z")}},
		"below a directory that stays": {files: map[string]string{".claude/settings": ""}, dir: ".claude/skills", path: ".claude/skills/a/SKILL.md",
			text: skill, skills: true, options: []toolshelf.Option{toolshelf.WithSkillsDir(".claude/skills")}},
		"the root":      {below: "project", dir: "", path: "commands/a.md"},
		"far above":     {below: "x/y/project", dir: "../..", path: "commands/a.md"},
		"with the root": {below: "project", dir: "", path: "skills/a/SKILL.md", text: skill, skills: true},
	} {
		for _, first := range []string{"after a call", "without a call"} {
			t.Run(name+", "+first, func(t *testing.T) {
				t.Parallel()
				root := filepath.Join(diskOf(t, tt.files), tt.below)
				c := catalog(t, append(slices.Clip(tt.options), toolshelf.WithRoot(root), toolshelf.WithWatch())...)
				if first == "after a call" {
					_, _ = c.List(t.Context(), toolshelf.Page{})
					_, _ = c.ListSkills(t.Context())
				}
				changes := make(chan toolshelf.Change, 100)
				c.OnChange(func(change toolshelf.Change) { changes <- change })
				next := func(names func(toolshelf.Names) []string) {
					t.Helper()
					for {
						select {
						case change := <-changes:
							in := change.Commands
							if tt.skills {
								in = change.Skills
							}
							if slices.Contains(names(in), gocmp.Or(tt.want, "a")) {
								return
							}
						case <-time.After(patience):
							t.Fatal("no change")
						}
					}
				}
				for range 3 {
					write(t, tt.text, root, tt.path)
					next(func(n toolshelf.Names) []string { return n.Added })
					if err := os.RemoveAll(filepath.Join(root, tt.dir)); err != nil {
						t.Fatal(err)
					}
					next(func(n toolshelf.Names) []string { return n.Removed })
				}
			})
		}
	}
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

// gated is a log handler that delays the first change.
type gated struct {
	slog.Handler
	armed      *atomic.Bool
	held, free chan struct{}
}

func (g gated) Handle(context.Context, slog.Record) error {
	if g.armed.CompareAndSwap(true, false) {
		close(g.held)
		<-g.free
	}
	return nil
}

func TestADelayedChangeIsNotLost(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"commands/a.md": "a", "skills/s/SKILL.md": "x"})
	gate := gated{slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug}), new(atomic.Bool), make(chan struct{}), make(chan struct{})}
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithLogger(slog.New(gate)))
	skills := func() {
		if _, err := c.ListSkills(t.Context()); err != nil {
			t.Error(err)
		}
	}
	skills()
	changes := make(chan toolshelf.Change, 10)
	c.OnChange(func(change toolshelf.Change) { changes <- change })
	names(t, c)

	if err := afero.WriteFile(fsys, "commands/b.md", []byte("b"), 0o644); err != nil {
		t.Fatal(err)
	}
	gate.armed.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.List(t.Context(), toolshelf.Page{})
	}()
	<-gate.held // the change of the commands is found, and no subscriber knows the change yet
	if err := afero.WriteFile(fsys, "skills/s2/SKILL.md", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	skills()
	if change := <-changes; len(change.Skills.Added) != 1 {
		t.Errorf("first %+v", change)
	}
	close(gate.free)
	<-done
	if change := <-changes; len(change.Commands.Added) != 1 {
		t.Errorf("then %+v", change)
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
