package text

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

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
			if block.Cut != (len(got) == 1) {
				t.Errorf("block %d: cut is %v", len(got), block.Cut)
			}
		}
		if strings.Join(got, "|") != "üüüü|b\n" {
			t.Errorf("%.4q: blocks %q", file, got)
		}
	}
}
