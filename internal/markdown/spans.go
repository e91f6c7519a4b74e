package markdown

import "strings"

// Spans finds the ends of the code spans of a block (CommonMark 0.31, section
// 6.1). The time is linear in the length of the block, because the first failed
// search records every run of backticks for later searches.
type Spans struct {
	text  string // ends with the block
	meter *Meter
	last  map[int]int // after a failed search: the index of the last run of each length
}

// NewSpans returns the Spans of a text that ends with the block.
func NewSpans(text string, meter *Meter) Spans { return Spans{text: text, meter: meter} }

// Closing returns the index of the run of n backticks that closes a code span
// whose text begins at from. Calls must be in the order of the text. After the
// meter ends the scan, Closing finds no run.
func (s *Spans) Closing(from, n int) (at int, ok bool) {
	if s.last != nil && s.last[n] < from {
		return 0, false
	}
	var seen map[int]int
	for i := from; ; {
		next := strings.IndexByte(s.text[i:], '`')
		if next < 0 {
			s.meter.Add(len(s.text) - i)
			if s.last = seen; seen == nil {
				s.last = map[int]int{}
			}
			return 0, false
		}
		i += next
		length := Run(s.text[i:])
		if !s.meter.Add(next + length) {
			return 0, false
		}
		if length == n {
			return i, true
		}
		if seen == nil {
			seen = map[int]int{}
		}
		seen[length] = i
		i += length
	}
}

// Code yields the code of a Markdown text, in order: fenced code blocks, lines of
// indented code blocks, and code spans with their backticks. The kind is the kind of
// the block. In a block of the kind Text, the code is a code span.
func Code(text string, meter *Meter, yield func(start, end int, kind Kind)) {
	Blocks(text, meter, func(start, end int, kind Kind) {
		if kind != Text {
			yield(start, end, kind)
			return
		}
		spans := NewSpans(text[:end], meter)
		for i := start; i < end && meter.Add(1); {
			switch text[i] {
			case '\\':
				i += 2
			case '`':
				n := Run(text[i:end])
				next := i + n
				if closing, ok := spans.Closing(next, n); ok {
					next = closing + n
					yield(i, next, kind)
				}
				i = next
			default:
				i++
			}
		}
	})
}
