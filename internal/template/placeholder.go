package template

import (
	"regexp"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/markdown"
)

// maxName bounds the length of the names of $name and ${NAME}, in bytes.
const maxName = 64

// placeholder yields the token that begins with the dollar sign, the brace or the
// backslash at i, if any, and returns the index of the text to scan next.
func (s *scanner) placeholder(i, end int) int {
	if s.text[i] == '\\' {
		return s.backslash(i, end)
	}
	if s.match(i, end) {
		s.put()
		return s.found.end
	}
	if s.dollars(i, end) {
		return i + len("$$")
	}
	return i + 1
}

// put yields the placeholder that match has found.
func (s *scanner) put() {
	s.found.code, s.found.shell = s.code, s.shell
	s.yield(s.found)
}

// dollars reports whether the text at i is an escaped dollar sign: a literal "$$", and $$1 is no
// placeholder.
func (s *scanner) dollars(i, end int) bool {
	return s.rules.Escape <= client.Dollars && s.rules.Escape != client.Backslash &&
		strings.HasPrefix(s.text[i:end], "$$")
}

// backslash reads a run of backslashes and the byte after the run. In the run, each
// pair is an escaped backslash. A single backslash at the end escapes the byte
// after the run.
func (s *scanner) backslash(i, end int) int {
	n := markdown.Run(s.text[i:end])
	s.meter.Add(n)
	i += n
	single := s.rules.Escape == client.Backslash
	// A brace is not escaped.
	if s.rules.Escape > client.Backslash || n%2 == 0 || single && n > 1 || i == end ||
		s.text[i] == '{' {
		return i
	}
	if s.text[i] == '$' &&
		(s.resembles(i, end) || !single && i+1 < end && s.text[i+1] == '$' && s.resembles(i+1, end)) {
		s.yield(token{kind: removedToken, start: i - 1, end: i})
	} else if single {
		return i
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
	return s.match(i, end) && (s.found.kind != valueToken || s.rules.Escape != client.Backslash)
}

// numbers reports whether $1 is a placeholder at the current position. In code,
// $1 is a shell variable, unless the rules say otherwise.
func (s *scanner) numbers() bool {
	return s.forms&client.Numbered != 0 && (!s.code || s.rules.Code != client.CodeWithoutNumbers)
}

// match reports whether a placeholder begins at i, and sets found. Most attempts fail, so match and
// the methods below copy no token.
func (s *scanner) match(i, end int) bool {
	const args = "{{args}}"
	text := s.text[i:end]
	switch {
	case s.forms&client.Args != 0 && strings.HasPrefix(text, args):
		return s.find(token{kind: allToken, start: i, end: i + len(args)})
	case len(text) < 2 || text[0] != '$':
	case isDigit(text[1]):
		if s.numbers() {
			return s.number(i, text)
		}
	case text[1] == '{':
		return s.braced(i, end)
	case s.forms&client.At != 0 && text[1] == '@':
		return s.find(token{kind: allToken, start: i, end: i + 2})
	case s.forms&client.Plus != 0 && text[1] == '+':
		return s.find(token{kind: allToken, start: i, end: i + 2, number: 1, required: true})
	case isWord(text[1]):
		return s.word(i, text)
	}
	return false
}

// find sets found.
func (s *scanner) find(t token) bool {
	s.found = t
	return true
}

// number reads $1.
func (s *scanner) number(i int, text string) bool {
	n := 1 + digits(text[1:])
	s.meter.Add(n)
	number, ok := s.parse(text[1:n])
	follows := n < len(text) && isWord(text[n])
	switch s.rules.Number {
	case client.OutsideWordsAndPrices:
		price := n+1 < len(text) && (text[n] == '.' || text[n] == ',') && isDigit(text[n+1])
		ok = ok && !follows && !price
	case client.OutsideWords:
		ok = ok && !follows
	case client.OneDigit:
		n, number = 2, int(text[1]-'0')
		ok = number > 0
	}
	return ok && s.find(token{kind: numberToken, start: i, end: i + n, number: number})
}

// word reads $ARGUMENTS, $ARGUMENTS[0] and $name.
func (s *scanner) word(i int, text string) bool {
	const all = "$ARGUMENTS"
	n := 1
	for n < len(text) && isWord(text[n]) {
		n++
	}
	s.meter.Add(n)
	// The third dollar sign of $$$NAME.
	escaped := s.rules.Escape == client.Dollars && i > 0 && s.text[i-1] == '$'
	if s.forms&client.Capital != 0 && isCapital(text[1]) && !escaped {
		n = 2
		for n < len(text) && (isCapital(text[n]) || isDigit(text[n]) || text[n] == '_') {
			n++
		}
		if text[:n] != all || s.rules.Forms&client.Arguments == 0 || s.known[text[1:n]] {
			return s.find(token{kind: nameToken, start: i, end: i + n, name: text[1:n]})
		}
	}
	if s.rules.Number != client.OutsideWordsAndPrices && strings.HasPrefix(text, all) {
		n = len(all)
	}
	if s.forms&client.Arguments == 0 || text[:n] != all {
		return s.named(i, text)
	}
	if index, width := s.bracketed(text[n:]); width > 0 {
		return s.find(token{kind: indexToken, start: i, end: i + n + width, number: index})
	}
	return s.find(token{kind: allToken, start: i, end: i + n})
}

// bracketed reads the [0] of $ARGUMENTS[0]. The width is 0 for any other text.
func (s *scanner) bracketed(text string) (index, width int) {
	if s.forms&client.Indexed == 0 || !strings.HasPrefix(text, "[") {
		return 0, 0
	}
	n := 1 + digits(text[1:])
	s.meter.Add(n)
	index, ok := s.parse(text[1:n])
	if !ok || n == 1 || n == len(text) || text[n] != ']' {
		return 0, 0
	}
	return index, n + 1
}

// parse parses the number of a placeholder. By the default rules, leading zeros are text.
func (s *scanner) parse(digits string) (number int, ok bool) {
	if s.rules.Number != client.OutsideWordsAndPrices {
		return anyNumber(digits), true
	}
	return argumentNumber(digits)
}

// argumentNumber parses the number of an argument: up to six digits without
// leading zeros.
func argumentNumber(text string) (number int, ok bool) {
	if text == "" || len(text) > 6 || text[0] == '0' && len(text) > 1 || digits(text) < len(text) {
		return 0, false
	}
	return anyNumber(text), true
}

// anyNumber parses digits. A number above every possible position may be wrong, but not possible.
// Ten times the greatest number fits in 32 bits.
func anyNumber(digits string) (number int) {
	for i := range len(digits) {
		number = min(10*number+int(digits[i]-'0'), 1<<27)
	}
	return number
}

// digits returns the number of digits at the beginning of s.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// named reads $name. A name may contain hyphens, and the longest known name wins:
// $issue-id is issue-id if known, and otherwise issue followed by "-id".
func (s *scanner) named(i int, text string) bool {
	if s.forms&(client.Declared|client.Hinted) == 0 {
		return false
	}
	n := 1
	for n < len(text) && n <= maxName+1 && (isWord(text[n]) || text[n] == '-') {
		n++
	}
	if n > maxName+1 {
		n = strings.LastIndexByte(text[:n], '-')
	}
	for n > 1 {
		s.meter.Add(n)
		bracket := n < len(text) && text[n] == '[' && s.rules.Number == client.OutsideWords
		if name := text[1:n]; s.known[name] && !bracket {
			return s.find(token{kind: nameToken, start: i, end: i + n, name: name})
		}
		n = strings.LastIndexByte(text[:n], '-')
	}
	return false
}

// braced reads a placeholder that begins with "${".
func (s *scanner) braced(i, end int) bool {
	const input = "${input:"
	if s.forms&client.Input != 0 && strings.HasPrefix(s.text[i:end], input) {
		return s.input(i+len(input), end, i)
	}
	if s.parameter(i, end) {
		return true
	}
	if s.forms&client.Value == 0 || len(s.values) == 0 {
		return false
	}
	name := s.text[i+len("${") : min(end, i+len("${")+maxName+1)]
	n := strings.IndexAny(name, "}${\n")
	if n < 0 {
		n = len(name)
	}
	s.meter.Add(n)
	_, ok := s.values[name[:n]]
	return ok && n < len(name) && name[n] == '}' &&
		s.find(token{kind: valueToken, start: i, end: i + len("${") + n + 1, name: name[:n]})
}

// parameterForm matches ${1}, ${@} and ${ARGUMENTS}, also with a slice, or up to a default.
var parameterForm = regexp.MustCompile(
	`^\$\{(?:(ARGUMENTS)|@|([0-9]+))(?:\}|(:-)|:([0-9]+)(?::([0-9]+))?\})`)

// parameter reads ${1}, ${@} and their forms with a slice or a default, as in a shell.
func (s *scanner) parameter(i, end int) bool {
	if s.forms&(client.BracedArguments|client.BracedNumber|client.Slice|client.NumberSlice|
		client.Default) == 0 {
		return false
	}
	m := parameterForm.FindStringSubmatch(s.text[i:end])
	if m == nil || m[3] != "" && s.forms&client.Default == 0 {
		s.meter.Add(digits(s.text[i+len("${") : end]))
		return false
	}
	s.meter.Add(len(m[0]))
	t := token{kind: allToken, start: i, end: i + len(m[0])}
	whole, slice := client.BracedArguments, client.Slice
	if m[2] != "" {
		t.number = anyNumber(m[2])
		t.kind, whole, slice = numberToken, client.BracedNumber, client.NumberSlice
	}
	isNumber, from, length := t.kind == numberToken, m[4], m[5]
	switch {
	case m[3] != "":
		closing, ok := s.closing(&s.brace, "}", t.end, end)
		if !ok {
			return false
		}
		if !isNumber {
			t.number = allArguments
		}
		t.kind, t.text, t.end = defaultToken, s.text[t.end:closing], closing+1
	case from == "":
		return s.forms&whole != 0 && (!isNumber || t.number > 0) && s.find(t)
	case s.forms&slice == 0 || m[1] != "" || isNumber && (length != "" || t.number == 0):
		return false
	case isNumber:
		t.kind, t.length, t.required = sliceToken, anyNumber(from), true
	default:
		t.kind, t.number, t.length = sliceToken, max(anyNumber(from), 1), -1
		if length != "" {
			t.length = anyNumber(length)
		}
	}
	return s.find(t)
}

// closing returns the index of the next character of stops from i on, and whether the character is
// "}". known is the result of the last call.
func (s *scanner) closing(known *int, stops string, i, end int) (int, bool) {
	if *known < i {
		*known = len(s.text)
		if n := strings.IndexAny(s.text[i:], stops); n >= 0 {
			*known = i + n
		}
		s.meter.Add(*known - i)
	}
	return *known, *known < end && s.text[*known] == '}'
}

// input reads name} or name:hint} at i, after "${input:", on one line. The "$" at
// start begins the placeholder. A name contains no "$", so input examines an invalid name
// only up to the next "${input:". input examines a hint only after a valid name.
func (s *scanner) input(i, end, start int) bool {
	closing, ok := s.closing(&s.stop, "}\n", i, end)
	if !ok {
		return false
	}
	name, hint, _ := strings.Cut(s.text[i:closing], ":")
	s.meter.Add(len(name))
	if name = strings.TrimSpace(name); name == "" || strings.ContainsAny(name, "${") {
		return false
	}
	s.meter.Add(len(hint))
	return s.find(token{kind: inputToken, start: start, end: closing + 1, name: name,
		text: strings.TrimSpace(hint)})
}

func isWord(c byte) bool {
	return isDigit(c) || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
