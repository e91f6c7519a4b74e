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
func Truncate(message string) string {
	const maxBytes = 2000
	if len(message) <= maxBytes {
		return message
	}
	return strings.ToValidUTF8(message[:maxBytes], "") + "…"
}
