package toolshelf_test

import (
	"errors"
	"testing"

	"github.com/toolshelf-go/toolshelf"
)

func TestNewRejectsInvalidOptions(t *testing.T) {
	for name, option := range map[string]toolshelf.Option{
		"no filesystem":                          toolshelf.WithFs(nil),
		"no FS":                                  toolshelf.WithCommandsFS("x", nil),
		"no name":                                toolshelf.WithSkillsFS("", sub(t, "skills")),
		"an empty directory name":                toolshelf.WithCommandsDir("a", ""),
		"no reads":                               toolshelf.WithMaxReads(0),
		"a size of 0":                            toolshelf.WithMaxFileSize(0),
		"trusted directories without the policy": toolshelf.WithSymlinks(toolshelf.SymlinksInside, "/srv"),
		"the policy without directories":         toolshelf.WithSymlinks(toolshelf.SymlinksTrusted),
		"a relative trusted directory":           toolshelf.WithSymlinks(toolshelf.SymlinksTrusted, "dotfiles"),
		"no such policy":                         toolshelf.WithSymlinks(7),
	} {
		if _, err := toolshelf.New(option); !errors.Is(err, toolshelf.ErrInvalidOption) {
			t.Errorf("%s: %v, want ErrInvalidOption", name, err)
		}
	}
}
