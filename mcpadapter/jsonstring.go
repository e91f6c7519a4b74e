package mcpadapter

import "unicode/utf8"

// plain are the bytes that stand for themselves in a JSON string.
var plain = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\' && c != 0x7f
	}
	return t
}()

// appendString adds s as a JSON string, in one pass. A command's whole text
// goes through here twice in each call, which is what encoding/json would spend
// most of the call's time on. What is not UTF-8 becomes U+FFFD, as there.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	begin := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[begin:i]...)
				dst = append(dst, "\ufffd"...)
				begin = i + 1
			}
			i += size
			continue
		}
		i++
		dst = append(dst, s[begin:i-1]...)
		begin = i
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	dst = append(dst, s[begin:]...)
	return append(dst, '"')
}
