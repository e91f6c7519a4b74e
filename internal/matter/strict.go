package matter

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// Strict returns what a reader of StrictYAML refuses in a YAML header that is
// right otherwise: the codes SkillYAML… and, in mappings below the top level,
// DuplicateKey. Of each code it is the first in each top-level
// field. It reads the header a second time, since Parse has no need of such
// details; a header that is not YAML as a whole has none.
func (d *Document) Strict() []problem.Problem {
	if d.Format != YAML {
		return nil
	}
	if _, ok := plainYAML(d.Header); ok && bytes.IndexByte(d.Header, '\t') < 0 {
		return nil // there is nothing in it that could be refused
	}
	text := (&Document{Header: d.Header}).printable()
	if tooDeep(text) {
		return nil
	}
	node, err := parseYAML(text)
	if err != nil || node.Kind == 0 {
		return nil
	}
	s := strict{text: text, lines: yamlLines(text)}
	s.look(node.Content[0], 0)
	s.tabs()
	moveProblems(s.problems, d.Line-1)
	return problem.Limit(s.problems)
}

type strict struct {
	text     []byte
	lines    []int  // where each begins in text
	key      string // the top-level one
	scalars  []scalarAt
	problems []problem.Problem
}

// A scalarAt is a scalar, where it begins in the text, and the top-level key
// that it is or belongs to.
type scalarAt struct {
	node *yaml.Node
	at   int
	key  string
}

func (s *strict) look(n *yaml.Node, depth int) {
	if depth > maxDepth {
		return // Parse has refused it
	}
	at := s.offset(n)
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		s.report(n, problem.SkillYAMLAnchor, "anchors and aliases (& and *) are not allowed in a skill", "write the value out; put a text that begins with & or * in quotes")
	case n.Style&yaml.TaggedStyle != 0, at < len(s.text) && s.text[at] == '!': // "!" alone has no style
		s.report(n, problem.SkillYAMLTag, "tags (!) are not allowed in a skill", "remove the tag; put a text that begins with ! in quotes")
	case n.Style&yaml.FlowStyle != 0:
		s.report(n, problem.SkillYAMLFlowStyle, "lists and mappings in brackets are not allowed in a skill",
			"write one item in each line; put a text that begins with a bracket in quotes")
		return // what is in it is reported with it
	}
	if n.Kind == yaml.ScalarNode {
		s.scalars = append(s.scalars, scalarAt{n, at, s.key})
	}
	if n.Kind != yaml.MappingNode {
		for _, item := range n.Content {
			s.look(item, depth+1)
		}
		return
	}
	seen := make(map[string]bool, len(n.Content)/2)
	column := 0 // of the first mapping in this one
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if depth == 0 {
			s.key = key.Value
		} else if key.Kind == yaml.ScalarNode && seen[key.Value] {
			s.report(key, problem.DuplicateKey, fmt.Sprintf("the key %q is there twice; the last one counts", key.Value), "remove the others")
		}
		seen[key.Value] = true
		s.look(key, depth+1)
		s.look(value, depth+1)
		if value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle == 0 {
			if column == 0 {
				column = value.Column
			}
			if value.Column != column {
				s.report(value, problem.SkillYAMLIndentation, "its keys are indented differently from those of the mapping before",
					"indent both by the same number of blanks")
			}
		}
	}
}

// report adds a problem, unless the field has one of this class already. A
// node's line is that of the header, which begins in the file's second line.
func (s *strict) report(n *yaml.Node, code problem.Code, message, suggestion string) {
	for _, p := range slices.Backward(s.problems) {
		if p.Key != s.key {
			break
		}
		if p.Code == code {
			return
		}
	}
	s.problems = append(s.problems, problem.Problem{Code: code, Severity: problem.Error, Line: n.Line + 1, Column: n.Column, Key: s.key, Message: message, Suggestion: suggestion})
}

// tabs reports tabs that are no part of a text in quotes, a block or a comment.
// YAML has them as blanks, where they do not indent.
func (s *strict) tabs() {
	i := 0
	s.key = ""
	for n, scalar := range s.scalars {
		s.between(i, scalar.at)
		i, s.key = max(i, scalar.at), scalar.key
		switch {
		case scalar.node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
			i = closingQuote(s.text, i)
		case scalar.node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			first := s.lines[min(scalar.node.Line, len(s.lines)-1)]
			s.between(i, first)
			i = len(s.text)
			if n+1 < len(s.scalars) {
				i = max(first, s.lines[s.scalars[n+1].node.Line-1])
			}
		}
	}
	s.between(i, len(s.text))
}

// between reports the first tab in a part of the text that has no quotes, but
// may have comments.
func (s *strict) between(from, to int) {
	comment := false
	for i := from; i < to; i++ {
		switch c := s.text[i]; {
		case c == '\n':
			comment = false
		case comment:
		case c == '#':
			comment = i == 0 || strings.IndexByte(" \t\r\n", s.text[i-1]) >= 0
		case c == '\t':
			line, _ := slices.BinarySearch(s.lines, i+1)
			at := &yaml.Node{Line: line, Column: 1 + utf8.RuneCount(s.text[s.lines[line-1]:i])}
			s.report(at, problem.SkillYAMLTab, "a tab is not allowed here in a skill", "write a blank, or put the text that it is in in quotes")
			return
		}
	}
}

// closingQuote returns where the text goes on after the quoted one at i.
func closingQuote(text []byte, i int) int {
	for quote, j := text[i], i+1; j < len(text); j++ {
		switch {
		case text[j] == '\\' && quote == '"':
			j++
		case text[j] != quote:
		case quote == '\'' && j+1 < len(text) && text[j+1] == quote:
			j++
		default:
			return j + 1
		}
	}
	return len(text)
}

// offset returns where a node begins in the text.
func (s *strict) offset(n *yaml.Node) int {
	i := s.lines[min(max(n.Line, 1), len(s.lines))-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(s.text[i:])
		i += size
	}
	return i
}

// yamlLines returns where the lines of a text begin, as YAML 1.1 counts them.
func yamlLines(text []byte) []int {
	lines := []int{0}
	for i, r := range string(text) {
		switch {
		case r == '\r' && i+1 < len(text) && text[i+1] == '\n':
		case r == '\r', r == '\n', r == '\u0085', r == '\u2028', r == '\u2029':
			lines = append(lines, i+utf8.RuneLen(r))
		}
	}
	return lines
}
