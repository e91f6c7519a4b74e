package matter

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// cuts finds texts of which YAML takes a part for something else: in
// "Fix issue #$1" a comment, in "&x y" an anchor, in "!x y" a tag. The value is
// the one that YAML reads. A comment is hardly ever written without a blank after
// the "#", and an anchor that no alias uses has no purpose.
type cuts struct {
	text []byte
	line int    // added to a node's line
	key  string // the top-level one

	lines    []int      // where each begins in text
	last     *yaml.Node // the node before, which is where at and end are
	at, end  int
	problems []Problem
	anchors  []anchored
	used     map[*yaml.Node]bool
}

// An anchored is the problem of an anchor, if no alias uses the node.
type anchored struct {
	node    *yaml.Node
	problem Problem
}

// use takes a node that an alias stands for.
func (c *cuts) use(n *yaml.Node) {
	if c.used == nil {
		c.used = make(map[*yaml.Node]bool)
	}
	c.used[n] = true
}

// inWhole returns the problems of a text that is the whole header, so that no
// alias is elsewhere.
func (c *cuts) inWhole() []Problem {
	for _, a := range c.anchors {
		if !c.used[a.node] {
			c.problems = append(c.problems, a.problem)
		}
	}
	return c.problems
}

// look takes a scalar. If top is true, the scalar is the value of a top-level key.
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
	case scalarKind(n) == String, n.Value == "":
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

// isText reports whether what YAML takes for a comment was hardly meant as one.
func isText(comment []byte, key string) bool {
	if len(comment) < 2 || comment[0] != '#' {
		return false
	}
	return key == "description" || strings.IndexByte(" \t#!", comment[1]) < 0
}

// marked returns the line of a scalar with the anchor or tag that YAML takes off;
// "" if the scalar goes on in another line.
func marked(rest []byte, n *yaml.Node) string {
	if len(rest) > maxSuggested || !bytes.HasSuffix(rest, []byte(n.Value)) {
		return ""
	}
	return string(rest)
}

// problem is about a part of a scalar's text. The whole is what to put in quotes.
func (c *cuts) problem(n *yaml.Node, column int, part, meaning, whole string, top bool) Problem {
	p := Problem{Class: ValueCut, Line: c.line + n.Line, Column: n.Column + column, Key: c.key,
		Message: "YAML reads " + strconv.Quote(clip(part, 60)) + " as " + meaning + ", which is no part of the value"}
	switch {
	case whole == "" || len(whole) > maxSuggested:
	case top:
		p.Suggestion = "write " + c.key + ": " + strconv.Quote(whole)
	default:
		p.Suggestion = "write " + strconv.Quote(whole)
	}
	return p
}

// clip cuts a text that is quoted in a message.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// rest returns the line of a node from the node on, without blanks at the end.
// Nodes come in the order of the text, so that a long line is read once.
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
