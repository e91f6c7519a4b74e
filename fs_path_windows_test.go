package toolshelf_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
)

func TestBackslashesOnAMemoryFilesystem(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"/w/x": "text", "/v/x": "text"})), toolshelf.WithRoot(`\w`))
	for _, path := range []string{`x`, `.\x`, `y\..\x`, `/w/x`, `\w\x`, `\\w\\x`, `\w\..\w\x`} {
		if info, err := c.Stat(t.Context(), path); err != nil || info.Path != "x" {
			t.Errorf("%s: %q, %v; want x", path, info.Path, err)
		}
	}
	for _, path := range []string{`..\v\x`, `/v/x`, `\v\x`, `\\v\x`, `\w\..\v\x`} {
		if _, err := c.Stat(t.Context(), path); !errors.Is(err, toolshelf.ErrOutsideRoot) {
			t.Errorf("%s: %v, want OUTSIDE_ROOT", path, err)
		}
	}
}

func TestBackslashesOnTheOperatingSystem(t *testing.T) {
	root := diskOf(t, map[string]string{"x": "text"})
	c := catalog(t, toolshelf.WithRoot(root))
	inside := []string{`x`, `.\x`, `y\..\x`, root + `\x`, filepath.ToSlash(root) + `/x`}
	volume := filepath.VolumeName(root)
	if dir, err := os.Getwd(); err == nil && strings.EqualFold(filepath.VolumeName(dir), volume) {
		inside = append(inside, root[len(volume):]+`\x`)
	}
	for _, path := range inside {
		if info, err := c.Stat(t.Context(), path); err != nil || info.Path != "x" {
			t.Errorf("%s: %q, %v; want x", path, info.Path, err)
		}
	}
	for _, path := range []string{`..\x`, `\x`, `\\w\\x`, `\\w\share\x`, `\\?\` + root + `\..\x`, `Q:x`, `Q:\x`} {
		if _, err := c.Stat(t.Context(), path); !errors.Is(err, toolshelf.ErrOutsideRoot) {
			t.Errorf("%s: %v, want OUTSIDE_ROOT", path, err)
		}
	}
}
