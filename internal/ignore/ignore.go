// Package ignore decides which files .gitignore files ignore, as git does
// (https://git-scm.com/docs/gitignore). It touches no filesystem: the caller
// walks, and hands it the text of each .gitignore file that it meets.
//
// As in git, a file below an ignored folder is ignored whatever later
// patterns say; the caller sees to that by not entering the folder. Letter
// case counts, as it does for git with core.ignoreCase=false. Patterns match
// bytes, so that "?" is one byte of a character of several.
//
// Two stars that begin within an element and end it, as in "a**/b", are one
// star, as the manual has it; git itself takes "ab" to match that.
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
		if p, ok := parse(string(bytes.TrimSuffix(line, []byte("\r")))); ok {
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
// It takes time in proportion to the product of the lengths of path and
// patterns, whatever the patterns are.
func (r *Rules) Ignores(dir, name string, isDir bool) bool {
	path := name
	if dir != "" && r != nil {
		path = dir + "/" + name
	}
	for ; r != nil; r = r.above {
		below := path[len(r.dir):]
		for i := len(r.patterns) - 1; i >= 0; i-- {
			if p := &r.patterns[i]; p.matches(below, name, isDir) {
				return !p.negated
			}
		}
	}
	return false
}

// A pattern is one line of a .gitignore file.
type pattern struct {
	negated  bool
	dirOnly  bool
	anyDepth bool     // there is no slash in it: it is for base names
	suffix   string   // of a "*suffix" pattern at any depth, which most are
	segments []string // between the slashes; one of them where anyDepth
}

func parse(line string) (p pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line = trimBlanks(line)
	line, p.negated = strings.CutPrefix(line, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	if line == "" {
		return p, false
	}
	if p.anyDepth = !strings.Contains(line, "/"); p.anyDepth {
		p.segments = []string{line}
		if rest, star := strings.CutPrefix(line, "*"); star && !strings.ContainsAny(rest, `*?[\`) {
			p.suffix = rest
		}
		return p, true
	}
	p.segments = split(strings.TrimPrefix(line, "/"))
	return p, true
}

// trimBlanks cuts off the blanks at the end that no backslash quotes.
func trimBlanks(line string) string {
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

// split cuts a pattern at its slashes, except for those in brackets, which
// match nothing there.
func split(s string) []string {
	var segments []string
	begin := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i+1 < len(s) && s[i+1] != '/' {
				i++
			}
		case '[':
			if _, length := class(s[i:], 0); length > 0 {
				i += length - 1
			}
		case '/':
			end := i
			if i > begin && s[i-1] == '\\' {
				end-- // a quoted slash is a slash
			}
			segments = append(segments, s[begin:end])
			begin = i + 1
		}
	}
	return append(segments, s[begin:])
}

func (p *pattern) matches(path, base string, isDir bool) bool {
	switch {
	case p.dirOnly && !isDir:
		return false
	case p.suffix != "":
		return strings.HasSuffix(base, p.suffix)
	case p.anyDepth:
		return glob(p.segments[0], base)
	default:
		return matchSegments(p.segments, path)
	}
}

// isDoubleStar reports whether a segment stands for any number of folders.
func isDoubleStar(segment string) bool {
	return len(segment) > 1 && strings.Trim(segment, "*") == ""
}

// matchSegments matches a path element by element. Only the last "**" that
// was met is ever gone back to: one that comes later can take on all that an
// earlier one could.
func matchSegments(segments []string, path string) bool {
	resume, at := -1, ""
	i, rest, more := 0, path, true
	for {
		switch {
		case i == len(segments) && !more:
			return true
		case i < len(segments) && isDoubleStar(segments[i]):
			if i == len(segments)-1 {
				return more // what is below a folder, not the folder itself
			}
			i++
			resume, at = i, rest
			continue
		case i < len(segments) && more:
			element, after, slash := strings.Cut(rest, "/")
			if glob(segments[i], element) {
				i, rest, more = i+1, after, slash
				continue
			}
		}
		if resume < 0 {
			return false
		}
		_, after, slash := strings.Cut(at, "/")
		if !slash {
			return false
		}
		i, rest, more, at = resume, after, true, after
	}
}
