package words

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// minTypo is the minimum number of letters of a word for typos. Almost every shorter
// word is at a distance of one error from another word.
const minTypo = 4

// Typos visits the words at a distance of one typing error: one character
// deleted, inserted, substituted, or transposed with its neighbor (Damerau,
// 1964). Typos may visit a word more than once. Typos generates the words instead
// of scanning the vocabulary, so the cost depends on the length of the word only.
// The visited word is valid until visit returns, and visit may modify the word.
func Typos(folded string, visit func(word []byte)) {
	letters, runes := 0, 0
	for _, r := range folded {
		if runes++; unicode.IsLetter(r) {
			letters++
		}
	}
	if letters < minTypo || runes > Max { // the cost grows with the length
		return
	}
	var buf []byte
	// try visits the word with the bytes from i to j replaced.
	try := func(i, j int, by ...rune) {
		buf = append(buf[:0], folded[:i]...)
		for _, r := range by {
			buf = utf8.AppendRune(buf, r)
		}
		buf = append(buf, folded[j:]...)
		visit(buf)
	}
	before := rune(-1)
	for i, r := range folded {
		end := i + utf8.RuneLen(r)
		try(i, end)
		if next, size := utf8.DecodeRuneInString(folded[end:]); size > 0 && next != r {
			try(i, end+size, next, r)
		}
		for _, l := range alphabet(r) {
			if l != r {
				try(i, end, l)
			}
			if l != before { // one more of a letter is the same on both sides
				try(i, i, l)
			}
			if end == len(folded) {
				try(end, end, l)
			}
		}
		before = r
	}
}

// alphabet returns the candidate letters in place of r: approximately the folded
// letters of the Unicode block of r.
func alphabet(r rune) []rune {
	if r < utf8.RuneSelf {
		return latin
	}
	var letters []rune
	first := r &^ 0x7F
	for l := first; l < first+0x80; l++ {
		if unicode.IsLetter(l) && !unicode.IsUpper(l) {
			letters = append(letters, l)
		}
	}
	return letters
}

var latin = slices.Collect(func(yield func(rune) bool) {
	for r := 'a'; r <= 'z' && yield(r); r++ {
	}
})
