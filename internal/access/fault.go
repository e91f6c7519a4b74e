package access

import (
	"errors"
	"io/fs"
	"slices"
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
	return !isAny(err, fs.ErrNotExist, fs.ErrPermission, fs.ErrInvalid, ErrTooLarge,
		confine.ErrNotRegular, confine.ErrNotDir, confine.ErrSymlink, confine.ErrEscape)
}

// IsFault reports whether err is a failure of the filesystem, in contrast to a missing file and to
// a defect of the file or of its path.
func IsFault(err error) bool {
	return err != nil && !isAny(err, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.ENOTDIR) &&
		(MayHaveChanged(err) || errors.Is(err, fs.ErrPermission))
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
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
