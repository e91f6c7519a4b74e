// Package textfile reads pages of the text files of a filesystem. A file can be read at any offset,
// also if its filesystem only reads files in order.
package textfile

import (
	"context"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
	"github.com/toolshelf-go/toolshelf/internal/text"
)

// A Reader reads the text files of a filesystem.
type Reader struct {
	FS        *confine.FS
	AnyOffset bool                          // each file can be read at any offset
	Lines     *index.Cache[*text.LineIndex] // the offsets of the lines of unchanged files
}

// minIndexed is the size of the files that one read reads completely.
const minIndexed = 64 << 10

// Read returns a part of a file. The result of an error has the size of the file, if known. Read
// sets Request.InOrder.
func (r Reader) Read(ctx context.Context, name string, q text.Request) (text.Page, error) {
	now := time.Now()
	file, err := r.open(ctx, name)
	if err != nil {
		return text.Page{}, err
	}
	defer func() { file.Close() }() // ReadAt may replace file.File
	info := file.Info()
	lines, kept := r.lines(name, info)
	size := info.Size
	if size == 0 {
		size = -1 // the filesystem may not know the size, as in /proc
	}
	before := lines.Memory()
	q.InOrder = file.inOrder
	page, err := text.Read(ctx, file, size, lines, q)
	page.Path, page.Size = name, info.Size
	if err != nil {
		return page, err
	}
	if kept && lines.Memory() > before || !kept && info.Size > minIndexed && stamp.Settled(info, now) {
		r.Lines.Put(&index.Cached[*text.LineIndex]{File: index.File{Path: name}, Info: info, Value: lines, Size: lines.Memory()})
	}
	page.Changed = file.hasChanged()
	return page, nil
}

// lines returns the index of a file, and whether the index is in the cache.
func (r Reader) lines(name string, info confine.Info) (lines *text.LineIndex, kept bool) {
	if k := r.Lines.Get(index.File{Path: name}); k != nil && stamp.SameFile(k.Info, info) {
		return k.Value, true
	}
	return new(text.LineIndex), false
}
