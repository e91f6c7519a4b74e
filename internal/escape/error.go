package escape

import (
	"io/fs"
	"os"
)

// Reason is the innermost text of a filesystem error: what went wrong,
// without the paths that the wrapping errors hold.
func Reason(err error) string {
	for {
		switch e := err.(type) {
		case *fs.PathError:
			err = e.Err
		case *os.LinkError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		default:
			return err.Error()
		}
	}
}
