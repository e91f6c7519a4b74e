package template

import (
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/markdown"
)

// A token is a part of the author's text that rendering replaces or reports.
// Rendering copies the text between two tokens.
type token struct {
	kind       tokenKind
	code       bool // in code
	shell      bool // in !{command}
	required   bool // the arguments from number on, at least one: $+ and ${2:3}
	braces     bool // of a directive: !{command} or @{path}
	start, end int  // in the text; the token of a directive has only one of them
	// Of the argument, as written; of an indexToken, from 0; of a defaultToken also allArguments.
	number int
	length int    // of a sliceToken: the number of arguments, or -1 for all
	name   string // of the argument or the value
	text   string // the hint of an inputToken, or the text of a defaultToken
}

type tokenKind uint8

const (
	allToken     tokenKind = iota // $ARGUMENTS, {{args}}, $@ and $+
	numberToken                   // $1 and ${1}
	indexToken                    // $ARGUMENTS[0]
	nameToken                     // $name
	inputToken                    // ${input:name} and ${input:name:hint}
	valueToken                    // ${NAME}
	sliceToken                    // ${@:2}, ${@:2:3} and ${2:3}
	defaultToken                  // ${1:-text} and ${@:-text}
	removedToken                  // the backslash of \$1, and an empty !{}
	shellStart                    // start is the index of !` or !{
	shellEnd                      // end is the end of the command
	fileStart                     // start is the index of @ or @{; without a fileEnd, no directive
	fileEnd                       // end is the end of the path
)

// allArguments is the number of ${@:-text}.
const allArguments = -1

// A scanner scans a text once and yields the tokens in order. The scanner reads
// only the author's text, so the text of an argument never becomes a placeholder,
// code or a directive.
type scanner struct {
	text   string
	forms  client.Form
	rules  client.Rules
	values map[string]string
	known  map[string]bool // the names of placeholders such as $name
	yield  func(token)
	meter  *markdown.Meter // counts every examination of a byte
	strict bool            // indented code is code, and an escaped backtick opens no code span

	found    token // the placeholder of the last successful match
	code     bool  // the scanner is in code
	shell    bool  // the scanner is in !{command}
	stop     int   // index of the next "}" or line break, for input
	brace    int   // index of the next "}", for the text of a default
	unclosed int   // the index of the first directive without the closing brace, or -1
}

// scan yields the tokens of the whole text, or the tokens before the point where
// the meter ends the scan. The time is linear in the length of the text: after a
// failed attempt to read a token, later attempts examine a bounded number of the
// same bytes again.
func (s *scanner) scan() {
	if s.rules.Code == client.NoCode {
		s.plain(0, len(s.text))
		return
	}
	markdown.Blocks(s.text, s.meter, func(start, end int, kind markdown.Kind) {
		if kind == markdown.Fenced || kind == markdown.Indented && s.strict {
			s.fillCode(start, end)
		} else {
			s.prose(start, end)
		}
	})
}

// prose yields the tokens of a block of text. A code span has placeholders but no
// directives.
func (s *scanner) prose(start, end int) {
	spans := markdown.NewSpans(s.text[:end], s.meter)
	for i := s.special(start, end); i < end; i = s.special(i, end) {
		if s.strict && s.text[i] == '\\' {
			i += len(`\x`)
			continue
		}
		if s.text[i] != '`' {
			i = s.token(i, end)
			continue
		}
		n := markdown.Run(s.text[i:end])
		s.meter.Add(n)
		i += n
		if closing, ok := spans.Closing(i, n); ok {
			s.fillCode(i, closing)
			i = closing + n
		}
	}
}

// plain yields the tokens of a text without code.
func (s *scanner) plain(start, end int) {
	for i := s.special(start, end); i < end; i = s.special(i, end) {
		i = s.token(i, end)
	}
}

// token yields the token at i, if any, and returns the index of the text to scan next.
func (s *scanner) token(i, end int) int {
	switch s.text[i] {
	case '`':
		return i + 1
	case '!':
		return s.command(i, end)
	case '@':
		return s.file(i, end)
	default:
		return s.placeholder(i, end)
	}
}

// fillCode yields the placeholders of code.
func (s *scanner) fillCode(start, end int) {
	if s.rules.Code == client.CodeStays {
		s.meter.Add(end - start)
		return
	}
	s.code = true
	s.fill(start, end)
	s.code = false
}

// fill yields the placeholders between two indexes.
func (s *scanner) fill(start, end int) {
	for i := s.special(start, end); i < end; i = s.special(i, end) {
		switch s.text[i] {
		case '$', '{', '\\':
			i = s.placeholder(i, end)
		default:
			i++
		}
	}
}

// special returns the index of the next byte that may begin a token, or end if
// no byte does or the meter ends the scan.
func (s *scanner) special(i, end int) int {
	from := i
	for i < end && !isSpecial[s.text[i]] {
		i++
	}
	if !s.meter.Add(i - from + 1) {
		return end
	}
	return i
}

var isSpecial = [256]bool{'$': true, '{': true, '\\': true, '`': true, '!': true, '@': true}
