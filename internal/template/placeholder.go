package template

import (
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
)

// maxName bounds the length of the names that named looks up, in bytes.
const maxName = 64

// placeholder yields the token that begins with the dollar sign, the brace or the
// backslash at i, if any, and returns the index of the text to scan next.
func (s *scanner) placeholder(i, end int) int {
	if s.text[i] == '\\' {
		return s.backslash(i, end)
	}
	if t, ok := s.match(i, end); ok {
		s.yield(t)
		return t.end
	}
	if strings.HasPrefix(s.text[i:end], "$$") {
		return i + 2 // Codex CLI: a literal "$$", and $$1 is no placeholder
	}
	return i + 1
}

// backslash reads a run of backslashes and the byte after the run. In the run, each
// pair is an escaped backslash. A single backslash at the end escapes the byte
// after the run.
func (s *scanner) backslash(i, end int) int {
	n := markdown.Run(s.text[i:end])
	s.meter.Add(n)
	i += n
	if n%2 == 0 || i == end || s.text[i] == '{' { // a brace is not escaped
		return i
	}
	if s.text[i] == '$' && (s.resembles(i, end) || i+1 < end && s.text[i+1] == '$' && s.resembles(i+1, end)) {
		s.yield(token{kind: escapeToken, start: i - 1, end: i})
	}
	return i + 1
}

// resembles reports whether the dollar sign at i can be escaped. A dollar sign can be
// escaped at the beginning of a placeholder, and before a digit while numbers are
// placeholders.
func (s *scanner) resembles(i, end int) bool {
	if i+1 < end && isDigit(s.text[i+1]) {
		return s.numbers()
	}
	_, ok := s.match(i, end)
	return ok
}

// numbers reports whether $1 is a placeholder at the current position. In code,
// $1 is a shell variable, unless InCode is set.
func (s *scanner) numbers() bool { return s.inCode || !s.code }

// match returns the placeholder at i, if any.
func (s *scanner) match(i, end int) (token, bool) {
	const all, args, input = "ARGUMENTS", "{{args}}", "${input:"
	text := s.text[i:end]
	switch {
	case strings.HasPrefix(text, args):
		return token{kind: allToken, start: i, end: i + len(args)}, true
	case len(text) < 2 || text[0] != '$':
	case isDigit(text[1]):
		if s.numbers() {
			return s.number(i, text)
		}
	case strings.HasPrefix(text, input):
		return s.input(i+len(input), end, i)
	case isWord(text[1]):
		n := 2
		for n < len(text) && isWord(text[n]) {
			n++
		}
		s.meter.Add(n)
		if text[1:n] != all {
			return s.named(i, text)
		}
		if index, width := s.bracketed(text[n:]); width > 0 {
			return token{kind: indexToken, start: i, end: i + n + width, index: index}, true
		}
		return token{kind: allToken, start: i, end: i + n}, true
	}
	return token{}, false
}

// number reads $1. A number is text if a word, a decimal or a thousands separator follows:
// $1st, $5k, $1.50 and $1,000.
func (s *scanner) number(i int, text string) (token, bool) {
	n := 1 + digits(text[1:])
	s.meter.Add(n)
	if n < len(text) && isWord(text[n]) || n+1 < len(text) && (text[n] == '.' || text[n] == ',') && isDigit(text[n+1]) {
		return token{}, false
	}
	index, ok := argumentNumber(text[1:n])
	if !s.zero {
		index--
	}
	return token{kind: indexToken, start: i, end: i + n, index: index}, ok && index >= 0
}

// bracketed reads the [0] of $ARGUMENTS[0]. The width is 0 for any other text.
func (s *scanner) bracketed(text string) (index, width int) {
	if !strings.HasPrefix(text, "[") {
		return 0, 0
	}
	n := 1 + digits(text[1:])
	s.meter.Add(n)
	index, ok := argumentNumber(text[1:n])
	if !ok || n == len(text) || text[n] != ']' {
		return 0, 0
	}
	return index, n + 1
}

// argumentNumber parses the number of an argument: up to six digits without
// leading zeros.
func argumentNumber(text string) (number int, ok bool) {
	if text == "" || len(text) > 6 || text[0] == '0' && len(text) > 1 || digits(text) < len(text) {
		return 0, false
	}
	for i := range len(text) {
		number = 10*number + int(text[i]-'0')
	}
	return number, true
}

// digits returns the number of digits at the beginning of s.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// named reads $name. A name may contain hyphens, and the longest known name wins:
// $issue-id is issue-id if known, and otherwise issue followed by "-id".
func (s *scanner) named(i int, text string) (token, bool) {
	n := 1
	for n < len(text) && n <= maxName+1 && (isWord(text[n]) || text[n] == '-') {
		n++
	}
	if n > maxName+1 {
		n = strings.LastIndexByte(text[:n], '-')
	}
	for n > 1 {
		s.meter.Add(n)
		if name := text[1:n]; s.known(name) {
			return token{kind: nameToken, start: i, end: i + n, name: name}, true
		}
		n = strings.LastIndexByte(text[:n], '-')
	}
	return token{}, false
}

// input reads name} or name:hint} at i, after "${input:", on one line. The "$" at
// start begins the placeholder. A name contains no "$", so input examines an invalid name
// only up to the next "${input:". input examines a hint only after a valid name.
func (s *scanner) input(i, end, start int) (token, bool) {
	if s.stop < i {
		s.stop = len(s.text)
		if n := strings.IndexAny(s.text[i:], "}\n"); n >= 0 {
			s.stop = i + n
		}
		s.meter.Add(s.stop - i)
	}
	if s.stop >= end || s.text[s.stop] == '\n' {
		return token{}, false
	}
	name, hint, _ := strings.Cut(s.text[i:s.stop], ":")
	s.meter.Add(len(name))
	if name = strings.TrimSpace(name); name == "" || strings.ContainsAny(name, "${") {
		return token{}, false
	}
	s.meter.Add(len(hint))
	return token{kind: inputToken, start: start, end: s.stop + 1, name: name, hint: strings.TrimSpace(hint)}, true
}

func isWord(c byte) bool {
	return isDigit(c) || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
