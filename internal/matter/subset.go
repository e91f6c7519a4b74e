package matter

import (
	"slices"
	"strings"
)

// readSubset reads a header in the subset of YAML that nearly all authors use:
// mappings and lists in block style, lists in brackets, plain, quoted and block
// scalars, and comments. The YAML library takes ten to thirty times as long. The
// argument line is the line of the text in the file. The strings of the fields are
// parts of the text where possible.
//
// If the verdict is certain, the fields are the result of the library, and the
// header has no problem. If the verdict is invalid, the library rejects the text. If
// the verdict is unsure, the library decides. FuzzSubset compares the first two cases
// with the library.
func readSubset(text string, line int) ([]Field, verdict) {
	var s subset
	verdict := s.read(text, line, nil)
	return s.fields, verdict
}

// read is readSubset with the result in s.fields, until the next call. If keys is
// not nil, only allowed-tools and the fields with these keys have a value.
func (s *subset) read(text string, line int, keys []string) verdict {
	s.reuse()
	s.rest, s.line, s.keys = text, line-1, keys
	if !hasOrdinaryText(text) {
		return unsure
	}
	s.next()
	s.mapping(0, 0)
	return s.verdict
}

// A verdict is the knowledge of readSubset about a text.
type verdict uint8

const (
	certain verdict = iota // the text is in the subset
	invalid                // the text is not YAML
	unsure
)

// A subset is the state of a reader of the subset of YAML.
type subset struct {
	rest    string // text after the current line
	current string // current line without indentation and trailing spaces
	indent  int    // column of current, or -1 after the last line
	line    int    // line of current in the file
	verdict verdict

	key     string   // current top-level key
	keys    []string // keys of the fields to read; nil means all
	discard bool     // the value of key is not needed

	// The open mappings, lists and scalars. Values have copies.
	fields []Field
	items  []Value
	text   []byte
}

// reuse prepares the memory of the last header for the next.
func (s *subset) reuse() {
	fields, items, text := s.fields[:cap(s.fields)], s.items[:cap(s.items)], s.text[:0]
	*s = subset{}
	if len(fields)+len(items) <= maxReusedValues && cap(text) <= maxReusedText {
		clear(fields)
		clear(items)
		s.fields, s.items, s.text = fields[:0], items[:0], text
	}
}

// The memory that reuse keeps. Public headers need less.
const (
	maxReusedValues = 128
	maxReusedText   = 4 << 10
)

// take removes the fields of a complete mapping, or the items of a complete list, and returns a
// copy.
func take[T Field | Value](s *subset, open *[]T, from int) []T {
	taken := (*open)[from:]
	*open = (*open)[:from]
	if s.discard || len(taken) == 0 {
		return nil
	}
	return slices.Clone(taken)
}

// takeText removes the text of a complete scalar, and returns a copy.
func (s *subset) takeText() string {
	text := s.text
	s.text = s.text[:0]
	if s.discard {
		return ""
	}
	return string(text)
}

// next moves to the next line that has more than a comment.
func (s *subset) next() {
	for s.rest != "" {
		line := s.cutLine()
		for line != "" && line[len(line)-1] == ' ' {
			line = line[:len(line)-1]
		}
		text := trimSpaces(line)
		if text != "" && text[0] != '#' {
			s.current, s.indent = text, len(line)-len(text)
			return
		}
	}
	s.current, s.indent = "", -1
}

// cutLine removes the first line of the rest. The result has no line break.
func (s *subset) cutLine() string {
	i := strings.IndexByte(s.rest, '\n')
	line := s.rest[:i]
	s.rest = s.rest[i+1:]
	s.line++
	return strings.TrimSuffix(line, "\r")
}

func trimSpaces(text string) string {
	for text != "" && text[0] == ' ' {
		text = text[1:]
	}
	return text
}

// stop ends the reading with a verdict.
func (s *subset) stop(v verdict) {
	s.verdict = v
	s.current, s.indent = "", -1
}

// maxSubsetDepth is the maximum number of mappings and lists around a value.
const maxSubsetDepth = 8

// mapping reads the lines of a mapping with a number of spaces before each key,
// and appends the fields to s.fields.
func (s *subset) mapping(indent, depth int) {
	for s.indent == indent {
		key, value, ok := cutSubsetKey(s.current)
		if !ok || depth > maxSubsetDepth {
			s.stop(unsure)
			return
		}
		if depth == 0 {
			s.key = key
			s.discard = s.keys != nil && key != toolsKey && !slices.Contains(s.keys, key)
		}
		f := Field{Key: key, Line: s.line, Column: indent + 1}
		f.Value = s.value(value, indent, depth, true)
		if depth == 0 && s.discard {
			f.Value = Value{}
		}
		s.fields = append(s.fields, f)
	}
	if s.indent > indent {
		s.stop(unsure)
	}
}

// nestedMapping reads a mapping below the top level.
func (s *subset) nestedMapping(depth int) Value {
	from := len(s.fields)
	s.mapping(s.indent, depth)
	return mapping(take(s, &s.fields, from))
}

// list reads the lines of a list with a number of spaces before each hyphen.
func (s *subset) list(indent, depth int) Value {
	from := len(s.items)
	for s.indent == indent && isSubsetItem(s.current) {
		text := trimSpaces(s.current[1:])
		if _, _, ok := cutSubsetKey(text); ok { // a mapping
			s.stop(unsure)
			break
		}
		s.items = append(s.items, s.value(text, indent, depth, false))
	}
	if s.indent > indent {
		s.stop(unsure)
	}
	return sequence(take(s, &s.items, from))
}

func isSubsetItem(line string) bool { return strings.HasPrefix(line, "- ") }

// cutSubsetKey splits a line "key: value" with a plain key.
func cutSubsetKey(line string) (key, value string, ok bool) {
	i := 0
	for i < len(line) && (isLetter(line[i]) || line[i] == '_' || i > 0 &&
		(line[i] == '-' || '0' <= line[i] && line[i] <= '9')) {
		i++
	}
	if i == 0 || i > maxSubsetKey || i == len(line) || line[i] != ':' ||
		i+1 < len(line) && line[i+1] != ' ' {
		return "", "", false
	}
	return line[:i], line[i+1:], true
}

// maxSubsetKey is less than 1,024, the maximum length of a key in YAML.
const maxSubsetKey = 128

// value reads the value of a key, or an item of a list, and moves to the next line
// after the value. The text is the rest of the current line, and indent is the
// column of the key or of the hyphen. If the value belongs to a key, text after the
// value cannot be YAML; an item with text after the value may be a key.
func (s *subset) value(text string, indent, depth int, ofKey bool) Value {
	text = trimSpaces(text)
	if text == "" || text[0] == '#' {
		if !ofKey || isText(text, s.key) {
			s.stop(unsure)
			return Value{}
		}
		s.next()
		return s.nested(indent, depth+1)
	}
	var v Value
	switch text[0] {
	case '"', '\'':
		v.Kind = String
		v.Text, text = s.quoted(text)
	case '[':
		literal := text
		var items []Value
		items, text = s.brackets(text)
		v = sequence(items)
		if ofKey && depth == 0 {
			v.Text = literal[:len(literal)-len(text)]
		}
	case '|', '>':
		return Value{Kind: String, Text: s.block(text, indent)}
	default:
		return s.plain(text, indent, ofKey)
	}
	if s.verdict != certain {
		return v
	}
	switch rest := trimSpaces(text); {
	case rest == "":
		s.endLine(indent)
	case rest[0] == '#' || !ofKey:
		s.stop(unsure)
	default:
		s.stop(invalid)
	}
	return v
}

// endLine moves to the next line. The line must not continue the value.
func (s *subset) endLine(indent int) {
	if s.verdict != certain {
		return
	}
	if s.next(); s.indent > indent {
		s.stop(unsure)
	}
}

// nested reads the value below a key without a value in the same line.
func (s *subset) nested(indent, depth int) Value {
	switch {
	case s.indent >= indent && isSubsetItem(s.current):
		return s.list(s.indent, depth)
	case s.indent > indent:
		return s.nestedMapping(depth)
	default:
		return Value{}
	}
}
