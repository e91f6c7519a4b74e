package client

import "fmt"

// Rules are the rules by which a client fills arguments into the text of a command or of a skill.
// Two Rules are comparable with ==. The zero Rules are the default rules, for texts of authors with
// different clients in mind.
type Rules struct {
	Forms    Form    // the placeholders and the directives; 0 means DefaultForms
	Count    Count   // the number of the first argument
	Number   Number  // where $1 is a placeholder
	NoNumber Missing // the result for a number without an argument
	NoName   Missing // the result for a name without an argument
	Rest     bool    // the greatest number of a text takes all remaining arguments
	Joined   bool    // $ARGUMENTS is the list of arguments, joined by blanks, not the line as typed
	// KEY=value gives the value of ${input:KEY}; all other arguments are appended, none has a
	// position.
	Pairs  bool
	Code   Code   // placeholders in the code of a text
	Escape Escape // how an author writes a placeholder as text
	Append Append // the place of arguments without a placeholder
}

// A Form is a set of placeholders and directives.
type Form uint32

const (
	Arguments Form = 1 << iota // $ARGUMENTS: all arguments
	Indexed                    // $ARGUMENTS[N]: an argument, counted from 0
	Numbered                   // $N
	Declared                   // $name of a name in the field "arguments"
	// $name of a name in the field "argument-hint", or in the given arguments.
	Hinted
	Args       // {{args}}: all arguments; inside !{…} escaped for the shell
	Input      // ${input:name} and ${input:name:hint}
	Value      // ${NAME} of a value of the program, such as ${CLAUDE_SKILL_DIR}
	ShellQuote // the directive !`command`
	FilePath   // the directive @path

	ShellBraces // the directive !{command}, with balanced braces
	FileBraces  // the directive @{path}, with balanced braces

	// Capital is $NAME of capitals, digits and "_". The arguments are KEY=value. A text with a
	// $NAME has no other placeholder.
	Capital

	At              // $@: all arguments
	Plus            // $+: all arguments
	BracedArguments // ${ARGUMENTS} and ${@}
	BracedNumber    // ${N}
	Slice           // ${@:N} and ${@:N:L}: the arguments from N on, L arguments from N on
	NumberSlice     // ${N:L}: L arguments from N on
	// ${N:-text}, ${@:-text} and ${ARGUMENTS:-text}: the text if the argument is missing or empty.
	Default

	NoForms // a client without placeholders and directives

	DefaultForms = Arguments | Indexed | Numbered | Declared | Hinted | Args | Input | Value |
		ShellQuote | FilePath
)

// A Count is the number of the first argument.
type Count int

const (
	// CountAuto is CountFromZero for a text that uses $0 or $ARGUMENTS[N] outside code, and
	// CountFromOne for every other text. The $0 of a price such as $0.50 does not count.
	CountAuto Count = iota

	CountFromOne  // $1 is the first argument, and $0 is text
	CountFromZero // $0 is the first argument
)

// A Number states where $1 is a placeholder.
type Number int

const (
	// OutsideWordsAndPrices has no placeholder in $1st, $1.50, $1,000 and $01, and no $ARGUMENTS in
	// $ARGUMENTS_FILE. All other rules have $ARGUMENTS in every longer word.
	OutsideWordsAndPrices Number = iota

	OutsideWords // not in $1st; a $name is no placeholder before "["
	Anywhere
	OneDigit // anywhere, $1 to $9; $10 is $1 and "0"
)

// A Missing is the result for a placeholder without an argument.
type Missing int

const (
	Stays Missing = iota
	Empty         // and $0 too, if $1 is the first argument
	Fails         // the text cannot be rendered
)

// A Code states which placeholders and directives the code of a Markdown text has.
type Code int

const (
	CodeWithoutNumbers   Code = iota // placeholders except $1 and other bare numbers; no directives
	CodeWithPlaceholders             // all placeholders; no directives
	CodeStays                        // nothing
	// All: the client does not read the text as Markdown. Directives may begin within words.
	NoCode
)

// An Escape states how an author writes a placeholder as text.
type Escape int

const (
	BackslashOrDollars Escape = iota // \$1 becomes $1, \\$1 escapes nothing, and $$1 stays
	Backslash                        // \$1 becomes $1; \\$1, \\\$1 and \${NAME} escape nothing
	Dollars                          // $$1 stays
	NoEscape
)

// An Append is the place of arguments if a text has no placeholder for them.
type Append int

const (
	AppendLabeled Append = iota // after the text, a blank line and "ARGUMENTS: "
	AppendLine                  // after the text and a blank line
	// After the text, a blank line, "/", the name of the command and a blank.
	AppendCommand
	Drop // nowhere
)

func (r Rules) check() error {
	if r.Forms > NoForms|(NoForms-1) {
		return fmt.Errorf("unknown Forms %#x; use the constants of Form, joined by |", uint32(r.Forms))
	}
	for _, rule := range []struct {
		name, first string
		value, last int
	}{
		{"Count", "CountAuto", int(r.Count), int(CountFromZero)},
		{"Number", "OutsideWordsAndPrices", int(r.Number), int(OneDigit)},
		{"NoNumber", "Stays", int(r.NoNumber), int(Fails)},
		{"NoName", "Stays", int(r.NoName), int(Fails)},
		{"Code", "CodeWithoutNumbers", int(r.Code), int(NoCode)},
		{"Escape", "BackslashOrDollars", int(r.Escape), int(NoEscape)},
		{"Append", "AppendLabeled", int(r.Append), int(Drop)},
	} {
		if rule.value < 0 || rule.value > rule.last {
			return fmt.Errorf("unknown %s %d; use a constant of its type, such as %s",
				rule.name, rule.value, rule.first)
		}
	}
	return nil
}
