package filetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// commandNames returns the names of the commands of a catalog.
func commandNames(t *testing.T, c *toolshelf.Catalog) (names []string) {
	t.Helper()
	for _, command := range must.Get(c.List(t.Context(), toolshelf.Page{}))(t).Commands {
		names = append(names, command.Name)
	}
	return names
}

func TestBackslashesOnAMemoryFilesystem(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"/w/x": "text", "/v/x": "text"})), toolshelf.WithRoot(`\w`))
	for _, path := range []string{`x`, `.\x`, `y\..\x`, `/w/x`, `\w\x`, `\\w\\x`, `\w\..\w\x`} {
		if info, err := c.Stat(t.Context(), path); err != nil || info.Path != "x" {
			t.Errorf("%s: %q, %v; want x", path, info.Path, err)
		}
	}
	for _, path := range []string{`..\v\x`, `/v/x`, `\v\x`, `\\v\x`, `\w\..\v\x`} {
		must.Fail(c.Stat(t.Context(), path))(t, path, toolshelf.ErrOutsideRoot)
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
		must.Fail(c.Stat(t.Context(), path))(t, path, toolshelf.ErrOutsideRoot)
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
	must.Fail(c.Stat(t.Context(), root+`\..\x`))(t, "above the root", toolshelf.ErrOutsideRoot)
}

// The path of a layer without a drive begins at the top of the drive of the working directory.
func TestALayerWithoutADrive(t *testing.T) {
	outside, root := diskOf(t, map[string]string{"a.md": ""}), t.TempDir()
	t.Chdir(outside)
	rooted := outside[len(filepath.VolumeName(outside)):]
	for _, dir := range []string{outside, rooted, filepath.ToSlash(rooted)} {
		if got := commandNames(t, catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandsDir(dir))); len(got) != 1 || got[0] != "a" {
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

// Other programs make such files with the prefix "\\?\".
func TestEntriesWithHostileNamesAffectNoOtherEntry(t *testing.T) {
	root := catalogtest.HostileFiles(t)
	for _, name := range []string{`nul`, `dot.`, `commands\nul.md`, `commands\dot.`, `skills\s\nul`, `skills\s\dot.`, `skills\con\SKILL.md`} {
		dir, base := filepath.Split(name)
		full := `\\?\` + filepath.Join(root, dir) + `\` + base
		if os.MkdirAll(filepath.Dir(full), 0o755) != nil || os.WriteFile(full, []byte("unread"), 0o644) != nil {
			t.Skip("the system makes no such file")
		}
	}
	c := catalog(t, toolshelf.WithRoot(root))
	list, err := c.ListDir(t.Context(), ".")
	if want := "Warning: 2 entries without metadata, because access is denied or Windows does not open the names"; err != nil || !strings.Contains(fmt.Sprint(list), want) {
		t.Errorf("%v, %v; want %s", list, err, want)
	}
	if found, err := c.Grep(t.Context(), ".", "inside|unread"); err != nil || strings.Contains(fmt.Sprint(found), "unread") || found.Files < 6 {
		t.Errorf("%v, %v", found, err)
	}
	if got := commandNames(t, c); len(got) != 1 || got[0] != "file" {
		t.Errorf("commands: %q", got)
	}
	if skill, err := c.GetSkill(t.Context(), "s"); err != nil || len(skill.Files) != 3 {
		t.Errorf("files of the skill: %v, %v", skill.Files, err)
	}
	diagnostics := must.Get(c.Lint(t.Context()))(t)
	reported := map[string]bool{}
	for _, d := range diagnostics {
		if strings.Contains(fmt.Sprint(d), "rename the file") {
			reported[d.Path] = true
		}
	}
	for _, path := range []string{"commands/nul.md", "skills/con/SKILL.md", "skills/s/nul", "skills/s/dot."} {
		if !reported[path] {
			t.Errorf("Lint suggests no new name for %s: %v", path, diagnostics)
		}
	}
}
