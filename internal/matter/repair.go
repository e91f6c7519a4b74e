package matter

import (
	"encoding/json"
	"errors"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A repairer reads the chunks of a header that is not valid YAML.
type repairer struct {
	*scope
	subset *subset
	tries  int // number of texts that the YAML library has read
}

// field reads a chunk as YAML.
func (r *repairer) field(c chunk) (Field, []problem.Problem, error) {
	verdict := r.subset.read(c.text, c.line, nil)
	fields, problems := r.subset.fields, []problem.Problem(nil)
	switch {
	case verdict == invalid:
		return Field{}, nil, errInvalid
	case verdict == unsure && r.tries == maxTries:
		return Field{}, nil, errRefused
	case verdict == unsure:
		r.tries++
		var err error
		if fields, problems, err = strictYAML(c.text, c.line, r.scope); err != nil {
			return Field{}, nil, err
		}
	}
	if len(fields) != 1 || fields[0].Key != c.key {
		return Field{}, nil, errInvalid
	}
	return fields[0], problems, nil
}

// repair reads a chunk that is not valid YAML for the reason err. If the author meant a list or
// mapping that the chunk does not show, the value is the text of the chunk.
func (r *repairer) repair(c chunk, err error) (Field, problem.Problem) {
	p := problem.Problem{Code: problem.FrontmatterRecovered, Line: c.line, Column: 1, Key: c.key}
	text := func(lists bool) Field {
		value := Value{Kind: String, Text: literal(c.text, lists)}
		return Field{Key: c.key, Line: c.line, Column: 1, Value: value}
	}
	if errors.Is(err, errRefused) {
		p.Message = "the value exceeds the limits for YAML and is read as text"
		return text(false), p
	}
	_, tab := tabWidths(c.text)
	for f := range r.structures(c) {
		switch {
		case tab > 0:
			p.Line, p.Message = c.line+tab-1, tabMessage
		case f.Value.Text != "":
			p.Message = `the list has no closing "]"`
		default:
			p.Message = "a value is not valid YAML and is read as text"
		}
		return f, p
	}
	p.Message = "the value is not valid YAML and is read as text"
	if tab > 0 {
		p.Message += "; YAML allows no tab at the beginning of a line"
	}
	return text(!r.isShared(c.text)), p
}

// structures yields the fields and the valid texts of a chunk in which only the indentation, the
// values or the closing bracket of a list or mapping are not valid YAML.
func (r *repairer) structures(c chunk) iter.Seq2[Field, string] {
	return func(yield func(Field, string) bool) {
		widths, _ := tabWidths(c.text)
		for _, width := range widths {
			text := retab(c.text, width)
			for _, valid := range [...]string{
				text, r.quoteLines(c.key, text), closeList(c.key, text),
			} {
				if valid == "" || valid == c.text {
					continue
				}
				f, _, err := r.field(chunk{key: c.key, text: valid, line: c.line})
				kind := f.Value.Kind
				if err != nil || IsTextKey(c.key) && kind == Mapping {
					continue
				}
				if valid != text && kind != Mapping && (kind != Sequence || f.Value.Text != "") {
					valid = listLines(valid, f.Value.Items()) // clients of skills reject brackets
				}
				if valid != "" && !yield(f, valid) {
					return
				}
			}
		}
	}
}

// The indentation of a line with a text: with a tab, and with blanks only.
var (
	tabIndent   = regexp.MustCompile(`(?m)^ *\t[ \t]*(?:[^ \t\r\n]|\r+[^\r\n])`)
	blankIndent = regexp.MustCompile(`(?m)^ +(?:[^ \t\r\n]|\r+[^\r\n])`)
)

// tabWidths returns the widths of a tab to try, and the number of the first line with
// a tab in the indentation. If other lines have only blanks, the width in the editor
// of the author matters.
func tabWidths(text string) (widths []int, first int) {
	var at []int
	if strings.IndexByte(text, '\t') >= 0 { // few texts need the expressions
		at = tabIndent.FindStringIndex(text)
	}
	if at == nil {
		return []int{0}, 0
	}
	first = 1 + strings.Count(text[:at[0]], "\n")
	if blankIndent.MatchString(text) {
		return []int{8, 4, 2}, first
	}
	return []int{2}, first
}

func indentation(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// retab replaces the tabs in the indentation of lines by blanks.
func retab(text string, width int) string {
	if width == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		indent, column := indentation(line), 0
		for _, c := range []byte(indent) {
			if column++; c == '\t' {
				column = (column + width - 1) / width * width
			}
		}
		b.WriteString(strings.Repeat(" ", column))
		b.WriteString(line[len(indent):])
	}
	return b.String()
}

// maxQuotedLines bounds the lines of a field that quoteLines parses. No public field has more.
const maxQuotedLines = 500

// quoteLines puts the values in quotes that are not valid YAML, in the lines below a
// key. quoteLines returns "" if a line has neither a key nor a hyphen, and for more than
// maxQuotedLines lines.
func (r *repairer) quoteLines(key, text string) string {
	if _, value, _ := KeyLine(text); IsTextKey(key) || value != "" && value[0] != '#' ||
		strings.Count(text, "\n") > maxQuotedLines {
		return ""
	}
	first, rest, _ := strings.Cut(text, "\n")
	var b strings.Builder
	b.WriteString(first + "\n")
	block := -1 // indentation of the line above a block scalar
	for line := range strings.Lines(rest) {
		line = strings.TrimRight(line, " \t\r\n")
		indent := len(indentation(line))
		switch {
		case indent == len(line) || line[indent] == '#' || block >= 0 && indent > block:
		default:
			block = -1
			value, ok := nestedValue(line)
			switch {
			case !ok:
				return ""
			case value == "" || value[0] == '#':
			case value[0] == '|' || value[0] == '>':
				block = indent
			default:
				if _, _, err := r.field(chunk{key: "x", text: "x: " + value + "\n", line: 1}); err != nil {
					line = line[:len(line)-len(value)] + strconv.Quote(unquoted(value))
				}
			}
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// nestedValue returns the value in a line with a hyphen, a key or both.
func nestedValue(line string) (value string, ok bool) {
	value = strings.TrimLeft(line, " ")
	for value == "-" || isSubsetItem(value) {
		value, ok = trimSpaces(value[1:]), true
	}
	if _, after, found := cutSubsetKey(value); found {
		return trimSpaces(after), true
	}
	return value, ok
}

// closeList adds the closing bracket of a list. closeList returns "" if the field is
// no list in brackets, or has a closing bracket for each opening bracket.
func closeList(key, text string) string {
	if _, value, _ := KeyLine(text); IsTextKey(key) || !strings.HasPrefix(value, "[") ||
		strings.Count(text, "[") <= strings.Count(text, "]") {
		return ""
	}
	return strings.TrimRight(text, " \t\r\n") + "]\n"
}

// listLines returns a list of scalars without brackets. listLines returns "" for other lists, and
// for long lists.
func listLines(text string, items []Value) string {
	field, _, _ := KeyLine(text)
	for _, item := range items {
		if item.Kind == Null || item.Kind >= Sequence || len(field) > maxSuggested {
			return ""
		}
		field += "\n  - " + item.Scalar()
	}
	if len(items) == 0 || inOneLine(field) == "" {
		return ""
	}
	return field + "\n"
}

// Scalar returns a scalar in YAML, in quotes if necessary.
func (v Value) Scalar() string {
	if read, verdict := readSubset("x: "+v.Text+"\n", 1); verdict == certain && len(read) == 1 &&
		read[0].Value.same(v) {
		return v.Text
	}
	return strconv.Quote(v.Text)
}

// same reports whether two scalars are equal.
func (v Value) same(w Value) bool { return v.Kind == w.Kind && v.Text == w.Text }

// KeyLine splits the first line of a field after the colon. notation is the key as the
// author wrote the key.
func KeyLine(field string) (notation, value string, ok bool) {
	line, _, _ := strings.Cut(field, "\n")
	line = strings.TrimRight(line, " \t\r")
	_, value, ok = TopLevelKey(line)
	return strings.TrimRight(line[:len(line)-len(value)], " \t"), value, ok
}

// isOneText reports whether a chunk that is not YAML is a text and not a list or
// mapping.
func isOneText(c chunk) bool {
	if IsTextKey(c.key) {
		return true
	}
	_, value, _ := KeyLine(c.text)
	switch {
	case value == "" || value[0] == '#':
		return false
	case value[0] == '[' || value[0] == '{':
		return isClosed(literal(c.text, true))
	default:
		return true
	}
}

// cutStray cuts a chunk before the first line that is not indented and belongs to no
// field. stray is the number of this line in the chunk, or 0.
func cutStray(chunk string) (text string, stray int) {
	_, value, _ := KeyLine(chunk)
	if opensQuote(value) {
		return chunk, 0
	}
	n, at := 0, 0
	for line := range strings.Lines(chunk) {
		n++
		if n > 1 && strings.IndexByte(" \t\r\n#]}", line[0]) < 0 && (value != "" || !isItem(line)) {
			return chunk[:at], n
		}
		at += len(line)
	}
	return chunk, 0
}

// isItem reports whether a line begins with the hyphen of a list.
func isItem(line string) bool {
	line = strings.TrimRight(line, "\r\n")
	return line == "-" || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "-\t")
}

// opensQuote reports whether a text begins with a quote that is not closed.
func opensQuote(text string) bool {
	return text != "" && (text[0] == '"' || text[0] == '\'') && closingQuoteOf(text) < 0
}

// literal returns the value of a key as a person reads the value: joined lines
// without the surrounding quotes. A blank line is a line break, as in YAML. If lists is
// true, the items of an unindented list are part of the value.
func literal(chunk string, lists bool) string {
	_, value, _ := KeyLine(chunk)
	_, rest, _ := strings.Cut(chunk, "\n")
	var joined []byte // nil while the value has one line
	breaks := 0       // number of blank lines before the line
	for line := range strings.Lines(rest) {
		text := strings.TrimSpace(line)
		switch {
		case text == "":
			breaks++
		case line[0] == ' ' || line[0] == '\t' || isItem(line) && lists ||
			line[0] != '#' && opensQuote(value):
			if joined == nil {
				joined = []byte(value)
			}
			if breaks == 0 {
				joined = append(joined, ' ')
			}
			for ; breaks > 0; breaks-- {
				joined = append(joined, '\n')
			}
			joined = append(joined, text...)
		}
	}
	if joined != nil {
		value = string(joined)
	}
	return unquoted(strings.TrimSpace(value))
}

// unquoted returns the text of a value that is not valid YAML: without the sign of a
// block, and without the surrounding quotes. The closing quote may be missing.
func unquoted(text string) string {
	text = text[len(blockSign.FindString(text)):]
	if text == "" || text[0] != '"' && text[0] != '\'' {
		return text
	}
	quote := text[:1]
	if opensQuote(text) {
		text += quote
	}
	var decoded string
	if quote == `"` && json.Unmarshal([]byte(text), &decoded) == nil {
		return decoded // JSON encoders write "\/" and "\ud83d\ude00", and the YAML package rejects both
	}
	if !quoted(text) {
		return text
	}
	text = text[1 : len(text)-1]
	if quote == "'" {
		text = strings.ReplaceAll(text, "''", "'")
	}
	return text
}

// blockSign matches the sign of a block with text in the same line. A digit after the sign
// belongs to the text, as in ">10 files".
var blockSign = regexp.MustCompile(`^[|>][-+]?[ \t]+`)

// closingQuoteOf returns the offset of the quote that closes a text in quotes, or -1. A
// quote before a letter or digit is an apostrophe or an opening quote.
func closingQuoteOf(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '"', text[0] == '\'' && strings.HasPrefix(text[i:], "''"):
			i++
		case text[i] == text[0] && !wordAt(text, i+1):
			return i
		}
	}
	return -1
}

// quoted reports whether the first and the last quote of a text match. The quotes
// match in "Say "hi" twice". The quotes do not match in "Fix" and "Test", because
// the second quote closes the first.
func quoted(text string) bool {
	n := len(text)
	if n < 2 || text[n-1] != text[0] {
		return false
	}
	next := 1 + strings.IndexByte(text[1:], text[0])
	return closingQuoteOf(text) == n-1 || wordAt(text, next+1) ||
		text[next-1] == ' ' && text[next+1] != ' '
}

// wordAt reports whether a letter or digit is at an offset.
func wordAt(text string, at int) bool {
	r, _ := utf8.DecodeRuneInString(text[at:])
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}
