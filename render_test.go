package toolshelf_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// commandOf returns the command of a file with this text.
func commandOf(t testing.TB, file string) toolshelf.Command {
	t.Helper()
	fsys := afero.NewMemMapFs()
	must.Do(t, afero.WriteFile(fsys, "commands/c.md", []byte(file), 0o644))
	command := must.Get(catalog(t, toolshelf.WithFs(fsys)).Get(t.Context(), "c"))(t)
	return command
}

// Package internal/template tests the rules. TestRenderer tests the conversions to
// the types of this package.
func TestRenderer(t *testing.T) {
	command := commandOf(t, "---\narguments:\n  - name: a\n    description: d\n    required: true\n    hint: h\n---\n$0 $a `$1` !`x $1` @y/z")
	for _, tt := range []struct {
		with toolshelf.Renderer
		want toolshelf.Rendering
	}{
		{toolshelf.Renderer{}, toolshelf.Rendering{Text: "v v `$1` !`x $1` @y/z", Directives: []toolshelf.Directive{
			{Kind: toolshelf.DirectiveShell, Start: 9, End: 16, Text: "x $1"},
			{Kind: toolshelf.DirectiveFile, Start: 17, End: 21, Text: "y/z"},
		}}},
		{toolshelf.Renderer{Rules: client.Rules{Count: client.CountFromOne}}, toolshelf.Rendering{Text: "$0 v `$1` !`x v` @y/z", Directives: []toolshelf.Directive{
			{Kind: toolshelf.DirectiveShell, Start: 10, End: 16, Text: "x v", FromArguments: true},
			{Kind: toolshelf.DirectiveFile, Start: 17, End: 21, Text: "y/z"},
		}}},
		{toolshelf.Renderer{Rules: client.Rules{Count: client.CountFromOne, Code: client.CodeWithPlaceholders}}, toolshelf.Rendering{Text: "$0 v `v` !`x v` @y/z", Directives: []toolshelf.Directive{
			{Kind: toolshelf.DirectiveShell, Start: 9, End: 15, Text: "x v", FromArguments: true},
			{Kind: toolshelf.DirectiveFile, Start: 16, End: 20, Text: "y/z"},
		}}},
	} {
		byPosition, err := tt.with.Render(t.Context(), command, toolshelf.Args{List: []string{"v"}})
		if diff := cmp.Diff(tt.want, byPosition); diff != "" || err != nil {
			t.Errorf("%+v.Render: %v (-want +got):\n%s", tt.with, err, diff)
		}
		byName, err := tt.with.Render(t.Context(), command, toolshelf.Args{Named: map[string]string{"a": "v"}})
		if diff := cmp.Diff(tt.want, byName); diff != "" || err != nil {
			t.Errorf("%+v.Render by name: %v (-want +got):\n%s", tt.with, err, diff)
		}
	}
	for rules, want := range map[client.Rules]string{{}: "x\n\nARGUMENTS: v", {Append: client.Drop}: "x", {Append: client.AppendCommand}: "x\n\n/c v"} {
		got, err := toolshelf.Renderer{Rules: rules}.Render(t.Context(), toolshelf.Command{Name: "c", Content: "x"}, toolshelf.ParseArgs("v"))
		if got.Text != want || err != nil {
			t.Errorf("%+v gives %q, %v; want %q", rules, got.Text, err, want)
		}
	}
	want := []toolshelf.Argument{{Name: "a", Position: 1, Description: "d", Hint: "h", Required: true}, {Name: "1", Position: 2}}
	must.Match(t, "Arguments", want, argumentsOf(t, command))
}

func TestCommandsRenderWithTheirRules(t *testing.T) {
	command := commandOf(t, "---\narguments: [a]\n---\n$1 $a `$1` $b")
	if got, err := command.Render("v"); got != "v v `$1` $b" || err != nil {
		t.Errorf("Render = %q, %v", got, err)
	}
	got, err := toolshelf.Renderer{}.Render(t.Context(), command, toolshelf.Args{Named: map[string]string{"a": "v", "b": "w"}})
	if got.Text != "v v `$1` w" || err != nil {
		t.Errorf("Renderer.Render = %q, %v", got.Text, err)
	}
	command.Rules = client.Claude().Rules
	if got, err := command.Render("v", "w"); got != "w v `w` $b" || err != nil {
		t.Errorf("by the rules of Claude Code, Render = %q, %v", got, err)
	}
	got, err = toolshelf.Renderer{}.Render(t.Context(), command, toolshelf.Args{List: []string{"v", "w"}})
	if got.Text != "v v `$1` $b" || err != nil {
		t.Errorf("the zero Renderer gives %q, %v", got.Text, err)
	}
}

func TestLayersHaveTheRulesOfTheirClients(t *testing.T) {
	root := diskOf(t, map[string]string{
		".claude/commands/c.md": "$1", ".claude/skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\n$1 ${CLAUDE_SKILL_DIR}", ".opencode/commands/o.md": "$1",
		".agents/skills/a/SKILL.md": "---\nname: a\ndescription: d\n---\n$HOME $1", "commands/own.md": "$1",
	})
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithHome(""), toolshelf.WithCommandsDir("commands"),
		toolshelf.WithClient(client.Claude(), client.OpenCode(), client.Codex()))
	for name, want := range map[string]string{"c": "y", "o": "x y", "own": "x"} {
		command := must.Get(c.Get(t.Context(), name))(t)
		if got, err := command.Render("x", "y"); got != want || err != nil {
			t.Errorf("%s renders as %q, %v; want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{"s": "y " + filepath.Join(root, ".claude", "skills", "s"), "a": "$HOME x y"} {
		skill := must.Get(c.GetSkill(t.Context(), name))(t)
		if got, err := skill.Render("x", "y"); got != want || err != nil {
			t.Errorf("%s renders as %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestErrorsOfRender(t *testing.T) {
	for _, tt := range []struct {
		rules      client.Rules
		text, args string
		want       string
	}{
		{client.Codex().Rules, "$FILE $FILE $TO", "TO=x", "toolshelf: Render: \"c\" needs the argument \"FILE\"; give a value as KEY=value (INVALID_ARGUMENTS)"},
		{client.Codex().Rules, "$" + strings.Repeat("F", 70), "", "toolshelf: Render: \"c\" needs the argument \"" + strings.Repeat("F", 64) + "…\"; give a value as KEY=value (INVALID_ARGUMENTS)"},
		{client.Codex().Rules, "$FILE $DIR", "", "toolshelf: Render: \"c\" needs the arguments \"FILE\", \"DIR\"; give a value as KEY=value (INVALID_ARGUMENTS)"},
		{client.Kit().Rules, "$3 $3", "a b", "toolshelf: Render: \"c\" needs argument 3; 2 are given (INVALID_ARGUMENTS)"},
		{client.Kit().Rules, "$1 $2 ${3}", "a", "toolshelf: Render: \"c\" needs arguments 2, 3; 1 is given (INVALID_ARGUMENTS)"},
		{client.Kit().Rules, "${2:3}", "", "toolshelf: Render: \"c\" needs argument 2; 0 are given (INVALID_ARGUMENTS)"},
		{client.Rules{Count: client.CountFromZero, NoNumber: client.Fails}, "$2 $ARGUMENTS[3]", "a", "toolshelf: Render: \"c\" needs arguments 3, 4; 1 is given (INVALID_ARGUMENTS)"},
		{client.Codex().Rules, "$FILE", "a b", "toolshelf: Render: the argument \"a\" of \"c\" has no name; give each argument as KEY=value (INVALID_ARGUMENTS)"},
		{client.Gemini().Rules, "Run !{git diff", "a", "toolshelf: Render: the directive !{ at byte 4 of the text of \"c\" has no end; add the closing brace (INVALID_DIRECTIVE)"},
	} {
		_, err := toolshelf.Renderer{Rules: tt.rules}.Render(t.Context(), toolshelf.Command{Name: "c", Content: tt.text}, toolshelf.ParseArgs(tt.args))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%q: got %v, want %s", tt.text, err, tt.want)
		}
	}
}

// Package internal/template tests the words of a line.
func TestArgsOfALine(t *testing.T) {
	for _, tt := range []struct {
		rule, line string
		list       []string
	}{
		{"Line is the line as typed", ` 417 "a b" `, []string{"417", "a b"}},
		{"KEY=value stays in List", "issue=417", []string{"issue=417"}},
		{"a line of blanks has no arguments", " \t", nil},
		{"an open quote is a letter", "don't fix", []string{"don't", "fix"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			must.Match(t, "result", toolshelf.Args{Line: tt.line, List: tt.list}, toolshelf.ParseArgs(tt.line))
		})
	}
}

func TestRenderLimitsTheText(t *testing.T) {
	argument := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		what string
		n    int
		code toolshelf.Code
	}{
		{"64 times a megabyte", 64, ""},
		{"65 times a megabyte", 65, toolshelf.CodeSizeLimitExceeded},
		{"a million times a megabyte", 1 << 20, toolshelf.CodeSizeLimitExceeded},
	} {
		t.Run(tt.what, func(t *testing.T) {
			command := toolshelf.Command{Name: "bomb", Content: strings.Repeat("$x ", tt.n)}
			got, err := toolshelf.Renderer{}.Render(t.Context(), command, toolshelf.Args{Named: map[string]string{"x": argument}})
			if toolshelf.CodeOf(err) != tt.code || (err == nil) == (got.Text == "") {
				t.Errorf("got %d bytes, %v", len(got.Text), err)
			}
			var e *toolshelf.Error
			if errors.As(err, &e) && (e.Op != "Render" || e.Path != "bomb") {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// argumentsOf returns the arguments of a command by the rules of the zero Renderer.
func argumentsOf(t *testing.T, c toolshelf.Command) []toolshelf.Argument {
	t.Helper()
	list := must.Get(toolshelf.Renderer{}.Arguments(t.Context(), c))(t)
	return list
}

func TestArgumentsInJSON(t *testing.T) {
	got, err := json.Marshal(argumentsOf(t, commandOf(t, "---\nargument-hint: <issue>\n---\n$1 $2")))
	want := `[{"name":"issue","position":1,"hint":"\u003cissue\u003e","required":true},{"name":"2","position":2,"required":false}]`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

// An ended context is an error even if the text is empty.
func TestEndedContexts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (toolshelf.Renderer{}).Arguments(ctx, toolshelf.Command{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Arguments returns %v", err)
	}
	if _, err := (toolshelf.Renderer{}).Render(ctx, toolshelf.Command{}, toolshelf.Args{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Render returns %v", err)
	}
	if _, err := (toolshelf.Renderer{}).Render(ctx, toolshelf.Skill{}, toolshelf.Args{Line: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Render of a skill returns %v", err)
	}
}
