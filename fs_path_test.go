package toolshelf_test

import (
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
)

func TestRelativePath(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	embedded := fstest.MapFS{"c.md": {Data: []byte("C.\n")}}
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandsDir(filepath.Join(root, "commands"), outside), toolshelf.WithCommandsFS("built in", embedded),
		toolshelf.WithSkillsDir("."), toolshelf.WithReports("reports", outside))
	for _, tt := range []struct{ layer, full, want string }{
		{filepath.Join(root, "commands"), filepath.Join(root, "commands", "x", "a.md"), "commands/x/a.md"},
		{outside, filepath.Join(outside, "a.md"), filepath.ToSlash(outside) + "/a.md"},
		{"built in", "c.md", "built in/c.md"},
		{".", filepath.Join(root, "pdf", "SKILL.md"), "pdf/SKILL.md"},
		{"", filepath.Join(root, "reports", "a", "a_v1.md"), "reports/a/a_v1.md"},
		{"", filepath.Join(outside, "a", "a_v1_local.md"), filepath.ToSlash(outside) + "/a/a_v1_local.md"},
		{"unknown", filepath.Join(root, "commands", "a.md"), filepath.Join(root, "commands", "a.md")},
		{outside, filepath.Join(root, "commands", "a.md"), filepath.Join(root, "commands", "a.md")},
		{"", filepath.Join(root, "commands", "a.md"), filepath.Join(root, "commands", "a.md")},
		{outside, "", ""},
		{"built in", "", ""},
	} {
		if got := c.RelativePath(tt.layer, tt.full); got != tt.want {
			t.Errorf("RelativePath(%q, %q) is %q, want %q", tt.layer, tt.full, got, tt.want)
		}
	}
	if c.Root() != root {
		t.Errorf("the root is %q, want %q", c.Root(), root)
	}
	if none := catalog(t, toolshelf.WithRoot(root)); none.RelativePath("", filepath.Join(root, "a.md")) != filepath.Join(root, "a.md") {
		t.Error("without reports, a path changes")
	}
}
