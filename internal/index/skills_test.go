package index

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
)

// skillText returns a SKILL.md.
func skillText(name string) string { return "---\nname: " + name + "\ndescription: d\n---\n" }

// A layer at the top of an fs.FS has no directory name.
func TestTheNameOfALayerThatIsASkill(t *testing.T) {
	for _, tt := range []struct{ layer, text, want string }{
		{"built in", skillText("declared"), "declared"},
		{"built in", skillText("../up"), "built in"},
		{"built/in", skillText("../up"), "skill"},
		{"built in", "---\ndescription: d\n---\n", "built in"},
	} {
		fsys := confined(t)(confine.Over(afero.FromIOFS{FS: fstest.MapFS{"SKILL.md": {Data: []byte(tt.text)}}}, "."))
		x := skillsOf(t, Config{Layers: []Layer{{Name: tt.layer, FS: fsys, Dir: "."}}}, nil)
		for range 2 {
			s := snapshotOf(t, x)
			must.Len(t, tt.layer, 1, s.Entries)
			must.Equal(t, tt.layer, tt.want, s.Entries[0].Name)
		}
	}
}

// The search ends after 2,000 directories without a SKILL.md. A first directory
// with many subdirectories does not hide the skills of the first level.
func TestTheSearchForSkillsIsLimited(t *testing.T) {
	tr := tree{"skills/b/late/SKILL.md": skillText("late"), "skills/c/SKILL.md": skillText("c"), "skills/a/0000/SKILL.md": skillText("0000")}
	for i := range maxDirs {
		tr[fmt.Sprintf("skills/a/%04d/notes.txt", i+1)] = ""
	}
	x := skillsOf(t, Config{Depth: 2}, confined(t)(confine.Over(tr.inMemory(t), "/")), "skills")
	expect(t, x, `0000 skills/a/0000/SKILL.md; b skills/b/SKILL.md broken; c skills/c/SKILL.md
		TOO_MANY_FOLDERS skills/a; SKILL_FILE_MISSING skills/b/SKILL.md`)
}

// In the directory of a skill, the search ends after 100 directories without a
// SKILL.md. The limit is separate for each skill.
func TestTheSearchInASkillIsLimited(t *testing.T) {
	tr := tree{"skills/a/SKILL.md": skillText("a"), "skills/a/first/SKILL.md": skillText("first"), "skills/a/z/SKILL.md": skillText("z"),
		"skills/b/SKILL.md": skillText("b"), "skills/b/part/SKILL.md": skillText("part")}
	for i := range skilldir.MaxWithin {
		tr[fmt.Sprintf("skills/a/new-%03d/run.sh", i)] = ""
	}
	x := skillsOf(t, Config{Depth: 2}, confined(t)(confine.Over(tr.inMemory(t), "/")), "skills")
	expect(t, x, `a skills/a/SKILL.md; b skills/b/SKILL.md; first skills/a/first/SKILL.md; part skills/b/part/SKILL.md
		TOO_MANY_FOLDERS skills/a`)
}

// The header of a skill is kept, and no skill is a dependency.
func TestTheEntryOfASkill(t *testing.T) {
	tr := tree{"skills/a/SKILL.md": "---\nname: pdf\ndescription: |\n  Two\n  lines\nis_dependency: true\ndisable-model-invocation: true\n---\nBody.\n"}
	x := skillsOf(t, Config{}, confined(t)(confine.Over(tr.inMemory(t), "/")), "skills")
	e := snapshotOf(t, x).Lookup("a")
	header := e.Header()
	declared, _ := header.Get("name")
	type view struct {
		declared, description string
		dependency, userOnly  bool
	}
	got := view{declared.String(), e.Description(), e.Dependency, e.UserOnly}
	must.Match(t, "entry", view{"pdf", "Two\nlines", false, true}, got, cmp.AllowUnexported(view{}))
	must.NotContain(t, "the header", string(header.Header), "Body")
}

// A scan reads the SKILL.md in a directory that the user may search but not list, in the first scan
// and in the next.
func TestASkillInADirectoryThatCannotBeListed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system opens a directory only to list the directory")
	}
	root := tree{"skills/a/SKILL.md": skillText("a"), "skills/b/SKILL.md": skillText("b")}.onDisk(t)
	hosttest.Chmod(t, filepath.Join(root, "skills", "b"), 0o311)
	x := skillsOf(t, Config{Broken: true}, confined(t)(confine.New(root)), "skills")
	for range 2 {
		for _, name := range []string{"a", "b"} {
			if e := snapshotOf(t, x).Lookup(name); e == nil || e.Broken() != nil {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
}
