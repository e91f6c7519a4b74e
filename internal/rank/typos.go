package rank

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// minTypo is how many letters a word has in which a typing error is looked
// for: almost any shorter word is one error away from another one.
const minTypo = 4

// typos visits the words that become the given one by one typing error (one
// character left out, put in, exchanged for another, or swapped with its
// neighbour; Damerau, 1964), some of them more than once. They are made rather
// than looked for, so that what it takes depends on the word and not on the
// vocabulary. The visited word is only valid during the call, which may alter it.
func typos(folded string, visit func(word []byte)) {
	word := []rune(folded)
	letters := 0
	for _, r := range word {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	if letters < minTypo || len(word) > maxWord { // a longer one takes time without end, and nobody types it
		return
	}
	var buf []byte
	// try visits the word with the characters from i to j replaced.
	try := func(i, j int, by ...rune) {
		buf = buf[:0]
		for _, part := range [][]rune{word[:i], by, word[j:]} {
			for _, r := range part {
				buf = utf8.AppendRune(buf, r)
			}
		}
		visit(buf)
	}
	for i, r := range word {
		try(i, i+1)
		if i+1 < len(word) && word[i+1] != r {
			try(i, i+2, word[i+1], r)
		}
		for _, l := range alphabet(r) {
			try(i, i+1, l)
			try(i, i, l)
			if i+1 == len(word) {
				try(i+1, i+1, l)
			}
		}
	}
}

// alphabet returns the letters that may be meant where r is typed: the folded
// ones of its Unicode block, near enough.
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
