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

// Strict returns the constructs of a valid YAML header that readers of the subset
// StrictYAML reject (https://hitchdev.com/strictyaml/features-removed/). The Agent
// Skills reference validator is a reader of StrictYAML. The problems have the codes
// SkillYAML… and, in mappings below the top level, DuplicateKey. Strict reports the
// first problem of each code in each top-level field, and at most problem.Max
// problems. Strict reads the header a second time, because Parse does not keep the
// details. A header that is not valid YAML has no problems of these kinds.
func (d *Document) Strict() []problem.Problem {
	if d.Format != YAML || isStrictSubset(d.Header) {
		return nil
	}
	return d.strictProblems()
}

// isStrictSubset reports whether readSubset shows that a header has no problem for
// Strict. Of the constructs, the subset contains only lists in brackets, keys that
// occur twice below the top level, and mappings of different indentation.
func isStrictSubset(header string) bool {
	fields, verdict := readSubset(header, 2)
	if verdict != certain {
		return verdict == invalid
	}
	scalars := !slices.ContainsFunc(fields, func(f Field) bool { return f.Value.Kind >= Sequence })
	return scalars || strings.IndexByte(header, '[') < 0 && isStrictMapping(fields, true)
}

// isStrictMapping reports whether the fields have no list of lists or mappings, and,
// below the top level, no key twice. The mappings among the values must begin in the
// same column.
func isStrictMapping(fields []Field, top bool) bool {
	column := 0 // of the first mapping value
	for i, f := range fields {
		sameKey := func(other Field) bool { return other.Key == f.Key }
		if !top && slices.ContainsFunc(fields[:i], sameKey) {
			return false
		}
		for _, item := range f.Value.Items() {
			if item.Kind >= Sequence {
				return false
			}
		}
		if f.Value.Kind == Mapping {
			if at := f.Value.Fields()[0].Column; column == 0 {
				column = at
			} else if at != column {
				return false
			}
			if !isStrictMapping(f.Value.Fields(), false) {
				return false
			}
		}
	}
	return true
}

// strictProblems reads the nodes of the YAML library.
func (d *Document) strictProblems() []problem.Problem {
	text, _ := (&Document{Frontmatter: Frontmatter{Header: d.Header}}).printable()
	if tooDeep(text) {
		return nil
	}
	node, err := parseYAML(text)
	if err != nil || node.Kind == 0 {
		return nil
	}
	s := strict{text: []byte(text), lines: yamlLines([]byte(text))}
	s.look(node.Content[0], 0)
	s.tabs()
	moveProblems(s.problems, d.Line-1)
	return problem.Limit(s.problems)
}

type strict struct {
	text     []byte
	lines    []int  // offsets of the lines in text
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
	if depth > maxDepth {
		return // Parse refuses the header
	}
	at := s.offset(n)
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		s.report(n, problem.SkillYAMLAnchor, "anchors and aliases (& and *) are not allowed in a skill", "repeat the value; quote text that begins with & or *")
	case n.Style&yaml.TaggedStyle != 0, at < len(s.text) && s.text[at] == '!': // a lone "!" has no style
		s.report(n, problem.SkillYAMLTag, "tags (!) are not allowed in a skill", "remove the tag; quote text that begins with !")
	case n.Style&yaml.FlowStyle != 0:
		s.report(n, problem.SkillYAMLFlowStyle, "lists and mappings in brackets are not allowed in a skill",
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
			s.report(key, problem.DuplicateKey, fmt.Sprintf("duplicate key %q; the last value is used", key.Value), "remove the other values")
		}
		seen[key.Value] = true
		s.look(key, depth+1)
		s.look(value, depth+1)
		if value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle == 0 {
			if column == 0 {
				column = value.Column
			}
			if value.Column != column {
				s.report(value, problem.SkillYAMLIndentation, "the keys are indented differently from the keys of the previous mapping",
					"indent both mappings equally")
			}
		}
	}
}

// report adds a problem, unless the field already has a problem with the code. The
// lines of nodes start at 1 after the opening fence.
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
			i = closingQuote(s.text, i+max(0, bytes.IndexAny(s.text[i:], `"'`))) // an anchor or a tag may precede the quote
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
			s.report(at, problem.SkillYAMLTab, "a tab is not allowed here in a skill", "write a blank, or quote the text")
			return
		}
	}
}

// closingQuote returns the offset after the quoted text at i.
func closingQuote(text []byte, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch quote := text[i]; {
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

// offset returns the offset of a node in the text.
func (s *strict) offset(n *yaml.Node) int {
	i := s.lines[min(max(n.Line, 1), len(s.lines))-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(s.text[i:])
		i += size
	}
	return i
}

// yamlLines returns the offsets of the lines of a text, by the line breaks of YAML
// 1.1.
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
