package toolshelf

import "time"

// WithClock sets the clock that WithCacheTTL goes by.
func WithClock(now func() time.Time) Option {
	return func(c *config) error { c.now = now; return nil }
}
