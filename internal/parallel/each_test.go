package parallel

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestEachCallsDoForEveryNumber(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		calls := make([]atomic.Int64, n)
		must.Do(t, Each(t.Context(), MaxReads, n, func(i int) { calls[i].Add(1) }))
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("%d of %d: %d calls", i, n, got)
			}
		}
	}
}

// Slow calls run on many goroutines, also after calls that are not slow.
func TestEachRunsSlowCallsAtTheSameTime(t *testing.T) {
	const quick, slow, call = 1000, 640, 20 * slowFile
	for _, limit := range []int{1, 3, MaxReads, 2 * slow} {
		synctest.Test(t, func(t *testing.T) {
			var running, most atomic.Int64
			begin := time.Now()
			must.Do(t, Each(t.Context(), limit, quick+slow, func(i int) {
				if i < quick {
					return
				}
				n := running.Add(1)
				defer running.Add(-1)
				for seen := most.Load(); seen < n && !most.CompareAndSwap(seen, n); seen = most.Load() {
				}
				<-time.After(call)
			}))
			want := int64(max(min(limit, slow), min(limit, runtime.GOMAXPROCS(0))))
			if got := most.Load(); got > want || got < want-int64(runtime.GOMAXPROCS(0)) {
				t.Errorf("limit %d: %d calls at the same time, want %d", limit, got, want)
			}
			if got, enough := time.Since(begin), 3*call+slow*call/time.Duration(want); got > enough {
				t.Errorf("limit %d: %d calls of %v take %v, want at most %v", limit, slow, call, got, enough)
			}
		})
	}
}

func TestEachEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int64
	if err := Each(ctx, MaxReads, 1_000_000, func(int) { calls.Add(1); cancel() }); !errors.Is(err, context.Canceled) || calls.Load() == 1_000_000 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	for _, n := range []int{0, 1, 10} {
		if err := Each(ctx, MaxReads, n, func(int) { t.Error("a call after the end") }); !errors.Is(err, context.Canceled) {
			t.Errorf("%d calls: %v", n, err)
		}
	}
	for _, n := range []int{1, 2, 10} {
		ctx, cancel := context.WithCancel(t.Context())
		var calls atomic.Int64
		if err := Each(ctx, MaxReads, n, func(int) {
			if calls.Add(1) == int64(n) {
				cancel()
			}
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("the end in the last of %d calls: %v", n, err)
		}
		cancel()
	}
}
