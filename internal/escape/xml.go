package escape

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// XML is a text as the content of an XML element. Line breaks stay; for
// what else happens see Catalog.SkillsPrompt. Quotes need no escape there, and
// would only cost tokens.
func XML(s string) string { return escapeXMLText(s, false) }

// XMLLine is a text in one line, as the content of an XML element or an
// attribute's value in double quotes.
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

// plainXML are the bytes of ASCII that are never escaped.
var plainXML = func() (plain [256]bool) {
	for c := range utf8.RuneSelf {
		plain[c] = xmlEscape(rune(c), 1, true) == ""
	}
	return plain
}()

// xmlEscape is what is written for a character of that many bytes; "" for
// itself.
func xmlEscape(r rune, size int, line bool) string {
	switch {
	case r >= 0x3000 && r < 0xe000 && r != '\u3164': // a short cut for kana, ideographs and Hangul
		return ""
	case r == '&':
		return "&amp;"
	case r == '<':
		return characterReference(r)
	case r == '>':
		return "&gt;"
	case r == '"' && line:
		return "&quot;"
	case r >= ' ' && r < 0x7f, (r == '\n' || r == '\t') && !line:
		return ""
	case r == '\n' || r == '\t' || r == '\r': // a parser would change a bare one
		return "&#" + strconv.Itoa(int(r)) + ";"
	case r < ' ', r == utf8.RuneError && size == 1, r == 0xfffe, r == 0xffff: // https://www.w3.org/TR/xml/#charsets
		return "\ufffd"
	case r == '\u200c' || r == '\u200d':
		return ""
	case unsafeRune(r):
		return characterReference(r)
	default:
		return ""
	}
}

func characterReference(r rune) string {
	if r == '<' {
		return "&lt;"
	}
	return "&#x" + strings.ToUpper(strconv.FormatInt(int64(r), 16)) + ";"
}

// longWord is how many characters of a word are kept together when a text is
// cut. Scripts that have no blanks between words are cut within one.
const longWord = 24

// ShortenXML is the beginning of an escaped text in at most limit characters, 1
// or more, "…" at its end included. It ends with a word or within a long one,
// and with a whole escape. What ends it does not depend on the limit, so a
// higher limit never gives a shorter text.
func ShortenXML(s string, limit int) string {
	end := 0             // where to cut
	length, word := 0, 0 // characters up to i, and of the word that i is in
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
