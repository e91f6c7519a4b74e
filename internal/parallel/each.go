package parallel

import (
	"context"
	"runtime"
	"time"
)

// If a file takes longer than slowFile, the call waits for the filesystem and not for a
// core. Then slowWorkers goroutines are faster than a goroutine for each core.
const (
	slowFile    = time.Millisecond
	slowWorkers = 64
)

// Each calls do, which reads a file, with 0 to n-1, in no particular order. Each returns
// after all calls. The time of the first call decides the number of goroutines.
//
// If ctx ends, Each stops early and returns the error of ctx, even if ctx ends in the
// last call, because the last call may have given up.
func Each(ctx context.Context, n int, do func(i int)) error {
	if n == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	begin := time.Now()
	do(0)
	workers := runtime.GOMAXPROCS(0)
	if time.Since(begin) > slowFile {
		workers = slowWorkers
	}

	err := Do(ctx, workers, n-1, func(i int) error {
		do(i + 1)
		return nil
	})
	if err == nil {
		err = ctx.Err()
	}
	return err
}
