package escape

import (
	"io/fs"
	"os"
)

// Reason returns the text of the cause of a filesystem error, without the
// operations and the host paths of the errors that wrap the cause. Reason escapes the
// text as Name does, because a filesystem chooses the text: the result is one line.
func Reason(err error) string { return Name(Cause(err).Error()) }

// Cause returns the error below the errors that add an operation and a path.
func Cause(err error) error {
	for {
		switch e := err.(type) {
		case *fs.PathError:
			err = e.Err
		case *os.LinkError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		default:
			return err
		}
	}
}
