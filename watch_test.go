package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// watching returns a catalog with WithWatch after its first scan.
func watching(t *testing.T, opts ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	c := catalog(t, append(opts, toolshelf.WithWatch())...)
	names(t, c)
	return c
}

func TestWatchRequiresTheSystemsFilesystem(t *testing.T) {
	if _, err := toolshelf.New(toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithWatch()); !errors.Is(err, toolshelf.ErrInvalidOption) {
		t.Error(err)
	}
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
		must.Do(t, errors.Join(errs...))
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
	removeAll(t, dir)
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
	removeAll(t, root+".moved")
}

// removeAll removes a directory as soon as no scan has a file of the directory open: FUSE keeps an
// open file under another name, and Windows removes no open directory.
func removeAll(t testing.TB, dir string) {
	t.Helper()
	eventually(t, func() string {
		if err := os.RemoveAll(dir); err != nil {
			return err.Error()
		}
		return ""
	})
}

func TestWatchSeesChangesBehindLinks(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "a", "docs/b.md": "one", "kit/s/SKILL.md": "---\nname: s\ndescription: one\n---\n", "skills/x/y": ""})
	hosttest.Symlink(t, "../docs/b.md", filepath.Join(root, "commands", "b.md"))
	hosttest.Symlink(t, "../kit/s", filepath.Join(root, "skills", "s"))
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
	for i := range 200 {
		write(t, "x", root, "commands", fmt.Sprintf("n%03d.md", i))
	}
	calls := 0
	for len(added) < 200 {
		change := <-changes
		calls++
		for _, name := range change.Commands.Added {
			added[name] = true
		}
	}
	if calls > 8 {
		t.Errorf("200 files caused %d changes", calls)
	}
	t.Logf("200 files, %d changes", calls)
}

func TestWatchReportsAChangeWithoutACall(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "a", "skills/s/SKILL.md": "---\nname: s\ndescription: s\n---\n"})
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithWatch())
	changes := make(chan toolshelf.Change, 10)
	c.OnChange(func(change toolshelf.Change) { changes <- change })
	names(t, c)
	must.Get(c.ListSkills(t.Context()))(t)
	write(t, "---\nname: s\ndescription: other\n---\n", root, "skills", "s", "SKILL.md")
	want := toolshelf.Change{Skills: toolshelf.Names{Changed: []string{"s"}}}
	must.Match(t, "change", want, <-changes)
}

func TestADirectoryCreatedAgainIsReportedWithoutACall(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "a"})
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithWatch())
	changes := make(chan toolshelf.Change, 10)
	c.OnChange(func(change toolshelf.Change) { changes <- change })
	names(t, c)
	removeAll(t, filepath.Join(root, "commands"))
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
							want := tt.want
							if want == "" {
								want = "a"
							}
							if slices.Contains(names(in), want) {
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
					removeAll(t, filepath.Join(root, tt.dir))
					next(func(n toolshelf.Names) []string { return n.Removed })
				}
			})
		}
	}
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

	must.Do(t, afero.WriteFile(fsys, "commands/b.md", []byte("b"), 0o644))
	gate.armed.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.List(t.Context(), toolshelf.Page{})
	}()
	<-gate.held // the change of the commands is found, and no subscriber knows the change yet
	must.Do(t, afero.WriteFile(fsys, "skills/s2/SKILL.md", []byte("x"), 0o644))
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

// A shape is everything that a catalog lists: the name and description of each
// command and skill, and the path of each skill.
type shape struct{ Commands, Skills map[string]string }

func shapeOf(t testing.TB, c *toolshelf.Catalog) shape {
	t.Helper()
	s := shape{ask(t, c), map[string]string{}}
	skills, err := c.ListSkills(t.Context())
	if err != nil && !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
		t.Fatal(err)
	}
	for _, skill := range skills {
		s.Skills[skill.Name] = skill.Path + ": " + skill.Description
	}
	return s
}

// A mover changes nested directories at random.
type mover struct {
	t      testing.TB
	random *rand.Rand
	root   string
	step   int
	moved  string // the directory that the last change put in place; "" if none
}

// dir returns a random directory: a layer, a directory up to three levels below
// a layer, or a directory outside of all layers.
func (m *mover) dir() string {
	path := filepath.Join(m.root, []string{"commands", "commands", "skills", "skills", "elsewhere"}[m.random.IntN(5)])
	for range m.random.IntN(4) {
		path = filepath.Join(path, []string{"a", "b", "c"}[m.random.IntN(3)])
	}
	return path
}

// fill writes a command or a skill with a new text into a directory.
func (m *mover) fill(dir string) {
	name := []string{"x.md", "y.md", "SKILL.md", "SKILL.md"}[m.random.IntN(4)]
	text := fmt.Sprintf("---\nname: s\ndescription: step %d\n---\n", m.step)
	_ = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) // a missing directory stays missing
}

// below returns a random directory at or below a directory, or "" if the
// directory does not exist.
func (m *mover) below(dir string) string {
	found, n := "", 0
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			if n++; m.random.IntN(n) == 0 {
				found = path
			}
		}
		return nil
	})
	return found
}

// move makes a random change. If the filesystem rejects the change, for example a rename of
// a directory into itself, move changes nothing.
func (m *mover) move() string {
	m.step++
	from, to := m.dir(), m.dir()
	if moved := m.moved; moved != "" && m.random.IntN(2) == 0 {
		m.moved = ""
		if dir := m.below(moved); dir != "" {
			m.fill(dir)
			return "write in moved " + dir
		}
	}
	switch kind := m.random.IntN(9); kind {
	case 0, 1:
		_ = os.MkdirAll(from, 0o755)
		m.fill(from)
		return "make " + from
	case 2, 3:
		m.fill(from)
		return "write in " + from
	case 4:
		removeAll(m.t, from)
		return "remove " + from
	case 5:
		aside := filepath.Join(m.root, fmt.Sprint("aside", m.step))
		if os.Rename(from, aside) == nil {
			_ = os.Mkdir(from, 0o755)
			m.fill(from)
		}
		m.moved = from
		return "replace " + from
	case 6:
		if os.RemoveAll(from) == nil {
			_ = os.MkdirAll(filepath.Join(from, "a"), 0o755)
			m.fill(filepath.Join(from, "a"))
		}
		m.moved = from
		return "remove and make " + from
	default:
		if m.random.IntN(2) == 0 {
			_ = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		_ = os.Rename(from, to)
		m.moved = to
		return "rename " + from + " to " + to
	}
}

// told collects the names in changes.
type told struct {
	mu               sync.Mutex
	commands, skills map[string]bool
}

func (n *told) apply(change toolshelf.Change) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, part := range []struct {
		names toolshelf.Names
		known map[string]bool
	}{{change.Commands, n.commands}, {change.Skills, n.skills}} {
		for _, name := range part.names.Removed {
			delete(part.known, name)
		}
		for _, name := range part.names.Added {
			part.known[name] = true
		}
	}
}

func (n *told) compare(want shape) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	keys := func(m map[string]string) map[string]bool {
		set := map[string]bool{}
		for name := range m {
			set[name] = true
		}
		return set
	}
	return cmp.Diff(keys(want.Commands), n.commands) + cmp.Diff(keys(want.Skills), n.skills)
}

// A watched catalog returns the results of a new catalog after directories were renamed,
// replaced, removed and created again. The environment variable TOOLSHELF_WATCH_STEPS is
// the number of changes.
func TestWatchAgreesWithANewCatalog(t *testing.T) {
	const trees = 16
	steps := catalogtest.Rounds(640, 4000) // in all
	if text := os.Getenv("TOOLSHELF_WATCH_STEPS"); text != "" {
		var err error
		if steps, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range trees {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := &mover{t: t, random: rand.New(rand.NewPCG(uint64(seed), 0)), root: t.TempDir()}
			options := []toolshelf.Option{toolshelf.WithRoot(m.root), toolshelf.WithNestedCommands(), toolshelf.WithSkillDepth(3)}
			watched := catalog(t, append(slices.Clip(options), toolshelf.WithWatch())...)
			news := &told{commands: map[string]bool{}, skills: map[string]bool{}}
			watched.OnChange(news.apply)
			var want shape
			for range steps / trees {
				change := m.move()
				fresh := must.Get(toolshelf.New(options...))(t)
				want = shapeOf(t, fresh)
				fresh.Close()
				eventually(t, func() string {
					if diff := cmp.Diff(want, shapeOf(t, watched)); diff != "" {
						return fmt.Sprintf("step %d, %s (-new +watched):\n%s", m.step, change, diff)
					}
					return ""
				})
			}
			eventually(t, func() string {
				if diff := news.compare(want); diff != "" {
					return "OnChange told of another set of names (-listed +told):\n" + diff
				}
				return ""
			})
		})
	}
}
