package matter

// block reads a literal or folded block scalar. The argument text is the rest of the
// line, and indent is the column of the key or the hyphen.
func (s *subset) block(text string, indent int) string {
	folded, strip := text[0] == '>', text[1:] == "-"
	if text[1:] != "" && !strip {
		s.stop(unsure)
	}
	column := 0 // of the text; 0 means unknown
	breaks := 0 // line breaks after the last line of text
	for s.verdict == certain && s.rest != "" {
		rest, number := s.rest, s.line
		line := s.cutLine()
		text := trimSpaces(line)
		spaces := len(line) - len(text)
		if text == "" && spaces <= column {
			breaks++
			continue
		}
		if column == 0 {
			column = max(spaces, indent+1)
		}
		if spaces < column {
			s.rest, s.line = rest, number
			break
		}
		switch {
		case text == "", folded && spaces > column: // the line breaks around the line stay
			s.stop(unsure)
		case len(s.text) == 0 || !folded:
			s.writeBreaks(breaks)
		case breaks == 1:
			s.text = append(s.text, ' ')
		default:
			s.writeBreaks(breaks - 1)
		}
		s.text = append(s.text, line[column:]...)
		breaks = 1
	}
	if len(s.text) == 0 {
		s.stop(unsure)
	}
	if !strip {
		s.text = append(s.text, '\n')
	}
	value := s.takeText()
	s.endLine(indent)
	return value
}

// writeBreaks appends line breaks to the open scalar.
func (s *subset) writeBreaks(n int) {
	for range n {
		s.text = append(s.text, '\n')
	}
}
