package text

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"unicode/utf8"
)

const (
	blockSize = 64 << 10
	// MaxLine is the number of bytes of a line, in UTF-8, that a Blocks returns.
	MaxLine = 1 << 20
)

// A Blocks reads a text in order, in blocks of whole lines. The memory is at most MaxLine and
// twice the size of a block. A Blocks can be reused, and then keeps its memory.
type Blocks struct {
	// Sizes in bytes; 0 for the default. Size is at least Head, and MaxLine is at least Size.
	Size    int // of a block, unless a line is longer; 64 KiB
	Head    int // of the beginning of the file that determines the format; HeadSize
	MaxLine int // of a line that Next does not cut; the constant MaxLine

	src    io.LimitedReader
	err    error // of src, or a *NotTextError
	format Format

	memory []byte
	used   int    // bytes of memory with text
	given  int    // bytes of memory in the last block
	raw    []byte // of UTF-16, before decoding: a part of buffer
	buffer []byte
	begun  bool
	ended  bool // src has no more bytes
	inLine bool // the next bytes belong to a line of which the last block is the beginning
}

// A Block is a part of a text in UTF-8. Invalid bytes of UTF-8 stay, and an invalid unit of
// UTF-16 is U+FFFD.
type Block struct {
	Text []byte // one or more lines with their line breaks; valid until the next call
	// Text is the beginning of a line that is longer than MaxLine; the rest of the line is in no
	// Block.
	Cut  bool
	Last bool // no Block follows; false if Blocks has not seen the end of the text
}

// Reset begins a text. Blocks reads src up to size bytes, or up to the end if size is negative.
func (b *Blocks) Reset(src io.Reader, size int64) {
	if size < 0 {
		size = math.MaxInt64
	}
	b.Size, b.Head, b.MaxLine = cmp.Or(b.Size, blockSize), cmp.Or(b.Head, HeadSize), cmp.Or(b.MaxLine, MaxLine)
	memory := b.memory
	if len(memory) != b.Size {
		memory = make([]byte, b.Size)
	}
	*b = Blocks{Size: b.Size, Head: b.Head, MaxLine: b.MaxLine, src: io.LimitedReader{R: src, N: size}, memory: memory, buffer: b.buffer}
}

// Format returns the format of the text, after the first call of Next.
func (b *Blocks) Format() Format { return b.format }

// Next returns the next block. At the end of the text the error is io.EOF. If the first bytes
// are not a text, the error is a *NotTextError. Other errors are errors of the file.
func (b *Blocks) Next() (Block, error) {
	b.used = copy(b.memory, b.memory[b.given:b.used])
	b.given = 0
	if !b.begun {
		b.begin()
	}
	if b.inLine {
		b.skipLine()
	}
	for searched := 0; b.err == nil; {
		if i := bytes.LastIndexByte(b.memory[searched:b.used], b.format.Terminator()); i >= 0 {
			return b.give(searched + i + 1), nil
		}
		searched = b.used
		if b.used >= b.longest() {
			b.inLine = true
			block := b.give(wholeRunes(b.memory[:b.MaxLine]))
			b.given = b.used // skipLine needs none of the bytes
			return Block{Text: block.Text, Cut: true}, nil
		}
		if b.ended && len(b.raw) == 0 {
			if b.used == 0 {
				return Block{}, io.EOF
			}
			return b.give(b.used), nil
		}
		if len(b.memory)-b.used < utf8.UTFMax {
			memory := make([]byte, min(2*len(b.memory), b.longest()+utf8.UTFMax))
			copy(memory, b.memory[:b.used])
			b.memory = memory
		}
		b.fill()
	}
	return Block{}, b.err
}

// longest returns the size of the longest line that Next does not cut, with its line break.
func (b *Blocks) longest() int { return b.MaxLine + len("\r\n") }

func (b *Blocks) give(n int) Block {
	b.given = n
	return Block{Text: b.memory[:n], Last: b.ended && len(b.raw) == 0 && n == b.used}
}

// wholeRunes returns the length of text without a part of a character at the end.
func wholeRunes(text []byte) int {
	for n := len(text) - 1; n >= 0 && n >= len(text)-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			if utf8.FullRune(text[n:]) {
				break
			}
			return n
		}
	}
	return len(text)
}

// begin detects the format.
func (b *Blocks) begin() {
	b.begun = true
	b.format.Encoding = UTF8
	for b.used < b.Head && !b.ended && b.err == nil {
		b.fill()
	}
	head := b.memory[:min(b.used, b.Head)]
	f, isText := Detect(head)
	switch {
	case b.err != nil:
		return
	case !isText:
		b.err = &NotTextError{MediaType(head)}
		return
	}
	b.format = f
	head = b.memory[f.Start():b.used]
	if f.wide() {
		if b.buffer == nil {
			b.buffer = make([]byte, b.Size)
		}
		b.raw, b.used = b.buffer[:copy(b.buffer, head)], 0
		return
	}
	b.used = copy(b.memory, head)
}

// skipLine skips the rest of a line.
func (b *Blocks) skipLine() {
	for b.err == nil {
		if i := bytes.IndexByte(b.memory[:b.used], b.format.Terminator()); i >= 0 {
			b.used = copy(b.memory, b.memory[i+1:b.used])
			break
		}
		b.used = 0
		if b.ended && len(b.raw) == 0 {
			break
		}
		b.fill()
	}
	b.inLine = false
}

// fill adds text, or sets ended or err. The memory has room for a character.
func (b *Blocks) fill() {
	if !b.format.wide() {
		b.used += b.read(b.memory[b.used:min(len(b.memory), b.longest())])
		return
	}
	if len(b.raw) < 4 && !b.ended {
		pending := copy(b.buffer, b.raw)
		b.raw = b.buffer[:pending+b.read(b.buffer[pending:])]
	}
	// Before the end, a character may need four bytes.
	for len(b.raw) >= 4 || b.ended && len(b.raw) > 0 {
		if b.used >= b.longest() || len(b.memory)-b.used < utf8.UTFMax {
			break
		}
		r, size := b.format.decodeRune(b.raw)
		b.used += utf8.EncodeRune(b.memory[b.used:], r)
		b.raw = b.raw[size:]
	}
}

// read reads some bytes. At the end, read sets ended.
func (b *Blocks) read(into []byte) int {
	n, err := b.src.Read(into)
	if err == io.EOF || err == nil && b.src.N == 0 {
		b.ended = true
	} else {
		b.err = err
	}
	return n
}

// EncodedLen returns the number of bytes of a text of a Block in the file.
func (f Format) EncodedLen(text []byte) (n int64) {
	if !f.wide() {
		return int64(len(text))
	}
	for _, r := range string(text) {
		n += 2
		if r > 0xffff {
			n += 2
		}
	}
	return n
}
