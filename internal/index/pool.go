package index

import (
	"context"
	"runtime"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/parallel"
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

	return parallel.Do(ctx, workers, n-1, func(i int) error {
		do(i + 1)
		return nil
	})
}
