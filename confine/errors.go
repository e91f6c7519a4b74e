package confine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

var (
	// ErrEscape reports a name or a link that leads out of the root. The error does not
	// depend on the existence of the target, because no method looks outside the root.
	ErrEscape = errors.New("path leads outside the root")

	// ErrSymlink reports a symbolic link that the method does not follow: with
	// DenySymlinks any link, and in the methods of Dir every link.
	ErrSymlink = errors.New("symbolic link not followed")

	// ErrNotRegular reports a directory, named pipe, socket or device in place of a
	// regular file.
	ErrNotRegular = errors.New("not a regular file")

	// ErrNotDir reports a file of another kind in place of a directory, also in the middle
	// of a name. ErrNotDir matches syscall.ENOTDIR on every platform.
	ErrNotDir error = notDirError{}
)

type notDirError struct{}

func (notDirError) Error() string        { return "not a directory" }
func (notDirError) Is(target error) bool { return target == syscall.ENOTDIR }

var (
	errReadOnly = fmt.Errorf("read-only filesystem: %w", fs.ErrPermission)
	errChanged  = errors.New("replaced during the call; try again")
	errTooDeep  = fmt.Errorf("%w: too many path elements", syscall.ENAMETOOLONG)
	errLoop     = fmt.Errorf("%w: more than %d", syscall.ELOOP, maxLinks)
)

// failure returns the error of a method: a *fs.PathError with the name that the caller
// gave. Errors of filesystems contain full paths, so failure keeps only their cause.
func failure(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: cause(err)}
}

// cause returns the cause of an error, as an error whose text contains no path.
func cause(err error) error {
	for {
		switch e := err.(type) {
		case *fs.PathError:
			err = e.Err
			continue
		case *os.LinkError:
			err = e.Err
			continue
		case *os.SyscallError:
			err = e.Err
			continue
		}
		break
	}
	for _, known := range []error{
		ErrEscape, ErrSymlink, ErrNotRegular, ErrNotDir, errReadOnly, errChanged, errTooDeep, errLoop,
		context.Canceled, context.DeadlineExceeded,
	} {
		if err == known {
			return err
		}
	}
	// On Windows, ENOTDIR is also the error of a missing directory. Therefore the
	// check for ErrNotExist comes first.
	for _, known := range []error{fs.ErrNotExist, fs.ErrPermission, fs.ErrClosed, fs.ErrExist, fs.ErrInvalid} {
		if errors.Is(err, known) {
			return known
		}
	}
	var errno syscall.Errno
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return ErrNotDir
	case errors.Is(err, syscall.EINVAL), errors.Is(err, errNameOfNoFile):
		return fs.ErrInvalid
	case errors.As(err, &errno):
		return errno
	case strings.ContainsAny(err.Error(), `/\`):
		return hiddenCause{err}
	default:
		return err
	}
}

// A hiddenCause is an error whose text may contain a path of the host.
type hiddenCause struct{ err error }

func (hiddenCause) Error() string   { return "the filesystem failed" }
func (u hiddenCause) Unwrap() error { return u.err }
