package access

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// ErrTooLarge is the error of a file larger than the limit of the program.
var ErrTooLarge = errors.New("file too large")

// RenameFile is the advice for fs.ErrInvalid.
const RenameFile = "rename the file, because the system does not open the name"

// MayHaveChanged reports whether the error of reading a listed file may be a refusal of a
// snapshot, or a failure of a remote store, in contrast to a defect of the file.
func MayHaveChanged(err error) bool {
	for _, defect := range []error{fs.ErrNotExist, fs.ErrPermission, fs.ErrInvalid, ErrTooLarge,
		confine.ErrNotRegular, confine.ErrNotDir, confine.ErrSymlink, confine.ErrEscape} {
		if errors.Is(err, defect) {
			return false
		}
	}
	return true
}

// IsFault reports whether err is a failure of the filesystem, in contrast to a missing file and to
// a defect of the file or of its path.
func IsFault(err error) bool {
	for _, path := range []error{syscall.ELOOP, syscall.ENAMETOOLONG, syscall.ENOTDIR} {
		if errors.Is(err, path) {
			return false
		}
	}
	return err != nil && (MayHaveChanged(err) || errors.Is(err, fs.ErrPermission))
}

// Unreadable describes a filesystem error in one line, without the path.
func Unreadable(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, confine.ErrNotRegular):
		return "not a regular file"
	default:
		return escape.Reason(err)
	}
}
