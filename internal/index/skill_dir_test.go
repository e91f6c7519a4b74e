package index

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
)

// openSkill opens the directory of a skill. The directory is closed after the
// test.
func openSkill(t testing.TB, x *Index, name string) *SkillDir {
	t.Helper()
	e := snapshotOf(t, x).Lookup(name)
	if e == nil {
		t.Fatalf("no skill %s in %q", name, lines(x, x.Last()))
	}
	d := must.Get(x.OpenSkill(t.Context(), e))(t)
	t.Cleanup(d.Close)
	return d
}

// text is the content of an open file, or the error.
func text(f *confine.File, err error) string {
	for _, e := range []struct {
		is   error
		word string
	}{
		{confine.ErrEscape, "outside"}, {confine.ErrSymlink, "link"}, {confine.ErrNotRegular, "no file"}, {confine.ErrNotDir, "no directory"},
		{fs.ErrNotExist, "missing"}, {fs.ErrPermission, "denied"}, {syscall.ELOOP, "cycle"},
	} {
		if errors.Is(err, e.is) {
			return e.word
		}
	}
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%q", raw)
}

// base is the base name of an open directory without links, or the error.
func base(dir *confine.Dir, err error) string {
	if err != nil {
		return text(nil, err)
	}
	defer dir.Close()
	return path.Base(dir.RealPath())
}

// list is the files of a skill and the problems, as lines does.
func list(t testing.TB, d *SkillDir) []string {
	t.Helper()
	files := must.Get(d.Files(t.Context()))(t)
	all := []string{}
	for i, f := range files.Files {
		line := f.Name
		if i == files.Own {
			line += " own"
		}
		all = append(all, line)
	}
	if files.Truncated {
		all = append(all, "truncated")
	}
	for _, p := range files.Problems {
		all = append(all, fmt.Sprint(p.Code, " ", p.Path))
	}
	return all
}

// The layer itself can be a skill, at the top of its filesystem as well.
func TestTheDirectoryOfALayerThatIsASkill(t *testing.T) {
	tr := tree{"SKILL.md": skillText("top"), "x.txt": "x", "link": "-> x.txt", "out": "-> ../secret.txt", "../secret.txt": "s"}
	fsys := confined(t)(confine.New(tr.onDisk(t)))
	d := openSkill(t, skillsOf(t, Config{}, fsys, "."), "root")
	must.Match(t, "files", splitLines("SKILL.md own; link; x.txt; LINK_NOT_FOLLOWED out"), list(t, d))
	must.Equal(t, "link", `"x"`, text(d.Open("link")))
}

// A list is limited to 10,000 files and directories. The SKILL.md is always in
// the list.
func TestTheFilesOfASkillAreLimited(t *testing.T) {
	files := fstest.MapFS{"a/SKILL.md": {}, "a/z/last": {}}
	for i := range 3 * skilldir.MaxFiles {
		files[fmt.Sprintf("a/+%05d", i)] = &fstest.MapFile{} // before SKILL.md
	}
	x := skillsOf(t, Config{}, confined(t)(confine.Over(afero.FromIOFS{FS: files}, ".")), ".")
	got := list(t, openSkill(t, x, "a"))
	n := len(got)
	if n != skilldir.MaxFiles+3 || got[0] != "+00000" || got[skilldir.MaxFiles-1] != "+09999" {
		t.Errorf("%d lines, from %q", n, got[0])
	}
	must.Match(t, "the end of the list", []string{"SKILL.md own", "truncated", "TOO_MANY_FILES a"}, got[n-3:])
}

// Each file that cannot be read is a problem, and the other files are listed.
func TestFilesOfASkillThatCannotBeRead(t *testing.T) {
	tr := tree{"skills/a/SKILL.md": "", "skills/a/dir/x": "", "skills/a/gone": "", "skills/a/lost/x": "", "skills/a/closed": "", "skills/a/pipe": ""}
	x := skillsOf(t, Config{}, confined(t)(confine.Over(faulty{tr.inMemory(t), func(op, name string) error {
		switch op + path.Base(name) {
		case "open dir", "stat closed":
			return fs.ErrPermission
		case "stat gone", "open lost":
			return fs.ErrNotExist
		}
		return nil
	}}, "/")), "skills")
	want := "SKILL.md own; pipe; FILE_READ_ERROR skills/a/closed; FILE_READ_ERROR skills/a/dir"
	must.Match(t, "files", splitLines(want), list(t, openSkill(t, x, "a")))
}

// The end of the context ends a list, in the first directory and below.
func TestTheListOfFilesEndsWithItsContext(t *testing.T) {
	tr := tree{"skills/a/SKILL.md": "", "skills/a/dir/x": "", "skills/a/dir/y": ""}
	for _, at := range []string{"SKILL.md", "dir", "x"} {
		ctx, cancel := context.WithCancel(t.Context())
		ending := false
		x := skillsOf(t, Config{}, confined(t)(confine.Over(faulty{tr.inMemory(t), func(op, name string) error {
			if ending && path.Base(name) == at {
				cancel()
			}
			return nil
		}}, "/")), "skills")
		d := openSkill(t, x, "a")
		ending = true
		if files, err := d.Files(ctx); !errors.Is(err, context.Canceled) || files.Files != nil {
			t.Errorf("the end at %s: %v, %v", at, files, err)
		}
		cancel()
	}
}

func TestASkillDirectoryThatIsGone(t *testing.T) {
	fsys := tree{"skills/a/SKILL.md": ""}.inMemory(t)
	x := skillsOf(t, Config{}, confined(t)(confine.Over(fsys, "/")), "skills")
	e := snapshotOf(t, x).Lookup("a")
	must.Do(t, fsys.RemoveAll(filepath.FromSlash("/skills/a")))
	must.Fail(x.OpenSkill(t.Context(), e))(t, "error", fs.ErrNotExist)
}

// A folding filesystem finds the file Skill.md by any spelling of its name, as
// the usual filesystems of macOS and Windows do.
type folding struct{ afero.Fs }

func spelled(name string) string {
	if dir, base := path.Split(filepath.ToSlash(name)); len(base) == len("Skill.md") && strings.EqualFold(base, "Skill.md") {
		return dir + "Skill.md"
	}
	return name
}

func (f folding) Open(name string) (afero.File, error)  { return f.Fs.Open(spelled(name)) }
func (f folding) Stat(name string) (fs.FileInfo, error) { return f.Fs.Stat(spelled(name)) }

func TestASkillFileOfAnotherSpelling(t *testing.T) {
	tr := tree{"skills/a/Skill.md": "own", "skills/a/dir/Skill.md": "", "skills/a/x": ""}
	d := openSkill(t, skillsOf(t, Config{}, confined(t)(confine.Over(folding{tr.inMemory(t)}, "/")), "skills"), "a")
	must.Match(t, "files", splitLines("Skill.md own; dir/Skill.md; x"), list(t, d))
	for name, want := range map[string]bool{"SKILL.md": true, "skill.md": true, "Skill.md": true, "x": false, "dir/Skill.md": false} {
		must.Equal(t, fmt.Sprintf("isSkillFile(%q)", name), want, d.IsFile(name))
	}
}

// Unicode folds the letters ſ and s, and Windows does not.
func TestAnotherFileIsNoSpellingOfASkillFile(t *testing.T) {
	tr := tree{"skills/a/Skill.md": "own", "skills/a/ſkill.md": "other"}
	entries := skillsOf(t, Config{}, confined(t)(confine.Over(folding{tr.inMemory(t)}, "/")), "skills")
	for _, e := range snapshotOf(t, entries).Entries {
		must.Equal(t, "the path", "skills/a/Skill.md", e.Spelled())
	}
}

func TestADirectoryInPlaceOfASkillFileIsReportedOnce(t *testing.T) {
	tr := tree{"skills/a/Skill.md/x": ""}
	for fsys, want := range map[afero.Fs]string{folding{tr.inMemory(t)}: "NOT_A_FILE skills/a/SKILL.md; SKILL_FILE_MISSING skills/a/SKILL.md", tr.inMemory(t): "SKILL_FILE_MISSING skills/a/SKILL.md"} {
		var got []string
		for _, p := range snapshotOf(t, skillsOf(t, Config{}, confined(t)(confine.Over(fsys, "/")), "skills")).Problems() {
			got = append(got, string(p.Code)+" "+p.Path)
		}
		must.Equal(t, got, want, strings.Join(got, "; "))
	}
}

// Where letter case matters, another spelling is another file.
func TestAFileBesideSKILLmd(t *testing.T) {
	tr := tree{"skills/a/SKILL.md": "own", "skills/a/Skill.md": "other"}
	d := openSkill(t, skillsOf(t, Config{}, confined(t)(confine.Over(tr.inMemory(t), "/")), "skills"), "a")
	if d.IsFile("Skill.md") || d.IsFile("skill.MD") || !d.IsFile("SKILL.md") {
		t.Error("a file with another size is the SKILL.md")
	}
}

// List omits what Files omits, and the entries that have vanished since the read of the directory.
func TestListOfASkillDirectory(t *testing.T) {
	tr := tree{"SKILL.md": skillText("top"), "x.txt": "x", "dir/y.txt": "y", "dir/up": "-> ../x.txt", "link": "-> x.txt", "to-dir": "-> dir", "out": "-> ../secret.txt",
		".git/config": "", "node_modules/z.js": "", "../secret.txt": "s"}
	d := openSkill(t, skillsOf(t, Config{}, confined(t)(confine.New(tr.onDisk(t))), "."), "root")
	for name, want := range map[string][]string{
		".":      {"SKILL.md", "dir", "link", "x.txt"},
		"dir":    {"up", "y.txt"},
		"to-dir": {"up", "y.txt"},
		".git":   {"config"},
	} {
		files, err := d.List(t.Context(), name)
		var got []string
		for _, f := range files {
			got = append(got, f.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	for name, want := range map[string]error{"x.txt": confine.ErrNotDir, "out": confine.ErrEscape, "nothing": fs.ErrNotExist} {
		if files, err := d.List(t.Context(), name); !errors.Is(err, want) || files != nil {
			t.Errorf("%s: %v, %v; want %v", name, files, err, want)
		}
	}
}

func TestListReturnsTheErrorsOfEntriesAndOfItsContext(t *testing.T) {
	tr := tree{"skills/a/SKILL.md": "", "skills/a/gone": "", "skills/a/x": ""}
	broken := ""
	x := skillsOf(t, Config{}, confined(t)(confine.Over(faulty{tr.inMemory(t), func(op, name string) error {
		switch op + path.Base(name) {
		case "stat " + broken:
			return fs.ErrPermission
		case "stat gone":
			return fs.ErrNotExist
		}
		return nil
	}}, "/")), "skills")
	d := openSkill(t, x, "a")
	must.Equal(t, "a vanished file", 2, len(must.Get(d.List(t.Context(), "."))(t)))
	broken = "x"
	if files, err := d.List(t.Context(), "."); !errors.Is(err, fs.ErrPermission) || files != nil {
		t.Errorf("an unreadable file: %v, %v", files, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if files, err := d.List(ended, "."); !errors.Is(err, context.Canceled) || files != nil {
		t.Errorf("an ended context: %v, %v", files, err)
	}
}
