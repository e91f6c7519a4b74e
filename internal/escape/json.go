// Package escape writes untrusted text into other formats.
package escape

import (
	"bytes"
	"encoding/json"
	"sync"
	"unicode/utf8"
)

// unescaped marks the ASCII bytes that AppendJSON copies unchanged.
var unescaped = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\' && c != 0x7f
	}
	return t
}()

// AppendJSON appends s to dst as a JSON string.
//
// AppendJSON escapes quotation marks, backslashes and control characters,
// including DEL. Unlike encoding/json, AppendJSON keeps <, > and & readable. As in
// encoding/json, each invalid UTF-8 byte becomes U+FFFD.
//
// AppendJSON exists because encoding/json would take most of the time of a tool
// call that returns the content of a command.
func AppendJSON(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	begin := 0
	for i := 0; i < len(s); {
		c := s[i]
		if unescaped[c] {
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

// Marshal is json.Marshal without HTML escapes, because a model should read "<", not
// "\u003c".
func Marshal(v any) (json.RawMessage, error) {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.Clone(bytes.TrimSuffix(b.Bytes(), []byte{'\n'})), nil
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
