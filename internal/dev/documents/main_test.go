package documents

import (
	"os"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"github.com/toolshelf-go/toolshelf"
)

func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// diskOf returns a directory on the disk with the files.
func diskOf(t *testing.T, files map[string]string) string {
	t.Helper()
	fsys := fstest.MapFS{}
	for path, content := range files {
		fsys[path] = &fstest.MapFile{Data: []byte(content)}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, fsys); err != nil {
		t.Fatal(err)
	}
	return dir
}

// catalogOf returns a catalog of the files. The end of the test closes the catalog.
func catalogOf(t *testing.T, files map[string]string) *toolshelf.Catalog {
	t.Helper()
	c, err := toolshelf.New(toolshelf.WithRoot(diskOf(t, files)))
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
