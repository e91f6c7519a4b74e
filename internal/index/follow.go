package index

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

// A follower scans in the background after each burst of changes that a watch or a feed
// reports.
type follower struct {
	wake   chan struct{} // has a token after a report
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newFollower() *follower { return &follower{wake: make(chan struct{}, 1), cancel: func() {}} }

// start calls scan at once, and after each burst, until cancel.
func (f *follower) start(scan func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	f.done.Go(func() { f.follow(ctx, scan) })
}

// report begins or extends a burst.
func (f *follower) report() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *follower) follow(ctx context.Context, scan func(context.Context)) {
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
