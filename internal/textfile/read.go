// Package textfile reads pages of the text files of a filesystem. A file can be read at any offset,
// also if its filesystem only reads files in order.
package textfile

import (
	"context"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/shown"
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
func (r Reader) Read(ctx context.Context, name string, q text.Request) (shown.FileText, error) {
	now := time.Now()
	file, err := r.open(ctx, name)
	if err != nil {
		return shown.FileText{}, err
	}
	defer func() { file.Close() }() // ReadAt may replace file.File
	info := file.Info()
	t := shown.FileText{Path: name, Size: info.Size}
	lines, kept := r.lines(name, info)
	size := info.Size
	if size == 0 {
		size = -1 // the filesystem may not know the size, as in /proc
	}
	before := lines.Memory()
	q.InOrder = file.inOrder
	page, err := text.Read(ctx, file, size, lines, q)
	if err != nil {
		return t, err
	}
	if kept && lines.Memory() > before || !kept && info.Size > minIndexed && stamp.Settled(info, now) {
		r.Lines.Put(&index.Cached[*text.LineIndex]{File: index.File{Path: name}, Info: info, Value: lines, Size: lines.Memory()})
	}
	t.Changed = file.hasChanged()
	t.Text = page.Text
	t.First, t.Last, t.Total, t.Column = page.First, page.Last, page.Total, page.Column
	t.NextLine, t.NextColumn, t.Truncated = page.NextLine, page.NextColumn, page.Truncated
	t.Encoding, t.BOM, t.Invalid = string(page.Format.Encoding), page.Format.BOM, page.Invalid
	t.LineEnding = lineEnding(page)
	return t, nil
}

// lines returns the index of a file, and whether the index is in the cache.
func (r Reader) lines(name string, info confine.Info) (lines *text.LineIndex, kept bool) {
	if k := r.Lines.Get(index.File{Path: name}); k != nil && stamp.SameFile(k.Info, info) {
		return k.Value, true
	}
	return new(text.LineIndex), false
}

func lineEnding(p text.Page) string {
	if p.Breaks == 0 {
		return ""
	}
	if p.Format.CR {
		return "cr"
	}
	switch p.CRLF {
	case 0:
		return "lf"
	case p.Breaks:
		return "crlf"
	default:
		return "mixed"
	}
}
