package toolshelf

import (
	"context"
	"io/fs"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// await returns the result of do, which touches the filesystem with a context
// that ends with ctx and with Close. As soon as ctx ends, await returns the
// error of ctx, and leaves the goroutine of do behind if the filesystem hangs.
// A panic and a runtime.Goexit in do end the caller's goroutine.
//
// No function of the caller's may run in do, because Close waits for do.
func await[T any](ctx context.Context, c *Catalog, do func(context.Context) (T, error)) (T, error) {
	if ctx.Done() == nil {
		return direct(c.lifetime, c, do)
	}
	var zero T
	if !c.enter() {
		return zero, fs.ErrClosed
	}
	ending, cancel := context.WithCancel(ctx)
	defer cancel()
	within := callContext{ending, c.lifetime}
	done := parallel.Go(func() (T, error) {
		defer c.leave()
		return do(within)
	})
	closing := c.lifetime.Done()
	for {
		select {
		case o := <-done:
			value, err := o.Result()
			return value, c.closedCause(err)
		case <-ctx.Done():
			return zero, ctx.Err()
		case <-closing:
			cancel()
			closing = nil
		}
	}
}

// awaitRoot is await for a do that reads only files below the root. On a local disk, no
// system call waits for a network or another program, and do looks at its context
// between system calls. There, do runs on the caller's goroutine, because another
// goroutine can cost more than a small directory.
func awaitRoot[T any, W work[T]](ctx context.Context, c *Catalog, w W) (T, error) {
	if c.local != nil && c.local.Local() {
		return direct(callContext{ctx, c.lifetime}, c, w.do)
	}
	return await(ctx, c, w.do)
}

// A work is the argument of awaitRoot. The argument is no function, because direct needs no allocation for a method.
type work[T any] interface {
	do(ctx context.Context) (T, error)
}

// A workFunc is a work that is a function.
type workFunc[T any] func(context.Context) (T, error)

func (f workFunc[T]) do(ctx context.Context) (T, error) { return f(ctx) }

// direct calls do on the caller's goroutine.
func direct[T any](ctx context.Context, c *Catalog, do func(context.Context) (T, error)) (T, error) {
	if !c.enter() {
		var zero T
		return zero, fs.ErrClosed
	}
	defer c.leave()
	value, err := do(ctx)
	return value, c.closedCause(err)
}

// A callContext is the context of a call. After Close, Err returns an error immediately.
// With await, Done also closes after Close.
type callContext struct {
	context.Context
	lifetime context.Context
}

func (c callContext) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	return c.lifetime.Err()
}

// newReporter returns a reporter, or nil if f is nil. count returns numbers that never
// decrease.
func newReporter(f func(Progress), count func() (entries, files int64)) *parallel.Reporter {
	if f == nil {
		return nil
	}
	return parallel.NewReporter(func(entries, files int, done bool) { f(Progress{entries, files, done}) }, count)
}

// reporter returns the reporter of a call with WithProgress, or nil.
func (o *dirOptions) reporter() *parallel.Reporter {
	if o.progress == nil {
		return nil
	}
	seen, searched := new(atomic.Int64), new(atomic.Int64)
	o.seen, o.searched = seen, searched
	return newReporter(o.progress, func() (entries, files int64) { return seen.Load(), searched.Load() })
}

// reportedInRoot is awaitRoot with reports in the meantime.
func reportedInRoot[T any, W work[T]](ctx context.Context, c *Catalog, r *parallel.Reporter, w W) (T, error) {
	if r == nil {
		return awaitRoot[T](ctx, c, w)
	}
	return parallel.Reported(ctx, r, func(ctx context.Context) (T, error) { return awaitRoot[T](ctx, c, w) })
}
