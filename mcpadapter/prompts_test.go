package mcpadapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// commands contains the commands of the prompt tests.
var commands = map[string]string{
	"commands/fix.md":     "---\ndescription: Fix an issue\narguments: [issue, branch]\n---\nFix #$issue on $branch.\n",
	"commands/all.md":     "---\ndescription: Take what comes\n---\nLook at $ARGUMENTS.\n",
	"commands/release.md": "---\nargument-hint: \"[major|minor|patch]\"\n---\nMake a $1 release.\n",
	"commands/plain.md":   "Nothing to fill in.\n",
	"commands/part.md":    "---\nis_dependency: true\n---\nA part.\n",
}

func prompter(t testing.TB) *mcpadapter.Adapter {
	t.Helper()
	return adapterOf(t, catalog(t, memory(t, commands)))
}

func TestPromptsAreTheListedCommands(t *testing.T) {
	prompts := must.Get(prompter(t).Prompts(ctx))(t)
	got := map[string]int{}
	var order []string
	for _, p := range prompts {
		got[p.Name] = len(p.Arguments)
		order = append(order, p.Name)
	}
	must.Match(t, "names and numbers of arguments", map[string]int{"all": 1, "fix": 2, "plain": 0, "release": 1}, got)
	if !slices.IsSorted(order) {
		t.Errorf("the order is %q", order)
	}
	if p := prompts[1]; p.Description != "Fix an issue" || p.Arguments[0].Name != "issue" || p.Arguments[1].Name != "branch" {
		t.Errorf("got %+v", p)
	}
}

func TestPromptsOfAMissingDirectoryAreEmpty(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{"x": ""})))
	must.Len(t, "prompts", 0, must.Get(a.Prompts(ctx))(t))
	sameJSON(t, must.Get(ready(t, a).Handle(ctx, "prompts/list", nil))(t), `{"prompts":[]}`)
}

func TestPromptsOfAMissingRootAreAnError(t *testing.T) {
	c := must.Get(toolshelf.New(toolshelf.WithRoot(filepath.Join(t.TempDir(), "missing"))))(t)
	t.Cleanup(func() { c.Close() })
	a := adapterOf(t, c)
	for _, call := range []struct{ method, params string }{
		{"prompts/list", ""},
		{"prompts/get", `{"name":"a"}`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"b","value":""}}`},
	} {
		_, err := ready(t, a).Handle(ctx, call.method, json.RawMessage(call.params))
		if e := rpcError(t, err); e.Code != mcpadapter.CodeInternalError || !strings.Contains(e.Message, "missing") {
			t.Errorf("%s: got %v", call.method, e)
		}
	}
}

func TestPromptsOfAnUnreadableDirectoryAreAnError(t *testing.T) {
	a := adapterOf(t, catalog(t, deny{memory(t, commands), []string{"commands"}}))
	must.Fail(a.Prompts(ctx))(t, "error", toolshelf.ErrPermissionDenied)
	_, err := ready(t, a).Handle(ctx, "prompts/list", nil)
	must.Equal(t, "Code", mcpadapter.CodeInternalError, rpcError(t, err).Code)
}

func TestUnreadableCommandsAreNotPrompts(t *testing.T) {
	a := adapterOf(t, catalog(t, deny{memory(t, commands), []string{"commands/all.md"}}))
	must.Len(t, "prompts", 3, must.Get(a.Prompts(ctx))(t))
	if _, ok, err := a.Prompt(ctx, "all"); ok || err != nil {
		t.Errorf("got %t, %v", ok, err)
	}
}

func TestGetPromptFillsInArguments(t *testing.T) {
	tests := []struct {
		name, prompt, arguments, want string
	}{
		{"by name", "fix", `{"issue":"7","branch":"main"}`, "Fix #7 on main.\n"},
		{"some of them", "fix", `{"issue":"7"}`, "Fix #7 on $branch.\n"},
		{"none", "fix", `{}`, "Fix #$issue on $branch.\n"},
		{"null for one", "fix", `{"issue":null,"branch":"main"}`, "Fix #$issue on main.\n"},
		{"null", "fix", `null`, "Fix #$issue on $branch.\n"},
		{"text that looks like an argument", "fix", `{"issue":"$branch","branch":"$1"}`, "Fix #$branch on $1.\n"},
		{"of a command without any", "plain", `{}`, "Nothing to fill in.\n"},
	}
	s := ready(t, prompter(t))
	for _, tt := range tests {
		t.Run(tt.prompt+"/"+tt.name, func(t *testing.T) {
			raw := must.Get(s.Handle(ctx, "prompts/get", json.RawMessage(`{"name":"`+tt.prompt+`","arguments":`+tt.arguments+`}`)))(t)
			var got struct {
				Messages []struct {
					Role    string
					Content struct{ Type, Text string }
				}
			}
			must.Do(t, json.Unmarshal(raw, &got))
			if len(got.Messages) != 1 || got.Messages[0].Role != "user" || got.Messages[0].Content.Type != "text" || got.Messages[0].Content.Text != tt.want {
				t.Errorf("got %s, want %q", raw, tt.want)
			}
		})
	}
}

// For every name of a command's only argument, the value of the first listed argument appears in
// the text.
func TestFirstArgumentAppearsInTheText(t *testing.T) {
	a := prompter(t)
	for name, want := range map[string]string{"all": "Look at this.\n", "release": "Make a this release.\n"} {
		p, ok, err := a.Prompt(ctx, name)
		must.Do(t, err)
		must.Equal(t, "ok", true, ok)
		must.Equal(t, name, want,
			must.Get(a.GetPrompt(ctx, name, map[string]string{p.Arguments[0].Name: "this"}))(t).Text)
	}
}

func TestWithRendererSetsTheRenderer(t *testing.T) {
	fsys := memory(t, map[string]string{"commands/run.md": "Run `make $0`.\n"})
	a := adapterOf(t, catalog(t, fsys), mcpadapter.WithRenderer(toolshelf.Renderer{Rules: client.Claude().Rules}))
	p, ok, err := a.Prompt(ctx, "run")
	if err != nil || !ok || len(p.Arguments) != 1 {
		t.Fatalf("got %+v, %t, %v", p, ok, err)
	}
	must.Equal(t, "Text", "Run `make test`.\n",
		must.Get(a.GetPrompt(ctx, "run", map[string]string{p.Arguments[0].Name: "test"}))(t).Text)
}

// invocable has commands, and skills that a user may invoke. A skill hides the command pdf, and
// models alone invoke the skill plain.
var invocable = map[string]string{
	"commands/fix.md":       commands["commands/fix.md"],
	"commands/pdf.md":       "The command $1.\n",
	"commands/plain.md":     commands["commands/plain.md"],
	"skills/bare/notes.md":  "",
	"skills/draw/SKILL.md":  "---\nname: draw\ndescription: Draws.\ndisable-model-invocation: true\nargument-hint: \"[circle|square]\"\n---\nDraw a $1.\n",
	"skills/pdf/SKILL.md":   "---\nname: pdf\ndescription: |\n  Reads PDF.\n  Writes none.\n---\nRead $ARGUMENTS.\n",
	"skills/plain/SKILL.md": "---\nname: plain\ndescription: x\nuser-invocable: false\n---\nThe skill.\n",
}

func promptNames(prompts []mcpadapter.Prompt) (names []string) {
	for _, p := range prompts {
		names = append(names, p.Name)
	}
	return names
}

func TestSkillsThatAUserMayInvokeArePromptsAfterTheCommands(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, invocable)))
	prompts, err := a.Prompts(ctx)
	if diff := cmp.Diff([]string{"fix", "plain", "draw", "pdf"}, promptNames(prompts)); diff != "" || err != nil {
		t.Fatalf("%v, (-want +got):\n%s", err, diff)
	}
	want := []mcpadapter.Prompt{
		{Name: "draw", Description: "Draws.", Arguments: []mcpadapter.PromptArgument{{Name: "circle|square", Description: "[circle|square]"}}},
		{Name: "pdf", Description: "Reads PDF.\nWrites none.", Arguments: []mcpadapter.PromptArgument{{Name: "arguments"}}},
	}
	must.Match(t, "the skills", want, prompts[2:])
	for _, listed := range prompts {
		if p, ok, err := a.Prompt(ctx, listed.Name); !ok || err != nil || !cmp.Equal(p, listed) {
			t.Errorf("the prompt %s is %+v, %t, %v", listed.Name, p, ok, err)
		}
	}
	for _, tt := range []struct {
		rule, name, argument, want string
	}{
		{"the text of a skill is its SKILL.md", "draw", "circle|square", "Draw a x.\n"},
		{"a skill hides the command of the same name", "pdf", "arguments", "Read x.\n"},
		{"a skill for models only hides no command", "plain", "", "Nothing to fill in.\n"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			arguments := map[string]string{tt.argument: "x"}
			if tt.argument == "" {
				arguments = nil
			}
			must.Equal(t, "Text", tt.want, must.Get(a.GetPrompt(ctx, tt.name, arguments))(t).Text)
		})
	}
	must.Match(t, "the argument of a skill is completed as", []string{"square"},
		must.Get(a.Complete(ctx, "draw", "circle|square", "s"))(t).Values)
	for _, name := range []string{"bare", "none", "../pdf", "pdf.md/x", ""} {
		if _, err := a.GetPrompt(ctx, name, nil); rpcError(t, err).Code != mcpadapter.CodeInvalidParams || !errors.Is(err, toolshelf.ErrCommandNotFound) {
			t.Errorf("the prompt %q: %v", name, err)
		}
	}
}

func TestASkillThatCannotBeReadHidesTheCommandFromThePrompts(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{"commands/pdf.md": "Command.", "skills/pdf/SKILL.md": "---\nname: pdf\n---\n"}), toolshelf.WithStrict(client.AgentSkills())))
	list, err := a.ListPrompts(ctx, nil)
	if _, getErr := a.GetPrompt(ctx, "pdf", nil); len(list.Prompts) > 0 || list.Contains("pdf") || err != nil || getErr == nil {
		t.Errorf("%+v, Contains returns %t, %v; GetPrompt: %v", list.Prompts, list.Contains("pdf"), err, getErr)
	}
}

func TestPagesOfPromptsHaveBothKinds(t *testing.T) {
	fsys := memory(t, invocable)
	a := adapterOf(t, catalog(t, fsys), mcpadapter.WithPageSize(1))
	var names []string
	var cursor *string
	for range 10 {
		list := must.Get(a.ListPrompts(ctx, cursor))(t)
		names = append(names, promptNames(list.Prompts)...)
		for name, want := range map[string]bool{"fix": true, "fix.md": true, "pdf": true, "plain": true, "bare": false, "draw.md": false} {
			must.Equal(t, name, want, list.Contains(name))
		}
		if list.NextCursor == "" {
			break
		}
		cursor = &list.NextCursor
		if len(names) == 3 { // the last row is removed, and rows before and after are added
			must.Do(t, errors.Join(fsys.RemoveAll("skills/draw"), afero.WriteFile(fsys, "skills/a/SKILL.md", []byte("---\nname: a\n---\n"), 0o644),
				afero.WriteFile(fsys, "skills/z/SKILL.md", []byte("---\nname: z\n---\n"), 0o644)))
		}
	}
	must.Match(t, "result", []string{"fix", "plain", "draw", "pdf", "z"}, names)
}

func TestADirectoryOfOneKindMayBeMissing(t *testing.T) {
	for _, tt := range []struct {
		missing string
		want    []string
	}{
		{"commands", []string{"draw", "pdf"}},
		{"skills", []string{"fix", "pdf", "plain"}},
	} {
		fsys := memory(t, invocable)
		must.Do(t, fsys.RemoveAll(tt.missing))
		prompts, err := adapterOf(t, catalog(t, fsys)).Prompts(ctx)
		if diff := cmp.Diff(tt.want, promptNames(prompts)); diff != "" || err != nil {
			t.Errorf("without %s: %v, (-want +got):\n%s", tt.missing, err, diff)
		}
		c := catalog(t, deny{memory(t, invocable), []string{tt.missing}})
		must.Fail(adapterOf(t, c).Prompts(ctx))(t, tt.missing, toolshelf.ErrPermissionDenied)
	}
}

func TestAChangedSkillIsAChangedPrompt(t *testing.T) {
	fsys := memory(t, invocable)
	c := catalog(t, fsys)
	must.Get(c.ListSkills(ctx))(t)
	told := make(chan []string, 100)
	defer adapterOf(t, c).OnPromptsChange(func(names []string) { told <- names })()
	must.Do(t, errors.Join(afero.WriteFile(fsys, "skills/new/SKILL.md", []byte("---\nname: new\n---\n"), 0o644), fsys.RemoveAll("skills/pdf")))
	must.Get(c.ListSkills(ctx))(t)
	must.Match(t, "result", []string{"new", "pdf"}, <-told)
}

func TestPromptsFollowTheRulesOfTheirLayer(t *testing.T) {
	fsys := memory(t, map[string]string{".claude/commands/a.md": "Fix $1.\n", ".codex/prompts/b.md": "Open $FILE.\n", ".gemini/commands/c.toml": "prompt = \"Plan $1.\"\n", "commands/d.md": "Fix $1.\n"})
	c, err := toolshelf.New(toolshelf.WithFs(fsys), toolshelf.WithHome(""), toolshelf.WithCommandsDir("commands"), toolshelf.WithClient(client.Claude(), client.Codex(), client.Gemini()))
	must.Do(t, err)
	t.Cleanup(func() { c.Close() })
	names := func(a *mcpadapter.Adapter) map[string][]string {
		all := map[string][]string{}
		for _, p := range must.Get(a.Prompts(ctx))(t) {
			one, ok, err := a.Prompt(ctx, p.Name)
			if diff := cmp.Diff(p, one); diff != "" || !ok || err != nil {
				t.Errorf("Prompt: %t, %v (-list +one):\n%s", ok, err, diff)
			}
			all[p.Name] = []string{}
			for _, arg := range p.Arguments {
				all[p.Name] = append(all[p.Name], arg.Name)
			}
		}
		return all
	}
	ofLayers, ofOne := adapterOf(t, c), adapterOf(t, c, mcpadapter.WithRenderer(toolshelf.Renderer{}))
	must.Match(t, "by the rules of the layers", map[string][]string{"a": {"0", "1"}, "prompts:b": {"FILE"}, "c": {}, "d": {"1"}}, names(ofLayers))
	must.Match(t, "by the default rules", map[string][]string{"a": {"1"}, "prompts:b": {}, "c": {"1"}, "d": {"1"}}, names(ofOne))
	for _, tt := range []struct {
		name string
		args map[string]string
		want string
	}{
		{"a", map[string]string{"1": "x"}, "Fix x.\n"},
		{"a", map[string]string{"0": "x"}, "Fix $1.\n\n\nARGUMENTS: x"},
		{"prompts:b", map[string]string{"FILE": "a.go"}, "Open a.go.\n"},
		{"c", nil, "Plan $1."},
		{"d", map[string]string{"1": "x"}, "Fix x.\n"},
	} {
		must.Equal(t, tt.name, tt.want, must.Get(ofLayers.GetPrompt(ctx, tt.name, tt.args))(t).Text)
	}
	_, err = ofLayers.GetPrompt(ctx, "prompts:b", nil)
	var rpc *mcpadapter.RPCError
	if !errors.As(err, &rpc) || rpc.Code != mcpadapter.CodeInvalidParams || !errors.Is(err, toolshelf.ErrInvalidArguments) || rpc.Message != `"prompts:b" needs the argument "FILE"; add the argument` {
		t.Errorf("without the required argument, got %v", err)
	}
	must.Len(t, "completion.Values", 0,
		must.Get(ofLayers.Complete(ctx, "prompts:b", "FILE", ""))(t).Values)
}

func TestPromptsHaveNoDirectoryOfTheHost(t *testing.T) {
	fsys := memory(t, map[string]string{"skills/pdf/SKILL.md": "---\nname: pdf\ndescription: d\n---\nRun ${CLAUDE_SKILL_DIR}/run.sh.\n"})
	for want, opts := range map[string][]mcpadapter.Option{
		"Run ${CLAUDE_SKILL_DIR}/run.sh.\n": nil,
		"Run skills/run.sh.\n":              {mcpadapter.WithRenderer(toolshelf.Renderer{Values: map[string]string{"CLAUDE_SKILL_DIR": "skills"}})},
	} {
		must.Equal(t, "Text", want,
			must.Get(adapterOf(t, catalog(t, fsys), opts...).GetPrompt(ctx, "pdf", nil))(t).Text)
	}
}

func TestOnPromptsChangeCombinesChanges(t *testing.T) {
	fsys := memory(t, commands)
	c := catalog(t, fsys)
	a := adapterOf(t, c)
	must.Get(c.List(ctx, toolshelf.Page{}))(t)
	told := make(chan []string, 100)
	stop := a.OnPromptsChange(func(names []string) { told <- names })
	var want []string
	for i := range 20 {
		name := fmt.Sprintf("new%02d", i)
		must.Do(t, afero.WriteFile(fsys, "commands/"+name+".md", []byte("x"), 0o644))
		want = append(want, name)
	}
	must.Do(t, fsys.Remove("commands/plain.md"))
	want = append(want, "plain")
	must.Get(c.List(ctx, toolshelf.Page{}))(t)
	must.Match(t, "result", want, <-told)
	stop()
	stop()
	must.Do(t, fsys.Remove("commands/fix.md"))
	must.Get(c.List(ctx, toolshelf.Page{}))(t)
	must.Equal(t, "changes after stop", 0, len(told))
}

func TestOnPromptsChangeReportsTheFirstPromptOfANewDirectory(t *testing.T) {
	root := t.TempDir()
	c := must.Get(toolshelf.New(toolshelf.WithRoot(root), toolshelf.WithWatch()))(t)
	defer c.Close()
	told := make(chan []string, 100)
	defer adapterOf(t, c).OnPromptsChange(func(names []string) { told <- names })()
	dir := filepath.Join(root, "commands")
	must.Do(t, errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "first.md"), []byte("x"), 0o644)))
	must.Match(t, "result", []string{"first"}, <-told)
}

func TestCompletion(t *testing.T) {
	files := map[string]string{"skills/calc/SKILL.md": "---\nname: calc\ndescription: x\n---\n", "skills/paint/SKILL.md": "---\nname: paint\ndescription: x\n---\n"}
	for name, text := range commands {
		files[name] = text
	}
	files["commands/get_command.md"] = "---\narguments:\n  - name: level\n    description: \"[low|high]\"\n---\nGet $level.\n"
	a := adapterOf(t, catalog(t, memory(t, files)), mcpadapter.WithExtraTools(mcpadapter.Tool{
		Name: "power", Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) { return mcpadapter.Result{}, nil },
		InputSchema: json.RawMessage(`{"type":"object","properties":{"command":{"enum":["start","stop","start"]},"level":{"enum":[1,null,"x",{"a":1}]}}}`),
	}))
	tests := []struct {
		name, ref, argument, typed string
		want                       []string
	}{
		{"a prompt that has a tool's name", "get_command", "level", "h", []string{"high"}},
		{"a hint with choices", "release", "", "", []string{"major", "minor", "patch"}},
		{"by their beginning", "release", "", "M", []string{"major", "minor"}},
		{"then by what they hold", "release", "", "t", []string{"patch"}},
		{"no choices are known", "fix", "issue", "7", []string{}},
		{"names of commands", "get_command", "command_name", "", []string{"all", "fix", "get_command", "plain", "release"}},
		{"names of commands that begin so", "get_command", "command_name", "p", []string{"plain"}},
		{"an enum", "list_directory", "sort_by", "s", []string{"size"}},
		{"nothing known", "list_directory", "path", "", []string{}},
		{"an enum of an argument that is called as ours are", "power", "command", "", []string{"start", "stop"}},
		{"the strings of a mixed enum", "power", "level", "", []string{"x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			argument := tt.argument
			if argument == "" {
				p, _, err := a.Prompt(ctx, tt.ref)
				must.Do(t, err)
				argument = p.Arguments[0].Name
			}
			got := must.Get(a.Complete(ctx, tt.ref, argument, tt.typed))(t)
			want := mcpadapter.Completion{Values: tt.want, Total: len(tt.want)}
			must.Match(t, "result", want, got)
		})
	}
}

func TestCompletionReturnsAtMost100Values(t *testing.T) {
	files := map[string]string{}
	for i := range 101 {
		files[fmt.Sprintf("commands/c%03d.md", i)] = "x"
	}
	a := adapterOf(t, catalog(t, memory(t, files)))
	got, err := a.Complete(ctx, "get_command", "command_name", "c")
	if err != nil || len(got.Values) != 100 || got.Total != 101 || !got.HasMore {
		t.Errorf("got %d values of %d, more %t, %v", len(got.Values), got.Total, got.HasMore, err)
	}
}

// GetPrompt accepts a call without a required argument: the text keeps the placeholder.
func TestArgumentsOfPromptsAreRequiredAsTheAuthorWrites(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{"commands/tag.md": "---\nargument-hint: <issue> [label]\n---\nTag $1 with $2.\n"})))
	raw, err := ready(t, a).Handle(ctx, "prompts/list", nil)
	want := `{"prompts":[{"name":"tag","description":"Tag $1 with $2.","arguments":[{"name":"issue","description":"<issue>","required":true},{"name":"label","description":"[label]"}]}]}`
	must.Do(t, err)
	must.Equal(t, "raw", want, string(raw))
	must.Equal(t, "prompt.Text", "Tag $1 with bug.\n",
		must.Get(a.GetPrompt(ctx, "tag", map[string]string{"label": "bug"}))(t).Text)
}

// TestStoredCursorOfPromptsStaysValid requests the prompts after a stored cursor. A client
// may keep a cursor while the library is updated.
func TestStoredCursorOfPromptsStaysValid(t *testing.T) {
	stored := "AdEMPktmaXg"
	a := adapterOf(t, catalog(t, memory(t, commands)), mcpadapter.WithPageSize(2))
	must.Equal(t, "first.NextCursor", stored, must.Get(a.ListPrompts(ctx, nil))(t).NextCursor)
	next := must.Get(a.ListPrompts(ctx, &stored))(t)
	must.Len(t, "after the stored cursor", 2, next.Prompts)
	must.Equal(t, "after the stored cursor", "plain", next.Prompts[0].Name)
}

// The prompt of a bare name exists if one plugin has the name. An ambiguous name is an error of the
// parameters.
func TestAPromptByTheBareNameOfAPlugin(t *testing.T) {
	c := catalog(t, memory(t, map[string]string{"shop/a/commands/go.md": "Go.", "shop/b/commands/go.md": "Go.", "shop/b/commands/only.md": "Only."}), toolshelf.WithPlugins("shop"))
	session := ready(t, adapterOf(t, c))
	got, err := session.Handle(ctx, "prompts/get", json.RawMessage(`{"name":"only"}`))
	if err != nil || !strings.Contains(string(got), "Only.") {
		t.Errorf("got %s, %v", got, err)
	}
	_, err = session.Handle(ctx, "prompts/get", json.RawMessage(`{"name":"go"}`))
	if e := rpcError(t, err); e.Code != mcpadapter.CodeInvalidParams || !errors.Is(err, toolshelf.ErrAmbiguousName) || !strings.Contains(e.Message, `write "a:go" or "b:go"`) {
		t.Errorf("got %v", err)
	}
}

// TestCompletionOfSkillNames completes the arguments skill_name and agent_name of the tools and
// skill of a command.
func TestCompletionOfSkillNames(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{
		"skills/pdf-forms/SKILL.md": "---\nname: pdf-forms\ndescription: d\n---\n",
		"skills/PDF/SKILL.md":       "---\nname: pdf\ndescription: d\n---\n",
		"skills/my-pdf/SKILL.md":    "---\nname: my-pdf\ndescription: d\n---\n",
		"skills/csv/SKILL.md":       "---\nname: csv\ndescription: d\n---\n",
		"skills/empty/notes.txt":    "",
		"agents/pdf.md":             "---\nname: pdf-reader\n---\n",
		"agents/broken.md":          strings.Repeat("x", 300),
		"commands/use.md":           "---\narguments:\n  - name: skill\n---\nUse $skill.\n",
	}), toolshelf.WithAgentsDir("agents"), toolshelf.WithMaxFileSize(200)))
	for _, tt := range []struct {
		name, argument, typed string
		want                  []string
	}{
		{"get_skill", "skill_name", "", []string{"csv", "my-pdf", "PDF", "pdf-forms"}},
		{"get_skill", "skill_name", "pdf", []string{"PDF", "pdf-forms", "my-pdf"}},
		{"read_skill_file", "skill_name", "FORMS", []string{"pdf-forms"}},
		{"get_skill", "skill_name", "x", []string{}},
		{"use", "skill", "c", []string{"csv"}},
		{"get_agent", "agent_name", "", []string{"pdf-reader"}},
	} {
		got, err := a.Complete(ctx, tt.name, tt.argument, tt.typed)
		if diff := cmp.Diff(mcpadapter.Completion{Values: tt.want, Total: len(tt.want)}, got); diff != "" || err != nil {
			t.Errorf("%q of %s %s: %v (-want +got):\n%s", tt.typed, tt.name, tt.argument, err, diff)
		}
	}
}

// Without a skills directory, no name completes the argument. A directory that
// cannot be read is an error.
func TestCompletionOfSkillNamesWithoutSkills(t *testing.T) {
	files := memory(t, map[string]string{"commands/a.md": ""})
	got, err := adapterOf(t, catalog(t, files)).Complete(ctx, "get_skill", "skill_name", "")
	if diff := cmp.Diff(mcpadapter.Completion{Values: []string{}}, got); diff != "" || err != nil {
		t.Errorf("no directory: %v (-want +got):\n%s", err, diff)
	}
	denied := adapterOf(t, catalog(t, deniedSkills{files}))
	if _, err := denied.Complete(ctx, "get_skill", "skill_name", ""); toolshelf.CodeOf(err) != toolshelf.ErrPermissionDenied.Code {
		t.Errorf("an unreadable directory: %v", err)
	}
}

// A deniedSkills filesystem denies access to the skills directory.
type deniedSkills struct{ afero.Fs }

func (d deniedSkills) Open(name string) (afero.File, error) {
	if name == "skills" || name == "/skills" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.Fs.Open(name)
}

func (d deniedSkills) Stat(name string) (fs.FileInfo, error) {
	if name == "skills" || name == "/skills" {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrPermission}
	}
	return d.Fs.Stat(name)
}

// A versionedFS is a store with versions that counts the opened files.
type versionedFS struct {
	files fstest.MapFS
	opens *atomic.Int64
}

func (v versionedFS) Open(name string) (fs.File, error) {
	v.opens.Add(1)
	f, err := v.files.Open(name)
	return versionedFile{f}, err
}

func (v versionedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := v.files.ReadDir(name)
	for i, entry := range entries {
		info, _ := entry.Info() // never fails
		entries[i] = fs.FileInfoToDirEntry(versionedInfo{info})
	}
	return entries, err
}

type versionedFile struct{ fs.File }

func (f versionedFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return versionedInfo{info}, err
}

type versionedInfo struct{ fs.FileInfo }

func (versionedInfo) Version() string { return "1" }

// A page of prompts opens each file of the store once, for the list of commands.
func TestAPageOfPromptsOpensNoFileOfAStore(t *testing.T) {
	store := versionedFS{fstest.MapFS{}, new(atomic.Int64)}
	for i := range 120 {
		store.files[fmt.Sprintf("c%03d.md", i)] = &fstest.MapFile{Data: []byte("Do $1.\n")}
	}
	c := must.Get(toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("store", store)))(t)
	defer c.Close()
	a := must.Get(mcpadapter.New(c))(t)
	for _, want := range []int64{120, 0} {
		before := store.opens.Load()
		list := must.Get(a.ListPrompts(t.Context(), nil))(t)
		must.Len(t, "list.Prompts", 120, list.Prompts)
		must.Len(t, "Arguments", 1, list.Prompts[119].Arguments)
		must.Equal(t, "store.opens.Load() - before", want, store.opens.Load()-before)
	}
}

func TestGetPromptRejectsUnknownArgumentsInAShortMessage(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{
		"commands/plain.md": "Nothing.\n",
		"commands/many.md":  inputs(40_000),
	})))
	arguments := func(n int) map[string]string {
		all := make(map[string]string, n)
		for i := range n {
			all[fmt.Sprintf("x%d", i)] = "value"
		}
		return all
	}
	tests := []struct {
		prompt    string
		arguments map[string]string
		want      string
	}{
		{"plain", arguments(1), `the prompt has no argument "x0"; accepted arguments: none`},
		{"plain", arguments(2), `the prompt has no arguments "x0", "x1"; accepted arguments: none`},
		{"plain", arguments(1000), `the prompt has no arguments "x0", "x1", "x10" and 997 more; accepted arguments: none`},
		{"plain", arguments(40_000), `40000 arguments were given for the prompt "plain"; a prompt takes at most 1000`},
		{"many", arguments(1), `the prompt has no argument "x0"; accepted arguments: a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19 and 39980 more`},
	}
	for _, tt := range tests {
		_, err := a.GetPrompt(ctx, tt.prompt, tt.arguments)
		if e := rpcError(t, err); e.Code != mcpadapter.CodeInvalidParams || e.Message != tt.want {
			t.Errorf("%d arguments of %s: got %d %.300q, want %q", len(tt.arguments), tt.prompt, e.Code, e.Message, tt.want)
		}
	}
	_, err := a.Complete(ctx, "many", "x", "")
	if e := rpcError(t, err); len(e.Message) > 300 {
		t.Errorf("completion: got a message of %d bytes", len(e.Message))
	}
}

func inputs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "${input:a%d}\n", i)
	}
	return b.String()
}

// A list reads only the beginning of a long file. GetPrompt accepts every listed argument,
// even if the rest of the file changes the meaning of the beginning.
func TestListedArgumentsOfALongFileAreAccepted(t *testing.T) {
	rest := strings.Repeat("x\n", 40_000)
	a := adapterOf(t, catalog(t, memory(t, map[string]string{
		"commands/all.md":  "Do $ARGUMENTS.\n" + rest + "And $1.\n",
		"commands/span.md": "Do `this ${input:word}\n" + strings.ReplaceAll(rest, "\n", " \n") + "until` then.\n",
	})))
	prompts, err := a.Prompts(ctx)
	if err != nil || len(prompts) != 2 {
		t.Fatal(prompts, err)
	}
	for _, p := range prompts {
		must.Len(t, p.Name, 1, p.Arguments)
		got, err := a.GetPrompt(ctx, p.Name, map[string]string{p.Arguments[0].Name: "WORD"})
		if err != nil || !strings.Contains(got.Text, "WORD") {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

func TestPromptEndsWithItsContext(t *testing.T) {
	a := prompter(t)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	must.Fail(a.GetPrompt(ended, "fix", map[string]string{"issue": "1"}))(t, "error", context.Canceled)
	must.Fail(a.ListPrompts(ended, nil))(t, "error", context.Canceled)
}
