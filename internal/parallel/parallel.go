// Package parallel runs a function for many numbers on several goroutines, or beside the caller.
package parallel

import (
	"context"
	"fmt"
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
	r := run{ctx: ctx, n: n, do: do}
	return r.all(min(workers, n))
}

// A run calls do with 0 to n-1.
type run struct {
	ctx    context.Context
	n      int
	do     func(i int) error
	next   atomic.Int64
	failed atomic.Pointer[error]
	ended  atomic.Pointer[Exit]
	group  sync.WaitGroup
	end    func() // if not nil, called when the caller's goroutine finds no further number
}

// all returns after all calls, which run on the given number of goroutines.
func (r *run) all(workers int) error {
	r.add(workers - 1)
	Run(r.work, func(exit *Exit) {
		r.record(exit)
		if r.end != nil {
			r.end()
		}
		r.group.Wait() // also if the caller's goroutine ends here
	})
	if exit := r.ended.Load(); exit != nil {
		exit.Resume()
	}
	if err := r.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// add starts goroutines.
func (r *run) add(workers int) {
	for range workers {
		r.group.Go(func() { Run(r.work, r.record) })
	}
}

func (r *run) work() {
	for r.failed.Load() == nil && r.ended.Load() == nil {
		i := int(r.next.Add(1)) - 1
		if i >= r.n {
			return
		}
		err := r.ctx.Err()
		if err == nil {
			err = r.do(i)
		}
		if err != nil {
			failed := err // err would escape in each round
			r.failed.CompareAndSwap(nil, &failed)
		}
	}
}

func (r *run) record(exit *Exit) {
	if exit != nil {
		r.ended.CompareAndSwap(nil, exit)
	}
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

// String describes the Exit for a log.
func (e *Exit) String() string {
	if e.Goexit() {
		return "runtime.Goexit"
	}
	return fmt.Sprint("panic: ", e.panicked)
}

// Goexit reports whether the function called runtime.Goexit.
func (e *Exit) Goexit() bool { return e.panicked == nil }

// Resume ends the caller's goroutine with the same panic or runtime.Goexit.
func (e *Exit) Resume() {
	if e.Goexit() {
		runtime.Goexit()
	}
	panic(e.panicked)
}

// An Outcome is the end of a function that runs on a goroutine of its own.
type Outcome[T any] struct {
	value T
	err   error
	exit  *Exit
}

// Go calls do on a new goroutine. The channel receives the Outcome, also if nobody waits.
func Go[T any](do func() (T, error)) <-chan Outcome[T] {
	done := make(chan Outcome[T], 1)
	go func() {
		var o Outcome[T]
		Run(func() { o.value, o.err = do() }, func(exit *Exit) {
			o.exit = exit
			done <- o
		})
	}()
	return done
}

// Exit returns how the function ended its goroutine, or nil if the function returned.
func (o Outcome[T]) Exit() *Exit { return o.exit }

// Result returns the results of the function. If the function did not return, Result ends
// the caller's goroutine as the function ended its own.
func (o Outcome[T]) Result() (T, error) {
	if o.exit != nil {
		o.exit.Resume()
	}
	return o.value, o.err
}
