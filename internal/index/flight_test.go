package index

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// gatedRuns counts the calls of do. Each call returns after a value from end.
type gatedRuns struct {
	count atomic.Int64
	end   chan struct{}
}

func (r *gatedRuns) do(ctx context.Context) (int64, error) {
	n := r.count.Add(1)
	select {
	case <-r.end:
		return n, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

type outcome struct {
	run int64
	err error
}

func call(ctx context.Context, f *flight[int64]) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		run, err := f.wait(ctx)
		out <- outcome{run, err}
	}()
	return out
}

func TestACallJoinsNoRunThatBeganBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := &gatedRuns{end: make(chan struct{})}
		f := &flight[int64]{do: runs.do, lifetime: context.Background()}
		first := call(t.Context(), f)
		synctest.Wait() // run 1 has begun
		var later []<-chan outcome
		for range 20 {
			later = append(later, call(t.Context(), f))
		}
		synctest.Wait()
		runs.end <- struct{}{}
		must.Equal(t, "the first call", (outcome{1, nil}), <-first)
		runs.end <- struct{}{}
		for _, out := range later {
			must.Equal(t, "a call made during run 1", (outcome{2, nil}), <-out)
		}
		f.close()
		must.Equal(t, "runs.count.Load()", 2, runs.count.Load())
	})
}

func TestTheEndOfOneContextEndsNoOtherCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := &gatedRuns{end: make(chan struct{})}
		f := &flight[int64]{do: runs.do, lifetime: context.Background()}
		defer f.close()
		blocking := call(t.Context(), f)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		canceled, waiting := call(ctx, f), call(t.Context(), f)
		synctest.Wait()
		cancel()
		if got := <-canceled; !errors.Is(got.err, context.Canceled) {
			t.Errorf("the canceled call got %v", got)
		}
		runs.end <- struct{}{}
		<-blocking
		runs.end <- struct{}{}
		must.Equal(t, "the waiting call", (outcome{2, nil}), <-waiting)
	})
}

func TestARunEndsWithItsLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := &gatedRuns{end: make(chan struct{})} // a run ends only with its context
		f := &flight[int64]{do: runs.do, lifetime: context.Background()}
		first, cancelFirst := context.WithCancel(t.Context())
		running := call(first, f)
		synctest.Wait()
		second, cancelSecond := context.WithCancel(t.Context())
		waiting := call(second, f)
		synctest.Wait()
		cancelSecond()
		synctest.Wait()
		cancelFirst()
		for _, out := range []<-chan outcome{running, waiting} {
			if got := <-out; !errors.Is(got.err, context.Canceled) {
				t.Errorf("got %v", got)
			}
		}
		synctest.Wait()
		must.Equal(t, "runs.count.Load()", 1, runs.count.Load())
		again := call(t.Context(), f)
		runs.end <- struct{}{}
		must.Equal(t, "a later call", (outcome{2, nil}), <-again)
		f.close()
	})
}

func TestCloseEndsEveryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := &gatedRuns{end: make(chan struct{})}
		f := &flight[int64]{do: runs.do, lifetime: context.Background()}
		running := call(t.Context(), f)
		synctest.Wait()
		waiting := call(t.Context(), f)
		synctest.Wait()
		f.close()
		for _, out := range []<-chan outcome{running, waiting, call(t.Context(), f)} {
			if got := <-out; !errors.Is(got.err, fs.ErrClosed) {
				t.Errorf("got %v, want fs.ErrClosed", got)
			}
		}
	})
}

func TestManyCallsShareFewRuns(t *testing.T) {
	var runs atomic.Int64
	f := &flight[int64]{do: func(context.Context) (int64, error) { return runs.Add(1), nil }, lifetime: context.Background()}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 1000 {
				before := runs.Load()
				if got, err := f.wait(t.Context()); err != nil || got <= before {
					t.Errorf("a call made after run %d got run %d, %v", before, got, err)
					return
				}
			}
		})
	}
	all.Wait()
	f.close()
}

// The end of the lifetime ends a run as close does.
func TestTheEndOfTheLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := &gatedRuns{end: make(chan struct{})}
		lifetime, end := context.WithCancel(t.Context())
		f := &flight[int64]{do: runs.do, lifetime: lifetime}
		defer f.close()
		running := call(t.Context(), f)
		synctest.Wait()
		end()
		for _, out := range []<-chan outcome{running, call(t.Context(), f)} {
			if got := <-out; !errors.Is(got.err, fs.ErrClosed) {
				t.Errorf("got %v, want fs.ErrClosed", got)
			}
		}
	})
}

// A panic of do reaches each caller, and later calls run do again.
func TestAPanicReachesEachCaller(t *testing.T) {
	fails := true
	f := &flight[int64]{do: func(context.Context) (int64, error) {
		if fails {
			panic("do panics")
		}
		return 1, nil
	}, lifetime: t.Context()}
	defer f.close()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("wait returned")
			}
		}()
		_, _ = f.wait(t.Context())
	}()
	fails = false
	must.Equal(t, "after the panic", 1, must.Get(f.wait(t.Context()))(t))
}
