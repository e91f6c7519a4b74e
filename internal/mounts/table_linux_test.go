package mounts

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestLocalIn(t *testing.T) {
	const disk = "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n22 27 0:21 / /proc rw - proc proc rw\n"
	for name, tt := range map[string]struct {
		table string
		want  bool
	}{
		"a disk":                       {disk, true},
		"memory":                       {disk + "30 27 0:25 / /srv rw - tmpfs tmpfs rw\n", true},
		"a network elsewhere":          {disk + "30 27 0:25 / /srv/project2 rw - nfs4 server:/ rw\n", true},
		"a network at the directory":   {disk + "30 27 0:25 / /srv/my\\040project rw - nfs4 server:/ rw\n", false},
		"a network above":              {disk + "30 27 0:25 / /srv rw - nfs4 server:/ rw\n31 30 0:26 / /srv/my\\040project rw - tmpfs tmpfs rw\n", false},
		"a program below":              {disk + "30 27 0:25 / /srv/my\\040project/a/b rw master:1 propagate_from:2 - fuse.sshfs server: rw\n", false},
		"an automatic mount below":     {disk + "30 27 0:25 / /srv/my\\040project/a rw - autofs systemd-1 rw\n", false},
		"a network below a local disk": {disk + "30 27 0:25 / /srv rw - xfs /dev/vdb rw\n31 30 0:26 / /srv/my\\040project/x rw - cifs //server/x rw\n", false},
		"without a table":              {"", false},
		"a line of another format":     {disk + "30 27 0:25\n", false},
	} {
		must.Equal(t, name, tt.want, localIn(tt.table, "/srv/my project"))
	}
}

func TestLocal(t *testing.T) {
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	at := func(name string) *Tree {
		tree := New(filepath.Join(dir, name))
		t.Cleanup(tree.Close)
		return tree
	}
	top := at(".")
	if !top.Local() {
		t.Skip("the temporary directory is not on a local disk")
	}
	later := at("later")
	if later.Local() {
		t.Error("a missing directory is local")
	}
	for _, err := range []error{os.Mkdir(filepath.Join(dir, "later"), 0o755), os.Symlink("later", filepath.Join(dir, "link")), os.WriteFile(filepath.Join(dir, "file"), nil, 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{"later": true, "link": false, "link/x": false, "file": false} {
		must.Equal(t, name, want, at(name).Local())
	}
	if !later.Local() {
		t.Error("a directory that was created later is not local")
	}
	top.Close()
	top.Close()
	if top.Local() {
		t.Error("local after Close")
	}
}

// Mounts elsewhere, as of containers that start on the same machine, concern no directory.
func TestConcerning(t *testing.T) {
	const root, table = "27 1 254:0 / / rw - ext4 /dev/vda rw\n", "27 1 254:0 / / rw - ext4 /dev/vda rw\n22 27 0:21 / /proc rw - proc proc rw\n"
	for line, concerns := range map[string]bool{
		"30 27 0:25 / /srv/my\\040project rw - tmpfs tmpfs rw\n":       true,
		"30 27 0:25 / /srv/my\\040project/a/b rw - tmpfs tmpfs rw\n":   true,
		"30 27 0:25 / /srv rw - tmpfs tmpfs rw\n":                      true,
		"30 27 0:25 / /srv/my\\040project2 rw - tmpfs tmpfs rw\n":      false,
		"30 27 0:25 / /var/lib/containers/1 rw - overlay overlay rw\n": false,
		"another format\n": true,
	} {
		must.Equal(t, line, concerns, concerning(table+line, "/srv/my project") != root)
	}
}

func TestStopEndsAWatchOfMounts(t *testing.T) {
	stop := Watch(func() []string { return nil }, func() { t.Error("called for no directory") })
	stop()
}

// While changed runs, a filesystem can be mounted and unmounted again. A program can have seen
// the files in between.
func TestWatchReportsAMountThatIsGone(t *testing.T) {
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	mount := func() { // and unmount
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
			t.Skip("the test needs the permission to mount: " + err.Error())
		}
		must.Do(t, unix.Unmount(dir, unix.MNT_DETACH))
	}
	calls, goOn := make(chan bool, 100), make(chan bool)
	stop := Watch(func() []string { return []string{dir} }, func() { calls <- true; <-goOn })
	defer stop()
	call := func(of string) {
		t.Helper()
		select {
		case <-calls:
		case <-time.After(10 * time.Second):
			t.Error("no call of changed for " + of)
		}
	}
	mount()
	call("the first mount")
	mount()
	close(goOn)
	call("a mount during the call")
}
