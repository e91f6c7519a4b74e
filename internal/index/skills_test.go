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

// TestSkills scans layers of skills. The wanted lines are the skills, with
// "broken" if the SKILL.md cannot be loaded, then the problems.
func TestSkills(t *testing.T) {
	for _, tt := range []struct {
		name   string
		config Config
		opts   []confine.Option
		layers []string // "skills" if nil
		tree   tree
		want   string
	}{
		{
			name: "each subdirectory is a skill",
			tree: tree{"skills/b/SKILL.md": skillText("b"), "skills/a/skill.md": skillText("a"), "skills/file.txt": ""},
			want: "a skills/a/skill.md; b skills/b/SKILL.md",
		},
		{
			name: "SKILL.md precedes skill.md",
			tree: tree{"skills/a/SKILL.md": skillText("upper"), "skills/a/skill.md": skillText("lower")},
			want: "a skills/a/SKILL.md",
		},
		{
			name: "a subdirectory without a SKILL.md",
			tree: tree{"skills/a/notes.txt": "", "skills/b/SKILL.md/x": ""},
			want: `a skills/a/SKILL.md broken; b skills/b/SKILL.md broken
				SKILL_FILE_MISSING skills/a/SKILL.md; NOT_A_FILE skills/b/SKILL.md; SKILL_FILE_MISSING skills/b/SKILL.md`,
		},
		{
			name:   "a SKILL.md larger than the limit",
			config: Config{MaxFileSize: 3},
			tree:   tree{"skills/a/SKILL.md": "1234"},
			want:   "a skills/a/SKILL.md broken; FILE_TOO_LARGE skills/a/SKILL.md",
		},
		{
			name: "directories that hold no skills",
			tree: tree{"skills/.git/SKILL.md": "", "skills/.hidden/SKILL.md": "", "skills/node_modules/SKILL.md": "", "skills/ok/SKILL.md": ""},
			want: "ok skills/ok/SKILL.md",
		},
		{
			name: "a directory name that is no safe path element",
			tree: tree{"skills/a\nb/SKILL.md": "", "skills/c\nd.txt": "", "skills/ok/SKILL.md": ""},
			want: `ok skills/ok/SKILL.md; INVALID_SKILL_NAME skills/a\nb`,
		},
		{
			name:   "the first layer with a name",
			layers: []string{"one", "two"},
			tree:   tree{"one/a/SKILL.md": "", "two/a/SKILL.md": "", "two/b/SKILL.md": ""},
			want:   "a one/a/SKILL.md; b two/b/SKILL.md; SHADOWED two/a/SKILL.md",
		},
		{
			name: "links to directories and to a SKILL.md within the root",
			tree: tree{"skills/dir": "-> ../lib/dir", "lib/dir/SKILL.md": "", "skills/file/SKILL.md": "-> ../../lib/text.md", "lib/text.md": ""},
			want: "dir skills/dir/SKILL.md; file skills/file/SKILL.md",
		},
		{
			name: "links out of the root, to nothing, and to files",
			tree: tree{"skills/out": "-> ../../outside", "../outside/SKILL.md": "", "skills/none": "-> nothing", "skills/file": "-> ../text.md", "text.md": "",
				"skills/a/SKILL.md": "-> ../../../outside/SKILL.md"},
			want: `a skills/a/SKILL.md broken
				LINK_NOT_FOLLOWED skills/a/SKILL.md; LINK_NOT_FOLLOWED skills/none; LINK_NOT_FOLLOWED skills/out`,
		},
		{
			name: "links under the policy that follows no link",
			opts: []confine.Option{confine.DenySymlinks()},
			tree: tree{"skills/dir": "-> ../lib/dir", "lib/dir/SKILL.md": "", "skills/ok/SKILL.md": ""},
			want: "ok skills/ok/SKILL.md; LINK_NOT_FOLLOWED skills/dir",
		},
		{
			name:   "a layer that is a skill itself",
			layers: []string{"pdf"},
			tree:   tree{"pdf/SKILL.md": skillText("declared"), "pdf/scripts/run.sh": "", "pdf/notes.txt": ""},
			want:   "pdf pdf/SKILL.md",
		},
		{
			name:   "a layer that is a skill itself, in lower case",
			layers: []string{"pdf"},
			tree:   tree{"pdf/skill.md": skillText("pdf"), "pdf/SKILL.md/x": ""},
			want:   "pdf pdf/skill.md",
		},
		{
			name: "a SKILL.md beside skills",
			tree: tree{"skills/SKILL.md": skillText("router"), "skills/a/SKILL.md": skillText("a"), "skills/b/notes.txt": ""},
			want: `a skills/a/SKILL.md; b skills/b/SKILL.md broken
				SKILL_FILE_UNUSED skills/SKILL.md; SKILL_FILE_MISSING skills/b/SKILL.md`,
		},
		{
			name: "a layer's SKILL.md without a name and a description",
			tree: tree{"skills/SKILL.md": "# Skills\n", "skills/a/notes.txt": ""},
			want: `a skills/a/SKILL.md broken
				SKILL_DESCRIPTION_MISSING skills/SKILL.md; SKILL_FILE_MISSING skills/a/SKILL.md`,
		},
		{
			name:   "a layer's SKILL.md that cannot be loaded",
			config: Config{MaxFileSize: 3},
			tree:   tree{"skills/SKILL.md": "1234", "skills/a/notes.txt": ""},
			want: `a skills/a/SKILL.md broken
				FILE_TOO_LARGE skills/SKILL.md; SKILL_FILE_MISSING skills/a/SKILL.md`,
		},
		{
			name:   "directories of skills, without a search",
			config: Config{Depth: 1},
			tree:   tree{"skills/web/scraper/SKILL.md": skillText("scraper")},
			want:   "web skills/web/SKILL.md broken; SKILL_FILE_MISSING skills/web/SKILL.md",
		},
		{
			name:   "skills in directories without a SKILL.md",
			config: Config{Depth: 3},
			tree: tree{"skills/web/scraper/SKILL.md": skillText("scraper"), "skills/web/a/deep/SKILL.md": skillText("deep"),
				"skills/web/a/b/deeper/SKILL.md": skillText("deeper"), "skills/empty/notes.txt": "",
				"skills/web/.hidden/SKILL.md": "", "skills/web/node_modules/SKILL.md": ""},
			want: `deep skills/web/a/deep/SKILL.md; empty skills/empty/SKILL.md broken; scraper skills/web/scraper/SKILL.md
				SKILL_FILE_MISSING skills/empty/SKILL.md`,
		},
		{
			name:   "skills in the direct subdirectories of a skill",
			config: Config{Depth: 6},
			tree: tree{"skills/router/SKILL.md": skillText("router"), "skills/router/part/SKILL.md": skillText("part"), "skills/router/part/more/SKILL.md": skillText("more"),
				"skills/router/assets/template/SKILL.md": skillText("template"), "skills/router/scripts/run.sh": "", "skills/router/a\nb/x": ""},
			want: "more skills/router/part/more/SKILL.md; part skills/router/part/SKILL.md; router skills/router/SKILL.md",
		},
		{
			name:   "a skill precedes the skills of deeper directories",
			config: Config{Depth: 3},
			tree:   tree{"skills/z/SKILL.md": skillText("z"), "skills/a/z/SKILL.md": skillText("z"), "skills/a/b/z/SKILL.md": skillText("z")},
			want: `z skills/z/SKILL.md
				SHADOWED skills/a/b/z/SKILL.md; SHADOWED skills/a/z/SKILL.md`,
		},
		{
			name:   "a layer that is a skill itself, with a search",
			config: Config{Depth: 3},
			layers: []string{"pdf"},
			tree:   tree{"pdf/SKILL.md": skillText("pdf"), "pdf/scripts/run.sh": "", "pdf/more/deep/SKILL.md": skillText("deep")},
			want:   "deep pdf/more/deep/SKILL.md; pdf pdf/SKILL.md",
		},
		{
			name:   "an invalid directory name below the first level",
			config: Config{Depth: 2},
			tree:   tree{"skills/web/a\nb/SKILL.md": "", "skills/web/ok/SKILL.md": ""},
			want:   `ok skills/web/ok/SKILL.md; INVALID_SKILL_NAME skills/web/a\nb`,
		},
		{
			name:   "links that lead back",
			config: Config{Depth: 6},
			tree: tree{"skills/web/scraper/SKILL.md": skillText("scraper"), "skills/web/up": "-> ..", "skills/web/self": "-> .",
				"skills/zoo/top": "-> ../..", "other/x/SKILL.md": skillText("x")},
			want: `scraper skills/web/scraper/SKILL.md; zoo skills/zoo/SKILL.md broken
				LINK_NOT_FOLLOWED skills/web/self; LINK_NOT_FOLLOWED skills/web/up; SKILL_FILE_MISSING skills/zoo/SKILL.md; LINK_NOT_FOLLOWED skills/zoo/top`,
		},
		{
			name:   "two links to one directory of skills",
			config: Config{Depth: 3},
			tree:   tree{"skills/one": "-> ../lib", "skills/two": "-> ../lib", "lib/a/SKILL.md": skillText("a")},
			want: `a skills/one/a/SKILL.md; two skills/two/SKILL.md broken
				LINK_NOT_FOLLOWED skills/two; SKILL_FILE_MISSING skills/two/SKILL.md`,
		},
		{
			name:   "a link in a skill to another skill",
			config: Config{Depth: 3},
			tree:   tree{"skills/a/SKILL.md": skillText("a"), "skills/a/again": "-> ../b", "skills/b/SKILL.md": skillText("b"), "skills/b/part/SKILL.md": skillText("part")},
			want:   `a skills/a/SKILL.md; again skills/a/again/SKILL.md; b skills/b/SKILL.md; part skills/b/part/SKILL.md`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.layers == nil {
				tt.layers = []string{"skills"}
			}
			onEveryFilesystem(t, tt.tree, tt.opts, func(t *testing.T, fsys *confine.FS) {
				expect(t, skillsOf(t, tt.config, fsys, tt.layers...), tt.want)
			})
		})
	}
}

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
