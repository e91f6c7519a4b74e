package names

import (
	"path"
	"strconv"
	"strings"
)

// A Rule is the rule for the names of a kind of entries.
type Rule struct {
	Plugins bool // the names of the entries of plugins are loose
	Colons  bool // a name may have several elements, with ":" between them
	Loose   bool // each element is a loose name, and otherwise a plain name

	// Advice is the rule for a name of a skill or an agent, and "" for commands.
	Advice string
}

// Valid reports whether an entry can have the name.
func (r Rule) Valid(name string) bool {
	if r.Plugins && Loose(name) {
		return true
	}
	if !r.Colons {
		return r.Element(name)
	}
	for element := range strings.SplitSeq(name, ":") {
		if !r.Element(element) {
			// A loose name may contain colons.
			return r.Element(name)
		}
	}
	return true
}

// Element is Valid for a single path element.
func (r Rule) Element(name string) bool {
	if r.Loose {
		return Loose(name)
	}
	return Plain(name)
}

// Correction completes the message for an invalid name, from the results of Meant: the valid name
// that the caller probably means, or else the rule.
func (r Rule) Correction(meant string, arguments bool) string {
	if r.Advice != "" {
		return r.advice(meant)
	}
	words := strings.Fields(meant)
	guess := !arguments && len(words) > 1 && !r.Element(meant)
	if guess {
		meant = words[0]
	}
	meant, _ = TrimMarkdown(meant)
	nested := strings.ReplaceAll(meant, "/", ":")
	if r.Colons {
		meant = nested
	}
	write := "write " + strconv.Quote(meant)
	if arguments || guess {
		write += ", and fill in the arguments with Render"
	}
	const rule = `use letters, digits, "_" and "-"`
	switch {
	case r.Valid(meant) && guess:
		return rule + "; if arguments follow the name, " + write
	case r.Valid(meant):
		return write
	case r.Loose:
		return "use one path element without separators, control characters and leading dot"
	case r.Colons:
		return rule + `; separate directories with ":"`
	case strings.Contains(nested, ":") && r.Element(strings.ReplaceAll(nested, ":", "")):
		return rule + "; the catalog reads no subdirectories without WithNestedCommands"
	default:
		return rule
	}
}

// advice is Correction for a skill or an agent.
func (r Rule) advice(meant string) string {
	if dir, base := path.Split(meant); strings.EqualFold(base, "SKILL.md") {
		meant = strings.TrimSuffix(dir, "/")
	}
	meant, _ = TrimMarkdown(meant)
	if r.Plugins {
		meant = strings.ReplaceAll(meant, "/", ":")
	}
	if Loose(meant) {
		return "write " + strconv.Quote(meant)
	}
	return r.Advice
}
