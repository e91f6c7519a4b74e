package toolshelf_test

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

//go:embed all:testdata/project
var embedded embed.FS

// written is the modification time of the files of a memory filesystem.
var written = time.Date(2025, 11, 20, 10, 30, 0, 0, time.UTC)

// onEveryFilesystem runs a test over testdata/project on each kind of filesystem. The test
// receives a function that makes a catalog with the layers commands and skills.
func onEveryFilesystem(t *testing.T, test func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog)) {
	for _, kind := range []struct {
		name    string
		options func(t *testing.T) []toolshelf.Option
	}{
		{"memory, relative", func(t *testing.T) []toolshelf.Option {
			return []toolshelf.Option{toolshelf.WithFs(memory(t, "."))}
		}},
		{"memory, absolute", func(t *testing.T) []toolshelf.Option {
			return []toolshelf.Option{toolshelf.WithFs(memory(t, "/srv/project")), toolshelf.WithRoot("/srv/project")}
		}},
		{"memory, absolute layers", func(t *testing.T) []toolshelf.Option {
			return []toolshelf.Option{toolshelf.WithFs(memory(t, "/srv/project")),
				toolshelf.WithCommandsDir("/srv/project/commands"), toolshelf.WithSkillsDir("/srv/project/skills")}
		}},
		{"embedded", func(t *testing.T) []toolshelf.Option {
			return []toolshelf.Option{toolshelf.WithCommandsFS("built in", sub(t, "commands")), toolshelf.WithSkillsFS("built in", sub(t, "skills"))}
		}},
		{"disk", func(t *testing.T) []toolshelf.Option {
			return []toolshelf.Option{toolshelf.WithRoot(filepath.Join("testdata", "project"))}
		}},
		{"disk, as a given OsFs", func(t *testing.T) []toolshelf.Option {
			return []toolshelf.Option{toolshelf.WithFs(afero.NewOsFs()), toolshelf.WithRoot(filepath.Join("testdata", "project"))}
		}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			test(t, func(more ...toolshelf.Option) *toolshelf.Catalog {
				t.Helper()
				return catalog(t, append(kind.options(t), more...)...)
			})
		})
	}
}

// catalog is New for tests. The end of the test closes the catalog.
func catalog(t testing.TB, opts ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	c, err := toolshelf.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func sub(t *testing.T, dir string) fs.FS {
	t.Helper()
	fsys, err := fs.Sub(embedded, "testdata/project/"+dir)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

// memory is testdata/project in memory, below root.
func memory(t *testing.T, root string) afero.Fs {
	t.Helper()
	project, err := fs.Sub(embedded, "testdata/project")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	err = fs.WalkDir(project, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(project, path)
		files[filepath.Join(root, path)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return memoryOf(t, files)
}

// memoryOf returns a filesystem in memory with the files.
func memoryOf(t testing.TB, files map[string]string) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for path, content := range files {
		if err := afero.WriteFile(fsys, path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := fsys.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}

// diskOf returns a directory on the disk with the files.
func diskOf(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// names returns the names of all pages of List.
func names(t testing.TB, c *toolshelf.Catalog) []string {
	t.Helper()
	var all []string
	for info, err := range c.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, info.Name)
	}
	return all
}

// problems returns "CODE path" for each diagnostic that concerns files.
func problems(t testing.TB, c *toolshelf.Catalog) []string {
	t.Helper()
	diagnostics, err := c.Lint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, d := range diagnostics {
		all = append(all, string(d.Code)+" "+d.Path)
	}
	return all
}

// patience limits the wait for an event that should take milliseconds.
const patience = 20 * time.Second

// eventually waits until check reports "" and fails with its last report.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		report := check()
		if report == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(report)
		}
	}
}

func write(t testing.TB, text string, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}
