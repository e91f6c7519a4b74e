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
