package index

import (
	"context"
	"runtime"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// If a file takes longer than slowFile to load, the load waits for the
// filesystem and not for a core. Then slowWorkers goroutines are faster than a
// goroutine for each core.
const (
	slowFile    = time.Millisecond
	slowWorkers = 64
)

// each calls do with 0 to n-1, in no particular order and from several
// goroutines, and returns after all calls. If ctx ends, each stops early and
// returns the error of ctx, even if ctx ends in the last call: the last call may
// have given up, see retryPartial.
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

	err := parallel.Do(ctx, workers, n-1, func(i int) error {
		do(i + 1)
		return nil
	})
	if err == nil {
		err = ctx.Err()
	}
	return err
}
