// Package hostiletest measures memory, and ends contexts, in tests of hostile stores.
package hostiletest

import (
	"context"
	"runtime"
)

// Used returns the bytes of the heap that are reachable.
func Used() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// Allocated returns the bytes that all goroutines allocate during a call.
func Allocated(call func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

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
