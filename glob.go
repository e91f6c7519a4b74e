package toolshelf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A glob is a pattern for names or for paths.
type glob struct {
	text         string // as given
	pattern      string
	alternatives []alternative // what the braces stand for
	size         int           // bytes of alternatives
	path         bool          // it is for paths
	dirOnly      bool
}

// An alternative is a pattern without braces.
type alternative struct {
	pattern string
	path    bool   // it is for paths
	suffix  string // of a "*suffix" pattern for names, which most are
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
	}
	patterns, _, ok := expand(g.pattern, false)
	if !ok {
		return g, invalidPattern(text, fmt.Sprintf("its braces stand for more than %d patterns or %d bytes", maxAlternatives, maxExpansion))
	}
	for _, pattern := range patterns {
		g.size += len(pattern)
		g.alternatives = append(g.alternatives, newAlternative(pattern, g.path))
	}
	return g, nil
}

func newAlternative(pattern string, path bool) alternative {
	// At any depth, a name is enough.
	if name, deep := strings.CutPrefix(pattern, "**/"); deep && !strings.Contains(name, "/") {
		pattern, path = name, false
	}
	a := alternative{pattern: pattern, path: path}
	if rest, star := strings.CutPrefix(pattern, "*"); star && !path && !strings.ContainsAny(rest, `*?[]{}\`) {
		a.suffix = rest
	}
	return a
}

const (
	maxGlob         = 1000     // bytes of a pattern
	maxAlternatives = 1000     // patterns that the braces of a pattern stand for
	maxExpansion    = 64 << 10 // bytes of all patterns of a call, each with all its alternatives
)

// expand returns the patterns that a pattern with braces stands for, each once.
// Inside braces, expand stops before the comma or the brace that ends an
// alternative, and returns the rest. It reports false if there are too many.
func expand(pattern string, inside bool) (patterns []string, rest string, ok bool) {
	patterns = []string{""}
	for pattern != "" {
		n := 0 // how much of pattern is plain
		switch c := pattern[0]; {
		case inside && (c == ',' || c == '}'):
			return patterns, pattern, true
		case c == '{':
			var alternatives []string
			for pattern != "" && pattern[0] != '}' {
				some, rest, ok := expand(pattern[1:], true)
				if !ok {
					return nil, "", false
				}
				alternatives, pattern = append(alternatives, some...), rest
			}
			if pattern != "" {
				pattern = pattern[1:]
			}
			if patterns = product(patterns, unique(alternatives)); patterns == nil {
				return nil, "", false
			}
			continue
		case c == '\\':
			n = 2
		case c == '[':
			n = classLength(pattern)
		default:
			if n = strings.IndexAny(pattern[1:], `{,}[\`) + 1; n == 0 {
				n = len(pattern)
			}
		}
		if patterns = product(patterns, []string{pattern[:min(n, len(pattern))]}); patterns == nil {
			return nil, "", false
		}
		pattern = pattern[min(n, len(pattern)):]
	}
	return patterns, "", true
}

// product returns each of a followed by each of b, and nil if there are too
// many.
func product(a, b []string) []string {
	if len(a)*len(b) > maxAlternatives {
		return nil
	}
	all := make([]string, 0, len(a)*len(b))
	size := 0
	for _, x := range a {
		for _, y := range b {
			if size += len(x) + len(y); size > maxExpansion {
				return nil
			}
			all = append(all, concat(x, y))
		}
	}
	return unique(all)
}

// concat joins two patterns. A star on each side of a brace is one star, and
// not "**".
func concat(x, y string) string {
	before := strings.TrimRight(x, "*")
	stars := len(x) - len(before)
	if escaped := len(before) - len(strings.TrimRight(before, `\`)); stars > 0 && escaped%2 == 1 {
		stars--
	}
	for ; stars > 0 && strings.HasPrefix(y, "*"); stars-- {
		y = y[1:]
	}
	return x + y
}

// unique removes the strings that an earlier one is equal to.
func unique(all []string) []string {
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(s string) bool {
		if seen[s] {
			return true
		}
		seen[s] = true
		return false
	})
}

// classLength is the length of the bracket expression at the beginning of a
// pattern.
func classLength(pattern string) int {
	for i := 1; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return len(pattern)
}

func invalidPattern(text, why string) error {
	return &Error{Code: ErrInvalidPattern.Code, Path: text,
		Message: "the pattern '" + escape.Path(text) + "' cannot be used: " + why}
}

// A meter counts the steps of a computation, and looks at the context from time
// to time.
type meter struct {
	ctx   context.Context
	steps int
}

// spend adds steps. It returns the context's error if the computation should
// end.
func (m *meter) spend(steps int) error {
	const stepsPerCheck = 1 << 16
	if m.steps += steps; m.steps < stepsPerCheck {
		return nil
	}
	m.steps = 0
	return m.ctx.Err()
}

// matches reports whether the glob is for the entry called name in dir, the
// path of a folder relative to the one asked for. The error is the context's.
func (g *glob) matches(m *meter, dir, name string, isDir bool) (bool, error) {
	if g.dirOnly && !isDir {
		return false, nil
	}
	path := ""
	for i := range g.alternatives {
		a := &g.alternatives[i]
		if a.suffix != "" {
			if strings.HasSuffix(name, a.suffix) {
				return true, nil
			}
			continue
		}
		text := name
		if a.path {
			if path == "" {
				path = joinPath(dir, name)
			}
			text = path
		}
		if doublestar.MatchUnvalidated(a.pattern, text) {
			return true, nil
		}
		if err := m.spend(len(a.pattern) * len(text)); err != nil {
			return false, err
		}
	}
	return false, nil
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

func (gs globs) matches(m *meter, dir, name string, isDir bool) (bool, error) {
	for i := range gs {
		if ok, err := gs[i].matches(m, dir, name, isDir); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// joinPath puts a name below a folder, "" being the topmost.
func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
