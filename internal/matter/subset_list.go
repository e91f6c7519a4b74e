package matter

import "strings"

// brackets reads a list of scalars in brackets, and returns the text after the
// closing bracket in the line.
func (s *subset) brackets(text string) (items []Value, rest string) {
	from := len(s.items)
	text = trimSpaces(text[1:])
	for text != "" && text[0] != ']' {
		var item Value
		item, text = s.bracketItem(text)
		s.items = append(s.items, item)
		if text = trimSpaces(text); strings.HasPrefix(text, ",") {
			text = trimSpaces(text[1:])
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
