//go:build unix

package confine

import (
	"errors"
	"net"
	"os"
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
