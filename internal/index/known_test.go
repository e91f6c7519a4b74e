package index

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// TestKnown asks for entries that a file created meanwhile cannot replace.
func TestKnown(t *testing.T) {
	tr := tree{"one/a.md": "", "one/upper.MD": "", "one/large.md": "12345678901", "one/x.md.md": "", "two/b.md": "", "one/dep.md": "---\nis_dependency: 1\n---\n"}
	x := commandsOf(t, Config{MaxFileSize: 32, Valid: names.Loose}, confined(t)(confine.Over(tr.inMemory(t), "/")), "one", "two")
	before := x.Last()
	s := snapshotOf(t, x)
	if x.Known(before, "a") != nil {
		t.Error("an entry of a later snapshot than the given snapshot")
	}
	for _, tt := range []struct {
		name  string
		names []string
		known bool
	}{
		{"a command of the first layer", []string{"a"}, true},
		{"a dependency", []string{"dep"}, true},
		{"a name with a suffix that no command can have instead", []string{"a/", "a"}, true},
		{"a name that another command could have", []string{"a.md", "a"}, false},
		{"both names, the first of a command", []string{"x.md", "x"}, true},
		{"a command of another layer", []string{"b"}, false},
		{"a file that ends in .MD", []string{"upper"}, false},
		{"a name without a command", []string{"none"}, false},
	} {
		e := x.Known(s, tt.names...)
		if (e != nil) != tt.known || e != nil && e != s.Lookup(tt.names...) {
			t.Errorf("%s: Known(%q) = %v", tt.name, tt.names, e)
		}
	}
}

func TestABrokenCommandIsNotKnown(t *testing.T) {
	tr := tree{"commands/large.md": "1234"}
	x := commandsOf(t, Config{MaxFileSize: 3}, confined(t)(confine.Over(tr.inMemory(t), "/")), "commands")
	if s := snapshotOf(t, x); s.Lookup("large") == nil || x.Known(s, "large") != nil {
		t.Errorf("Known = %v", x.Known(s, "large"))
	}
}

// TestKnownSkill asks for skills that no other file can replace. Their SKILL.md
// is unchanged.
func TestKnownSkill(t *testing.T) {
	files := tree{"one/a/SKILL.md": "", "one/b/skill.md": "", "one/c/x": "", "one/web/deep/SKILL.md": "", "two/d/SKILL.md": "", "one/changed/SKILL.md": "", "one/gone/SKILL.md": ""}
	fsys := files.inMemory(t)
	x := skillsOf(t, Config{Depth: 2, Valid: names.Loose}, confined(t)(confine.Over(fsys, "/")), "one", "two")
	s := snapshotOf(t, x)
	if err := write(fsys, "one/changed/SKILL.md", "1"); err != nil {
		t.Fatal(err)
	}
	if err := fsys.Remove("/one/gone/SKILL.md"); err != nil {
		t.Fatal(err)
	}
	for name, known := range map[string]bool{"a": true, "b": false, "c": false, "deep": false, "d": false, "changed": false, "gone": false, "none": false} {
		if e := x.KnownSkill(s, name); (e != nil) != known || e != nil && e != s.Lookup(name) {
			t.Errorf("KnownSkill(%q) = %v", name, e)
		}
	}
	linked := tree{"skills/a/SKILL.md": "-> ../../text.md", "text.md": "12"}.onDisk(t)
	x = skillsOf(t, Config{}, confined(t)(confine.New(linked)), "skills")
	s = snapshotOf(t, x)
	if e := x.KnownSkill(s, "a"); e == nil || !e.Linked {
		t.Errorf("a linked SKILL.md: %v", e)
	}
	if err := os.WriteFile(filepath.Join(linked, "text.md"), []byte("123"), 0o644); err != nil {
		t.Fatal(err)
	}
	if e := x.KnownSkill(s, "a"); e != nil {
		t.Errorf("a SKILL.md whose target has changed: %v", e)
	}
	top := skillsOf(t, Config{}, confined(t)(confine.New(tree{"SKILL.md": skillText("x")}.onDisk(t))), ".")
	s = snapshotOf(t, top)
	if e := top.KnownSkill(s, s.Entries[0].Name); e != nil {
		t.Errorf("a layer that is a skill itself: %v", e)
	}
}

// StatCached needs the open directory of a layer on a local disk of Linux.
func TestStatCached(t *testing.T) {
	root := tree{"real/a.md": "1", "real/link.md": "-> a.md", "real/sub/b.md": "", "linked": "-> real"}.onDisk(t)
	fsys := confined(t)(confine.New(root))
	dir, err := fsys.OpenDir("real")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if !dir.Current() {
		t.Skip("the temporary directory is not on a local disk of Linux")
	}
	x := commandsOf(t, Config{Nested: true}, fsys, "real")
	cached := func(name string, want bool) (info confine.Info) {
		t.Helper()
		info, ok := x.StatCached(x.Last().Lookup(name))
		if ok != want {
			t.Errorf("%s: %t, want %t", name, ok, want)
		}
		return info
	}
	for range 2 { // the second scan replaces the open directory
		s := snapshotOf(t, x)
		if info := cached("a", true); StampOf(info) != s.Lookup("a").Stamp {
			t.Errorf("%+v, want %+v", info, s.Lookup("a").Stamp)
		}
		cached("link", false)
		cached("sub:b", false)
	}
	file := filepath.Join(root, "real", "a.md")
	if err := os.WriteFile(file, []byte("12"), 0o644); err != nil {
		t.Fatal(err)
	}
	if info := cached("a", true); info.Size != 2 {
		t.Errorf("%d bytes after a change", info.Size)
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(root, from), filepath.Join(root, to)); err != nil {
			t.Fatal(err)
		}
	}
	move("real", "moved")
	cached("a", false)
	move("moved", "real")
	cached("a", true)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	cached("a", false)

	for name, layer := range map[string]Layer{
		"a layer behind a link":   {Name: "linked", FS: confined(t)(confine.New(tree{"linked": "-> real", "real/a.md": ""}.onDisk(t))), Dir: "linked"},
		"a layer of another kind": {Name: "memory", FS: confined(t)(confine.Over(tree{"x/a.md": ""}.inMemory(t), "/")), Dir: "x"},
	} {
		x := commandsOf(t, Config{Layers: []Layer{layer}}, nil)
		if _, ok := x.StatCached(snapshotOf(t, x).Lookup("a")); ok {
			t.Errorf("%s has an open directory", name)
		}
	}
}

func TestStatCachedAfterClose(t *testing.T) {
	fsys := confined(t)(confine.New(tree{"commands/a.md": ""}.onDisk(t)))
	x := unclosed(t, Config{}, fsys)
	e := snapshotOf(t, x).Lookup("a")
	x.Close()
	if _, ok := x.StatCached(e); ok {
		t.Error("the closed index describes a file")
	}
}
