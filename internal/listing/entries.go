package listing

import (
	"container/heap"
	"context"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf/confine"
)

// entries returns the entries after the dirent after, in the order by name, and the number
// of all these entries. If limit is not negative, entries returns at most limit entries,
// and the memory depends on limit. The entries are in the memory of buf if buf has room.
func (d *reader) entries(ctx context.Context, dir *confine.Dir, at location, after *dirent,
	limit int, buf []dirent) (selected []dirent, following int, t totals, err error) {
	page := pageHeap(buf[:0])
	var text nameBuffer
	main := 0
	t, err = d.read(ctx, dir, at, func(_ *meter, name []byte, k Kind, info *confine.Info) error {
		r := dirent{kind: k, info: info, main: d.MainFirst && isMain(k, string(name))}
		if r.main && k != KindDir {
			main++
		}
		if after != nil || limit >= 0 && len(page) >= limit {
			// Most names of a large directory end here and are not copied.
			if after != nil && compareNamed(r, name, *after) <= 0 {
				return nil
			}
			following++
			if limit == 0 || limit > 0 && len(page) >= limit && compareNamed(r, name, page[0]) >= 0 {
				return nil
			}
			r.name = string(name)
		} else {
			following++
			r.name = text.add(name)
		}
		page.add(r, limit)
		return nil
	})
	t.main = main
	sortDirents(page)
	return page, following, t, err
}

// A nameBuffer allocates names together. A name keeps at most nameBlock bytes of other
// names in memory.
type nameBuffer struct{ block strings.Builder }

const nameBlock = 8 << 10

// add returns a copy of a name.
func (b *nameBuffer) add(name []byte) string {
	if full := b.block.Cap(); b.block.Len()+len(name) > full {
		b.block = strings.Builder{}
		b.block.Grow(max(min(2*full, nameBlock), 256, len(name)))
	}
	b.block.Write(name)
	all := b.block.String()
	return all[len(all)-len(name):]
}

// buffers holds the memory of the dirents of List. A call of entries fills the memory from
// the beginning, so the cost of a larger buffer is the same.
var buffers = sync.Pool{New: func() any {
	buf := make([]dirent, 0, 64)
	return &buf
}}

// maxBuffer limits the number of dirents of a buffer that stays in memory.
const maxBuffer = 16 << 10

// release returns the memory of entries to buffers. No dirent may be used after release.
func release(buf *[]dirent, entries []dirent) {
	if cap(entries) > maxBuffer {
		return
	}
	clear(entries) // the names
	*buf = entries[:0]
	buffers.Put(buf)
}

// A pageHeap holds the first entries in order. When full, it is a heap with the
// last entry at the top.
type pageHeap []dirent

func (h pageHeap) Len() int           { return len(h) }
func (h pageHeap) Less(i, j int) bool { return compareDirents(h[i], h[j]) > 0 }
func (h pageHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h pageHeap) Push(any)           { panic("add appends and replaces") }
func (h pageHeap) Pop() any           { panic("add appends and replaces") }

// add adds an entry and, if the heap is full, removes the last entry.
func (h *pageHeap) add(r dirent, limit int) {
	if limit >= 0 && len(*h) >= limit {
		(*h)[0] = r
		heap.Fix(h, 0)
		return
	}
	if *h = append(*h, r); len(*h) == limit {
		heap.Init(h)
	}
}
