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
	const others = 0o022
	own := uint32(os.Geteuid())
	refuse := func(what, name, next string) error {
		return fmt.Errorf("%w: %s %q %s", ErrForeign, what, name, next)
	}
	check := func(what, name string, stat func(string) (fs.FileInfo, error)) error {
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
		if sys, ok := info.Sys().(*syscall.Stat_t); !ok || sys.Uid != own {
			return refuse(what, name, "belongs to another user; use a file in a directory of the user of the program")
		}
		if info.Mode()&others != 0 {
			return refuse(what, name, "is writable by other users; remove the permission (chmod go-w)")
		}
		return nil
	}
	dir := filepath.Dir(file)
	if err := check("the file", file, os.Lstat); err != nil {
		return err
	}
	if err := check("the directory", dir, os.Stat); err != nil {
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
		for dir := filepath.Dir(below); ; dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err != nil {
				return err
			}
			sys, ok := info.Sys().(*syscall.Stat_t)
			if !ok || sys.Uid != own && sys.Uid != 0 {
				return refuse("the directory", dir, "above the file belongs to another user; use a file in a directory of the user of the program")
			}
			writable := info.Mode().Perm() & others
			if sys.Gid == sys.Uid {
				writable &^= 0o020 // the private group of the owner
			}
			if writable != 0 && info.Mode()&fs.ModeSticky == 0 {
				return refuse("the directory", dir, "above the file is writable by other users; remove the permission (chmod go-w)")
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return nil
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
