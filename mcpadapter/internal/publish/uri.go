package publish

import "strings"

// scheme begins the URI of each file and directory of a skill.
const scheme = "skill://"

// URI returns the URI of a path of one or more elements. Each byte except the
// letters, digits and marks that RFC 3986 calls unreserved is percent-encoded, so the URI
// is valid for every path, and each path has exactly one URI.
func URI(path string) string {
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(scheme)+len(path)+len(path)/8)
	b = append(b, scheme...)
	for i := range len(path) {
		if c := path[i]; c == '/' || unreserved(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(b)
}

// ParseURI returns the path of a URI. ParseURI accepts only the results of
// URI: no other spelling of a URI, no empty element, no "." and no "..". An accepted
// path is therefore safe to compare with the paths of files, byte by byte.
func ParseURI(uri string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return "", false
	}
	b := make([]byte, 0, len(rest))
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch {
		case c == '/' || unreserved(c):
		case c == '%' && i+2 < len(rest):
			high, low := hexDigit(rest[i+1]), hexDigit(rest[i+2])
			if high < 0 || low < 0 {
				return "", false
			}
			if c = byte(high<<4 | low); c == 0 || c == '/' || unreserved(c) {
				return "", false
			}
			i += 2
		default:
			return "", false
		}
		b = append(b, c)
	}
	path = string(b)
	for element := range strings.SplitSeq(path, "/") {
		if element == "" || element == "." || element == ".." {
			return "", false
		}
	}
	return path, true
}

// unreserved reports whether a byte is an unreserved character of RFC 3986.
func unreserved(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '-' || c == '.' || c == '_' || c == '~'
}

// hexDigit returns the value of an uppercase hexadecimal digit, or -1.
func hexDigit(c byte) int { return strings.IndexByte("0123456789ABCDEF", c) }
