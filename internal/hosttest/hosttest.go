// Package hosttest skips the tests that need what the system of the tests, its filesystem or the
// program of the tests lacks. Each function tries what a test needs and looks at the result,
// because some systems report a success and do nothing. The reason of a skip names what is missing,
// and .ci/platforms lists the reasons.
package hosttest

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Symlink makes a symbolic link. Symlink skips the test if the filesystem makes no symbolic link.
func Symlink(t testing.TB, target, name string) {
	t.Helper()
	err := os.Symlink(target, name)
	switch {
	case err == nil && isLink(name):
		return
	case errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist):
		t.Fatal(err) // a mistake of the test
	}
	NeedsSymlinks(t)
	t.Skipf("%s makes no symbolic link with a target of %d bytes", host(), len(target))
}

// NeedsSymlinks skips the test if the filesystem of temporary files makes no symbolic link.
func NeedsSymlinks(t testing.TB) {
	t.Helper()
	if !HasSymlinks(t) {
		t.Skipf("%s makes no symbolic link", host())
	}
}

// HasSymlinks reports whether the filesystem of temporary files makes symbolic links.
func HasSymlinks(t testing.TB) bool {
	t.Helper()
	name := filepath.Join(t.TempDir(), "link")
	err := os.Symlink("target", name)
	return err == nil && isLink(name)
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().Type() == fs.ModeSymlink
}

// Chmod sets the permissions of a file until the test ends. Chmod skips the test if the filesystem
// keeps no permissions.
func Chmod(t testing.TB, name string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(name, 0o755) }) // a cleanup removes the file
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != mode {
		t.Skip("the filesystem keeps no permissions")
	}
}

// NeedsNames skips the test if the filesystem of temporary files cannot hold files with the names,
// next to each other.
func NeedsNames(t testing.TB, names ...string) {
	t.Helper()
	i := held(t, names)
	if i == len(names) {
		return
	}
	for _, other := range names[:i] {
		if strings.EqualFold(names[i], other) {
			t.Skipf("%s ignores letter case; %q is %q", host(), names[i], other)
		}
	}
	t.Skipf("%s refuses a file name; %q", host(), names[i])
}

// HasNames reports whether the filesystem of temporary files can hold files with the names, next to
// each other.
func HasNames(t testing.TB, names ...string) bool {
	t.Helper()
	return held(t, names) == len(names)
}

// held returns the number of names before the first name that the filesystem of temporary files
// cannot hold.
func held(t testing.TB, names []string) int {
	t.Helper()
	dir := t.TempDir()
	for i, name := range names {
		err := os.WriteFile(filepath.Join(dir, name), nil, 0o644)
		entries, _ := os.ReadDir(dir)
		if err != nil || len(entries) != i+1 || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name }) {
			return i
		}
	}
	return len(names)
}

// Self returns the path of the program of the tests. Self skips the test if the system cannot run
// the program again: an emulator that runs one program does not run the programs that this program
// starts.
func Self(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Skipf("%s does not know the program of the tests", host())
	}
	cmd := exec.Command(self, "-test.list=^$")
	if err := cmd.Start(); errors.Is(err, syscall.ENOEXEC) || errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("%s runs here in an emulator, which starts no second program", host())
	} else if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return self
}

// NeedsOptimization skips a test of allocations if the compiler did not optimize the program of the
// tests.
func NeedsOptimization(t testing.TB) {
	t.Helper()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	for _, setting := range info.Settings {
		if setting.Key == "-gcflags" && strings.Contains(setting.Value, "-N") {
			t.Skip("the test counts allocations, and the program is compiled without optimization")
		}
	}
}

func host() string { return runtime.GOOS + "/" + runtime.GOARCH }
