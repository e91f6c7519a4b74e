package index

import (
	"context"
	"io/fs"
	"sync"

	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// A flight collapses calls at the same time into one run of do. A call never
// joins a run that began before it: the filesystem may have changed between
// the two, and the caller may be the one who changed it. So at most one run is
// under way and one is to follow, however many callers wait.
//
// (x/sync/singleflight lets a call join a run that is under way.)
type flight[T any] struct {
	do       func(context.Context) (T, error)
	lifetime context.Context // ends each run when it ends, before close

	mu      sync.Mutex
	running *run[T]
	next    *run[T]
	closed  bool
	done    sync.WaitGroup
}

// A run is one execution of do, for everyone who was waiting when it began.
type run[T any] struct {
	ctx    context.Context // ends when nobody waits any longer
	cancel context.CancelFunc
	ready  chan struct{} // closed when value, err and exit stand
	value  T
	err    error
	exit   *parallel.Exit // do did not return

	waiting int // guarded by flight.mu
}

// wait returns the outcome of a run that begins after this call, or ctx's
// error as soon as ctx ends. If do panics or calls runtime.Goexit, so does wait.
func (f *flight[T]) wait(ctx context.Context) (T, error) {
	var zero T
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return zero, fs.ErrClosed
	}
	if f.next == nil {
		f.next = &run[T]{ready: make(chan struct{})}
		f.next.ctx, f.next.cancel = context.WithCancel(f.lifetime)
	}
	r := f.next
	r.waiting++
	if f.running == nil {
		f.start()
	}
	f.mu.Unlock()

	select {
	case <-r.ready:
		if r.exit != nil {
			r.exit.Resume()
		}
		return r.value, r.err
	case <-ctx.Done():
		f.mu.Lock()
		defer f.mu.Unlock()
		if r.waiting--; r.waiting == 0 {
			r.cancel()
			if f.next == r {
				// It has not begun, and must not be joined: its context has ended.
				f.next = nil
			}
		}
		return zero, ctx.Err()
	}
}

// start begins the next run. The caller holds f.mu.
func (f *flight[T]) start() {
	r := f.next
	f.running, f.next = r, nil
	f.done.Go(func() {
		parallel.Run(func() { r.value, r.err = f.do(r.ctx) }, func(exit *parallel.Exit) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if r.err != nil && (f.closed || f.lifetime.Err() != nil) {
				r.err = fs.ErrClosed
			}
			r.exit = exit
			close(r.ready)
			r.cancel()
			f.running = nil
			if f.next != nil {
				f.start()
			}
		})
	})
}

func (f *flight[T]) close() {
	f.mu.Lock()
	f.closed = true
	for _, r := range []*run[T]{f.running, f.next} {
		if r != nil {
			r.cancel()
		}
	}
	f.mu.Unlock()
	f.done.Wait()
}
