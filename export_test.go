package toolshelf

import "time"

// WithClock sets the clock that WithCacheTTL goes by.
func WithClock(now func() time.Time) Option {
	return optionFunc(func(c *config) error { c.now = now; return nil })
}

// Cached reports whether a catalog has the file of a command in memory.
func Cached(c *Catalog, name string) bool {
	e := c.commands.Last().Lookup(name)
	return c.commandContents.get(file{e.Layer, e.Path}) != nil
}

var IsEmbedded = isEmbedded

// CachedFiles counts the files that a catalog has in memory, and the bytes that
// they are counted for.
func CachedFiles(c *Catalog) (files int, bytes int64) {
	files = len(c.commandContents.files) + len(c.usages.files) + len(c.skillContents.files) + len(c.digests.files)
	return files, c.commandContents.size + c.usages.size + c.skillContents.size + c.digests.size
}
