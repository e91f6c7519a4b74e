package trust

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"

	"github.com/toolshelf-go/toolshelf/internal/paths"
)

// private returns ErrForeign if the file or its directory belongs to another user. The file may be
// missing.
func private(file string) error {
	for _, name := range []string{file, filepath.Dir(file)} {
		if _, err := os.Lstat(name); isMissing(err) {
			continue
		}
		if paths.Foreign(name) {
			return fmt.Errorf("%w: %q belongs to another user; use a file in a directory of the user of the program", ErrForeign, name)
		}
	}
	return nil
}

// replace renames a file, and replaces any file with the new name. A rename fails while another
// program reads the file, and a read takes little time.
func replace(ctx context.Context, from, to string) error {
	tries := 100
	return poll(ctx, func() (bool, error) {
		err := os.Rename(from, to)
		tries--
		busy := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if busy && tries > 0 {
			return false, nil
		}
		return err == nil, err
	})
}

// syncDir does nothing: Windows has no function that writes the names in a directory to the disk.
func syncDir(string) error { return nil }

// tryLock locks an open file, unless another open file has the lock.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
