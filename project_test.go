package toolshelf_test

import (
	"embed"
	"flag"
	"io/fs"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/spf13/afero"
	"go.uber.org/goleak"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

//go:embed all:testdata/project
var embedded embed.FS

func TestMain(m *testing.M) {
	// A flag of the command line takes precedence. Parallel tests wait for reports of the system
	// most of the time.
	for name, value := range map[string]int{"rapid.checks": catalogtest.Rounds(40, 1000), "test.parallel": 8} {
		if err := flag.Set(name, strconv.Itoa(value)); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

const patience = catalogtest.Patience

var (
	catalog    = catalogtest.Open
	memoryOf   = catalogtest.Memory
	diskOf     = catalogtest.Disk
	names      = catalogtest.Names
	eventually = catalogtest.Eventually
	write      = catalogtest.Write
	corpus     = catalogtest.Corpus
	written    = catalogtest.Written

	needsChangeTimes = catalogtest.NeedsChangeTimes
)

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

func sub(t *testing.T, dir string) fs.FS {
	t.Helper()
	fsys := must.Get(fs.Sub(embedded, "testdata/project/"+dir))(t)
	return fsys
}

// memory is testdata/project in memory, below root.
func memory(t *testing.T, root string) afero.Fs {
	t.Helper()
	project := must.Get(fs.Sub(embedded, "testdata/project"))(t)
	files := map[string]string{}
	must.Do(t, fs.WalkDir(project, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(project, path)
		files[filepath.Join(root, path)] = string(data)
		return err
	}))
	return memoryOf(t, files)
}

// problems returns "CODE path" for each diagnostic that concerns files.
func problems(t testing.TB, c *toolshelf.Catalog, opts ...toolshelf.LintOption) []string {
	t.Helper()
	diagnostics := must.Get(c.Lint(t.Context(), opts...))(t)
	var all []string
	for _, d := range diagnostics {
		all = append(all, string(d.Code)+" "+d.Path)
	}
	return all
}
