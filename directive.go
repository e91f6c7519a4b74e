package toolshelf

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Directive is a place where a command's author asks the client to run a
// command or to read a file, and to put what comes out in its place. Rendering
// does neither: the program decides, and may refuse, ask its user, or replace
// Rendering.Text[Start:End], from the last directive to the first.
//
// Directives are found in the author's text only. What an argument holds never
// makes one, whatever it looks like. It may become part of one, as in
// !`git diff $1`, and then FromArguments is set: such a text must be quoted for
// the shell, or refused, since whoever gave the argument wrote part of it.
//
// There are none in code, be it a command's own documentation or one of the
// blocks that Claude Code runs, which begin with ```!.
type Directive struct {
	Kind          DirectiveKind `json:"kind"`
	Start         int           `json:"start"`          // in bytes, in Rendering.Text
	End           int           `json:"end"`            // likewise, after the last byte
	Text          string        `json:"text"`           // the shell command or the path, arguments filled in
	FromArguments bool          `json:"from_arguments"` // Text holds text of an argument
}

// DirectiveKind says what a directive asks for.
type DirectiveKind string

// What a directive can ask for.
const (
	// DirectiveShell is !`command`, to be run by a shell: the exclamation mark
	// at the beginning of a line or after a blank, as in Claude Code, one
	// backtick, and the other one on the same line. (OpenCode also takes
	// KEY=!`command`, and a command of several lines.)
	DirectiveShell DirectiveKind = "shell"

	// DirectiveFile is @path, to be read: the at sign at the beginning of a
	// line, after a blank or after "(". The path goes as far as a blank, a
	// comma, a semicolon, a quote, a backtick, "<", ">", "|", or what ends a
	// sentence or a part of it in Chinese or Japanese; other punctuation at its
	// end belongs to the sentence. It has a "/" or a ".", begins with "~", or
	// holds an argument, as in @$1: so @param, @alice and an e-mail address are
	// none. What looks like a path and is none, such as the package
	// @scope/name, is one here: look whether there is such a file. The path is
	// the author's, so read it below the project's root only.
	DirectiveFile DirectiveKind = "file"
)

// shell yields the directive that begins with the exclamation mark at i, if
// one does, and what is in it. It returns where to go on.
func (s *scanner) shell(i, end int) int {
	from := i + len("!`")
	if !s.opens(i, "") || from > end || s.text[i+1] != '`' {
		return i + 1
	}
	n := strings.IndexAny(s.text[from:end], "`\n")
	if n < 0 {
		s.meter.Add(end - from)
		return i + 1
	}
	s.meter.Add(n)
	if s.text[from+n] == '\n' || strings.TrimSpace(s.text[from:from+n]) == "" {
		return i + 1
	}
	s.yield(token{kind: shellStart, start: i})
	s.fill(from, from+n)
	s.yield(token{kind: shellEnd, end: from + n})
	return from + n + 1
}

// file yields the directive that begins with the at sign at i, if one may, and
// the placeholders in it. It returns where to go on.
func (s *scanner) file(i, end int) int {
	if !s.opens(i, "(（") {
		return i + 1
	}
	s.yield(token{kind: fileStart, start: i})
	n, least := i+1, i+1 // least is the end of the last placeholder, which no punctuation is cut off
	brackets := false    // the path has a "（"
	for n < end && s.meter.Add(1) {
		c := s.text[n]
		if c == '$' || c == '{' {
			if t, ok := s.match(n, end); ok {
				s.yield(t)
				n, least = t.end, t.end
				continue
			}
			if c == '{' && n == i+1 {
				return i + 1 // @{path} is a form of Gemini CLI's
			}
		}
		if c <= ' ' || c == '@' && n == i+1 || strings.IndexByte("`,;\"'<>|\\", c) >= 0 {
			break
		}
		if c < utf8.RuneSelf {
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(s.text[n:end])
		if unicode.IsSpace(r) || strings.ContainsRune("，。、；：！？", r) || r == '）' && !brackets {
			break
		}
		brackets = brackets || r == '（'
		n += size
	}
	s.meter.Add(n - least)
	if trimmed := least + len(trimPunctuation(s.text[least:n])); trimmed > i+1 {
		s.yield(token{kind: fileEnd, end: trimmed})
	}
	return n
}

// opens reports whether what is at i begins a line or follows a blank or one of
// these other characters.
func (s *scanner) opens(i int, after string) bool {
	before, _ := utf8.DecodeLastRuneInString(s.text[:i])
	return i == 0 || unicode.IsSpace(before) || strings.ContainsRune(after, before)
}

// trimPunctuation cuts off what ends a sentence, emphasis or brackets around.
// Brackets and asterisks of the path itself stay: app/(shop) and src/**.
func trimPunctuation(path string) string {
	unopened := map[rune]int{ // how many more of a closing bracket there are than of its opening one
		')': strings.Count(path, ")") - strings.Count(path, "("),
		']': strings.Count(path, "]") - strings.Count(path, "["),
		'}': strings.Count(path, "}") - strings.Count(path, "{"),
		'）': strings.Count(path, "）") - strings.Count(path, "（"),
	}
	for {
		r, size := utf8.DecodeLastRuneInString(path)
		switch {
		case r == '*':
			rest := strings.TrimRight(path, "*")
			if strings.HasSuffix(rest, "/") {
				return path
			}
			path = rest
			continue
		case r == ')' || r == ']' || r == '}' || r == '）':
			if unopened[r] <= 0 {
				return path
			}
			unopened[r]--
		case size == 0 || !strings.ContainsRune(".:!?」』】", r):
			return path
		}
		path = path[:len(path)-size]
	}
}

// isPath reports whether what an author wrote after an at sign looks like a
// path.
func isPath(path string) bool {
	return strings.HasPrefix(path, "~") || strings.ContainsAny(path, "/.")
}
