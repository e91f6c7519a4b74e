package matter

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// hasOrdinaryText reports whether a text consists of lines without tabs and without
// the characters that Parse replaces or that YAML treats as line breaks.
func hasOrdinaryText(text string) bool {
	if text != "" && text[len(text)-1] != '\n' {
		return false
	}
	brackets := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c-' ' < '['-' ' || c-'\\' < '{'-'\\' {
			continue
		}
		switch {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(text[i:])
			switch {
			case r < 0xA0, r == 0x2028, r == 0x2029, r == 0xFEFF, r == 0xFFFE, r == 0xFFFF,
				r == utf8.RuneError:
				return false
			}
			i += size - 1
		case c == '[' || c == '{':
			brackets++
		case c == '\n':
		case c == '\r':
			if text[i+1] != '\n' {
				return false
			}
		case c < ' ' || c == 0x7f:
			return false
		}
	}
	return brackets <= MaxDepth // otherwise, the header may be refused
}

// plain reads a plain scalar of one line. If the line contains ": ", YAML takes the text before the
// colon for a key.
func (s *subset) plain(text string, indent int, ofKey bool) Value {
	value, comment := text, ""
	if i := strings.Index(text, " #"); i >= 0 {
		value, comment = text[:i], text[i+1:]
	}
	value = strings.TrimRight(value, " ")
	switch {
	case !startsPlain(text):
		s.stop(unsure)
		return Value{}
	case strings.HasSuffix(value, ":") || strings.Contains(value, ": "):
		if s.stop(unsure); ofKey {
			s.stop(invalid)
		}
		return Value{}
	}
	kind := plainKind(value)
	if comment != "" && (kind == String || isShown(s.key)) && isText(comment, s.key) {
		s.stop(unsure) // the library reports the comment
		return Value{}
	}
	s.endLine(indent)
	return Value{Kind: kind, Text: value}
}

// startsPlain reports whether a plain scalar may begin with the text.
func startsPlain(text string) bool {
	switch c := text[0]; {
	case isLetter(c) || '0' <= c && c <= '9' || c >= utf8.RuneSelf:
		return true
	case c == '-':
		return len(text) > 1 && text[1] != ' '
	default:
		return strings.IndexByte("$(/_.~+<=;^\\)", c) >= 0
	}
}

// plainKind returns the kind of a plain scalar.
func plainKind(text string) Kind {
	switch text {
	case "~", "null", "Null", "NULL":
		return Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool
	}
	if strings.IndexByte("0123456789.+-", text[0]) >= 0 {
		return numberKind(text)
	}
	return String
}

// numberKind returns the kind of a plain scalar that begins as a number. The YAML library decides
// on unusual numbers.
func numberKind(text string) Kind {
	digits, dots := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c == '.':
			dots++
		case strings.IndexByte("+-_xXoObBaAcCdDeEfFiInN", c) < 0:
			return String // no number contains the character
		}
	}
	switch {
	case digits == len(text) && text[0] != '0' && digits < 19:
		return Int
	case digits+dots == len(text) && dots > 1:
		return String // a version
	case digits+dots == len(text) && dots == 1 && digits > 1 && text[0] != '.' && digits < 100:
		return Float
	}
	return scalarKind(&yaml.Node{Kind: yaml.ScalarNode, Value: text})
}

// quoted reads a quoted scalar of one line, and returns the text after the closing
// quote.
func (s *subset) quoted(text string) (value, rest string) {
	if text[0] == '\'' {
		return s.singleQuoted(text[1:])
	}
	return s.doubleQuoted(text[1:])
}

// singleQuoted reads the text of a single-quoted scalar after the opening quote.
func (s *subset) singleQuoted(text string) (value, rest string) {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\'':
		case strings.HasPrefix(text[i:], "''"):
			i++
		case s.discard:
			return "", text[i+1:]
		default:
			return strings.ReplaceAll(text[:i], "''", "'"), text[i+1:]
		}
	}
	s.stop(unsure)
	return "", ""
}

// doubleQuoted reads the text of a double-quoted scalar after the opening quote. The escape
// sequences of both YAML and Go have the same meaning.
func (s *subset) doubleQuoted(text string) (value, rest string) {
	if i := strings.IndexByte(text, '"'); i >= 0 && strings.IndexByte(text[:i], '\\') < 0 {
		return text[:i], text[i+1:]
	}
	for i := strings.IndexAny(text, `"\`); i >= 0; i = strings.IndexAny(text, `"\`) {
		s.text = append(s.text, text[:i]...)
		if text = text[i:]; text[0] == '"' {
			return s.takeText(), text[1:]
		}
		r, _, rest, err := strconv.UnquoteChar(text, '"')
		switch {
		case len(text) == 1, strings.IndexByte("0e '_NLP", text[1]) >= 0:
			s.stop(unsure)
			return "", ""
		case err != nil, '1' <= text[1] && text[1] <= '7': // an octal number in Go
			s.stop(invalid)
			return "", ""
		}
		s.text, text = utf8.AppendRune(s.text, r), rest
	}
	s.stop(unsure)
	return "", ""
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
