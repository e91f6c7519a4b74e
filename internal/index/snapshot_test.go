package index

import (
	"slices"
	"testing"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// overlapping is two layers with the commands a (in both), b, c and d.
func overlapping(t *testing.T) (*Index, *Snapshot) {
	tr := tree{"one/a.md": "First.", "two/a.md": "Second.", "one/b.md": "---\nis_dependency: true\n---\n", "two/c.md": "", "two/d.md": "12345678901"}
	x := commandsOf(t, Config{MaxFileSize: 40}, confined(t)(confine.Over(tr.inMemory(t), "/")), "one", "two")
	return x, snapshotOf(t, x)
}

func TestLookup(t *testing.T) {
	x, s := overlapping(t)
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{[]string{"a"}, "one/a.md"},
		{[]string{"b"}, "one/b.md"},
		{[]string{"c"}, "two/c.md"},
		{[]string{"none", "c"}, "two/c.md"},
		{[]string{"c", "a"}, "two/c.md"},
		{[]string{"none"}, ""},
		{nil, ""},
	} {
		got := ""
		if e := s.Lookup(tt.names...); e != nil {
			got = x.Place(e)
		}
		if got != tt.want {
			t.Errorf("Lookup(%q) = %q, want %q", tt.names, got, tt.want)
		}
	}
}

func TestWhere(t *testing.T) {
	_, s := overlapping(t)
	shown := s.Where(func(e *Entry) bool { return e.Name != "c" && e.Name != "b" })
	must.Match(t, "entries", []string{"a", "d"}, entryNames(shown.Entries))
	if shown.Lookup("c") != nil || shown.Lookup("b") != nil || shown.Lookup("a") != s.Lookup("a") {
		t.Error("Lookup finds a rejected entry, or not an accepted entry")
	}
	if shown.Generation != s.Generation || len(shown.Problems()) != 1 || len(shown.Shadows(s.Lookup("a"))) != 1 || !shown.HasFile(File{Layer: 1, Path: "two/c.md"}) {
		t.Error("the copy lacks the generation, problems, shadowed entries or files of the snapshot")
	}
	must.Match(t, "entries of the snapshot after Where", []string{"a", "c", "d"}, entryNames(s.Entries))
}

func TestFilesRangesOverEveryEntry(t *testing.T) {
	_, s := overlapping(t)
	must.Match(t, "files", []string{"a", "b", "a", "c", "d"}, entryNames(slices.Collect(s.Files())))
	for e := range s.Files() {
		if e.Name == "c" {
			break
		}
	}
}

func TestShadowsAndHas(t *testing.T) {
	x, s := overlapping(t)
	shadowed := s.Shadows(s.Lookup("a"))
	if len(shadowed) != 1 || x.Place(shadowed[0]) != "two/a.md" || s.Shadows(shadowed[0]) != nil || s.Shadows(s.Lookup("c")) != nil {
		t.Errorf("a shadows %q", entryNames(shadowed))
	}
	if !s.HasFile(File{Layer: 0, Path: "one/b.md"}) || !s.HasFile(File{Layer: 1, Path: "two/a.md"}) || s.HasFile(File{Layer: 0, Path: "two/a.md"}) || s.HasFile(File{Layer: 1, Path: "two/none.md"}) {
		t.Error("Has does not report the files of each layer")
	}
}

func TestHasSkill(t *testing.T) {
	tr := tree{"skills/a/SKILL.md": "", "skills/b/skill.md": "", "skills/c/notes.txt": "", "skills/web/deep/SKILL.md": ""}
	x := skillsOf(t, Config{Depth: 2}, confined(t)(confine.Over(tr.inMemory(t), "/")), "skills")
	s := snapshotOf(t, x)
	for dirPath, want := range map[string]bool{"skills/a": true, "skills/b": true, "skills/c": false, "skills/none": false, "skills/web": false, "skills/web/deep": true, "skills": false, ".": false} {
		if got := s.HasSkill(0, dirPath); got != want {
			t.Errorf("HasSkill(%q) = %t", dirPath, got)
		}
	}
}

func TestPlaceAndBelow(t *testing.T) {
	fsys := confined(t)(confine.Over(tree{"a.md": "", "x/y/b.md": "", "z/c d\n.md": ""}.inMemory(t), "/"))
	x := commandsOf(t, Config{Valid: func(string) bool { return true }, Layers: []Layer{
		{Name: "top", FS: fsys, Dir: "."}, {Name: "deep", FS: fsys, Dir: "x/y"}, {Name: "~/z", FS: fsys, Dir: "z"},
	}}, nil)
	s := snapshotOf(t, x)
	for name, want := range map[string][2]string{"a": {"top/a.md", "a.md"}, "b": {"deep/b.md", "b.md"}, "c d\n": {`~/z/c d\n.md`, "c d\n.md"}} {
		e := s.Lookup(name)
		if got := [2]string{x.Place(e), x.Below(e)}; got != want {
			t.Errorf("%q: Place and Below are %q, want %q", name, got, want)
		}
	}
	if x.Layer(1).Name != "deep" || len(x.Layers()) != 3 {
		t.Errorf("layers: %v", x.Layers())
	}
}
