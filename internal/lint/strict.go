package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// strictProblems returns the constructs of a valid YAML header that readers of the subset
// StrictYAML reject (https://hitchdev.com/strictyaml/features-removed/). The Agent Skills
// reference validator is a reader of StrictYAML. The problems have the codes SkillYAML… and, in
// mappings below the top level, DuplicateKey. strictProblems returns the first problem of each
// code in each top-level field, and at most problem.Max problems.
func strictProblems(doc *matter.Document) []problem.Problem {
	if doc.Plain && isStrict(doc) {
		return nil
	}
	return ofNodes(doc)
}

// ofNodes is strictProblems without the fast path.
func ofNodes(doc *matter.Document) []problem.Problem {
	root, text, lines := doc.Nodes()
	if root == nil {
		return nil
	}
	s := strict{text: text, lines: lines, above: doc.Line}
	s.look(root, 0)
	s.tabs()
	return problem.Limit(s.problems)
}

// isStrict reports whether the fields of a plain header show that the header has no problem. Of
// the constructs, a plain header contains only lists in brackets, keys that occur twice below the
// top level, and mappings of different indentation. isStrict leaves values below the second level
// to the nodes.
func isStrict(doc *matter.Document) bool {
	isNested := func(f matter.Field) bool { return f.Value.Kind >= matter.Sequence }
	column := 0 // of the keys below the top level
	for _, f := range doc.Fields {
		below := f.Value.Fields()
		for i, g := range below {
			sameKey := func(other matter.Field) bool { return other.Key == g.Key }
			if column = cmp.Or(column, g.Column); g.Column != column || isNested(g) ||
				slices.ContainsFunc(below[:i], sameKey) {
				return false
			}
		}
	}
	return strings.IndexByte(doc.Header, '[') < 0 || !slices.ContainsFunc(doc.Fields, isNested)
}

type strict struct {
	text     []byte
	lines    []int  // offsets of the lines in text
	above    int    // number of lines of the file above text
	key      string // current top-level key
	scalars  []scalarAt
	problems []problem.Problem
}

// A scalarAt is a scalar, with the offset in the text and the top-level key of the
// field.
type scalarAt struct {
	node *yaml.Node
	at   int
	key  string
}

func (s *strict) look(n *yaml.Node, depth int) {
	if depth > matter.MaxDepth {
		return // Parse refuses the header
	}
	at := s.offset(n)
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		s.report(n, problem.SkillYAMLAnchor, "anchors and aliases (& and *) are not allowed in a skill",
			"repeat the value; quote text that begins with & or *")
	// A lone "!" has no style.
	case n.Style&yaml.TaggedStyle != 0, at < len(s.text) && s.text[at] == '!':
		s.report(n, problem.SkillYAMLTag, "tags (!) are not allowed in a skill",
			"remove the tag; quote text that begins with !")
	case n.Style&yaml.FlowStyle != 0:
		s.report(n, problem.SkillYAMLFlowStyle,
			"lists and mappings in brackets are not allowed in a skill",
			"write one item per line; quote text that begins with a bracket")
		return // the report covers the content
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
	column := 0 // column of the first mapping value
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if depth == 0 {
			s.key = key.Value
		} else if key.Kind == yaml.ScalarNode && seen[key.Value] {
			s.report(key, problem.DuplicateKey,
				fmt.Sprintf("duplicate key %q; the last value is used", key.Value), "remove the other values")
		}
		seen[key.Value] = true
		s.look(key, depth+1)
		s.look(value, depth+1)
		if value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle == 0 {
			if column == 0 {
				column = value.Column
			}
			if value.Column != column {
				s.report(value, problem.SkillYAMLIndentation,
					"the keys are indented differently from the keys of the previous mapping",
					"indent both mappings equally")
			}
		}
	}
}

// report adds a problem, unless the field already has a problem with the code.
func (s *strict) report(n *yaml.Node, code problem.Code, message, suggestion string) {
	for _, p := range slices.Backward(s.problems) {
		if p.Key != s.key {
			break
		}
		if p.Code == code {
			return
		}
	}
	s.problems = append(s.problems, problem.Problem{Code: code, Severity: problem.Error,
		Line: s.above + n.Line, Column: n.Column, Key: s.key, Message: message, Suggestion: suggestion})
}

// tabs reports tabs outside quotes, blocks and comments. YAML reads such a tab as
// a blank.
func (s *strict) tabs() {
	i := 0
	s.key = ""
	for n, scalar := range s.scalars {
		s.between(i, scalar.at)
		i, s.key = max(i, scalar.at), scalar.key
		switch {
		case scalar.node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
			// An anchor or a tag may precede the quote.
			i = matter.AfterQuote(s.text, i+max(0, bytes.IndexAny(s.text[i:], `"'`)))
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

// between reports the first tab in a part of the text without quotes. The part may
// contain comments.
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
			s.report(at, problem.SkillYAMLTab, "a tab is not allowed here in a skill",
				"write a blank, or quote the text")
			return
		}
	}
}

// offset returns the offset of a node in the text.
func (s *strict) offset(n *yaml.Node) int {
	i := s.lines[min(max(n.Line, 1), len(s.lines))-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(s.text[i:])
		i += size
	}
	return i
}
