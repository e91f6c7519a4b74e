//go:build unix

package trust

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// private returns ErrForeign if another user can change the file, or can put another file in its
// place. The check covers the directories above the path and above its target without links. The
// file may be missing.
func private(file string) error {
	dir := filepath.Dir(file)
	if err := checkOwn("the file", file, os.Lstat); err != nil {
		return err
	}
	if err := checkOwn("the directory", dir, os.Stat); err != nil {
		return err
	}
	if runtime.GOOS == "android" {
		return nil // users of the system own the directories above the directories of an app
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	for _, below := range []string{dir, real} {
		for above := filepath.Dir(below); ; above = filepath.Dir(above) {
			if err := checkAbove(above); err != nil {
				return err
			}
			if above == filepath.Dir(above) {
				break
			}
		}
	}
	return nil
}

// groupWrite and othersWrite are the permissions with which other users can change a file.
const (
	groupWrite  fs.FileMode = 0o020
	othersWrite fs.FileMode = 0o002
)

// checkOwn returns ErrForeign for a file or a directory of another user, and if other users can
// write. The file may be missing.
func checkOwn(what, name string, stat func(string) (fs.FileInfo, error)) error {
	info, err := stat(name)
	if err != nil {
		if isMissing(err) {
			return nil
		}
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil // read refuses a link, which has no permissions
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); !ok || sys.Uid != uint32(os.Geteuid()) {
		return foreign(what, name, "belongs to another user; use a file in a directory of the user of the program")
	}
	if info.Mode()&(groupWrite|othersWrite) != 0 {
		return foreign(what, name, "is writable by other users; remove the permission (chmod go-w)")
	}
	return nil
}

// checkAbove returns ErrForeign for a directory in which another user can rename the directory
// below.
func checkAbove(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok || sys.Uid != uint32(os.Geteuid()) && sys.Uid != 0 {
		return foreign("the directory", dir, "above the file belongs to another user; use a file in a directory of the user of the program")
	}
	writable := info.Mode().Perm() & (groupWrite | othersWrite)
	if sys.Gid == sys.Uid {
		writable &^= groupWrite // the private group of the owner
	}
	if writable != 0 && info.Mode()&fs.ModeSticky == 0 {
		return foreign("the directory", dir, "above the file is writable by other users; remove the permission (chmod go-w)")
	}
	return nil
}

func foreign(what, name, next string) error {
	return fmt.Errorf("%w: %s %q %s", ErrForeign, what, name, next)
}

// replace renames a file, and replaces any file with the new name.
func replace(_ context.Context, from, to string) error { return os.Rename(from, to) }

// syncDir writes the names in a directory to the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("trust: the store may be lost if the machine stops now: %w", err)
	}
	return nil
}
