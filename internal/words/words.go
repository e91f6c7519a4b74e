// Package words splits texts into folded words, and removes the endings of English words.
//
// Words are folded: letter case, accents and compatibility characters do not matter. A text in a
// script without spaces is split into single characters and into pairs of characters.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Max is the maximum number of bytes of a word in a text. Longer words are encoded data.
const Max = 64

// maxParts is the maximum number of parts of a word in a text. sha256 has two parts, and
// parseHTTPHeader has three. Without a limit, encoded data would have any number of parts.
const maxParts = 6

// A VisitFunc receives each folded word of a text, followed by the parts of the
// word: for OpenAPI, the word openapi and then the parts open and api. The typed
// text is the word as written. The folded word is valid until the call returns.
type VisitFunc func(typed string, folded []byte, part bool)

// A Splitter splits texts into words. It is not safe for concurrent use.
type Splitter struct {
	buf  []byte
	cuts []int
	Any  bool // the text is a name or a query: words of any length and with any number of parts count
}

// Split visits the words of a text. A word is a maximal sequence of letters,
// digits and marks. Changes of case and changes between letters and digits divide
// a word into parts. In a script without spaces, each pair of adjacent characters
// is a word, and the characters are its parts.
func (s *Splitter) Split(text string, visit VisitFunc) {
	for i := 0; i < len(text); {
		w := Next(text, i)
		if w.End == i {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		s.Visit(text[i:w.End], w, visit)
		i = w.End
	}
}

// A word describes a sequence of letters, digits and marks in a text.
type Word struct {
	End   int
	Dense bool // in a script without spaces
	plain bool // all ASCII
	whole bool // all ASCII and lower case, the most frequent kind
}

// Next describes the word that begins at an offset. Between words, the end of the
// result is the offset.
func Next(text string, i int) Word {
	w := Word{plain: true, whole: true}
	begin := i
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			if !isASCIIWord[c] || w.Dense {
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
		if d := IsDense(r) || w.Dense && unicode.IsMark(r); i == begin {
			w.Dense = d
		} else if d != w.Dense {
			break
		}
		w.plain, w.whole = false, false
		i += size
	}
	w.End = i
	return w
}

// Visit visits a word and its parts.
func (s *Splitter) Visit(typed string, w Word, visit VisitFunc) {
	switch {
	case w.Dense:
		s.grams(typed, visit)
	case w.whole:
		if s.Any || len(typed) <= Max {
			s.buf = append(s.buf[:0], typed...)
			visit(typed, s.buf, false)
		}
	default:
		s.word(typed, w.plain, visit)
	}
}

func (s *Splitter) word(typed string, plain bool, visit VisitFunc) {
	if !s.Any && len(typed) > Max {
		return
	}
	s.cuts = Cuts(s.cuts[:0], typed)
	s.buf = s.buf[:0]
	begin := 0
	for i, cut := range s.cuts {
		s.buf = appendFolded(s.buf, typed[begin:cut], plain)
		begin, s.cuts[i] = cut, len(s.buf)
	}
	// Folding expands one character to at most eighteen.
	if len(s.buf) == 0 || !s.Any && len(s.buf) > Max {
		return
	}
	visit(typed, s.buf, false)
	if len(s.cuts) == 1 || !s.Any && len(s.cuts) > maxParts {
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

func (s *Splitter) grams(typed string, visit VisitFunc) {
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

// Cuts appends the end offsets of the parts of a word.
func Cuts(ends []int, word string) []int {
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

// IsDense reports whether the script of r is written without spaces between
// words.
func IsDense(r rune) bool {
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

// IsStop reports whether a word is too common to select documents. A query
// ignores its stop words unless all of its words are stop words.
func IsStop(folded string) bool { return stopWords[folded] }

var stopWords = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`
		a an the this that these those it its
		i me my mine we us our you your yours he him his she her they them their one someone somebody
		am is are was were be been being do does did done doing don doesn didn
		have has had having haven hasn
		can could will would shall should may might must cannot couldn won wouldn let lets
		and or but nor so if then than as because while though
		of in on at to from for by with without about into onto out up down over under
		between through during before after
		not no yes
		how what when where which who whom whose why
		there here some any all each every both few more most other such only own same too very just also
		get got give make want need please like
		s t d m ll re ve`) {
		set[word] = true
	}
	return set
}()
