package text

import (
	"cmp"
	"math"
	"sort"
	"sync"
)

const (
	block     = 16 << 10 // bytes between two marks
	maxBlocks = 64 << 10 // bounds the memory of a LineIndex to 512 KiB
)

// A mark is a position in a file.
type mark struct {
	offset int64
	breaks int // number of line breaks that end at the offset or before
}

// A LineIndex contains the format of a file and the number of line breaks before some offsets, so
// that Read finds a line without reading the file from its beginning. Read adds to the LineIndex what
// Read learns. A LineIndex is valid as long as the file is unchanged.
//
// The offsets are 16 KiB apart. For a file of more than 1 GiB the distance doubles as
// often as necessary, because a LineIndex has at most 65,536 offsets. The zero LineIndex is
// empty. A LineIndex is safe for concurrent use.
type LineIndex struct {
	small int64 // replaces block; 0 except in tests

	mu      sync.Mutex
	format  Format
	known   bool  // format is known
	doubled int   // the distance between two offsets is block << doubled
	breaks  []int // breaks[i] is the number of line breaks before (i+1) * distance
	lines   int
	counted bool // lines is known
}

// Memory returns the size of the LineIndex in bytes.
func (x *LineIndex) Memory() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return int64(cap(x.breaks)) * 8
}

// Format returns the format, or false if the format is unknown.
func (x *LineIndex) Format() (Format, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.format, x.known
}

func (x *LineIndex) setFormat(f Format) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.format, x.known = f, true
}

// Lines returns the number of lines of the file, or false if the number is unknown.
func (x *LineIndex) Lines() (int, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.lines, x.counted
}

func (x *LineIndex) setLines(n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lines, x.counted = n, true
}

// block returns the smallest number of bytes between two offsets.
func (x *LineIndex) block() int64 { return cmp.Or(x.small, block) }

// distance returns the number of bytes between two offsets.
func (x *LineIndex) distance() int64 { return x.block() << x.doubled }

// mark returns the i-th mark. The mark with the number -1 is the beginning of the text.
func (x *LineIndex) mark(i int) mark {
	if i < 0 {
		return mark{offset: x.format.Start()}
	}
	return mark{offset: int64(i+1) * x.distance(), breaks: x.breaks[i]}
}

// last returns the last mark.
func (x *LineIndex) last() mark {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.mark(len(x.breaks) - 1)
}

// beforeBreak returns the last mark with less than n line breaks, for n > 0.
func (x *LineIndex) beforeBreak(n int) mark {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.mark(sort.SearchInts(x.breaks, n) - 1)
}

// after returns the offset of the first mark with n line breaks or more. If the LineIndex has
// none, after returns math.MaxInt64.
func (x *LineIndex) after(n int) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	i := sort.SearchInts(x.breaks, n)
	if i == len(x.breaks) {
		return math.MaxInt64
	}
	return x.mark(i).offset
}

// before returns the last mark that is not after an offset of the text.
func (x *LineIndex) before(offset int64) mark {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.mark(int(min(offset/x.distance(), int64(len(x.breaks)))) - 1)
}

// add adds a mark if the mark is the next in order.
func (x *LineIndex) add(m mark) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if m.offset != int64(len(x.breaks)+1)*x.distance() {
		return
	}
	if n := len(x.breaks); n == cap(x.breaks) { // append can exceed maxBlocks
		n = min(max(2*n, 16), maxBlocks)
		x.breaks = append(make([]int, 0, n), x.breaks...)
	}
	if x.breaks = append(x.breaks, m.breaks); len(x.breaks) < maxBlocks {
		return
	}
	half := len(x.breaks) / 2
	for i := range half {
		x.breaks[i] = x.breaks[2*i+1]
	}
	x.breaks = x.breaks[:half]
	x.doubled++
}
