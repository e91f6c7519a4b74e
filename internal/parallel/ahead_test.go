package parallel

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func one(int) int64 { return 1 }

func TestAheadYieldsInOrder(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		for _, workers := range []int{1, 3, 100} {
			want := 0
			for i, v := range Ahead(t.Context(), workers, n, 1<<20, one, func(_ context.Context, i int) int { return -i }) {
				if i != want || v != -i {
					t.Fatalf("result %d is %d, want %d", i, v, want)
				}
				want++
			}
			must.Equal(t, "want", n, want)
		}
	}
}

// The calls run ahead of a consumer up to the number of workers and the limit of the weight.
func TestAheadIsBounded(t *testing.T) {
	for _, tt := range []struct {
		workers int
		limit   int64
		want    int64 // most results that the consumer has not received
	}{{1, 100, 1}, {5, 100, 5}, {50, 10, 3}, {50, 2, 1}} {
		synctest.Test(t, func(t *testing.T) {
			var done atomic.Int64
			received, most := int64(0), int64(0)
			for range Ahead(t.Context(), tt.workers, 40, tt.limit, func(int) int64 { return 3 }, func(context.Context, int) int { return int(done.Add(1)) }) {
				synctest.Wait()
				most = max(most, done.Load()-received)
				received++
			}
			if most != tt.want {
				t.Errorf("%d workers, limit %d: %d results wait, want %d", tt.workers, tt.limit, most, tt.want)
			}
		})
	}
}

func TestAheadRunsSlowCallsAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		for range Ahead(t.Context(), 10, 100, 1000, one, func(context.Context, int) int { time.Sleep(time.Second); return 0 }) {
		}
		must.Equal(t, "100 calls of a second take", 10*time.Second, time.Since(begin))
	})
}

func TestAheadEndsWithItsContextAndItsConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		ended.Add(5) // the second result frees a worker
		wait := func(ctx context.Context, i int) int {
			if i > 0 {
				<-ctx.Done()
			}
			ended.Done()
			return i
		}
		time.AfterFunc(time.Second, cancel)
		n := 0
		for range Ahead(ctx, 4, 10, 1000, one, wait) {
			n++
		}
		must.Equal(t, "n", 1, n)
		ended.Wait()
		ended.Add(4)
		for range Ahead(t.Context(), 4, 10, 1000, one, wait) {
			break
		}
		ended.Wait()
	})
}

func TestAheadPassesOnAPanic(t *testing.T) {
	defer func() {
		must.Equal(t, "recover()", "no", recover())
	}()
	for range Ahead(t.Context(), 4, 10, 1000, one, func(_ context.Context, i int) int {
		if i == 3 {
			panic("no")
		}
		return i
	}) {
	}
}

func TestAheadPassesOnAGoexit(t *testing.T) {
	ended := make(chan bool)
	go func() {
		defer close(ended)
		for range Ahead(context.Background(), 4, 10, 1000, one, func(context.Context, int) int { runtime.Goexit(); return 0 }) {
			t.Error("a result")
		}
		t.Error("the goroutine continues")
	}()
	<-ended
}

func TestAheadComputesResultsWithoutWeightOnTheGoroutineOfTheConsumer(t *testing.T) {
	var begun atomic.Int64
	weight := func(i int) int64 { return int64(i % 2) }
	for i, v := range Ahead(t.Context(), 4, 100, 1000, weight, func(_ context.Context, i int) int {
		if i%2 == 0 {
			begun.Add(1)
		}
		return i
	}) {
		if v != i || begun.Load() != int64(i/2+1) {
			t.Errorf("result %d is %d, with %d calls", i, v, begun.Load())
		}
	}
	defer func() {
		must.Equal(t, "recover()", "no", recover())
	}()
	for range Ahead(t.Context(), 4, 1, 1000, weight, func(context.Context, int) int { panic("no") }) {
	}
}

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
