package index

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Compare orders names case-insensitively, by Unicode simple folding, and
// names that differ only in case by their bytes.
func Compare(a, b string) int {
	return cmp.Or(strings.Compare(fold(a), fold(b)), strings.Compare(a, b))
}

func compareEntries(a, b *Entry) int {
	return cmp.Or(
		strings.Compare(a.key, b.key),
		strings.Compare(a.Name, b.Name),
	)
}

// fold maps each character to one that stands for all its simple case
// variants: the lower case of the smallest of them. Letters that fold alike
// are then equal, and ASCII letters sort as lower case letters do.
func fold(s string) string {
	lower := true
	for i := 0; i < len(s) && lower; i++ {
		lower = s[i] < utf8.RuneSelf && (s[i] < 'A' || s[i] > 'Z')
	}
	if lower {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b.WriteByte(s[i]) // not UTF-8: stays distinct
		} else {
			b.WriteRune(foldRune(r))
		}
		i += size
	}
	return b.String()
}

func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	least := r
	for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
		least = min(least, v)
	}
	return unicode.ToLower(least)
}
