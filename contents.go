package toolshelf

import (
	"container/list"
	"sync"

	"github.com/toolshelf-go/toolshelf/internal/confine"
)

// maxContents is how many bytes of files a catalog keeps in memory.
const maxContents = 16 << 20

// contents keeps commands that were read whole, the least recently used of
// them to go first. What it holds is only served after a stat of the file.
type contents struct {
	mu    sync.Mutex
	files map[file]*list.Element // of content
	order list.List              // most recently used first
	bytes int64
}

type file struct {
	layer int
	path  string
}

// content is a command as it was read. It is immutable.
type content struct {
	file    file
	info    confine.Info // of the file before it was read
	command Command
}

func (c *contents) get(f file) *content {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.files[f]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*content)
}

func (c *contents) put(read *content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		c.files = make(map[file]*list.Element)
	}
	c.remove(c.files[read.file])
	c.files[read.file] = c.order.PushFront(read)
	c.bytes += int64(len(read.command.Raw))
	for c.bytes > maxContents {
		c.remove(c.order.Back())
	}
}

func (c *contents) remove(e *list.Element) {
	if e == nil {
		return
	}
	read := c.order.Remove(e).(*content)
	delete(c.files, read.file)
	c.bytes -= int64(len(read.command.Raw))
}
