package index

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A file that takes longer than this to load was waited for, not worked on:
// then many at once are faster than one for each core.
const (
	slowFile    = time.Millisecond
	slowWorkers = 64
)

// each calls do for 0 to n-1, in no order and from several goroutines, and
// returns when all calls have. It stops early with ctx's error.
func each(ctx context.Context, n int, do func(i int)) error {
	if n == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	begin := time.Now()
	do(0)
	workers := runtime.GOMAXPROCS(0)
	if time.Since(begin) > slowFile {
		workers = slowWorkers
	}

	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)); i < n && ctx.Err() == nil; i = int(next.Add(1)) {
			do(i)
		}
	}
	var others sync.WaitGroup
	for range min(workers, n-1) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return ctx.Err()
}
