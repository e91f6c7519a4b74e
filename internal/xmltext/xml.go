// Package xmltext escapes untrusted text for the XML of prompts.
package xmltext

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// XML escapes a text for the content of an XML element. Catalog.SkillsPrompt
// documents the escapes. Line breaks stay. Quotes stay too, because their escapes would
// cost tokens without a benefit.
func XML(s string) string { return escapeXMLText(s, false) }

// XMLLine escapes a text for the content of an XML element, or for the value of an
// attribute in double quotes. The result is one line.
func XMLLine(s string) string { return escapeXMLText(s, true) }

func escapeXMLText(s string, line bool) string {
	var b strings.Builder
	done := 0 // s[:done] is in b
	for i := 0; i < len(s); {
		if plainXML[s[i]] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		escaped := xmlEscape(r, size, line)
		if escaped == "" && isLessThan(r) && beginsTag(s[i+size:], promptTags) {
			escaped = characterReference(r)
		}
		if escaped != "" {
			if done == 0 {
				b.Grow(len(s) + len(s)/8 + len(escaped))
			}
			b.WriteString(s[done:i])
			b.WriteString(escaped)
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// plainXML has the ASCII bytes that neither XML nor XMLLine escapes.
var plainXML = func() (plain [256]bool) {
	for c := range utf8.RuneSelf {
		plain[c] = xmlEscape(rune(c), 1, true) == ""
	}
	return plain
}()

// xmlEscape returns the escape of a character of size bytes, or "" if the character
// stays.
func xmlEscape(r rune, size int, line bool) string {
	switch {
	case r >= 0x3000 && r < 0xe000 && r != '\u3164': // fast path for kana, ideographs and Hangul
		return ""
	case r >= ' ' && r < 0x7f:
		return asciiEscape(r, line)
	case r == '\r', line && (r == '\n' || r == '\t'): // a parser would normalize the character
		return "&#" + strconv.Itoa(int(r)) + ";"
	case r == '\n' || r == '\t', r == '\u200c' || r == '\u200d':
		return ""
	// https://www.w3.org/TR/xml/#charsets
	case r < ' ', r == utf8.RuneError && size == 1, r == 0xfffe, r == 0xffff:
		return "\ufffd"
	case escape.UnsafeRune(r):
		return characterReference(r)
	}
	return ""
}

// asciiEscape is xmlEscape for a printable character of ASCII.
func asciiEscape(r rune, line bool) string {
	switch r {
	case '&':
		return "&amp;"
	case '<':
		return characterReference(r)
	case '>':
		return "&gt;"
	case '"':
		if line {
			return "&quot;"
		}
	}
	return ""
}

func characterReference(r rune) string {
	if r == '<' {
		return "&lt;"
	}
	return "&#x" + strings.ToUpper(strconv.FormatInt(int64(r), 16)) + ";"
}

// longWord is the number of characters after which ShortenXML may cut a word.
// Scripts without blanks between words have very long words.
const longWord = 24

// ShortenXML cuts an escaped text, which is longer than limit, to at most limit
// characters, including a "…" at the end. The limit is at least 1. The cut is after
// a word or within a long word, and never within an escape. A higher limit never
// gives a shorter text, because the places for a cut do not depend on the limit.
func ShortenXML(s string, limit int) string {
	end := 0             // the last place for a cut
	length, word := 0, 0 // characters of s[:i], and of the part of the word before i
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		characters := 1
		if r == '&' {
			size = strings.IndexByte(s[i:], ';') + 1
			characters = size
		}
		switch blank := unicode.IsSpace(r); {
		case blank && word > 0, !blank && word >= longWord && !unicode.Is(unicode.M, r):
			end = i
		}
		if unicode.IsSpace(r) {
			word = 0
		} else {
			word += characters
		}
		if length += characters; length >= limit {
			break
		}
		i += size
	}
	return s[:end] + "…"
}
