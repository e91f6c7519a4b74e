package grep

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A needle is a text that a search finds faster than a regular expression.
type needle struct {
	text []byte
	fold bool // the letter case is ignored; text is in lower case, in ASCII
	rare int  // index of the least frequent letter of text, for fold
}

// maxNeedles limits the needles of a pattern. Each needle is a search of its own.
const maxNeedles = 8

// required returns needles, so that each match of the pattern contains at least one. If such
// needles are unknown, required returns none. exact reports whether each text that contains the
// needle contains a match.
func required(re *syntax.Regexp) (needles []needle, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		n, whole := literalNeedle(re)
		if n.text == nil {
			return nil, false
		}
		return []needle{n}, whole
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		needles, _ = required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			needles, _ = required(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if some, _ := required(sub); shortest(some) > shortest(needles) {
				needles = some
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			some, _ := required(sub)
			needles = append(needles, some...)
			if some == nil || len(needles) > maxNeedles {
				return nil, false
			}
		}
	}
	return needles, false
}

// shortest returns the length of the shortest needle, or 0 without needles.
func shortest(needles []needle) int {
	if len(needles) == 0 {
		return 0
	}
	return len(slices.MinFunc(needles, func(a, b needle) int { return len(a.text) - len(b.text) }).text)
}

// literalNeedle returns the needle of a literal, and whether the needle is the whole literal.
func literalNeedle(re *syntax.Regexp) (n needle, whole bool) {
	if re.Flags&syntax.FoldCase == 0 {
		// The regular expression U+FFFD also matches an invalid byte.
		if slices.Contains(re.Rune, utf8.RuneError) {
			return needle{}, false
		}
		return needle{text: []byte(string(re.Rune))}, true
	}
	// A letter with one other form, both in ASCII, is simple. K and S have a third form.
	simple := func(r rune) bool { return r < utf8.RuneSelf && !strings.ContainsRune("kKsS", r) }
	var best []rune
	for rest := re.Rune; len(rest) > 0; {
		end := slices.IndexFunc(rest, func(r rune) bool { return !simple(r) })
		if end < 0 {
			end = len(rest)
		}
		if end > len(best) {
			best = rest[:end]
		}
		rest = rest[min(end+1, len(rest)):]
	}
	if len(best) == 0 {
		return needle{}, false
	}
	n = needle{text: bytes.ToLower([]byte(string(best))), fold: true}
	for i, c := range n.text {
		if frequency(c) < frequency(n.text[n.rare]) {
			n.rare = i
		}
	}
	return n, len(best) == len(re.Rune)
}

// frequency returns a number that is larger for a more frequent character of source code.
func frequency(c byte) int {
	const byFrequency = "zqjxk/*+#@vwybg{}[]<>hf'\"()mup-d:;=.,lcs_nairote "
	return strings.IndexByte(byFrequency, c) // -1 for a rare character
}

// A finder finds a needle in a block, in ascending order.
type finder struct {
	*needle
	at           int // the next needle; len(block) if there is none, -1 if unknown
	lower, upper int // the same for both forms of the rare letter
}

func (f *finder) reset() { f.at, f.lower, f.upper = -1, -1, -1 }

// next returns the first needle at pos or later, or len(block).
func (f *finder) next(block []byte, pos int) int {
	if f.at < pos {
		if f.fold {
			f.at = f.nextFold(block, pos)
		} else {
			f.at = after(bytes.Index(block[pos:], f.text), pos, len(block))
		}
	}
	return f.at
}

func (f *finder) nextFold(block []byte, pos int) int {
	lower := f.text[f.rare]
	upper := lower
	if 'a' <= lower && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	for from := pos + f.rare; from < len(block); {
		if f.lower < from {
			f.lower = after(bytes.IndexByte(block[from:], lower), from, len(block))
		}
		if f.upper < from {
			f.upper = after(bytes.IndexByte(block[from:], upper), from, len(block))
		}
		at := min(f.lower, f.upper)
		if at == len(block) {
			break
		}
		if start := at - f.rare; equalFold(block[start:], f.text) {
			return start
		}
		from = at + 1
	}
	return len(block)
}

// after returns an index as an index of the whole block, and the end if the index is negative.
func after(index, from, end int) int {
	if index < 0 {
		return end
	}
	return from + index
}

// equalFold reports whether text begins with a lower-case needle in any letter case.
func equalFold(text, lower []byte) bool {
	if len(text) < len(lower) {
		return false
	}
	for i, want := range lower {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want {
			return false
		}
	}
	return true
}
