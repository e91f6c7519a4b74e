// Package ignore reports which files are ignored by .gitignore files, with the rules of git
// (https://git-scm.com/docs/gitignore). The caller passes the text of each .gitignore file.
//
// As in git, a file below an ignored directory is ignored regardless of later
// patterns. The caller ensures this rule by not entering ignored directories.
// Letter case counts, as in git with core.ignoreCase=false. Patterns match
// bytes, and therefore "?" matches a single byte of a multibyte character.
//
// Two stars after literal text and at the end of an element, as in "a**/b",
// match any number of directories, as in git up to version 2.51. In git 2.52 and
// later these two stars are equivalent to a single star. After a wildcard, as in
// "?**/b", two stars are equivalent to a single star in every version.
//
// The package does not support .git/info/exclude and core.excludesFile, and does not know whether
// a file is tracked.
package ignore

import (
	"bytes"
	"strings"
)

// Rules are the rules of the .gitignore files of a directory and of the
// directories above. Rules are immutable. Nil Rules ignore nothing.
type Rules struct {
	above    *Rules
	dir      string // the directory's path with a trailing slash; "" for the topmost
	patterns []pattern
	width    int // of all patterns, also of the patterns above
}

// MaxWidth bounds the steps for each byte of a path: the sum of the lengths of the patterns
// with stars in Rules. Patterns such as "*.log" and patterns without a star do not count.
const MaxWidth = 32 << 10

// Add returns the rules for a directory with a .gitignore file that has this
// text. The path dir is slash-separated and relative to the topmost directory,
// whose own path is "". All other paths are relative to the topmost directory,
// too. Add skips and counts the patterns with stars beyond MaxWidth.
func (r *Rules) Add(dir string, text []byte) (rules *Rules, skipped int) {
	if dir != "" {
		dir += "/"
	}
	added := &Rules{above: r, dir: dir}
	if r != nil {
		added.width = r.width
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		line, _, _ = bytes.Cut(line, []byte{0}) // git reads lines as C strings
		p, ok := parse(string(line))
		switch {
		case !ok:
		case p.width > 1 && added.width+p.width > MaxWidth:
			skipped++
		default:
			if p.width > 1 {
				added.width += p.width
			}
			added.patterns = append(added.patterns, p)
		}
	}
	if len(added.patterns) == 0 {
		return r, skipped
	}
	return added, skipped
}

// Ignores reports whether the rules ignore the entry called name in the
// directory dir. See [Rules.Add] for dir. The last matching pattern decides, and
// the patterns of the nearest file precede all others. Ignores assumes that the
// directory itself is not ignored.
//
// The time is proportional to the product of the lengths of path and patterns,
// for any patterns. Ignores calls spend with the steps of each pattern, and returns false early
// if spend returns false.
func (r *Rules) Ignores(dir, name string, isDir bool, spend func(steps int) bool) bool {
	path := ""
	for ; r != nil; r = r.above {
		for i := len(r.patterns) - 1; i >= 0; i-- {
			p := &r.patterns[i]
			if p.dirOnly && !isDir {
				continue
			}
			text := name
			if !p.anyDepth {
				if path == "" {
					path = join(dir, name)
				}
				text = path[len(r.dir):]
			}
			matched, steps := p.matches(text)
			if matched {
				return !p.negated
			}
			if !spend(steps) {
				return false
			}
		}
	}
	return false
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// A pattern is a line of a .gitignore file.
//
// Git compares the text before the first wildcard byte by byte, and matches the
// rest of the pattern with the rest of the path. The split decides the meaning
// of "**" in the rest. Therefore a pattern here has the same split.
type pattern struct {
	negated  bool
	dirOnly  bool
	anyDepth bool    // the pattern has no slash: match base names
	literal  string  // the text before the first wildcard
	rest     []token // the pattern after literal
	least    int     // bytes that rest matches at least
	width    int     // tokens of rest to compare with a byte, at most
	endsWith bool    // the pattern is "*" and then suffix
	suffix   string
}

const wildcards = `*?[\`

// parse reads a line. If the line matches nothing, parse returns false.
func parse(line string) (p pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line = trimSpaces(line)
	line, p.negated = strings.CutPrefix(line, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.anyDepth = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	if rest, star := strings.CutPrefix(line, "*"); star && p.anyDepth && !strings.ContainsAny(rest, wildcards) {
		p.endsWith, p.suffix = true, rest
		return p, true
	}
	n := strings.IndexAny(line, wildcards)
	if n < 0 {
		n = len(line)
	}
	p.literal = line[:n]
	p.rest, ok = compile(line[n:])
	p.least, p.width = measure(p.rest)
	return p, ok
}

// trimSpaces removes the trailing spaces that no backslash precedes.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
		} else if line[i] == ' ' {
			continue
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// matches reports whether the pattern matches text, and returns an upper bound of the steps. For
// a pattern without a slash, text is a base name. For any other pattern, text is a path
// relative to the directory of the pattern.
func (p *pattern) matches(text string) (matched bool, steps int) {
	if p.endsWith {
		return strings.HasSuffix(text, p.suffix), 1
	}
	text, ok := strings.CutPrefix(text, p.literal)
	if !ok || len(text) < p.least {
		return false, 1
	}
	return matchTokens(p.rest, text), 1 + p.width*len(text)
}
