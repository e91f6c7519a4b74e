package template

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/markdown"
)

// A Directive is the place of a shell command or of a file in a rendered text.
type Directive struct {
	Shell         bool // a shell command, and otherwise a file
	Braces        bool // !{command} or @{path}
	FromArguments bool // the directive holds text of an argument
	Start, End    int  // in bytes, in the rendered text
}

// Kind returns the Kind of a toolshelf.Directive.
func (d Directive) Kind() string {
	if d.Shell {
		return "shell"
	}
	return "file"
}

// Text returns the command or the path of a directive in a rendered text.
func (d Directive) Text(rendered string) string {
	switch {
	case d.Braces:
		return strings.TrimSpace(rendered[d.Start+len("!{") : d.End-len("}")])
	case d.Shell:
		return rendered[d.Start+len("!`") : d.End-len("`")]
	}
	return rendered[d.Start+len("@") : d.End]
}

// Paths calls yield with the start and the end of each @path of a Markdown text, in order. Code has
// no paths.
func Paths(meter *markdown.Meter, text string, yield func(start, end int)) {
	start := 0
	s := scanner{text: text, forms: client.FilePath,
		rules: client.Rules{Code: client.CodeStays, Escape: client.NoEscape}, meter: meter, strict: true}
	s.yield = func(t token) {
		switch {
		case t.kind == fileStart:
			start = t.start
		case isPath(text[start+1 : t.end]):
			yield(start, t.end)
		}
	}
	s.scan()
}

// command yields the directive at the exclamation mark at i, if any, and the tokens
// in the command. command returns the index of the text to scan next.
func (s *scanner) command(i, end int) int {
	from := i + len("!`")
	switch {
	case from > end:
		return i + 1
	case s.text[i+1] == '{' && s.forms&client.ShellBraces != 0:
		return s.braces(shellStart, shellEnd, i, end)
	case s.text[i+1] != '`' || s.forms&client.ShellQuote == 0 || !s.opens(i, ""):
		return i + 1
	}
	stops := "`\n"
	if s.rules.Code == client.NoCode {
		stops = "`"
	}
	n := strings.IndexAny(s.text[from:end], stops)
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

// braces yields the directive !{command} or @{path} at i, and the tokens within. The braces are
// balanced. Without the closing brace, the whole text is invalid.
func (s *scanner) braces(first, last tokenKind, i, end int) int {
	from := i + len("!{")
	n, depth := from, 1
	for n < end && depth > 0 && s.meter.Add(1) {
		switch s.text[n] {
		case '{':
			depth++
		case '}':
			depth--
		}
		n++
	}
	if depth > 0 {
		s.unclosed = i
		return end
	}
	if strings.TrimSpace(s.text[from:n-1]) == "" {
		s.yield(token{kind: removedToken, start: i, end: n})
		return n
	}
	s.yield(token{kind: first, start: i, braces: true})
	s.shell = first == shellStart
	s.fill(from, n-1)
	s.shell = false
	s.yield(token{kind: last, end: n - 1, braces: true})
	return n
}

// file yields the directive at the at sign at i, if any, and the placeholders in
// the path. file returns the index of the text to scan next.
func (s *scanner) file(i, end int) int {
	if s.forms&client.FileBraces != 0 && strings.HasPrefix(s.text[i:end], "@{") {
		return s.braces(fileStart, fileEnd, i, end)
	}
	if s.forms&client.FilePath == 0 || !s.opens(i, "(（") {
		return i + 1
	}
	s.yield(token{kind: fileStart, start: i})
	n, least := i+1, i+1 // least is the end of the last placeholder, which stays whole
	brackets := false    // the path has a "（"
	for n < end && s.meter.Add(1) {
		switch c := s.text[n]; {
		case (c == '$' || c == '{') && s.match(n, end):
			s.put()
			n, least = s.found.end, s.found.end
			continue
		case c == '{' && n == i+1:
			return i + 1 // @{path} is another form
		case c == '$' && s.dollars(n, end):
			n += len("$$")
			continue
		}
		size := pathRune(s.text[n:end], brackets)
		if size == 0 || s.text[n] == '@' && n == i+1 {
			break
		}
		brackets = brackets || s.text[n:n+size] == "（"
		n += size
	}
	s.meter.Add(n - least)
	if trimmed := least + len(trimPunctuation(s.text[least:n])); trimmed > i+1 {
		s.yield(token{kind: fileEnd, end: trimmed})
	}
	return n
}

// pathRune returns the size of the first character of a text, or 0 if the character ends the path
// of a file. The argument brackets reports a "（" in the path.
func pathRune(text string, brackets bool) (size int) {
	if c := text[0]; c < utf8.RuneSelf {
		if c <= ' ' || strings.IndexByte("`,;\"'<>|\\", c) >= 0 {
			return 0
		}
		return 1
	}
	r, size := utf8.DecodeRuneInString(text)
	if unicode.IsSpace(r) || strings.ContainsRune("，。、；：！？", r) || r == '）' && !brackets {
		return 0
	}
	return size
}

// opens reports whether the index begins a line, or follows a blank or a character
// of after. In a text without code, a shell command may begin anywhere, and a file after any
// character other than a letter, a digit, "_" and a backtick.
func (s *scanner) opens(i int, after string) bool {
	if s.rules.Code == client.NoCode {
		return s.text[i] == '!' || i == 0 || !isWord(s.text[i-1]) && s.text[i-1] != '`'
	}
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
