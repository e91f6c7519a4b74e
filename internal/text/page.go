package text

import (
	"bytes"
	"context"
	"io"
	"math"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"
)

// A Request selects a part of a file.
type Request struct {
	// Lines, from 1; a negative number counts from the end; 0 is the first and the last line.
	From, To int
	// Number of bytes to skip in the first line; a number larger than the line skips the line.
	Column  int64
	Around  int  // a line, whose block replaces From, To and Column; 0 for none
	Max     int  // bytes of Page.Text, more than 0
	InOrder bool // reading backwards is expensive
}

// A Page is a part of the text of a file. Read does not set Path, Size and Changed.
type Page struct {
	Path        string
	Text        string // in UTF-8, without the byte order mark
	First, Last int    // lines of Text, negative if counted from the end; 0 if Text is empty
	Total       int    // lines of the file, -1 if unknown
	Size        int64
	Truncated   bool // Request.Max ended the page
	// Line that follows Text, or that contains the next byte; 0 at the end of the file and if the
	// page has no line.
	NextLine   int
	NextColumn int64  // bytes of the line NextLine before the end of Text
	Column     int64  // bytes of the line First before Text
	LineEnding string // "lf", "crlf", "mixed", "cr", or "" if Text has no line break
	Encoding   string // an Encoding
	BOM        bool
	Invalid    int // as in Decoded
	Changed    bool
}

// A NotTextError reports a file that is not text.
type NotTextError struct {
	MediaType string
}

func (e *NotTextError) Error() string { return "not a text file (" + e.MediaType + ")" }

// countable is the size up to which Read counts the lines of each file.
const countable = 1 << 20

// chunk is the number of bytes of one read.
const chunk = 64 << 10

var chunks = sync.Pool{New: func() any { return new([chunk]byte) }}

// Read returns a part of a file. Read reads the file up to size, or up to the end if size
// is negative. x belongs to the unchanged file.
//
// Read checks ctx between two reads. The errors are the error of ctx, a *NotTextError and
// the errors of file.
func Read(ctx context.Context, file io.ReaderAt, size int64, x *LineIndex,
	q Request) (Page, error) {
	if size < 0 {
		size = math.MaxInt64
	}
	buf := chunks.Get().(*[chunk]byte)
	defer chunks.Put(buf)
	r := reader{ctx: ctx, file: file, size: size, countable: countable, index: x, memory: buf}
	if q.Around > 0 {
		return r.around(q)
	}
	return r.page(q)
}

// The lines before and after a line in which around looks for the block, and their size in bytes.
const (
	reach     = 2000
	maxWindow = 1 << 20
)

// around reads the block around a line. If the block is larger than Max, the page begins at most a
// few lines before the line.
func (r *reader) around(q Request) (Page, error) {
	window := Request{From: max(1, q.Around-reach), To: min(q.Around, math.MaxInt-reach) + reach, Max: maxWindow, InOrder: q.InOrder}
	p, err := r.page(window)
	if err != nil || p.Last < q.Around && !p.Truncated {
		return r.none(), err
	}
	q.From, q.To, q.Column = q.Around, q.Around, 0
	if p.Last >= q.Around {
		lines := strings.Split(p.Text, string(r.format.Terminator()))
		// A file that changes can have fewer line breaks than the index.
		lines = lines[:min(len(lines), p.Last-p.First+1)]
		if at := q.Around - p.First; at < len(lines) {
			first, last := Enclosing(lines, at)
			q.From, q.To = p.First+first, p.First+last
		}
	}
	if p, err = r.page(q); err == nil && p.Last < q.Around {
		const before = 5
		q.From = max(q.From, q.Around-before)
		p, err = r.page(q)
	}
	return p, err
}

// A reader is one call of Read.
type reader struct {
	ctx    context.Context
	file   io.ReaderAt
	size   int64 // the end of the file; math.MaxInt64 if unknown
	index  *LineIndex
	format Format

	countable int64 // the constant, except in tests

	err    error // of the file or ctx, or a *NotTextError; the reader then reads nothing more
	memory *[chunk]byte
	buf    []byte // the bytes of the last read
	at     int64  // offset of buf
	owned  bool   // buf is not a part of memory
}

// fill reads up to n bytes, n <= chunk. The result is shorter only at the end of the file and after
// an error.
func (r *reader) fill(offset int64, n int) []byte {
	r.at, r.owned = offset, false
	r.buf = r.read(r.memory[:n], offset)
	return r.buf
}

// fillPage reads a page that begins at an offset, or up to a distance after the offset.
// One read then finds the beginning of the page and returns the page.
func (r *reader) fillPage(offset, distance int64, q Request) {
	end := offset + min(distance+r.format.RawSize(q.Max), r.size-offset)
	if q.To > 0 {
		// The line To can be before the offset: in Lines(-1, 1), or in a file that changes.
		end = max(offset, min(end, r.index.after(q.To)))
	}
	if end-offset <= chunk || r.err != nil {
		r.fill(offset, int(min(end-offset, chunk)))
	} else {
		r.buf, r.at, r.owned = r.raw(offset, end), offset, true
	}
}

// read is fill into the caller's memory.
func (r *reader) read(into []byte, offset int64) []byte {
	into = into[:max(0, min(int64(len(into)), r.size-offset))]
	if len(into) > 0 && r.err == nil {
		r.err = r.ctx.Err()
	}
	if len(into) == 0 || r.err != nil {
		return nil
	}
	n, err := r.file.ReadAt(into, offset)
	if n < len(into) {
		if err != nil && err != io.EOF {
			r.err = err
			return nil
		}
		r.size = offset + int64(n)
	}
	return into[:n]
}

// bytes returns some bytes, and none at the end of the file. If a read is necessary, the
// read has n bytes.
func (r *reader) bytes(offset int64, n int) []byte {
	if i := offset - r.at; i >= 0 && i < int64(len(r.buf)) {
		return r.buf[i:]
	}
	return r.fill(offset, n)
}

// detect finds the format.
func (r *reader) detect() {
	known := false
	if r.format, known = r.index.Format(); known {
		return
	}
	head := r.fill(0, chunk)
	f, isText := Detect(head)
	switch {
	case r.err != nil:
	case !isText:
		r.err = &NotTextError{MediaType(head)}
	default:
		r.format = f
		r.index.setFormat(f)
	}
}

// advance moves m forward until m has n line breaks, but not beyond an offset and the end
// of the file. advance adds the marks on its way to the index.
func (r *reader) advance(m mark, n int, until int64) mark {
	block := r.index.block()
	want := int(block - m.offset%block)
	for m.breaks < n && m.offset < until {
		raw := r.bytes(m.offset, want)
		if len(raw) == 0 {
			r.setEnd(m)
			return m
		}
		m = r.count(m, raw[:min(int64(len(raw)), until-m.offset)], n)
		want = chunk
	}
	return m
}

// count is advance within the bytes after m.
func (r *reader) count(m mark, raw []byte, n int) mark {
	block := r.index.block()
	for len(raw) > 0 && m.breaks < n {
		part := raw[:min(int64(len(raw)), block-m.offset%block)]
		size, more := r.format.skip(part, n-m.breaks)
		raw = raw[size:]
		m.offset += int64(size)
		m.breaks += more
		if m.offset%block == 0 {
			r.index.add(m)
		}
	}
	return m
}

// setEnd adds the number of lines to the index. Without an error, m is the end of the file.
func (r *reader) setEnd(m mark) {
	lines := m.breaks
	if m.offset > r.format.Start() && !r.endsAt(m.offset) {
		lines++
	}
	if r.err == nil {
		r.index.setLines(lines)
	}
}

// endsAt reports whether a line break ends at the offset.
func (r *reader) endsAt(offset int64) bool {
	unit := int64(r.format.unit())
	if offset%unit != 0 || offset-unit < r.format.Start() {
		return false
	}
	raw := r.bytes(offset-unit, int(unit))
	return int64(len(raw)) >= unit && r.format.ends(raw[:unit])
}

// back returns the beginning of the line -n, or the beginning of the text if the file has
// fewer lines. The line -0 is the end of the file.
func (r *reader) back(n int) int64 {
	end := r.size
	if n == 0 {
		return end
	}
	if r.endsAt(end) {
		end -= int64(r.format.unit())
	}
	for end > r.format.Start() && r.err == nil {
		start := max(r.format.Start(), (end-1)/chunk*chunk)
		offset, breaks := r.format.skipBack(r.fill(start, int(end-start)), n)
		if breaks == n {
			return start + int64(offset)
		}
		n -= breaks
		end = start
	}
	return r.format.Start()
}

// page reads a part of the file.
func (r *reader) page(q Request) (Page, error) {
	var p Page
	if r.detect(); r.err == nil {
		p = r.find(q)
	}
	if r.err != nil {
		return Page{}, r.err
	}
	return p, nil
}

// find is page for a text. After an error, the result has no meaning.
func (r *reader) find(q Request) Page {
	r.countLines(q)
	if total, ok := r.index.Lines(); ok && !q.fromBegin(total) {
		return r.none()
	}
	s := r.start(q)
	if !r.more(s.offset) {
		if r.total() < 0 {
			r.setEnd(s.mark())
		}
		return r.none()
	}
	end, last := r.end(q, s)
	if end <= s.offset {
		return r.none()
	}
	if i := s.offset - r.at; i < 0 || end-r.at > int64(len(r.buf)) {
		r.fillPage(s.offset, 0, q)
	}
	raw := r.buf[s.offset-r.at:]
	raw = raw[:min(int64(len(raw)), end-s.offset)]
	if len(raw) == 0 {
		return r.none()
	}
	return r.text(s, raw, last, q.Max)
}

// fromBegin counts the lines of a request from the beginning of a file with a number of lines, and
// reports false if the last line of the request precedes the file.
func (q *Request) fromBegin(total int) bool {
	if q.From < 0 {
		q.From = max(1, total+1+q.From)
	}
	if q.To >= 0 {
		return true
	}
	q.To += total + 1
	return q.To > 0
}

// text returns the page that begins with raw. The last line of the request ends at the offset
// last, if known.
func (r *reader) text(s position, raw []byte, last int64, max int) Page {
	d := r.decode(s, raw, max)
	// A short text must not keep a large buffer alive.
	if shared := len(d.Text) > 0 && &d.Text[0] == &raw[0]; shared && (!r.owned || len(d.Text) < len(r.buf)/2) {
		d.Text = append([]byte(nil), d.Text...)
	}
	ended := r.format.ends(raw[:d.Raw])
	end := s.offset + int64(d.Raw)
	if s.line > 0 && r.index.last().offset < end {
		r.count(s.mark(), raw[:d.Raw], math.MaxInt)
	}
	more := r.more(end)
	p := Page{
		// Nothing else refers to the bytes.
		Text:       unsafe.String(unsafe.SliceData(d.Text), len(d.Text)),
		First:      s.line,
		Last:       s.line + d.Breaks,
		Column:     s.column,
		LineEnding: d.lineEnding(r.format),
		Encoding:   string(r.format.Encoding),
		BOM:        r.format.BOM,
		Invalid:    d.Invalid,
	}
	if ended {
		p.Last--
	}
	switch {
	case !more:
		if s.line > 0 && r.err == nil {
			r.index.setLines(p.Last)
		}
	case ended:
		p.NextLine = p.Last + 1
	default:
		p.NextLine, p.NextColumn = p.Last, int64(d.Raw)
		if d.Breaks == 0 {
			p.NextColumn += s.column
		}
	}
	p.Truncated = more && (last == 0 || end < last)
	p.Total = r.total()
	return p
}

// decode is Decode for the bytes after s. The text of valid UTF-8 shares memory with raw. decode
// counts only the line breaks that the index does not know. In a file that changes, the line breaks
// of the index can be too few.
func (r *reader) decode(s position, raw []byte, max int) Decoded {
	whole := r.format.cut(raw, max)
	if whole == nil || !utf8.Valid(whole) {
		return r.format.Decode(raw, max)
	}
	d := Decoded{Text: whole, Raw: len(whole)}
	if !r.format.CR {
		d.CRLF = bytes.Count(whole, []byte("\r\n"))
	}
	if m := r.index.before(s.offset + int64(d.Raw)); s.line > 0 && m.offset > s.offset && m.breaks >= s.line-1 {
		d.Breaks = m.breaks - (s.line - 1)
		whole = whole[m.offset-s.offset:]
	}
	d.Breaks += r.format.Breaks(whole)
	return d
}

// none returns a page without lines.
func (r *reader) none() Page {
	return Page{Encoding: string(r.format.Encoding), BOM: r.format.BOM, Total: r.total()}
}

func (r *reader) total() int {
	if n, ok := r.index.Lines(); ok {
		return n
	}
	return -1
}

// countLines counts the lines of a small file, and of a file whose lines the request
// cannot select without the number of lines.
func (r *reader) countLines(q Request) {
	if _, ok := r.index.Lines(); ok {
		return
	}
	until := r.countable + block
	switch unknown := r.size == math.MaxInt64; {
	case q.From < 0 && (q.To > 0 || q.Column > 0),
		(q.From < 0 || q.To < 0) && (q.InOrder || unknown):
		until = math.MaxInt64
	case r.size > r.countable && !unknown:
		return
	}
	r.advance(r.index.last(), math.MaxInt, until)
}

// A position is the beginning of a page.
type position struct {
	offset int64
	line   int // negative if counted from the end
	column int64
}

// mark returns the position as a mark, for a line that is not counted from the end.
func (s position) mark() mark { return mark{s.offset, s.line - 1} }

// start finds the beginning of the page. Beyond the last line, the offset is the end of
// the file.
func (r *reader) start(q Request) position {
	if q.From < 0 {
		s := position{offset: r.back(-q.From), line: q.From}
		if s.offset == r.format.Start() {
			s.line = 1
		}
		return s
	}
	line := max(q.From, 1)
	if n := line - 1; n > 0 {
		m, next := r.index.beforeBreak(n), r.index.after(n)
		if next < math.MaxInt64 && q.Column == 0 {
			r.fillPage(m.offset, next-m.offset, q)
		}
	}
	m := r.line(line)
	if m.breaks < line-1 || q.Column == 0 {
		return position{offset: m.offset, line: line}
	}
	column := q.Column - q.Column%int64(r.format.unit())
	until := m.offset + min(column, math.MaxInt64-m.offset)
	if known := r.index.before(until); known.offset > m.offset {
		if known.breaks >= line {
			return position{offset: r.line(line + 1).offset, line: line + 1}
		}
		m = known
	}
	m = r.advance(m, line, until)
	if m.breaks == line {
		return position{offset: m.offset, line: line + 1}
	}
	return position{m.offset, line, column}
}

// line returns the beginning of a line, or the end of the file if the file has fewer
// lines.
func (r *reader) line(n int) mark {
	m := mark{offset: r.format.Start()}
	if n > 1 {
		m = r.index.beforeBreak(n - 1)
	}
	return r.advance(m, n-1, math.MaxInt64)
}

// end finds the offset up to which Read must read for a page, and the end of the last line
// of the request. The second offset is 0 if the line is beyond the page or is the last line
// of the file.
func (r *reader) end(q Request, s position) (end, last int64) {
	end = s.offset + min(r.format.RawSize(q.Max), r.size-s.offset)
	switch {
	case q.To == 0:
		return end, 0
	case q.To < 0:
		last = r.back(-q.To - 1)
	default:
		from := s.mark()
		if known := r.index.beforeBreak(q.To); known.offset > from.offset {
			from = known
		}
		m := r.advance(from, q.To, end)
		if m.breaks < q.To {
			return min(end, r.size), 0
		}
		last = m.offset
	}
	return min(end, last, r.size), last
}

// raw returns the bytes between two offsets in new memory, fewer if the file is shorter.
func (r *reader) raw(from, to int64) (raw []byte) {
	// If the size is unknown, the file may be much shorter.
	const step = 1 << 20
	if r.size < math.MaxInt64 {
		raw = uninitialized(int(to - from))
	}
	for from < to {
		n := int(min(to-from, step))
		if cap(raw)-len(raw) < n {
			raw = append(raw, make([]byte, n)...)[:len(raw)]
		}
		more := r.read(raw[len(raw):len(raw)+n], from)
		raw = raw[:len(raw)+len(more)]
		from += int64(len(more))
		if len(more) < n {
			break
		}
	}
	return raw
}

// uninitialized returns an empty slice with a capacity of n bytes, n > 0. The bytes beyond the
// length have any value. make would write zeros, which takes a sixth of the time to read a page
// of 256 KiB. The memory of a strings.Builder has no zeros.
func uninitialized(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n)[:0]
}

// more reports whether the file has bytes after an offset.
func (r *reader) more(offset int64) bool {
	if r.size < math.MaxInt64 {
		return offset < r.size
	}
	return len(r.bytes(offset, r.format.unit())) > 0 // advance must find whole units
}
