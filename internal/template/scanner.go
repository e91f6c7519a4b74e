package template

import "github.com/toolshelf-go/toolshelf/internal/markdown"

// A token is a part of the author's text that rendering replaces or reports.
// Rendering copies the text between two tokens.
type token struct {
	kind       tokenKind
	start, end int    // in the text; the token of a directive has only one of them
	index      int    // of the argument, from 0 (indexToken)
	name       string // of the argument (nameToken, inputToken)
	hint       string // of inputToken
}

type tokenKind uint8

const (
	allToken    tokenKind = iota // $ARGUMENTS and {{args}}
	indexToken                   // $1 and $ARGUMENTS[0]
	nameToken                    // $name
	inputToken                   // ${input:name} and ${input:name:hint}
	escapeToken                  // the backslash of \$1
	shellStart                   // start is the index of !`
	shellEnd                     // end is the end of the command, before the backtick
	fileStart                    // start is the index of @; without a fileEnd, no directive
	fileEnd                      // end is the end of the path
)

// A scanner scans a text once and yields the tokens in order. The scanner reads
// only the author's text, so the text of an argument never becomes a placeholder,
// code or a directive.
type scanner struct {
	text   string
	zero   bool              // $0 is the first argument
	inCode bool              // numbers in code are placeholders
	known  func(string) bool // reports whether $name is a placeholder
	yield  func(token)
	meter  *markdown.Meter // counts every examination of a byte

	code bool // the scanner is in code
	stop int  // index of the next "}" or line break, for input
}

// scan yields the tokens of the whole text, or the tokens before the point where
// the meter ends the scan. The time is linear in the length of the text: after a
// failed attempt to read a token, later attempts examine a bounded number of the
// same bytes again.
func (s *scanner) scan() {
	markdown.Blocks(s.text, s.meter, func(start, end int, kind markdown.Kind) {
		if kind == markdown.Fenced {
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
		switch s.text[i] {
		case '`':
			n := markdown.Run(s.text[i:end])
			s.meter.Add(n)
			i += n
			if closing, ok := spans.Closing(i, n); ok {
				s.fillCode(i, closing)
				i = closing + n
			}
		case '!':
			i = s.shell(i, end)
		case '@':
			i = s.file(i, end)
		default:
			i = s.placeholder(i, end)
		}
	}
}

// fillCode yields the placeholders of code.
func (s *scanner) fillCode(start, end int) {
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
