// Package text reads the text of files: the encoding, the lines, and pages of lines of
// files of any size. The functions work on bytes and on an io.ReaderAt, not on a
// filesystem.
//
// A line ends with its line break, or at the end of the file. An empty file has no line.
package text

import (
	"bytes"
)

// An Encoding is the encoding of a text.
type Encoding string

// The encodings. A text in UTF-16 begins with a byte order mark.
const (
	UTF8    Encoding = "utf-8"
	UTF16LE Encoding = "utf-16le"
	UTF16BE Encoding = "utf-16be"
)

// A Format describes how a file encodes text and lines.
type Format struct {
	Encoding Encoding
	BOM      bool // the file begins with a byte order mark
	// Lines end with CR; otherwise lines end with LF, and a CR before the LF belongs to the line
	// break.
	CR bool
}

// HeadSize is the number of bytes at the beginning of a file that Detect needs.
const HeadSize = 8000

// Detect returns the format of the file that begins with head, and whether the file is
// text. Give Detect the first HeadSize bytes, or the whole file if the file is shorter.
// Detect ignores the bytes after HeadSize.
//
// As for git, a file is text if the head contains no NUL. The head of a text in UTF-16
// contains no U+0000. A text without a byte order mark is UTF-8.
//
// Lines end with CR if the head contains CR and no LF, as in files of old Macs. In other
// files a lone CR is a character of its line, as for git, grep and compilers.
func Detect(head []byte) (f Format, isText bool) {
	head = head[:min(len(head), HeadSize)]
	f.Encoding = UTF8
	for _, known := range []Encoding{UTF8, UTF16LE, UTF16BE} {
		if bytes.HasPrefix(head, byteOrderMark(known)) {
			f.Encoding, f.BOM = known, true
		}
	}
	head = head[f.Start():]
	if f.indexUnit(head, 0) >= 0 {
		return Format{}, false
	}
	f.CR = f.indexUnit(head, '\r') >= 0 && f.indexUnit(head, '\n') < 0
	return f, true
}

// byteOrderMark returns the byte order mark of an encoding.
func byteOrderMark(e Encoding) []byte {
	switch e {
	case UTF16LE:
		return []byte{0xff, 0xfe}
	case UTF16BE:
		return []byte{0xfe, 0xff}
	default:
		return []byte{0xef, 0xbb, 0xbf}
	}
}

// Start returns the number of bytes before the text: the length of the byte order mark.
func (f Format) Start() int64 {
	if !f.BOM {
		return 0
	}
	return int64(len(byteOrderMark(f.Encoding)))
}

// wide reports whether a unit has two bytes. In other formats, a unit is one byte.
func (f Format) wide() bool { return f.Encoding == UTF16LE || f.Encoding == UTF16BE }

// unit returns the number of bytes of a unit.
func (f Format) unit() int {
	if f.wide() {
		return 2
	}
	return 1
}

// Terminator returns the last character of a line break.
func (f Format) Terminator() byte {
	if f.CR {
		return '\r'
	}
	return '\n'
}

// First returns the first n characters of a text.
func First(text string, n int) string {
	for i := range text {
		if n--; n < 0 {
			return text[:i]
		}
	}
	return text
}
