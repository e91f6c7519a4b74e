package toolshelf

import (
	"context"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/text"
)

// A FileText is the text of a file, or of some lines of a file.
type FileText struct {
	Path       string `json:"path"`                  // relative to the root
	Text       string `json:"text"`                  // in UTF-8, with the line breaks of the file, without a byte order mark
	First      int    `json:"first"`                 // first line of Text, from 1; negative if counted from the end, as in Lines; 0 if Text is empty
	Last       int    `json:"last"`                  // last line of Text, like First
	Total      int    `json:"total"`                 // number of lines of the file; -1 if unknown
	Size       int64  `json:"size"`                  // size of the file in bytes
	Truncated  bool   `json:"truncated"`             // Text ends before the last of the requested lines
	NextLine   int    `json:"next_line,omitempty"`   // line to continue with, like First; 0 at the end of the file
	NextColumn int64  `json:"next_column,omitempty"` // number of bytes of the line NextLine before the end of Text, for Column; 0 unless Text ends within a line
	Column     int64  `json:"column,omitempty"`      // number of bytes of the line First before Text
	LineEnding string `json:"line_ending,omitempty"` // of Text: "lf", "crlf", "mixed" (both), "cr", or "" if Text has no line break
	Encoding   string `json:"encoding"`              // of the file: "utf-8", "utf-16le" or "utf-16be"
	BOM        bool   `json:"bom,omitempty"`         // the file begins with a byte order mark
	Invalid    int    `json:"invalid,omitempty"`     // number of U+FFFD in Text that replace an invalid byte or an invalid unit of UTF-16
	Changed    bool   `json:"changed,omitempty"`     // the file changed during the call; Text may have parts of both versions
}

// A ReadOption is an option for one call of ReadFile. If an option is repeated, the last
// value applies. A nil ReadOption has no effect.
type ReadOption func(*readOptions)

type readOptions struct {
	from, to int
	column   int64
	max      int
	err      error // the first error
}

const (
	defaultReadBytes = 256 << 10
	maxReadBytes     = 256 << 20
)

// Lines selects the lines from the line from to the line to, including both. Lines are
// numbered from 1. A negative number counts from the end: -1 is the last line. 0 is the first
// line as from, and the last line as to: Lines(-20, 0) selects the last 20 lines.
//
// A range beyond the end selects the lines that exist. If from is after to and both have the
// same sign, the error is [ErrInvalidOption].
func Lines(from, to int) ReadOption {
	return func(o *readOptions) {
		if from > to && (from > 0 && to > 0 || from < 0 && to < 0) {
			o.fail(invalidOption("Lines: line " + strconv.Itoa(from) + " is after line " + strconv.Itoa(to) + "; give the first line first"))
		}
		// -math.MaxInt is the smallest number with an opposite.
		o.from, o.to = max(from, -math.MaxInt), max(to, -math.MaxInt)
	}
}

// Column skips the first n bytes of the first line, to continue a line that is longer than
// MaxBytes: use Lines(t.NextLine, 0) and Column(t.NextColumn). Column counts the bytes of the
// file. If the line is shorter, Column skips the line. A number within a character leads to
// U+FFFD at the beginning of the text. A negative n is [ErrInvalidOption].
func Column(n int64) ReadOption {
	return func(o *readOptions) {
		if n < 0 {
			o.fail(invalidOption("Column: " + strconv.FormatInt(n, 10) + " bytes; use 0 or more"))
		}
		o.column = n
	}
}

// MaxBytes sets the maximum size of FileText.Text in bytes, from 1 to 256 MiB. The value 0
// means the default, 256 KiB. A value out of range is [ErrInvalidOption].
//
// ReadFile omits the lines that do not fit, and sets Truncated. If the first line does not
// fit, ReadFile returns the beginning of the line: whole characters and at least one, even if
// the character is larger than n.
func MaxBytes(n int) ReadOption {
	return func(o *readOptions) {
		switch {
		case n < 0 || n > maxReadBytes:
			o.fail(invalidOption("MaxBytes: " + strconv.Itoa(n) + " bytes; use 1 to " + strconv.Itoa(maxReadBytes) + ", or 0 for the default"))
		case n == 0:
			n = defaultReadBytes
		}
		o.max = n
	}
}

func (o *readOptions) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// ReadFile returns the text of a file, or a part of the text.
//
// ReadFile accepts the paths of [Catalog.ListDir]. ReadFile follows the links that
// [WithSymlinks] allows, also in the last element. ReadFile reads regular files only, and
// never waits for a named pipe or a device.
//
// Without options, ReadFile returns the file from the beginning, at most 256 KiB. Lines and
// MaxBytes set other limits. Text ends at the end of a line, except if its first line alone
// exceeds MaxBytes. The options Lines(t.NextLine, 0) and Column(t.NextColumn) return the next
// page. The pages, joined, are the text of the file.
//
// A file with a byte order mark of UTF-16 is decoded. Every other file is UTF-8. An invalid
// byte, and an invalid unit of UTF-16, becomes U+FFFD and counts as Invalid. A file is not
// text if its first 8,000 bytes contain a NUL. A NUL after the first 8,000 bytes is a
// character of Text.
//
// A line ends with LF or CRLF. If the first 8,000 bytes contain CR but no LF, a line ends with
// CR. A lone CR in other files, and an LF in a file with CR, is a character of the line. A line
// break at the end of the file begins no further line. If the file has no line in the selected
// range, the result has no text, and Total is the number of lines.
//
// ReadFile returns the file as the file is when ReadFile opens the file: ReadFile ignores
// bytes that another program appends during the call. If the file shrinks during the call,
// Text ends at the new end. If another program changes the file during the call in any way,
// Changed is true. A file that is removed or replaced during the call is read completely.
//
// The errors are:
//
//   - [ErrOutsideRoot] if the path leads out of the root, or through a link that
//     [WithSymlinks] does not allow. The error does not depend on the existence of the
//     target.
//   - [ErrNotFound] if the file does not exist, or no file can have the path.
//   - [ErrDirectoryNotFound] if the root does not exist.
//   - [ErrNotText] if the file is not text, with the detected type and the size.
//   - [ErrPermissionDenied] if the permission to read the file is missing.
//   - [ErrFileRead] if the path names a directory or a special file, and for failures of the
//     filesystem.
//   - [ErrInvalidOption] for invalid options.
//
// The limit of [WithMaxFileSize] does not apply, because the memory and the cost depend on
// the text, not on the size of the file. The first call for a line reads the file up to the
// line. A call for lines counted from the end reads the file backwards up to the line. ReadFile
// counts the lines of each file of up to 1 MiB. In a larger file Total is unknown until a call
// has read the file up to the end; lines selected from the end are then numbered from the end.
// Lines with a negative from and a positive to, and Column with a negative from, count the
// lines of the whole file.
//
// A catalog keeps the offsets of the lines of files above 64 KiB, one for each 16 KiB, up to
// 576 KiB for one file and 16 MiB for all. A later call for the unchanged file begins at such
// an offset, and does not check bytes again that an earlier call found to be ASCII without CR.
// The size and the times of the file show a change. If a program changes the file through a
// memory mapping, the system may keep the times: the lines can then have wrong numbers, and
// Text can be invalid UTF-8.
//
// On a filesystem without change times (see [WithFs]), each call reads the file from its
// beginning. On a filesystem whose files cannot be read at an offset, such as most archives,
// each call reads the file in order, and lines counted from the end count the lines of the
// whole file.
func (c *Catalog) ReadFile(ctx context.Context, path string, opts ...ReadOption) (FileText, error) {
	const op = "ReadFile"
	if err := c.begin(ctx, op); err != nil {
		return FileText{}, err
	}
	o := readOptions{max: defaultReadBytes}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if o.err != nil {
		return FileText{}, inOp(op, o.err)
	}
	t, err := awaitRoot(ctx, c, func(ctx context.Context) (FileText, error) {
		name, err := c.rootRelative(op, path)
		if err != nil {
			return FileText{}, err
		}
		t, err := c.readText(ctx, name, o)
		switch {
		case err == nil:
			return t, nil
		case ctx.Err() != nil:
			return FileText{}, ctx.Err()
		default:
			return FileText{}, c.readError(ctx, op, path, name, t.Size, err)
		}
	})
	return t, c.methodError(op, err)
}

// readText reads a part of a file. The result of an error has the size of the file, if known.
func (c *Catalog) readText(ctx context.Context, name string, o readOptions) (FileText, error) {
	now := time.Now()
	file, err := c.openText(ctx, name)
	if err != nil {
		return FileText{}, err
	}
	defer func() { file.Close() }() // ReadAt may replace file.File
	info := file.Info()
	t := FileText{Path: name, Size: info.Size}
	lines, kept := c.lineIndex(name, info)
	size := info.Size
	if size == 0 {
		size = -1 // the filesystem may not know the size, as in /proc
	}
	before := lines.Memory()
	request := text.Request{From: o.from, To: o.to, Column: o.column, Max: o.max, InOrder: file.inOrder}
	if kept {
		request.Unchanged = file.unchanged
	}
	page, err := text.Read(ctx, file, size, lines, request)
	if err != nil {
		return t, err
	}
	if kept && lines.Memory() > before || !kept && info.Size > minIndexed && index.Settled(info, now) {
		c.caches.lines.Put(&index.Cached[*text.Index]{File: index.File{Path: name}, Info: info, Value: lines, Size: lines.Memory()})
	}
	t.Changed = !file.unchanged()
	t.Text = page.Text
	t.First, t.Last, t.Total, t.Column = page.First, page.Last, page.Total, page.Column
	t.NextLine, t.NextColumn, t.Truncated = page.NextLine, page.NextColumn, page.Truncated
	t.Encoding, t.BOM, t.Invalid = string(page.Format.Encoding), page.Format.BOM, page.Invalid
	t.LineEnding = lineEnding(page)
	return t, nil
}

// minIndexed is the size of the files that one read reads completely.
const minIndexed = 64 << 10

// lineIndex returns the index of a file, and whether the index is in the cache.
func (c *Catalog) lineIndex(name string, info confine.Info) (lines *text.Index, kept bool) {
	if k := c.caches.lines.Get(index.File{Path: name}); k != nil && index.SameFile(k.Info, info) {
		return k.Value, true
	}
	return new(text.Index), false
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

// readError returns the error of ReadFile.
func (c *Catalog) readError(ctx context.Context, op, given, name string, size int64, err error) error {
	var notText *text.NotTextError
	switch {
	case errors.As(err, &notText):
		return &Error{Code: CodeNotText, Op: op, Path: given, Err: err,
			Message: "'" + escape.Path(name) + "' is not text: " + notText.MediaType + ", " + formatSize(size) + "; use a tool for this type of file"}
	case errors.Is(err, confine.ErrNotRegular):
		e := &Error{Code: CodeFileRead, Op: op, Path: given, Err: err,
			Message: "'" + escape.Path(name) + "' is not a regular file; choose another file"}
		if info, err := c.root.Info(name); err == nil && info.Mode.IsDir() {
			e.Message = "'" + slashed(name) + "' is a directory, not a file; list the directory and choose a file"
		}
		return e
	}
	return c.statError(ctx, op, given, name, err)
}

// A textFile is an open file that can be read at any offset, also if its filesystem only
// reads files in order.
type textFile struct {
	*confine.File
	ctx      context.Context
	open     func() (*confine.File, error)
	inOrder  bool // ReadAt of the File fails
	at       int64
	replaced bool // another file has replaced the file when ReadAt opened the file again
	checked  bool
	changed  bool // the result of unchanged, if checked
}

func (c *Catalog) openText(ctx context.Context, name string) (*textFile, error) {
	open := func() (*confine.File, error) { return c.root.OpenRegular(name) }
	file, err := open()
	if err != nil {
		return nil, err
	}
	f := &textFile{File: file, ctx: ctx, open: open}
	if !c.onOS {
		// Filesystems without ReadAt return any error. If the file is broken, Read returns the
		// error.
		_, err := file.ReadAt(make([]byte, 1), 0)
		f.inOrder = err != nil && err != io.EOF
	}
	return f, nil
}

// unchanged reports whether the file did not change since openText. Call unchanged after the
// last read: later calls return the first result.
func (f *textFile) unchanged() bool {
	if !f.checked {
		now, err := f.Stat()
		f.checked, f.changed = true, err != nil || f.replaced || !index.SameFile(f.Info(), now)
	}
	return !f.changed
}

// ReadAt implements io.ReaderAt. To go back in a file that can only be read in order, ReadAt
// opens the file again.
func (f *textFile) ReadAt(p []byte, offset int64) (int, error) {
	if !f.inOrder {
		return f.File.ReadAt(p, offset)
	}
	if offset < f.at {
		file, err := f.open()
		if err != nil {
			return 0, err
		}
		f.replaced = f.replaced || !index.SameFile(f.Info(), file.Info())
		f.File.Close()
		f.File, f.at = file, 0
	}
	for f.at < offset {
		if err := f.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := io.CopyN(io.Discard, f.File, min(offset-f.at, 1<<20))
		f.at += n
		if err != nil {
			return 0, err
		}
	}
	read, err := io.ReadFull(f.File, p)
	f.at += int64(read)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return read, err
}

// String returns the lines as text for a model: the number of each line, a tab and the line
// without its line break. After the number of an empty line, there is no tab. The text has no line break at its end. The numbers are aligned at
// the right.
//
// If the text begins within a line, the first line begins with "…". If lines follow, the last
// line is, for example, "… and 400 more lines; continue with line 101". Further lines contain
// warnings about invalid bytes and about a change of the file.
//
// Each line of the file is one line, even if the line contains control characters. The
// following characters are written as in a Go string: control characters except the tab, line
// and paragraph separators, format and invisible characters. A backslash stays as in the file.
func (t FileText) String() string {
	var b strings.Builder
	b.Grow(len(t.Text) + len(t.Text)/4 + 64)
	if t.First == 0 {
		t.writeEmpty(&b)
	} else {
		t.writeLines(&b)
		t.writeRest(&b)
	}
	writeWarnings(&b, t.warnings())
	return b.String()
}

func (t FileText) writeEmpty(b *strings.Builder) {
	switch {
	case t.Total == 0:
		b.WriteString("The file is empty")
	case t.Total > 0:
		b.WriteString("No such line; the file has " + counted(t.Total, "line", "lines"))
	default:
		b.WriteString("No such line")
	}
}

// writeLines writes the numbered lines.
func (t FileText) writeLines(b *strings.Builder) {
	width := max(len(strconv.Itoa(t.First)), len(strconv.Itoa(t.Last)))
	lines := strings.SplitAfterSeq(t.Text, t.terminator())
	if t.LineEnding == "" {
		// LF and CR are characters of the only line.
		lines = func(yield func(string) bool) { yield(t.Text) }
	}
	number := t.First
	for line := range lines {
		if line == "" && number > t.First {
			break // after the last line break
		}
		if number > t.First {
			b.WriteByte('\n')
		}
		text := strconv.Itoa(number)
		b.WriteString(strings.Repeat(" ", width-len(text)) + text)
		line = escape.Line(t.withoutBreak(line))
		if number == t.First && t.Column > 0 {
			line = "…" + line
		}
		if line != "" {
			b.WriteString("\t" + line)
		}
		number++
	}
}

// terminator returns the last character of a line break.
func (t FileText) terminator() string {
	if t.LineEnding == "cr" {
		return "\r"
	}
	return "\n"
}

func (t FileText) withoutBreak(line string) string {
	if t.LineEnding == "" {
		return line
	}
	whole, ended := strings.CutSuffix(line, t.terminator())
	if ended && t.LineEnding != "cr" {
		whole = strings.TrimSuffix(whole, "\r")
	}
	return whole
}

// writeRest writes the line about the lines after Text.
func (t FileText) writeRest(b *strings.Builder) {
	if t.NextLine == 0 {
		return
	}
	more := -1
	switch {
	case t.Last < 0:
		more = -1 - t.Last
	case t.Total >= 0:
		more = t.Total - t.Last
	}
	b.WriteString("\n… ")
	switch cut := t.NextLine == t.Last; {
	case cut && more == 0:
		b.WriteString("and the rest of the line")
	case cut && more > 0:
		b.WriteString("and the rest of the line and " + counted(more, "more line", "more lines"))
	case cut:
		b.WriteString("and the rest of the line, and maybe more lines")
	case more > 0:
		b.WriteString("and " + counted(more, "more line", "more lines"))
	default:
		b.WriteString("and more lines")
	}
	b.WriteString("; continue with line " + strconv.Itoa(t.NextLine))
	if t.NextColumn > 0 {
		b.WriteString(", column " + strconv.FormatInt(t.NextColumn, 10))
	}
}

func (t FileText) warnings() (all []string) {
	if t.Invalid > 0 {
		all = append(all, counted(t.Invalid, "invalid byte or unit", "invalid bytes or units")+" of "+t.Encoding+", written as U+FFFD")
	}
	if t.Changed {
		all = append(all, "the file changed during the call; read the file again")
	}
	return all
}
