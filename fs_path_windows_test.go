package toolshelf_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

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

func TestDrivesOnAFilesystemOfTheProgram(t *testing.T) {
	root := diskOf(t, map[string]string{"x": "text"})
	c := catalog(t, toolshelf.WithFs(afero.NewReadOnlyFs(afero.NewOsFs())), toolshelf.WithRoot(root))
	for _, path := range []string{`x`, root + `\x`, filepath.ToSlash(root) + `/x`} {
		if info, err := c.Stat(t.Context(), path); err != nil || info.Path != "x" {
			t.Errorf("%s: %q, %v; want x", path, info.Path, err)
		}
	}
	if _, err := c.Stat(t.Context(), root+`\..\x`); !errors.Is(err, toolshelf.ErrOutsideRoot) {
		t.Errorf("above the root: %v, want OUTSIDE_ROOT", err)
	}
}

// The path of a layer without a drive begins at the top of the drive of the working directory.
func TestALayerWithoutADrive(t *testing.T) {
	outside, root := diskOf(t, map[string]string{"a.md": ""}), t.TempDir()
	t.Chdir(outside)
	rooted := outside[len(filepath.VolumeName(outside)):]
	for _, dir := range []string{outside, rooted, filepath.ToSlash(rooted)} {
		if got := names(t, catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandsDir(dir))); len(got) != 1 || got[0] != "a" {
			t.Errorf("%s: got %q, want a", dir, got)
		}
	}
}

func TestTrustedDirectoriesWithoutADrive(t *testing.T) {
	for name, options := range map[string][]toolshelf.Option{
		"the operating system's filesystem": nil,
		"as a value":                        {toolshelf.WithFs(afero.OsFs{})},
		"a filesystem of the program":       {toolshelf.WithFs(afero.NewMemMapFs())},
	} {
		catalog(t, append(options, toolshelf.WithSymlinks(toolshelf.SymlinksTrusted, "/shared"))...)
		if _, err := toolshelf.New(append(options, toolshelf.WithSymlinks(toolshelf.SymlinksTrusted, "shared"))...); !errors.Is(err, toolshelf.ErrInvalidOption) {
			t.Errorf("%s, a relative directory: %v, want INVALID_OPTION", name, err)
		}
	}
}
