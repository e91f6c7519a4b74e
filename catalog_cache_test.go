package toolshelf_test

import (
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

func TestCachesDropRemovedFiles(t *testing.T) {
	files := map[string]string{
		"commands/kept.md": "k", "skills/kept/SKILL.md": skillFile("kept"), "skills/kept/a/b.txt": "b",
		"commands/removed.md": "r", "skills/removed/SKILL.md": skillFile("removed"), "skills/removed/a/b.txt": "b",
	}
	fsys := dated{memoryOf(t, files)}
	c := catalog(t, toolshelf.WithFs(fsys))
	for name := range skillsOf(t, c) {
		if _, err := c.GetSkill(t.Context(), name, toolshelf.Digests()); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names(t, c) {
		if _, err := c.Get(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if n := toolshelf.CachedFiles(c); n != 8 {
		t.Errorf("%d files are cached; want 2 commands, 2 SKILL.md and 4 digests", n)
	}
	for _, name := range []string{"commands/removed.md", "skills/removed/SKILL.md", "skills/removed/a/b.txt"} {
		if err := fsys.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	names(t, c)
	skillsOf(t, c)
	if n := toolshelf.CachedFiles(c); n != 4 {
		t.Errorf("%d files are cached; want 1 command, 1 SKILL.md and 2 digests", n)
	}
	if err := afero.WriteFile(fsys, "commands/kept.md", []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), "kept"); err != nil || got.Content != "changed" {
		t.Errorf("got %q, %v", got.Content, err)
	}
}
