package names

import (
	"strconv"
	"strings"
)

// Commands is the rule for the names of commands.
type Commands struct {
	Plugins bool // the names of the commands of plugins are loose
	Colons  bool // a name may have several elements, with ":" between them
	Loose   bool // each element is a loose name, and otherwise a plain name
}

// Valid reports whether a command can have the name.
func (c Commands) Valid(name string) bool {
	if c.Plugins && Loose(name) {
		return true
	}
	if !c.Colons {
		return c.Element(name)
	}
	for element := range strings.SplitSeq(name, ":") {
		if !c.Element(element) {
			// A loose name may contain colons.
			return c.Element(name)
		}
	}
	return true
}

// Element is Valid for a single path element.
func (c Commands) Element(name string) bool {
	if c.Loose {
		return Loose(name)
	}
	return Plain(name)
}

// Correction completes the message for an invalid name, from the results of Meant: the valid name
// that the caller probably means, or else the rule.
func (c Commands) Correction(meant string, arguments bool) string {
	words := strings.Fields(meant)
	guess := !arguments && len(words) > 1 && !c.Element(meant)
	if guess {
		meant = words[0]
	}
	meant, _ = TrimMarkdown(meant)
	nested := strings.ReplaceAll(meant, "/", ":")
	if c.Colons {
		meant = nested
	}
	write := "write " + strconv.Quote(meant)
	if arguments || guess {
		write += ", and fill in the arguments with Render"
	}
	const rule = `use letters, digits, "_" and "-"`
	switch {
	case c.Valid(meant) && guess:
		return rule + "; if arguments follow the name, " + write
	case c.Valid(meant):
		return write
	case c.Loose:
		return "use one path element without separators, control characters and leading dot"
	case c.Colons:
		return rule + `; separate directories with ":"`
	case strings.Contains(nested, ":") && c.Element(strings.ReplaceAll(nested, ":", "")):
		return rule + "; the catalog reads no subdirectories without WithNestedCommands"
	default:
		return rule
	}
}
