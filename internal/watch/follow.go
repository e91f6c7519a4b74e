package watch

import (
	"context"
	"sync"
	"time"
)

// A burst of changes, such as a checkout of another branch, counts as one change.
// A burst ends after the time quiet without a report, or after the time burst at
// the latest.
const (
	quiet = 50 * time.Millisecond
	burst = 500 * time.Millisecond
)

// A Follower scans in the background after each burst of changes that a Watch or a feed
// reports. A nil Follower does nothing.
type Follower struct {
	wake   chan struct{} // has a token after a report
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// NewFollower returns a Follower that has not begun.
func NewFollower() *Follower { return &Follower{wake: make(chan struct{}, 1), cancel: func() {}} }

// Start calls scan at once, and after each burst, until Stop.
func (f *Follower) Start(scan func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	f.done.Go(func() { f.follow(ctx, scan) })
}

// Stop cancels the context of the current scan, and ends the calls.
func (f *Follower) Stop() {
	if f != nil {
		f.cancel()
	}
}

// Wait waits until the last call has returned.
func (f *Follower) Wait() {
	if f != nil {
		f.done.Wait()
	}
}

// Report begins or extends a burst.
func (f *Follower) Report() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *Follower) follow(ctx context.Context, scan func(context.Context)) {
	for {
		scan(ctx)
		select {
		case <-f.wake:
		case <-ctx.Done():
			return
		}
		end := time.NewTimer(burst)
		for settled := false; !settled; {
			select {
			case <-f.wake:
			case <-time.After(quiet):
				settled = true
			case <-end.C:
				settled = true
			case <-ctx.Done():
				end.Stop()
				return
			}
		}
		end.Stop()
	}
}
