package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
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
			if want != n {
				t.Errorf("%d results of %d", want, n)
			}
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
		if got := time.Since(begin); got != 10*time.Second {
			t.Errorf("100 calls of a second take %v with 10 workers", got)
		}
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
		if n != 1 {
			t.Errorf("%d results", n)
		}
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
		if recover() != "no" {
			t.Error("no panic")
		}
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
		if recover() != "no" {
			t.Error("no panic")
		}
	}()
	for range Ahead(t.Context(), 4, 1, 1000, weight, func(context.Context, int) int { panic("no") }) {
	}
}
