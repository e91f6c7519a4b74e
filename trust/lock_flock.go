//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package trust

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// tryLock locks an open file, unless another open file has the lock.
func tryLock(f *os.File) (bool, error) {
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return true, nil
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return false, nil
	default:
		return false, fmt.Errorf("trust: the filesystem has no locks; use a file on a local disk: %w", err)
	}
}
