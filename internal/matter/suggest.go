package matter

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A correction is a text in place of lines of a file.
type correction struct {
	from, to int    // first and last line
	text     string // of inOneLine, or a block
	key      string // of the field, which has no problem afterwards; "" means any
	cut      bool   // YAML cuts the value, and the text completes the value
}

// String returns the suggestion. A block is too long for a suggestion.
func (c correction) String() string {
	key, _, block := strings.Cut(c.text, blockSuffix)
	switch {
	case block:
		return `put "|-" after "` + key +
			`", and the whole text into the lines below, each after two blanks`
	case c.from == c.to:
		return "write " + c.text
	default:
		return fmt.Sprintf("replace lines %d to %d by %s", c.from, c.to, c.text)
	}
}

const blockSuffix = " |-\n"

// Written returns the field in a suggestion of Write. ok is false for other suggestions.
func Written(suggestion string) (text string, ok bool) {
	text, ok = strings.CutPrefix(suggestion, "write ")
	if lines, field, found := strings.Cut(suggestion, " by "); found &&
		strings.HasPrefix(lines, "replace lines ") {
		text, ok = field, true
	}
	first, _, _ := strings.Cut(text, lineBreak)
	_, _, isField := KeyLine(first)
	return text, ok && isField
}

// lineBreak stands for a line break in a suggestion, because a suggestion has one line.
const lineBreak = "⏎"

// maxSuggested is the maximum length of a text in a suggestion, in bytes.
const maxSuggested = 500

// inOneLine returns a top-level field for a suggestion, or "" if the field is long or contains a
// character that does not appear in the suggestion, or that Parse has replaced.
func inOneLine(field string) string {
	var lines []string
	for line := range strings.Lines(field) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	blank := func(line string) bool { return strings.TrimSpace(line) == "" || line[0] == '#' }
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	text := strings.Join(lines, lineBreak)
	hidden := func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }
	if len(text) > maxSuggested || strings.Count(text, lineBreak) >= max(len(lines), 1) ||
		strings.ContainsFunc(text, hidden) {
		return ""
	}
	return text
}

// The bounds of the corrections that suggest tries: the bytes of the corrected headers, and the
// number, because a program reads small headers with many defects too.
const (
	maxCorrected = 4 * MaxHead
	maxTried     = 16
)

// suggest gives the problems of a field one suggestion: the field in valid YAML. The correction
// alone, and all corrections together, keep the values of all fields. A field before another field
// with the same key needs no correction.
func (d *Document) suggest() {
	tries := min(maxTried, maxCorrected/max(len(d.Header), 1))
	found := make(map[int]*correction) // by the line of the field
	var kept []correction
	for _, p := range d.Problems {
		f, ok := d.fieldOf(p)
		if _, done := found[f.Line]; !ok || done || tries <= 0 {
			continue
		}
		c := &correction{key: f.Key, cut: p.Code == problem.FrontmatterValueCut}
		c.from, c.to = d.Lines(f)
		found[f.Line] = nil
		for _, c.text = range d.candidates(f, c) {
			if tries--; c.text != "" && tries >= 0 && d.keeps(*c) {
				found[f.Line], kept = c, append(kept, *c)
				break
			}
		}
	}
	if len(kept) > 1 && !d.keeps(kept...) {
		return
	}
	for i, p := range d.Problems {
		if f, ok := d.fieldOf(p); ok && found[f.Line] != nil {
			d.Problems[i].Suggestion = found[f.Line].String()
		}
	}
}

// fieldOf returns the field of a problem that a correction of the field can solve.
func (d *Document) fieldOf(p problem.Problem) (field Field, ok bool) {
	if p.Code != problem.FrontmatterRecovered && p.Code != problem.FrontmatterValueCut {
		return Field{}, false
	}
	for _, f := range d.Fields {
		if f.Key == p.Key && f.Column == 1 {
			field, ok = f, f.Line <= p.Line
		}
	}
	return field, ok && p.Key != ""
}

// candidates returns texts in which a field may be valid YAML, the best text first.
func (d *Document) candidates(f Field, c *correction) (all []string) {
	lines := strings.SplitAfter(d.Header, "\n")
	if c.to-d.Line > len(lines) {
		return nil // YAML also breaks lines at other characters
	}
	lines = lines[c.from-d.Line-1 : c.to-d.Line]
	whole := chunk{key: f.Key, text: strings.Join(lines, ""), line: f.Line}
	key, _, ok := KeyLine(whole.text)
	r := repairer{scope: newScope(d.Header), subset: new(subset)}
	switch _, prose, _ := cutProse(whole); {
	case !ok, c.cut && len(whole.text) > 2*maxSuggested:
		return nil
	case c.cut:
		return []string{inOneLine(d.uncut(f, lines))}
	case r.isShared(whole.text):
		return nil
	case prose != "":
		var b strings.Builder
		b.WriteString(key + blockSuffix)
		for line := range strings.SplitSeq(f.Value.Text, "\n") {
			b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
		}
		block := b.String()
		return []string{cmp.Or(inOneLine(block), block)}
	}
	for _, valid := range r.structures(whole) {
		all = append(all, inOneLine(valid))
	}
	if f.Value.Kind == String && f.Value.Text != "" && (len(all) > 0 || isOneText(whole)) {
		all = append(all, inOneLine(key+" "+strconv.Quote(f.Value.Text)))
	}
	return all
}

// uncut returns a field with the parts that YAML cuts as text: the whole value in quotes, or the
// values of the lines with the parts. uncut returns "" if the author does not mean a text with
// certainty.
func (d *Document) uncut(f Field, lines []string) string {
	key, value, _ := KeyLine(lines[0])
	if f.Value.Kind >= Sequence && !(isShown(f.Key) && f.Value.Text != "") {
		for _, p := range d.Problems {
			if of, ok := d.fieldOf(p); ok && of.Line == f.Line && p.Line-f.Line < len(lines) {
				line := &lines[p.Line-f.Line]
				*line = uncutLine(strings.TrimRight(*line, " \t\r\n"), key, p.Column) + "\n"
			}
		}
		return strings.Join(lines, "")
	}
	text := lines[0]
	for _, line := range lines[1:] {
		if value == "" || !strings.HasPrefix(strings.TrimSpace(line), "#") {
			text += line
		}
	}
	value = literal(text, false)
	if value == "" || strings.IndexByte("&!", value[0]) >= 0 &&
		(len(lines) > 1 || strings.Contains(value, " #")) {
		return ""
	}
	return key + " " + strconv.Quote(value)
}

// uncutLine returns a line with its value in quotes. After a list or mapping in brackets, the part
// that YAML cuts at a column is a comment.
func uncutLine(line, key string, column int) string {
	at := len(line)
	for i := range line { // a byte that is not UTF-8 is a character
		if column--; column == 0 {
			at = i
			break
		}
	}
	list, below := strings.CutPrefix(line[:at], key)
	if part, cut := strings.CutPrefix(line[at:], "#"); cut && below && isClosed(list) {
		return line[:at] + "# " + part
	}
	if value, ok := nestedValue(line); ok && value != "" && strings.IndexByte("[{\"'", value[0]) < 0 {
		return strings.TrimSuffix(line, value) + strconv.Quote(value)
	}
	return line
}

// isClosed reports whether a text is a list or mapping in brackets, with the closing bracket.
func isClosed(text string) bool {
	if text = strings.TrimSpace(text); text == "" || text[0] != '[' && text[0] != '{' {
		return false
	}
	literal, _ := bracketed(text)
	return strings.IndexByte("]}", literal[len(literal)-1]) >= 0
}

// keeps reports whether all fields keep their values after corrections, and the corrected fields
// have no problem.
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
	after := Document{Frontmatter: Frontmatter{Header: b.String()}}
	if !after.decodeYAML(new(Scanner)) {
		return false
	}
	read, whole := LastValues(after.Fields), newScope(d.Header)
	for key, was := range LastValues(d.Fields) {
		is, ok := read[key]
		cut := slices.ContainsFunc(corrections, func(c correction) bool { return c.cut && c.key == key })
		// In valid YAML, an alias has its meaning.
		if !ok || !was.Equal(is) && !whole.isShared(was.Text) &&
			!(cut && (was.Kind < Sequence || is.Kind == was.Kind || isShown(key))) {
			return false
		}
	}
	twice := make(map[string]bool)
	for _, f := range after.Fields {
		_, twice[f.Key] = twice[f.Key]
	}
	return !slices.ContainsFunc(corrections, func(c correction) bool {
		return !twice[c.key] && slices.ContainsFunc(after.Problems, func(p problem.Problem) bool {
			_, ok := after.fieldOf(p)
			return ok && p.Key == c.key
		})
	})
}

// Write returns the suggestion to write a text in place of a top-level field. The suggestion is ""
// if the lines of the field contain other text, or if another field would change.
func (d *Document) Write(field Field, text string) string {
	first, _, _ := strings.Cut(text, lineBreak)
	key, _, _ := TopLevelKey(first)
	others := *d
	others.Fields = slices.DeleteFunc(slices.Clone(d.Fields), func(f Field) bool {
		return f.Key == field.Key || f.Key == key
	})
	c := correction{text: text}
	c.from, c.to = d.Lines(field)
	if field.Column != 1 || !others.keeps(c) {
		return ""
	}
	return c.String()
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
