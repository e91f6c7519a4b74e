package confine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestCurrent(t *testing.T) {
	// tempDir is on a local filesystem.
	home := tempDir(t)
	write(t, home, tree{"proj/a/b/x": "x", "proj/link": "-> a", "other/b/": ""})
	root := filepath.Join(home, "proj")
	f := osFS(root, options{})
	open := func(name string) *Dir {
		t.Helper()
		dir := must.Get(f.OpenDir(name))(t)
		t.Cleanup(func() { dir.Close() })
		return dir
	}
	top, a, b, linked := open("."), open("a"), open("a/b"), open("link")
	if !a.Current() {
		t.Skip("the temporary directory is on no local disk")
	}
	check := func(when string, d *Dir, want bool) {
		t.Helper()
		if got := d.Current(); got != want {
			t.Errorf("%s: %s is current: %v", when, d.name, got)
		}
	}
	for _, d := range []*Dir{top, a, b, linked} {
		check("unchanged", d, true)
	}

	must.Do(t, os.Rename(filepath.Join(root, "a"), filepath.Join(root, "moved")))
	check("its parent has moved", b, false)
	hosttest.Symlink(t, "moved", filepath.Join(root, "a"))
	check("its parent is a link to the same directory", b, false)
	check("it is a link to the same directory", a, false)
	must.Do(t, os.Remove(filepath.Join(root, "a")))
	must.Do(t, os.Rename(filepath.Join(home, "other"), filepath.Join(root, "a")))
	check("another directory has the path", b, false)
	check("another directory has the path", a, false)
	check("a directory below has changed", top, true)

	must.Do(t, os.Rename(root, root+"2"))
	check("the root has moved", top, false)
	hosttest.Symlink(t, root+"2", root)
	check("the root is a link, which belongs to the host program", top, true)

	must.Do(t, top.Close())
	check("closed", top, false)
	mem := over(afero.NewMemMapFs(), "", options{})
	dir := must.Get(mem.OpenDir("."))(t)
	check("in memory", dir, false)

	slash := must.Get(osFS("/", options{}).OpenDir("."))(t)
	defer slash.Close()
	slash.location.Store(nil)
	if isLocal(slash.handle.(*fdDir).fd) {
		check("the top of the disk", slash, true)
	}
}
