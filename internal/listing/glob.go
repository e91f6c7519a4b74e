package listing

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// A Glob is a pattern for names or, if the pattern contains a slash, for paths.
type Glob struct {
	text         string // as given
	pattern      string
	alternatives []alternative // the pattern with its braces expanded
	size         int           // bytes of alternatives
	path         bool          // the pattern matches paths, not names
	dirOnly      bool
}

// String returns the pattern as given.
func (g *Glob) String() string { return g.text }

// Size returns the total length in bytes of the patterns after brace expansion.
func (g *Glob) Size() int { return g.size }

// An alternative is a pattern without braces.
type alternative struct {
	pattern string
	path    bool // the pattern matches paths, not names
}

// QuoteGlob returns the glob of a path, also within braces.
func QuoteGlob(name string) string { return quoted.Replace(name) }

var quoted = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, ",", `\,`)

// ParseGlob parses a pattern in the syntax of doublestar. A pattern without a slash
// matches names at any depth. A slash at the end restricts a pattern to directories.
func ParseGlob(text string) (Glob, error) {
	g := Glob{text: text}
	g.pattern, g.dirOnly = strings.CutSuffix(strings.TrimPrefix(text, "./"), "/")
	g.path = strings.Contains(g.pattern, "/")
	g.pattern = strings.TrimPrefix(g.pattern, "/")
	switch {
	case g.pattern == "":
		return g, errors.New("the pattern is empty")
	case len(text) > MaxGlob:
		return g, fmt.Errorf("the pattern is longer than %d bytes; use a shorter pattern", MaxGlob)
	case !doublestar.ValidatePattern(g.pattern):
		return g, errors.New("the glob is malformed; close each bracket and each brace")
	}
	patterns, _, ok := expand(g.pattern, false)
	if !ok {
		return g, fmt.Errorf("the braces expand to more than %d patterns or %d bytes; use fewer braces",
			maxAlternatives, MaxExpansion)
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
	return alternative{pattern, path}
}

// isWild has the bytes that may stand for another byte. All bytes of other characters than ASCII
// are the same to doublestar if a text is not UTF-8.
var isWild = func() (wild [256]bool) {
	for c := range wild {
		wild[c] = c >= utf8.RuneSelf || strings.IndexByte(`*?[]{}\`, byte(c)) >= 0
	}
	return wild
}()

// literal compares the literal beginning and end of the pattern with a text, which decides most
// comparisons: possible is false if the pattern does not match, and certain is true if the pattern
// matches.
func (a *alternative) literal(text string) (possible, certain bool) {
	p := a.pattern
	i := 0
	for ; i < len(p) && !isWild[p[i]]; i++ {
		if i == len(text) || text[i] != p[i] {
			if p[i] == '/' && strings.HasPrefix(p[i+1:], "**") {
				break // a/** matches a
			}
			return false, false
		}
	}
	if i == len(p) {
		return len(text) == len(p), true
	}
	end := len(text)
	for i = len(p); i > 0 && !isWild[p[i-1]]; i, end = i-1, end-1 {
		if end == 0 || text[end-1] != p[i-1] {
			if p[i-1] == '/' && strings.HasSuffix(p[:i-1], "**") {
				break // **/a matches a
			}
			return false, false
		}
	}
	return true, i == 1 && p[0] == '*' && !a.path
}

// matches reports whether the pattern matches a text, and returns the steps that a comparison beyond
// the literal ends can take.
func (a *alternative) matches(text string) (matches bool, steps int) {
	switch possible, certain := a.literal(text); {
	case !possible:
		return false, 0
	case certain:
		return true, 0
	default:
		return doublestar.MatchUnvalidated(a.pattern, text), len(a.pattern) * len(text)
	}
}

const (
	MaxGlob         = 1000     // bytes of a pattern
	MaxExpansion    = 64 << 10 // total Size of the globs of a call
	maxAlternatives = 1000     // patterns after brace expansion of a pattern
)

// expand returns the distinct patterns after brace expansion. Inside braces, expand stops
// before the comma or the brace at the end of an alternative, and returns the rest. If the
// expansion has too many patterns, expand returns false.
func expand(pattern string, inside bool) (patterns []string, rest string, ok bool) {
	patterns = []string{""}
	for pattern != "" {
		n := 0 // length of the plain beginning of pattern
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
		n = min(n, len(pattern))
		if patterns = product(patterns, []string{pattern[:n]}); patterns == nil {
			return nil, "", false
		}
		pattern = pattern[n:]
	}
	return patterns, "", true
}

// product returns the distinct concatenations of each element of a with each element of b, or nil
// if the result has too many elements or bytes. The limits apply to each step of an expansion, so
// that a pattern that is too long for them costs little.
func product(a, b []string) []string {
	if len(a)*len(b) > maxAlternatives {
		return nil
	}
	all := make([]string, 0, len(a)*len(b))
	size := 0
	for _, x := range a {
		for _, y := range b {
			if size += len(x) + len(y); size > MaxExpansion {
				return nil
			}
			all = append(all, concat(x, y))
		}
	}
	return unique(all)
}

// concat joins two patterns. Two stars at both sides of a brace become a single star, not
// "**".
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

// unique removes duplicates.
func unique(all []string) []string {
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(s string) bool {
		known := seen[s]
		seen[s] = true
		return known
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

// A meter counts the steps of comparisons, and checks the context from time to time. After the end
// of the context, no comparison is complete.
type meter struct {
	ctx   context.Context
	err   error // of ctx
	steps int
	seen  int // entries of a directory, until reader.see
}

// spend adds steps, and reports whether the comparison may continue.
func (m *meter) spend(steps int) bool {
	const stepsPerCheck = 1 << 16
	if m.steps += steps; m.steps >= stepsPerCheck {
		m.steps, m.err = 0, m.ctx.Err()
	}
	return m.err == nil
}

// matches reports whether the glob matches an entry of dir, the path of a directory
// relative to the directory of the call.
func (g *Glob) matches(m *meter, dir, name string, isDir bool) bool {
	if g.dirOnly && !isDir || m.err != nil {
		return false
	}
	full := ""
	for i := range g.alternatives {
		a := &g.alternatives[i]
		text := name
		if a.path {
			if full == "" {
				full = joinPath(dir, name)
			}
			text = full
		}
		matches, steps := a.matches(text)
		if matches || !m.spend(steps) {
			return matches
		}
	}
	return false
}

// reach returns the number of levels that can contain a match, or 0 for all levels,
// and the directories that contain every match.
func (g *Glob) reach() (depth int, base []string) {
	if !g.path {
		return 0, nil
	}
	dir, rest := doublestar.SplitPattern(g.pattern)
	if dir != "." {
		base = strings.Split(dir, "/")
	}
	// Braces may contain slashes.
	if !strings.Contains(rest, "**") && !strings.ContainsAny(rest, "{[\\") {
		depth = len(base) + strings.Count(rest, "/") + 1
	}
	return depth, base
}

// reachOf is reach for files that match at least one of several globs, or all files without
// globs.
func reachOf(globs []Glob) (depth int, base []string) {
	for i := range globs {
		levels, dirs := globs[i].reach()
		if i == 0 {
			depth, base = levels, dirs
			continue
		}
		if depth > 0 && levels > 0 {
			depth = max(depth, levels)
		} else {
			depth = 0
		}
		common := 0
		for common < min(len(base), len(dirs)) && base[common] == dirs[common] {
			common++
		}
		base = base[:common]
	}
	return depth, base
}

// matchesAny reports whether any of the globs matches an entry, as matches does.
func matchesAny(globs []Glob, m *meter, dir, name string, isDir bool) bool {
	for i := range globs {
		if globs[i].matches(m, dir, name, isDir) {
			return true
		}
	}
	return false
}

// Globs are compiled globs for the paths of files, in little memory. The zero value matches no
// file.
type Globs struct {
	patterns string // of all alternatives
	ends     []end
}

// An end is the end of an alternative in Globs.patterns.
type end struct {
	at   uint32
	path bool
}

// NewGlobs returns the globs of a list. The sizes of the globs are together less than 4 GiB.
func NewGlobs(list []Glob) Globs {
	var patterns strings.Builder
	var ends []end
	for _, g := range list {
		for _, a := range g.alternatives {
			patterns.WriteString(a.pattern)
			ends = append(ends, end{uint32(patterns.Len()), a.path})
		}
	}
	return Globs{strings.Clone(patterns.String()), slices.Clip(ends)}
}

// Size returns the memory of the globs in bytes.
func (s *Globs) Size() int64 { return int64(len(s.patterns)) + int64(cap(s.ends))*8 }

// ErrTooManySteps reports the end of the allowance of Globs.Match.
var ErrTooManySteps = errors.New("the globs take too many steps")

// Match reports whether any of the globs matches the path of a file. A comparison takes at most
// left steps, of which Match subtracts the steps that the comparison can take.
func (s *Globs) Match(name string, left *int) (bool, error) {
	base, start := path.Base(name), uint32(0)
	for _, e := range s.ends {
		a, text := alternative{s.patterns[start:e.at], e.path}, name
		if start = e.at; !e.path {
			text = base
		}
		matches, steps := a.matches(text)
		*left -= len(a.pattern)
		if matches {
			return true, nil
		}
		if *left -= steps; *left < 0 {
			return false, ErrTooManySteps
		}
	}
	return false, nil
}

// joinPath joins a name to the path of a directory, which may be "".
func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
