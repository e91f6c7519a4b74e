//go:build unix

package confine_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/confine"
)

// Within confines the files of each author to their own directory.
func ExampleFS_Within() {
	dir := project()
	defer os.RemoveAll(filepath.Dir(dir))
	if err := os.Mkdir(filepath.Join(dir, "plugin"), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "docs", "a.md"), filepath.Join(dir, "plugin", "a.md")); err != nil {
		log.Fatal(err)
	}

	fsys, err := confine.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	plugin := fsys.Within("plugin")
	for _, view := range []*confine.FS{fsys, plugin} {
		text, err := afero.ReadFile(view, "plugin/a.md")
		fmt.Printf("%q %v\n", text, err)
	}
	_, err = plugin.Info("docs/a.md")
	fmt.Println(err)
	// Output:
	// "# A\n" <nil>
	// "" open plugin/a.md: path leads outside the root
	// stat docs/a.md: path leads outside the root
}
