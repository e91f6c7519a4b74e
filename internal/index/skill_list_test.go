package index

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/confine"
)

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
	if files, err := d.List(t.Context(), "."); err != nil || len(files) != 2 {
		t.Errorf("a vanished file: %v, %v", files, err)
	}
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
