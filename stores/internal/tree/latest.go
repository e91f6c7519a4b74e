package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
)

const pause = time.Second // from an update that ends with the timeout to the next update

// A Latest makes snapshots of a store and keeps the last good snapshot. A Latest is safe for
// concurrent use.
type Latest struct {
	update  func(ctx context.Context, last *filetree.FS) (*filetree.FS, error)
	timeout time.Duration // of an update; not limited if not positive
	stale   func(err error, age time.Duration) error

	mu   sync.Mutex
	next *flight // not yet started; nil if no call waits

	turn   chan struct{} // holds a value during an update
	good   atomic.Pointer[answer]
	outage *atomic.Pointer[outage] // of the store, which several Latest may share
}

// An answer is a snapshot of the store, with the time of the last good answer.
type answer struct {
	files *filetree.FS
	at    time.Time
}

// An outage is an update that has ended with the timeout.
type outage struct {
	err error
	at  time.Time
}

// A flight is an update that several calls share. All calls began before the update.
type flight struct {
	done  chan struct{} // closed after the update
	files *filetree.FS
	err   error
	again bool // the update has not returned, or the context of the call that updates has ended
}

// NewLatest returns a Latest. The function update asks the store. The argument last is the
// last snapshot, or nil. If nothing has changed, update returns last. Calls of update do
// not overlap. The context of update ends after the timeout, unless the timeout is zero.
//
// The function stale decides if update fails and a last snapshot exists. If stale returns
// nil, the call returns the last snapshot, whose method Stale returns the error of update, or
// else the error of stale. Nil means that the call fails. For a second after an update that
// has ended with the timeout and with the last snapshot, calls do not update, and stale
// decides again with the same error.
func NewLatest(update func(ctx context.Context, last *filetree.FS) (*filetree.FS, error), timeout time.Duration, stale func(err error, age time.Duration) error) *Latest {
	return &Latest{update: update, timeout: timeout, stale: stale, turn: make(chan struct{}, 1), outage: new(atomic.Pointer[outage])}
}

// Limit returns a context that ends after the timeout, unless the timeout is zero.
func Limit(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

// Outage returns the error of an update that has ended with the timeout in the last second,
// or nil.
func (l *Latest) Outage() error {
	if last := l.outage.Load(); last != nil && time.Since(last.at) < pause {
		return last.err
	}
	return nil
}

// Start makes l a Latest of a directory in the store of another Latest. The files of the
// directory in the last good snapshot become the last good snapshot of l, if the directory
// exists. A timeout counts for both. Start must be called before the first Snapshot.
func (l *Latest) Start(from *Latest, dir string) {
	l.outage = from.outage
	if good := from.good.Load(); good != nil {
		if files, err := good.files.Below(dir); err == nil {
			l.good.Store(&answer{files, good.at})
		}
	}
}

// Snapshot returns a snapshot that began after the call. Calls that wait for the same update
// share the next update. The errors of update that match fs.ErrNotExist or fs.ErrClosed, and
// the cause of a context that has ended, never lead to the last snapshot.
func (l *Latest) Snapshot(ctx context.Context) (*filetree.FS, error) {
	for {
		l.mu.Lock()
		f := l.next
		if f == nil {
			f = &flight{done: make(chan struct{}), again: true}
			l.next = f
			l.mu.Unlock()
			l.run(ctx, f)
			return f.files, f.err
		}
		l.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if !f.again {
			return f.files, f.err
		}
	}
}

// run waits for the previous update and updates.
func (l *Latest) run(ctx context.Context, f *flight) {
	defer close(f.done)
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
	}
	l.mu.Lock()
	l.next = nil // later calls need a later update
	l.mu.Unlock()
	if ctx.Err() == nil {
		f.files, f.err = l.ask(ctx)
		f.again = false
	}
	if ctx.Err() != nil && (f.files == nil || f.err != nil) {
		f.files, f.err, f.again = nil, context.Cause(ctx), true
	}
}

// ask updates, and returns the last snapshot if stale allows.
func (l *Latest) ask(ctx context.Context) (*filetree.FS, error) {
	good := l.good.Load()
	var last *filetree.FS
	if good != nil {
		last = good.files
	}
	err, late := l.Outage(), false
	if err == nil || last == nil {
		limited, cancel := Limit(ctx, l.timeout)
		defer cancel()
		var next *filetree.FS
		if next, err = l.update(limited, last); err == nil {
			l.good.Store(&answer{next, time.Now()})
			return next, nil
		}
		if late = limited.Err() != nil; late {
			err = fmt.Errorf("no answer within %v: %w", l.timeout, err)
		}
	}
	if ctx.Err() != nil || last == nil || l.stale == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrClosed) {
		return nil, err
	}
	if refused := l.stale(err, time.Since(good.at)); refused != nil {
		return nil, refused
	}
	if late {
		l.outage.Store(&outage{err, time.Now()})
	}
	return last.WithError(err), nil
}
