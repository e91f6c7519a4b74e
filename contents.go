package toolshelf

import (
	"container/list"
	"sync"

	"github.com/toolshelf-go/toolshelf/confine"
)

// maxContents is how many bytes of commands, and of skills, a catalog keeps in
// memory.
const maxContents = 16 << 20

// contents keeps what was read of files, the least recently used to go first.
// What it holds is only served after a stat of the file.
type contents[T any] struct {
	max int64 // how much to keep, in the unit of content.size

	mu    sync.Mutex
	files map[file]*list.Element // of content
	order list.List              // most recently used first
	size  int64
}

type file struct {
	layer int
	path  string
}

// content is what was read of a file. It is immutable.
type content[T any] struct {
	file  file
	info  confine.Info // of the file before it was read
	value T
	size  int64
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
	c.files[read.file] = c.order.PushFront(read)
	c.size += read.size
	for c.size > c.max {
		c.remove(c.order.Back())
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
