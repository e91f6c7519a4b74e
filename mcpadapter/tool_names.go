package mcpadapter

import (
	"cmp"
	"fmt"
	"strings"
)

// maxName is how long a tool's name may be. The protocol allows 128 characters,
// its conformance suite and some clients 64; and there are clients to which one
// longer name hides all tools of its server.
const maxName = 64

// isName reports whether every client takes s for part of a tool's name.
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

// withUnderscores is the spelling of a name that every client can send.
func withUnderscores(name string) string { return strings.ReplaceAll(name, ".", "_") }

// setTools puts the tools under all spellings of their names that a call may
// use. Two tools that share one are an error: which of them a call means would
// depend on the client. The dotted spellings are those of the library's tools.
func (a *Adapter) setTools(tools []Tool, dotted map[string]string) error {
	a.tools = tools
	a.byName = make(map[string]int, 2*len(tools))
	for i, t := range tools {
		switch {
		case !isName(t.Name, "."):
			return invalidOption(fmt.Sprintf(`the tool name %q is not legal; use letters, digits, "_", "-" and "."`, t.Name))
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
				return invalidOption(fmt.Sprintf("two tools are called %q; rename one, or use WithNamespace", t.Name))
			case other != i:
				return invalidOption(fmt.Sprintf("the tools %q and %q could both be meant by a call of %q; rename one", tools[other].Name, t.Name, spelling))
			}
		}
	}
	return nil
}

// Lookup returns the tool that a call by this name means, in any spelling that
// is accepted (see WithNamespace).
func (a *Adapter) Lookup(name string) (Tool, bool) {
	i, ok := a.byName[name]
	if !ok {
		return Tool{}, false
	}
	return a.tools[i], true
}
