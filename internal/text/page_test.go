package text

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// lines splits a decoded text, the simple way.
func lines(text string, f Format) []string {
	if text == "" {
		return nil
	}
	all := strings.SplitAfter(text, string(f.Terminator()))
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// smallBlocks is the size of the blocks of a LineIndex for small files.
const smallBlocks = 16

// pagesOf reads a file page by page.
func pagesOf(t *testing.T, file []byte, x *LineIndex, q Request) (pages []Page) {
	t.Helper()
	for {
		p := must.Get(Read(t.Context(), bytes.NewReader(file), int64(len(file)), x, q))(t)
		pages = append(pages, p)
		if p.NextLine == 0 || !p.Truncated {
			return pages
		}
		if p.Text == "" {
			t.Fatalf("an empty page with a next line: %+v", p)
		}
		q.From, q.Column = p.NextLine, p.NextColumn
	}
}

func texts(pages []Page) string {
	var b strings.Builder
	for _, p := range pages {
		b.WriteString(p.Text)
	}
	return b.String()
}

func utf16Text(order binary.AppendByteOrder, text string) []byte {
	b := make([]byte, 0, 2*len(text)+2)
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, unit)
	}
	return b
}

// FuzzPages compares all pages and ranges of a file with the lines of the decoded file.
func FuzzPages(f *testing.F) {
	for _, file := range [][]byte{
		nil, []byte("a"), []byte("a\n"), []byte("\n\n"), []byte("ab\r\nc\r\n"), []byte("a\rb\rc"), []byte("a\nb\rc\r\nd"),
		[]byte("\xef\xbb\xbf"), []byte("\xef\xbb\xbfa\nb"), []byte("\xff\xfe"), []byte("\xff\xfea"),
		[]byte("é\xff\xe2\x82\n\xe2\x82\xac\xf0\x9f\x98\x80"),
		utf16Text(binary.LittleEndian, "aĊ\r\n𐍈\nb"), utf16Text(binary.BigEndian, "ਊ\n𐍈\n\n"),
		append(utf16Text(binary.LittleEndian, "a\n\n"), 0x00, 0xd8, '\n'),
		bytes.Repeat([]byte("0123456789abcde\n"), 2*block/16+1),
		// In blocks of 16 bytes, the bytes around the end of a block.
		[]byte("plain plain abc\nplain plain abc\r\nplain\nplain abc\nplain plain abc\nplain"),
		[]byte("plain plain abc\nplain plain abcé plain\nplain ab\nplain plain abc\nplain plain abc\n\xe2\x82"),
		[]byte("plain plain abc\nplain plain ab\xe2\x82\nplain\rplain \x00\nplain plain abc\n\xacplain"),
		[]byte(strings.Repeat("a\r", HeadSize/2) + "b\r\nc"),
		[]byte("\xef\xbb\xbfplain plain \nplain plain abc\nplain plain abc\nplain\r\nplain abc\n"),
	} {
		f.Add(file, 3, -2, 4, 1)
		f.Add(file, 63, 1, 0, 0)
	}
	f.Fuzz(func(t *testing.T, file []byte, most, from, to, column int) {
		most = 1 + most&0xff
		if len(file) > 4*block {
			t.Skip("the fuzz target omits this input")
		}
		format, isText := Detect(file)
		whole := format.Decode(file[min(format.Start(), int64(len(file))):], math.MaxInt)
		_, err := Read(t.Context(), bytes.NewReader(file), int64(len(file)), new(LineIndex), Request{Max: math.MaxInt32})
		if is := errors.As(err, new(*NotTextError)); is == isText {
			t.Fatalf("text: %v, error: %v", isText, err)
		}
		if !isText {
			return
		}
		want := lines(string(whole.Text), format)
		ending := func(text string) string {
			breaks := strings.Count(text, string(format.Terminator()))
			return (&Decoded{Breaks: breaks, CRLF: strings.Count(text, "\r\n")}).lineEnding(format)
		}

		// The pages, joined, are the file, with an index of large and of small blocks.
		for _, x := range []*LineIndex{{}, {small: smallBlocks}} {
			if len(file) >= 2000 {
				break
			}
			pages := pagesOf(t, file, x, Request{Max: most})
			if got := texts(pages); got != string(whole.Text) {
				t.Fatalf("pages of %d bytes: %q, want %q", most, got, whole.Text)
			}
			next := Page{NextLine: 1}
			invalid, before := 0, ""
			for _, p := range pages {
				if p.Text != "" && (p.First != next.NextLine || p.Column != next.NextColumn) {
					t.Fatalf("a page begins at line %d, column %d; the page before says %d, %d", p.First, p.Column, next.NextLine, next.NextColumn)
				}
				if whole := strings.HasSuffix(p.Text, string(format.Terminator())) || p.NextLine == 0; !whole && p.Last > p.First {
					t.Fatalf("%d bytes: the page %q has a part of a second line", most, p.Text)
				}
				if !format.CR && strings.HasSuffix(before, "\r") && strings.HasPrefix(p.Text, "\n") {
					t.Fatalf("pages of %d bytes divide a CRLF", most)
				}
				before = p.Text
				if p.LineEnding != ending(p.Text) {
					t.Fatalf("the line ending %s of %q", p.LineEnding, p.Text)
				}
				if len(p.Text) > max(most, 4) {
					t.Fatalf("a page of %d bytes: %q", most, p.Text)
				}
				if p.Total != len(want) {
					t.Fatalf("%d lines, want %d", p.Total, len(want))
				}
				invalid += p.Invalid
				next = p
			}
			if invalid != whole.Invalid {
				t.Fatalf("%d invalid bytes, want %d", invalid, whole.Invalid)
			}
		}

		// A range is its lines, in a file whose lines Read counts, and in a large file.
		from, to = from%(len(want)+3), to%(len(want)+3)
		first, last := from, to
		if first < 0 {
			first = max(first+len(want)+1, 1)
		}
		if last < 0 {
			last += len(want) + 1
		} else if last == 0 {
			last = len(want)
		}
		first, last = max(first, 1), min(last, len(want))
		wanted := ""
		if first <= last {
			wanted = strings.Join(want[first-1:last], "")
		}
		q := Request{From: from, To: to, Max: math.MaxInt32}
		// A filesystem may know no size, or a size that is too large.
		for _, size := range []int64{-1, int64(len(file)) + 7} {
			if p, err := Read(t.Context(), bytes.NewReader(file), size, new(LineIndex), q); err != nil || p.Text != wanted || p.Text != "" && p.NextLine != 0 && last == len(want) {
				t.Fatalf("lines %d to %d with the size %d: %+v, %v, want %q", from, to, size, p, err, wanted)
			}
		}
		if got := texts(pagesOf(t, file, new(LineIndex), q)); got != wanted {
			t.Fatalf("lines %d to %d: %q, want %q", from, to, got, wanted)
		}
		large := &reader{ctx: t.Context(), file: bytes.NewReader(file), size: int64(len(file)), index: &LineIndex{small: smallBlocks}, memory: new([chunk]byte)}
		for range 2 {
			if p, err := large.page(q); err != nil || p.Text != wanted || p.LineEnding != ending(wanted) {
				t.Fatalf("lines %d to %d of a large file: %+v, %v, want %q", from, to, p, err, wanted)
			}
		}
	})
}

// A generated file consists of "x", except for the bytes in between.
type generated struct {
	size  int64
	other map[int64]byte
	read  int64 // number of bytes read
}

func (g *generated) ReadAt(p []byte, offset int64) (int, error) {
	n := int(max(0, min(int64(len(p)), g.size-offset)))
	for done := copy(p[:n], "x"); 0 < done && done < n; done *= 2 {
		copy(p[done:n], p[:done])
	}
	for at, c := range g.other {
		if i := at - offset; 0 <= i && i < int64(n) {
			p[i] = c
		}
	}
	g.read += int64(n)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// memoryOf returns the number of bytes that f allocates.
func memoryOf(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestLongLine reads a file with a line of 1 GiB between two short lines.
func TestLongLine(t *testing.T) {
	length := int64(1 << 30)
	if testing.Short() {
		length = 32 << 20
	}
	const most = 1000
	file := &generated{size: 2 + length + 1 + 2, other: map[int64]byte{1: '\n', 2 + length: '\n'}}
	x := new(LineIndex)
	for _, tt := range []struct {
		rule    string
		request Request
		want    Page // the text is at most "x" and one line break
		size    int
		read    int64 // the largest number of bytes that the call may read
	}{
		{"the beginning", Request{}, Page{First: 1, Last: 1, Total: -1, NextLine: 2, Truncated: true, LineEnding: "lf"}, 2, chunk + 2*most},
		{"the first line", Request{To: 1}, Page{First: 1, Last: 1, Total: -1, NextLine: 2, LineEnding: "lf"}, 2, chunk + 2*most},
		{"the last line", Request{From: -1}, Page{First: -1, Last: -1, Total: -1}, 2, 2 * chunk},
		{"the beginning of the line", Request{From: 2}, Page{First: 2, Last: 2, Total: -1, NextLine: 2, NextColumn: most, Truncated: true}, most, chunk + 2*most},
		{"the line from the end", Request{From: -2, To: -2}, Page{First: -2, Last: -2, Total: -1, NextLine: -2, NextColumn: most, Truncated: true}, most, length + 3*chunk},
		{"the middle of the line", Request{From: 2, Column: length / 2}, Page{First: 2, Last: 2, Column: length / 2, Total: -1, NextLine: 2, NextColumn: length/2 + most, Truncated: true}, most, length/2 + 2*chunk},
		{"the middle again", Request{From: 2, Column: length / 2}, Page{First: 2, Last: 2, Column: length / 2, Total: -1, NextLine: 2, NextColumn: length/2 + most, Truncated: true}, most, 2 * chunk},
		{"the line from the end, with a column", Request{From: -2, Column: length - 1}, Page{First: 2, Last: 3, Column: length - 1, Total: 3, LineEnding: "lf"}, 4, length/2 + 3*chunk},
		{"a column beyond the line", Request{From: 2, Column: length + 1}, Page{First: 3, Last: 3, Total: 3}, 2, 4 * chunk},
		{"the line after the long line", Request{From: 3}, Page{First: 3, Last: 3, Total: 3}, 2, 2 * chunk},
		{"a column beyond the last line", Request{From: 3, Column: math.MaxInt64}, Page{Total: 3}, 0, 2 * chunk},
	} {
		var p Page
		file.read = 0
		q := tt.request
		q.Max = most
		allocated := memoryOf(func() {
			var err error
			if p, err = Read(t.Context(), file, file.size, x, q); err != nil {
				t.Fatal(err)
			}
		})
		got := p
		got.Text, got.Encoding = "", ""
		if diff := cmp.Diff(tt.want, got); diff != "" || len(p.Text) != tt.size {
			t.Errorf("%s: %d bytes of text, want %d (-want +got):\n%s", tt.rule, len(p.Text), tt.size, diff)
		}
		if file.read > tt.read || allocated > 4<<20 {
			t.Errorf("%s: the call reads %d bytes and allocates %d, want at most %d and 4 MiB", tt.rule, file.read, allocated, tt.read)
		}
	}
	if memory := x.Memory(); memory > 1<<20 {
		t.Errorf("the index has %d bytes", memory)
	}
}

// In a file whose lines are counted, a range that counts from both ends can end before its
// beginning.
func TestRangeEndsBeforeItsBeginning(t *testing.T) {
	const n = 4 * chunk / 16
	file := bytes.Repeat([]byte("0123456789abcde\n"), n)
	for _, q := range []Request{{From: -1, To: 1}, {From: n, To: -n}, {From: -2, To: n - 2}, {From: n / 2, To: -n/2 - 2}} {
		var x LineIndex
		for _, q.Max = range []int{1, chunk, 4 * len(file)} {
			p, err := Read(t.Context(), bytes.NewReader(file), int64(len(file)), &x, q)
			if want := (Page{Encoding: "utf-8", Total: n}); err != nil || p != want {
				t.Errorf("%+v: %.200v, %v", q, p, err)
			}
		}
	}
}

// The search for the end of a file of unknown size divides no unit of UTF-16.
func TestUTF16OfUnknownSize(t *testing.T) {
	const line = "0123456789\n"
	file := utf16Text(binary.LittleEndian, strings.Repeat(line, 2*countable/len(line)))
	want := Page{Text: line, Encoding: "utf-16le", BOM: true, First: 1, Last: 1, NextLine: 2, Total: -1, LineEnding: "lf"}
	p, err := Read(t.Context(), bytes.NewReader(file), -1, new(LineIndex), Request{To: 1, Max: chunk})
	if diff := cmp.Diff(want, p); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// The index of another version of the file leads to any page, but not to a panic.
func TestReadOfAChangedFile(t *testing.T) {
	var x LineIndex
	const size = 4 * chunk
	must.Get(Read(t.Context(), strings.NewReader(strings.Repeat("\n", size)), size, &x, Request{From: -1, To: 1, Max: 1}))(t)
	for _, content := range []string{"0123456789abcde\n", "01234567\xff\xff\xe2\r\n\x82\x00\n"} {
		changed := strings.NewReader(strings.Repeat(content, size/16))
		for _, q := range []Request{{From: block, To: block + 1}, {From: block + 2, To: 2 * block}, {From: 2, To: 3, Column: 2 * block}, {From: -3, To: -2}, {Around: 5}, {Around: 2 * block}} {
			q.Max = chunk
			if _, err := Read(t.Context(), changed, size, &x, q); err != nil {
				t.Errorf("lines %d to %d, column %d, around %d: %v", q.From, q.To, q.Column, q.Around, err)
			}
		}
	}
}

// A LineIndex of a very large file has fewer offsets per byte.
func TestIndexIsBounded(t *testing.T) {
	const perBlock = 3
	var x LineIndex
	m := mark{}
	for range 3*maxBlocks + 5 {
		m.offset += block
		m.breaks += perBlock
		x.add(m)
	}
	if len(x.breaks) >= maxBlocks || x.distance() != 4*block {
		t.Errorf("%d offsets, %d bytes apart", len(x.breaks), x.distance())
	}
	if memory := x.Memory(); memory > 512<<10 {
		t.Errorf("the index has %d bytes", memory)
	}
	for _, n := range []int{1, 12, 13, 100_000, 3 * maxBlocks * perBlock} {
		m, next := x.beforeBreak(n), x.after(n)
		if m.breaks >= n || int64(m.breaks) != m.offset/block*perBlock || next-m.offset != x.distance() {
			t.Errorf("line break %d is after %+v and before %d", n, m, next)
		}
		must.Equal(t, fmt.Sprintf("the last mark before %d", next), m, x.before(next-1))
	}
	if last := x.last(); x.after(last.breaks+1) != math.MaxInt64 || x.before(math.MaxInt64) != last {
		t.Errorf("the last mark %+v has a successor", last)
	}
}

// Calls at the same time share a LineIndex.
func TestConcurrentReads(t *testing.T) {
	const lines = 20_000
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%0*d\n", 50+i%100, i+1)
	}
	file := b.String()
	x := new(LineIndex)
	var readers sync.WaitGroup
	for g := range 8 {
		readers.Go(func() {
			for i := range 50 {
				line := 1 + (i*7919+g*104729)%lines
				p, err := Read(t.Context(), strings.NewReader(file), int64(len(file)), x, Request{From: line, To: line, Max: 1000})
				if err != nil || strings.TrimLeft(p.Text, "0") != fmt.Sprintln(line) {
					t.Errorf("line %d: %q, %v", line, p.Text, err)
					return
				}
			}
		})
	}
	readers.Wait()
}

// Read returns the error of the file, and of a context that ends between two reads. The index learns
// nothing wrong.
func TestReadErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, q := range []Request{{}, {From: 1 << 20}, {From: -1}, {From: -1 << 20}, {To: -1 << 20}, {From: 1, Column: 1 << 20}} {
		q.Max = 1 << 20
		for fail := 1; ; fail++ {
			ctx, cancel := context.WithCancelCause(t.Context())
			file := &failing{generated: generated{size: 2 << 20, other: map[int64]byte{5: '\n', 2<<20 - 5: '\n'}}, left: fail, err: broken}
			x := new(LineIndex)
			_, err := Read(ctx, file, file.size, x, q)
			ended := &failing{generated: file.generated, left: fail, cancel: func() { cancel(nil) }}
			_, endedErr := Read(ctx, ended, ended.size, new(LineIndex), q)
			cancel(nil)
			if file.left > 0 {
				if err != nil || fail == 1 {
					t.Errorf("%+v: %v without a failed read", q, err)
				}
				break
			}
			must.Equal(t, fmt.Sprintf("%+v: the read %d fails", q, fail), broken, err)
			if n, known := x.Lines(); known && n != 3 {
				t.Errorf("%+v: %d lines after the failed read %d", q, n, fail)
			}
			if ended.left < 0 || endedErr != nil && endedErr != context.Canceled {
				t.Errorf("%+v: %d reads after the context ended in the read %d: %v", q, -ended.left, fail, endedErr)
			}
		}
	}
}

// A failing file fails, or calls cancel, in the read number left.
type failing struct {
	generated
	left   int
	err    error
	cancel func()
}

func (f *failing) ReadAt(p []byte, offset int64) (int, error) {
	f.left--
	if f.left == 0 {
		if f.cancel == nil {
			return 0, f.err
		}
		f.cancel()
	}
	return f.generated.ReadAt(p, offset)
}

func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		rule   string
		head   string
		isText bool
		want   Format
	}{
		{"an empty file", "", true, Format{Encoding: UTF8}},
		{"LF", "a\nb", true, Format{Encoding: UTF8}},
		{"CR", "a\rb", true, Format{Encoding: UTF8, CR: true}},
		{"CR before the first LF", "a\rb\n", true, Format{Encoding: UTF8}},
		{"a NUL", "a\x00b", false, Format{}},
		{"a NUL at the end of the head", strings.Repeat("a", HeadSize-1) + "\x00", false, Format{}},
		{"a NUL after the head", strings.Repeat("a", HeadSize) + "\x00", true, Format{Encoding: UTF8}},
		{"UTF-8 with a byte order mark", "\xef\xbb\xbfa", true, Format{Encoding: UTF8, BOM: true}},
		{"UTF-16, little-endian", "\xff\xfea\x00", true, Format{Encoding: UTF16LE, BOM: true}},
		{"UTF-16, big-endian", "\xfe\xff\x00a\x00\r\x00b", true, Format{Encoding: UTF16BE, BOM: true, CR: true}},
		{"UTF-16 without a byte order mark", "a\x00b\x00", false, Format{}},
		{"UTF-16 with bytes of CR and NUL in other characters", "\xff\xfe\x00\x0d\x0d\x01\x00\x01", true, Format{Encoding: UTF16LE, BOM: true}},
		{"UTF-16 with U+0000", "\xff\xfea\x00\x00\x00", false, Format{}},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", false, Format{}},
	} {
		if got, isText := Detect([]byte(tt.head)); got != tt.want || isText != tt.isText {
			t.Errorf("%s: %+v, text: %v; want %+v, %v", tt.rule, got, isText, tt.want, tt.isText)
		}
	}
}

// The text of a page does not change when later calls use the same buffers.
func TestPagesDoNotShareMemory(t *testing.T) {
	for _, size := range []int{100, chunk, 2 * chunk} {
		read := func(c string) Page {
			file := strings.Repeat(c, size)
			return must.Get(Read(t.Context(), strings.NewReader(file), int64(size), new(LineIndex), Request{Max: size}))(t)
		}
		a := read("a")
		read("b")
		if strings.Trim(a.Text, "a") != "" || len(a.Text) != size {
			t.Errorf("%d bytes: the second call changed the text of the first page", size)
		}
	}
}

// The blocks of a text, joined, are the text, for blocks of a few bytes and for short reads. If
// the size is known, Last marks the last block.
func TestBlocksAreTheText(t *testing.T) {
	const content = "a\nüß\r\n😀😀\n\n\u2028資料 x\nlast"
	units := []byte{0xfe, 0xff}
	for _, u := range utf16.Encode([]rune(content)) {
		units = append(units, byte(u>>8), byte(u))
	}
	for _, file := range []string{content, "\xef\xbb\xbf" + content, string(units)} {
		for size := 6; size < 40; size++ {
			for _, read := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
				b := Blocks{Size: size, Head: 6, MaxLine: 40}
				for _, known := range []int64{-1, int64(len(file))} {
					b.Reset(read(strings.NewReader(file)), known)
					joined, last := "", false
					for {
						block, err := b.Next()
						if err == io.EOF {
							break
						}
						if err != nil || block.Cut || len(block.Text) == 0 || last {
							t.Fatalf("%+v after the last block: %t, %v", block, last, err)
						}
						joined += string(block.Text)
						last = block.Last
					}
					if joined != content || !last && known >= 0 {
						t.Errorf("%.4q, blocks of %d bytes: %q, last block: %t", file, size, joined, last)
					}
				}
			}
		}
	}
}

// Next cuts a long line at a whole character, and continues with the next line.
func TestBlocksCutLongLines(t *testing.T) {
	units := "\xff\xfe"
	for _, u := range utf16.Encode([]rune("üüüüüüüü\nb\n")) {
		units += string([]byte{byte(u), byte(u >> 8)})
	}
	for _, file := range []string{"üüüüüüüü\nb\n", units} {
		b := Blocks{Size: 8, Head: 4, MaxLine: 9}
		b.Reset(strings.NewReader(file), int64(len(file)))
		var got []string
		for {
			block, err := b.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(block.Text))
			must.Equal(t, fmt.Sprintf("block %d: cut", len(got)), len(got) == 1, block.Cut)
		}
		must.Equal(t, fmt.Sprintf("%.4q: blocks %q", file, got), "üüüü|b\n", strings.Join(got, "|"))
	}
}

// TestMediaTypesAgreeWithHTTP compares the media type of each signature with
// http.DetectContentType.
func TestMediaTypesAgreeWithHTTP(t *testing.T) {
	for _, s := range signatures {
		// The first four bytes of an MP4 file are the length of the first box.
		begin := strings.Replace(s.begin, "....ftyp", "\x00\x00\x00\x18ftyp", 1)
		head := []byte(begin + strings.Repeat("\x00", 30))
		must.Equal(t, s.begin, http.DetectContentType(head), MediaType(head))
		must.Equal(t, fmt.Sprintf("%q without the last byte", s.begin), "application/octet-stream",
			MediaType([]byte(begin)[:len(begin)-1]))
	}
}

func TestUnknownMediaTypeIsOctetStream(t *testing.T) {
	for _, head := range []string{"", "\x00", "\xff\xfe\x00\x00a\x00\x00\x00", "<html>\x00", " \x89PNG\r\n\x1a\n"} {
		must.Equal(t, head, "application/octet-stream", MediaType([]byte(head)))
	}
}
