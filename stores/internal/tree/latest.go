package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

	begun  atomic.Int64  // number of updates
	turn   chan struct{} // holds a value during an update
	shared result        // of the last update whose context had not ended; guarded by turn
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

// A result is the result of an update, for the calls that began before the update.
type result struct {
	number int64 // of the update, from 1
	files  *filetree.FS
	err    error
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
	before := l.begun.Load()
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case l.shared.number > before:
		return l.shared.files, l.shared.err
	}
	r := result{number: l.begun.Add(1)}
	if r.files, r.err = l.ask(ctx); ctx.Err() != nil && (r.files == nil || r.err != nil) {
		return nil, context.Cause(ctx)
	}
	l.shared = r
	return r.files, r.err
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
