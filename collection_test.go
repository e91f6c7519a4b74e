package toolshelf_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf"
)

// A file that exists and cannot be read has another code than a file that does not
// exist, also if the cause of both is fs.ErrNotExist.
func TestABrokenLinkIsAFileThatCannotBeRead(t *testing.T) {
	root := diskOf(t, map[string]string{
		"commands/good.md": "Good.", "skills/good/SKILL.md": skillFile("good"), "skills/broken/notes.txt": "notes", "skills/empty/notes.txt": "notes",
	})
	err := errors.Join(
		os.Symlink("nothing.md", filepath.Join(root, "commands", "broken.md")),
		os.Symlink("nothing.md", filepath.Join(root, "skills", "broken", "SKILL.md")),
	)
	if err != nil {
		t.Skipf("symbolic links are not available: %v", err)
	}
	for name, options := range map[string][]toolshelf.Option{
		"without a snapshot": nil,
		"cached":             {toolshelf.WithCacheTTL(time.Hour)},
		"filtered": {
			toolshelf.WithCommandFilter(func(toolshelf.CommandInfo) bool { return true }),
			toolshelf.WithSkillFilter(func(toolshelf.SkillInfo) bool { return true }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := catalog(t, append(options, toolshelf.WithRoot(root))...)
			for range 2 {
				for method, get := range map[string]func(name string) error{
					"Get":           func(name string) error { _, err := c.Get(t.Context(), name); return err },
					"GetSkill":      func(name string) error { _, err := c.GetSkill(t.Context(), name); return err },
					"ReadSkillFile": func(name string) error { _, err := c.ReadSkillFile(t.Context(), name, "SKILL.md"); return err },
				} {
					if err := get("good"); err != nil {
						t.Errorf("%s: %v", method, err)
					}
					if err := get("broken"); !errors.Is(err, toolshelf.ErrFileRead) || !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), root) {
						t.Errorf("%s: %v, want ErrFileRead with the cause fs.ErrNotExist", method, err)
					}
					if err := get("empty"); !errors.Is(err, toolshelf.ErrSkillNotFound) && !errors.Is(err, toolshelf.ErrCommandNotFound) {
						t.Errorf("%s: %v, want a name that is not found", method, err)
					}
				}
			}
		})
	}
}
