package parallel

import (
	"context"
	"iter"
)

// Ahead ranges over the results of do for 0 to n-1, in this order. Up to workers calls of do run
// ahead of the consumer, as long as the results that wait and the calls in progress have at most
// the given weight together. The function weight returns the weight of a result before the call. A
// result that is heavier than the limit is computed alone. The consumer's goroutine computes a
// result without weight, when the result is due, because another goroutine would cost more.
//
// If ctx ends, the range ends without waiting for the calls in progress. The caller checks ctx.
// The context of do also ends with the range. A panic and a runtime.Goexit in do end the
// consumer's goroutine.
func Ahead[T any](ctx context.Context, workers, n int, limit int64, weight func(i int) int64,
	do func(ctx context.Context, i int) T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		type call struct {
			i    int
			done chan Outcome[T]
		}
		calls := make(chan call)
		defer close(calls)
		// A goroutine makes many calls, because the stack of a new goroutine is small and must
		// grow.
		work := func(first call) {
			for c, ok := first, true; ok; c, ok = <-calls {
				var o Outcome[T]
				Run(func() { o.value = do(ctx, c.i) }, func(exit *Exit) {
					o.exit = exit
					c.done <- o
				})
			}
		}
		running := 0
		// Of the calls whose results the consumer has not received, in order.
		var begun []chan Outcome[T]
		next, heavy := 0, int64(0)
		for i := range n {
			for next < n && len(begun) < workers && (next == i || heavy+weight(next) <= limit) {
				if weight(next) == 0 {
					begun = append(begun, nil)
					next++
					continue
				}
				c := call{next, make(chan Outcome[T], 1)}
				select {
				case calls <- c:
				default:
					if running++; running <= workers {
						go work(c)
					} else {
						select { // less than workers calls are in progress
						case calls <- c:
						case <-ctx.Done():
							return
						}
					}
				}
				begun = append(begun, c.done)
				heavy += weight(next)
				next++
			}
			if ctx.Err() != nil {
				return
			}
			var value T
			if begun[0] == nil {
				value = do(ctx, i)
			} else {
				select {
				case o := <-begun[0]:
					value, _ = o.Result()
				case <-ctx.Done():
					return
				}
			}
			begun[0] = nil // frees the channel and its result
			begun = begun[1:]
			heavy -= weight(i)
			if !yield(i, value) {
				return
			}
		}
	}
}
