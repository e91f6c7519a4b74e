// Package parallel runs a function for many numbers on several goroutines.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Do calls do with 0 to n-1, in no particular order, on at most workers goroutines
// including the caller's goroutine. Do ends early if a call fails or ctx ends. Do returns
// after all calls have returned, with the first error or the error of ctx.
//
// A panic and a runtime.Goexit in do end the caller's goroutine as if the caller had
// called do directly. Without this rule, a worker would end early, and the result would be
// incomplete.
func Do(ctx context.Context, workers, n int, do func(i int) error) error {
	if workers <= 1 || n <= 1 {
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(i); err != nil {
				return err
			}
		}
		return nil
	}
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

// An Exit describes how a function ended its goroutine: with a panic, or with
// runtime.Goexit.
type Exit struct{ panicked any }

// Run calls f, and then done with the Exit of f, or with nil if f returned. Run recovers
// a panic. A runtime.Goexit continues after done.
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

// Resume ends the caller's goroutine with the same panic or runtime.Goexit.
func (e *Exit) Resume() {
	if e.panicked != nil {
		panic(e.panicked)
	}
	runtime.Goexit()
}
