package tree

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// A Latest makes snapshots of a store and keeps the last good snapshot. A Latest is safe for
// concurrent use.
type Latest struct {
	update func(ctx context.Context, last *FS) (*FS, error)
	stale  func(err error, age time.Duration) error
	turn   chan struct{} // holds a value during a snapshot; guards the next fields
	last   *FS
	good   time.Time // of the last good answer
}

// NewLatest returns a Latest. The function update asks the store. The argument last is the
// last snapshot, or nil. If nothing has changed, update returns last. Calls of update do
// not overlap.
//
// The function stale decides if update fails and a last snapshot exists. If stale
// returns nil, the call returns the last snapshot, or else the error of stale. Nil means that the call fails.
func NewLatest(update func(ctx context.Context, last *FS) (*FS, error), stale func(err error, age time.Duration) error) *Latest {
	return &Latest{update: update, stale: stale, turn: make(chan struct{}, 1)}
}

// Snapshot returns a new snapshot. The errors of update that match fs.ErrNotExist, and the
// cause of a context that has ended, never lead to the last snapshot.
func (l *Latest) Snapshot(ctx context.Context) (*FS, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	next, err := l.update(ctx, l.last)
	switch {
	case err == nil:
		l.last, l.good = next, time.Now()
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case l.last == nil || l.stale == nil || errors.Is(err, fs.ErrNotExist):
		return nil, err
	default:
		if err := l.stale(err, time.Since(l.good)); err != nil {
			return nil, err
		}
	}
	return l.last, nil
}
