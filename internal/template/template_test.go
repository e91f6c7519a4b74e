package template_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// parse returns the text and the header of a file.
func parse(file string) (text string, header matter.Frontmatter) {
	doc, _ := matter.Parse([]byte(file), true)
	return file[doc.Body:], doc.Frontmatter
}

var (
	fromZero = template.Renderer{Rules: client.Rules{Count: client.CountFromZero}}
	noAppend = template.Renderer{Rules: client.Rules{Append: client.Drop}}
	inCode   = template.Renderer{Rules: client.Rules{Code: client.CodeWithPlaceholders}}
)

// Client names the client whose documentation or program has the rule: "all"
// means every client, and "toolshelf" means a choice of this package, because the
// clients differ or document no rule.
func TestRender(t *testing.T) {
	for _, tt := range []struct {
		client, rule string
		text         string
		args         []string
		want         string
		with         template.Renderer
	}{
		// All arguments.
		{client: "all", rule: "$ARGUMENTS becomes all arguments, separated by blanks", text: "Fix issue $ARGUMENTS.", args: []string{"123", "high"}, want: "Fix issue 123 high."},
		{client: "all", rule: "each $ARGUMENTS is filled in", text: "$ARGUMENTS, $ARGUMENTS", args: []string{"a"}, want: "a, a"},
		{client: "all", rule: "$ARGUMENTS is empty without arguments", text: "Fix $ARGUMENTS now.", want: "Fix  now."},
		{client: "Claude Code", rule: "arguments are not quoted", text: "$ARGUMENTS", args: []string{"a b", `c"d`}, want: `a b c"d`},
		{client: "Claude Code", rule: "$ARGUMENTS is a whole word in capitals", text: "$ARGUMENTS_FILE $ARGUMENTSX $arguments", args: []string{"a"}, want: "$ARGUMENTS_FILE $ARGUMENTSX $arguments", with: noAppend},
		{client: "toolshelf", rule: "letters of other scripts end $ARGUMENTS", text: "$ARGUMENTSを確認", args: []string{"a"}, want: "aを確認"},
		{client: "toolshelf", rule: "${ARGUMENTS} is text", text: "${ARGUMENTS}", args: []string{"a"}, want: "${ARGUMENTS}", with: noAppend},
		{client: "Gemini CLI", rule: "{{args}} becomes all arguments", text: "Plan {{args}}.", args: []string{"a", "b"}, want: "Plan a b."},
		{client: "Gemini CLI", rule: "{{args}} is empty without arguments", text: "Plan {{args}}.", want: "Plan ."},
		{client: "Gemini CLI", rule: "other spellings of {{args}} are text", text: "{{ args }} {{arg}} {args} {{ARGS}}", args: []string{"a"}, want: "{{ args }} {{arg}} {args} {{ARGS}}", with: noAppend},
		{client: "toolshelf", rule: "braces around {{args}} stay", text: "{{{args}}}", args: []string{"a"}, want: "{a}"},

		// One argument.
		{client: "Codex CLI", rule: "$1 is the first argument", text: "Review PR #$1 with priority $2 for $3.", args: []string{"456", "high", "alice"}, want: "Review PR #456 with priority high for alice."},
		{client: "OpenCode", rule: "$1 is the first argument", text: "Create $1 in $2", args: []string{"config.json", "src"}, want: "Create config.json in src"},
		{client: "Claude Code, classic commands", rule: "$1 is the first argument", text: "$1-$2", args: []string{"a", "b"}, want: "a-b"},
		{client: "Claude Code, skills", rule: "$0 is the first argument", text: "Migrate $0 from $1 to $2.", args: []string{"SearchBar", "React", "Vue"}, want: "Migrate SearchBar from React to Vue.", with: fromZero},
		{client: "Claude Code, skills", rule: "$1 is the second argument, which is missing", text: "$0 $1", args: []string{"a"}, want: "a $1", with: fromZero},
		{client: "toolshelf", rule: "a text with $0 counts from 0", text: "$0 $1", args: []string{"a", "b"}, want: "a b"},
		{client: "toolshelf", rule: "a text with $ARGUMENTS[N] counts from 0", text: "$1 $ARGUMENTS[0]", args: []string{"a", "b"}, want: "b a"},
		{client: "toolshelf", rule: "the $0 of a price and of code does not count", text: "$0.50 $1 `$0` `$ARGUMENTS[1]` \\$0", args: []string{"a", "b"}, want: "$0.50 a `$0` `b` $0"},
		{client: "toolshelf", rule: "the $0 of a shell command counts", text: "!`x $0` $1", args: []string{"a", "b"}, want: "!`x a` b"},
		{client: "Codex CLI", rule: "$0 is no argument", text: "$0 $1", args: []string{"a"}, want: "$0 a", with: template.Renderer{Rules: client.Codex().Rules}},
		{client: "Claude Code", rule: "$ARGUMENTS[0] is the first argument", text: "$ARGUMENTS[0] and $ARGUMENTS[1]", args: []string{"a", "b"}, want: "a and b"},
		{client: "Claude Code, skills", rule: "$ARGUMENTS[0] is the first argument, as $0 is", text: "$ARGUMENTS[0]=$0", args: []string{"a"}, want: "a=a", with: fromZero},
		{client: "Claude Code", rule: "the number of a missing argument stays", text: "$0 $2 $ARGUMENTS[2]", args: []string{"a"}, want: "a $2 $ARGUMENTS[2]"},
		{client: "Claude Code", rule: "an empty argument is filled in", text: "<$1>", args: []string{""}, want: "<>"},
		{client: "OpenCode", rule: "$10 is the tenth argument", text: "$10", args: strings.Fields("a b c d e f g h i j"), want: "j"},
		{client: "toolshelf", rule: "the last number stands for one argument", text: "$1 $2", args: []string{"a", "b", "c"}, want: "a b"},
		{client: "toolshelf", rule: "brackets without a number are text", text: "$ARGUMENTS[] $ARGUMENTS[n] $ARGUMENTS[-1] $ARGUMENTS[00]", args: []string{"a"}, want: "a[] a[n] a[-1] a[00]"},
		{client: "toolshelf", rule: "an unclosed bracket is text", text: "$ARGUMENTS[0", args: []string{"a"}, want: "a[0"},
		{client: "toolshelf", rule: "a number with leading zeros is text", text: "$007 $01", args: []string{"a", "b"}, want: "$007 $01", with: noAppend},
		{client: "toolshelf", rule: "a number above every possible position stays", text: "$99999999999999999999 $ARGUMENTS[99999999999999999999]", args: []string{"a"}, want: "$99999999999999999999 a[99999999999999999999]"},
		{client: "toolshelf", rule: "punctuation may follow a number", text: "$1: $1; $1/$2 ($1) \"$1\" $1-$2 $1.", args: []string{"a", "b"}, want: "a: a; a/b (a) \"a\" a-b a."},
		{client: "toolshelf", rule: "letters may precede a number", text: "v$1 feature/$1 é$1", args: []string{"a"}, want: "va feature/a éa"},
		{client: "toolshelf", rule: "a file extension may follow a number", text: "$1.md $1.test.ts", args: []string{"a"}, want: "a.md a.test.ts"},

		// What only looks like a placeholder.
		{client: "Claude Code", rule: "a number in a word is text", text: "$1st $5k $1M $2_x", args: []string{"a", "b"}, want: "$1st $5k $1M $2_x", with: noAppend},
		{client: "Claude Code", rule: "a price above the number of arguments is text", text: "$5 million for $1", args: []string{"a"}, want: "$5 million for a"},
		{client: "toolshelf", rule: "a price with a separator is text", text: "$1,000 or $1.50 or $0.01 for $1, $2.", args: []string{"a", "b"}, want: "$1,000 or $1.50 or $0.01 for a, b."},
		{client: "toolshelf", rule: "a price with a separator is text, counting from zero", text: "$0.01 and $0", args: []string{"a"}, want: "$0.01 and a", with: fromZero},
		{client: "Codex CLI", rule: "$$ stays, with the name or number after it", text: "$$ $$1 $$ARGUMENTS", args: []string{"a"}, want: "$$ $$1 $$ARGUMENTS", with: noAppend},
		{client: "Codex CLI", rule: "$$ stays in a path, too", text: "See @./$$1 and @$$$1/a and @a$$ARGUMENTS.", args: []string{"a"}, want: "See @./$$1 and @$$a/a and @a$$ARGUMENTS.", with: noAppend},
		{client: "toolshelf", rule: "the dollar sign after $$ begins a placeholder", text: "$$$1", args: []string{"a"}, want: "$$a"},
		{client: "all", rule: "shell variables are text", text: "$PATH ${HOME} $(pwd) $? $# $@ $* $-", args: []string{"a"}, want: "$PATH ${HOME} $(pwd) $? $# $@ $* $-", with: noAppend},
		{client: "Claude Code", rule: "numbers in braces are text", text: "${1} ${1:-x}", args: []string{"a"}, want: "${1} ${1:-x}", with: noAppend},
		{client: "toolshelf", rule: "unfinished placeholders are text", text: "$ ${ ${input: ${input:x {{args} {{args $", args: []string{"a"}, want: "$ ${ ${input: ${input:x {{args} {{args $", with: noAppend},
		{client: "toolshelf", rule: "invalid UTF-8 stays", text: "\xff$1\xc3\x28\x00", args: []string{"\xfe"}, want: "\xff\xfe\xc3\x28\x00"},

		// Nothing is expanded twice.
		{client: "Codex CLI", rule: "placeholders in an argument stay", text: "$1 $2", args: []string{"$2 $ARGUMENTS {{args}}", "$1"}, want: "$2 $ARGUMENTS {{args}} $1"},
		{client: "toolshelf", rule: "an argument and the text after it form no placeholder", text: "$1ARGUMENTS $1.", args: []string{"$"}, want: "$1ARGUMENTS $."},
		{client: "toolshelf", rule: "a backslash at the end of an argument escapes nothing", text: "$1$2", args: []string{`\`, "b"}, want: `\b`},
		{client: "toolshelf", rule: "backticks in an argument open no code span", text: "$1 $2 `", args: []string{"`", "b"}, want: "` b `"},
		{client: "toolshelf", rule: "a fence in an argument opens no code block", text: "$1\n$2", args: []string{"```", "b"}, want: "```\nb"},

		// Escapes.
		{client: "Claude Code", rule: `\$1 becomes $1`, text: `\$1 and $1`, args: []string{"a"}, want: "$1 and a"},
		{client: "Claude Code", rule: `\$1 becomes $1 without arguments too`, text: `\$1 \$0.01 \$ARGUMENTS \$ARGUMENTS[0]`, want: `$1 $0.01 $ARGUMENTS $ARGUMENTS[0]`},
		{client: "Claude Code", rule: "a backslash before other text stays", text: `\$HOME \$ \a C:\$dir \`, args: []string{"a"}, want: `\$HOME \$ \a C:\$dir \`, with: noAppend},
		{client: "toolshelf", rule: "an escaped backslash escapes nothing", text: `\\$1 \\\$1`, args: []string{"a"}, want: `\\a \\$1`},
		{client: "toolshelf", rule: `\$$1 becomes a dollar sign and an argument`, text: `\$$1`, args: []string{"5"}, want: `$5`},
		{client: "toolshelf", rule: "${input:x} is escaped as $1 is", text: `\${input:x} ${input:x}`, args: []string{"a"}, want: `${input:x} a`},

		// Code.
		{client: "all", rule: "whole and named placeholders are filled in code", text: "`gh issue view $ARGUMENTS` `{{args}}`\n```\nrun ${input:x}\n```", args: []string{"7"}, want: "`gh issue view 7` `7`\n```\nrun 7\n```"},
		{client: "Claude Code", rule: "$ARGUMENTS[0] is filled in code", text: "```\nrun $ARGUMENTS[1] $ARGUMENTS[0]\n```", args: []string{"7", "8"}, want: "```\nrun 8 7\n```"},
		{client: "all", rule: "whole placeholders in code are empty without arguments", text: "`run $ARGUMENTS {{args}}`", want: "`run  `"},
		{client: "toolshelf", rule: "a backslash in code escapes the placeholders of code", text: "`\\$ARGUMENTS \\$1 \\\\$ARGUMENTS` \\$1", args: []string{"a"}, want: "`$ARGUMENTS \\$1 \\\\a` $1"},
		{client: "toolshelf", rule: "shell variables in code stay", text: "`echo $HOME ${1} $@ $ARGUMENTS_X $1`", args: []string{"a"}, want: "`echo $HOME ${1} $@ $ARGUMENTS_X $1`", with: noAppend},
		{client: "toolshelf", rule: "a filled placeholder in code prevents appending", text: "`run $ARGUMENTS`", args: []string{"a"}, want: "`run a`"},
		{client: "toolshelf", rule: "numbers after code are placeholders", text: "`$1` $1\n```\n$1\n```\n$1 `$1` $1", args: []string{"a"}, want: "`$1` a\n```\n$1\n```\na `$1` a"},
		{client: "toolshelf", rule: "$1 in a code span stays", text: "`$1` $1", args: []string{"a"}, want: "`$1` a"},
		{client: "toolshelf", rule: "two backticks open a code span", text: "`` $1 ` $1 `` $1", args: []string{"a"}, want: "`` $1 ` $1 `` a"},
		{client: "toolshelf", rule: "a single backtick is text", text: "it`s $1", args: []string{"a"}, want: "it`s a"},
		{client: "toolshelf", rule: "backtick runs of different lengths open no code span", text: "`` $1 ` $1 ```", args: []string{"a"}, want: "`` a ` a ```"},
		{client: "toolshelf", rule: "an unclosed run does not hide a later code span", text: "```` ``` $1 `` $1 `` `$1` $1", args: []string{"a"}, want: "```` ``` a `` $1 `` `$1` a"},
		{client: "toolshelf", rule: "a brace is not escaped", text: `docs\{{args}}`, args: []string{"a"}, want: `docs\a`},
		{client: "toolshelf", rule: "an escaped backtick opens no code span", text: "\\`$1\\`", args: []string{"a"}, want: "\\`a\\`"},
		{client: "toolshelf", rule: "a code span may have two lines", text: "`a\n$1` $1", args: []string{"a"}, want: "`a\n$1` a"},
		{client: "toolshelf", rule: "a code span ends with its paragraph", text: "`a\n\n$1` $1", args: []string{"a"}, want: "`a\n\na` a"},
		{client: "toolshelf", rule: "a code span ends with its list item", text: "- it`s $1\n- it`s $1", args: []string{"a"}, want: "- it`s a\n- it`s a"},
		{client: "toolshelf", rule: "a code span ends with its heading", text: "# it`s $1\nit`s $1", args: []string{"a"}, want: "# it`s a\nit`s a"},
		{client: "toolshelf", rule: "$1 in a fenced block stays", text: "```bash\necho $1\n```\n$1", args: []string{"a"}, want: "```bash\necho $1\n```\na"},
		{client: "toolshelf", rule: "tildes open a fenced block", text: "~~~\n$1\n```\n~~~\n$1", args: []string{"a"}, want: "~~~\n$1\n```\n~~~\na"},
		{client: "toolshelf", rule: "a longer fence contains a shorter fence", text: "````\n```\n$1\n````\n$1", args: []string{"a"}, want: "````\n```\n$1\n````\na"},
		{client: "toolshelf", rule: "a fenced block in a list", text: "1. x\n\n   ```\n   $1\n   ```\n   $1", args: []string{"a"}, want: "1. x\n\n   ```\n   $1\n   ```\n   a"},
		{client: "toolshelf", rule: "a fenced block on the line of its list item", text: "- ```\n  $1\n  ```\n- $1", args: []string{"a"}, want: "- ```\n  $1\n  ```\n- a"},
		{client: "toolshelf", rule: "a fenced block in a list, indented by a tab", text: "-\tx\n\n\t```\n\t$1\n\t```\n\t$1", args: []string{"a"}, want: "-\tx\n\n\t```\n\t$1\n\t```\n\ta"},
		{client: "toolshelf", rule: "a fenced block below an empty list item", text: "-\n  ```\n  $1\n\n$1", args: []string{"a"}, want: "-\n  ```\n  $1\n\na"},
		{client: "toolshelf", rule: "a fenced block after an empty list item and a blank line", text: "-\n\n  ```\n$1", args: []string{"a"}, want: "-\n\n  ```\n$1", with: noAppend},
		{client: "toolshelf", rule: "headings and table rows end a code span", text: "a ` $1\n---\n` $1\n| ` | $1 |\n| ` | $1 |", args: []string{"a"}, want: "a ` a\n---\n` a\n| ` | a |\n| ` | a |"},
		{client: "toolshelf", rule: "a fenced block ends with its list item", text: "- ```\n  $1\n\n$1", args: []string{"a"}, want: "- ```\n  $1\n\na"},
		{client: "toolshelf", rule: "a fenced block ends with its nested list item", text: "- x\n  - ```\n    $1\n  $1", args: []string{"a"}, want: "- x\n  - ```\n    $1\n  a"},
		{client: "toolshelf", rule: "a fenced block in a quote", text: "> ```\n> $1\n> ```\n> $1", args: []string{"a"}, want: "> ```\n> $1\n> ```\n> a"},
		{client: "toolshelf", rule: "a fenced block ends with its quote", text: "> ```\n> $1\n$1", args: []string{"a"}, want: "> ```\n> $1\na"},
		{client: "toolshelf", rule: "an unclosed fenced block", text: "```\n$1\n", args: []string{"a"}, want: "```\n$1\n", with: noAppend},
		{client: "toolshelf", rule: "a fenced block indented by eight columns", text: "x\n\n        ```\n        $1\n        ```\n$1", args: []string{"a"}, want: "x\n\n        ```\n        $1\n        ```\na"},
		{client: "toolshelf", rule: "a fence with deeper indentation closes nothing", text: "```\n    ```\n$1\n```\n$1", args: []string{"a"}, want: "```\n    ```\n$1\n```\na"},
		{client: "toolshelf", rule: "a fenced block with Windows line breaks", text: "```\r\n$1\r\n```\r\n$1\r\n", args: []string{"a"}, want: "```\r\n$1\r\n```\r\na\r\n"},
		{client: "toolshelf", rule: "an indented code block is text", text: "    $1", args: []string{"a"}, want: "    a"},
		{client: "Claude Code", rule: "$1 in code is filled in with InCode", text: "`$1`\n```\nawk '{print $1}' \\$1\n```\n", args: []string{"a"}, want: "`a`\n```\nawk '{print a}' $1\n```\n", with: inCode},

		// Names.
		{client: "VS Code", rule: "${input:name} is filled in by position", text: "${input:a} ${input:b} ${input:a}", args: []string{"x", "y"}, want: "x y x"},
		{client: "VS Code", rule: "the hint is removed", text: "A form named ${input:name:MyForm, for instance}.", args: []string{"x"}, want: "A form named x."},
		{client: "VS Code", rule: "a missing input stays", text: "${input:a} ${input:b:hint} ${selection}", args: []string{"x"}, want: "x ${input:b:hint} ${selection}"},
		{client: "toolshelf", rule: "${input:name} has a name and one line", text: "${input:} ${input: :x} ${input:a\n}", args: []string{"x"}, want: "${input:} ${input: :x} ${input:a\n}", with: noAppend},

		// Arguments without a placeholder.
		{client: "Claude Code", rule: "arguments are appended", text: "Do it.", args: []string{"a", "b"}, want: "Do it.\n\nARGUMENTS: a b"},
		{client: "all", rule: "no arguments are appended if none are given", text: "Do it.\n", want: "Do it.\n"},
		{client: "Claude Code", rule: "arguments without a placeholder are appended", text: "It costs $5.", args: []string{"a"}, want: "It costs $5.\n\nARGUMENTS: a"},
		{client: "toolshelf", rule: "arguments with numbers in code only are appended", text: "`$1`", args: []string{"a"}, want: "`$1`\n\nARGUMENTS: a"},
		{client: "toolshelf", rule: "blank arguments are not appended", text: "Do it.", args: []string{"", " "}, want: "Do it."},
		{client: "toolshelf", rule: "appended text is not expanded", text: "Do it.", args: []string{"$ARGUMENTS"}, want: "Do it.\n\nARGUMENTS: $ARGUMENTS"},
		{client: "toolshelf", rule: "nothing is appended with NoAppend", text: "Do it.", args: []string{"a"}, want: "Do it.", with: noAppend},
		{client: "toolshelf", rule: "an empty text becomes the appended arguments", text: "", args: []string{"a"}, want: "\n\nARGUMENTS: a"},
	} {
		t.Run(tt.client+"/"+tt.rule, func(t *testing.T) {
			got := must.Get(tt.with.Render(t.Context(), template.Source{Text: tt.text}, template.Args{List: tt.args}))(t)
			if got.Text != tt.want {
				t.Errorf("%q with %q gives\n%q, want\n%q", tt.text, tt.args, got.Text, tt.want)
			}
		})
	}
}

func TestRenderDeclaredNames(t *testing.T) {
	for _, tt := range []struct {
		client, rule, header string
		text                 string
		args                 []string
		want                 string
	}{
		{"Claude Code", "a list declares names", "arguments: [issue, branch]", "Fix $issue on $branch.", []string{"7", "main"}, "Fix 7 on main."},
		{"Claude Code", "names are separated by blanks", "arguments: issue branch", "$issue, $branch", []string{"7", "main"}, "7, main"},
		{"Claude Code", "names and numbers stand for the same arguments", "arguments: [issue]", "$issue = $1", []string{"7"}, "7 = 7"},
		{"Claude Code", "names in code are filled in", "arguments: [issue, branch]", "`fix $issue`\n```\ngit switch $branch $HOME $1\n```", []string{"7", "main"}, "`fix 7`\n```\ngit switch main $HOME $1\n```"},
		{"Claude Code", "a declared name in code is escaped", "arguments: [issue]", "`\\$issue \\$other $issue`", []string{"7"}, "`$issue \\$other 7`"},
		{"Claude Code", "undeclared names stay", "arguments: [path]", "$path $PATH $Path ${path} $paths $path_", []string{"x"}, "x $PATH $Path ${path} $paths $path_"},
		{"toolshelf", "a declared name of a missing argument stays", "arguments: [issue, branch]", "$issue $branch", []string{"7"}, "7 $branch"},
		{"Claude Code", "a declared name is escaped", "arguments: [issue]", `\$issue \$other $issue`, []string{"7"}, `$issue \$other 7`},
		{"toolshelf", "names are declared with dollar signs", "arguments: $CONCEPT1 $CONCEPT2", "$CONCEPT1/$CONCEPT2", []string{"a", "b"}, "a/b"},
		{"toolshelf", "names have hyphens, and the longest name wins", "arguments: [issue, issue-id]", "$issue-id $issue-x $issue- $issue", []string{"a", "b"}, "b a-x a- a"},
		{"toolshelf", "names are separated by commas", "arguments: a, b", "$a$b", []string{"1", "2"}, "12"},
		{"toolshelf", "mappings declare names", "arguments:\n  - name: issue\n    required: true\n  - name: branch", "$issue $branch", []string{"7", "main"}, "7 main"},
		{"toolshelf", "a repeated name stands for its first position", "arguments: [a, a]", "$a $2", []string{"1", "2"}, "1 2"},
		{"toolshelf", "a sentence declares no names", "arguments: The issue's number.", "$The $number", []string{"7"}, "$The $number\n\nARGUMENTS: 7"},
		{"toolshelf", "a hint declares names", "argument-hint: <issue> [branch]", "Fix $issue on $branch, `$issue-$other`.", []string{"7", "main"}, "Fix 7 on main, `7-$other`."},
		{"toolshelf", "a hint declares the names after the declared names", "arguments: [issue]\nargument-hint: <number> [branch]", "$issue $number $branch", []string{"7", "main"}, "7 $number main"},
		{"toolshelf", "a hint of one word declares a name", "argument-hint: issue", "$issue", []string{"7"}, "7"},
		{"toolshelf", "a hint of words declares no name", "argument-hint: the issue", "$issue $arguments", []string{"7"}, "$issue $arguments\n\nARGUMENTS: 7"},
		{"Codex CLI", "a hint declares keys", "argument-hint: FILE=<path>", "$FILE $PATH", []string{"a.go"}, "a.go $PATH"},
		{"toolshelf", "$name takes the names of ${input:name}", "x: y", "$issue ${input:issue}", []string{"7"}, "7 7"},
		{"toolshelf", "${input:name} takes declared names", "arguments: [a, b]", "${input:b} ${input:c}", []string{"1", "2", "3"}, "2 3"},
		{"toolshelf", "${input:name} takes the names of a hint", "argument-hint: \"<a> <b>\"", "${input:b:say}", []string{"1", "2"}, "2"},
	} {
		t.Run(tt.client+"/"+tt.rule, func(t *testing.T) {
			text, header := parse("---\n" + tt.header + "\n---\n" + tt.text)
			got, err := template.Renderer{}.Render(t.Context(), template.Source{Text: text, Header: header}, template.Args{List: tt.args})
			if got.Text != tt.want || err != nil {
				t.Errorf("got %q, %v; want %q", got.Text, err, tt.want)
			}
		})
	}
}

func TestRenderNamed(t *testing.T) {
	type names = map[string]string
	for _, tt := range []struct {
		client, rule, file string
		args               names
		want               string
		with               template.Renderer
	}{
		{"Claude Code", "declared names", "---\narguments: [issue, branch]\n---\nFix $issue on $branch.", names{"branch": "main", "issue": "7"}, "Fix 7 on main.", template.Renderer{}},
		{"Codex CLI", "given names", "$FILE and $TICKET_ID and $HOME", names{"FILE": "a.go", "TICKET_ID": "7"}, "a.go and 7 and $HOME", template.Renderer{}},
		{"VS Code", "inputs", "${input:name:MyForm} ${input:other}", names{"name": "x"}, "x ${input:other}", template.Renderer{}},
		{"VS Code", "an input is not appended", "${input:name}", names{"name": "x"}, "x", template.Renderer{Rules: client.VSCode().Rules}},
		{"VS Code", "other names are appended", "---\nargument-hint: \"[issue]\"\n---\n${input:name}", names{"name": "x", "issue": "7"}, "x\n\n7", template.Renderer{Rules: client.VSCode().Rules}},
		{"Codex CLI", "given names in code", "`cat $FILE $HOME`", names{"FILE": "a.go"}, "`cat a.go $HOME`", template.Renderer{}},
		{"toolshelf", "declared names fill numbers", "---\narguments: [issue, branch]\n---\n$1 $0 $ARGUMENTS[0]", names{"issue": "7", "branch": "main"}, "main 7 7", template.Renderer{}},
		{"toolshelf", "the names of a hint fill numbers", "---\nargument-hint: \"[pr-number] [priority]\"\n---\n#$1 $2", names{"pr-number": "7", "priority": "high"}, "#7 high", template.Renderer{}},
		{"toolshelf", "a number is the position of a name of a hint", "---\nargument-hint: <issue>\n---\n$issue ${input:issue} $1", names{"1": "7"}, "7 7 7", template.Renderer{}},
		{"toolshelf", "a name of a hint", "---\nargument-hint: <issue>\n---\n$issue ${input:issue} $1", names{"issue": "7"}, "7 7 7", template.Renderer{}},
		{"toolshelf", "numbers are names", "$1 $2", names{"2": "b", "1": "a"}, "a b", template.Renderer{}},
		{"toolshelf", "numbers are names, counting from zero", "$0 $1", names{"1": "b", "0": "a"}, "a b", fromZero},
		{"toolshelf", "a number is the position of a declared name", "---\narguments: [issue]\n---\n$issue $1", names{"1": "7"}, "7 7", template.Renderer{}},
		{"toolshelf", "a declared name wins over a number", "---\narguments: [issue]\n---\n$issue $1", names{"1": "8", "issue": "7"}, "7 7", template.Renderer{}},
		{"toolshelf", "one argument fills $ARGUMENTS", "Look at $ARGUMENTS.", names{"arguments": "this"}, "Look at this.", template.Renderer{}},
		{"toolshelf", "$ARGUMENTS is in order of position, then of name", "---\narguments: [z, a]\n---\n$ARGUMENTS", names{"a": "2", "z": "1", "y": "4", "b": "3"}, "1 2 3 4", template.Renderer{}},
		{"toolshelf", "a position may be missing", "---\narguments: [a, b]\n---\n$1 $2 $ARGUMENTS", names{"b": "2"}, "$1 2 2", template.Renderer{}},
		{"toolshelf", "an empty value is filled in", "<$x>", names{"x": ""}, "<>", template.Renderer{}},
		{"toolshelf", "values are not expanded", "$a $b", names{"a": "$b", "b": "$a"}, "$b $a", template.Renderer{}},
		{"toolshelf", "values are appended", "Do it.", names{"b": "2", "a": "1"}, "Do it.\n\nARGUMENTS: 1 2", template.Renderer{}},
		{"toolshelf", "a given name is escaped", `\$a $a \$b`, names{"a": "1"}, `$a 1 \$b`, template.Renderer{}},
		{"toolshelf", "a name of ${input:…} has any length", "${input:" + strings.Repeat("x", 100) + "} $" + strings.Repeat("x", 100), names{strings.Repeat("x", 100): "1"}, "1 $" + strings.Repeat("x", 100), template.Renderer{}},
		{"toolshelf", "a name of $name has at most 64 bytes", "$" + strings.Repeat("x", 64) + " $" + strings.Repeat("y", 65), names{strings.Repeat("x", 64): "1", strings.Repeat("y", 65): "2"}, "1 $" + strings.Repeat("y", 65), template.Renderer{}},
		{"toolshelf", "nil gives no arguments", "$a $ARGUMENTS.", nil, "$a .", template.Renderer{}},
	} {
		t.Run(tt.client+"/"+tt.rule, func(t *testing.T) {
			text, header := parse(tt.file)
			got, err := tt.with.Render(t.Context(), template.Source{Text: text, Header: header}, template.Args{Named: tt.args})
			if got.Text != tt.want || err != nil {
				t.Errorf("got %q, %v; want %q", got.Text, err, tt.want)
			}
		})
	}
}

// A directive is a template.Directive with its text.
type directive struct {
	kind       template.Kind
	start, end int
	text       string
	from       bool
	braces     bool
}

func directives(r template.Result) []directive {
	var list []directive
	for _, d := range r.Directives {
		list = append(list, directive{d.Kind, d.Start, d.End, d.Text(r.Text), d.FromArguments, d.Braces})
	}
	return list
}

func TestRenderDirectives(t *testing.T) {
	type d = directive
	shell := func(start, end int, text string, from bool) d {
		return d{template.Shell, start, end, text, from, false}
	}
	file := func(start, end int, text string, from bool) d { return d{template.File, start, end, text, from, false} }
	for _, tt := range []struct {
		client, rule, text string
		args               []string
		want               []d
	}{
		{"Claude Code", "a shell command", "- Status: !`git status`", nil, []d{shell(10, 23, "git status", false)}},
		{"Claude Code", "directives at the beginning of the text and of a line", "!`a`\n!`b`", nil, []d{shell(0, 4, "a", false), shell(5, 9, "b", false)}},
		{"Claude Code", "a shell command with an argument", "!`git diff $1`", []string{"main"}, []d{shell(0, 16, "git diff main", true)}},
		{"Claude Code", "a placeholder of a missing argument stays", "!`git diff $1`", nil, []d{shell(0, 14, "git diff $1", false)}},
		{"toolshelf", "an empty argument does not set FromArguments", "!`git diff $1`", []string{""}, []d{shell(0, 12, "git diff ", false)}},
		{"Claude Code", "an escape in a shell command", "!`awk '{print \\$1}'`", []string{"x"}, []d{shell(0, 19, "awk '{print $1}'", false)}},
		{"toolshelf", "an empty argument beside another argument", "!`$1 $2`", []string{"x", ""}, []d{shell(0, 5, "x ", true)}},
		{"toolshelf", "an argument with a backtick", "!`echo $1`", []string{"`; rm -rf /"}, []d{shell(0, 19, "echo `; rm -rf /", true)}},
		{"toolshelf", "FromArguments is set only for directives with arguments", "$1 !`a` !`$1` !`b`", []string{"x"}, []d{shell(2, 6, "a", false), shell(7, 11, "x", true), shell(12, 16, "b", false)}},
		{"Claude Code", "no directive within a word", "KEY=!`a` x!`b`", nil, nil},
		{"toolshelf", "no directive in a code span", "Write `` !`cmd` `` or `!` or `!cmd`", nil, nil},
		{"toolshelf", "no directive in a fenced block", "```\n!`cmd`\n```", nil, nil},
		{"toolshelf", "no directive over two lines", "!`a\nb`", nil, nil},
		{"toolshelf", "no directive that is empty or has more backticks", "!`` !` ` !``a`` !```b```", nil, nil},
		{"toolshelf", "no directive after a backslash", "\\!`a`", nil, nil},
		{"toolshelf", "no directive from an argument", "$1 $2`a` $ARGUMENTS", []string{"!`rm`", "!", "@x/y"}, nil},
		{"toolshelf", "no directive in appended arguments", "Do it.", []string{"!`rm` @x/y"}, nil},
		{"Gemini CLI", "the forms of Gemini CLI are text", "!{git diff} @{docs/x.md}", nil, nil},

		{"OpenCode", "a file", "Review @src/auth.ts.", nil, []d{file(7, 19, "src/auth.ts", false)}},
		{"Claude Code", "a file with an argument", "Review @$1, @src/$1.test.ts", []string{"a b"}, []d{file(7, 11, "a b", true), file(13, 29, "src/a b.test.ts", true)}},
		{"OpenCode", "a file with all arguments", "read it with @$ARGUMENTS; then", []string{"x", "y"}, []d{file(13, 17, "x y", true)}},
		{"VS Code", "a file with an input", "@${input:file:which file}", []string{"x"}, []d{file(0, 2, "x", true)}},
		{"Gemini CLI", "a file with {{args}}", "@{{args}}", []string{"x"}, []d{file(0, 2, "x", true)}},
		{"toolshelf", "the path excludes the punctuation after an argument", "@$1. @$1.", []string{"x."}, []d{file(0, 3, "x.", true), file(5, 8, "x.", true)}},
		{"toolshelf", "the path includes all characters of a placeholder", "@a]/$ARGUMENTS[0]", []string{"x"}, []d{file(0, 5, "a]/x", true)}},
		{"toolshelf", "a missing argument makes no path", "@$1 @docs/$1", nil, []d{file(4, 12, "docs/$1", false)}},
		{"OpenCode", "hidden files, the home directory, and directories", "@.env.local @~/notes @styles/ @./x", nil, []d{file(0, 11, ".env.local", false), file(12, 20, "~/notes", false), file(21, 29, "styles/", false), file(30, 34, "./x", false)}},
		{"OpenCode", "a file with line numbers", "@src/auth.ts#20-45", nil, []d{file(0, 18, "src/auth.ts#20-45", false)}},
		{"toolshelf", "a file in brackets", "(@a/b.md) (see @c.md) @app/(shop)/page.tsx @app/(shop)", nil, []d{file(1, 8, "a/b.md", false), file(15, 20, "c.md", false), file(22, 42, "app/(shop)/page.tsx", false), file(43, 54, "app/(shop)", false)}},
		{"toolshelf", "globs and emphasis", "@src/**/*.ts @src/** **see @a.md**", nil, []d{file(0, 12, "src/**/*.ts", false), file(13, 20, "src/**", false), file(27, 32, "a.md", false)}},
		{"toolshelf", "characters that end a path", "@a/b,c @d/e;f @g/h\"i @j/k`l @m/n。", nil, []d{file(0, 4, "a/b", false), file(7, 11, "d/e", false), file(14, 18, "g/h", false), file(21, 25, "j/k", false), file(28, 32, "m/n", false)}},
		{"toolshelf", "a package looks like a path", "npm i @scope/package", nil, []d{file(6, 20, "scope/package", false)}},
		{"OpenCode", "no directive in an e-mail address", "me@example.com", nil, nil},
		{"toolshelf", "Chinese punctuation ends a path", "看 @a/b.go，然后（@c/d）看　@e/f（1）.md。@g\n@h/i（1）", nil, []d{file(4, 11, "a/b.go", false), file(23, 27, "c/d", false), file(36, 50, "e/f（1）.md", false), file(56, 67, "h/i（1）", false)}},
		{"toolshelf", "no directive without a path", "@param @alice, @media (x) @ @@ @. @@a/b", nil, nil},
		{"OpenCode", "no directive in code", "`@a/b` `x @a/b`\n```\n@a/b\n```", nil, nil},
		{"toolshelf", "no directive after quotes and backslashes", `"@a/b" '@a/b' \@a/b`, nil, nil},
	} {
		t.Run(tt.client+"/"+tt.rule, func(t *testing.T) {
			got := must.Get(template.Renderer{}.Render(t.Context(), template.Source{Text: tt.text}, template.Args{List: tt.args}))(t)
			must.Match(t, got.Text, tt.want, directives(got), cmp.AllowUnexported(directive{}))
		})
	}
}

func TestFilesInBracesHaveNoArguments(t *testing.T) {
	for _, argument := range []string{"", "x"} {
		r := template.Renderer{Rules: client.Gemini().Rules}
		got, err := r.Render(t.Context(), template.Source{Text: "{{args}}@{a/b} @{docs/{{args}}}"}, template.Args{List: []string{argument}})
		if len(got.Directives) != 1 || got.Directives[0].Text(got.Text) != "a/b" || err != nil {
			t.Errorf("the argument %q gives %+v, %v", argument, got, err)
		}
	}
}

// The numbers are small modulo 1<<32.
func TestHugeNumbersAreNoPositions(t *testing.T) {
	for _, rules := range template.AllRules() {
		if rules.Number == client.OneDigit {
			continue
		}
		for _, text := range []string{"$4294967297", "$42949672961", "$21474836480", "${4294967297}", "${@:21474836480}", "${@:1073741824:1073741824}"} {
			got, err := template.Renderer{Rules: rules}.Render(t.Context(), template.Source{Text: text}, template.Args{List: []string{"first", "second"}})
			if filled, _, _ := strings.Cut(got.Text, "\n\n"); strings.Contains(filled, "first") || strings.Contains(filled, "second") {
				t.Errorf("%s gives %q, %v by %+v", text, got.Text, err, rules)
			}
		}
	}
}

func TestCodeHasNoDirectivesWithInCode(t *testing.T) {
	got, err := inCode.Render(t.Context(), template.Source{Text: "```\n!`git diff $1`\n```\n`@$1`"}, template.Args{List: []string{"x/y"}})
	if want := (template.Result{Text: "```\n!`git diff x/y`\n```\n`@x/y`"}); err != nil || !cmp.Equal(want, got) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestArgumentsThatAddTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("long texts on one goroutine")
	}
	argument := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		what string
		n    int
		err  error
	}{
		{"64 times a megabyte", 64, nil},
		{"65 times a megabyte", 65, template.ErrTooLong},
		{"a million times a megabyte", 1 << 20, template.ErrTooLong},
	} {
		t.Run(tt.what, func(t *testing.T) {
			got, err := template.Renderer{}.Render(t.Context(), template.Source{Text: strings.Repeat("$x ", tt.n)}, template.Args{Named: map[string]string{"x": argument}})
			if err != tt.err || (err == nil) == (got.Text == "") {
				t.Errorf("got %d bytes, %v", len(got.Text), err)
			}
		})
	}
}

// FuzzRender renders a text with two marks as arguments, and again with other arguments. The second
// result must have the arguments in place of the marks, because no rule depends on the text of an
// argument. In !{command}, the text of the arguments is quoted.
func FuzzRender(f *testing.F) {
	for _, seed := range []struct{ text, first, second string }{
		{"$1 $2 $ARGUMENTS {{args}} $ARGUMENTS[1] ${input:x:y} $0", "$2", "$ARGUMENTS"},
		{"`$1` !`a $1` @$1 \\$1 $$1", "`", "!`rm` @x/y"},
		{"- ```\n  $1\n> ~~~\n> $2", "```\n", "\n"},
		{"\\$$1 $1,0 ${input:a$1}", "\\", "}"},
		{"!{a {{args}} {b}} @{c} @{{{args}}} ${@:1} ${2:1} ${1:-x} ${1} $+ $@ ${ARGUMENTS} ${@}", "it's; rm", "}"},
		{"$A $B $1 $$A", "$B", "A=$B"},
		{"x", "a", "b"},
	} {
		for of := range byte(len(template.AllRules())) {
			f.Add(seed.text, seed.first, seed.second, of)
		}
	}
	f.Fuzz(func(t *testing.T, text, first, second string, of byte) {
		const mark1, mark2 = "\x01\x02\x01", "\x01\x03\x01"
		if strings.Contains(text+first+second, "\x01") || strings.TrimSpace(first) == "" || strings.TrimSpace(second) == "" {
			t.Skip("the fuzz target omits this input")
		}
		rules := template.AllRules()
		r := template.Renderer{Rules: rules[int(of)%len(rules)]}
		list := func(first, second string) []string {
			if r.Rules.Forms&client.Capital != 0 {
				return []string{"A=" + first, "B=" + second}
			}
			return []string{first, second}
		}
		render := func(args ...string) (template.Result, error) {
			return r.Render(t.Context(), template.Source{Text: text}, template.Args{List: args})
		}
		marked, err := render(list(mark1, mark2)...)
		got, again := render(list(first, second)...)
		if err != nil || again != nil {
			if err == nil || again == nil || err.Error() != again.Error() {
				t.Errorf("%q gives %v, and with other arguments %v", text, err, again)
			}
			return
		}
		marks := strings.NewReplacer(mark1, first, mark2, second)
		quoted := strings.NewReplacer(template.ShellQuoted(strings.Join(list(mark1, mark2), " ")), template.ShellQuoted(strings.Join(list(first, second), " ")))
		want, copied := "", 0
		for _, d := range marked.Directives {
			if d.Kind == template.Shell && d.Braces {
				want += marks.Replace(marked.Text[copied:d.Start]) + quoted.Replace(marked.Text[d.Start:d.End])
				copied = d.End
			}
		}
		if want += marks.Replace(marked.Text[copied:]); got.Text != want {
			t.Errorf("%q with %q and %q gives %q, want %q", text, first, second, got.Text, want)
		}
		if len(got.Directives) != len(marked.Directives) {
			t.Fatalf("%q has directives %+v, and with other arguments %+v", text, marked.Directives, got.Directives)
		}
		after := 0
		before := directives(marked)
		for i, d := range directives(got) {
			opening, closing, fill := "@", "", marks
			switch {
			case d.braces && d.kind == template.Shell:
				opening, closing, fill = "!{", "}", quoted
			case d.braces:
				opening, closing = "@{", "}"
			case d.kind == template.Shell:
				opening, closing = "!`", "`"
			}
			m, whole := before[i], got.Text[d.start:d.end]
			inner := strings.TrimSuffix(strings.TrimPrefix(whole, opening), closing)
			if d.braces {
				inner = strings.TrimSpace(inner)
			}
			if d.start < after || !strings.HasPrefix(whole, opening) || !strings.HasSuffix(whole, closing) || inner != d.text ||
				d.kind != m.kind || d.text != fill.Replace(m.text) || d.from != strings.Contains(m.text, "\x01") {
				t.Errorf("%q has the directive %+v, and with other arguments %+v", text, d, m)
			}
			after = d.end
		}
		byName := func(args map[string]string) (template.Result, error) {
			return r.Render(t.Context(), template.Source{Text: text}, template.Args{Named: args})
		}
		named, err := byName(map[string]string{"x": first, "y": second})
		if again, other := byName(map[string]string{"y": second, "x": first}); (err == nil) != (other == nil) || !cmp.Equal(named, again) {
			t.Errorf("%q gives %q, %v, and then %q, %v", text, named.Text, err, again.Text, other)
		}

		plain, err := render()
		if r.Rules.Forms != 0 || strings.Contains(text, "$ARGUMENTS") || strings.Contains(text, "{{args}}") || strings.Contains(text, `\$`) {
			return
		}
		if plain.Text != text || err != nil {
			t.Errorf("%q gives %q, %v without arguments", text, plain.Text, err)
		}
	})
}

func TestArgumentsInBracesAreOneWordOfTheShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell is installed")
	}
	r := template.Renderer{Rules: client.Gemini().Rules}
	for _, argument := range []string{"main", "a b", "it's", "it's!", `"x" 'y'`, `\`, `a\"b`, "$HOME `id` $(id)", "x; rm -rf /", "a&&b|c>d<e", "}", "{a,b}", "*?[x]", "~", "#x", "a\nb", "é!", "-n", "\t'\\'"} {
		got, err := r.Render(t.Context(), template.Source{Text: "!{printf %s. {{args}}}"}, template.Args{List: []string{argument}})
		if err != nil || len(got.Directives) != 1 || !got.Directives[0].FromArguments {
			t.Fatalf("%q: %+v, %v", argument, got, err)
		}
		command := got.Directives[0].Text(got.Text)
		if out, err := exec.CommandContext(t.Context(), sh, "-c", command).Output(); string(out) != argument+"." || err != nil {
			t.Errorf("the shell reads %s as %q, %v; want %q", command, out, err, argument)
		}
	}
}

// wholeForm matches the placeholders of all arguments.
var wholeForm = regexp.MustCompile(`\$ARGUMENTS(\W|$)|{{args}}`)

// corpus is the directory of public files named by TOOLSHELF_CORPUS.
func corpus(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("TOOLSHELF_CORPUS")
	if dir == "" {
		t.Skip("TOOLSHELF_CORPUS is not set: it names a directory of public command and skill files")
	}
	return dir
}

func TestCorpusRendering(t *testing.T) {
	kinds := []string{"$ARGUMENTS", "$1", "$name", "{{args}}", "${input:", "none", "shell", "file", "code only"}
	count := map[string]int{}
	must.Do(t, filepath.WalkDir(filepath.Join(corpus(t), "commands"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(strings.ToLower(path), ".md") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, header := parse(string(data))
		parameters, err := template.Renderer{}.Parameters(t.Context(), template.Source{Text: text, Header: header})
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for i, arg := range parameters {
			if arg.Name == "" || arg.Position != i+1 {
				t.Errorf("%s: %+v", path, arg)
			}
		}
		plain, err := noAppend.Render(t.Context(), template.Source{Text: text, Header: header}, template.Args{List: nil})
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if !strings.Contains(text, "$ARGUMENTS") && !strings.Contains(text, "{{args}}") &&
			!strings.Contains(text, `\$`) && plain.Text != text {
			t.Errorf("%s is altered without an argument", path)
		}
		var args []string
		for i := range 9 {
			args = append(args, "<argument "+strconv.Itoa(i)+">")
		}
		filled, err := noAppend.Render(t.Context(), template.Source{Text: text, Header: header}, template.Args{List: args})
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, kind := range kinds[:5] {
			if strings.Contains(text, kind) {
				count[kind]++
			}
		}
		inCode := false
		markdown.Blocks(text, new(markdown.Meter), func(start, end int, kind markdown.Kind) {
			inCode = inCode || kind == markdown.Fenced && wholeForm.MatchString(text[start:end])
		})
		if inCode {
			count["all arguments in a code block"]++
		}
		if left := wholeForm.FindString(filled.Text); left != "" && !strings.Contains(text, `\$ARGUMENTS`) && !strings.Contains(text, "$$ARGUMENTS") {
			t.Errorf("%s: %s stays", path, left)
		}
		for _, d := range filled.Directives {
			count[string(d.Kind)]++
		}
		if !strings.Contains(filled.Text, "<argument ") {
			count["none"]++
			everywhere, err := template.Renderer{Rules: client.Rules{Append: client.Drop, Code: client.CodeWithPlaceholders}}.Render(t.Context(), template.Source{Text: text, Header: header}, template.Args{List: args})
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if strings.Contains(everywhere.Text, "<argument ") {
				count["code only"]++
			}
		}
		count["files"]++
		return nil
	}))
	t.Logf("%d files; %v", count["files"], count)
	if count["files"] == 0 || count["none"] == count["files"] {
		t.Error("nothing was filled in")
	}
}

func TestRenderNamedWithManyArguments(t *testing.T) {
	const n = 40_000
	var text, want strings.Builder
	args := make(map[string]string, n)
	for i := range n {
		name := "a" + strconv.Itoa(i)
		text.WriteString("${input:" + name + "} ")
		want.WriteString(name + "! ")
		args[name] = name + "!"
	}
	got, err := template.Renderer{}.Render(t.Context(), template.Source{Text: text.String()}, template.Args{Named: args})
	if got.Text != want.String() || err != nil {
		t.Errorf("got %d bytes, want %d; %v", len(got.Text), want.Len(), err)
	}
	list, err := template.Renderer{}.Parameters(t.Context(), template.Source{Text: text.String()})
	if len(list) != n || err != nil {
		t.Errorf("%d parameters, %v; want %d", len(list), err, n)
	}
}
