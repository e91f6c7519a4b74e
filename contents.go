package toolshelf

import (
	"container/list"
	"reflect"
	"sync"

	"github.com/toolshelf-go/toolshelf/confine"
)

// maxContents bounds the memory of each cache of a catalog, in bytes.
const maxContents = 16 << 20

// contentOverhead is the memory of a cached file beside the content: the list
// element, the map entry and what the allocator adds.
const contentOverhead = 256

// contents caches the contents of files and evicts the least recently used file
// first. Callers stat a file before they use the cached content.
type contents[T any] struct {
	max int64 // bytes

	mu    sync.Mutex
	files map[file]*list.Element // of content
	order list.List              // most recently used first
	size  int64
}

type file struct {
	layer int
	path  string
}

// content is the cached content of a file. It is immutable.
type content[T any] struct {
	file  file
	info  confine.Info // state of the file before the read
	value T
	size  int64 // memory of value in bytes, without the struct; put adds the rest
}

func (c *contents[T]) get(f file) *content[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.files[f]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*content[T])
}

func (c *contents[T]) put(read *content[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		c.files = make(map[file]*list.Element)
	}
	c.remove(c.files[read.file])
	read.size += int64(reflect.TypeFor[content[T]]().Size()) + int64(len(read.file.path)) + contentOverhead
	c.files[read.file] = c.order.PushFront(read)
	c.size += read.size
	for c.size > c.max {
		c.remove(c.order.Back())
	}
}

// retain removes all files for which keep returns false.
func (c *contents[T]) retain(keep func(file) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for f, e := range c.files {
		if !keep(f) {
			c.remove(e)
		}
	}
}

func (c *contents[T]) remove(e *list.Element) {
	if e == nil {
		return
	}
	read := c.order.Remove(e).(*content[T])
	delete(c.files, read.file)
	c.size -= read.size
}
