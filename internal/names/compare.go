package names

import (
	"cmp"
	"unicode"
	"unicode/utf8"
)

// Compare orders names case-insensitively by Unicode simple folding. Names that
// differ only in case are ordered by their bytes. A byte that is not UTF-8
// follows every character. Compare allocates nothing.
func Compare[A, B ~string | ~[]byte](a A, b B) int {
	i := 0
	for ; i < len(a) && i < len(b); i++ {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x|y >= utf8.RuneSelf {
			break
		}
		if x, y = LowerASCII(x), LowerASCII(y); x != y {
			return cmp.Compare(x, y)
		}
	}
	i = characterAt(a, b, i)
	j := i
	for i < len(a) && j < len(b) {
		x, n := folded(a, i)
		y, m := folded(b, j)
		if x != y {
			return cmp.Compare(x, y)
		}
		i, j = i+n, j+m
	}
	if order := cmp.Compare(len(a)-i, len(b)-j); order != 0 {
		return order
	}
	for k := 0; k < len(a) && k < len(b); k++ {
		if a[k] != b[k] {
			return cmp.Compare(a[k], b[k])
		}
	}
	return 0 // neither of two names that fold alike is a prefix of the other
}

// ComparePrefix returns 0 if a name begins with a prefix, in any letter case. All other names are
// ordered by Compare.
func ComparePrefix(name, prefix string) int {
	for prefix != "" && name != "" {
		x, n := folded(name, 0)
		y, m := folded(prefix, 0)
		if x != y {
			return cmp.Compare(x, y)
		}
		name, prefix = name[n:], prefix[m:]
	}
	return -len(prefix)
}

// characterAt returns the index of the first byte of the character at i. Up to
// i, the two names differ at most in the case of ASCII letters.
func characterAt[A, B ~string | ~[]byte](a A, b B, i int) int {
	if (i == len(a) || utf8.RuneStart(a[i])) && (i == len(b) || utf8.RuneStart(b[i])) {
		return i
	}
	for back := 1; back < utf8.UTFMax && back <= i; back++ {
		if utf8.RuneStart(a[i-back]) {
			return i - back
		}
	}
	return i
}

// LowerASCII returns the lower case of an ASCII letter, and any other byte
// unchanged.
func LowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// folded returns the folded character of s at i, and the length of the
// character.
func folded[S ~string | ~[]byte](s S, i int) (rune, int) {
	var encoded [utf8.UTFMax]byte
	n := 0
	for ; n < len(encoded) && i+n < len(s); n++ {
		encoded[n] = s[i+n]
	}
	r, size := utf8.DecodeRune(encoded[:n])
	if r == utf8.RuneError && size == 1 {
		return unicode.MaxRune + rune(encoded[0]), 1
	}
	return fold(r), size
}

// fold maps all simple case variants of a character to the same character: the
// lower case of the smallest variant. Therefore letters that differ only in case
// are equal, and ASCII letters sort as lower case letters.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		return rune(LowerASCII(byte(r)))
	}
	least := r
	for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
		least = min(least, v)
	}
	return unicode.ToLower(least)
}
