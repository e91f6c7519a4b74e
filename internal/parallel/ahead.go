package parallel

import (
	"context"
	"iter"
)

// Ahead ranges over the results of do for 0 to n-1, in this order. Up to workers calls of do run
// ahead of the consumer, as long as the results that wait and the calls in progress have at most
// the given weight together. The function weight returns the weight of a result before the call. A
// result that is heavier than the limit is computed alone.
//
// If ctx ends, the range ends without waiting for the calls in progress. The caller checks ctx.
// The context of do also ends with the range. A panic and a runtime.Goexit in do end the
// consumer's goroutine.
func Ahead[T any](ctx context.Context, workers, n int, limit int64, weight func(i int) int64, do func(ctx context.Context, i int) T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var begun []<-chan Outcome[T] // of the calls whose results the consumer has not received, in order
		next, heavy := 0, int64(0)
		for i := range n {
			for next < n && len(begun) < workers && (next == i || heavy+weight(next) <= limit) {
				j := next
				begun = append(begun, Go(func() (T, error) { return do(ctx, j), nil }))
				heavy += weight(j)
				next++
			}
			select {
			case o := <-begun[0]:
				value, _ := o.Result()
				begun[0] = nil // frees the channel and its result
				begun = begun[1:]
				heavy -= weight(i)
				if !yield(i, value) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
