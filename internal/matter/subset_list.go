package matter

import "strings"

// brackets reads a list of scalars in brackets, and returns the text after the
// closing bracket. The list may continue in lines that begin to the right of indent.
func (s *subset) brackets(text string, indent int) (items []Value, rest string) {
	from := len(s.items)
	text = s.inBrackets(text[1:], indent)
	for text != "" && text[0] != ']' {
		var item Value
		item, text = s.bracketItem(text)
		s.items = append(s.items, item)
		text = s.inBrackets(text, indent)
		if strings.HasPrefix(text, ",") {
			text = s.inBrackets(text[1:], indent)
		} else if !strings.HasPrefix(text, "]") {
			break
		}
	}
	items = take(s, &s.items, from)
	if s.verdict != certain || text == "" || text[0] != ']' {
		s.stop(unsure)
		return nil, ""
	}
	return items, text[1:]
}

// inBrackets returns the text without leading spaces, or the next line.
func (s *subset) inBrackets(text string, indent int) string {
	text = trimSpaces(text)
	if text == "" && s.verdict == certain {
		if s.next(); s.indent <= indent || s.commented {
			s.stop(unsure)
		}
		return s.current
	}
	return text
}

// bracketItem reads a scalar up to a comma or the closing bracket.
func (s *subset) bracketItem(text string) (item Value, rest string) {
	if text[0] == '"' || text[0] == '\'' {
		item.Kind = String
		item.Text, rest = s.quoted(text)
		return item, rest
	}
	i := 0
	for ; i < len(text) && text[i] != ',' && text[i] != ']'; i++ {
		c := text[i]
		if strings.IndexByte("[{}?#\"'", c) >= 0 ||
			c == ':' && (i+1 == len(text) || strings.IndexByte(" ,[]{}?", text[i+1]) >= 0) {
			s.stop(unsure)
			return Value{}, ""
		}
	}
	value := strings.TrimRight(text[:i], " ")
	if value == "" || !startsPlain(value) {
		s.stop(unsure)
		return Value{}, ""
	}
	return Value{Kind: plainKind(value), Text: value}, text[i:]
}
