package text

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf16"
)

// lines splits a decoded text, the simple way.
func lines(text string, f Format) []string {
	if text == "" {
		return nil
	}
	all := strings.SplitAfter(text, string(f.terminator()))
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// pagesOf reads a file page by page.
func pagesOf(t *testing.T, file []byte, x *Index, q Request) (pages []Page) {
	t.Helper()
	for {
		p, err := Read(t.Context(), bytes.NewReader(file), int64(len(file)), x, q)
		if err != nil {
			t.Fatal(err)
		}
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
		nil, []byte("a"), []byte("a\n"), []byte("\n\n"), []byte("a\r\nb\r\n"), []byte("a\rb\rc"), []byte("a\nb\rc\r\nd"),
		[]byte("\xef\xbb\xbf"), []byte("\xef\xbb\xbfa\nb"), []byte("\xff\xfe"), []byte("\xff\xfea"),
		[]byte("é\xff\xe2\x82\n\xe2\x82\xac\xf0\x9f\x98\x80"),
		utf16Text(binary.LittleEndian, "aĊ\r\n𐍈\nb"), utf16Text(binary.BigEndian, "ਊ\n𐍈\n\n"),
		append(utf16Text(binary.LittleEndian, "a\n\n"), 0x00, 0xd8, '\n'),
		bytes.Repeat([]byte("0123456789abcde\n"), 2*block/16+1),
	} {
		f.Add(file, 3, -2, 4, 1)
	}
	f.Fuzz(func(t *testing.T, file []byte, most, from, to, column int) {
		most = 1 + most&0xff
		if len(file) > 4*block {
			t.Skip()
		}
		format, isText := Detect(file)
		whole := format.Decode(file[min(format.Start(), int64(len(file))):], -1)
		_, err := Read(t.Context(), bytes.NewReader(file), int64(len(file)), new(Index), Request{Max: math.MaxInt32})
		if _, is := errors.AsType[*NotTextError](err); is == isText {
			t.Fatalf("text: %v, error: %v", isText, err)
		}
		if !isText {
			return
		}
		want := lines(string(whole.Text), format)

		// The pages, joined, are the file, with and without an index.
		if len(file) < 2000 {
			x := new(Index)
			pages := pagesOf(t, file, x, Request{Max: most})
			if got := texts(pages); got != string(whole.Text) {
				t.Fatalf("pages of %d bytes: %q, want %q", most, got, whole.Text)
			}
			next := Page{NextLine: 1}
			invalid := 0
			for _, p := range pages {
				if p.Text != "" && (p.First != next.NextLine || p.Column != next.NextColumn) {
					t.Fatalf("a page begins at line %d, column %d; the page before says %d, %d", p.First, p.Column, next.NextLine, next.NextColumn)
				}
				if whole := strings.HasSuffix(p.Text, string(format.terminator())) || p.NextLine == 0; !whole && p.Breaks > 0 {
					t.Fatalf("%d bytes: the page %q has a part of a second line", most, p.Text)
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
		if got := texts(pagesOf(t, file, new(Index), q)); got != wanted {
			t.Fatalf("lines %d to %d: %q, want %q", from, to, got, wanted)
		}
		large := &reader{ctx: t.Context(), file: bytes.NewReader(file), size: int64(len(file)), index: new(Index), memory: new([chunk]byte)}
		if p, err := large.page(q); err != nil || p.Text != wanted {
			t.Fatalf("lines %d to %d of a large file: %q, %v, want %q", from, to, p.Text, err, wanted)
		}
	})
}
