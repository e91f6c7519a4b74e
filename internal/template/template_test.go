package template_test

import (
	_ "embed"
	"errors"
	"fmt"
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

//go:embed testdata/texts.txt
var texts string

// rules returns a renderer with the rules of a client or with a name of testdata/texts.txt.
func rules(t *testing.T, name string) template.Renderer {
	switch name {
	case "default":
		return template.Renderer{}
	case "zero":
		return fromZero
	case "drop":
		return noAppend
	case "code":
		return inCode
	}
	return template.Renderer{Rules: must.Get(client.Lookup(name))(t).Rules}
}

func source(file string) template.Source {
	text, header := parse(file)
	return template.Source{Text: text, Header: header}
}

// TestTexts asks the questions of testdata/texts.txt, which describes the questions.
func TestTexts(t *testing.T) {
	must.Answer(t, texts, map[string]func(t *testing.T, a ...string) string{
		"render": func(t *testing.T, a ...string) string {
			args := template.Args{List: a[2:]}
			got := must.Get(rules(t, a[0]).Render(t.Context(), source(a[1]), args))(t)
			return strconv.Quote(got.Text)
		},
		"named": func(t *testing.T, a ...string) string {
			var args template.Args
			for _, pair := range a[2:] {
				if args.Named == nil {
					args.Named = map[string]string{}
				}
				name, value, _ := strings.Cut(pair, "=")
				args.Named[name] = value
			}
			got := must.Get(rules(t, a[0]).Render(t.Context(), source(a[1]), args))(t)
			return strconv.Quote(got.Text)
		},
		"directives": func(t *testing.T, a ...string) string {
			args, of := template.Args{List: a[2:]}, template.Source{Text: a[1]}
			got := must.Get(rules(t, a[0]).Render(t.Context(), of, args))(t)
			var list []string
			for _, d := range directives(got) {
				kind, filled := "file", ""
				if d.kind == "shell" {
					kind = "shell"
				}
				if d.from {
					filled = " filled"
				}
				list = append(list, fmt.Sprintf("%s %d-%d %q%s", kind, d.start, d.end, d.text, filled))
			}
			return strings.Join(list, ", ")
		},
		"parameters": func(t *testing.T, a ...string) string {
			return shownParameters(t, must.Get(rules(t, a[0]).Parameters(t.Context(), source(a[1])))(t))
		},
		"words": func(t *testing.T, a ...string) string { return fmt.Sprintf("%q", template.Words(a[0])) },
		"beyond": func(t *testing.T, a ...string) string {
			got, ok := template.Renderer{}.Beyond(source(a[0]))
			if !ok {
				return ""
			}
			return fmt.Sprintf("%s at %d, beyond %d", got.Text, got.Offset, got.Named)
		},
	})
}

func shownParameters(t *testing.T, list []template.Parameter) string {
	var all []string
	for i, p := range list {
		must.Equal(t, p.Name, i+1, p.Position)
		text := p.Name
		if strings.ContainsAny(text, " ,") {
			text = strconv.Quote(text)
		}
		if p.Hint != "" {
			text += fmt.Sprintf(" hint %q", p.Hint)
		}
		if p.Description != "" {
			text += fmt.Sprintf(" description %q", p.Description)
		}
		if p.Required {
			text += " required"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// A directive is a template.Directive with its text.
type directive struct {
	kind       string
	start, end int
	text       string
	from       bool
	braces     bool
}

func directives(r template.Result) []directive {
	var list []directive
	for _, d := range r.Directives {
		list = append(list, directive{d.Kind(), d.Start, d.End, d.Text(r.Text), d.FromArguments, d.Braces})
	}
	return list
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

func TestArgumentsThatAddTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("long texts on one goroutine")
	}
	argument := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		what   string
		n      int
		tooBig bool
	}{
		{"64 times a megabyte", 64, false},
		{"65 times a megabyte", 65, true},
		{"a million times a megabyte", 1 << 20, true},
	} {
		t.Run(tt.what, func(t *testing.T) {
			got, err := template.Renderer{}.Render(t.Context(), template.Source{Text: strings.Repeat("$x ", tt.n)}, template.Args{Named: map[string]string{"x": argument}})
			var failed *template.Error
			if tt.tooBig != (errors.As(err, &failed) && failed.Code == template.TooLong) || (err == nil) == (got.Text == "") {
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
			if d.Shell && d.Braces {
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
			case d.braces && d.kind == "shell":
				opening, closing, fill = "!{", "}", quoted
			case d.braces:
				opening, closing = "@{", "}"
			case d.kind == "shell":
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
			count[d.Kind()]++
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
