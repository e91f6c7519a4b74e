package escape

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name escapes the name of a file for a text of lines, for models and people. The result
// has no line break, resembles the name, and can be decoded.
//
// The notation is Go's, as strconv.UnquoteChar decodes it, for example \\ \t \x1b \xff \u202e. Name
// escapes backslashes, control characters, bytes of invalid UTF-8, invisible characters and
// characters that reorder text (see UnsafeRune), blanks at both ends, and the beginnings of the
// texts that a listing writes beside a name. A slash stays, because no name contains a slash.
func Name(name string) string {
	if plainName(name) {
		return name
	}
	var b strings.Builder
	b.Grow(len(name) + 8)
	end := len(strings.TrimRightFunc(name, unicode.IsSpace)) // name[end:] is white space
	start := true                                            // name[:i] is white space
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		start = start && unicode.IsSpace(r)
		switch outer := start || i >= end; {
		case r == utf8.RuneError && size == 1:
			escapeByte(&b, name[i])
		case UnsafeRune(r), outer && unicode.IsSpace(r), beginsListingText(name[:i], name[i:]):
			escapeRune(&b, r)
		default:
			b.WriteString(name[i : i+size])
		}
		i += size
	}
	return b.String()
}

// beginsListingText reports whether the rest of a name begins a text that a listing writes.
func beginsListingText(before, rest string) bool {
	switch {
	case before == "" && strings.HasPrefix(rest, "…"): // as in the line "… and 3 more"
		return true
	case strings.HasSuffix(before, " -") && rest[0] == '>': // " -> " is between a link and its target
		return true
	}
	// After a link.
	return strings.HasSuffix(before, " ") && (rest == "(outside root)" || rest == "(?)")
}

// Line escapes a line of a file for a text of lines, after the number of the line. Line
// escapes the control characters, the invisible characters and the line breaks that Name
// escapes, in the same notation, and no others: a backslash and a tab stay, because they are
// frequent in source code. Therefore the result cannot be decoded.
func Line(line string) string {
	unsafe := func(r rune) bool { return r != '\t' && r != '\\' && UnsafeRune(r) }
	from := strings.IndexFunc(line, unsafe)
	if from < 0 {
		return line
	}
	var b strings.Builder
	b.WriteString(line[:from])
	for _, r := range line[from:] {
		if unsafe(r) {
			escapeRune(&b, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Path escapes the elements of a path with slashes, as Name does.
func Path(path string) string {
	if plainName(path) {
		return path
	}
	elements := strings.Split(path, "/")
	for i, element := range elements {
		elements[i] = Name(element)
	}
	return strings.Join(elements, "/")
}

// Decode returns the name or the path that Name or Path has escaped. Decode keeps a
// backslash that begins no escape.
func Decode(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	name := make([]byte, 0, len(text))
	for text != "" {
		r, multibyte, rest, err := rune(text[0]), false, text[1:], error(nil)
		if text[0] == '\\' {
			r, multibyte, rest, err = strconv.UnquoteChar(text, 0)
		}
		switch {
		case err != nil:
			name, rest = append(name, text[0]), text[1:]
		case multibyte:
			name = utf8.AppendRune(name, r)
		default:
			name = append(name, byte(r))
		}
		text = rest
	}
	return string(name)
}

// plainName reports whether a name consists of ASCII that needs no escape. The check
// is fast, and almost all names are plain.
func plainName(name string) bool {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c <= ' ' || c >= 0x7f || c == '\\' {
			return false
		}
	}
	return true
}

// UnsafeRune reports whether a character is escaped in every position.
func UnsafeRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f || r == '\\'
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point)
}

func escapeRune(b *strings.Builder, r rune) {
	if quoted := strconv.QuoteRuneToASCII(r); r >= utf8.RuneSelf ||
		strings.ContainsRune("\\\t\n\r", r) {
		b.WriteString(quoted[1 : len(quoted)-1])
	} else {
		escapeByte(b, byte(r))
	}
}

func escapeByte(b *strings.Builder, c byte) { fmt.Fprintf(b, `\x%02x`, c) }
