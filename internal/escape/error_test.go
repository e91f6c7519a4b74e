package escape

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

func TestReason(t *testing.T) {
	cause := errors.New("no space left")
	for _, err := range []error{
		cause,
		&fs.PathError{Op: "open", Path: "/home/user/x", Err: cause},
		&os.LinkError{Op: "rename", Old: "/home/user/x", New: "y", Err: cause},
		&fs.PathError{Op: "write", Path: "/home/user/x", Err: &os.SyscallError{Syscall: "write", Err: cause}},
	} {
		if got := Reason(err); got != "no space left" {
			t.Errorf("Reason(%v) = %q", err, got)
		}
	}
	if got := Reason(errors.New("disk on fire\nat sector 7")); got != `disk on fire\nat sector 7` {
		t.Errorf("a text of two lines: %q", got)
	}
}
