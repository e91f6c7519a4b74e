package grep

import (
	"unicode/utf8"
)

const (
	// MaxText is the number of characters of a line that a search returns.
	MaxText = 500
	// textBefore is the number of characters of a long line that a search returns before the
	// match, if the line has enough characters after the match.
	textBefore = 100
)

// excerpt returns the part of a line around an offset that a search returns: at most MaxText
// characters.
func excerpt(line []byte, at int) (from, to int) {
	if len(line) <= MaxText {
		return 0, len(line)
	}
	from, before := back(line, at, textBefore)
	to, after := forward(line, at, MaxText-before)
	from, _ = back(line, from, MaxText-before-after)
	return from, to
}

// back returns the offset of the n-th character before an offset, and the number of characters.
func back(line []byte, at, n int) (offset, characters int) {
	for ; characters < n && at > 0; characters++ {
		_, size := utf8.DecodeLastRune(line[:at])
		at -= size
	}
	return at, characters
}

// forward returns the offset after n characters, and the number of characters.
func forward(line []byte, at, n int) (offset, characters int) {
	for ; characters < n && at < len(line); characters++ {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return at, characters
}

// excerptOfContext returns the beginning of a line. A line that continues ends with "…".
func excerptOfContext(line []byte) string {
	end, _ := forward(line, 0, MaxText)
	if end < len(line) {
		return valid(line[:end]) + "…"
	}
	return valid(line)
}

// valid replaces each invalid byte by U+FFFD.
func valid(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	return string([]rune(string(text)))
}
