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
	// ErrEscape is for a path or a link that leads out of the root. Nothing
	// outside is looked at to find that out, so the error is the same whether
	// or not something is there.
	ErrEscape = errors.New("path leads outside the root")

	// ErrSymlink is for a symbolic link that is not followed: any link with
	// DenySymlinks, and every link in the methods of Dir.
	ErrSymlink = errors.New("symbolic link not followed")

	// ErrNotRegular is for a directory, FIFO, socket or device where a regular
	// file is asked for.
	ErrNotRegular = errors.New("not a regular file")

	// ErrNotDir is for anything but a directory where a directory is asked for, or
	// on the way to what is asked for. It matches syscall.ENOTDIR too, on
	// every platform.
	ErrNotDir error = notDirError{}
)

type notDirError struct{}

func (notDirError) Error() string        { return "not a directory" }
func (notDirError) Is(target error) bool { return target == syscall.ENOTDIR }

var (
	errReadOnly = fmt.Errorf("read-only filesystem: %w", fs.ErrPermission)
	errChanged  = errors.New("replaced while it was being opened; try again")
	errTooDeep  = fmt.Errorf("%w: too many path elements", syscall.ENAMETOOLONG)
	errLoop     = fmt.Errorf("%w: more than %d", syscall.ELOOP, maxLinks)
)

// failure is the error of a method: a *fs.PathError of the name that the
// caller gave. Filesystems put full paths into their errors, so nothing is
// kept of them but the cause.
func failure(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: cause(err)}
}

// cause is what went wrong, as an error whose text holds no path.
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
	// On Windows ENOTDIR is also what a missing directory gives, so it comes
	// after ErrNotExist.
	for _, known := range []error{fs.ErrNotExist, fs.ErrPermission, fs.ErrClosed, fs.ErrExist, fs.ErrInvalid} {
		if errors.Is(err, known) {
			return known
		}
	}
	var errno syscall.Errno
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return ErrNotDir
	case errors.Is(err, syscall.EINVAL):
		return fs.ErrInvalid
	case errors.As(err, &errno):
		return errno
	case strings.ContainsAny(err.Error(), `/\`):
		return hiddenCause{err}
	default:
		return err
	}
}

// An unspeakable error has a text that may hold a path of the host.
type hiddenCause struct{ err error }

func (hiddenCause) Error() string   { return "the filesystem failed" }
func (u hiddenCause) Unwrap() error { return u.err }
