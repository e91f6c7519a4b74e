package mcpadapter

import (
	"cmp"
	"fmt"
	"strings"
)

// maxName is the maximum length of a tool's name. The protocol allows 128 characters,
// but its conformance suite and some clients allow 64. Some clients reject all tools of
// a server if the name of any tool is longer.
const maxName = 64

// isName reports whether every client accepts s as part of a tool's name. more lists
// further accepted characters.
func isName(s string, more string) bool {
	for i := range len(s) {
		c := s[i]
		if ('a' > c || c > 'z') && ('A' > c || c > 'Z') && ('0' > c || c > '9') && c != '_' && c != '-' && strings.IndexByte(more, c) < 0 {
			return false
		}
	}
	return s != ""
}

func isNamespace(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !isName(part, "") {
			return false
		}
	}
	return true
}

// withUnderscores returns the spelling of a name that every client can send.
func withUnderscores(name string) string { return strings.ReplaceAll(name, ".", "_") }

// setTools indexes the tools by all accepted spellings of their names. Two tools may not
// share a spelling, because a call with this spelling would be ambiguous. dotted has the
// names of the library's tools with "." as separator.
func (a *Adapter) setTools(tools []Tool, dotted map[string]string) error {
	a.tools = tools
	a.byName = make(map[string]int, 2*len(tools))
	for i, t := range tools {
		switch {
		case !isName(t.Name, "."):
			return invalidOption(fmt.Sprintf(`invalid tool name %q; use letters, digits, "_", "-" and "."`, t.Name))
		case len(t.Name) > maxName:
			return invalidOption(fmt.Sprintf("the tool name %q has %d characters; use at most %d", t.Name, len(t.Name), maxName))
		}
		full := cmp.Or(dotted[t.Name], t.Name)
		for _, spelling := range []string{t.Name, withUnderscores(t.Name), full, withUnderscores(full)} {
			other, taken := a.byName[spelling]
			switch {
			case !taken:
				a.byName[spelling] = i
			case other != i && tools[other].Name == t.Name:
				return invalidOption(fmt.Sprintf("two tools have the name %q; rename an extra tool, or use WithNamespace if the other tool is a library tool", t.Name))
			case other != i:
				return invalidOption(fmt.Sprintf("a call of %q is ambiguous between the tools %q and %q; rename a tool", spelling, tools[other].Name, t.Name))
			}
		}
	}
	return nil
}

// Lookup returns the tool for the name in a call, or false if no tool has the name.
// WithNamespace documents the accepted spellings.
func (a *Adapter) Lookup(name string) (Tool, bool) {
	i, ok := a.byName[name]
	if !ok {
		return Tool{}, false
	}
	return a.tools[i], true
}
