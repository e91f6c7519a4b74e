package text

import "bytes"

// The functions of this file search raw bytes, without decoding the bytes. In UTF-16, raw
// begins at an even offset of the file.

// indexUnit returns the offset of the first unit with the value c, or -1.
func (f Format) indexUnit(raw []byte, c byte) int {
	if !f.wide() {
		return bytes.IndexByte(raw, c)
	}
	for from := 0; ; {
		i := bytes.IndexByte(raw[from:], c)
		if i < 0 {
			return -1
		}
		at := (from + i) &^ 1
		if f.isUnit(raw, at, c) {
			return at
		}
		from += i + 1
	}
}

// isUnit reports whether the unit at an offset has the value c.
func (f Format) isUnit(raw []byte, at int, c byte) bool {
	return at >= 0 && at+f.unit() <= len(raw) && f.unitAt(raw, at) == rune(c)
}

// Breaks returns the number of line breaks.
func (f Format) Breaks(raw []byte) int {
	c := f.Terminator()
	if !f.wide() {
		return bytes.Count(raw, []byte{c})
	}
	n := 0
	for {
		i := f.indexUnit(raw, c)
		if i < 0 {
			return n
		}
		n++
		raw = raw[i+2:]
	}
}

// stretch is the number of bytes in which skip counts line breaks before skip searches for a single
// line break. Counting is faster than searching.
const stretch = 4 << 10

// skip returns the offset after the n-th line break, n > 0, and the number of line breaks
// before the offset. If raw has fewer line breaks, skip returns len(raw) and their number.
func (f Format) skip(raw []byte, n int) (offset, breaks int) {
	for offset < len(raw) {
		part := raw[offset:min(offset+stretch, len(raw))]
		more := f.Breaks(part)
		if breaks+more >= n {
			break
		}
		breaks += more
		offset += len(part)
	}
	for offset < len(raw) && breaks < n {
		offset += f.indexUnit(raw[offset:], f.Terminator()) + f.unit()
		breaks++
	}
	return offset, breaks
}

// skipBack returns the offset after the n-th line break from the end, n > 0, and n. If raw
// has fewer line breaks, skipBack returns 0 and their number.
func (f Format) skipBack(raw []byte, n int) (offset, breaks int) {
	if breaks = f.Breaks(raw); breaks < n {
		return 0, breaks
	}
	offset, _ = f.skip(raw, breaks-n+1)
	return offset, n
}

// ends reports whether raw ends with a line break.
func (f Format) ends(raw []byte) bool {
	return len(raw)%f.unit() == 0 && f.isUnit(raw, len(raw)-f.unit(), f.Terminator())
}
