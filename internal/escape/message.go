package escape

import (
	"strconv"
	"strings"
)

// Quote quotes a client's text for a message, as one line of limited length.
func Quote(s string) string {
	const maxBytes = 100
	if len(s) > maxBytes {
		s = s[:maxBytes] + "…"
	}
	return strconv.Quote(s)
}

// Truncate shortens a message, because the message may quote long arguments.
func Truncate(message string) string { return Cut(message, 2000) }

// Cut returns a text of at most limit bytes, or the beginning of a longer text and "…".
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
