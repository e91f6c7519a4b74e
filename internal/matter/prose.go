package matter

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// isProse reports whether the value of a key goes on in lines that are not indented. Authors of
// agents write descriptions in this form, with conversations between the tags <example> and
// </example>, because the skill agent-development of the plugin plugin-dev in
// anthropics/claude-code shows the form (2026-11). The form is not YAML: Claude Code 2.1.330
// (2026-11) ignores the whole header, reads no such agent of a project, and gives such an agent of
// a plugin all tools.
func isProse(key string) bool { return key == "description" }

const openExample, closeExample = "<example>", "</example>"

// An exampleReader finds the examples of a text. A tag that is not closed begins no example.
type exampleReader struct {
	text string
	end  int  // offset after the last example that begins in the lines read so far
	none bool // no example follows
}

// read reads the line text[from:to].
func (r *exampleReader) read(from, to int) {
	for from = max(from, r.end); from < to && !r.none; from = r.end {
		open := strings.Index(r.text[from:to], openExample)
		if open < 0 {
			return
		}
		from += open
		n := strings.Index(r.text[from:], closeExample)
		if r.none = n < 0; r.none {
			return
		}
		r.end = from + n + len(closeExample)
	}
}

// isHeading reports whether a line with a key is the heading of an example, as in "Examples:". A
// heading begins with a capital letter, and no client has a key with a capital letter at the
// beginning.
func isHeading(key, value, after string) bool {
	return value == "" && 'A' <= key[0] && key[0] <= 'Z' &&
		strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), openExample)
}

// cutProse cuts a chunk after the value in YAML, and after the unindented lines that belong to the
// text of the value. These lines end before a line that resembles a field, and before a text after
// a comment. All lines of an example belong to the text. prose is "" for other keys, and after a
// value in quotes.
func cutProse(c chunk) (value, prose, rest string) {
	_, first, _ := KeyLine(c.text)
	if !isProse(c.key) || first != "" && (first[0] == '"' || first[0] == '\'') {
		return "", "", ""
	}
	examples, comment := exampleReader{text: c.text}, false
	at, from, to := 0, 0, 0 // from and to are the offsets of the prose
	for line := range strings.Lines(c.text) {
		next := at + len(line)
		switch {
		case at == 0, strings.TrimSpace(line) == "":
		case from == 0 && (strings.IndexByte(" \t]}", line[0]) >= 0 || first == "" && isItem(line)):
		case at >= examples.end && line[0] == '#':
			comment = true
		case at >= examples.end && (comment || notProse.MatchString(line)):
			return c.text[:from], c.text[from:to], c.text[at:]
		default:
			from, to = cmp.Or(from, at), next
		}
		examples.read(at, next)
		at = next
	}
	return c.text[:from], c.text[from:to], ""
}

// notProse matches a key without a blank after the colon, a key after "?", a merge, and a fence. An
// address such as https://example.com is prose.
var notProse = regexp.MustCompile(`^(?:[\pL\d_.$-]+:(?:[^/\s]|/[^/])|\?\s|<<:|---|\+\+\+|\.\.\.\s)`)

// prose reads a chunk with a text that goes on in lines without indentation, and cuts the lines
// that do not belong to the text. ok is false for other chunks.
func (r *repairer) prose(c *chunk) (f Field, p problem.Problem, ok bool) {
	value, prose, rest := cutProse(*c)
	if prose == "" {
		return Field{}, p, false
	}
	first := chunk{key: c.key, text: value, line: c.line}
	f, _, err := r.field(first)
	if err != nil {
		f, _ = r.repair(first, err)
	}
	var b strings.Builder
	switch {
	case f.Value.Kind >= Sequence && f.Value.Text == "":
		return Field{}, p, false
	case f.Value.Kind != Null:
		b.WriteString(strings.TrimRight(f.Value.Text, " \t\n"))
		b.WriteString(strings.Repeat("\n",
			strings.Count(value[len(strings.TrimRight(value, " \t\r\n")):], "\n")))
	}
	for line := range strings.Lines(prose) {
		b.WriteString(strings.TrimRight(line, " \t\r\n") + "\n")
	}
	f.Value = Value{Kind: String, Text: strings.Trim(b.String(), "\n")}
	c.text, c.stray = c.text[:len(c.text)-len(rest)], rest
	p = problem.Problem{Code: problem.FrontmatterRecovered, Line: c.line + strings.Count(value, "\n"),
		Column: 1, Key: c.key, Message: "the text goes on in lines without indentation, " +
			"which YAML does not allow; the lines are read as part of the text"}
	return f, p, true
}
