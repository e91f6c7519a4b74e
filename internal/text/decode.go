package text

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// A Decoded is a text in UTF-8.
type Decoded struct {
	Text    []byte // without the byte order mark
	Raw     int    // number of bytes of the file that Text contains
	Breaks  int    // number of line breaks in Text
	CRLF    int    // number of line breaks in Text that are CRLF
	Invalid int    // number of invalid bytes, or of invalid units of UTF-16; each is U+FFFD in Text
}

func (d *Decoded) lineEnding(f Format) string {
	switch {
	case d.Breaks == 0:
		return ""
	case f.CR:
		return "cr"
	case d.CRLF == 0:
		return "lf"
	case d.CRLF == d.Breaks:
		return "crlf"
	default:
		return "mixed"
	}
}

// Decode decodes as many whole lines of raw as fit into max bytes of UTF-8. If the first
// line is longer, Decode decodes the beginning of the line: whole characters, at least one,
// and no half of a CRLF.
//
// If raw does not end at the end of the file, Decode needs at least RawSize(max) bytes, or
// bytes that end with a line break.
func (f Format) Decode(raw []byte, max int) Decoded {
	var d, line Decoded // line: the state after the last line break
	for d.Raw < len(raw) {
		r, size := f.decodeRune(raw[d.Raw:])
		width := utf8.RuneLen(r)
		crlf := r == '\r' && f.beginsWithLF(raw[d.Raw+size:])
		if crlf {
			width++
		}
		if len(d.Text)+width > max && len(d.Text) > 0 {
			if line.Raw > 0 {
				return line
			}
			return d
		}
		if r == utf8.RuneError && !f.isReplacement(raw[d.Raw:]) {
			d.Invalid++
		}
		d.Text = utf8.AppendRune(d.Text, r)
		d.Raw += size
		if crlf {
			r = '\n'
			d.CRLF++
			d.Text = append(d.Text, '\n')
			d.Raw += size
		}
		if r == rune(f.Terminator()) {
			d.Breaks++
			line = d
		}
	}
	return d
}

// RawSize returns the number of bytes that Decode needs to fill max bytes of UTF-8.
func (f Format) RawSize(max int) int64 {
	// One byte, or one unit of UTF-16, is at least one byte in UTF-8. The last four bytes
	// let Decode look behind the limit.
	return int64(max)*int64(f.unit()) + 4
}

// cut returns the bytes that Decode decodes if the bytes are valid UTF-8. For UTF-16, and for
// a max smaller than the first character, cut returns nil.
func (f Format) cut(raw []byte, max int) []byte {
	if f.wide() {
		return nil
	}
	if len(raw) > max {
		end := bytes.LastIndexByte(raw[:max], f.Terminator()) + 1
		if end == 0 {
			end = max
			for end > 0 && !utf8.RuneStart(raw[end]) {
				end--
			}
			if end > 0 && raw[end-1] == '\r' && f.beginsWithLF(raw[end:]) {
				end--
			}
		}
		if end == 0 {
			return nil
		}
		raw = raw[:end]
	}
	return raw
}

// beginsWithLF reports whether raw begins with the second half of a CRLF that is a line
// break.
func (f Format) beginsWithLF(raw []byte) bool { return !f.CR && f.isUnit(raw, 0, '\n') }

// decodeRune decodes the first character. For an invalid byte or unit, decodeRune returns
// U+FFFD and the size of the byte or unit.
func (f Format) decodeRune(raw []byte) (r rune, size int) {
	if !f.wide() {
		return utf8.DecodeRune(raw)
	}
	if len(raw) < 2 {
		return utf8.RuneError, 1
	}
	r = f.unitAt(raw, 0)
	switch {
	case !utf16.IsSurrogate(r):
		return r, 2
	case len(raw) >= 4:
		if pair := utf16.DecodeRune(r, f.unitAt(raw, 2)); pair != utf8.RuneError {
			return pair, 4
		}
	}
	return utf8.RuneError, 2
}

func (f Format) unitAt(raw []byte, at int) rune {
	switch f.Encoding {
	case UTF16LE:
		return rune(raw[at+1])<<8 | rune(raw[at])
	case UTF16BE:
		return rune(raw[at])<<8 | rune(raw[at+1])
	default:
		return rune(raw[at])
	}
}

// isReplacement reports whether raw begins with a valid U+FFFD.
func (f Format) isReplacement(raw []byte) bool {
	if f.wide() {
		return len(raw) >= 2 && f.unitAt(raw, 0) == utf8.RuneError
	}
	return bytes.HasPrefix(raw, []byte("\uFFFD"))
}
