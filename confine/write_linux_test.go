package confine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// NFS has hard links, but every rename replaces. The test simulates NFS.
func TestALinkReplacesNothing(t *testing.T) {
	root := t.TempDir()
	write(t, root, tree{"a": "new", "b": "new", "taken": "old"})
	if err := os.Link(filepath.Join(root, "a"), filepath.Join(root, "second")); err != nil {
		t.Skip("the filesystem has no hard links:", err)
	}
	must.Do(t, os.Remove(filepath.Join(root, "second")))
	f := osFS(root, options{})
	d := must.Get(f.OpenDir("."))(t)
	defer d.Close()
	handle := d.handle.(*fdDir)
	if err := handle.linkNew("a", "taken"); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	must.Do(t, handle.linkNew("b", "free"))
	expect(t, f, "list . = [a free taken]", "open taken = old", "open free = new")
}
