package confine

import (
	"io/fs"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A descriptor is a file descriptor that may be closed while others use it.
// It is then closed when the last is done: its number would otherwise name
// another file under their hands.
type descriptor struct {
	fd    int
	state atomic.Int64 // the number of users, and closing
}

const closing = 1 << 32

// use keeps the descriptor open until done, and reports whether it is.
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

// release closes the descriptor if no one uses it, and once: a use that fails
// after that comes to naught users again.
func (d *descriptor) release() {
	if d.state.CompareAndSwap(closing, 2*closing) {
		unix.Close(d.fd)
	}
}
