package grep

import (
	"context"
	"io"
	"regexp"
	"unicode/utf8"
)

// A matcher applies regular expressions, and ends with a context. Package regexp has no
// context, and a pattern of 10,000 instructions needs minutes for a line of 1 MiB.
type matcher struct {
	ctx   context.Context
	err   error // of ctx
	steps int   // since the last check of ctx
}

const (
	// maxSteps is the number of steps between two checks of the context: about 0.2 seconds.
	maxSteps = 1 << 24
	// checkedRunes is the number of characters between two checks within a text.
	checkedRunes = 256
)

// find returns the offset of a group of the first match, or -1. An expression takes at most
// steps steps for each byte. After the end of the context, err is set, and the result has no
// meaning.
func (m *matcher) find(re *regexp.Regexp, group int, text []byte, steps int) int {
	var loc []int
	checked := len(text) >= (maxSteps-m.steps)/steps
	switch {
	case checked && group == 0:
		loc = re.FindReaderIndex(&checkedReader{matcher: m, text: text})
	case checked:
		loc = re.FindReaderSubmatchIndex(&checkedReader{matcher: m, text: text})
	case group == 0:
		loc = re.FindIndex(text)
	default:
		loc = re.FindSubmatchIndex(text)
	}
	at, read := -1, len(text)
	if loc != nil {
		at, read = loc[2*group], loc[1]
	}
	if m.steps += read * steps; checked {
		m.steps = 0
	}
	return at
}

// A checkedReader reads a text until the context ends. Package regexp searches a reader
// slower than a text in memory.
type checkedReader struct {
	*matcher
	text  []byte
	runes int
}

// ReadRune implements io.RuneReader.
func (r *checkedReader) ReadRune() (c rune, size int, err error) {
	if r.runes%checkedRunes == 0 {
		r.err = r.ctx.Err()
	}
	r.runes++
	if r.err != nil || len(r.text) == 0 {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRune(r.text)
	r.text = r.text[size:]
	return c, size, nil
}
