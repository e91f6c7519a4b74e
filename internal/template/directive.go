package template

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Directive is the place of a shell command or of a file in a rendered text.
type Directive struct {
	Kind          Kind
	FromArguments bool // the directive holds text of an argument
	Start, End    int  // in bytes, in the rendered text
}

// A Kind is the kind of a directive.
type Kind uint8

// The kinds of directives.
const (
	Shell Kind = iota // !`command`
	File              // @path
)

// Text returns the command or the path of a directive in a rendered text.
func (d Directive) Text(rendered string) string {
	if d.Kind == Shell {
		return rendered[d.Start+len("!`") : d.End-len("`")]
	}
	return rendered[d.Start+len("@") : d.End]
}

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
			if strings.HasPrefix(s.text[n:end], "$$") {
				n += len("$$") // as in placeholder
				continue
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
