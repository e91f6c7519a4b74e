// Package lifetime ends the work of a catalog on the filesystem when the catalog is closed.
package lifetime

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// A Lifetime is a context that ends with End, and counts the work on the filesystem.
type Lifetime struct {
	context.Context
	cancel  context.CancelFunc
	closing atomic.Bool
	work    sync.RWMutex // read-locked by work on the filesystem, locked forever by Wait
}

// New returns a Lifetime that has begun.
func New() *Lifetime {
	l := new(Lifetime)
	l.Context, l.cancel = context.WithCancel(context.Background())
	return l
}

// End ends the context. A second End does nothing, and returns false.
func (l *Lifetime) End() bool {
	if l.closing.Swap(true) {
		return false
	}
	l.cancel()
	return true
}

// Wait waits for the end of the work. After Wait began, Enter reports false.
func (l *Lifetime) Wait() { l.work.Lock() }

// Enter reports whether work on the filesystem may begin. Wait waits for Leave.
func (l *Lifetime) Enter() bool { return l.work.TryRLock() }

// Leave ends the work that Enter has begun.
func (l *Lifetime) Leave() { l.work.RUnlock() }

// Within returns the context of a call, whose Err also returns an error after End.
func (l *Lifetime) Within(ctx context.Context) context.Context { return callContext{ctx, l} }

// Cause returns fs.ErrClosed for an error that End has caused.
func (l *Lifetime) Cause(err error) error {
	if errors.Is(err, context.Canceled) && l.Err() != nil {
		return fs.ErrClosed
	}
	return err
}

// Await returns the result of do, which touches the filesystem with a context that ends with ctx
// and with the Lifetime. As soon as ctx ends, Await returns the error of ctx, and leaves the
// goroutine of do behind if the filesystem hangs. A panic and a runtime.Goexit in do end the
// caller's goroutine.
//
// No function of a caller of the catalog may run in do, because Wait waits for do.
func Await[T any](ctx context.Context, l *Lifetime, do func(context.Context) (T, error)) (T, error) {
	if ctx.Done() == nil {
		return Direct(l, l, do)
	}
	var zero T
	if !l.Enter() {
		return zero, fs.ErrClosed
	}
	ending, cancel := context.WithCancel(ctx)
	defer cancel()
	within := l.Within(ending)
	done := parallel.Go(func() (T, error) {
		defer l.Leave()
		return do(within)
	})
	closing := l.Done()
	for {
		select {
		case o := <-done:
			value, err := o.Result()
			return value, l.Cause(err)
		case <-ctx.Done():
			return zero, ctx.Err()
		case <-closing:
			cancel()
			closing = nil
		}
	}
}

// Direct is Await on the caller's goroutine, without an end while do does not look at its context.
func Direct[T any](ctx context.Context, l *Lifetime, do func(context.Context) (T, error)) (T, error) {
	if !l.Enter() {
		var zero T
		return zero, fs.ErrClosed
	}
	defer l.Leave()
	value, err := do(l.Within(ctx))
	return value, l.Cause(err)
}

// A callContext is the context of a call. After End, Err returns an error immediately. In Await,
// Done also closes after End.
type callContext struct {
	context.Context
	lifetime *Lifetime
}

func (c callContext) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	return c.lifetime.Err()
}
