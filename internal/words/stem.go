package words

import (
	"bytes"
	"strings"
)

// Stem removes the endings of an English word, in place: Porter2, the English stemmer of Snowball
// (Porter, https://snowballstem.org/algorithms/english/stemmer.html). The forms of a word have the
// same stem, which need not be a word. A folded word with other characters than the letters a to z
// is its own stem.
//
// The functions below are the steps of the definition. Step 0 is absent, because no folded word has
// an apostrophe.
func Stem(word []byte) []byte {
	if len(word) <= 2 || strings.IndexByte(lastLetters, word[len(word)-1]) < 0 {
		return word
	}
	for _, c := range word {
		if c < 'a' || c > 'z' {
			return word
		}
	}
	if fixed, ok := fixedStems[string(word)]; ok {
		return append(word[:0], fixed...)
	}
	hasY := bytes.IndexByte(word, 'y') >= 0  // most words have none
	for i := 0; hasY && i < len(word); i++ { // Y is a consonant
		if word[i] == 'y' && (i == 0 || isVowel(word[i-1])) {
			word[i] = 'Y'
		}
	}
	s := stemmer{word: word}
	s.r1 = region(word, 0)
	for _, prefix := range [...]string{"gener", "commun", "arsen"} {
		if len(word) >= len(prefix) && string(word[:len(prefix)]) == prefix {
			s.r1 = len(prefix)
		}
	}
	s.r2 = region(word, s.r1)
	s.plural()
	if !finalStems[string(s.word)] {
		s.verb()
		s.finalY()
		s.replace(&step2)
		s.replace(&step3)
		s.replace(&step4)
		s.finalLetter()
	}
	for i := 0; hasY && i < len(s.word); i++ {
		if s.word[i] == 'Y' {
			s.word[i] = 'y'
		}
	}
	return s.word
}

// lastLetters are the last letters of the endings and of fixedStems.
const lastLetters = "cdegilmnrsty"

// A stemmer holds a word of at least three letters during the steps. An ending is in a region if
// the ending begins at or after the offset of the region.
type stemmer struct {
	word   []byte
	r1, r2 int
}

// fixedStems holds the words with an irregular stem, and finalStems the words that end the steps
// after the plural.
var (
	fixedStems = map[string]string{
		"skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "idly": "idl",
		"gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
		"sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos",
		"bias": "bias", "andes": "andes",
	}
	finalStems = map[string]bool{
		"inning": true, "outing": true, "canning": true, "herring": true, "earring": true,
		"proceed": true, "exceed": true, "succeed": true,
	}
)

func isVowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}

// region returns the offset after the first consonant that follows a vowel at or after an offset.
func region(word []byte, from int) int {
	for i := from + 1; i < len(word); i++ {
		if isVowel(word[i-1]) && !isVowel(word[i]) {
			return i + 1
		}
	}
	return len(word)
}

func (s *stemmer) has(ending string) bool {
	n := len(s.word) - len(ending)
	return n >= 0 && string(s.word[n:]) == ending
}

func (s *stemmer) cut(n int) { s.word = s.word[:len(s.word)-n] }

// hasVowel reports whether the first n letters have a vowel.
func (s *stemmer) hasVowel(n int) bool {
	for _, c := range s.word[:n] {
		if isVowel(c) {
			return true
		}
	}
	return false
}

// endsShort reports whether the first n letters end in a short syllable.
func (s *stemmer) endsShort(n int) bool {
	w := s.word[:n]
	switch {
	case n == 2:
		return isVowel(w[0]) && !isVowel(w[1])
	case n > 2 && !isVowel(w[n-3]) && isVowel(w[n-2]) && !isVowel(w[n-1]):
		return w[n-1] != 'w' && w[n-1] != 'x' && w[n-1] != 'Y'
	}
	return false
}

// plural is step 1a.
func (s *stemmer) plural() {
	n := len(s.word)
	switch {
	case s.has("sses"):
		s.cut(2)
	case s.has("ied"), s.has("ies"):
		if n > 4 {
			s.cut(2)
		} else {
			s.cut(1)
		}
	case s.has("us"), s.has("ss"):
	case s.has("s") && s.hasVowel(n-2):
		s.cut(1)
	}
}

// verb is step 1b.
func (s *stemmer) verb() {
	n := 0
	switch {
	case s.has("eedly"), s.has("eed"):
		if s.has("ly") {
			n = 2
		}
		if len(s.word)-n-3 >= s.r1 {
			s.cut(n + 1)
		}
		return
	case s.has("ingly"):
		n = 5
	case s.has("edly"):
		n = 4
	case s.has("ing"):
		n = 3
	case s.has("ed"):
		n = 2
	default:
		return
	}
	if !s.hasVowel(len(s.word) - n) {
		return
	}
	s.cut(n)
	n = len(s.word)
	switch {
	case s.has("at"), s.has("bl"), s.has("iz"), s.r1 >= n && s.endsShort(n) && !s.doubled():
		s.word = append(s.word, 'e')
	case s.doubled():
		s.cut(1)
	}
}

func (s *stemmer) doubled() bool {
	n := len(s.word)
	if n < 2 || s.word[n-1] != s.word[n-2] {
		return false
	}
	switch s.word[n-1] {
	case 'b', 'd', 'f', 'g', 'm', 'n', 'p', 'r', 't':
		return true
	}
	return false
}

// finalY is step 1c.
func (s *stemmer) finalY() {
	if n := len(s.word); n > 2 && (s.word[n-1] == 'y' || s.word[n-1] == 'Y') && !isVowel(s.word[n-2]) {
		s.word[n-1] = 'i'
	}
}

// An ending is replaced in R1, or in R2 if the replacement needs R2, and after one of some letters,
// if any are given.
type ending struct {
	from, to string
	r2       bool
	after    string
}

// endings holds the endings of a step by their last letter but one, the longest first.
type endings ['z' - 'a' + 1][]ending

// endingsOf reads endings such as "ation=ate", "ative!" (in R2) and "ogi=og/l" (after an l).
func endingsOf(text string) (e endings) {
	for word := range strings.FieldsSeq(text) {
		var one ending
		word, one.after, _ = strings.Cut(word, "/")
		one.from, one.to, _ = strings.Cut(word, "=")
		one.from, one.r2 = strings.CutSuffix(one.from, "!")
		i := one.from[len(one.from)-2] - 'a'
		e[i] = append(e[i], one)
	}
	return e
}

var (
	step2 = endingsOf(`ational=ate tional=tion enci=ence anci=ance izer=ize ization=ize ation=ate
		ator=ate alism=al aliti=al fulness=ful ousness=ous iveness=ive iviti=ive biliti=ble
		lessli=less entli=ent ousli=ous fulli=ful abli=able alli=al bli=ble ogi=og/l
		li/cdeghkmnrt`)
	step3 = endingsOf(`ational=ate tional=tion alize=al icate=ic iciti=ic ative! ical=ic ness ful`)
	step4 = endingsOf(`ement! ance! ence! able! ible! ment! ant! ent! ism! ate! iti! ous! ive! ize!
		ion!/st al! er! ic!`)
)

// replace is steps 2, 3 and 4. Only the longest ending counts, also if the ending is outside its
// region.
func (s *stemmer) replace(all *endings) {
	n := len(s.word)
	if n < 3 || s.word[n-2] == 'Y' {
		return
	}
	for _, e := range all[s.word[n-2]-'a'] {
		if !s.has(e.from) {
			continue
		}
		at := n - len(e.from)
		if at < s.r1 || e.r2 && at < s.r2 {
			return
		}
		if e.after != "" && (at == 0 || strings.IndexByte(e.after, s.word[at-1]) < 0) {
			return
		}
		s.word = append(s.word[:at], e.to...)
		return
	}
}

// finalLetter is step 5.
func (s *stemmer) finalLetter() {
	n := len(s.word) - 1
	switch {
	case s.word[n] == 'e' && (n >= s.r2 || n >= s.r1 && !s.endsShort(n)),
		s.word[n] == 'l' && n >= s.r2 && n > 0 && s.word[n-1] == 'l':
		s.cut(1)
	}
}
