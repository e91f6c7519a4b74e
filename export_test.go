package toolshelf

import "time"

// WithClock sets the clock that WithCacheTTL goes by.
func WithClock(now func() time.Time) Option {
	return func(c *config) error { c.now = now; return nil }
}

// Cached reports whether a catalog has the file of a command in memory.
func Cached(c *Catalog, name string) bool {
	e := c.commands.Last().Lookup(name)
	return c.commandContents.get(file{e.Layer, e.Path}) != nil
}

var IsEmbedded = isEmbedded
