package toolshelf

import (
	"time"

	"github.com/toolshelf-go/toolshelf/internal/index"
)

// WithClock sets the clock that WithCacheTTL goes by.
func WithClock(now func() time.Time) Option {
	return optionFunc(func(c *config) { c.now = now })
}

// Cached reports whether a catalog has the file of a command in memory.
func Cached(c *Catalog, name string) bool {
	e := c.commands.Last().Lookup(name)
	return c.caches.commands.Kept.Get(e.File()) != nil
}

var IsEmbedded = index.IsEmbedded

// SetMaxDigests sets the number of files of which a catalog keeps the digest.
func SetMaxDigests(c *Catalog, n int) { c.caches.skills.Digests.Max = n }

// CachedFiles counts the files in the caches of a catalog.
func CachedFiles(c *Catalog) (n int) {
	count := func(index.File) bool { n++; return true }
	c.caches.commands.Kept.Retain(count)
	c.caches.commands.Texts.Retain(count)
	c.caches.skills.Texts.Retain(count)
	c.caches.skills.Kept.Retain(count)
	c.usages.Commands.Kept.Retain(count)
	c.caches.lines.Retain(count)
	return n + c.caches.skills.Digests.Len()
}
