package parallel

import (
	"context"
	"runtime"
	"time"
)

// MaxReads is the usual number of goroutines for a slow filesystem.
const MaxReads = 64

// If a goroutine completes at most one call in the time slowFile, twice in a row, the calls
// wait for the filesystem and not for a core.
const slowFile = time.Millisecond

// Each calls do, which reads a file, with 0 to n-1, in no particular order. Each returns
// after all calls. Each begins with a goroutine for each core. If the filesystem turns out
// to be slow, Each continues with slow goroutines, because then more goroutines than cores
// are faster. Each never uses more than slow goroutines.
//
// If ctx ends, Each stops early and returns the error of ctx, even if ctx ends in the
// last call, because the last call may have given up.
func Each(ctx context.Context, slow, n int, do func(i int)) error {
	r := run{ctx: ctx, n: n, do: func(i int) error { do(i); return nil }}
	slow = min(slow, n)
	workers := min(runtime.GOMAXPROCS(0), slow)
	if workers < slow {
		ended := make(chan struct{})
		r.end = func() { close(ended) }
		r.group.Go(func() { r.watchPace(ended, workers, slow) })
	}
	err := r.all(workers)
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// watchPace adds goroutines once the calls are slow.
func (r *run) watchPace(ended <-chan struct{}, workers, slow int) {
	ticks := time.NewTicker(slowFile)
	defer ticks.Stop()
	last, slowTicks := int64(0), 0
	for slowTicks < 2 {
		select {
		case <-ended:
			return
		case <-ticks.C:
		}
		begun := r.next.Load()
		if slowTicks++; begun-last > int64(workers) {
			slowTicks = 0
		}
		last = begun
	}
	r.add(slow - workers)
}
