package template_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// parse returns the text and the header of a file.
func parse(file string) (text string, header matter.Document) {
	header, _ = matter.Parse([]byte(file), true)
	return file[header.Body:], header
}

var (
	fromZero = template.Options{CountFromZero: true}
	noAppend = template.Options{NoAppend: true}
	inCode   = template.Options{InCode: true}
)

// The client is the one whose documentation or program does what the case
// says; "all" is each of them, and "toolshelf" where they differ and we chose,
// or where none says anything.
func TestRender(t *testing.T) {
	for _, tt := range []struct {
		client, what string
		text         string
		args         []string
		want         string
		with         template.Options
	}{
		// All arguments.
		{client: "all", what: "$ARGUMENTS is the arguments with blanks between", text: "Fix issue $ARGUMENTS.", args: []string{"123", "high"}, want: "Fix issue 123 high."},
		{client: "all", what: "it does so each time", text: "$ARGUMENTS, $ARGUMENTS", args: []string{"a"}, want: "a, a"},
		{client: "all", what: "of no arguments it is empty", text: "Fix $ARGUMENTS now.", want: "Fix  now."},
		{client: "Claude Code", what: "nothing is quoted", text: "$ARGUMENTS", args: []string{"a b", `c"d`}, want: `a b c"d`},
		{client: "Claude Code", what: "it is a whole word", text: "$ARGUMENTS_FILE $ARGUMENTSX $arguments", args: []string{"a"}, want: "$ARGUMENTS_FILE $ARGUMENTSX $arguments", with: noAppend},
		{client: "toolshelf", what: "letters of other scripts end the word", text: "$ARGUMENTSを確認", args: []string{"a"}, want: "aを確認"},
		{client: "toolshelf", what: "braces are none of its forms", text: "${ARGUMENTS}", args: []string{"a"}, want: "${ARGUMENTS}", with: noAppend},
		{client: "Gemini CLI", what: "{{args}} is the arguments", text: "Plan {{args}}.", args: []string{"a", "b"}, want: "Plan a b."},
		{client: "Gemini CLI", what: "of no arguments it is empty", text: "Plan {{args}}.", want: "Plan ."},
		{client: "Gemini CLI", what: "it is spelled so", text: "{{ args }} {{arg}} {args} {{ARGS}}", args: []string{"a"}, want: "{{ args }} {{arg}} {args} {{ARGS}}", with: noAppend},
		{client: "toolshelf", what: "braces around it stay", text: "{{{args}}}", args: []string{"a"}, want: "{a}"},

		// One argument.
		{client: "Codex CLI", what: "$1 is the first", text: "Review PR #$1 with priority $2 for $3.", args: []string{"456", "high", "alice"}, want: "Review PR #456 with priority high for alice."},
		{client: "OpenCode", what: "$1 is the first", text: "Create $1 in $2", args: []string{"config.json", "src"}, want: "Create config.json in src"},
		{client: "Claude Code, classic commands", what: "$1 is the first", text: "$1-$2", args: []string{"a", "b"}, want: "a-b"},
		{client: "Claude Code, skills", what: "$0 is the first", text: "Migrate $0 from $1 to $2.", args: []string{"SearchBar", "React", "Vue"}, want: "Migrate SearchBar from React to Vue.", with: fromZero},
		{client: "Claude Code, skills", what: "$1 is the second, and missing", text: "$0 $1", args: []string{"a"}, want: "a $1", with: fromZero},
		{client: "Codex CLI", what: "$0 is no argument", text: "$0 $1", args: []string{"a"}, want: "$0 a"},
		{client: "Claude Code", what: "$ARGUMENTS[0] is the first", text: "$ARGUMENTS[0] and $ARGUMENTS[1]", args: []string{"a", "b"}, want: "a and b"},
		{client: "Claude Code, skills", what: "$ARGUMENTS[0] is the first under both", text: "$ARGUMENTS[0]=$0", args: []string{"a"}, want: "a=a", with: fromZero},
		{client: "Claude Code", what: "one that is not given stays", text: "$1 $2 $ARGUMENTS[2]", args: []string{"a"}, want: "a $2 $ARGUMENTS[2]"},
		{client: "Claude Code", what: "one that is given and empty is filled in", text: "<$1>", args: []string{""}, want: "<>"},
		{client: "OpenCode", what: "$10 is the tenth", text: "$10", args: strings.Fields("a b c d e f g h i j"), want: "j"},
		{client: "toolshelf", what: "the last one takes no more than its own", text: "$1 $2", args: []string{"a", "b", "c"}, want: "a b"},
		{client: "toolshelf", what: "brackets without a number are text", text: "$ARGUMENTS[] $ARGUMENTS[n] $ARGUMENTS[-1] $ARGUMENTS[00]", args: []string{"a"}, want: "a[] a[n] a[-1] a[00]"},
		{client: "toolshelf", what: "a bracket that is not closed is text", text: "$ARGUMENTS[0", args: []string{"a"}, want: "a[0"},
		{client: "toolshelf", what: "numbers have no leading zeros", text: "$007 $01", args: []string{"a", "b"}, want: "$007 $01", with: noAppend},
		{client: "toolshelf", what: "a number beyond all numbers stays", text: "$99999999999999999999 $ARGUMENTS[99999999999999999999]", args: []string{"a"}, want: "$99999999999999999999 a[99999999999999999999]"},
		{client: "toolshelf", what: "what follows may be any mark", text: "$1: $1; $1/$2 ($1) \"$1\" $1-$2 $1.", args: []string{"a", "b"}, want: "a: a; a/b (a) \"a\" a-b a."},
		{client: "toolshelf", what: "what is before may be any letter", text: "v$1 feature/$1 é$1", args: []string{"a"}, want: "va feature/a éa"},
		{client: "toolshelf", what: "a file's ending follows", text: "$1.md $1.test.ts", args: []string{"a"}, want: "a.md a.test.ts"},

		// What only looks like a placeholder.
		{client: "Claude Code", what: "a number in a word", text: "$1st $5k $1M $2_x", args: []string{"a", "b"}, want: "$1st $5k $1M $2_x", with: noAppend},
		{client: "Claude Code", what: "a price beyond the arguments", text: "$5 million for $1", args: []string{"a"}, want: "$5 million for a"},
		{client: "toolshelf", what: "a price with a separator", text: "$1,000 or $1.50 or $0.01 for $1, $2.", args: []string{"a", "b"}, want: "$1,000 or $1.50 or $0.01 for a, b."},
		{client: "toolshelf", what: "a price with a separator, counting from zero", text: "$0.01 and $0", args: []string{"a"}, want: "$0.01 and a", with: fromZero},
		{client: "Codex CLI", what: "$$ stays, and keeps what follows", text: "$$ $$1 $$ARGUMENTS", args: []string{"a"}, want: "$$ $$1 $$ARGUMENTS", with: noAppend},
		{client: "toolshelf", what: "after $$, a dollar sign is one again", text: "$$$1", args: []string{"a"}, want: "$$a"},
		{client: "all", what: "variables of a shell", text: "$PATH ${HOME} $(pwd) $? $# $@ $* $-", args: []string{"a"}, want: "$PATH ${HOME} $(pwd) $? $# $@ $* $-", with: noAppend},
		{client: "Claude Code", what: "numbers in braces", text: "${1} ${1:-x}", args: []string{"a"}, want: "${1} ${1:-x}", with: noAppend},
		{client: "toolshelf", what: "unfinished forms", text: "$ ${ ${input: ${input:x {{args} {{args $", args: []string{"a"}, want: "$ ${ ${input: ${input:x {{args} {{args $", with: noAppend},
		{client: "toolshelf", what: "bytes that are not UTF-8", text: "\xff$1\xc3\x28\x00", args: []string{"\xfe"}, want: "\xff\xfe\xc3\x28\x00"},

		// Nothing is expanded twice.
		{client: "Codex CLI", what: "placeholders in an argument stay", text: "$1 $2", args: []string{"$2 $ARGUMENTS {{args}}", "$1"}, want: "$2 $ARGUMENTS {{args}} $1"},
		{client: "toolshelf", what: "an argument and what follows make no placeholder", text: "$1ARGUMENTS $1.", args: []string{"$"}, want: "$1ARGUMENTS $."},
		{client: "toolshelf", what: "an argument that ends in a backslash escapes nothing", text: "$1$2", args: []string{`\`, "b"}, want: `\b`},
		{client: "toolshelf", what: "backticks in an argument make no code", text: "$1 $2 `", args: []string{"`", "b"}, want: "` b `"},
		{client: "toolshelf", what: "a fence in an argument opens none", text: "$1\n$2", args: []string{"```", "b"}, want: "```\nb"},

		// Escapes.
		{client: "Claude Code", what: `\$1 is $1`, text: `\$1 and $1`, args: []string{"a"}, want: "$1 and a"},
		{client: "Claude Code", what: "it is so without arguments, too", text: `\$1 \$0.01 \$ARGUMENTS \$ARGUMENTS[0]`, want: `$1 $0.01 $ARGUMENTS $ARGUMENTS[0]`},
		{client: "Claude Code", what: "a backslash before anything else stays", text: `\$HOME \$ \a C:\$dir \`, args: []string{"a"}, want: `\$HOME \$ \a C:\$dir \`, with: noAppend},
		{client: "toolshelf", what: "an escaped backslash escapes nothing", text: `\\$1 \\\$1`, args: []string{"a"}, want: `\\a \\$1`},
		{client: "toolshelf", what: `\$$1 is a dollar sign and an argument`, text: `\$$1`, args: []string{"5"}, want: `$5`},
		{client: "toolshelf", what: "VS Code's form is escaped likewise", text: `\${input:x} ${input:x}`, args: []string{"a"}, want: `${input:x} a`},

		// Code.
		{client: "all", what: "the whole and named forms are filled in code", text: "`gh issue view $ARGUMENTS` `{{args}}`\n```\nrun ${input:x}\n```", args: []string{"7"}, want: "`gh issue view 7` `7`\n```\nrun 7\n```"},
		{client: "Claude Code", what: "so is $ARGUMENTS[0]", text: "```\nrun $ARGUMENTS[1] $ARGUMENTS[0]\n```", args: []string{"7", "8"}, want: "```\nrun 8 7\n```"},
		{client: "all", what: "of no arguments they are empty in code", text: "`run $ARGUMENTS {{args}}`", want: "`run  `"},
		{client: "toolshelf", what: "a backslash in code escapes what is a placeholder there", text: "`\\$ARGUMENTS \\$1 \\\\$ARGUMENTS` \\$1", args: []string{"a"}, want: "`$ARGUMENTS \\$1 \\\\a` $1"},
		{client: "toolshelf", what: "variables of a shell stay in code", text: "`echo $HOME ${1} $@ $ARGUMENTS_X $1`", args: []string{"a"}, want: "`echo $HOME ${1} $@ $ARGUMENTS_X $1`", with: noAppend},
		{client: "toolshelf", what: "nothing is appended if code is filled in", text: "`run $ARGUMENTS`", args: []string{"a"}, want: "`run a`"},
		{client: "toolshelf", what: "after code, numbers are placeholders again", text: "`$1` $1\n```\n$1\n```\n$1 `$1` $1", args: []string{"a"}, want: "`$1` a\n```\n$1\n```\na `$1` a"},
		{client: "toolshelf", what: "$1 in a code span is left alone", text: "`$1` $1", args: []string{"a"}, want: "`$1` a"},
		{client: "toolshelf", what: "a code span of two backticks", text: "`` $1 ` $1 `` $1", args: []string{"a"}, want: "`` $1 ` $1 `` a"},
		{client: "toolshelf", what: "a backtick alone is none", text: "it`s $1", args: []string{"a"}, want: "it`s a"},
		{client: "toolshelf", what: "runs of different lengths are none", text: "`` $1 ` $1 ```", args: []string{"a"}, want: "`` a ` a ```"},
		{client: "toolshelf", what: "a run that nothing closes does not hide one that is closed", text: "```` ``` $1 `` $1 `` `$1` $1", args: []string{"a"}, want: "```` ``` a `` $1 `` `$1` a"},
		{client: "toolshelf", what: "a brace is not escaped", text: `docs\{{args}}`, args: []string{"a"}, want: `docs\a`},
		{client: "toolshelf", what: "an escaped backtick opens none", text: "\\`$1\\`", args: []string{"a"}, want: "\\`a\\`"},
		{client: "toolshelf", what: "a code span over two lines", text: "`a\n$1` $1", args: []string{"a"}, want: "`a\n$1` a"},
		{client: "toolshelf", what: "none over two paragraphs", text: "`a\n\n$1` $1", args: []string{"a"}, want: "`a\n\na` a"},
		{client: "toolshelf", what: "none over two list items", text: "- it`s $1\n- it`s $1", args: []string{"a"}, want: "- it`s a\n- it`s a"},
		{client: "toolshelf", what: "none over a heading", text: "# it`s $1\nit`s $1", args: []string{"a"}, want: "# it`s a\nit`s a"},
		{client: "toolshelf", what: "$1 in a fenced block is left alone", text: "```bash\necho $1\n```\n$1", args: []string{"a"}, want: "```bash\necho $1\n```\na"},
		{client: "toolshelf", what: "one of tildes", text: "~~~\n$1\n```\n~~~\n$1", args: []string{"a"}, want: "~~~\n$1\n```\n~~~\na"},
		{client: "toolshelf", what: "a longer fence", text: "````\n```\n$1\n````\n$1", args: []string{"a"}, want: "````\n```\n$1\n````\na"},
		{client: "toolshelf", what: "one in a list", text: "1. x\n\n   ```\n   $1\n   ```\n   $1", args: []string{"a"}, want: "1. x\n\n   ```\n   $1\n   ```\n   a"},
		{client: "toolshelf", what: "one on the line of its list item", text: "- ```\n  $1\n  ```\n- $1", args: []string{"a"}, want: "- ```\n  $1\n  ```\n- a"},
		{client: "toolshelf", what: "one indented by a tab, in a list", text: "-\tx\n\n\t```\n\t$1\n\t```\n\t$1", args: []string{"a"}, want: "-\tx\n\n\t```\n\t$1\n\t```\n\ta"},
		{client: "toolshelf", what: "one below an empty list item", text: "-\n  ```\n  $1\n\n$1", args: []string{"a"}, want: "-\n  ```\n  $1\n\na"},
		{client: "toolshelf", what: "one after an empty list item and a blank line", text: "-\n\n  ```\n$1", args: []string{"a"}, want: "-\n\n  ```\n$1", with: noAppend},
		{client: "toolshelf", what: "headings and tables end what is before", text: "a ` $1\n---\n` $1\n| ` | $1 |\n| ` | $1 |", args: []string{"a"}, want: "a ` a\n---\n` a\n| ` | a |\n| ` | a |"},
		{client: "toolshelf", what: "one that ends with its list item", text: "- ```\n  $1\n\n$1", args: []string{"a"}, want: "- ```\n  $1\n\na"},
		{client: "toolshelf", what: "one that ends with a list item in another", text: "- x\n  - ```\n    $1\n  $1", args: []string{"a"}, want: "- x\n  - ```\n    $1\n  a"},
		{client: "toolshelf", what: "one in a quote", text: "> ```\n> $1\n> ```\n> $1", args: []string{"a"}, want: "> ```\n> $1\n> ```\n> a"},
		{client: "toolshelf", what: "one that ends with its quote", text: "> ```\n> $1\n$1", args: []string{"a"}, want: "> ```\n> $1\na"},
		{client: "toolshelf", what: "one that is not closed", text: "```\n$1\n", args: []string{"a"}, want: "```\n$1\n", with: noAppend},
		{client: "toolshelf", what: "one indented too far", text: "x\n\n        ```\n        $1\n        ```\n$1", args: []string{"a"}, want: "x\n\n        ```\n        $1\n        ```\na"},
		{client: "toolshelf", what: "a fence in deeper code closes nothing", text: "```\n    ```\n$1\n```\n$1", args: []string{"a"}, want: "```\n    ```\n$1\n```\na"},
		{client: "toolshelf", what: "with Windows line breaks", text: "```\r\n$1\r\n```\r\n$1\r\n", args: []string{"a"}, want: "```\r\n$1\r\n```\r\na\r\n"},
		{client: "toolshelf", what: "indented text is text", text: "    $1", args: []string{"a"}, want: "    a"},
		{client: "Claude Code", what: "$1 in code is filled in if one wants it", text: "`$1`\n```\nawk '{print $1}' \\$1\n```\n", args: []string{"a"}, want: "`a`\n```\nawk '{print a}' $1\n```\n", with: inCode},

		// Names.
		{client: "VS Code", what: "${input:name} is filled in by position", text: "${input:a} ${input:b} ${input:a}", args: []string{"x", "y"}, want: "x y x"},
		{client: "VS Code", what: "a hint is taken away with it", text: "A form named ${input:name:MyForm, for instance}.", args: []string{"x"}, want: "A form named x."},
		{client: "VS Code", what: "what is not given stays", text: "${input:a} ${input:b:hint} ${selection}", args: []string{"x"}, want: "x ${input:b:hint} ${selection}"},
		{client: "toolshelf", what: "it has a name and one line", text: "${input:} ${input: :x} ${input:a\n}", args: []string{"x"}, want: "${input:} ${input: :x} ${input:a\n}", with: noAppend},

		// Arguments without a placeholder.
		{client: "Claude Code", what: "arguments are appended", text: "Do it.", args: []string{"a", "b"}, want: "Do it.\n\nARGUMENTS: a b"},
		{client: "all", what: "nothing is appended for none", text: "Do it.\n", want: "Do it.\n"},
		{client: "Claude Code", what: "arguments that no placeholder received are appended", text: "It costs $5.", args: []string{"a"}, want: "It costs $5.\n\nARGUMENTS: a"},
		{client: "toolshelf", what: "so are those with numbers in code only", text: "`$1`", args: []string{"a"}, want: "`$1`\n\nARGUMENTS: a"},
		{client: "toolshelf", what: "nothing is appended for blank ones", text: "Do it.", args: []string{"", " "}, want: "Do it."},
		{client: "toolshelf", what: "appended text is not expanded", text: "Do it.", args: []string{"$ARGUMENTS"}, want: "Do it.\n\nARGUMENTS: $ARGUMENTS"},
		{client: "toolshelf", what: "nothing is appended if one does not want it", text: "Do it.", args: []string{"a"}, want: "Do it.", with: noAppend},
		{client: "toolshelf", what: "an empty text has nothing but them", text: "", args: []string{"a"}, want: "\n\nARGUMENTS: a"},
	} {
		t.Run(tt.client+"/"+tt.what, func(t *testing.T) {
			got, err := tt.with.Render(t.Context(), tt.text, matter.Document{}, tt.args)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want {
				t.Errorf("%q with %q gives\n%q, want\n%q", tt.text, tt.args, got.Text, tt.want)
			}
		})
	}
}

func TestRenderDeclaredNames(t *testing.T) {
	for _, tt := range []struct {
		client, what, header string
		text                 string
		args                 []string
		want                 string
	}{
		{"Claude Code", "a list", "arguments: [issue, branch]", "Fix $issue on $branch.", []string{"7", "main"}, "Fix 7 on main."},
		{"Claude Code", "a text with blanks", "arguments: issue branch", "$issue, $branch", []string{"7", "main"}, "7, main"},
		{"Claude Code", "names and numbers are the same arguments", "arguments: [issue]", "$issue = $1", []string{"7"}, "7 = 7"},
		{"Claude Code", "in code too", "arguments: [issue, branch]", "`fix $issue`\n```\ngit switch $branch $HOME $1\n```", []string{"7", "main"}, "`fix 7`\n```\ngit switch main $HOME $1\n```"},
		{"Claude Code", "a declared name is escaped in code too", "arguments: [issue]", "`\\$issue \\$other $issue`", []string{"7"}, "`$issue \\$other 7`"},
		{"Claude Code", "what is not declared stays", "arguments: [path]", "$path $PATH $Path ${path} $paths $path_", []string{"x"}, "x $PATH $Path ${path} $paths $path_"},
		{"toolshelf", "what is declared and not given stays", "arguments: [issue, branch]", "$issue $branch", []string{"7"}, "7 $branch"},
		{"Claude Code", "a declared name is escaped", "arguments: [issue]", `\$issue \$other $issue`, []string{"7"}, `$issue \$other 7`},
		{"toolshelf", "dollar signs in the declaration", "arguments: $CONCEPT1 $CONCEPT2", "$CONCEPT1/$CONCEPT2", []string{"a", "b"}, "a/b"},
		{"toolshelf", "hyphens, the longest name first", "arguments: [issue, issue-id]", "$issue-id $issue-x $issue- $issue", []string{"a", "b"}, "b a-x a- a"},
		{"toolshelf", "commas", "arguments: a, b", "$a$b", []string{"1", "2"}, "12"},
		{"toolshelf", "mappings", "arguments:\n  - name: issue\n    required: true\n  - name: branch", "$issue $branch", []string{"7", "main"}, "7 main"},
		{"toolshelf", "of a name that is there twice, the first", "arguments: [a, a]", "$a $2", []string{"1", "2"}, "1 2"},
		{"toolshelf", "a sentence declares nothing", "arguments: The issue's number.", "$The $number", []string{"7"}, "$The $number\n\nARGUMENTS: 7"},
		{"toolshelf", "a hint declares nothing", "argument-hint: \"[path]\"", "$path $1", []string{"7"}, "$path 7"},
		{"toolshelf", "VS Code's form takes declared names", "arguments: [a, b]", "${input:b} ${input:c}", []string{"1", "2", "3"}, "2 3"},
		{"toolshelf", "and those of a hint", "argument-hint: \"<a> <b>\"", "${input:b:say}", []string{"1", "2"}, "2"},
	} {
		t.Run(tt.client+"/"+tt.what, func(t *testing.T) {
			text, header := parse("---\n" + tt.header + "\n---\n" + tt.text)
			got, err := template.Options{}.Render(t.Context(), text, header, tt.args)
			if got.Text != tt.want || err != nil {
				t.Errorf("got %q, %v; want %q", got.Text, err, tt.want)
			}
		})
	}
}

func TestRenderNamed(t *testing.T) {
	type names = map[string]string
	for _, tt := range []struct {
		client, what, file string
		args               names
		want               string
		with               template.Options
	}{
		{"Claude Code", "declared names", "---\narguments: [issue, branch]\n---\nFix $issue on $branch.", names{"branch": "main", "issue": "7"}, "Fix 7 on main.", template.Options{}},
		{"Codex CLI", "names that are given", "$FILE and $TICKET_ID and $HOME", names{"FILE": "a.go", "TICKET_ID": "7"}, "a.go and 7 and $HOME", template.Options{}},
		{"VS Code", "inputs", "${input:name:MyForm} ${input:other}", names{"name": "x"}, "x ${input:other}", template.Options{}},
		{"Codex CLI", "names that are given, in code", "`cat $FILE $HOME`", names{"FILE": "a.go"}, "`cat a.go $HOME`", template.Options{}},
		{"toolshelf", "declared names fill numbers", "---\narguments: [issue, branch]\n---\n$2 $1 $ARGUMENTS[0]", names{"issue": "7", "branch": "main"}, "main 7 7", template.Options{}},
		{"toolshelf", "so do those of a hint", "---\nargument-hint: \"[pr-number] [priority]\"\n---\n#$1 $2", names{"pr-number": "7", "priority": "high"}, "#7 high", template.Options{}},
		{"toolshelf", "numbers are names", "$1 $2", names{"2": "b", "1": "a"}, "a b", template.Options{}},
		{"toolshelf", "numbers are names, counting from zero", "$0 $1", names{"1": "b", "0": "a"}, "a b", fromZero},
		{"toolshelf", "a number is a position of a declared name", "---\narguments: [issue]\n---\n$issue $1", names{"1": "7"}, "7 7", template.Options{}},
		{"toolshelf", "the name has precedence", "---\narguments: [issue]\n---\n$issue $1", names{"1": "8", "issue": "7"}, "7 7", template.Options{}},
		{"toolshelf", "one argument fills a text that takes what comes", "Look at $ARGUMENTS.", names{"arguments": "this"}, "Look at this.", template.Options{}},
		{"toolshelf", "all are in order, the others by name", "---\narguments: [z, a]\n---\n$ARGUMENTS", names{"a": "2", "z": "1", "y": "4", "b": "3"}, "1 2 3 4", template.Options{}},
		{"toolshelf", "a position may be left out", "---\narguments: [a, b]\n---\n$1 $2 $ARGUMENTS", names{"b": "2"}, "$1 2 2", template.Options{}},
		{"toolshelf", "one that is given and empty is filled in", "<$x>", names{"x": ""}, "<>", template.Options{}},
		{"toolshelf", "nothing is expanded twice", "$a $b", names{"a": "$b", "b": "$a"}, "$b $a", template.Options{}},
		{"toolshelf", "values are appended", "Do it.", names{"b": "2", "a": "1"}, "Do it.\n\nARGUMENTS: 1 2", template.Options{}},
		{"toolshelf", "a name that is given is escaped", `\$a $a \$b`, names{"a": "1"}, `$a 1 \$b`, template.Options{}},
		{"toolshelf", "no name is too long for ${input:…}", "${input:" + strings.Repeat("x", 100) + "} $" + strings.Repeat("x", 100), names{strings.Repeat("x", 100): "1"}, "1 $" + strings.Repeat("x", 100), template.Options{}},
		{"toolshelf", "one that $name takes has 64 bytes", "$" + strings.Repeat("x", 64) + " $" + strings.Repeat("y", 65), names{strings.Repeat("x", 64): "1", strings.Repeat("y", 65): "2"}, "1 $" + strings.Repeat("y", 65), template.Options{}},
		{"toolshelf", "nil is no arguments", "$a $ARGUMENTS.", nil, "$a .", template.Options{}},
	} {
		t.Run(tt.client+"/"+tt.what, func(t *testing.T) {
			text, header := parse(tt.file)
			got, err := tt.with.RenderNamed(t.Context(), text, header, tt.args)
			if got.Text != tt.want || err != nil {
				t.Errorf("got %q, %v; want %q", got.Text, err, tt.want)
			}
		})
	}
}

// A directive has its text, which the package returns separately.
type directive struct {
	kind       template.Kind
	start, end int
	text       string
	from       bool
}

func directives(r template.Result) []directive {
	var list []directive
	for _, d := range r.Directives {
		list = append(list, directive{d.Kind, d.Start, d.End, d.Text(r.Text), d.FromArguments})
	}
	return list
}

func TestRenderDirectives(t *testing.T) {
	type d = directive
	shell := func(start, end int, text string, from bool) d { return d{template.Shell, start, end, text, from} }
	file := func(start, end int, text string, from bool) d { return d{template.File, start, end, text, from} }
	for _, tt := range []struct {
		client, what, text string
		args               []string
		want               []d
	}{
		{"Claude Code", "a shell command", "- Status: !`git status`", nil, []d{shell(10, 23, "git status", false)}},
		{"Claude Code", "at the beginning of the text and of a line", "!`a`\n!`b`", nil, []d{shell(0, 4, "a", false), shell(5, 9, "b", false)}},
		{"Claude Code", "with arguments", "!`git diff $1`", []string{"main"}, []d{shell(0, 16, "git diff main", true)}},
		{"Claude Code", "an argument that is not given stays", "!`git diff $1`", nil, []d{shell(0, 14, "git diff $1", false)}},
		{"toolshelf", "an empty argument is no text of one", "!`git diff $1`", []string{""}, []d{shell(0, 12, "git diff ", false)}},
		{"Claude Code", "escapes", "!`awk '{print \\$1}'`", []string{"x"}, []d{shell(0, 19, "awk '{print $1}'", false)}},
		{"toolshelf", "an empty argument beside another", "!`$1 $2`", []string{"x", ""}, []d{shell(0, 5, "x ", true)}},
		{"toolshelf", "an argument with a backtick", "!`echo $1`", []string{"`; rm -rf /"}, []d{shell(0, 19, "echo `; rm -rf /", true)}},
		{"toolshelf", "only the directive with the argument is flagged", "$1 !`a` !`$1` !`b`", []string{"x"}, []d{shell(2, 6, "a", false), shell(7, 11, "x", true), shell(12, 16, "b", false)}},
		{"Claude Code", "none inside of a word", "KEY=!`a` x!`b`", nil, nil},
		{"toolshelf", "none in a code span", "Write `` !`cmd` `` or `!` or `!cmd`", nil, nil},
		{"toolshelf", "none in a fenced block", "```\n!`cmd`\n```", nil, nil},
		{"toolshelf", "none over two lines", "!`a\nb`", nil, nil},
		{"toolshelf", "none that is empty or has more backticks", "!`` !` ` !``a`` !```b```", nil, nil},
		{"toolshelf", "none after a backslash", "\\!`a`", nil, nil},
		{"toolshelf", "none that an argument makes", "$1 $2`a` $ARGUMENTS", []string{"!`rm`", "!", "@x/y"}, nil},
		{"toolshelf", "none in what is appended", "Do it.", []string{"!`rm` @x/y"}, nil},
		{"Gemini CLI", "its own forms are text", "!{git diff} @{docs/x.md}", nil, nil},

		{"OpenCode", "a file", "Review @src/auth.ts.", nil, []d{file(7, 19, "src/auth.ts", false)}},
		{"Claude Code", "with an argument", "Review @$1, @src/$1.test.ts", []string{"a b"}, []d{file(7, 11, "a b", true), file(13, 29, "src/a b.test.ts", true)}},
		{"OpenCode", "with all arguments", "read it with @$ARGUMENTS; then", []string{"x", "y"}, []d{file(13, 17, "x y", true)}},
		{"VS Code", "with an input", "@${input:file:which file}", []string{"x"}, []d{file(0, 2, "x", true)}},
		{"Gemini CLI", "with its arguments", "@{{args}}", []string{"x"}, []d{file(0, 2, "x", true)}},
		{"toolshelf", "punctuation after an argument is not its own", "@$1. @$1.", []string{"x."}, []d{file(0, 3, "x.", true), file(5, 8, "x.", true)}},
		{"toolshelf", "nothing of a placeholder is punctuation", "@a]/$ARGUMENTS[0]", []string{"x"}, []d{file(0, 5, "a]/x", true)}},
		{"toolshelf", "an argument that is not given makes no path", "@$1 @docs/$1", nil, []d{file(4, 12, "docs/$1", false)}},
		{"OpenCode", "hidden, in the home folder, and folders", "@.env.local @~/notes @styles/ @./x", nil, []d{file(0, 11, ".env.local", false), file(12, 20, "~/notes", false), file(21, 29, "styles/", false), file(30, 34, "./x", false)}},
		{"OpenCode", "with lines", "@src/auth.ts#20-45", nil, []d{file(0, 18, "src/auth.ts#20-45", false)}},
		{"toolshelf", "in brackets", "(@a/b.md) (see @c.md) @app/(shop)/page.tsx @app/(shop)", nil, []d{file(1, 8, "a/b.md", false), file(15, 20, "c.md", false), file(22, 42, "app/(shop)/page.tsx", false), file(43, 54, "app/(shop)", false)}},
		{"toolshelf", "globs, and emphasis", "@src/**/*.ts @src/** **see @a.md**", nil, []d{file(0, 12, "src/**/*.ts", false), file(13, 20, "src/**", false), file(27, 32, "a.md", false)}},
		{"toolshelf", "what ends it", "@a/b,c @d/e;f @g/h\"i @j/k`l @m/n。", nil, []d{file(0, 4, "a/b", false), file(7, 11, "d/e", false), file(14, 18, "g/h", false), file(21, 25, "j/k", false), file(28, 32, "m/n", false)}},
		{"toolshelf", "a package looks like a path", "npm i @scope/package", nil, []d{file(6, 20, "scope/package", false)}},
		{"OpenCode", "none in an e-mail address", "me@example.com", nil, nil},
		{"toolshelf", "what ends it in Chinese", "看 @a/b.go，然后（@c/d）看　@e/f（1）.md。@g\n@h/i（1）", nil, []d{file(4, 11, "a/b.go", false), file(23, 27, "c/d", false), file(36, 50, "e/f（1）.md", false), file(56, 67, "h/i（1）", false)}},
		{"toolshelf", "none without a path", "@param @alice, @media (x) @ @@ @. @@a/b", nil, nil},
		{"OpenCode", "none in code", "`@a/b` `x @a/b`\n```\n@a/b\n```", nil, nil},
		{"toolshelf", "none after quotes and backslashes", `"@a/b" '@a/b' \@a/b`, nil, nil},
	} {
		t.Run(tt.client+"/"+tt.what, func(t *testing.T) {
			got, err := template.Options{}.Render(t.Context(), tt.text, matter.Document{}, tt.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, directives(got), cmp.AllowUnexported(directive{})); diff != "" {
				t.Errorf("%q (-want +got):\n%s", got.Text, diff)
			}
		})
	}
}

func TestDirectivesOfCodeAreNoneEvenWhereItIsFilledIn(t *testing.T) {
	got, err := inCode.Render(t.Context(), "```\n!`git diff $1`\n```\n`@$1`", matter.Document{}, []string{"x/y"})
	if want := (template.Result{Text: "```\n!`git diff x/y`\n```\n`@x/y`"}); err != nil || !cmp.Equal(want, got) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestArgumentsThatAddTooMuch(t *testing.T) {
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
			got, err := template.Options{}.RenderNamed(t.Context(), strings.Repeat("$x ", tt.n), matter.Document{}, map[string]string{"x": argument})
			if err != tt.err || (err == nil) == (got.Text == "") {
				t.Errorf("got %d bytes, %v", len(got.Text), err)
			}
		})
	}
}

// The same text rendered with arguments that hold nothing but a mark, which no
// rule can know: where the marks are, the arguments are, whatever they hold.
func FuzzRender(f *testing.F) {
	for _, seed := range []struct{ text, first, second string }{
		{"$1 $2 $ARGUMENTS {{args}} $ARGUMENTS[1] ${input:x:y} $0", "$2", "$ARGUMENTS"},
		{"`$1` !`a $1` @$1 \\$1 $$1", "`", "!`rm` @x/y"},
		{"- ```\n  $1\n> ~~~\n> $2", "```\n", "\n"},
		{"\\$$1 $1,0 ${input:a$1}", "\\", "}"},
		{"x", "a", "b"},
	} {
		for options := range byte(8) {
			f.Add(seed.text, seed.first, seed.second, options)
		}
	}
	f.Fuzz(func(t *testing.T, text, first, second string, options byte) {
		const mark1, mark2 = "\x01\x02\x01", "\x01\x03\x01"
		if strings.Contains(text+first+second, "\x01") || strings.TrimSpace(first) == "" || strings.TrimSpace(second) == "" {
			t.Skip()
		}
		r := template.Options{CountFromZero: options&1 != 0, NoAppend: options&2 != 0, InCode: options&4 != 0}
		render := func(args ...string) (template.Result, error) {
			return r.Render(t.Context(), text, matter.Document{}, args)
		}
		marked, err := render(mark1, mark2)
		if err != nil {
			t.Fatal(err)
		}
		got, err := render(first, second)
		if err != nil {
			t.Fatal(err)
		}
		marks := strings.NewReplacer(mark1, first, mark2, second)
		if want := marks.Replace(marked.Text); got.Text != want {
			t.Errorf("%q with %q and %q gives %q, want %q", text, first, second, got.Text, want)
		}
		if len(got.Directives) != len(marked.Directives) {
			t.Fatalf("%q has directives %+v, and with other arguments %+v", text, marked.Directives, got.Directives)
		}
		after := 0
		before := directives(marked)
		for i, d := range directives(got) {
			whole := "@" + d.text
			if d.kind == template.Shell {
				whole = "!`" + d.text + "`"
			}
			m := before[i]
			if d.start < after || got.Text[d.start:d.end] != whole || d.kind != m.kind || d.text != marks.Replace(m.text) || d.from != strings.Contains(m.text, "\x01") {
				t.Errorf("%q has the directive %+v, and with other arguments %+v", text, d, m)
			}
			after = d.end
		}
		named, err := r.RenderNamed(t.Context(), text, matter.Document{}, map[string]string{"x": first, "y": second})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := r.RenderNamed(t.Context(), text, matter.Document{}, map[string]string{"y": second, "x": first}); err != nil || !cmp.Equal(named, again) {
			t.Errorf("%q gives %q, and then %q, %v", text, named.Text, again.Text, err)
		}

		plain, err := render()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "$ARGUMENTS") || strings.Contains(text, "{{args}}") || strings.Contains(text, `\$`) {
			return
		}
		if plain.Text != text {
			t.Errorf("%q gives %q without arguments", text, plain.Text)
		}
	})
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
	err := filepath.WalkDir(filepath.Join(corpus(t), "commands"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(strings.ToLower(path), ".md") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, header := parse(string(data))
		parameters, err := template.Options{}.Parameters(t.Context(), text, header)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for i, arg := range parameters {
			if arg.Name == "" || arg.Position != i+1 {
				t.Errorf("%s: %+v", path, arg)
			}
		}
		plain, err := noAppend.Render(t.Context(), text, header, nil)
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
		filled, err := noAppend.Render(t.Context(), text, header, args)
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
			everywhere, err := template.Options{NoAppend: true, InCode: true}.Render(t.Context(), text, header, args)
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if strings.Contains(everywhere.Text, "<argument ") {
				count["code only"]++
			}
		}
		count["files"]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
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
	got, err := template.Options{}.RenderNamed(t.Context(), text.String(), matter.Document{}, args)
	if got.Text != want.String() || err != nil {
		t.Errorf("got %d bytes, want %d; %v", len(got.Text), want.Len(), err)
	}
	list, err := template.Options{}.Parameters(t.Context(), text.String(), matter.Document{})
	if len(list) != n || err != nil {
		t.Errorf("%d parameters, %v; want %d", len(list), err, n)
	}
}
