package matter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A repairer reads the chunks of a header that is not valid YAML.
type repairer struct {
	subset *subset
	left   *expansion
	header string
	silent bool            // without suggestions
	tries  int             // number of texts that the YAML library has read
	marks  map[string]bool // the words of the header that begin like an anchor or an alias
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
		read, cuts, err := strictYAML(c.text, c.line, r.left)
		if err != nil {
			return Field{}, nil, err
		}
		fields, problems = cuts.restore(read), cuts.list(func(f cut) bool { return f.anchor == nil || !r.isShared(c.text) })
	}
	if len(fields) != 1 || fields[0].Key != c.key {
		return Field{}, nil, errInvalid
	}
	return fields[0], problems, nil
}

// repair reads a chunk that is not valid YAML for the reason err. If the author meant a
// list or mapping that the chunk does not show, the value is the text of the chunk,
// without a suggestion.
func (r *repairer) repair(c chunk, err error) (Field, problem.Problem) {
	p := problem.Problem{Code: problem.FrontmatterRecovered, Line: c.line, Column: 1, Key: c.key}
	text := func(lists bool) Field {
		return Field{Key: c.key, Line: c.line, Column: 1, Value: Value{Kind: String, Text: literal(c.text, lists)}}
	}
	if errors.Is(err, errRefused) {
		p.Message = "the value exceeds the limits for YAML and is read as text"
		return text(false), p
	}
	shared := r.isShared(c.text)
	f, suggestion, ok := r.structure(c)
	_, tab := tabWidths(c.text)
	switch {
	case ok && tab > 0:
		p.Line, p.Message = c.line+tab-1, tabMessage
	case ok && f.Value.Text != "":
		p.Message = `the list has no closing "]"`
	case ok:
		p.Message = "a value is not valid YAML and is read as text"
	default:
		f = text(!shared)
		p.Message = "the value is not valid YAML and is read as text"
		if tab > 0 {
			p.Message += "; YAML allows no tab at the beginning of a line"
		}
	}
	switch {
	case shared, r.silent:
	case r.corrects(suggestion, c, f):
		p.Suggestion = suggestion
	case f.Value.Kind == String && f.Value.Text != "" && (ok || isOneText(c)):
		key, _, _ := KeyLine(c.text)
		if suggestion = write(key + " " + strconv.Quote(f.Value.Text)); r.corrects(suggestion, c, f) {
			p.Suggestion = suggestion
		}
	}
	return f, p
}

// structure reads a chunk in which only the indentation, the values or the closing
// bracket of a list or mapping are not valid YAML. The suggestion states the valid
// field.
func (r *repairer) structure(c chunk) (f Field, suggestion string, ok bool) {
	widths, _ := tabWidths(c.text)
	for _, width := range widths {
		text := retab(c.text, width)
		for _, repaired := range [...]string{text, r.quoteLines(c.key, text), closeList(c.key, text)} {
			if repaired == "" || repaired == c.text {
				continue
			}
			f, _, err := r.field(chunk{key: c.key, text: repaired, line: c.line})
			switch {
			case err != nil, IsTextKey(c.key) && f.Value.Kind == Mapping:
			case repaired == text, f.Value.Kind == Mapping, f.Value.Kind == Sequence && f.Value.Text == "":
				return f, write(repaired), true
			default: // a list in brackets, which clients of skills reject
				if suggestion = listLines(repaired, f.Value.Items()); suggestion != "" {
					return f, suggestion, true
				}
			}
		}
	}
	return Field{}, "", false
}

// tabWidths returns the widths of a tab to try, and the number of the first line with
// a tab in the indentation. If other lines have only blanks, the width in the editor
// of the author matters.
func tabWidths(text string) (widths []int, first int) {
	tabs, blanks := 0, false
	n := 0
	for line := range strings.Lines(text) {
		n++
		indent := indentation(line)
		switch {
		case len(indent) == len(strings.TrimRight(line, "\r\n")):
		case strings.IndexByte(indent, '\t') >= 0:
			if tabs++; tabs == 1 {
				first = n
			}
		case indent != "":
			blanks = true
		}
	}
	switch {
	case tabs == 0:
		return []int{0}, 0
	case blanks:
		return []int{8, 4, 2}, first
	default:
		return []int{2}, first
	}
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
	if _, value, _ := KeyLine(text); IsTextKey(key) || value != "" && value[0] != '#' || strings.Count(text, "\n") > maxQuotedLines {
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
	if _, value, _ := KeyLine(text); IsTextKey(key) || !strings.HasPrefix(value, "[") || strings.Count(text, "[") <= strings.Count(text, "]") {
		return ""
	}
	return strings.TrimRight(text, " \t\r\n") + "]\n"
}

// listLines returns the suggestion to write a list of scalars without brackets. The
// suggestion is "" for other lists, and for long lists.
func listLines(text string, items []Value) string {
	field, _, _ := KeyLine(text)
	for _, item := range items {
		if item.Kind == Null || item.Kind >= Sequence || len(field) > maxSuggested {
			return ""
		}
		field += "\n  - " + item.Scalar()
	}
	if len(items) == 0 {
		return ""
	}
	return write(field)
}

// Scalar returns a scalar in YAML, in quotes if necessary.
func (v Value) Scalar() string {
	if read, verdict := readSubset("x: "+v.Text+"\n", 1); verdict == certain && len(read) == 1 && read[0].Value.same(v) {
		return v.Text
	}
	return strconv.Quote(v.Text)
}

// same reports whether two scalars are equal.
func (v Value) same(w Value) bool { return v.Kind == w.Kind && v.Text == w.Text }

// corrects reports whether a suggestion writes the value that Parse reads in a chunk.
func (r *repairer) corrects(suggestion string, c chunk, f Field) bool {
	field, ok := strings.CutPrefix(suggestion, "write ")
	if !ok {
		return false
	}
	text := strings.ReplaceAll(field, lineBreak, "\n") + "\n"
	if _, line := cutStray(text + c.stray); c.stray != "" && line != strings.Count(text, "\n")+1 {
		return false // a list would take the stray item
	}
	written, problems, err := r.field(chunk{key: c.key, text: text, line: c.line})
	return err == nil && len(problems) == 0 && written.Value.Equal(f.Value)
}

// isShared reports whether the text has an anchor with an alias in the header, or an
// alias with an anchor. In quotes, the anchor and the alias would lose their meaning.
func (r *repairer) isShared(text string) bool {
	if strings.IndexByte(r.header, '&') < 0 || strings.IndexByte(r.header, '*') < 0 {
		return false
	}
	if r.marks == nil {
		r.marks = make(map[string]bool)
		for mark := range marks(r.header) {
			r.marks[mark] = true
		}
	}
	for mark := range marks(text) {
		other := "&"
		if mark[0] == '&' {
			other = "*"
		}
		if r.marks[other+mark[1:]] {
			return true
		}
	}
	return false
}

// marks yields the words that begin like an anchor or an alias.
func marks(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n[]{},", r) }) {
			if len(word) > 1 && (word[0] == '&' || word[0] == '*') && !yield(word) {
				return
			}
		}
	}
}

// lineBreak stands for a line break in a suggestion, because a suggestion has one line.
const lineBreak = "⏎"

// write returns the suggestion to write a top-level field. The suggestion is "" if the
// field is long or contains a character that does not appear in the suggestion, or that
// Parse has replaced.
func write(field string) string {
	var lines []string
	for line := range strings.Lines(field) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	for len(lines) > 0 && (strings.TrimSpace(lines[len(lines)-1]) == "" || lines[len(lines)-1][0] == '#') {
		lines = lines[:len(lines)-1]
	}
	text := strings.Join(lines, lineBreak)
	hidden := func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }
	if len(text) > maxSuggested || strings.Count(text, lineBreak) >= max(len(lines), 1) || strings.ContainsFunc(text, hidden) {
		return ""
	}
	return "write " + text
}

// A correction is a text in place of lines of a file.
type correction struct {
	from, to int // first and last line
	text     string
	cut      string // key of a field that YAML cuts and the text completes
}

// String returns the suggestion.
func (c correction) String() string {
	if c.from == c.to {
		return "write " + c.text
	}
	return fmt.Sprintf("replace lines %d to %d by %s", c.from, c.to, c.text)
}

// placeSuggestions names the lines of a field of several lines in the suggestions to
// write the field. A field before another field with the same key needs no correction.
func (d *Document) placeSuggestions() {
	var all []correction
	for i := range d.Problems {
		p := &d.Problems[i]
		text, ok := strings.CutPrefix(p.Suggestion, "write ")
		if !ok || p.Key == "" {
			continue
		}
		var field Field
		for _, f := range d.Fields {
			switch {
			case f.Key != p.Key || f.Column != 1:
			case f.Line > p.Line:
				field.Line = 0
			default:
				field = f
			}
		}
		if p.Suggestion = ""; field.Line > 0 {
			c := d.correction(field, text)
			if p.Code == problem.FrontmatterValueCut {
				c.cut = p.Key
			}
			if p.Suggestion = c.String(); len(all) == 0 || all[len(all)-1] != c {
				all = append(all, c)
			}
		}
	}
	if len(all) > 0 && len(d.Problems) > 1 {
		d.removeHarmful(all)
	}
}

// The bounds of the corrections that removeHarmful tries: the bytes of the corrected headers, and
// the number, because a list of files reads small headers with many defects too.
const (
	maxCorrected = 4 * MaxHead
	maxTried     = 16
)

// removeHarmful removes the suggestions that change the value of another field. A quote
// of a field without a correction can enclose the lines up to a quote of a corrected
// field. Each correction alone, and all corrections together, must keep all fields.
func (d *Document) removeHarmful(all []correction) {
	kept := slices.DeleteFunc(all[:min(len(all), maxTried, maxCorrected/len(d.Header))], func(c correction) bool { return !d.keeps(c) })
	if len(kept) > 1 && !d.keeps(kept...) {
		kept = nil
	}
	for i := range d.Problems {
		p := &d.Problems[i]
		if _, ok := Written(p.Suggestion); ok && !slices.ContainsFunc(kept, func(c correction) bool { return c.String() == p.Suggestion }) {
			p.Suggestion = ""
		}
	}
}

// keeps reports whether all fields keep their values if corrections make the header valid
// YAML.
func (d *Document) keeps(corrections ...correction) bool {
	var b strings.Builder
	n := d.Line
	for line := range strings.Lines(d.Header) {
		n++
		i := slices.IndexFunc(corrections, func(c correction) bool { return c.from <= n && n <= c.to })
		switch {
		case i < 0:
			b.WriteString(line)
		case n == corrections[i].from:
			b.WriteString(strings.ReplaceAll(corrections[i].text, lineBreak, "\n") + "\n")
		}
	}
	fields, err := wholeYAML(b.String(), d.Line+1, true)
	if err != nil {
		_, before := wholeYAML(d.Header, d.Line+1, false)
		return before != nil && !errors.Is(err, errNotMapping) // Parse reads each field separately, as before
	}
	values, r := LastValues(d.Fields), repairer{header: d.Header}
	for _, p := range d.Problems {
		if p.Suggestion == "" && r.isShared(values[p.Key].Text) {
			delete(values, p.Key) // in valid YAML, an alias has its meaning
		}
	}
	for _, c := range corrections {
		delete(values, c.cut)
	}
	read := LastValues(fields)
	for _, f := range d.Fields {
		is, ok := read[f.Key]
		was, fixed := values[f.Key]
		if !ok || fixed && !was.Equal(is) {
			return false
		}
	}
	return true
}

// Equal reports whether two values have the same kind and JSON.
func (v Value) Equal(w Value) bool {
	if v.Kind < Sequence {
		return v.same(w)
	}
	return v.Kind == w.Kind && bytes.Equal(v.AppendJSON(nil), w.AppendJSON(nil))
}

// Write returns the suggestion to write a text in place of a top-level field. The
// suggestion is "" if the lines of the field contain other text, or if another field
// would change.
func (d *Document) Write(field Field, text string) string {
	first, _, _ := strings.Cut(text, lineBreak)
	key, _, _ := TopLevelKey(first)
	others := *d
	others.Fields = slices.DeleteFunc(slices.Clone(d.Fields), func(f Field) bool { return f.Key == field.Key || f.Key == key })
	c := d.correction(field, text)
	if field.Column != 1 || !others.keeps(c) {
		return ""
	}
	return c.String()
}

// correction returns the correction of a top-level field by a text.
func (d *Document) correction(field Field, text string) correction {
	first, last := d.Lines(field)
	return correction{from: first, to: last, text: text}
}

// Lines returns the first and the last line of a top-level field, without comments and blank lines
// after the value.
func (d *Document) Lines(field Field) (first, last int) {
	end := math.MaxInt         // line of the next field, or of a line that belongs to no field
	keys := make(map[int]bool) // lines with a key after "?" or in a merged mapping
	for _, f := range d.Fields {
		switch {
		case f.Line <= field.Line:
		case f.Column == 1:
			end = min(end, f.Line)
		default:
			keys[f.Line] = true
		}
	}
	for _, p := range d.Problems {
		if p.Code == problem.FrontmatterRecovered && p.Key == "" && p.Line > field.Line {
			end = min(end, p.Line)
		}
	}
	n := d.Line
	first, last = field.Line, field.Line
	for line := range strings.Lines(d.Header) {
		if n++; line[0] == '?' && keys[n] {
			end = min(end, n)
		}
		if n < end && n > last && strings.Trim(line, "\r\n") != "" && line[0] != '#' {
			last = n
		}
	}
	return first, last
}

// Written returns the field in a suggestion of Write. ok is false for other suggestions.
func Written(suggestion string) (text string, ok bool) {
	text, ok = strings.CutPrefix(suggestion, "write ")
	if lines, field, found := strings.Cut(suggestion, " by "); found && strings.HasPrefix(lines, "replace lines ") {
		text, ok = field, true
	}
	first, _, _ := strings.Cut(text, lineBreak)
	_, _, isField := KeyLine(first)
	return text, ok && isField
}

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
		literal, _ := bracketed(literal(c.text, true))
		return literal[len(literal)-1] == ']' || literal[len(literal)-1] == '}'
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
		case line[0] == ' ' || line[0] == '\t' || isItem(line) && lists || line[0] != '#' && opensQuote(value):
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
	return closingQuoteOf(text) == n-1 || wordAt(text, next+1) || text[next-1] == ' ' && text[next+1] != ' '
}

// wordAt reports whether a letter or digit is at an offset.
func wordAt(text string, at int) bool {
	r, _ := utf8.DecodeRuneInString(text[at:])
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}
