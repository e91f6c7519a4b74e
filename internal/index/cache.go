package index

import (
	linkedlist "container/list"
	"reflect"
	"sync"

	"github.com/toolshelf-go/toolshelf/confine"
)

// A File identifies a file of a layer.
type File struct {
	Layer int    // index in Config.Layers
	Path  string // relative to the layer's FS
}

// File returns the file of the entry.
func (e *Entry) File() File { return File{e.Layer(), e.Path} }

// A Cache keeps values that were read from files, and evicts the least recently used
// value first. A Cache does not look at the files: compare the current metadata of a
// file with Cached.Info before the use of a value. A zero Cache keeps nothing. A Cache
// is safe for concurrent use.
type Cache[T any] struct {
	Max int64 // bytes of memory for all values; set Max before the first use

	mu    sync.Mutex
	files map[File]*linkedlist.Element // of *Cached[T]
	order linkedlist.List              // most recently used first
	size  int64                        // sum of the memory of all values
}

// Cached is a value in a Cache. It is immutable after Put.
type Cached[T any] struct {
	File  File
	Info  confine.Info // metadata of the file at the time of the read
	Value T
	Size  int64 // memory that Value refers to, in bytes
}

// overhead is the memory of a list element and a map entry, with the alignment of
// their allocations.
const overhead = 256

// memory returns the bytes that a value takes from Cache.Max.
func (c *Cached[T]) memory() int64 {
	return c.Size + int64(reflect.TypeFor[Cached[T]]().Size()) + int64(len(c.File.Path)) + overhead
}

// Get returns the value of a file, or nil.
func (c *Cache[T]) Get(f File) *Cached[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.files[f]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*Cached[T])
}

// Put adds a value and replaces an older value of the file. A value that needs more
// than Max is not kept.
func (c *Cache[T]) Put(v *Cached[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		c.files = make(map[File]*linkedlist.Element)
	}
	c.remove(c.files[v.File])
	c.files[v.File] = c.order.PushFront(v)
	c.size += v.memory()
	for c.size > c.Max {
		c.remove(c.order.Back())
	}
}

// Retain removes the values of all files for which keep returns false. Keep must not
// call the Cache.
func (c *Cache[T]) Retain(keep func(File) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for f, e := range c.files {
		if !keep(f) {
			c.remove(e)
		}
	}
}

func (c *Cache[T]) remove(e *linkedlist.Element) {
	if e == nil {
		return
	}
	v := c.order.Remove(e).(*Cached[T])
	delete(c.files, v.File)
	c.size -= v.memory()
}
