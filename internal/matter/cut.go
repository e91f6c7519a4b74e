package matter

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// cuts finds plain scalars that YAML shortens: "Fix issue #$1" ends before a
// comment, "&x y" begins with an anchor, "!x y" begins with a tag. Authors write a
// blank after the "#" of a comment, and an alias for each anchor. A scalar without
// the blank or the alias is reported. The value stays as YAML reads the scalar,
// except for a text that meant returns.
type cuts struct {
	text []byte
	line int    // added to a node's line
	key  string // the top-level key
	from int    // line of the top-level key in text
	to   int    // line of the next top-level key in text; 0 means the end
	flow int    // number of lists and mappings in brackets, and of keys, around the current value

	lines       []int // offsets of the lines in text
	row, column int   // of the previous node
	at, end     int   // offsets of the previous node and of the end of its line
	found       []cut
	meant       []Field // the fields that lose text in YAML, with the whole text
	used        map[*yaml.Node]bool
}

// A cut is a part of a scalar that YAML does not read as text. In a list or mapping,
// quotes around the scalar correct the field.
type cut struct {
	problem.Problem
	anchor     *yaml.Node // node of an anchor, because all aliases must be known
	field, end int        // offsets of the field; end is 0 for a field with a suggestion or without a correction
	from, to   int        // offsets of the scalar to quote
}

// restore gives fields the texts that their authors meant.
func (c *cuts) restore(fields []Field) []Field {
	i := 0
	for _, f := range c.meant {
		for i < len(fields) && (fields[i].Line != f.Line || fields[i].Key != f.Key) {
			i++
		}
		if i < len(fields) {
			fields[i].Value = f.Value
		}
	}
	return fields
}

// use marks the node of an alias.
func (c *cuts) use(n *yaml.Node) {
	if c.used == nil {
		c.used = make(map[*yaml.Node]bool)
	}
	c.used[n] = true
}

// inWhole returns the problems of a whole header. In a part of a header, use list: an
// alias may be in another part.
func (c *cuts) inWhole() []problem.Problem {
	return c.list(func(f cut) bool { return f.anchor == nil || !c.used[f.anchor] })
}

// list returns the problems of the shown cuts. All cuts of one list or mapping have
// the same suggestion, which quotes each of the scalars.
func (c *cuts) list(shown func(cut) bool) []problem.Problem {
	var all []problem.Problem
	var group []int // indexes of the cuts in the current field
	var text string // current field up to the last cut
	field, done := -1, 0
	for _, f := range c.found {
		if !shown(f) {
			continue
		}
		all = append(all, f.Problem)
		if f.end == 0 {
			continue
		}
		if f.field != field {
			field, done, text, group = f.field, f.field, "", nil
		}
		text += string(c.text[done:f.from]) + strconv.Quote(string(c.text[f.from:f.to]))
		done, group = f.to, append(group, len(all)-1)
		for _, i := range group {
			all[i].Suggestion = write(text + string(c.text[done:f.end]))
		}
	}
	return all
}

// look checks a scalar. If top is true, the scalar is the value of a top-level key.
func (c *cuts) look(n *yaml.Node, top bool) {
	const quotes = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if n.Style&quotes != 0 {
		return
	}
	rest := c.rest(n)
	switch {
	case n.Anchor != "":
		c.report(n, 0, "&"+n.Anchor, "an anchor", marked(rest, n), top).anchor = n
	case bytes.HasPrefix(rest, []byte("!")) && !bytes.HasPrefix(rest, []byte("!!")):
		mark, _, _ := bytes.Cut(rest[:min(len(rest), maxSuggested)], []byte(" "))
		c.report(n, 0, string(mark), "a tag", marked(rest, n), top)
	case scalarKind(n) == String, n.Value == "", isShown(c.key):
		comment, column := []byte(n.LineComment), 0
		if n.Value == "" && len(bytes.TrimSpace(c.text[c.offset(max(n.Line, 1)):c.at])) == 0 {
			return // the comment follows a key after "?" in another line
		}
		after, inLine := bytes.CutPrefix(rest, []byte(n.Value))
		if inLine {
			comment = bytes.TrimLeft(after, " \t")
			column = len(rest) - len(comment)
		}
		if !isText(comment, c.key) {
			return
		}
		whole := n.Value + " " + n.LineComment
		if inLine {
			whole = strings.TrimLeft(string(rest), " \t")
		}
		c.comment(n, utf8.RuneCount(rest[:column]), string(comment), n.Value, whole, top)
	}
}

// lookAfter checks the comment after a list or mapping in brackets. The value is
// the end of the line, from the opening bracket on.
func (c *cuts) lookAfter(f Field, line, value, comment string) {
	if !isText(comment, f.Key) {
		return
	}
	line = strings.TrimRight(line, " \t\r")
	before := strings.TrimSuffix(line, comment)
	if read, _, err := strictYAML(before, f.Line, newExpansion(before)); err != nil || len(read) != 1 || !read[0].Value.Equal(f.Value) {
		return // the bracket that closes the value is in another line
	}
	column := utf8.RuneCountInString(before)
	c.key, c.from, c.to = f.Key, f.Line-c.line, 0
	c.comment(&yaml.Node{Line: c.from, Column: 1}, column, comment, value, value, true)
	if !isShown(f.Key) { // quotes would turn the list into a text
		c.found[len(c.found)-1].Suggestion = write(before + "# " + comment[1:])
	}
}

// comment reports a comment that belongs to a value. whole is the value with the
// comment.
func (c *cuts) comment(n *yaml.Node, column int, comment, value, whole string, top bool) {
	if text := meant(c.key, comment, value, whole); text != "" && top && c.flow == 0 {
		p := c.report(n, column, comment, "a comment", text, true)
		p.Code = problem.FrontmatterRecovered
		p.Message = "YAML reads " + strconv.Quote(clip(comment, 60)) + " as a comment, so other clients lose the text"
		c.meant = append(c.meant, Field{Key: c.key, Line: c.line + c.from, Value: Value{Kind: String, Text: text}})
		return
	}
	c.report(n, column, comment, "a comment", whole, top)
}

// isShown reports whether a key contains a text for a person or a model.
func isShown(key string) bool { return key == "description" || key == "argument-hint" }

// IsTextKey reports whether the value of a key is always a text.
func IsTextKey(key string) bool {
	switch key {
	case "name", "license", "compatibility", "when_to_use", "model":
		return true
	default:
		return isShown(key)
	}
}

// meant returns the text that an author meant by a value with a comment, or "" if
// the author meant a comment. A number sign before a number or a placeholder is text,
// as in "Fix #1" and "[pr] #$1". In a description, a number sign before any word is text,
// as in "the #deploy channel". A description that is only a comment is text. The
// marks of a heading, as in "# Title", are not part of this text. An argument-hint
// that is only a comment is text if no blank follows the "#".
func meant(key, comment, value, whole string) string {
	switch {
	case !isShown(key):
		return ""
	case value != "":
		if strings.IndexByte("0123456789$<[{", comment[1]) < 0 && (key != "description" || strings.IndexByte(" \t#!", comment[1]) >= 0) {
			return ""
		}
	case markdown.IsHeading(whole):
		whole = strings.TrimLeft(strings.TrimLeft(whole, "#"), " \t") // only of a description; see isText
	}
	return whole
}

// isText reports whether a comment probably belongs to the text before the "#".
func isText[T string | []byte](comment T, key string) bool {
	if len(comment) < 2 || comment[0] != '#' {
		return false
	}
	return key == "description" || strings.IndexByte(" \t#!", comment[1]) < 0
}

// marked returns a scalar with its anchor or tag; "" if the scalar is long or has
// more than one line.
func marked(rest []byte, n *yaml.Node) string {
	if len(rest) > maxSuggested || !bytes.HasSuffix(rest, []byte(n.Value)) {
		return ""
	}
	return string(rest)
}

// report reports that YAML removes a part of a scalar. The correction puts whole in
// quotes. A nested scalar must end with its line. In brackets, the end of the scalar is
// unknown.
func (c *cuts) report(n *yaml.Node, column int, part, meaning, whole string, top bool) *cut {
	c.found = append(c.found, cut{Problem: problem.Problem{Code: problem.FrontmatterValueCut, Line: c.line + n.Line, Column: n.Column + column, Key: c.key,
		Message: "YAML reads " + strconv.Quote(clip(part, 60)) + " as " + meaning + ", not as part of the value"}})
	p := &c.found[len(c.found)-1]
	if whole == "" || len(whole) > maxSuggested || c.flow > 0 {
		return p
	}
	from, to, rest := c.offset(c.from), c.offset(c.to), c.rest(n)
	key, _, ok := KeyLine(string(c.text[from:min(to, from+maxSuggested)]))
	switch {
	case !ok:
	case top:
		p.Suggestion = write(key + " " + strconv.Quote(whole))
	case bytes.HasSuffix(rest, []byte(whole)) && to-from <= maxSuggested:
		p.field, p.end, p.from, p.to = from, to, c.end-len(whole), c.end
	}
	return p
}

// offset returns the offset of a line of the text. Line 0 is the end of the text.
func (c *cuts) offset(line int) int {
	if c.lines == nil {
		c.lines = yamlLines(c.text)
	}
	if line == 0 || line > len(c.lines) {
		return len(c.text)
	}
	return c.lines[line-1]
}

// clip shortens a text for a message.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// rest returns the line of a node, beginning with the node, without trailing
// blanks. Nodes arrive in the order of the text, except that a value precedes its
// key. From the previous node, rest therefore reads a long line once.
func (c *cuts) rest(n *yaml.Node) []byte {
	if row := max(n.Line, 1); row != c.row {
		c.row, c.column = row, 1
		c.at, c.end = c.offset(row), c.offset(row+1)
		c.end = c.at + len(bytes.TrimRight(c.text[c.at:c.end], " \t\r\n"))
	}
	for ; c.column < n.Column && c.at < c.end; c.column++ {
		_, size := utf8.DecodeRune(c.text[c.at:])
		c.at += size
	}
	for ; c.column > max(n.Column, 1); c.column-- {
		_, size := utf8.DecodeLastRune(c.text[:c.at])
		c.at -= size
	}
	return c.text[c.at:c.end]
}
