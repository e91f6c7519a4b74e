package parallel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestEachCallsDoForEveryNumber(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		calls := make([]atomic.Int64, n)
		if err := Each(t.Context(), n, func(i int) { calls[i].Add(1) }); err != nil {
			t.Fatal(err)
		}
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("%d of %d: %d calls", i, n, got)
			}
		}
	}
}

// If the first call is slow, the other calls run on many goroutines.
func TestEachRunsSlowCallsAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if err := Each(t.Context(), 1+2*slowWorkers, func(int) { <-time.After(2 * slowFile) }); err != nil {
			t.Fatal(err)
		}
		if got, want := time.Since(begin), 3*2*slowFile; got != want {
			t.Errorf("%d calls of %v each take %v, want %v", 1+2*slowWorkers, 2*slowFile, got, want)
		}
	})
}

func TestEachEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int64
	if err := Each(ctx, 1_000_000, func(int) { calls.Add(1); cancel() }); !errors.Is(err, context.Canceled) || calls.Load() == 1_000_000 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	for _, n := range []int{0, 1, 10} {
		if err := Each(ctx, n, func(int) { t.Error("a call after the end") }); !errors.Is(err, context.Canceled) {
			t.Errorf("%d calls: %v", n, err)
		}
	}
	for _, n := range []int{1, 2, 10} {
		ctx, cancel := context.WithCancel(t.Context())
		var calls atomic.Int64
		if err := Each(ctx, n, func(int) {
			if calls.Add(1) == int64(n) {
				cancel()
			}
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("the end in the last of %d calls: %v", n, err)
		}
		cancel()
	}
}
