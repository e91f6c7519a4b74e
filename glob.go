package toolshelf

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A glob is a pattern for names or for paths.
type glob struct {
	text    string // as given
	pattern string
	suffix  string // of a "*suffix" pattern for names, which most are
	path    bool   // it is for paths
	dirOnly bool
}

// newGlob checks a pattern. Those of FindFiles and Exclude are alike.
func newGlob(text string) (glob, error) {
	g := glob{text: text}
	g.pattern, g.dirOnly = strings.CutSuffix(strings.TrimPrefix(text, "./"), "/")
	g.path = strings.Contains(g.pattern, "/")
	g.pattern = strings.TrimPrefix(g.pattern, "/")
	switch {
	case g.pattern == "":
		return g, invalidPattern(text, "it is empty")
	case len(text) > maxGlob:
		return g, invalidPattern(text[:maxGlob], fmt.Sprintf("it is longer than %d bytes", maxGlob))
	case !doublestar.ValidatePattern(g.pattern):
		return g, invalidPattern(text, "it is not a well-formed glob")
	case alternatives(g.pattern) > maxAlternatives:
		return g, invalidPattern(text, fmt.Sprintf("its braces stand for more than %d patterns", maxAlternatives))
	}
	if rest, star := strings.CutPrefix(g.pattern, "*"); star && !g.path && !strings.ContainsAny(rest, `*?[]{}\`) {
		g.suffix = rest
	}
	return g, nil
}

// The matcher tries all combinations of alternatives one after the other, so
// a short pattern could keep it busy forever.
const (
	maxGlob         = 1000
	maxAlternatives = 1000
)

// alternatives is an upper bound of the patterns that braces stand for.
func alternatives(pattern string) int {
	n, inside := 1, 1
	for i := 0; i < len(pattern) && n <= maxAlternatives; i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			n *= inside
			inside = 1
		case ',':
			inside++
		case '}':
			n *= inside
			inside = 1
		}
	}
	return n * inside
}

func invalidPattern(text, why string) error {
	return &Error{Code: ErrInvalidPattern.Code, Path: text,
		Message: "the pattern '" + escapePath(text) + "' cannot be used: " + why}
}

// matches reports whether the glob is for the entry called name in dir, the
// path of a folder relative to the one asked for.
func (g *glob) matches(dir, name string, isDir bool) bool {
	switch {
	case g.dirOnly && !isDir:
		return false
	case g.suffix != "":
		return strings.HasSuffix(name, g.suffix)
	case g.path:
		return doublestar.MatchUnvalidated(g.pattern, joinPath(dir, name))
	default:
		return doublestar.MatchUnvalidated(g.pattern, name)
	}
}

// reach is how many levels down a match can be, 0 for any number, and the
// folders it must be in.
func (g *glob) reach() (depth int, base []string) {
	if !g.path {
		return 0, nil
	}
	dir, rest := doublestar.SplitPattern(g.pattern)
	if dir != "." {
		base = strings.Split(dir, "/")
	}
	// A brace may hold slashes of its own.
	if !strings.Contains(rest, "**") && !strings.ContainsAny(rest, "{[\\") {
		depth = len(base) + strings.Count(rest, "/") + 1
	}
	return depth, base
}

// globs match what one of them does.
type globs []glob

func (gs globs) matches(dir, name string, isDir bool) bool {
	for i := range gs {
		if gs[i].matches(dir, name, isDir) {
			return true
		}
	}
	return false
}

// joinPath puts a name below a folder, "" being the topmost.
func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
