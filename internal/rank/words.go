package rank

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxParts is the maximum number of parts of a word in a text. sha256 has two parts, and
// parseHTTPHeader has three. Without a limit, encoded data would have any number of parts.
const maxParts = 6

// A visitFunc receives each folded word of a text, followed by the parts of the
// word: for OpenAPI, the word openapi and then the parts open and api. The typed
// text is the word as written. The folded word is valid until the call returns.
type visitFunc func(typed string, folded []byte, part bool)

// A splitter splits texts into words. It is not safe for concurrent use.
type splitter struct {
	buf  []byte
	cuts []int
	any  bool // the text is a name or a query: words of any length and with any number of parts count
}

// split visits the words of a text. A word is a maximal sequence of letters,
// digits and marks. Changes of case and changes between letters and digits divide
// a word into parts. In a script without spaces, each pair of adjacent characters
// is a word, and the characters are its parts.
func (s *splitter) split(text string, visit visitFunc) {
	for i := 0; i < len(text); {
		w := nextWord(text, i)
		if w.end == i {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		s.visit(text[i:w.end], w, visit)
		i = w.end
	}
}

// A word describes a sequence of letters, digits and marks in a text.
type word struct {
	end   int
	dense bool // in a script without spaces
	plain bool // all ASCII
	whole bool // all ASCII and lower case, the most frequent kind
}

// nextWord describes the word that begins at an offset. Between words, the end of the
// result is the offset.
func nextWord(text string, i int) word {
	w := word{plain: true, whole: true}
	begin := i
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			if !isASCIIWord[c] || w.dense {
				break
			}
			w.whole = w.whole && c >= 'a'
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isWordRune(r) {
			break
		}
		if d := isDense(r) || w.dense && unicode.IsMark(r); i == begin {
			w.dense = d
		} else if d != w.dense {
			break
		}
		w.plain, w.whole = false, false
		i += size
	}
	w.end = i
	return w
}

// visit visits a word and its parts.
func (s *splitter) visit(typed string, w word, visit visitFunc) {
	switch {
	case w.dense:
		s.grams(typed, visit)
	case w.whole:
		if s.any || len(typed) <= maxWord {
			s.buf = append(s.buf[:0], typed...)
			visit(typed, s.buf, false)
		}
	default:
		s.word(typed, w.plain, visit)
	}
}

func (s *splitter) word(typed string, plain bool, visit visitFunc) {
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
	// Folding expands one character to at most eighteen.
	if len(s.buf) == 0 || !s.any && len(s.buf) > maxWord {
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

func (s *splitter) grams(typed string, visit visitFunc) {
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

type letterKind uint8

const (
	caseless letterKind = iota
	lower
	upper
	digit
)

// cuts appends the end offsets of the parts of a word.
func cuts(ends []int, word string) []int {
	before, beforeThat := caseless, caseless
	start := 0 // of the previous rune
	for i, r := range word {
		k := kindOf(r)
		if r >= utf8.RuneSelf && unicode.IsMark(r) {
			k = before
		}
		switch {
		case i == 0:
		case (k == digit) != (before == digit), k == upper && before != upper:
			ends = append(ends, i)
		case k == lower && before == upper && beforeThat == upper && word[i:] != "s":
			// HTTPServer, but APIs
			ends = append(ends, start)
		}
		beforeThat, before, start = before, k, i
	}
	return append(ends, len(word))
}

func kindOf(r rune) letterKind {
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

// isASCIIWord holds the ASCII letters and digits.
var isASCIIWord = func() (is [256]bool) {
	for c := range is {
		is[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	}
	return is
}()

func isWordRune(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.M)
}

// isDense reports whether the script of r is written without spaces between
// words.
func isDense(r rune) bool {
	const from, to = '\uFF66', '\uFF9F' // half-width katakana, whose marks belong to no script
	return r >= 0x0E00 && (r == 'ー' || from <= r && r <= to || unicode.In(r,
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// appendFolded appends a word in lower case, without the accents of Latin, Greek
// and Cyrillic letters, and with compatibility characters such as full-width
// letters replaced.
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
		// A combining diacritical mark, or a space from the decomposition of a ligature.
		if 0x0300 <= r && r <= 0x036F || !isWordRune(r) {
			return -1
		}
		return r
	}, folded)
	return norm.NFC.AppendString(dst, bare)
}
