//go:build race

package hostiletest

// Race reports whether the race detector is on. A sync.Pool then drops values at random, and its
// users allocate new values.
const Race = true
