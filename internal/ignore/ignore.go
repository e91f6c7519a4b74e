// Package ignore decides which files .gitignore files ignore, as git does
// (https://git-scm.com/docs/gitignore). It touches no filesystem: the caller
// walks, and hands it the text of each .gitignore file that it meets.
//
// As in git, a file below an ignored folder is ignored whatever later
// patterns say; the caller sees to that by not entering the folder. Letter
// case counts, as it does for git with core.ignoreCase=false. Patterns match
// bytes, so that "?" is one byte of a character of several.
//
// Two stars after literal text and at the end of an element, as in "a**/b",
// match any number of directories, as in git up to version 2.51. In git 2.52
// and later these two stars are one star. After a wildcard, as in "?**/b", two
// stars are one star in every version.
//
// Not supported are .git/info/exclude, core.excludesFile and whether a file is
// tracked. They belong to one user's checkout, not to the files.
package ignore

import (
	"bytes"
	"strings"
)

// Rules are those of the .gitignore files of a folder and of the folders
// above it. Rules never change, and nil are none.
type Rules struct {
	above    *Rules
	dir      string // the folder's path, ending in a slash; "" for the topmost
	patterns []pattern
}

// Add returns the rules for a folder that has a .gitignore file of this text.
// The dir is the folder's path, slash-separated, relative to the folder that
// all paths are relative to, and "" for that folder itself.
func (r *Rules) Add(dir string, text []byte) *Rules {
	if dir != "" {
		dir += "/"
	}
	added := &Rules{above: r, dir: dir}
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		line, _, _ = bytes.Cut(line, []byte{0}) // git reads lines as C strings
		if p, ok := parse(string(line)); ok {
			added.patterns = append(added.patterns, p)
		}
	}
	if len(added.patterns) == 0 {
		return r
	}
	return added
}

// Ignores reports whether the rules ignore the entry called name in the
// folder dir, given as in Add. The last pattern that matches decides, those
// of the nearest file first. The folder itself is taken not to be ignored.
//
// The time is in proportion to the product of the lengths of path and patterns,
// whatever the patterns are. Ignores calls spend with the steps of each pattern,
// and returns the error of spend.
func (r *Rules) Ignores(dir, name string, isDir bool, spend func(steps int) error) (bool, error) {
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
			if p.matches(text) {
				return !p.negated, nil
			}
			if err := spend(1 + len(p.rest)*len(text)); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// A pattern is one line of a .gitignore file.
//
// Git compares the text before the first wildcard byte by byte, and matches the
// rest of the pattern with the rest of the path. The split decides what "**" in
// the rest means, so a pattern here has the same split.
type pattern struct {
	negated  bool
	dirOnly  bool
	anyDepth bool    // the pattern has no slash: match base names
	literal  string  // the text before the first wildcard
	rest     []token // the pattern after literal
	endsWith bool    // the pattern is "*" and then suffix
	suffix   string
}

const wildcards = `*?[\`

// parse reads one line. It reports false for a line that matches nothing.
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

// matches reports whether the pattern matches text: a base name for a pattern
// without a slash, otherwise a path relative to the directory of the pattern.
func (p *pattern) matches(text string) bool {
	if p.endsWith {
		return strings.HasSuffix(text, p.suffix)
	}
	text, ok := strings.CutPrefix(text, p.literal)
	return ok && matchTokens(p.rest, text)
}
