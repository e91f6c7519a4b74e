package ignore

import "strings"

// glob matches one path element. As in matchSegments, only the last star is
// gone back to.
func glob(pattern, name string) bool {
	resume, at := -1, 0
	p, n := 0, 0
	for n < len(name) {
		if p < len(pattern) {
			if pattern[p] == '*' {
				p++
				resume, at = p, n
				continue
			}
			if ok, length := one(pattern[p:], name[n]); ok {
				p += length
				n++
				continue
			}
		}
		if resume < 0 {
			return false
		}
		at++
		p, n = resume, at
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// one matches a byte with what a pattern begins with, which is not a star,
// and returns how long that is. Nothing matches what is malformed.
func one(pattern string, c byte) (ok bool, length int) {
	switch pattern[0] {
	case '?':
		return true, 1
	case '[':
		ok, length = class(pattern, c)
		return ok && length > 0, length
	case '\\':
		return len(pattern) > 1 && pattern[1] == c, 2
	default:
		return pattern[0] == c, 1
	}
}

// class matches a byte with the bracket expression that a pattern begins
// with. The length is 0 where it is malformed.
func class(pattern string, c byte) (ok bool, length int) {
	i := 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	for first := true; ; first = false {
		if i >= len(pattern) {
			return false, 0
		}
		switch {
		case pattern[i] == ']' && !first:
			return ok != negated, i + 1
		case strings.HasPrefix(pattern[i:], "[:"):
			end := strings.IndexByte(pattern[i:], ']')
			if end < 0 {
				return false, 0
			}
			if end < 3 || pattern[i+end-1] != ':' {
				// A "[:" that no ":]" ends is two characters.
				ok = ok || c == '['
				i++
				continue
			}
			in, known := named(pattern[i+2:i+end-1], c)
			if !known {
				return false, 0
			}
			ok = ok || in
			i += end + 1
			continue
		}
		low, after := literal(pattern, i)
		high := low
		if after < len(pattern)-1 && pattern[after] == '-' && pattern[after+1] != ']' {
			high, after = literal(pattern, after+1)
		}
		if after > len(pattern) {
			return false, 0
		}
		ok = ok || c == low || low < c && c <= high // git takes the first of a range that runs backwards
		i = after
	}
}

// literal is the byte at i of a bracket expression, and where the next one
// begins: beyond the end after a lone backslash.
func literal(pattern string, i int) (c byte, next int) {
	if pattern[i] != '\\' {
		return pattern[i], i + 1
	}
	if i+1 == len(pattern) {
		return 0, i + 2
	}
	return pattern[i+1], i + 2
}

// named reports whether a byte is in a named class of POSIX, in ASCII.
func named(class string, c byte) (in, known bool) {
	var (
		lower = 'a' <= c && c <= 'z'
		upper = 'A' <= c && c <= 'Z'
		digit = '0' <= c && c <= '9'
		graph = '!' <= c && c <= '~'
	)
	switch class {
	case "alnum":
		return lower || upper || digit, true
	case "alpha":
		return lower || upper, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < ' ' || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return graph, true
	case "lower":
		return lower, true
	case "print":
		return graph || c == ' ', true
	case "punct":
		return graph && !lower && !upper && !digit, true
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r', true
	case "upper":
		return upper, true
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F', true
	default:
		return false, false
	}
}
