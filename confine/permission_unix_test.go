//go:build unix

package confine

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// TestPermissions runs itself as another user if the user is root, because permissions do
// not stop root.
func TestPermissions(t *testing.T) {
	const place = "TEST_PERMISSIONS_IN"
	root := os.Getenv(place)
	if root == "" {
		root = t.TempDir()
		must.Do(t, os.Chmod(filepath.Dir(root), 0o755))
		must.Do(t, os.Chmod(root, 0o755))
		write(t, root, tree{"names/x": "x", "names/sub/y": "y", "search/x": "x", "search/sub/y": "y", "closed/x": "x", "open/unreadable": "x",
			"link": "-> search/x", "toclosed": "-> closed/x"})
		for name, mode := range map[string]os.FileMode{"names": 0o444, "search": 0o111, "closed": 0, "open/unreadable": 0} {
			hosttest.Chmod(t, filepath.Join(root, name), mode)
		}
		if os.Getuid() == 0 {
			runAsNobody(t, place+"="+root)
			return
		}
	}
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		f := newFS(root, options{})
		expect(t, f,
			"list . = [closed link names open search toclosed]",
			"list closed = permission", "open closed/x = permission", "stat closed/x = permission", "stat closed = directory",
			"readlink toclosed = closed/x", "open toclosed = permission",
			"list names = [sub x]", "lstat names/x = permission", "dir names lstat x = permission", "dir names open x = permission",
			"dir names list sub = permission",
			"list search = permission",
			"open open/unreadable = permission", "dir open head unreadable = permission", "stat open/unreadable = file of 1",
		)
	})
	t.Run("parents need only search permission", func(t *testing.T) {
		if openOSDirNeedsRead {
			t.Skip("os.Root needs permission to read, too")
		}
		expect(t, osFS(root, options{}), "open search/x = x", "open link = x", "list search/sub = [y]")
		expect(t, osFS(filepath.Join(root, "search"), options{}), "open x = x", "list . = permission", "list sub = [y]")
	})
	t.Run("a root without search permission", func(t *testing.T) {
		if openOSDirNeedsRead {
			t.Skip("os.Root needs permission to search, too")
		}
		expect(t, osFS(filepath.Join(root, "names"), options{}), "list . = [sub x]", "dir . lstat x = permission", "lstat x = permission", "stat . = directory")
	})
}

func runAsNobody(t *testing.T, env string) {
	hosttest.Self(t)
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Skip("no /proc: another user cannot run the test binary")
	}
	defer self.Close()
	cmd := exec.Command("/proc/self/fd/3", "-test.run=^TestPermissions$", "-test.v")
	cmd.ExtraFiles = []*os.File{self}
	cmd.Env = append(os.Environ(), env)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	t.Logf("as uid 65534:\n%s", out)
	if err != nil {
		t.Error(err)
	}
}
