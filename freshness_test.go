package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
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
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// dated returns a filesystem that reports change times, like a disk. The change time of a file is
// its modification time.
func dated(fsys afero.Fs) afero.Fs {
	return hook{Fs: fsys, info: func(info fs.FileInfo) fs.FileInfo { return datedInfo{info} }}
}

type datedInfo struct{ fs.FileInfo }

func (i datedInfo) Sys() any { return confine.Info{Changed: i.ModTime()} }

// views returns the results of every method for the command and the skill "a".
func views(t *testing.T, c *toolshelf.Catalog) map[string]string {
	t.Helper()
	ctx := t.Context()
	all := map[string]string{}
	add := func(method string, value any, err error) {
		if err != nil {
			value = toolshelf.CodeOf(err)
		}
		all[method] = fmt.Sprintf("%+v", value)
	}
	list, err := c.List(ctx, toolshelf.Page{})
	add("List", list, err)
	command, err := c.Get(ctx, "a")
	add("Get", fmt.Sprintf("%s %v %v %q", command.Raw, command.Dependency, command.Metadata, command.Diagnostics), err)
	skills, err := c.ListSkills(ctx)
	add("ListSkills", fmt.Sprint(len(skills)), err)
	for _, s := range skills {
		add("ListSkills "+s.Name, fmt.Sprintf("%q %v", s.Description, s.Diagnostics), nil)
	}
	skill, err := c.GetSkill(ctx, "a", toolshelf.Digests())
	add("GetSkill", fmt.Sprintf("%s %q %v %v", skill.Raw, skill.Description, skill.Files, skill.Diagnostics), err)
	file, err := c.ReadSkillFile(ctx, "a", "notes.txt")
	add("ReadSkillFile", string(file), err)
	agents, err := c.ListAgents(ctx)
	add("ListAgents", agents, err)
	agent, err := c.GetAgent(ctx, "a")
	add("GetAgent", agent, err)
	agentsPrompt, err := c.AgentsPrompt(ctx, toolshelf.Budget(1000), toolshelf.PromptFor("apples"))
	add("AgentsPrompt", agentsPrompt, err)
	for _, word := range []string{"apples", "quince", "bodyap", "bodyqu"} {
		found, err := c.Search(ctx, word, 0)
		found.SearchTime = 0
		add("Search "+word, found, err)
		found, err = c.SearchSkills(ctx, word, 0)
		found.SearchTime = 0
		add("SearchSkills "+word, found, err)
	}
	diagnostics, err := c.Lint(ctx)
	add("Lint", diagnostics, err)
	commandsPrompt, err := c.CommandsPrompt(ctx)
	add("CommandsPrompt", commandsPrompt, err)
	skillsPrompt, err := c.SkillsPrompt(ctx)
	add("SkillsPrompt", skillsPrompt, err)
	return all
}

// sameSize pads a text to a length that no text of these tests exceeds.
func sameSize(text string) string { return text + strings.Repeat(" ", 20_000-len(text)) }

// Every method serves the new content of a file even if neither the size nor the time of
// the file changes.
func TestEveryMethodSeesChangesWithoutANewTime(t *testing.T) {
	filler := strings.Repeat("Filler.\n", 1500)
	states := []string{
		"---\nname: a\ndescription: Count apples\n---\n" + filler + "bodyap\n",
		"---\nname: a\ndescription: Count quince\n---\n" + filler + "bodyap\n",
		"---\nname: a\ndescription: Count quince\n---\n" + filler + "bodyqu\n",
		"---\nname: a\ndescription: Count apples\nis_dependency: true\ndisable-model-invocation: true\n---\n" + filler + "bodyqu\n",
		"---\nname: a\ndescription: [Count\n---\n" + filler + "bodyqu\n",
		"---\nname: a\nname: a\ndescription: Count apples\nis_dependency: false\n---\n" + filler + "bodyap\n",
	}
	inMemory := func() (afero.Fs, func(name, text string)) {
		fsys := afero.NewMemMapFs()
		return fsys, func(name, text string) {
			must.Do(t, errors.Join(afero.WriteFile(fsys, name, []byte(text), 0o644), fsys.Chtimes(name, written, written)))
		}
	}
	inMap := func(at time.Time) (fstest.MapFS, func(name, text string)) {
		fsys := fstest.MapFS{}
		return fsys, func(name, text string) { fsys[name] = &fstest.MapFile{Data: []byte(text), ModTime: at} }
	}
	for _, tt := range []struct {
		name string
		open func() (options []toolshelf.Option, write func(name, text string))
	}{
		{"afero.MemMapFs", func() ([]toolshelf.Option, func(string, string)) {
			fsys, write := inMemory()
			return []toolshelf.Option{toolshelf.WithFs(fsys)}, write
		}},
		{"another afero.Fs", func() ([]toolshelf.Option, func(string, string)) {
			fsys, write := inMemory()
			return []toolshelf.Option{toolshelf.WithFs(afero.NewReadOnlyFs(fsys))}, write
		}},
		{"fs.FS without times", func() ([]toolshelf.Option, func(string, string)) {
			fsys, write := inMap(time.Time{})
			return []toolshelf.Option{toolshelf.WithFs(afero.FromIOFS{FS: fsys})}, write
		}},
		{"layers without times", func() ([]toolshelf.Option, func(string, string)) {
			fsys, write := inMap(time.Time{})
			commands, _ := fs.Sub(fsys, "commands")
			skills, _ := fs.Sub(fsys, "skills")
			return []toolshelf.Option{toolshelf.WithRoot(t.TempDir()), toolshelf.WithCommandsFS("c", commands), toolshelf.WithSkillsFS("s", skills)}, write
		}},
		{"layers with times", func() ([]toolshelf.Option, func(string, string)) {
			fsys, write := inMap(written)
			commands, _ := fs.Sub(fsys, "commands")
			skills, _ := fs.Sub(fsys, "skills")
			return []toolshelf.Option{toolshelf.WithRoot(t.TempDir()), toolshelf.WithCommandsFS("c", commands), toolshelf.WithSkillsFS("s", skills)}, write
		}},
		{"disk", func() ([]toolshelf.Option, func(string, string)) {
			root := t.TempDir()
			return []toolshelf.Option{toolshelf.WithRoot(root)}, func(name, text string) {
				file := filepath.Join(root, filepath.FromSlash(name))
				must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644), os.Chtimes(file, written, written)))
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			options, write := tt.open()
			options = append(options, toolshelf.WithAgentsDir("agents"), toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Name != "" }))
			c := catalog(t, options...)
			for _, i := range []int{0, 1, 2, 3, 0, 3, 2, 4, 0, 5, 3, 1, 4, 5} {
				text := sameSize(states[i])
				write("commands/a.md", text)
				write("skills/a/SKILL.md", text)
				write("skills/a/notes.txt", fmt.Sprint(i))
				write("agents/a.md", text)
				must.Match(t, i, views(t, catalog(t, options...)), views(t, c))
			}
		})
	}
}

// Command.Dependency has the value in the current file.
func TestDependencyOfTheCurrentFile(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "---\ndescription: d\n---\n"})
	c := catalog(t, toolshelf.WithRoot(root))
	must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	for i, header := range []string{"is_dependency: true\n", "", "is_dependency: [true\n", "is_dependency: false\n", "is_dependency: true\n"} {
		want := slices.Contains([]int{0, 2, 4}, i)
		write(t, "---\ndescription: d\n"+header+"---\n", root, "commands", "a.md")
		for range 2 {
			must.Equal(t, header, want, must.Get(c.Get(t.Context(), "a"))(t).Dependency)
		}
	}
}

// With WithCacheTTL, Search reads a file without a change time once within the duration,
// and continues an interrupted search.
func TestSearchWithinTheTTLReadsNoFileAgain(t *testing.T) {
	fsys := &counting{Fs: memoryOf(t, map[string]string{"commands/a.md": "apples", "commands/b.md": "pears"})}
	now := time.Unix(1_000_000, 0)
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithCacheTTL(time.Minute), toolshelf.WithClock(func() time.Time { return now }))
	expect := func(word, want string) {
		t.Helper()
		must.Equal(t, word, want, search(t, c, word))
	}
	expect("apples", "a/tier2")
	must.Do(t, errors.Join(afero.WriteFile(fsys.Fs, "commands/a.md", []byte("quince"), 0o644), fsys.Chtimes("commands/a.md", written, written)))
	now = now.Add(time.Minute - 1)
	fsys.files.Store(0)
	expect("apples", "a/tier2")
	if n := fsys.files.Load(); n > 0 {
		t.Errorf("%d files opened within the TTL", n)
	}
	now = now.Add(1)
	expect("apples", "")
	expect("quince", "a/tier2")
}

// If a link out of the root replaces a directory, no method follows the link, even if the
// files of the directory are cached.
func TestADirectoryThatBecomesALinkOutOfTheRoot(t *testing.T) {
	for _, tt := range []struct {
		moved  string // the directory
		gone   error  // of List and ListSkills; nil if they list nothing
		dirs   []string
		nested string // the prefix of the command
		skill  string // the directory of the skills
	}{
		{"x", toolshelf.ErrOutsideRoot, []string{"x"}, "", "x"},
		{"x", toolshelf.ErrOutsideRoot, []string{"x/y"}, "", "x/y"},
		{"x/y", toolshelf.ErrOutsideRoot, []string{"x/y"}, "", "x/y"},
		{"x/sub", nil, []string{"x"}, "sub:", "x"},
		{"x/sub", nil, []string{"missing", "x"}, "sub:", "x"},
	} {
		t.Run(fmt.Sprint(tt.moved, tt.dirs), func(t *testing.T) {
			at := filepath.Join(tt.skill, strings.TrimSuffix(tt.nested, ":"))
			root := diskOf(t, map[string]string{
				filepath.Join(at, "a.md"):      "a",
				tt.skill + "/sub/SKILL.md":     skillFile("sub"),
				tt.skill + "/sub/x/y/file.txt": "x",
			})
			outside := filepath.Join(t.TempDir(), "outside")
			c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithNestedCommands(), toolshelf.WithCommandsDir(tt.dirs...), toolshelf.WithSkillsDir(tt.dirs...))
			calls := map[string]func() error{
				"Get":           func() error { _, err := c.Get(t.Context(), tt.nested+"a"); return err },
				"GetSkill":      func() error { _, err := c.GetSkill(t.Context(), "sub", toolshelf.Digests()); return err },
				"ReadSkillFile": func() error { _, err := c.ReadSkillFile(t.Context(), "sub", "x/y/file.txt"); return err },
			}
			served := func() {
				t.Helper()
				for name, call := range calls {
					// A file is cached once its change time is old enough.
					for range 3 {
						must.Is(t, name, nil, call())
					}
				}
			}
			needsChangeTimes(t)
			served()
			for deadline := time.Now().Add(time.Minute); !toolshelf.Cached(c, tt.nested+"a"); served() {
				if time.Now().After(deadline) {
					t.Fatal("never cached")
				}
			}
			moved := filepath.Join(root, filepath.FromSlash(tt.moved))
			must.Do(t, os.Rename(moved, outside))
			hosttest.Symlink(t, outside, moved)
			for name, call := range calls {
				if err := call(); err == nil || tt.gone != nil && !errors.Is(err, tt.gone) {
					t.Errorf("%s: %v, want an error as of List, %v", name, err, tt.gone)
				}
			}
			list, err := c.List(t.Context(), toolshelf.Page{Size: 100})
			must.Is(t, "List", tt.gone, err)
			must.Len(t, "List", 0, list.Commands)
			skills, err := c.ListSkills(t.Context())
			must.Is(t, "ListSkills", tt.gone, err)
			must.Len(t, "ListSkills", 0, skills)
			must.Do(t, errors.Join(os.Remove(moved), os.Rename(outside, moved)))
			served()
		})
	}
}

// A link to a directory above adds no name, even if the filesystem has no inode numbers.
func TestALinkBackAddsNoCommand(t *testing.T) {
	for _, tt := range []struct {
		target, link string
		want         []string
	}{
		{".", "commands/loop", []string{"a", "sub:b"}},
		{"../commands", "commands/loop", []string{"a", "sub:b"}},
		{"..", "commands/sub/up", []string{"a", "sub:b"}},
		{".", "commands/sub/loop", []string{"a", "sub:b"}},
		{"sub", "commands/again", []string{"a", "again:b", "sub:b"}},
	} {
		root := diskOf(t, map[string]string{"commands/a.md": "", "commands/sub/b.md": ""})
		hosttest.Symlink(t, filepath.FromSlash(tt.target), filepath.Join(root, filepath.FromSlash(tt.link)))
		for name, fsys := range map[string]afero.Fs{"disk": nil, "without inodes": onDiskWithoutSys()} {
			options := []toolshelf.Option{toolshelf.WithRoot(root), toolshelf.WithNestedCommands()}
			if fsys != nil {
				options = append(options, toolshelf.WithFs(fsys))
			}
			c := catalog(t, options...)
			for range 2 {
				must.Match(t, tt.link, tt.want, names(t, c))
			}
			reported := slices.Contains(problems(t, c), "LINK_NOT_FOLLOWED "+tt.link)
			if reported == slices.Contains(tt.want, "again:b") {
				t.Errorf("%s -> %s on %s: reported is %t", tt.link, tt.target, name, reported)
			}
		}
	}
}

// A withoutSys filesystem reports links of the disk, but no inode numbers and change times.
type withoutSys struct{ hook }

func onDiskWithoutSys() withoutSys {
	return withoutSys{hook{Fs: afero.NewOsFs(), info: func(info fs.FileInfo) fs.FileInfo { return withoutSysInfo{info} }}}
}

func (w withoutSys) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	fi, err := os.Lstat(name)
	return withoutSysInfo{fi}, true, err
}

func (w withoutSys) ReadlinkIfPossible(name string) (string, error) { return os.Readlink(name) }

type withoutSysInfo struct{ fs.FileInfo }

func (withoutSysInfo) Sys() any { return nil }

// A model is a naive implementation for comparison with a catalog. A model reads all files
// in each call, and knows only the headers of these tests.
type model struct {
	layers []string // full paths, highest precedence first
	nested bool
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// all returns the text of each command by name. A missing layer has no commands.
func (m model) all() map[string]string {
	all := map[string]string{}
	for _, layer := range m.layers {
		filepath.WalkDir(layer, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path == layer {
				return nil
			}
			stem, markdown := strings.CutSuffix(d.Name(), ".md")
			if d.IsDir() && (!m.nested || !plainName.MatchString(d.Name())) {
				return fs.SkipDir
			}
			if d.IsDir() || !markdown || !plainName.MatchString(stem) || stem == "README" {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			below, _ := filepath.Rel(layer, filepath.Dir(path))
			name := strings.TrimPrefix(strings.ReplaceAll(filepath.ToSlash(below), "/", ":")+":"+stem, ".:")
			if _, taken := all[name]; !taken {
				all[name] = string(text)
			}
			return nil
		})
	}
	return all
}

// listed returns the description of each listed command.
func (m model) listed() map[string]string {
	shown := map[string]string{}
	for name, text := range m.all() {
		switch header, _, ok := strings.Cut(text, "\n---\n"); {
		case strings.Contains(text, "is_dependency: true"):
		case ok:
			shown[name] = strings.TrimPrefix(header, "---\ndescription: ")
		default:
			shown[name] = text
		}
	}
	return shown
}

// ask returns the results of a catalog in the form of the model.
func ask(t testing.TB, c *toolshelf.Catalog) map[string]string {
	shown := map[string]string{}
	for info, err := range c.All(t.Context()) {
		if errors.Is(err, toolshelf.ErrDirectoryNotFound) {
			return shown
		}
		must.Do(t, err)
		shown[info.Name] = info.Description
	}
	return shown
}

// compare reports the differences between the results of a catalog and of the model.
func (m model) compare(t testing.TB, c *toolshelf.Catalog) string {
	if diff := cmp.Diff(m.listed(), ask(t, c)); diff != "" {
		return "List (-model +catalog):\n" + diff
	}
	all := m.all()
	for _, name := range append(slices.Collect(maps.Keys(all)), "a", "b", "sub:a") {
		want, there := all[name]
		got, err := c.Get(t.Context(), name)
		if there != (err == nil) || string(got.Raw) != want {
			return fmt.Sprintf("Get(%q) = %q, %v; want %q", name, got.Raw, err, want)
		}
	}
	return ""
}

func TestCatalogAgreesWithTheModel(t *testing.T) {
	for _, mode := range []string{"validated", "with a TTL", "watched"} {
		t.Run(mode, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				root := must.Get(os.MkdirTemp(t.TempDir(), ""))(rt)
				m := model{layers: []string{filepath.Join(root, "high"), filepath.Join(root, "low")}, nested: rapid.Bool().Draw(rt, "nested")}
				now := time.Unix(1_000_000, 0)
				options := []toolshelf.Option{toolshelf.WithRoot(root), toolshelf.WithCommandsDir("high", "low")}
				if m.nested {
					options = append(options, toolshelf.WithNestedCommands())
				}
				switch mode {
				case "with a TTL":
					options = append(options, toolshelf.WithCacheTTL(time.Minute), toolshelf.WithClock(func() time.Time { return now }))
				case "watched":
					options = append(options, toolshelf.WithWatch())
				}
				c := must.Get(toolshelf.New(options...))(rt)
				defer c.Close()

				layer := rapid.SampledFrom([]string{"high", "low"})
				element := rapid.SampledFrom([]string{"a", "b", "A", "c d", "README", "sub"})
				content := rapid.SampledFrom([]string{"one", "two", "", "---\ndescription: three\n---\nx", "---\ndescription: seven\n---\nx", "---\nis_dependency: true\n---\nx"})
				file := func() string {
					path := filepath.Join(root, layer.Draw(rt, "layer"))
					if rapid.Bool().Draw(rt, "in a directory") {
						path = filepath.Join(path, element.Draw(rt, "directory"))
					}
					return filepath.Join(path, element.Draw(rt, "name")+".md")
				}
				for range rapid.IntRange(1, 12).Draw(rt, "steps") {
					for range rapid.IntRange(1, 3).Draw(rt, "changes") {
						switch rapid.IntRange(0, 5).Draw(rt, "change") {
						case 0, 1:
							path := file()
							os.MkdirAll(filepath.Dir(path), 0o755)
							os.WriteFile(path, []byte(content.Draw(rt, "content")), 0o644)
						case 2:
							os.Remove(file())
						case 3:
							os.Rename(file(), file())
						case 4:
							os.Rename(filepath.Dir(file()), filepath.Dir(file()))
						case 5: // the same size, and the time set back
							path := file()
							if info, err := os.Stat(path); err == nil && info.Size() == 3 {
								os.WriteFile(path, []byte("six"), 0o644)
								os.Chtimes(path, info.ModTime(), info.ModTime())
							}
						}
					}
					now = now.Add(time.Minute)
					check := func() string { return m.compare(t, c) }
					if mode == "watched" { // the system reports changes with a delay
						eventually(t, check)
					} else if report := check(); report != "" {
						rt.Fatal(report)
					}
				}
			})
		})
	}
}

// The keys of a page are in the specified order for all names.
func TestListIsSorted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{}
		for _, name := range rapid.SliceOfN(rapid.StringMatching(`[a-cA-C_-]{1,3}`), 1, 20).Draw(rt, "names") {
			files["commands/"+name+".md"] = ""
		}
		c := must.Get(toolshelf.New(toolshelf.WithFs(memoryOf(t, files))))(rt)
		defer c.Close()
		got := names(t, c)
		want := slices.Clone(got)
		slices.SortFunc(want, func(a, b string) int {
			return strings.Compare(fmt.Sprint(strings.ToLower(a), "\x00", a), fmt.Sprint(strings.ToLower(b), "\x00", b))
		})
		must.Match(rt, "got", want, got)
		must.Len(rt, "Diff", len(files), got)
	})
}

func TestAFileWithFewerBytesThanItsSizeIsReadAgain(t *testing.T) {
	var halfWritten atomic.Bool // when the file is opened the next time
	fsys := hook{Fs: memoryOf(t, map[string]string{"commands/a.md": "Before."}), file: func(f afero.File) afero.File {
		if path.Base(filepath.ToSlash(f.Name())) == "a.md" && halfWritten.Swap(false) {
			f = reading{f, io.LimitReader(f, int64(len("After"))).Read, f.ReadAt}
		}
		return f
	}}
	c := catalog(t, toolshelf.WithFs(fsys))
	description := func() string {
		list := must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
		must.Len(t, "list.Commands", 1, list.Commands)
		return list.Commands[0].Description
	}
	must.Equal(t, "description", "Before.", description())
	must.Do(t, afero.WriteFile(fsys.Fs, "commands/a.md", []byte("After the change."), 0o644))
	halfWritten.Store(true)
	must.Equal(t, "description()", "After the change.", description())
}

// watching returns a catalog with WithWatch after its first scan.
func watching(t *testing.T, opts ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	c := catalog(t, append(opts, toolshelf.WithWatch())...)
	names(t, c)
	return c
}

func TestWatchRequiresTheSystemsFilesystem(t *testing.T) {
	must.Fail(toolshelf.New(toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithWatch()))(t, "New",
		toolshelf.ErrInvalidOption)
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
		must.Equal(t, "ListSkills", text, got)
		must.Equal(t, "Description", text, must.Get(c.ListSkills(t.Context()))(t)[0].Description)
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
		must.Get(c.ListSkills(t.Context()))(t)
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
	must.Equal(t, "first", 1, len((<-changes).Skills.Added))
	close(gate.free)
	<-done
	must.Equal(t, "then", 1, len((<-changes).Commands.Added))
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
		steps = must.Get(strconv.Atoi(text))(t)
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
