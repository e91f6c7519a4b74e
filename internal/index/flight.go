package index

import (
	"context"
	"io/fs"
	"sync"

	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// A flight combines concurrent calls into one run of do. A call never joins a
// run that began before the call, because the filesystem may have changed since
// then, possibly by the caller's own write. For any number of callers, at most
// one run is active and at most one run is pending.
//
// Package golang.org/x/sync/singleflight lets a call join an active run.
type flight[T any] struct {
	do       func(context.Context) (T, error)
	lifetime context.Context // cancels each run when done, before close

	mu      sync.Mutex
	running *run[T]
	next    *run[T]
	closed  bool
	done    sync.WaitGroup
}

// A run is one execution of do, shared by all callers that waited when the run
// began.
type run[T any] struct {
	ctx    context.Context // ends when no caller waits any longer
	cancel context.CancelFunc
	ready  chan struct{} // closed after value, err and exit are set
	value  T
	err    error
	exit   *parallel.Exit // not nil if do did not return

	waiting int // guarded by flight.mu
}

// wait returns the result of a run that begins after this call, or ctx.Err() as
// soon as ctx ends. After close, wait returns fs.ErrClosed. If do panics or
// calls runtime.Goexit, wait does the same.
func (f *flight[T]) wait(ctx context.Context) (T, error) {
	value, exit, err := f.join(ctx)
	if exit != nil {
		exit.Resume()
	}
	return value, err
}

// join is wait for a caller without a caller: if do panics or calls runtime.Goexit, join
// returns the Exit.
func (f *flight[T]) join(ctx context.Context) (value T, exit *parallel.Exit, err error) {
	var zero T
	if err := ctx.Err(); err != nil {
		return zero, nil, err
	}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return zero, nil, fs.ErrClosed
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
		return r.value, r.exit, r.err
	case <-ctx.Done():
		f.mu.Lock()
		defer f.mu.Unlock()
		if r.waiting--; r.waiting == 0 {
			r.cancel()
			if f.next == r {
				// No call may join the pending run, because its context has
				// ended.
				f.next = nil
			}
		}
		return zero, nil, ctx.Err()
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

// close cancels the runs and waits for the active run to return.
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
