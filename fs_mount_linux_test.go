package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
)

// mountHanging mounts a filesystem of a program that answers no system call.
func mountHanging(t *testing.T, dir string) {
	t.Helper()
	program, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skip("the system has no filesystems of programs: " + err.Error())
	}
	t.Cleanup(func() { program.Close() }) // ends all system calls with an error
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", program.Fd())
	if err := unix.Mount("hanging", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		t.Skip("the test needs the permission to mount: " + err.Error())
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
}

// On a local disk the file methods run on the goroutine of the caller. A filesystem that
// is mounted later below the root can hang, and the methods return all the same.
func TestTheContextEndsAFileMethodOnAMountThatHangs(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	remote := filepath.Join(root, "remote")
	if err := os.Mkdir(remote, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(remote, "a.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c := catalog(t, toolshelf.WithRoot(root))
	calls := map[string]func(context.Context) error{
		"ListDir":              func(ctx context.Context) error { _, err := c.ListDir(ctx, "."); return err },
		"ListDir of the mount": func(ctx context.Context) error { _, err := c.ListDir(ctx, "remote"); return err },
		"Tree":                 func(ctx context.Context) error { _, err := c.Tree(ctx, "."); return err },
		"FindFiles":            func(ctx context.Context) error { _, err := c.FindFiles(ctx, ".", "*.go"); return err },
		"Stat":                 func(ctx context.Context) error { _, err := c.Stat(ctx, "remote"); return err },
		"ReadFile":             func(ctx context.Context) error { _, err := c.ReadFile(ctx, "remote/a.txt"); return err },
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for method, call := range calls {
		if err := call(ctx); err != nil {
			t.Fatalf("%s before the mount: %v", method, err)
		}
	}
	mountHanging(t, remote)
	returned := make(chan error)
	for method, call := range calls {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		go func() { returned <- call(ctx) }()
		select {
		case err := <-returned:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", method, err)
			}
		case <-time.After(patience):
			t.Fatalf("%s has not returned", method)
		}
		cancel()
	}
}
