package toolshelf_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/confine"
)

// A dated filesystem tells change times, as a disk does: the modification times
// of its files.
type dated struct{ afero.Fs }

func (d dated) Open(name string) (afero.File, error) {
	f, err := d.Fs.Open(name)
	return datedFile{f}, err
}

func (d dated) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f, err := d.Fs.OpenFile(name, flag, perm)
	return datedFile{f}, err
}

func (d dated) Stat(name string) (fs.FileInfo, error) {
	fi, err := d.Fs.Stat(name)
	return datedInfo{fi}, err
}

type datedFile struct{ afero.File }

func (f datedFile) Stat() (fs.FileInfo, error) {
	fi, err := f.File.Stat()
	return datedInfo{fi}, err
}

type datedInfo struct{ fs.FileInfo }

func (i datedInfo) Sys() any { return confine.Info{Changed: i.ModTime()} }

// views are what every method tells of the command and the skill "a".
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

// Every method serves a file's new content where neither the size nor the time
// of the file shows the change.
func TestEveryMethodSeesAChangeThatNoTimeShows(t *testing.T) {
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
			if err := errors.Join(afero.WriteFile(fsys, name, []byte(text), 0o644), fsys.Chtimes(name, written, written)); err != nil {
				t.Fatal(err)
			}
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
				err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644), os.Chtimes(file, written, written))
				if err != nil {
					t.Fatal(err)
				}
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			options, write := tt.open()
			options = append(options, toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Name != "" }))
			c := catalog(t, options...)
			for _, i := range []int{0, 1, 2, 3, 0, 3, 2, 4, 0, 5, 3, 1, 4, 5} {
				text := sameSize(states[i])
				write("commands/a.md", text)
				write("skills/a/SKILL.md", text)
				write("skills/a/notes.txt", fmt.Sprint(i))
				if diff := cmp.Diff(views(t, catalog(t, options...)), views(t, c)); diff != "" {
					t.Errorf("state %d, a new catalog and this one (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

// Get tells whether a command is a dependency as its file says now.
func TestDependencyIsThatOfTheFile(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "---\ndescription: d\n---\n"})
	c := catalog(t, toolshelf.WithRoot(root))
	if _, err := c.List(t.Context(), toolshelf.Page{}); err != nil {
		t.Fatal(err)
	}
	for i, header := range []string{"is_dependency: true\n", "", "is_dependency: [true\n", "is_dependency: false\n", "is_dependency: true\n"} {
		want := slices.Contains([]int{0, 2, 4}, i)
		write(t, "---\ndescription: d\n"+header+"---\n", root, "commands", "a.md")
		for range 2 {
			if got, err := c.Get(t.Context(), "a"); err != nil || got.Dependency != want {
				t.Errorf("%q: Dependency %v, %v", header, got.Dependency, err)
			}
		}
	}
}

// With WithCacheTTL, Search reads files without change times once in this time,
// and a search that was broken off is continued.
func TestSearchWithinTheTTLReadsNoFileAgain(t *testing.T) {
	fsys := &counting{Fs: memoryOf(t, map[string]string{"commands/a.md": "apples", "commands/b.md": "pears"})}
	now := time.Unix(1_000_000, 0)
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithCacheTTL(time.Minute), toolshelf.WithClock(func() time.Time { return now }))
	expect := func(word, want string) {
		t.Helper()
		if got := search(t, c, word); got != want {
			t.Errorf("%s finds %q, want %q", word, got, want)
		}
	}
	expect("apples", "a/tier2")
	if err := errors.Join(afero.WriteFile(fsys.Fs, "commands/a.md", []byte("quince"), 0o644), fsys.Chtimes("commands/a.md", written, written)); err != nil {
		t.Fatal(err)
	}
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
