package rank

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxParts is how many parts a word of a text may have: sha256 has two and
// parseHTTPHeader three, but encoded data would fall apart into any number.
const maxParts = 6

// A visitor is called for each word of a text, folded. Where a word has parts,
// they follow it: open and api after openapi, which is written OpenAPI. The
// typed text is the word as written. The folded word is only valid during the call.
type visitor func(typed string, folded []byte, part bool)

// A splitter splits texts into words. It is not safe for concurrent use.
type splitter struct {
	buf  []byte
	cuts []int
	any  bool // words count however long they are, and however many parts they have: it is a name, or a query
}

// split visits the words of a text: its longest sequences of letters, digits
// and marks. A word that changes case or between letters and digits has the
// pieces as its parts. A sequence in a script without blanks has as words its
// pairs of characters, of which the parts are the characters.
func (s *splitter) split(text string, visit visitor) {
	for i := 0; i < len(text); {
		begin, dense := i, false
		plain, whole := true, true // all ASCII; all lower-case, which most words are
		for i < len(text) {
			c := text[i]
			if c < utf8.RuneSelf {
				if !isAlnum(c) || dense {
					break
				}
				whole = whole && c >= 'a'
				i++
				continue
			}
			r, size := utf8.DecodeRuneInString(text[i:])
			if !isWordRune(r) {
				break
			}
			if d := isDense(r) || dense && unicode.IsMark(r); i == begin {
				dense = d
			} else if d != dense {
				break
			}
			plain, whole = false, false
			i += size
		}
		switch {
		case i == begin:
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
		case dense:
			s.grams(text[begin:i], visit)
		case whole:
			if s.any || i-begin <= maxWord {
				s.buf = append(s.buf[:0], text[begin:i]...)
				visit(text[begin:i], s.buf, false)
			}
		default:
			s.word(text[begin:i], plain, visit)
		}
	}
}

func (s *splitter) word(typed string, plain bool, visit visitor) {
	if !s.any && len(typed) > maxWord {
		return
	}
	s.cuts = cuts(s.cuts[:0], typed)
	s.buf = s.buf[:0]
	begin := 0
	for i, cut := range s.cuts {
		s.buf = appendFolded(s.buf, typed[begin:cut], plain)
		begin, s.cuts[i] = cut, len(s.buf)
	}
	if len(s.buf) == 0 || !s.any && len(s.buf) > maxWord { // one character can stand for eighteen
		return
	}
	visit(typed, s.buf, false)
	if len(s.cuts) == 1 || !s.any && len(s.cuts) > maxParts {
		return
	}
	begin = 0
	for _, cut := range s.cuts {
		if begin < cut {
			visit(typed, s.buf[begin:cut:cut], true)
		}
		begin = cut
	}
}

func (s *splitter) grams(typed string, visit visitor) {
	s.buf = appendFolded(s.buf[:0], typed, false)
	last := 0
	for i := 0; i < len(s.buf); {
		_, size := utf8.DecodeRune(s.buf[i:])
		if next := i + size; next < len(s.buf) {
			_, after := utf8.DecodeRune(s.buf[next:])
			visit(typed, s.buf[i:next+after], false)
			visit(typed, s.buf[i:next], true)
		}
		last, i = i, i+size
	}
	if last < len(s.buf) {
		visit(typed, s.buf[last:], last > 0)
	}
}

type kind uint8

const (
	caseless kind = iota
	lower
	upper
	digit
)

// cuts appends where the parts of a word end.
func cuts(ends []int, word string) []int {
	before, beforeThat := caseless, caseless
	start := 0 // of the rune before
	for i, r := range word {
		k := kindOf(r)
		if r >= utf8.RuneSelf && unicode.IsMark(r) {
			k = before
		}
		switch {
		case i == 0:
		case (k == digit) != (before == digit), k == upper && before != upper:
			ends = append(ends, i)
		case k == lower && before == upper && beforeThat == upper && word[i:] != "s": // HTTPServer, but APIs
			ends = append(ends, start)
		}
		beforeThat, before, start = before, k, i
	}
	return append(ends, len(word))
}

func kindOf(r rune) kind {
	switch {
	case 'a' <= r && r <= 'z':
		return lower
	case 'A' <= r && r <= 'Z':
		return upper
	case '0' <= r && r <= '9':
		return digit
	case r < utf8.RuneSelf:
		return caseless
	case unicode.IsUpper(r):
		return upper
	case unicode.IsLower(r):
		return lower
	case unicode.IsNumber(r):
		return digit
	default:
		return caseless
	}
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func isWordRune(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.M)
}

// isDense reports whether words in the script of r are written without blanks
// between them.
func isDense(r rune) bool {
	const from, to = '\uFF66', '\uFF9F' // half-width katakana, of which the marks are of no script
	return r >= 0x0E00 && (r == 'ー' || from <= r && r <= to || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// appendFolded appends a word without what tells its writings apart: letter
// case, accents of Latin, Greek and Cyrillic letters, and compatibility
// characters such as full-width letters.
func appendFolded(dst []byte, word string, plain bool) []byte {
	if plain {
		for i := range len(word) {
			c := word[i]
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
		}
		return dst
	}
	folded := cases.Fold().String(norm.NFKD.String(word))
	bare := strings.Map(func(r rune) rune {
		if 0x0300 <= r && r <= 0x036F || !isWordRune(r) { // combining diacritical marks; a blank that a ligature was made of
			return -1
		}
		return r
	}, folded)
	return norm.NFC.AppendString(dst, bare)
}
