package matter

// A blockHeader is the header of a block scalar, such as ">-2".
type blockHeader struct {
	folded    bool
	chomping  byte // '-' or '+'; 0 without an indicator
	increment int  // of the column of the text; 0 without an indicator
}

func readBlockHeader(text string) (h blockHeader, ok bool) {
	h.folded = text[0] == '>'
	for _, c := range []byte(text[1:]) {
		switch {
		case (c == '-' || c == '+') && h.chomping == 0:
			h.chomping = c
		case '1' <= c && c <= '9' && h.increment == 0:
			h.increment = int(c - '0')
		default:
			return h, false
		}
	}
	return h, true
}

// block reads a literal or folded block scalar. The argument text is the rest of the
// line, and indent is the column of the key or the hyphen.
func (s *subset) block(text string, indent int) string {
	header, ok := readBlockHeader(text)
	if !ok {
		s.stop(unsure)
		return ""
	}
	column := 0 // of the text; 0 means unknown
	if header.increment > 0 {
		column = indent + header.increment
	}
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
		case len(s.text) == 0 || !header.folded || spaced || leading:
			s.writeBreaks(breaks)
		case breaks == 1:
			s.text = append(s.text, ' ')
		default:
			s.writeBreaks(breaks - 1)
		}
		s.text = append(s.text, line[column:]...)
		breaks, spaced = 1, leading
	}
	if len(s.text) == 0 || header.chomping == '+' && s.rest == "" {
		s.stop(unsure)
		return ""
	}
	switch header.chomping {
	case 0:
		s.text = append(s.text, '\n')
	case '+':
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
