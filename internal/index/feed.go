package index

import (
	"context"
	"sync"
	"time"
)

// A Feed tells all indexes of a catalog whether the files of fed layers have changed. The
// caller's function is the source. A Feed trusts the source from the first touch until
// the source ends, and for the time maxAge after each touch.
type Feed struct {
	maxAge time.Duration
	now    func() time.Time

	mu      sync.Mutex
	touches uint64 // number of touches
	touched time.Time
	ended   bool
	wake    []func() // called after each touch
}

// NewFeed returns a Feed without a source.
func NewFeed(maxAge time.Duration, now func() time.Time) *Feed {
	return &Feed{maxAge: maxAge, now: now}
}

// Run runs the source, and returns its error. Run must be called only once.
func (f *Feed) Run(ctx context.Context, source func(ctx context.Context, touch func(paths ...string)) error) error {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.ended = true
	}()
	return source(ctx, f.touch)
}

// touch records a change. An index does not use the paths, because a scan reads a layer as a
// whole: the precedence of names, the skills of a layer and a snapshot of a store depend on
// all files, and the listing of a large directory takes as many requests as the layer.
func (f *Feed) touch(...string) {
	f.mu.Lock()
	f.touches++
	f.touched = f.now()
	wake := f.wake
	f.mu.Unlock()
	for _, wake := range wake {
		wake()
	}
}

// onTouch calls wake after each touch.
func (f *Feed) onTouch(wake func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wake = append(f.wake, wake)
}

// position returns the number of touches so far. A scan that begins after position sees all
// of their changes.
func (f *Feed) position() uint64 {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.touches
}

// unchanged reports whether nothing has changed since a scan began. Before the first touch,
// unchanged reports false.
func (f *Feed) unchanged(since freshness) bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	return !f.ended && since.feed > 0 && since.feed == f.touches && now.Sub(f.touched) < f.maxAge &&
		(since.retry.IsZero() || now.Before(since.retry))
}
