//go:build unix

package confine

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestNothingWaitsForAFIFOOrADevice(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		// The names of sockets are short.
		root := must.Get(os.MkdirTemp("", ""))(t)
		defer os.RemoveAll(root)
		makeFIFO(t, filepath.Join(root, "fifo"))
		hosttest.Symlink(t, "fifo", filepath.Join(root, "link"))
		socket, err := net.Listen("unix", filepath.Join(root, "socket"))
		if err != nil {
			t.Skip("the filesystem has no sockets:", err)
		}
		defer socket.Close()

		done := make(chan bool)
		go func() {
			defer close(done)
			f := newFS(root, options{})
			expect(t, f,
				"lstat fifo = p---------", "stat link = p---------",
				"open fifo = not regular", "open link = not regular", "open fifo/x = not dir", "list fifo = not dir", "list link = not dir",
				"dir . open fifo = not regular", "dir . head fifo = not regular", "dir . list fifo = not dir",
				"lstat socket = S---------", "open socket = not regular", "dir . head socket = not regular", "list socket = not dir",
				"list . = [fifo link socket]",
			)
			if _, err := f.Open("fifo"); word(err) != "not regular" {
				t.Errorf("the afero view: %v", err)
			}
			if _, err := os.Stat("/dev/tty"); err == nil {
				expect(t, newFS("/dev", options{}), "open null = not regular", "open tty = not regular", "open zero = not regular",
					"dir . head zero = not regular")
			}
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("it waits")
		}
	})
}

func TestLongNamesAndPaths(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		root := t.TempDir()
		longest := strings.Repeat("n", 255)
		write(t, root, tree{longest: "x"})
		// A path longer than the limit of a system call.
		const depth = 20
		at := must.Get(os.OpenRoot(root))(t)
		for range depth {
			dir := strings.Repeat("d", 250)
			if err := at.Mkdir(dir, 0o755); errors.Is(err, syscall.ENAMETOOLONG) {
				t.Skip("the filesystem has no paths of 5,000 bytes")
			} else if err != nil {
				t.Fatal(err)
			}
			below := must.Get(at.OpenRoot(dir))(t)
			at.Close()
			at = below
		}
		must.Do(t, at.WriteFile("x", []byte("deep"), 0o644))
		at.Close()
		deep := strings.Repeat(strings.Repeat("d", 250)+"/", depth)
		f := newFS(root, options{})
		expect(t, f,
			"open "+longest+" = x",
			"open "+longest+"n = too long",
			"stat "+strings.Repeat("n/", 3000)+"n = not exist",
			"open "+deep+"x = deep",
			"list "+strings.TrimSuffix(deep, "/")+" = [x]",
		)
	})
}

func TestNamesThatAreNotUTF8(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a\xffb"), []byte("x"), 0o644); err != nil {
		t.Skip("the filesystem has no such names")
	}
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		expect(t, newFS(root, options{}), "list . = [a\xffb]", "open a\xffb = x", "dir . open a\xffb = x")
	})
}

func TestManyElements(t *testing.T) {
	root := t.TempDir()
	write(t, root, tree{"x": "x", "self": "-> ."})
	f := osFS(root, options{})
	// Two links that lead to each other are an endless path. After each "..", the way begins at the
	// top. The texts of links on XFS have at most 1,023 bytes.
	write(t, root, tree{"a/b/c/d/loop": "-> " + strings.Repeat("../d/", 200) + "loop2", "a/b/c/d/loop2": "-> " + strings.Repeat("../d/", 200) + "loop"})
	expect(t, f, "open self/self/x = x", "open a/b/c/d/loop = too long")
}

// makeFIFO makes a named pipe. makeFIFO skips the test if the filesystem has none.
func makeFIFO(t *testing.T, name string) {
	t.Helper()
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Skip("the filesystem has no named pipes:", err)
	}
}

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
