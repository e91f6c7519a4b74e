package toolshelf

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Directive is a place where the author of a command asks the client to run a
// command or to read a file, and to insert the result. Rendering does neither. The
// program decides, and may refuse, ask the user, or replace
// Rendering.Text[Start:End], from the last directive to the first.
//
// Only the author's text has directives. The text of an argument never begins a
// directive, but may become a part of one, as in !`git diff $1`. FromArguments is
// then set: quote the text for the shell or refuse the directive, because the
// user wrote a part of it.
//
// Code has no directives. The blocks that Claude Code runs, which begin with
// ```!, are code too.
type Directive struct {
	Kind          DirectiveKind `json:"kind"`
	Start         int           `json:"start"`          // in bytes, in Rendering.Text
	End           int           `json:"end"`            // in bytes, after the last byte
	Text          string        `json:"text"`           // the shell command or the path, arguments filled in
	FromArguments bool          `json:"from_arguments"` // Text holds text of an argument
}

// DirectiveKind is the kind of a directive.
type DirectiveKind string

// The kinds of directives.
const (
	// DirectiveShell is !`command`, a command for a shell: an exclamation mark at
	// the beginning of a line or after a blank, as in Claude Code, and two backticks
	// on the same line. (OpenCode also takes KEY=!`command`, and a command of
	// several lines.)
	DirectiveShell DirectiveKind = "shell"

	// DirectiveFile is @path, a file to read: an at sign at the beginning of a line,
	// after a blank or after "(". The path ends before a blank, a comma, a
	// semicolon, a quote, a backtick, "<", ">", "|", or the punctuation of a Chinese
	// or Japanese sentence. Other punctuation at the end belongs to the sentence.
	// The path has a "/" or a ".", begins with "~", or holds an argument, as in @$1:
	// @param, @alice and an e-mail address are no directives. The package
	// @scope/name looks like a path and is a directive: check that the file exists.
	// The author chose the path, so read the file below the project's root only.
	DirectiveFile DirectiveKind = "file"
)

// shell yields the directive at the exclamation mark at i, if any, and the tokens
// in the command. shell returns the index of the text to scan next.
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

// file yields the directive at the at sign at i, if any, and the placeholders in
// the path. file returns the index of the text to scan next.
func (s *scanner) file(i, end int) int {
	if !s.opens(i, "(（") {
		return i + 1
	}
	s.yield(token{kind: fileStart, start: i})
	n, least := i+1, i+1 // least is the end of the last placeholder, which stays whole
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
				return i + 1 // @{path} is a form of Gemini CLI
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

// opens reports whether the index begins a line, or follows a blank or a character
// of after.
func (s *scanner) opens(i int, after string) bool {
	before, _ := utf8.DecodeLastRuneInString(s.text[:i])
	return i == 0 || unicode.IsSpace(before) || strings.ContainsRune(after, before)
}

// trimPunctuation cuts off the end of a sentence, of emphasis and of brackets.
// Brackets and asterisks of the path stay: app/(shop) and src/**.
func trimPunctuation(path string) string {
	unopened := map[rune]int{ // closing brackets minus opening brackets
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

// isPath reports whether the author's text after an at sign looks like a path.
func isPath(path string) bool {
	return strings.HasPrefix(path, "~") || strings.ContainsAny(path, "/.")
}
