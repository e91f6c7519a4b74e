package rank

import (
	"encoding/binary"
	"math/bits"
)

// chunks finds the chunks of a text. A chunk is a maximal sequence of ASCII letters,
// ASCII digits and bytes that are not ASCII. An ASCII chunk is a word; any other chunk
// holds words, spaces and punctuation. chunks examines a block of bytes at once.
type chunks struct {
	text       []byte
	at, end    int    // of the current block; of the text
	boundaries uint64 // the beginnings and ends of chunks that remain in the block
	within     uint64 // 1 if the last byte of the block belongs to a chunk
}

const blockSize = 64

// chunksOf finds the chunks of text[begin:end]. At least blockSize bytes must follow.
func chunksOf(text []byte, begin, end int) chunks {
	return chunks{text: text, at: begin - blockSize, end: end}
}

// next returns the next boundary, or the end of the text. The boundaries are in turn
// the beginning and the end of a chunk.
func (c *chunks) next() int {
	for c.boundaries == 0 {
		if c.at += blockSize; c.at >= c.end {
			c.at -= blockSize
			return c.end
		}
		mask := chunkBytes((*[blockSize]byte)(c.text[c.at:]))
		if n := c.end - c.at; n < blockSize {
			mask &= 1<<n - 1
		}
		c.boundaries = mask ^ (mask<<1 | c.within)
		c.within = mask >> (blockSize - 1)
	}
	i := bits.TrailingZeros64(c.boundaries)
	c.boundaries &= c.boundaries - 1
	return c.at + i
}

// chunkBytes returns a bit for each byte of a block: 1 for the bytes of chunks. The
// bytes of a number are compared in parallel (Lamport: Multiple byte processing with
// full-word instructions, 1975).
func chunkBytes(block *[blockSize]byte) (mask uint64) {
	const (
		each = 0x0101010101010101
		top  = 0x80 * each
	)
	for i := 0; i < blockSize; i += 8 {
		b := binary.LittleEndian.Uint64(block[i:])
		bare := b &^ top
		lower := bare | 0x20*each
		// The top bit of each byte of a sum is the result of a comparison.
		letter := (lower + (0x80-'a')*each) &^ (lower + (0x7F-'z')*each)
		digit := (bare + (0x80-'0')*each) &^ (bare + (0x7F-'9')*each)
		mask |= (letter | digit | b) & top * 0x0002040810204081 >> 56 << i
	}
	return mask
}

// shortMasks holds the bytes of a shortWord by the length of the word.
var shortMasks = func() (masks [maxShort + 1]shortWord) {
	for n := range masks {
		masks[n] = shortWord{1<<(8*min(n, 8)) - 1, 1<<(8*max(n-8, 0)) - 1}
	}
	return masks
}()

// short returns the word of at most maxShort bytes at the beginning of a text. If the word
// is not ASCII, ok is false.
func short(text *[maxShort]byte, n int) (w shortWord, ok bool) {
	m, order := &shortMasks[n], binary.LittleEndian
	w = shortWord{order.Uint64(text[:8]) & m.low, order.Uint64(text[8:]) & m.high}
	return w, (w.low|w.high)&0x8080808080808080 == 0
}
