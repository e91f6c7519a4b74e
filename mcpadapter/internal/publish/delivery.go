package publish

import (
	"context"
	"sync"
)

// A page of a list can begin with rows of one adapter of a server and end with rows of another, so a
// binding requests more rows than the page contains, and then reports the rows that the client
// receives.

// collectKey is the key of a context with a collection.
type collectKey struct{}

// A collection contains the functions to call for the rows of a page.
type collection struct {
	mu        sync.Mutex
	functions map[string][]func() // by row
}

// Collect returns a context in which then waits for the delivery of a row, and a function
// that reports the delivery. If ctx already collects rows, the delivery of the outer list
// counts, and the returned function does nothing.
func Collect(ctx context.Context) (collecting context.Context, deliver func(row string)) {
	if _, ok := ctx.Value(collectKey{}).(*collection); ok {
		return ctx, func(string) {}
	}
	c := &collection{functions: make(map[string][]func())}
	return context.WithValue(ctx, collectKey{}, c), c.deliver
}

// then calls f when the client receives a row. Without Collect, every row is delivered,
// and then calls f at once.
func then(ctx context.Context, row string, f func()) {
	c, ok := ctx.Value(collectKey{}).(*collection)
	if !ok {
		f()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.functions[row] = append(c.functions[row], f)
}

func (c *collection) deliver(row string) {
	c.mu.Lock()
	functions := c.functions[row]
	delete(c.functions, row)
	c.mu.Unlock()
	for _, f := range functions {
		f()
	}
}
