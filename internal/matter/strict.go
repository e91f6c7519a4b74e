package matter

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// What is right in YAML and refused by readers of the subset StrictYAML, the
// Agent Skills reference validator among them
// (https://hitchdev.com/strictyaml/features-removed/).
const (
	FlowStyle   Class = "SKILL_YAML_FLOW_STYLE"  // a list or mapping in brackets
	Anchor      Class = "SKILL_YAML_ANCHOR"      // &name, *name
	Tag         Class = "SKILL_YAML_TAG"         // !type
	Indentation Class = "SKILL_YAML_INDENTATION" // mappings side by side that are indented differently
)

// Strict returns what a reader of StrictYAML refuses in a YAML header that is
// right otherwise: FlowStyle, Anchor, Tag, Indentation and, in mappings below
// the top level, DuplicateKey. Of each class it is the first in each top-level
// field. It reads the header a second time, since Parse has no need of such
// details; a header that is not YAML as a whole has none.
func (d *Document) Strict() []Problem {
	if d.Format != YAML {
		return nil
	}
	if _, ok := plainYAML(d.Header); ok {
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
	s := strict{}
	s.look(node.Content[0], 0)
	return s.problems
}

type strict struct {
	key      string // the top-level one
	problems []Problem
}

func (s *strict) look(n *yaml.Node, depth int) {
	if depth > maxDepth {
		return // Parse has refused it
	}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		s.report(n, Anchor, "anchors and aliases (& and *) are not allowed in a skill", "write the value out; put a text that begins with & or * in quotes")
	case n.Style&yaml.TaggedStyle != 0:
		s.report(n, Tag, "tags (!) are not allowed in a skill", "remove the tag; put a text that begins with ! in quotes")
	case n.Style&yaml.FlowStyle != 0:
		s.report(n, FlowStyle, "lists and mappings in brackets are not allowed in a skill",
			"write one item in each line; put a text that begins with a bracket in quotes")
		return // what is in it is reported with it
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
			s.report(key, DuplicateKey, fmt.Sprintf("the key %q is there twice; the last one counts", key.Value), "remove the others")
		}
		seen[key.Value] = true
		s.look(key, depth+1)
		s.look(value, depth+1)
		if value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle == 0 {
			if column == 0 {
				column = value.Column
			}
			if value.Column != column {
				s.report(value, Indentation, "its keys are indented differently from those of the mapping before",
					"indent both by the same number of blanks")
			}
		}
	}
}

// report adds a problem, unless the field has one of this class already. A
// node's line is that of the header, which begins in the file's second line.
func (s *strict) report(n *yaml.Node, class Class, message, suggestion string) {
	for _, p := range slices.Backward(s.problems) {
		if p.Key != s.key {
			break
		}
		if p.Class == class {
			return
		}
	}
	s.problems = append(s.problems, Problem{Class: class, Line: n.Line + 1, Column: n.Column, Key: s.key, Message: message, Suggestion: suggestion})
}
