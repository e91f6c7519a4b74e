package index

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// A tower is a do that waits for leave to end, and counts its runs.
type tower struct {
	runs  atomic.Int64
	leave chan struct{}
}

func (w *tower) do(ctx context.Context) (int64, error) {
	n := w.runs.Add(1)
	select {
	case <-w.leave:
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

func TestACallNeverJoinsARunThatBeganBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &tower{leave: make(chan struct{})}
		f := &flight[int64]{do: w.do, lifetime: context.Background()}
		first := call(t.Context(), f)
		synctest.Wait() // run 1 is under way
		var later []<-chan outcome
		for range 20 {
			later = append(later, call(t.Context(), f))
		}
		synctest.Wait()
		w.leave <- struct{}{}
		if got := <-first; got != (outcome{1, nil}) {
			t.Errorf("the first call got %v", got)
		}
		w.leave <- struct{}{}
		for _, out := range later {
			if got := <-out; got != (outcome{2, nil}) {
				t.Errorf("a call made during run 1 got %v, want run 2", got)
			}
		}
		f.close()
		if n := w.runs.Load(); n != 2 {
			t.Errorf("%d runs for 21 calls, want 2", n)
		}
	})
}

func TestACallerWhoLeavesHarmsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &tower{leave: make(chan struct{})}
		f := &flight[int64]{do: w.do, lifetime: context.Background()}
		defer f.close()
		blocking := call(t.Context(), f)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		leaver, stayer := call(ctx, f), call(t.Context(), f)
		synctest.Wait()
		cancel()
		if got := <-leaver; !errors.Is(got.err, context.Canceled) {
			t.Errorf("the caller who left got %v", got)
		}
		w.leave <- struct{}{}
		<-blocking
		w.leave <- struct{}{}
		if got := <-stayer; got != (outcome{2, nil}) {
			t.Errorf("the caller who stayed got %v", got)
		}
	})
}

func TestARunThatNobodyWaitsForEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &tower{leave: make(chan struct{})} // never to leave: only the end of its context ends a run
		f := &flight[int64]{do: w.do, lifetime: context.Background()}
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
		if n := w.runs.Load(); n != 1 {
			t.Errorf("%d runs, want 1: the second was given up before it began", n)
		}
		again := call(t.Context(), f)
		w.leave <- struct{}{}
		if got := <-again; got != (outcome{2, nil}) {
			t.Errorf("a call after that got %v", got)
		}
		f.close()
	})
}

func TestCloseEndsEveryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &tower{leave: make(chan struct{})}
		f := &flight[int64]{do: w.do, lifetime: context.Background()}
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
