package bench

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/frontmatter"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// The tests of this file show the claims of docs/comparison.md on a program without a library. The
// tests on ADK and Eino are in examples/agents, and the tests on the filesystem server in
// mcpadapter/gosdk/testdata/clients.

// ownLoop returns the descriptions of the commands in a directory like a program without a library.
// ownLoop omits files that the YAML library rejects.
func ownLoop(t *testing.T, fsys fs.FS) map[string]string {
	t.Helper()
	got := map[string]string{}
	must.Do(t, fs.WalkDir(fsys, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return err
		}
		var header struct{ Description string }
		if _, err := frontmatter.Parse(strings.NewReader(string(data)), &header); err == nil {
			got[strings.TrimSuffix(path.Base(file), ".md")] = header.Description
		}
		return nil
	}))
	return got
}

// TestOwnLoopLosesCommands generates 1,000 commands with the headers of public files, and counts
// the commands that the loop omits because their header is not valid YAML, and the commands that
// the loop lists without a description.
func TestOwnLoopLosesCommands(t *testing.T) {
	const n = 1000
	writer := NewPublicWriter(1)
	files := map[string]string{}
	for i, class := range ClassSequence(PublicCommandHeaders, n, rand.New(rand.NewPCG(5, 6))) {
		name := fmt.Sprintf("command-%04d", i)
		files["commands/"+name+".md"] = writer.File(class, name, 100)
	}
	project := catalogtest.Memory(t, files)
	c := catalogtest.Open(t, toolshelf.WithFs(project))
	for _, test := range []struct {
		name              string
		got               map[string]string
		lost, undescribed int
	}{
		{"the loop", ownLoop(t, afero.NewIOFS(afero.NewBasePathFs(project, "commands"))), 71, 140},
		{"the library", commandDescriptions(t, c), 0, 0},
	} {
		undescribed := 0
		for _, description := range test.got {
			if description == "" {
				undescribed++
			}
		}
		must.Equal(t, test.name, test.lost, n-len(test.got))
		must.Equal(t, test.name, test.undescribed, undescribed)
	}
}

// commandDescriptions returns the descriptions of List by name.
func commandDescriptions(t *testing.T, c *toolshelf.Catalog) map[string]string {
	t.Helper()
	got := map[string]string{}
	for command, err := range c.All(t.Context()) {
		must.Do(t, err)
		got[command.Name] = command.Description
	}
	return got
}

func TestOwnLoopReadsLinksOutOfTheDirectory(t *testing.T) {
	outside := catalogtest.Disk(t, map[string]string{"secret.md": "---\ndescription: secret\n---\n"})
	root := catalogtest.Disk(t, map[string]string{"commands/a.md": "---\ndescription: fine\n---\n"})
	hosttest.Symlink(t, filepath.Join(outside, "secret.md"), filepath.Join(root, "commands", "b.md"))
	want := map[string]string{"a": "fine", "b": "secret"}
	must.Match(t, "the loop", want, ownLoop(t, os.DirFS(filepath.Join(root, "commands"))))
	must.Match(t, "the library", map[string]string{"a": "fine"}, commandDescriptions(t, catalogtest.Open(t, toolshelf.WithRoot(root))))
}
