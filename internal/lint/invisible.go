package lint

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// invisible reports the characters that a model reads and that an editor does not show
// or shows in another order. Authors of an attack hide instructions in such characters.
// The report is one problem, at the first character.
func (f *File) invisible() []problem.Problem {
	text := bytes.TrimPrefix(f.Raw, byteOrderMark)
	first, count := 0, 0
	var hidden, before rune
	flag := false // text[:i] ends in a flag: U+1F3F4 and tag characters
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			before, flag = rune(text[i]), false
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		flag = r == blackFlag || flag && isTag(r)
		if isInvisible(r, before) && !flag {
			if count++; count == 1 {
				first, hidden = i, r
			}
		}
		before = r
		i += size
	}
	if count == 0 {
		return nil
	}
	place := placeAfter(text[:first])
	message := fmt.Sprintf("the text contains the invisible character %U", hidden)
	if count > 1 {
		message = fmt.Sprintf("the text contains %d invisible characters, the first is %U", count, hidden)
	}
	return []problem.Problem{f.at(place, problem.Warning, problem.InvisibleCharacter, message,
		"remove the characters: a model reads the characters, and a person does not see the characters")}
}

// blackFlag begins the flags of regions, such as Scotland: the region follows in tag
// characters.
const blackFlag = '\U0001F3F4'

func isTag(r rune) bool { return 0xE0020 <= r && r <= 0xE007F }

// isInvisible reports whether a character has no glyph, or changes the order of the
// characters beside. Joiners and direction marks are necessary in several scripts. A
// variation selector changes the character before, and a second selector has no effect.
func isInvisible(r, before rune) bool {
	switch r {
	case '\u200c', '\u200d', '\u200e', '\u200f', '\u061c':
		return false
	}
	if unicode.Is(unicode.Variation_Selector, r) {
		return unicode.Is(unicode.Variation_Selector, before)
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
