package toolshelf_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestDefaultDirectories(t *testing.T) {
	builtIn := fstest.MapFS{
		"built-in.md":       {Data: []byte("in the program")},
		"both.md":           {Data: []byte("in the program")},
		"built-in/SKILL.md": {Data: []byte(skillFile("built-in"))},
		"both/SKILL.md":     {Data: []byte(skillFile("both"))},
	}
	files := map[string]string{}
	for _, dir := range []string{"", "other/", ".claude/"} {
		at := strings.Trim(dir, "./")
		if at == "" {
			at = "default"
		}
		files[dir+"commands/both.md"], files[dir+"commands/in-"+at+".md"] = "of the project", ""
		files[dir+"skills/both/SKILL.md"], files[dir+"skills/in-"+at+"/SKILL.md"] = skillFile("both"), skillFile("in-"+at)
	}
	embedded := []toolshelf.Option{toolshelf.WithCommandsFS("built in", builtIn), toolshelf.WithSkillsFS("built in", builtIn)}
	dirs := func(dirs ...string) []toolshelf.Option {
		skills := make([]string, len(dirs))
		for i, dir := range dirs {
			skills[i] = strings.ReplaceAll(dir, "commands", "skills")
		}
		return []toolshelf.Option{toolshelf.WithCommandsDir(dirs...), toolshelf.WithSkillsDir(skills...)}
	}
	conventional := []toolshelf.Option{claudeAndAgentSkills}
	for _, tt := range []struct {
		behavior string
		options  []toolshelf.Option
		want     []string
		layer    string // of "both"
	}{
		{"no option", nil, []string{"both", "in-default"}, "default"},
		{"an FS leaves the default above it", embedded, []string{"both", "built-in", "in-default"}, "default"},
		{"a directory replaces the default", dirs("other/commands"), []string{"both", "in-other"}, "other/"},
		{"a directory after an FS replaces the default", slices.Concat(embedded, dirs("other/commands")), []string{"both", "built-in", "in-other"}, "built in"},
		{"a directory before an FS replaces the default", slices.Concat(dirs("other/commands"), embedded), []string{"both", "built-in", "in-other"}, "other/"},
		{"no name removes the default", slices.Concat(embedded, dirs()), []string{"both", "built-in"}, "built in"},
		{"the default by its name after an FS", slices.Concat(embedded, dirs("commands")), []string{"both", "built-in", "in-default"}, "built in"},
		{"conventional directories replace the default", conventional, []string{"both", "in-claude"}, ".claude/"},
		{"also before an FS", slices.Concat(conventional, embedded), []string{"both", "built-in", "in-claude"}, ".claude/"},
		{"no name leaves conventional directories", slices.Concat(conventional, dirs()), []string{"both", "in-claude"}, ".claude/"},
		{"nothing at all", dirs(), nil, ""},
	} {
		t.Run(tt.behavior, func(t *testing.T) {
			c := catalog(t, append(slices.Clone(tt.options), toolshelf.WithFs(memoryOf(t, files)))...)
			must.Match(t, "commands", tt.want, names(t, c))
			list := must.Get(c.ListSkills(t.Context()))(t)
			var skills []string
			for _, s := range list {
				skills = append(skills, s.Name)
			}
			must.Match(t, "skills", tt.want, skills)
			if tt.layer == "" {
				return
			}
			want := map[string]string{"default": "commands", "built in": "built in"}[tt.layer]
			if want == "" {
				want = tt.layer + "commands"
			}
			must.Equal(t, "command.Layer", want, must.Get(c.Get(t.Context(), "both"))(t).Layer)
			skill, err := c.GetSkill(t.Context(), "both")
			if want = strings.ReplaceAll(want, "commands", "skills"); err != nil || skill.Layer != want {
				t.Errorf("the skill both is from %q, %v; want %q", skill.Layer, err, want)
			}
		})
	}
}

// methods calls every method that needs a directory or the root, and returns their results.
func methods(t *testing.T, c *toolshelf.Catalog) map[string]func() (any, error) {
	ctx := t.Context()
	return map[string]func() (any, error){
		"List":       func() (any, error) { l, err := c.List(ctx, toolshelf.Page{}); return len(l.Commands), err },
		"ListSkills": func() (any, error) { l, err := c.ListSkills(ctx); return len(l), err },
		"All": func() (any, error) {
			for _, err := range c.All(ctx) {
				return 0, err
			}
			return 0, nil
		},
		"Get":            func() (any, error) { _, err := c.Get(ctx, "x"); return nil, err },
		"GetSkill":       func() (any, error) { _, err := c.GetSkill(ctx, "x"); return nil, err },
		"ReadSkillFile":  func() (any, error) { _, err := c.ReadSkillFile(ctx, "x", "y"); return nil, err },
		"Search":         func() (any, error) { r, err := c.Search(ctx, "x", 0); return len(r.Results), err },
		"SearchSkills":   func() (any, error) { r, err := c.SearchSkills(ctx, "x", 0); return len(r.Results), err },
		"SkillsPrompt":   func() (any, error) { p, err := c.SkillsPrompt(ctx); return len(p.Text), err },
		"CommandsPrompt": func() (any, error) { p, err := c.CommandsPrompt(ctx); return len(p.Text), err },
		"Lint":           func() (any, error) { d, err := c.Lint(ctx); return len(d), err },
		"ListDir":        func() (any, error) { _, err := c.ListDir(ctx, "."); return nil, err },
		"ListDir below":  func() (any, error) { _, err := c.ListDir(ctx, "a/b"); return nil, err },
		"Tree":           func() (any, error) { _, err := c.Tree(ctx, "."); return nil, err },
		"FindFiles":      func() (any, error) { _, err := c.FindFiles(ctx, ".", "*"); return nil, err },
		"Stat":           func() (any, error) { _, err := c.Stat(ctx, "a.txt"); return nil, err },
	}
}

func TestMissingDefaultDirectoriesAreEmpty(t *testing.T) {
	list := []string{"All", "List", "ListSkills"}
	byName := append(list, "Get", "GetSkill", "ReadSkillFile")
	named := append(byName, "CommandsPrompt", "Search", "SearchSkills", "SkillsPrompt")
	for _, tt := range []struct {
		name    string
		options []toolshelf.Option
		fail    []string // with ErrDirectoryNotFound
	}{
		{"by default", nil, byName},
		{"conventional", []toolshelf.Option{claudeAndAgentSkills}, nil},
		{"named", []toolshelf.Option{toolshelf.WithCommandsDir("commands"), toolshelf.WithSkillsDir("skills")}, named},
		{"beside an FS", []toolshelf.Option{toolshelf.WithCommandsFS("built in", fstest.MapFS{}), toolshelf.WithSkillsFS("built in", fstest.MapFS{})}, nil},
		{"none", []toolshelf.Option{toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir()}, nil},
	} {
		for where, option := range map[string]toolshelf.Option{"disk": toolshelf.WithRoot(t.TempDir()), "memory": toolshelf.WithFs(afero.NewMemMapFs())} {
			t.Run(tt.name+" "+where, func(t *testing.T) {
				c := catalog(t, append(slices.Clone(tt.options), option)...)
				for range 2 {
					for name, call := range methods(t, c) {
						found, err := call()
						if got, want := errors.Is(err, toolshelf.ErrDirectoryNotFound), slices.Contains(tt.fail, name); got != want && !strings.HasPrefix(name, "ListDir") {
							t.Errorf("%s: %v, %v", name, found, err)
						}
						if err == nil && found != nil && found != 0 && !(name == "Lint" && tt.name == "named") {
							t.Errorf("%s finds %v", name, found)
						}
					}
				}
			})
		}
	}
}

func TestARootThatIsNoDirectoryIsAnErrorOfEveryMethod(t *testing.T) {
	embedded := []toolshelf.Option{
		toolshelf.WithCommandsFS("built in", fstest.MapFS{}),
		toolshelf.WithSkillsFS("built in", fstest.MapFS{}),
	}
	inMemory := toolshelf.WithFs(memoryOf(t, map[string]string{"file": ""}))
	for root, tt := range map[string]struct {
		want error
		says string
	}{
		"no-such-root": {toolshelf.ErrDirectoryNotFound, `"no-such-root"`},
		"file":         {toolshelf.ErrNotADirectory, `root "file" is a file; pass a directory to WithRoot`},
	} {
		for name, options := range map[string][]toolshelf.Option{
			"by default": {}, "conventional": {claudeAndAgentSkills}, "beside an FS": embedded,
			"in memory": {inMemory},
		} {
			t.Run(root+" "+name, func(t *testing.T) {
				t.Chdir(t.TempDir())
				write(t, "", "file")
				c := catalog(t, append(options, toolshelf.WithRoot(root))...)
				for name, call := range methods(t, c) {
					must.Fail(call())(t, name, tt.want, tt.says)
				}
			})
		}
	}
}

func TestARootThatIsCreatedLater(t *testing.T) {
	root := filepath.Join(t.TempDir(), "later")
	c := catalog(t, toolshelf.WithRoot(root))
	must.Fail(c.SkillsPrompt(t.Context()))(t, "SkillsPrompt", toolshelf.ErrDirectoryNotFound)
	write(t, skillFile("zed"), root, "skills", "zed", "SKILL.md")
	must.Match(t, "Included", []string{"zed"}, must.Get(c.SkillsPrompt(t.Context()))(t).Included)
	must.Len(t, "the commands directory is missing", 0,
		must.Get(c.Search(t.Context(), "zed", 0))(t).Results)
}

func TestLayers(t *testing.T) {
	files := map[string]string{
		"commands/one.md":          "of the project",
		"commands/hidden.md":       "---\nis_dependency: true\n---\nof the project",
		"/home/commands/one.md":    "of the user",
		"/home/commands/two.md":    "of the user",
		"/home/commands/Two.md":    "of the user",
		"/home/commands/hidden.md": "of the user",
	}
	built := afero.NewIOFS(memoryOf(t, map[string]string{"two.md": "built in", "three.md": "built in"}))
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)),
		toolshelf.WithCommandsDir("commands", "/home/commands"), toolshelf.WithCommandsFS("built in", built))

	must.Match(t, "names", []string{"one", "three", "Two", "two"}, names(t, c))
	for name, layer := range map[string]string{"one": "commands", "two": "/home/commands", "three": "built in", "hidden": "commands"} {
		must.Equal(t, name, layer, must.Get(c.Get(t.Context(), name))(t).Layer)
	}
	want := []string{
		"SHADOWED /home/commands/hidden.md",
		"SHADOWED /home/commands/one.md",
		"NAME_DIFFERS_IN_CASE /home/commands/two.md",
		"SHADOWED built in/two.md",
	}
	var got []string
	for _, p := range problems(t, c) {
		if !strings.HasPrefix(p, "NO_DESCRIPTION") && !strings.HasPrefix(p, "DIRECTORY_NOT_FOUND") {
			got = append(got, p)
		}
	}
	must.Match(t, "problems", want, got)
}

func TestMissingDirectories(t *testing.T) {
	onDisk := t.TempDir()
	for _, tt := range []struct {
		name    string
		options []toolshelf.Option
		list    error
		get     error
	}{
		{"in memory", []toolshelf.Option{toolshelf.WithFs(afero.NewMemMapFs())}, toolshelf.ErrDirectoryNotFound, toolshelf.ErrCommandNotFound},
		{"on disk", []toolshelf.Option{toolshelf.WithRoot(onDisk)}, toolshelf.ErrDirectoryNotFound, toolshelf.ErrCommandNotFound},
		{"the root itself", []toolshelf.Option{toolshelf.WithRoot(filepath.Join(onDisk, "nothing"))}, toolshelf.ErrDirectoryNotFound, toolshelf.ErrCommandNotFound},
		{"every layer", []toolshelf.Option{toolshelf.WithRoot(onDisk), toolshelf.WithCommandsDir("a", "b")}, toolshelf.ErrDirectoryNotFound, toolshelf.ErrCommandNotFound},
		{"a file in its place", []toolshelf.Option{toolshelf.WithFs(memoryOf(t, map[string]string{"commands": ""}))}, toolshelf.ErrNotADirectory, toolshelf.ErrNotADirectory},
		{"one layer of two", []toolshelf.Option{toolshelf.WithFs(memory(t, ".")), toolshelf.WithCommandsDir("missing", "commands")}, nil, nil},
		{"no layers", []toolshelf.Option{toolshelf.WithCommandsDir()}, nil, toolshelf.ErrCommandNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := catalog(t, tt.options...)
			must.Fail(c.List(t.Context(), toolshelf.Page{}))(t, "List", tt.list)
			must.Fail(c.Get(t.Context(), "Build"))(t, "Get", tt.get)
			if tt.list != nil {
				for _, err := range c.All(t.Context()) {
					must.Is(t, "All", tt.list, err)
				}
			}
		})
	}
	t.Run("the error of Get reports the missing directory", func(t *testing.T) {
		_, err := catalog(t, toolshelf.WithRoot(onDisk)).Get(t.Context(), "x")
		must.Is(t, "Get", toolshelf.ErrDirectoryNotFound, err)
	})
	t.Run("a directory created later is found", func(t *testing.T) {
		root := filepath.Join(t.TempDir(), "later")
		c := catalog(t, toolshelf.WithRoot(root))
		must.Fail(c.List(t.Context(), toolshelf.Page{}))(t, "List", toolshelf.ErrDirectoryNotFound)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Join(root, "commands"), 0o755), os.WriteFile(filepath.Join(root, "commands", "a.md"), nil, 0o644)))
		must.Len(t, "names", 1, names(t, c))
	})
	t.Run("errors contain no path that the caller did not give", func(t *testing.T) {
		t.Chdir(onDisk)
		c := catalog(t)
		_, list := c.List(t.Context(), toolshelf.Page{})
		_, skills := c.ListSkills(t.Context())
		for _, err := range []error{list, skills} {
			must.NotContain(t, "err", err, onDisk)
		}
	})
}

// On a filesystem given to WithFs, a path that begins with a slash begins at the top on every
// system, although such a path has no drive on Windows.
func TestAbsoluteDirectoriesOfAFilesystemBeginAtItsTop(t *testing.T) {
	files := map[string]string{
		"/opt/commands/a.md": "", "/opt/skills/s/SKILL.md": skillFile("s"), "/opt/reports/a/a_x_20240101_000000_v1.md": "report",
		"/proj/opt/commands/wrong.md": "", "/proj/opt/skills/wrong/SKILL.md": skillFile("wrong"), "/proj/opt/reports/a/a_wrong_20240101_000000_v1.md": "report",
	}
	for _, root := range []string{"/proj", "proj", "."} {
		t.Run(root, func(t *testing.T) {
			c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithRoot(root),
				toolshelf.WithCommandsDir("/opt/commands"), toolshelf.WithSkillsDir("/opt/skills"), toolshelf.WithReports("/opt/reports", ""))
			must.Match(t, "commands", []string{"a"}, names(t, c))
			must.Equal(t, "skill", "/opt/skills", must.Get(c.GetSkill(t.Context(), "s"))(t).Layer)
			if reports, err := c.Reports(t.Context(), "a"); err != nil || len(reports) != 1 || reports[0].Name != "x" {
				t.Errorf("reports: %+v, %v", reports, err)
			}
		})
	}
}

// A call for a listed name stats the places that could take precedence, and nothing else. The
// directories of the layers are not read.
func TestALookupStatsOnlyThePlacesThatCouldShadowTheName(t *testing.T) {
	files := map[string]string{}
	for _, layer := range []string{"high", "low"} {
		for i := range 30 {
			files[fmt.Sprintf("%s/c/%s-%d.md", layer, layer, i)] = "text"
			files[fmt.Sprintf("%s/s/%s-%d/SKILL.md", layer, layer, i)] = "---\ndescription: d\n---\n"
			files[fmt.Sprintf("%s/s/group-%d/%s-nested-%d/SKILL.md", layer, i%3, layer, i)] = "---\ndescription: d\n---\n"
		}
	}
	for _, tt := range []struct {
		name  string
		depth int
		call  func(c *toolshelf.Catalog) error
		opens string // the directories that the call opens
		other []string
	}{
		{"a command of the first layer", 1, func(c *toolshelf.Catalog) error { _, err := c.Get(t.Context(), "high-3"); return err }, `^high/c/high-3\.md$`, nil},
		{"a command of the second layer", 1, func(c *toolshelf.Catalog) error { _, err := c.Get(t.Context(), "low-3"); return err }, `^low/c/low-3\.md$`,
			[]string{"stat high/c/low-3.MD", "stat high/c/low-3.Md", "stat high/c/low-3.mD", "stat high/c/low-3.md"}},
		{"a skill of the first layer", 1, func(c *toolshelf.Catalog) error { _, err := c.GetSkill(t.Context(), "high-3"); return err }, `^high/s/high-3(/SKILL\.md)?$`, nil},
		{"a skill of the second layer", 1, func(c *toolshelf.Catalog) error { _, err := c.GetSkill(t.Context(), "low-3"); return err }, `^low/s/low-3(/SKILL\.md)?$`,
			[]string{"stat high/s/SKILL.md", "stat high/s/low-3", "stat high/s/skill.md"}},
		{"a file of a skill of the second layer", 1, func(c *toolshelf.Catalog) error {
			_, err := c.ReadSkillFile(t.Context(), "low-3", "SKILL.md")
			return err
		}, `^low/s/low-3(/SKILL\.md)?$`,
			[]string{"stat high/s/SKILL.md", "stat high/s/low-3", "stat high/s/skill.md"}},
		{"a skill of the first layer and level", 2, func(c *toolshelf.Catalog) error { _, err := c.GetSkill(t.Context(), "high-3"); return err }, `^high/s/high-3(/SKILL\.md)?$`, nil},
		{"a nested skill", 2, func(c *toolshelf.Catalog) error { _, err := c.GetSkill(t.Context(), "high-nested-3"); return err },
			`^high/s(/group-0(/high-nested-3(/SKILL\.md)?)?)?$`, []string{"stat high/s/SKILL.md", "stat high/s/high-nested-3", "stat high/s/skill.md"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls []string
			c := catalog(t, toolshelf.WithFs(recording(memoryOf(t, files), &calls)), toolshelf.WithCommandsDir("high/c", "low/c"), toolshelf.WithSkillsDir("high/s", "low/s"), toolshelf.WithSkillDepth(tt.depth))
			must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
			must.Get(c.ListSkills(t.Context()))(t)
			calls = nil
			must.Do(t, tt.call(c))
			var unexpected []string
			opens := regexp.MustCompile(tt.opens)
			for _, call := range calls {
				op, file, _ := strings.Cut(call, " ")
				above := file == "" || file == "." || op == "stat" && slices.Contains([]string{"high", "low", "high/s", "low/s", "high/c", "low/c"}, file)
				if !above && !opens.MatchString(file) && !slices.Contains(tt.other, call) {
					unexpected = append(unexpected, call)
				}
			}
			must.Len(t, "unexpected calls", 0, unexpected)
		})
	}
}

func TestEmbeddedFilesystemsAreImmutable(t *testing.T) {
	sub := func(fsys fs.FS, dir string) fs.FS {
		return must.Get(fs.Sub(fsys, dir))(t)
	}
	for name, tt := range map[string]struct {
		fsys fs.FS
		want bool
	}{
		"embed.FS":                {embedded, true},
		"fs.Sub":                  {sub(embedded, "testdata"), true},
		"fs.Sub of fs.Sub":        {sub(sub(embedded, "testdata"), "project"), true},
		"a pointer, which may be": {&embedded, false}, // assigned another embed.FS
		"fstest.MapFS":            {fstest.MapFS{}, false},
		"fs.Sub of another":       {sub(os.DirFS("testdata"), "project"), false},
		"fs.Sub of a wrapper":     {sub(struct{ fs.FS }{embedded}, "testdata"), false},
		"os.DirFS":                {os.DirFS("."), false},
	} {
		must.Equal(t, name, tt.want, toolshelf.IsEmbedded(tt.fsys))
	}
}

// A Get from an immutable layer needs no goroutine. If the default directory is missing, one stat
// proves that.
func TestGetFromAnImmutableLayerIsCheap(t *testing.T) {
	commands := must.Get(fs.Sub(embedded, "testdata/project/commands"))(t)
	for name, tt := range map[string]struct {
		options []toolshelf.Option
		allocs  float64
	}{
		"alone":                   {[]toolshelf.Option{toolshelf.WithCommandsDir()}, 4},
		"below a missing default": {nil, 16},
	} {
		c := catalog(t, append(tt.options, toolshelf.WithRoot(t.TempDir()), toolshelf.WithCommandsFS("built in", commands))...)
		get := func() {
			must.Get(c.Get(t.Context(), "analyze-logs"))(t)
		}
		get()
		if got := testing.AllocsPerRun(100, get); got > tt.allocs {
			t.Errorf("%s: %v allocations, want %v", name, got, tt.allocs)
		}
	}
}

// An openedFS counts the opened files.
type openedFS struct {
	fs.FS
	files atomic.Int64
}

func (o *openedFS) Open(name string) (fs.File, error) {
	f, err := o.FS.Open(name)
	if err == nil {
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
			o.files.Add(1)
		}
	}
	return f, err
}

// An immutable layer is read once by each of the methods that read whole files,
// and other filesystems without times are read again.
func TestAnImmutableLayerIsReadOnce(t *testing.T) {
	commands := &openedFS{FS: fstest.MapFS{
		"a.md": {Data: []byte("apples")}, "b.md": {Data: []byte("pears")},
	}}
	skills := &openedFS{FS: fstest.MapFS{
		"zed/SKILL.md": {Data: []byte(skillFile("zed"))}, "zed/a.txt": {Data: []byte("a")},
	}}
	for _, tt := range []struct {
		name string
		mark func(fs.FS) fs.FS
		want bool // that no file is read again
	}{
		{"marked", toolshelf.Immutable, true},
		{"not marked", func(fsys fs.FS) fs.FS { return fsys }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := catalog(t, toolshelf.WithRoot(t.TempDir()), toolshelf.WithCommandsFS("c", tt.mark(commands)), toolshelf.WithSkillsFS("s", tt.mark(skills)))
			calls := map[string]func(){
				"List": func() {
					must.Match(t, "result", []string{"a", "b"}, names(t, c))
				},
				"Get": func() {
					must.Equal(t, "Content", "apples", must.Get(c.Get(t.Context(), "a"))(t).Content)
				},
				"Search": func() {
					must.Equal(t, "found", "a/tier2", search(t, c, "apples"))
				},
				"ListSkills": func() { skillsOf(t, c) },
				"SearchSkills": func() {
					must.Len(t, "found.Results", 1, must.Get(c.SearchSkills(t.Context(), "zed", 0))(t).Results)
				},
			}
			for _, call := range calls {
				call()
			}
			for name, call := range calls {
				before := commands.files.Load() + skills.files.Load()
				call()
				must.Equal(t, name, tt.want, commands.files.Load()+skills.files.Load()-before == 0)
			}
		})
	}
	must.Fail(toolshelf.New(toolshelf.WithCommandsFS("c", toolshelf.Immutable(nil))))(t, "no filesystem", toolshelf.ErrInvalidOption)
}

func TestListsAndSearchesOpenNoFileOfAHeadFS(t *testing.T) {
	long := "---\nname: long\ndescription: Long\nmore: " + strings.Repeat("x", 10_000) + "\n---\n"
	fsys := newRemote(map[string]string{
		"greet/SKILL.md":    "---\nname: greet\ndescription: Greets people\n---\nSay hello, zebra.\n",
		"greet/notes.md":    "notes\n",
		"long/SKILL.md":     long,
		"denied/SKILL.md":   "---\nname: denied\ndescription: Denied\n---\n",
		"unknown/SKILL.md":  "---\nname: unknown\ndescription: Has no head\n---\n",
		"nothing/README.md": "no skill\n",
	}, map[string]string{
		"greet/SKILL.md":  "---\ndescription: Greets people\nname: greet\n---\n",
		"long/SKILL.md":   long,
		"denied/SKILL.md": "",
	})
	c := must.Get(toolshelf.New(toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("server", fsys)))(t)
	defer c.Close()
	got := map[string]string{}
	for range 2 { // also validates the first list
		for _, s := range must.Get(c.ListSkills(context.Background()))(t) {
			got[s.Name] = s.Description
			must.Equal(t, s.Name, s.Name == "denied" || s.Name == "nothing", len(s.Diagnostics) > 0)
		}
	}
	want := map[string]string{"greet": "Greets people", "long": "Long", "denied": "", "unknown": "Has no head", "nothing": ""}
	must.Match(t, "ListSkills", want, got)
	must.Get(c.SkillsPrompt(context.Background()))(t)
	for query, want := range map[string]int{"greets": 1, "zebra": 0} {
		must.Equal(t, query, want, must.Get(c.SearchSkills(context.Background(), query, 0))(t).TotalFound)
	}
	if n := fsys.opened.Swap(0); n == 0 || n > 10 { // only unknown/SKILL.md, which has no head
		t.Errorf("%d files opened", n)
	}
	delete(fsys.MapFS, "unknown/SKILL.md")
	must.Get(c.ListSkills(context.Background()))(t)
	must.Equal(t, "ListSkills opened files", 0, fsys.opened.Load())
	skill, err := c.GetSkill(context.Background(), "greet")
	if err != nil || skill.Content != "Say hello, zebra.\n" || len(skill.Files) != 2 || fsys.opened.Load() != 1 {
		t.Errorf("got %q with %d files, %d files opened; %v", skill.Content, len(skill.Files), fsys.opened.Load(), err)
	}
	if _, err := c.GetSkill(context.Background(), "denied"); !errors.Is(err, toolshelf.ErrFileRead) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("denied: got %v", err)
	}
}

func TestFilesThatTheDocumentationOfAClientShows(t *testing.T) {
	authors := must.Get(os.ReadFile("docs/authors.md"))(t)
	samples := map[string][][]string{} // by client: the file, the name and perhaps the text
	for line := range strings.Lines(string(must.Get(os.ReadFile("testdata/client_files.txt"))(t))) {
		if sample := must.Arguments(strings.TrimSpace(line)); line[0] != '#' && len(sample) > 0 {
			samples[sample[0]] = append(samples[sample[0]], sample[1:])
		}
	}
	found, exceptions := 0, 0
	for _, c := range client.All() {
		t.Run(c.Name, func(t *testing.T) {
			files := map[string]string{"/project/README.md": "", "/home/me/.profile": ""}
			wantCommands, wantSkills := []string{}, []string{}
			for _, sample := range samples[c.Name] {
				sample = append(sample, "")
				below, name, text := sample[0], sample[1], sample[2]
				file := "/project/" + below
				if inHome, ok := strings.CutPrefix(below, "~/"); ok {
					file = "/home/me/" + inHome
				}
				files[file] = text
				switch {
				case name == "":
					exceptions++
					must.Contain(t, "authors", string(authors), "| "+c.Title+" | `"+below+"` |")
				case strings.Contains(below, "/skills/"):
					files[file] = cmp.Or(text, skillFile(name))
					wantSkills = append(wantSkills, name)
				default:
					wantCommands = append(wantCommands, name)
				}
			}
			delete(samples, c.Name)
			found += len(wantCommands) + len(wantSkills)
			opened := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithRoot("/project"),
				toolshelf.WithHome("/home/me"), toolshelf.WithClient(c))
			got := slices.Collect(maps.Keys(layersOf(t, opened)))
			for _, name := range got {
				must.Equal(t, name, name, must.Get(opened.Get(t.Context(), name))(t).Name)
			}
			sorted := cmpopts.SortSlices(strings.Compare)
			must.Match(t, "commands", wantCommands, got, sorted, cmpopts.EquateEmpty())
			must.Match(t, "skills", wantSkills, slices.Collect(maps.Keys(skillsOf(t, opened))), sorted,
				cmpopts.EquateEmpty())
			if len(wantCommands) < min(len(c.Commands), 1) || len(wantSkills) < min(len(c.Skills), 1) {
				t.Error("a kind of files has no sample")
			}
		})
	}
	if found < 73 || exceptions > 3 || len(samples) > 0 {
		t.Errorf("%d samples found, %d exceptions, unknown clients: %v", found, exceptions, samples)
	}
}

func TestACommandInTOML(t *testing.T) {
	const file = "description = \"Plan\"\nprompt = \"Plan {{args}}.\"\n"
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{".gemini/commands/plan.toml": file})), toolshelf.WithClient(client.Gemini()))
	command, err := c.Get(t.Context(), "plan")
	if err != nil || command.Content != "Plan {{args}}." || command.Metadata.Description != "Plan" || string(command.Raw) != file || command.Frontmatter.Text("prompt") != command.Content {
		t.Errorf("got %+v, %v", command, err)
	}
	must.Equal(t, "text", "Plan a trip.", must.Get(command.Render("a trip"))(t))
	must.Equal(t, "found.TotalFound", 1, must.Get(c.Search(t.Context(), "plan", 0))(t).TotalFound)
	must.Len(t, "all", 0, problems(t, c))
}

func TestASkillWithoutADirectory(t *testing.T) {
	const text = "---\ndescription: Takes notes.\n---\nWrite to notes.txt.\n"
	root := map[string]string{
		".pi/skills/notes.md": text, ".pi/skills/named.md": "---\nname: style\ndescription: d\n---\n", ".pi/skills/both.md": "---\ndescription: file\n---\n", ".pi/skills/both/SKILL.md": skillFile("both"),
		".pi/skills/README.md": text, ".pi/skills/text.md": "No skill.\n", ".pi/skills/other.txt": text, ".pi/skills/secret/x.md": "", ".pi/skills/bare.md": text, ".pi/skills/bare/x": "",
	}
	for kind, options := range map[string][]toolshelf.Option{
		"memory": {toolshelf.WithFs(memoryOf(t, root))},
		"disk":   {toolshelf.WithRoot(diskOf(t, root)), toolshelf.WithHome("")},
	} {
		t.Run(kind, func(t *testing.T) {
			c := catalog(t, append(options, toolshelf.WithClient(client.Pi()))...)
			list := must.Get(c.ListSkills(t.Context()))(t)
			got := map[string]string{}
			for _, s := range list {
				got[s.Name] = fmt.Sprint(path.Base(filepath.ToSlash(s.Path)), " ", s.Layer, " ", s.Shadows, " ", s.Loadable)
			}
			want := map[string]string{"notes": "notes.md .pi/skills [] true", "style": "named.md .pi/skills [] true", "both": "SKILL.md .pi/skills [.pi/skills/both.md] true",
				"bare": "bare.md .pi/skills [] true", "secret": ". .pi/skills [] false"}
			must.Match(t, "ListSkills", want, got)
			skill, err := c.GetSkill(t.Context(), "notes", toolshelf.Digests())
			if err != nil || skill.Content != "Write to notes.txt.\n" || skill.Description != "Takes notes." || len(skill.Files) != 1 || skill.Files[0].Path != "notes.md" || skill.Files[0].SHA256 == "" || string(skill.Raw) != text {
				t.Errorf("GetSkill: %+v, %v", skill, err)
			}
			if prompt := skill.Prompt(); !strings.Contains(prompt, "Write to notes.txt.") || strings.Contains(prompt, "notes.md") {
				t.Errorf("Prompt: %s", prompt)
			}
			must.Equal(t, "ReadSkillFile", text,
				string(must.Get(c.ReadSkillFile(t.Context(), "notes", "notes.md"))(t)))
			for _, other := range []string{"named.md", "both/SKILL.md", "secret/x.md", "SKILL.md", "secret", "bare"} {
				must.Fail(c.ReadSkillFile(t.Context(), "notes", other))(t, other,
					toolshelf.ErrNotFound)
			}
			must.Do(t, fstest.TestFS(skill.FS(), "notes.md"))
			must.Len(t, "entries", 1, must.Get(fs.ReadDir(skill.FS(), "."))(t))
			for s, err := range c.Skills(t.Context()) {
				if err != nil || s.Name == "notes" && s.Content != skill.Content {
					t.Errorf("Skills: %+v, %v", s, err)
				}
			}
			must.Contain(t, "SkillsPrompt", must.Get(c.SkillsPrompt(t.Context()))(t).Text, "Takes notes.")
			if found, err := c.SearchSkills(t.Context(), "notes", 0); err != nil || found.TotalFound == 0 || found.Results[0].Name != "notes" {
				t.Errorf("SearchSkills: %+v, %v", found, err)
			}
			wantProblems := []string{"FRONTMATTER_REQUIRED .pi/skills/text.md", "SHADOWED .pi/skills/both.md", "SKILL_FILE_MISSING .pi/skills/secret/SKILL.md", "SKILL_NAME_MISSING .pi/skills/notes.md"}
			all := problems(t, c)
			must.Has(t, "problems", all, wantProblems...)
			if slices.ContainsFunc(all, func(p string) bool {
				return strings.HasPrefix(p, "SKILL_NOT_A_DIRECTORY") || strings.HasSuffix(p, "README.md") || strings.HasPrefix(p, "SKILL_NAME_MISMATCH")
			}) {
				t.Errorf("reported %q", all)
			}
			must.Fail(c.GetSkill(t.Context(), "text"))(t, "a file without a description", toolshelf.ErrSkillNotFound)
		})
	}
	t.Run("a file that loses its description", func(t *testing.T) {
		dir := diskOf(t, map[string]string{"files/a.md": text})
		c := catalog(t, toolshelf.WithRoot(dir), toolshelf.WithClient(client.Client{Skills: []client.Place{{Dir: "files", Pattern: "*.md"}}}))
		for range 2 {
			must.Get(c.GetSkill(t.Context(), "a"))(t)
		}
		write(t, "No header.\n", dir, "files/a.md")
		must.Fail(c.GetSkill(t.Context(), "a"))(t, "GetSkill", toolshelf.ErrSkillNotFound)
	})
	t.Run("changes", func(t *testing.T) {
		dir := diskOf(t, map[string]string{".pi/skills/a.md": text})
		c := catalog(t, toolshelf.WithRoot(dir), toolshelf.WithHome(""), toolshelf.WithClient(client.Pi()), toolshelf.WithWatch())
		changed := make(chan toolshelf.Names, 10)
		defer c.OnChange(func(change toolshelf.Change) { changed <- change.Skills })()
		for _, step := range []struct {
			text, name string
			want       toolshelf.Names
		}{
			{text, "b.md", toolshelf.Names{Added: []string{"b"}}},
			{text + "More.\n", "a.md", toolshelf.Names{Changed: []string{"a"}}},
			{"No header.\n", "b.md", toolshelf.Names{Removed: []string{"b"}}},
			{skillFile("a"), "a/SKILL.md", toolshelf.Names{Changed: []string{"a"}}},
		} {
			write(t, step.text, dir, ".pi/skills", step.name)
			select {
			case got := <-changed:
				must.Match(t, step.name, step.want, got)
			case <-time.After(patience):
				t.Fatalf("%s: no change", step.name)
			}
		}
	})
}

func TestNamesAndPrefixesOfSkills(t *testing.T) {
	row := client.Client{Name: "mine", Skills: []client.Place{
		{Dir: "only", Pattern: "*/SKILL.md", Name: client.OnlyHeader, Prefix: "o:"},
		{Dir: "header", Pattern: "**/SKILL.md", Name: client.FromHeader},
		{Dir: "path", Pattern: "**/SKILL.md", Prefix: "p:"},
		{Dir: "files", Pattern: "**/*.skill.md", Prefix: "f:"},
	}, Commands: []client.Place{{Dir: "agents", Pattern: "**/*.md", Name: client.OnlyHeader, Prefix: "agent:"}}}
	c := catalog(t, toolshelf.WithClient(row), toolshelf.WithFs(memoryOf(t, map[string]string{
		"only/a/SKILL.md": skillFile("named"), "only/b/SKILL.md": "---\ndescription: d\n---\n", "header/c/SKILL.md": skillFile("other"), "header/d/SKILL.md": "", "path/e/SKILL.md": skillFile("e"),
		"path/g/f/SKILL.md": skillFile("f"), "files/h.skill.md": skillFile("h"), "files/i/j.skill.md": skillFile("j"), "files/k.md": skillFile("k"), "files/l/SKILL.md": skillFile("l"), "files/l/m.skill.md": skillFile("m"),
		"agents/one file.md": "---\nname: one\n---\n", "agents/two.md": "No header.\n", "agents/deep/three.md": "---\nname: three\n---\n",
	})))
	want := map[string]string{"o:named": "only", "other": "header", "d": "header", "p:e": "path", "p:f": "path", "f:h": "files", "f:i:j": "files"}
	must.Match(t, "skills", want, skillsOf(t, c))
	for range 2 { // also the names that the catalog knows
		for name := range want {
			must.Equal(t, name, name, must.Get(c.GetSkill(t.Context(), name))(t).Name)
		}
		for _, name := range []string{"named", "a", "b", "o:a", "o:b", "c", "e", "f", "h", "i:j", "f:k", "f:m", "f:l"} {
			must.Fail(c.GetSkill(t.Context(), name))(t, name, toolshelf.ErrSkillNotFound)
		}
	}
	must.Match(t, "names", []string{"agent:one", "agent:three"}, names(t, c))
	for _, name := range []string{"agent:one", "agent:three"} {
		must.Get(c.Get(t.Context(), name))(t)
	}
	all := problems(t, c)
	must.Has(t, "problems", all, "FRONTMATTER_REQUIRED only/b/SKILL.md",
		"FRONTMATTER_REQUIRED agents/two.md")
	if slices.ContainsFunc(all, func(p string) bool {
		return strings.HasPrefix(p, "SKILL_NAME_MISMATCH") || strings.HasPrefix(p, "INVALID_COMMAND_NAME")
	}) {
		t.Errorf("reported %q", all)
	}
}

func TestWithClientOfSeveralClients(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		"/p/.claude/commands/a.md": "", "/p/.cursor/commands/a.md": "", "/p/.cursor/commands/b.md": "", "/h/.claude/commands/b.md": "", "/h/.claude/commands/c.md": "",
		"/p/.claude/skills/s/SKILL.md": skillFile("s"), "/p/.claude/skills/g/t/SKILL.md": skillFile("t"), "/p/commands/d.md": "",
	})), toolshelf.WithRoot("/p"), toolshelf.WithHome("/h"), toolshelf.WithClient(client.Claude(), client.Cursor()))
	want := map[string]string{"a": ".claude/commands", "b": ".cursor/commands", "c": "~/.claude/commands"}
	must.Match(t, "the project precedes the user, and the first client the second", want, layersOf(t, c))
	must.Match(t, "a directory of two clients is one layer", map[string]string{"s": ".claude/skills", "t": ".claude/skills"}, skillsOf(t, c))
	if all := problems(t, c); slices.ContainsFunc(all, func(p string) bool { return strings.HasPrefix(p, "SHADOWED .claude/skills") }) {
		t.Errorf("a skill shadows itself: %q", all)
	}
}

func TestARowOfTheProgram(t *testing.T) {
	mine := client.Client{Name: "mine", Commands: []client.Place{{Dir: "prompts", Pattern: "*.txt", Prefix: "my:"}}}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"prompts/a.txt": "Text.", "commands/b.md": ""})), toolshelf.WithClient(mine))
	must.Equal(t, "command.Content", "Text.", must.Get(c.Get(t.Context(), "my:a"))(t).Content)
	must.Match(t, "names", []string{"my:a"}, names(t, c))
	for _, row := range []client.Client{
		{Commands: []client.Place{{Dir: "../a", Pattern: "*.md"}}},
		{Commands: []client.Place{{Dir: "a", Pattern: "AGENTS.md"}}},
		{Commands: []client.Place{{Dir: "a", Pattern: "*/SKILL.md"}}},
		{Commands: []client.Place{{Dir: "a", Pattern: "**/SKILL.md"}}},
		{Skills: []client.Place{{Dir: "a", Pattern: "*.toml"}}},
		{Skills: []client.Place{{Dir: "a", Pattern: "*/AGENT.md"}}},
		{Skills: []client.Place{{Dir: "a", Pattern: "SKILL.md"}}},
		{Agents: []client.Place{{Dir: "a", Pattern: "*.toml"}}},
		{Agents: []client.Place{{Dir: "a", Pattern: "AGENTS.md"}}},
		{Agents: []client.Place{{Dir: "a", Pattern: "*/AGENT.md"}}},
		{Instructions: []client.Place{{Dir: "a", Pattern: "*.md"}}},
		client.AgentSkills(),
		{Commands: []client.Place{{Dir: "a", Pattern: "*.md"}}, Rules: client.Rules{Count: 77}},
	} {
		must.Fail(toolshelf.New(toolshelf.WithClient(row)))(t, row, toolshelf.ErrInvalidOption, "a")
	}
}

func TestWithHome(t *testing.T) {
	files := map[string]string{"/p/x": "", "/p/h/.claude/commands/below.md": "", "/h/.claude/commands/a.md": "", "/p/.claude/commands/p.md": ""}
	for home, want := range map[string][]string{"/h": {"a", "p"}, "h": {"below", "p"}, "": {"p"}, "/p": {"p"}, "/missing": {"p"}} {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithRoot("/p"), toolshelf.WithHome(home), toolshelf.WithClient(client.Claude()))
		must.Match(t, home, want, names(t, c))
		if all := problems(t, c); slices.ContainsFunc(all, func(p string) bool { return strings.HasPrefix(p, "SHADOWED") }) {
			t.Errorf("home %q: a file shadows itself: %q", home, all)
		}
	}
	t.Run("the root is the home directory", func(t *testing.T) {
		home := diskOf(t, map[string]string{".claude/commands/a.md": "", ".config/opencode/commands/b.md": ""})
		t.Setenv("HOME", home)
		t.Setenv("USERPROFILE", home)
		t.Setenv("XDG_CONFIG_HOME", "")
		t.Setenv("APPDATA", filepath.Join(home, ".config"))
		options := []toolshelf.Option{toolshelf.WithRoot(home), toolshelf.WithClient(client.Claude(), client.OpenCode()), toolshelf.WithParents("")}
		must.Match(t, "layers", map[string]string{"a": ".claude/commands", "b": "~/.config/opencode/commands"}, layersOf(t, catalog(t, options...)))
		must.Match(t, "layers without a home directory", map[string]string{"a": ".claude/commands"}, layersOf(t, catalog(t, append(options, toolshelf.WithHome(""))...)))
	})
	t.Run("the root is above the home directory", func(t *testing.T) {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"/w/h/.claude/commands/a.md": ""})), toolshelf.WithRoot("/w"), toolshelf.WithHome("/w/h"), toolshelf.WithClient(client.Claude()))
		must.Match(t, "layers", map[string]string{"a": "~/.claude/commands"}, layersOf(t, c))
	})
	t.Run("no home directory on the operating system", func(t *testing.T) {
		home := diskOf(t, map[string]string{".claude/commands/a.md": "", ".config/opencode/commands/b.md": ""})
		t.Setenv("HOME", home)
		t.Setenv("USERPROFILE", home)
		t.Setenv("XDG_CONFIG_HOME", "")
		t.Setenv("APPDATA", filepath.Join(home, ".config"))
		for _, tt := range []struct {
			options []toolshelf.Option
			want    []string
		}{
			{nil, []string{"a", "b"}},
			{[]toolshelf.Option{toolshelf.WithHome("")}, nil},
			{[]toolshelf.Option{toolshelf.WithHome(filepath.Join(home, "other"))}, nil},
		} {
			options := append(tt.options, toolshelf.WithRoot(t.TempDir()), toolshelf.WithClient(client.Claude(), client.OpenCode()))
			must.Match(t, "names", tt.want, names(t, catalog(t, options...)))
		}
	})
	t.Run("the directory for configuration", func(t *testing.T) {
		config := diskOf(t, map[string]string{"opencode/commands/c.md": ""})
		t.Setenv("XDG_CONFIG_HOME", config)
		t.Setenv("APPDATA", config)
		c := catalog(t, toolshelf.WithRoot(t.TempDir()), toolshelf.WithClient(client.OpenCode()))
		must.Equal(t, "info.Layer", "~/.config/opencode/commands",
			must.Get(c.Get(t.Context(), "c"))(t).Layer)
	})
}

func TestWithParents(t *testing.T) {
	for _, tt := range []struct {
		name     string
		files    []string // below /w; the root is /w/repo/sub/project
		boundary string
		want     map[string]string // the layer of each command
	}{
		{"up to the repository, nearest first", []string{"repo/.git/HEAD", "repo/sub/project/.opencode/commands/a.md", "repo/sub/.opencode/commands/a.md", "repo/sub/.opencode/commands/b.md",
			"repo/.opencode/commands/a.md", "repo/.opencode/commands/b.md", "repo/.opencode/commands/c.md", "repo/.opencode/command/d.md", ".opencode/commands/e.md", "home/.config/opencode/commands/c.md"}, "",
			map[string]string{"a": ".opencode/commands", "b": "../.opencode/commands", "c": "../../.opencode/commands", "d": "../../.opencode/command"}},
		{"a .git that is a file", []string{"repo/.git", "repo/.opencode/commands/a.md", ".opencode/commands/b.md"}, "", map[string]string{"a": "../../.opencode/commands"}},
		{"the first of two repositories", []string{".git/HEAD", "repo/sub/.git", "repo/sub/.opencode/commands/a.md", "repo/.opencode/commands/b.md"}, "", map[string]string{"a": "../.opencode/commands"}},
		{"no repository", []string{"repo/.opencode/commands/a.md", "repo/sub/.opencode/commands/b.md"}, "", map[string]string{}},
		{"the root is the repository", []string{".git/HEAD", "repo/sub/project/.git/HEAD", "repo/sub/.opencode/commands/a.md"}, "/w", map[string]string{}},
		{"a boundary without a repository", []string{"repo/.opencode/commands/a.md", ".opencode/commands/b.md"}, "/w/repo", map[string]string{"a": "../../.opencode/commands"}},
		{"a boundary below the repository", []string{"repo/.git/HEAD", "repo/.opencode/commands/a.md", "repo/sub/.opencode/commands/b.md"}, "/w/repo/sub", map[string]string{"b": "../.opencode/commands"}},
		{"a boundary above the repository", []string{"repo/.git/HEAD", "repo/.opencode/commands/a.md", ".opencode/commands/b.md"}, "/w", map[string]string{"a": "../../.opencode/commands"}},
		{"a boundary relative to the root", []string{"repo/sub/.opencode/commands/a.md", "repo/.opencode/commands/b.md"}, "..", map[string]string{"a": "../.opencode/commands"}},
		{"the root as the boundary", []string{"repo/sub/.opencode/commands/a.md"}, ".", map[string]string{}},
		{"the top of the filesystem as the boundary", []string{"../.opencode/commands/a.md"}, "/", map[string]string{"a": "../../../../.opencode/commands"}},
		{"a place that does not look up", []string{"repo/.git/HEAD", "repo/.gemini/commands/a.toml"}, "", map[string]string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"/w/repo/sub/project/README.md": ""}
			for _, file := range tt.files {
				files[path.Join("/w", file)] = "prompt = ''"
			}
			c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithRoot("/w/repo/sub/project"), toolshelf.WithHome("/w/home"),
				toolshelf.WithClient(client.OpenCode(), client.Gemini()), toolshelf.WithParents(tt.boundary))
			must.Match(t, "layers", tt.want, layersOf(t, c))
		})
	}
	t.Run("a boundary that is not above the root", func(t *testing.T) {
		for _, boundary := range []string{"/w/other", "/w/repo/sub/project/below", "below", "/w/re"} {
			_, err := toolshelf.New(toolshelf.WithFs(memoryOf(t, map[string]string{"/w/repo/x": ""})), toolshelf.WithRoot("/w/repo"), toolshelf.WithClient(client.Claude()), toolshelf.WithParents(boundary))
			must.Is(t, boundary, toolshelf.ErrInvalidOption, err, "not above the root")
		}
	})
	t.Run("no client", func(t *testing.T) {
		must.Fail(toolshelf.New(toolshelf.WithParents(""), toolshelf.WithCommandsDir("team")))(t, "New",
			toolshelf.ErrInvalidOption, "add WithClient")
	})
	t.Run("the home directory is no parent", func(t *testing.T) {
		files := memoryOf(t, map[string]string{"/h/.git/HEAD": "", "/h/.claude/commands/a.md": "", "/h/.claude/skills/s/SKILL.md": skillFile("s"), "/h/p/.claude/commands/b.md": "", "/h/p/q/x": ""})
		options := []toolshelf.Option{toolshelf.WithFs(files), toolshelf.WithRoot("/h/p/q"), toolshelf.WithClient(client.Claude()), toolshelf.WithParents("")}
		c := catalog(t, append(options, toolshelf.WithHome("/h"))...)
		must.Match(t, "layers", map[string]string{"a": "~/.claude/commands", "b": "../.claude/commands"}, layersOf(t, c))
		if all := problems(t, c); slices.ContainsFunc(all, func(p string) bool { return strings.HasPrefix(p, "SHADOWED") }) {
			t.Errorf("a file shadows itself: %q", all)
		}
	})
	t.Run("a place of two clients looks up if one of the clients does", func(t *testing.T) {
		files := memoryOf(t, map[string]string{"/w/.git": "", "/w/.claude/skills/group/s/SKILL.md": skillFile("s"), "/w/p/x": ""})
		for _, clients := range [][]toolshelf.Option{{toolshelf.WithClient(client.Copilot(), client.OpenCode())}, {toolshelf.WithClient(client.Copilot()), toolshelf.WithClient(client.OpenCode())}} {
			c := catalog(t, append(clients, toolshelf.WithFs(files), toolshelf.WithRoot("/w/p"), toolshelf.WithParents(""))...)
			must.Match(t, "skills", map[string]string{"s": "../.claude/skills"}, skillsOf(t, c))
		}
	})
	t.Run("places with different prefixes are two layers", func(t *testing.T) {
		row := func(prefix string) client.Client {
			return client.Client{Commands: []client.Place{{Dir: ".mine", Pattern: "*.md", Prefix: prefix}}}
		}
		files := memoryOf(t, map[string]string{".mine/a.md": ""})
		for _, clients := range [][]toolshelf.Option{{toolshelf.WithClient(row("x:"), row("y:"))}, {toolshelf.WithClient(row("x:")), toolshelf.WithClient(row("y:"))}} {
			c := catalog(t, append(clients, toolshelf.WithFs(files))...)
			must.Match(t, "layers", map[string]string{"x:a": ".mine", "y:a": ".mine"}, layersOf(t, c))
		}
	})
	t.Run("the parents of an option precede the layers of later options", func(t *testing.T) {
		files := memoryOf(t, map[string]string{"/w/.git": "", "/w/.mine/a.md": "", "/w/p/.claude/commands/a.md": "", "/w/p/.mine/b.md": "", "/w/.claude/commands/b.md": "", "/w/.claude/commands/c.md": ""})
		mine := client.Client{Commands: []client.Place{{Dir: ".mine", Pattern: "*.md", Parents: true}}}
		c := catalog(t, toolshelf.WithFs(files), toolshelf.WithRoot("/w/p"), toolshelf.WithClient(mine), toolshelf.WithClient(client.Claude()), toolshelf.WithParents(""))
		must.Match(t, "layers", map[string]string{"a": "../.mine", "b": ".mine", "c": "../.claude/commands"}, layersOf(t, c))
	})
	t.Run("skills by the documentation of each client", func(t *testing.T) {
		files := map[string]string{"/w/.git": "", "/w/p/x": ""}
		for _, dir := range []string{".claude", ".factory", ".agents", ".pi"} {
			files["/w/"+dir+"/skills/in"+dir[1:]+"/SKILL.md"] = skillFile("in" + dir[1:])
		}
		for _, tt := range []struct {
			client client.Client
			want   map[string]string
		}{
			{client.Claude(), map[string]string{"inclaude": "../.claude/skills"}},
			{client.Factory(), map[string]string{"infactory": "../.factory/skills", "inagents": "../.agents/skills"}},
			{client.Pi(), map[string]string{"inagents": "../.agents/skills"}},
		} {
			c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithRoot("/w/p"), toolshelf.WithClient(tt.client), toolshelf.WithParents(""))
			must.Match(t, tt.client.Name, tt.want, skillsOf(t, c))
		}
	})
	t.Run("layers of other options", func(t *testing.T) {
		files := memoryOf(t, map[string]string{"/w/.git": "", "/w/.claude/commands/a.md": "", "/w/.claude/commands/b.md": "", "/w/p/own/a.md": "", "/h/.claude/commands/b.md": "", "/h/.claude/commands/c.md": ""})
		c := catalog(t, toolshelf.WithParents(""), toolshelf.WithFs(files), toolshelf.WithRoot("/w/p"), toolshelf.WithHome("/h"), toolshelf.WithCommandsDir("own", "../.claude/commands"),
			toolshelf.WithClient(client.Claude()))
		if all := problems(t, c); slices.ContainsFunc(all, func(p string) bool {
			return strings.HasPrefix(p, "SHADOWED") && strings.Contains(p, "b.md") && !strings.Contains(p, "~")
		}) {
			t.Errorf("a file shadows itself: %q", all)
		}
		must.Match(t, "layers", map[string]string{"a": "own", "b": "../.claude/commands", "c": "~/.claude/commands"}, layersOf(t, c))
	})
}

// layersOf returns the layer of each command of a catalog, by name.
func layersOf(t testing.TB, c *toolshelf.Catalog) map[string]string {
	t.Helper()
	layers := map[string]string{}
	for info, err := range c.All(t.Context()) {
		must.Do(t, err)
		layers[info.Name] = info.Layer
	}
	return layers
}

func TestNothingAboveTheBoundaryIsRead(t *testing.T) {
	files := map[string]string{"/.git/x": "", "/w/.claude/commands/a.md": "", "/w/repo/.claude/commands/b.md": "", "/w/repo/sub/project/x": "", "/.claude/commands/c.md": ""}
	for boundary, highest := range map[string]string{"/w/repo": "/w/repo", "/w/repo/sub/project": "/w/repo/sub/project", "": "/"} {
		var read []string
		c := catalog(t, toolshelf.WithFs(recording(memoryOf(t, files), &read)),
			toolshelf.WithRoot("/w/repo/sub/project"), toolshelf.WithClient(client.Claude()),
			toolshelf.WithParents(boundary))
		names(t, c)
		_, _ = c.Get(t.Context(), "a")
		problems(t, c)
		for _, call := range read {
			_, name, _ := strings.Cut(call, " ")
			if "/"+name != highest && !strings.HasPrefix("/"+name, strings.TrimSuffix(highest, "/")+"/") {
				t.Errorf("boundary %q: %s is read", boundary, name)
			}
		}
	}
}

func TestParentsOnDisk(t *testing.T) {
	skill := skillFile("s")
	t.Run("links in the path of the root", func(t *testing.T) {
		dir := diskOf(t, map[string]string{"real/.git/HEAD": "", "real/.claude/commands/a.md": "", "real/sub/x": "", "above/.claude/commands/b.md": "", "above/.git": ""})
		hosttest.Symlink(t, filepath.Join(dir, "real", "sub"), filepath.Join(dir, "above", "root"))
		for _, boundary := range []string{"", filepath.Join(dir, "real")} {
			c := catalog(t, toolshelf.WithRoot(filepath.Join(dir, "above", "root")), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()), toolshelf.WithParents(boundary))
			if got := layersOf(t, c); len(got) != 1 || got["a"] != "../.claude/commands" {
				t.Errorf("the parents are the parents of the real directory: got %q", got)
			}
		}
		if _, err := toolshelf.New(toolshelf.WithRoot(filepath.Join(dir, "above", "root")), toolshelf.WithParents(filepath.Join(dir, "above"))); !errors.Is(err, toolshelf.ErrInvalidOption) || strings.Contains(err.Error(), dir) {
			t.Errorf("a boundary above the link alone: %v", err)
		}
	})
	t.Run("links in a parent", func(t *testing.T) {
		dir := diskOf(t, map[string]string{"repo/.git": "", "repo/shared/commands/in.md": "", "repo/p/project/.claude/commands/own.md": "", "out/commands/out.md": "", "out/s/SKILL.md": skill, "repo/p/.claude/commands/x.md": ""})
		hosttest.Symlink(t, filepath.Join("..", "out"), filepath.Join(dir, "repo", ".claude"))
		hosttest.Symlink(t, filepath.Join("..", "..", "..", "..", "out", "commands", "out.md"), filepath.Join(dir, "repo", "p", ".claude", "commands", "out.md"))
		hosttest.Symlink(t, filepath.Join("..", ".claude"), filepath.Join(dir, "repo", "p", ".opencode"))
		hosttest.Symlink(t, "commands", filepath.Join(dir, "repo", "p", ".claude", "commands", "loop"))
		for policy, want := range map[toolshelf.Symlinks][]string{toolshelf.SymlinksInside: {"own", "x"}, toolshelf.SymlinksDeny: {"own", "x"}, toolshelf.SymlinksAll: {"out", "own", "x"}} {
			c := catalog(t, toolshelf.WithRoot(filepath.Join(dir, "repo", "p", "project")), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()), toolshelf.WithParents(""), toolshelf.WithSymlinks(policy))
			must.Match(t, policy, want, names(t, c))
			reported := slices.ContainsFunc(problems(t, c), func(p string) bool { return strings.HasPrefix(p, "FOLDER_UNREADABLE ../../.claude/commands") })
			if reported == (policy == toolshelf.SymlinksAll) {
				t.Errorf("policy %d: %q", policy, problems(t, c))
			}
		}
	})
	t.Run("the directory of a place appears with a watch", func(t *testing.T) {
		dir := diskOf(t, map[string]string{"repo/.git": "", "repo/project/x": ""})
		c := catalog(t, toolshelf.WithRoot(filepath.Join(dir, "repo", "project")), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()), toolshelf.WithParents(""), toolshelf.WithWatch())
		must.Len(t, "names", 0, names(t, c))
		changed := make(chan toolshelf.Change, 10)
		defer c.OnChange(func(change toolshelf.Change) { changed <- change })()
		write(t, "", dir, "repo/.claude/commands/new.md")
		select {
		case change := <-changed:
			must.Match(t, change, []string{"new"}, change.Commands.Added)
		case <-time.After(patience):
			t.Error("no change")
		}
		view, err := c.View(toolshelf.WithCommandFilter(func(info toolshelf.CommandInfo) bool { return info.Layer == "../.claude/commands" }))
		if err != nil || !slices.Equal(names(t, view), []string{"new"}) {
			t.Errorf("a view: %q, %v", names(t, view), err)
		}
	})
}
