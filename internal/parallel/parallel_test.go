package parallel_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

func TestDoCallsEachNumberOnce(t *testing.T) {
	for _, workers := range []int{-1, 1, 3, 100} {
		var calls [50]atomic.Int64
		err := parallel.Do(t.Context(), workers, len(calls), func(i int) error {
			calls[i].Add(1)
			return nil
		})
		for i := range calls {
			if n := calls[i].Load(); err != nil || n != 1 {
				t.Errorf("%d workers: %d calls for %d, %v", workers, n, i, err)
			}
		}
	}
}

func TestDoEnds(t *testing.T) {
	failure := errors.New("failure")
	for name, tt := range map[string]struct {
		do   func(cancel func()) error
		want error
	}{
		"with an error":    {func(func()) error { return failure }, failure},
		"with the context": {func(cancel func()) error { cancel(); return nil }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var calls atomic.Int64
			err := parallel.Do(ctx, 4, 1000, func(int) error {
				calls.Add(1)
				return tt.do(cancel)
			})
			if !errors.Is(err, tt.want) || calls.Load() > 4 {
				t.Errorf("%d calls, %v; want at most 4 and %v", calls.Load(), err, tt.want)
			}
		})
	}
}

func TestAnExitOfOneCallEndsTheCaller(t *testing.T) {
	wants := map[string]any{"Goexit": nil, "panic": "of the caller"}
	for way, exit := range map[string]func(){"Goexit": runtime.Goexit, "panic": func() { panic("of the caller") }} {
		for _, at := range []int{0, 1, 7, 99} {
			returned, recovered := false, any(nil)
			var working atomic.Int64
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { recovered = recover() }()
				_ = parallel.Do(t.Context(), 4, 100, func(i int) error {
					working.Add(1)
					defer working.Add(-1)
					if i == at {
						exit()
					}
					return nil
				})
				returned = true
			}()
			<-done
			if want := wants[way]; returned || recovered != want || working.Load() != 0 {
				t.Errorf("%s at %d: returned %t, recovered %v, %d calls in progress", way, at, returned, recovered, working.Load())
			}
		}
	}
}

func TestACallAllocatesNothing(t *testing.T) {
	run := func(n int) float64 {
		return testing.AllocsPerRun(1, func() { _ = parallel.Do(t.Context(), 2, n, func(int) error { return nil }) })
	}
	if few, many := run(10), run(10_000); many > few+100 {
		t.Errorf("%v allocations for 10 calls, %v for 10,000", few, many)
	}
}
