// Package grep finds the lines of a text that match a pattern. The functions work on a
// [text.Blocks], not on a filesystem.
package grep

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Options change the meaning of a pattern.
type Options struct {
	Literal    bool // the pattern is the text to find, not a regular expression
	IgnoreCase bool
	WholeWords bool // a match is not next to a letter, a mark, a digit or "_"
}

// A Pattern is a compiled pattern. A Pattern is immutable.
type Pattern struct {
	line    *regexp.Regexp // matches a line without its line break
	group   int            // the group of line with the match
	needles []needle       // a line that matches contains a needle, if there are any
	exact   bool           // a line that contains the only needle matches
	steps   int            // the most steps of line for a byte
}

const (
	// MaxPattern is the maximum length of a pattern in bytes.
	MaxPattern = 4096
	// maxProgram limits the number of instructions of a compiled pattern, because the time
	// to search a line is proportional to the number.
	maxProgram = 10_000
)

// notWord matches a character that is not part of a word. The class \W of regular
// expressions contains the letters outside ASCII.
const notWord = `[^\pL\pM\pN_]`

// Compile compiles a pattern in the syntax of package regexp. The error describes the problem
// and the remedy.
func Compile(pattern string, o Options) (*Pattern, error) {
	switch {
	case pattern == "":
		return nil, errors.New("the pattern is empty; give the text to find")
	case len(pattern) > MaxPattern:
		return nil, fmt.Errorf("the pattern is longer than %d bytes; use a shorter pattern", MaxPattern)
	case !utf8.ValidString(pattern):
		return nil, errors.New("the pattern is not valid UTF-8; search for a part of the text that is UTF-8")
	case o.Literal && strings.Contains(pattern, "\n"):
		return nil, errLineBreak
	case o.Literal:
		pattern = regexp.QuoteMeta(pattern)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, explain(err)
	}
	if hasLineBreak(tree) {
		return nil, errLineBreak
	}
	if _, err := syntax.Parse("("+pattern+")", syntax.Perl); err != nil {
		// The pattern ends within a quotation, as in `\Qa.b`.
		pattern += `\E`
	}
	if o.IgnoreCase {
		pattern = "(?i:" + pattern + ")"
	}
	if tree, err = syntax.Parse(pattern, syntax.Perl); err != nil {
		return nil, explain(err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, explain(err)
	}
	if len(program.Inst) > maxProgram {
		return nil, errors.New("the pattern is too complex; use smaller counts in {…}, or search for a part of the pattern")
	}
	p := &Pattern{steps: len(program.Inst)}
	p.needles, p.exact = required(tree)
	// A line with a match of whole words also has a match without the condition, so needles do not
	// need the condition.
	if o.WholeWords {
		pattern = "(?:^|" + notWord + ")(" + pattern + ")(?:$|" + notWord + ")"
		p.group, p.exact = 1, false
	}
	p.line, err = regexp.Compile(pattern)
	return p, err
}

var errLineBreak = errors.New("the pattern contains a line break, and a match is within one line; search for the text of one line")

// explain adds the next step to an error of package syntax.
func explain(err error) error {
	const advice = "to search for the text itself, use the literal option"
	var e *syntax.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%w; %s", err, advice)
	}
	reason := string(e.Code)
	if e.Expr != "" {
		reason += ": " + e.Expr
	}
	for _, known := range []struct{ prefix, why string }{
		{"(?=", "RE2 has no lookahead"}, {"(?!", "RE2 has no lookahead"},
		{"(?<=", "RE2 has no lookbehind"}, {"(?<!", "RE2 has no lookbehind"}, {"(?>", "RE2 has no atomic groups"},
		{`\`, "RE2 has no backreferences, and knows only the escapes of Go's package regexp"},
	} {
		if strings.HasPrefix(e.Expr, known.prefix) {
			reason += "; " + known.why
			break
		}
	}
	return errors.New(reason + "; " + advice)
}

// hasLineBreak reports whether a part of the pattern matches only a line break.
func hasLineBreak(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		return len(re.Rune) == 2 && re.Rune[0] == '\n' && re.Rune[1] == '\n'
	}
	return slices.ContainsFunc(re.Sub, hasLineBreak)
}
