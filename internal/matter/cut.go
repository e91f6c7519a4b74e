package matter

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// cuts finds plain scalars that YAML shortens: "Fix issue #$1" ends before a
// comment, "&x y" begins with an anchor, "!x y" begins with a tag. The value stays
// as YAML reads the scalar. Authors write a blank after the "#" of a comment, and
// an alias for each anchor. A scalar without the blank or the alias is reported.
type cuts struct {
	text []byte
	line int    // added to a node's line
	key  string // the top-level key

	lines    []int      // offsets of the lines in text
	last     *yaml.Node // the previous node
	at, end  int        // offsets of last and of the end of its line
	problems []problem.Problem
	anchors  []anchored
	used     map[*yaml.Node]bool
}

// An anchored holds the problem of an anchor until all aliases are known.
type anchored struct {
	node    *yaml.Node
	problem problem.Problem
}

// use marks the node of an alias.
func (c *cuts) use(n *yaml.Node) {
	if c.used == nil {
		c.used = make(map[*yaml.Node]bool)
	}
	c.used[n] = true
}

// inWhole returns the problems of a whole header. In a part of a header, use
// problems: an alias may be in another part.
func (c *cuts) inWhole() []problem.Problem {
	for _, a := range c.anchors {
		if !c.used[a.node] {
			c.problems = append(c.problems, a.problem)
		}
	}
	return c.problems
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
		c.anchors = append(c.anchors, anchored{n, c.problem(n, 0, "&"+n.Anchor, "an anchor", marked(rest, n), top)})
	case bytes.HasPrefix(rest, []byte("!")) && !bytes.HasPrefix(rest, []byte("!!")):
		mark, _, _ := bytes.Cut(rest[:min(len(rest), maxSuggested)], []byte(" "))
		c.problems = append(c.problems, c.problem(n, 0, string(mark), "a tag", marked(rest, n), top))
	case scalarKind(n) == String, n.Value == "", c.key == "description":
		comment, column := []byte(n.LineComment), 0
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
		c.problems = append(c.problems, c.problem(n, utf8.RuneCount(rest[:column]), string(comment), "a comment", whole, top))
	}
}

// lookAfter checks the comment after a list or mapping in brackets. The value is
// the end of the line, from the opening bracket on.
func (c *cuts) lookAfter(f Field, line, value, comment string) {
	if !isText(comment, f.Key) {
		return
	}
	line = strings.TrimRight(line, " \t\r")
	column := utf8.RuneCountInString(line[:len(line)-len(comment)])
	c.key = f.Key
	c.problems = append(c.problems, c.problem(&yaml.Node{Line: f.Line - c.line, Column: 1}, column, comment, "a comment", value, true))
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

// problem reports that YAML removes a part of a scalar. The suggestion puts whole
// in quotes.
func (c *cuts) problem(n *yaml.Node, column int, part, meaning, whole string, top bool) problem.Problem {
	p := problem.Problem{Code: problem.FrontmatterValueCut, Line: c.line + n.Line, Column: n.Column + column, Key: c.key,
		Message: "YAML reads " + strconv.Quote(clip(part, 60)) + " as " + meaning + ", not as part of the value"}
	switch {
	case whole == "" || len(whole) > maxSuggested:
	case top:
		p.Suggestion = "write " + c.key + ": " + strconv.Quote(whole)
	default:
		p.Suggestion = "write " + strconv.Quote(whole)
	}
	return p
}

// clip shortens a text for a message.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// rest returns the line of a node, beginning with the node, without trailing
// blanks. Nodes arrive in the order of the text, so rest reads a long line once.
func (c *cuts) rest(n *yaml.Node) []byte {
	if c.lines == nil {
		c.lines = yamlLines(c.text)
	}
	column := 1
	if c.last != nil && c.last.Line == n.Line && c.last.Column <= n.Column {
		column = c.last.Column
	} else {
		c.at, c.end = c.lines[min(max(n.Line, 1), len(c.lines))-1], len(c.text)
		if n.Line < len(c.lines) {
			c.end = c.lines[n.Line]
		}
		c.end = c.at + len(bytes.TrimRight(c.text[c.at:c.end], " \t\r\n"))
	}
	for ; column < n.Column && c.at < c.end; column++ {
		_, size := utf8.DecodeRune(c.text[c.at:])
		c.at += size
	}
	c.last = n
	return c.text[c.at:c.end]
}
