package index

import (
	"bytes"
	"cmp"
	linkedlist "container/list"
	"reflect"
	"sync"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// A File identifies a file of a layer.
type File struct {
	Layer int    // index in Config.Layers
	Path  string // relative to the layer's FS
	part  *Part  // two plugins can have the same file
}

// File returns the file of the entry.
func (e *Entry) File() File { return File{e.Layer(), e.Path, e.Part()} }

// A Cache keeps values that were read from files, and evicts the least recently used
// value first. A Cache does not look at the files: compare the current metadata of a
// file with Cached.Info before the use of a value. A Cache is safe for concurrent use.
type Cache[T any] struct {
	Max int64 // bytes of memory for all values, 0 for maxCache; set Max before the first use

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

// maxCache is the default of Cache.Max.
const maxCache = 16 << 20

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

// Take is Get, and removes the value.
func (c *Cache[T]) Take(f File) *Cached[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.files[f]
	if e == nil {
		return nil
	}
	c.remove(e)
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
	for c.size > cmp.Or(c.Max, maxCache) {
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

// Texts are texts that scans have read.
type Texts[T []byte | string] struct{ Cache[T] }

// Add keeps the text of an entry.
func (t *Texts[T]) Add(e *Entry, info confine.Info, text T) {
	t.Put(&Cached[T]{File: e.File(), Info: info, Value: text, Size: int64(len(text))})
}

// KeepVersioned returns the function Config.Whole of an index. The function keeps the texts of
// stores with versions, because another request for a text takes long.
func KeepVersioned(t *Texts[[]byte]) func(*Entry, confine.Info, []byte) {
	return func(e *Entry, info confine.Info, text []byte) {
		if info.Version != "" {
			t.Add(e, info, bytes.Clone(text))
		}
	}
}

// Find returns the text of a file in the version of the entry, if the Texts still have
// the text. The caller must not modify the text.
func (t *Texts[T]) Find(e *Entry) (text T, info confine.Info, ok bool) {
	if kept := t.Of(e); kept != nil {
		return kept.Value, kept.Info, true
	}
	return text, confine.Info{}, false
}

// Of returns the text of Find, or nil.
func (t *Texts[T]) Of(e *Entry) *Cached[T] {
	if kept := t.Get(e.File()); kept != nil && stamp.Of(kept.Info).Same(e.Stamp) {
		return kept
	}
	return nil
}
