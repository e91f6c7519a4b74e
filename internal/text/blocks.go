package text

import (
	"bytes"
	"cmp"
	"io"
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

	src    io.Reader
	left   int64 // bytes to read; negative if unknown
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
	b.Size, b.Head, b.MaxLine = cmp.Or(b.Size, blockSize), cmp.Or(b.Head, HeadSize), cmp.Or(b.MaxLine, MaxLine)
	memory := b.memory
	if len(memory) != b.Size {
		memory = make([]byte, b.Size)
	}
	*b = Blocks{Size: b.Size, Head: b.Head, MaxLine: b.MaxLine, src: src, left: size, memory: memory, buffer: b.buffer}
}

// Format returns the format of the text, after the first call of Next.
func (b *Blocks) Format() Format { return b.format }

// Next returns the next block. At the end of the text the error is io.EOF. If the first bytes
// are not a text, the error is a *NotTextError. Other errors are errors of the file.
func (b *Blocks) Next() (Block, error) {
	b.used = copy(b.memory, b.memory[b.given:b.used])
	b.given = 0
	if !b.begun {
		if err := b.begin(); err != nil {
			return Block{}, err
		}
	}
	if b.inLine {
		if err := b.skipLine(); err != nil {
			return Block{}, err
		}
	}
	searched := 0
	for {
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
		if err := b.fill(); err != nil {
			return Block{}, err
		}
	}
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
func (b *Blocks) begin() error {
	b.begun = true
	b.format.Encoding = UTF8
	for b.used < b.Head && !b.ended {
		if err := b.fill(); err != nil {
			return err
		}
	}
	head := b.memory[:min(b.used, b.Head)]
	f, isText := Detect(head)
	if !isText {
		return &NotTextError{MediaType(head)}
	}
	b.format = f
	head = b.memory[f.Start():b.used]
	if f.wide() {
		if b.buffer == nil {
			b.buffer = make([]byte, b.Size)
		}
		b.raw, b.used = b.buffer[:copy(b.buffer, head)], 0
		return nil
	}
	b.used = copy(b.memory, head)
	return nil
}

// skipLine skips the rest of a line.
func (b *Blocks) skipLine() error {
	for {
		if i := bytes.IndexByte(b.memory[:b.used], b.format.Terminator()); i >= 0 {
			b.used = copy(b.memory, b.memory[i+1:b.used])
			break
		}
		b.used = 0
		if b.ended && len(b.raw) == 0 {
			break
		}
		if err := b.fill(); err != nil {
			return err
		}
	}
	b.inLine = false
	return nil
}

// fill adds text, or sets ended. The memory has room for a character.
func (b *Blocks) fill() error {
	if !b.format.wide() {
		n, err := b.read(b.memory[b.used:min(len(b.memory), b.longest())])
		b.used += n
		return err
	}
	if len(b.raw) < 4 && !b.ended {
		pending := copy(b.buffer, b.raw)
		n, err := b.read(b.buffer[pending:])
		if err != nil {
			return err
		}
		b.raw = b.buffer[:pending+n]
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
	return nil
}

// read reads some bytes. At the end, read sets ended.
func (b *Blocks) read(into []byte) (int, error) {
	if b.left >= 0 {
		into = into[:min(int64(len(into)), b.left)]
	}
	n := 0
	if len(into) > 0 {
		var err error
		if n, err = b.src.Read(into); err == io.EOF {
			b.ended = true
		} else if err != nil {
			return 0, err
		}
	}
	if b.left >= 0 {
		b.left -= int64(n)
		b.ended = b.ended || b.left == 0
	}
	return n, nil
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
