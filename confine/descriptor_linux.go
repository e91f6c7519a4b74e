package confine

import (
	"io/fs"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A descriptor is a file descriptor with a safe close: the last user closes the file.
// Without this rule, another file could get the same number while a goroutine still uses
// the descriptor.
type descriptor struct {
	fd    int
	state atomic.Int64 // number of users, plus closing after close
}

const closing = 1 << 32

// use keeps the descriptor open until done. use returns false if the descriptor is closed.
func (d *descriptor) use() bool {
	if d.state.Add(1) < closing {
		return true
	}
	d.done()
	return false
}

func (d *descriptor) done() {
	if d.state.Add(-1) == closing {
		d.release()
	}
}

func (d *descriptor) close() error {
	for {
		users := d.state.Load()
		if users >= closing {
			return fs.ErrClosed
		}
		if d.state.CompareAndSwap(users, users+closing) {
			d.release()
			return nil
		}
	}
}

// release closes the file if the descriptor has no user. A failed call of use after close
// also reaches zero users, so release closes the file only once.
func (d *descriptor) release() {
	if d.state.CompareAndSwap(closing, 2*closing) {
		unix.Close(d.fd)
	}
}
