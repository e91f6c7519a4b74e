package matter

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// cuts finds plain scalars that YAML shortens: "Fix issue #$1" ends before a
// comment, "&x y" begins with an anchor, "!x y" begins with a tag. Authors write a
// blank after the "#" of a comment, and an alias for each anchor. A scalar without
// the blank or the alias is reported. The value stays as YAML reads the scalar,
// except for a text that meant returns.
type cuts struct {
	*scope
	text []byte
	line int    // added to a node's line
	key  string // the top-level key
	flow int    // number of lists and mappings in brackets, and of keys, around the current value

	lines       []int // offsets of the lines in text
	row, column int   // of the previous node
	at, end     int   // offsets of the previous node and of the end of its line
	found       []problem.Problem
}

// look checks a scalar. If top is true, the scalar is the value of a top-level key, and look
// returns the text of meant.
func (c *cuts) look(n *yaml.Node, top bool) (meant string) {
	if n.Style&quotedStyles != 0 {
		return ""
	}
	rest := c.rest(n)
	switch {
	case n.Anchor != "":
		if !c.isShared("&" + n.Anchor) {
			c.report(n, 0, "&"+n.Anchor, "an anchor")
		}
	case bytes.HasPrefix(rest, []byte("!")) && !bytes.HasPrefix(rest, []byte("!!")):
		mark, _, _ := bytes.Cut(rest[:min(len(rest), maxSuggested)], []byte(" "))
		c.report(n, 0, string(mark), "a tag")
	case scalarKind(n) == String, n.Value == "", isShown(c.key):
		comment, column := []byte(n.LineComment), 0
		if n.Value == "" && len(bytes.TrimSpace(c.text[c.offset(max(n.Line, 1)):c.at])) == 0 {
			return "" // the comment follows a key after "?" in another line
		}
		after, inLine := bytes.CutPrefix(rest, []byte(n.Value))
		if inLine {
			comment = bytes.TrimLeft(after, " \t")
			column = len(rest) - len(comment)
		}
		if !isText(comment, c.key) {
			return ""
		}
		whole := n.Value + " " + n.LineComment
		if inLine {
			whole = strings.TrimLeft(string(rest), " \t")
		}
		return c.comment(n, utf8.RuneCount(rest[:column]), string(comment), n.Value, whole, top)
	}
	return ""
}

// lookAfter checks the comment after a list or mapping in brackets. The value is
// the end of the line, from the opening bracket on. lookAfter returns the text of meant.
func (c *cuts) lookAfter(f Field, line, value, comment string) (meant string) {
	if !isText(comment, f.Key) {
		return ""
	}
	line = strings.TrimRight(line, " \t\r")
	before := strings.TrimSuffix(line, comment)
	read, _, err := strictYAML(before, f.Line, newScope(before))
	if err != nil || len(read) != 1 || !read[0].Value.Equal(f.Value) {
		return "" // the bracket that closes the value is in another line
	}
	column := utf8.RuneCountInString(before)
	c.key = f.Key
	n := &yaml.Node{Line: f.Line - c.line, Column: 1}
	return c.comment(n, column, comment, value, value, true)
}

// comment reports a comment that belongs to a value. whole is the value with the comment. comment
// returns the text of meant.
func (c *cuts) comment(
	n *yaml.Node, column int, comment, value, whole string, top bool,
) (text string) {
	p := c.report(n, column, comment, "a comment")
	if !top || c.flow > 0 || c.asYAML {
		return ""
	}
	if text = meant(c.key, comment, value, whole); text != "" {
		p.Code = problem.FrontmatterRecovered
		p.Message = "YAML reads " + strconv.Quote(escape.Cut(comment, 60)) +
			" as a comment, so other clients lose the text"
	}
	return text
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
		if strings.IndexByte("0123456789$<[{", comment[1]) < 0 &&
			(key != "description" || strings.IndexByte(" \t#!", comment[1]) >= 0) {
			return ""
		}
	case markdown.IsHeading(whole):
		// Only of a description; see isText.
		whole = strings.TrimLeft(strings.TrimLeft(whole, "#"), " \t")
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

// report reports that YAML removes a part of a scalar.
func (c *cuts) report(n *yaml.Node, column int, part, meaning string) *problem.Problem {
	c.found = append(c.found, problem.Problem{
		Code: problem.FrontmatterValueCut, Line: c.line + n.Line, Column: n.Column + column, Key: c.key,
		Message: "YAML reads " + strconv.Quote(escape.Cut(part, 60)) + " as " + meaning +
			", not as part of the value",
	})
	return &c.found[len(c.found)-1]
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
