package matter

// block reads a literal or folded block scalar. The argument text is the rest of the
// line, and indent is the column of the key or the hyphen.
func (s *subset) block(text string, indent int) string {
	folded, chomping := text[0] == '>', text[1:]
	if chomping != "" && chomping != "-" && chomping != "+" {
		s.stop(unsure)
		return ""
	}
	column := 0     // of the text; 0 means unknown
	breaks := 0     // line breaks after the last line of text
	spaced := false // the last line of text begins with a space
	for s.rest != "" {
		rest, number := s.rest, s.line
		line := s.cutLine()
		text := trimSpaces(line)
		spaces := len(line) - len(text)
		if text == "" {
			if spaces > column {
				s.stop(unsure)
				return ""
			}
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
		leading := spaces > column
		switch {
		case len(s.text) == 0 || !folded || spaced || leading:
			s.writeBreaks(breaks)
		case breaks == 1:
			s.text = append(s.text, ' ')
		default:
			s.writeBreaks(breaks - 1)
		}
		s.text = append(s.text, line[column:]...)
		breaks, spaced = 1, leading
	}
	if len(s.text) == 0 || chomping == "+" && s.rest == "" {
		s.stop(unsure)
		return ""
	}
	switch chomping {
	case "":
		s.text = append(s.text, '\n')
	case "+":
		s.writeBreaks(breaks)
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
