// Package parallel runs a function for many numbers on several goroutines.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Do calls do with 0 to n-1, in no order and on at most so many goroutines,
// the caller's included, until a call fails or ctx ends. Do returns when all
// calls have returned, with the first error or ctx's.
//
// A panic and a runtime.Goexit in do end the caller's goroutine as if the
// caller had called do itself. Without this, a worker would end early and its
// part of the result would be missing.
func Do(ctx context.Context, workers, n int, do func(i int) error) error {
	var (
		next   atomic.Int64
		failed atomic.Pointer[error]
		ended  atomic.Pointer[Exit]
		group  sync.WaitGroup
	)
	work := func() {
		for failed.Load() == nil && ended.Load() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			err := ctx.Err()
			if err == nil {
				err = do(i)
			}
			if err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		}
	}
	record := func(exit *Exit) {
		if exit != nil {
			ended.CompareAndSwap(nil, exit)
		}
	}
	for range min(workers, n) - 1 {
		group.Go(func() { Run(work, record) })
	}
	Run(work, func(exit *Exit) {
		record(exit)
		group.Wait() // also if the caller's goroutine ends here
	})
	if exit := ended.Load(); exit != nil {
		exit.Resume()
	}
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// An Exit is the way in which a function ended its goroutine: a panic, or a
// runtime.Goexit.
type Exit struct{ panicked any }

// Run calls f, and then done with nil, or with the way in which f ends the
// goroutine. Run recovers a panic. A runtime.Goexit goes on after done.
func Run(f func(), done func(exit *Exit)) {
	returned := false
	defer func() {
		var exit *Exit
		if !returned {
			exit = &Exit{recover()}
		}
		done(exit)
	}()
	f()
	returned = true
}

// Resume ends the caller's goroutine in the same way.
func (e *Exit) Resume() {
	if e.panicked != nil {
		panic(e.panicked)
	}
	runtime.Goexit()
}
