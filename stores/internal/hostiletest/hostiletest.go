// Package hostiletest ends contexts, in tests of hostile stores.
package hostiletest

import "context"

// A Context ends after Last calls of Err. A Context is not safe for concurrent use.
type Context struct {
	context.Context
	Last, Asked int
}

// Err returns context.Canceled after the end.
func (c *Context) Err() error {
	if c.Asked++; c.Asked > c.Last {
		return context.Canceled
	}
	return nil
}
