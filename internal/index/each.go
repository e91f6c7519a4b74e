package index

import (
	"context"
	"runtime"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

const (
	// If a file takes longer than slowFile to load, the load waits for the filesystem and
	// not for a core. Then slowWorkers goroutines are faster than a goroutine for each
	// core.
	slowFile    = time.Millisecond
	slowWorkers = 64

	// A goroutine starts in a few microseconds. If all files load in less than shortTime,
	// further goroutines cost more than they save.
	shortTime = 200 * time.Microsecond

	filesPerCheck = 4 // of the time; at first, the time is checked after one file
)

// each calls do with 0 to n-1, in no particular order and from several
// goroutines, and returns after all calls. If ctx ends, each stops early and
// returns the error of ctx.
func each(ctx context.Context, n int, do func(i int)) error {
	begin := time.Now()
	done, workers := 0, runtime.GOMAXPROCS(0)
	for done < n {
		if err := ctx.Err(); err != nil {
			return err
		}
		do(done)
		if done++; done%filesPerCheck != 1 {
			continue
		}
		if passed := time.Since(begin); passed > slowFile && done == 1 {
			workers = slowWorkers
			break
		} else if passed > shortTime {
			break
		}
	}
	return parallel.Do(ctx, workers, n-done, func(i int) error {
		do(done + i)
		return nil
	})
}
