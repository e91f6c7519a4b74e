package toolshelf

import (
	"context"
	"errors"
	"io/fs"

	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// enter reports whether the catalog may touch the filesystem. Close waits for
// leave. After Close began, enter reports false.
func (c *Catalog) enter() bool { return c.pending.TryRLock() }
func (c *Catalog) leave()      { c.pending.RUnlock() }

// await returns the result of do, which touches the filesystem with a context
// that ends with ctx and with Close. As soon as ctx ends, await returns the
// error of ctx, and leaves the goroutine of do behind if the filesystem hangs.
// A panic and a runtime.Goexit in do end the caller's goroutine.
//
// No function of the caller's may run in do, because Close waits for do.
func await[T any](ctx context.Context, c *Catalog, do func(context.Context) (T, error)) (T, error) {
	if ctx.Done() == nil {
		return direct(c, c.lifetime, do)
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
func awaitRoot[T any](ctx context.Context, c *Catalog, do func(context.Context) (T, error)) (T, error) {
	if c.local != nil && c.local.Local() {
		return direct(c, callContext{ctx, c.lifetime}, do)
	}
	return await(ctx, c, do)
}

// direct calls do on the caller's goroutine.
func direct[T any](c *Catalog, ctx context.Context, do func(context.Context) (T, error)) (T, error) {
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

// closedCause returns fs.ErrClosed for an error that Close has caused.
func (c *Catalog) closedCause(err error) error {
	if errors.Is(err, context.Canceled) && c.sharedClosed() {
		return fs.ErrClosed
	}
	return err
}
