package mcpadapter_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func TestToolsAreInOrder(t *testing.T) {
	var names []string
	for _, tool := range adapter(t).Tools() {
		names = append(names, tool.Name)
	}
	want := []string{"list_commands", "search_commands", "get_command", "list_skills", "search_skills", "get_skill", "read_skill_file",
		"list_directory", "directory_tree", "get_file_info", "search_files", "search_text", "read_file"}
	must.Match(t, "result", want, names)
}

//go:embed testdata/calls.txt
var calls string

// TestCallsFollowTheToolContracts asks the calls of testdata/calls.txt, which describes the calls.
func TestCallsFollowTheToolContracts(t *testing.T) {
	a := adapter(t)
	call := func(fails bool) func(t *testing.T, args ...string) string {
		return func(t *testing.T, args ...string) string {
			got := must.Get(a.Call(ctx, args[0], json.RawMessage(args[1])))(t)
			must.Equal(t, "IsError", fails, got.IsError)
			if !strings.HasPrefix(got.Text, "{") {
				return strconv.Quote(got.Text)
			}
			sameJSON(t, got.Structured, got.Text)
			return got.Text
		}
	}
	must.Answer(t, calls, map[string]func(t *testing.T, args ...string) string{
		"call": call(false),
		"fail": call(true),
		"refuse": func(t *testing.T, args ...string) string {
			call(true)(t, args...)
			return ""
		},
	})
}

// The 13 tools are in the context of a model during a whole conversation.
func TestToolsFitTheirBudgetOfCharacters(t *testing.T) {
	raw := must.Get(ready(t, adapter(t)).Handle(ctx, "tools/list", nil))(t)
	shown := 0 // to a model
	for _, tool := range adapter(t).Tools() {
		shown += utf8.RuneCountInString(tool.Name + tool.Description + string(tool.InputSchema))
	}
	if wire := utf8.RuneCount(raw); shown > 11_500 || wire > 17_000 {
		t.Errorf("%d characters of names, descriptions and input schemas, %d of tools/list", shown, wire)
	}
}

func TestToolsThatCanOnlyFailAreNotOffered(t *testing.T) {
	commands, skills := []string{"list_commands", "search_commands", "get_command"}, []string{"list_skills", "search_skills", "get_skill", "read_skill_file"}
	embedded := fstest.MapFS{"c.md": {Data: []byte("C.\n")}}
	for _, tt := range []struct {
		name    string
		options []toolshelf.Option
		missing []string
		reason  string
	}{
		{"no reports", nil, []string{"report_feedback"}, "use WithReports"},
		{"no commands", []toolshelf.Option{toolshelf.WithCommandsDir(), toolshelf.WithReports("reports", "")}, append(commands, "report_feedback"), "the catalog has no directory of commands"},
		{"commands only in an fs.FS", []toolshelf.Option{toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("built in", embedded)}, []string{"report_feedback"}, "use WithReports"},
		{"no agents", []toolshelf.Option{toolshelf.WithReports("reports", ""), toolshelf.WithAgentsDir()}, nil, ""},
		{"no skills", []toolshelf.Option{toolshelf.WithSkillsDir(), toolshelf.WithReports("reports", "")}, skills, "the catalog has no directory of skills; use WithSkillsDir or WithSkillsFS"},
	} {
		c := catalog(t, memory(t, project), tt.options...)
		offered := map[string]bool{}
		for _, tool := range adapterOf(t, c).Tools() {
			offered[tool.Name] = true
		}
		for _, name := range tt.missing {
			_, err := mcpadapter.New(c, mcpadapter.WithTools("list_directory", name))
			if offered[name] || !errors.Is(err, toolshelf.ErrInvalidOption) || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("%s: %s is offered: %t; WithTools returns %v", tt.name, name, offered[name], err)
			}
		}
		must.Equal(t, tt.name, 14-len(tt.missing), len(offered))
	}
}

// textTools are successful calls of the tools whose results are texts.
var textTools = map[string]string{
	"get_skill":        `{"skill_name":"calculator"}`,
	"get_agent":        `{"agent_name":"plan"}`,
	"get_instructions": `{"path":"src/agent.lisp"}`,
	"read_skill_file":  `{"skill_name":"calculator","path":"references/table.md"}`,
	"list_directory":   `{"path":"src"}`,
	"directory_tree":   `{}`,
	"get_file_info":    `{"path":"src/agent.lisp"}`,
	"search_files":     `{"pattern":"*.lisp"}`,
	"search_text":      `{"pattern":"agent"}`,
	"read_file":        `{"path":"src/agent.lisp"}`,
}

func TestTextToolsHaveStructuredContentOnlyWithTheOption(t *testing.T) {
	texts, programs := everyTool(t).Tools(), everyTool(t, mcpadapter.WithStructuredContent()).Tools()
	for i, tool := range texts {
		arguments, isText := textTools[tool.Name]
		if isText == (tool.OutputSchema != nil) || programs[i].OutputSchema == nil {
			t.Errorf("%s: output schema %.60s, and %.60s with the option", tool.Name, tool.OutputSchema, programs[i].OutputSchema)
		}
		if !isText {
			continue
		}
		got, err := tool.Call(ctx, json.RawMessage(arguments))
		if err != nil || got.IsError || got.Structured != nil {
			t.Errorf("%s: %+v, %v; want only a text", tool.Name, got, err)
		}
		both, err := programs[i].Call(ctx, json.RawMessage(arguments))
		if err != nil || both.Text != got.Text || both.Structured == nil {
			t.Errorf("%s with the option: %+v, %v; want the text %q and structured content", tool.Name, both, err, got.Text)
		}
	}
}

func TestStructuredContentOfSkillsHasAllFields(t *testing.T) {
	a := adapter(t, mcpadapter.WithStructuredContent())
	for _, tt := range []struct{ tool, arguments, want string }{
		{"get_skill", `{"skill_name":"calculator"}`,
			`{"name":"calculator","declared_name":"calculator","description":"Adds and multiplies.","path":"skills/calculator/SKILL.md","layer":"skills","user_invocable":true,"loadable":true,` +
				`"frontmatter":{"name":"calculator","description":"Adds and multiplies."},"content":"# Calculator\n",` +
				`"files":[{"path":"SKILL.md","size":72},{"path":"logo.png","size":4},{"path":"references/table.md","size":3}]}`},
		{"read_skill_file", `{"skill_name":"calculator","path":"references/table.md"}`,
			`{"skill_name":"calculator","path":"references/table.md","size":3,"encoding":"utf-8","content":"äb"}`},
		{"read_skill_file", `{"skill_name":"calculator","path":"logo.png"}`,
			`{"skill_name":"calculator","path":"logo.png","size":4,"encoding":"base64","content":"iVBORw=="}`},
	} {
		got := must.Get(a.Call(ctx, tt.tool, json.RawMessage(tt.arguments)))(t)
		sameJSON(t, got.Structured, tt.want)
	}
}

func TestStructuredContentWithoutSizesHasNoMemberSize(t *testing.T) {
	a := adapter(t, mcpadapter.WithStructuredContent())
	for tool, want := range map[string]string{
		"list_directory": `{"path":"src/","entries":[{"name":"tools","type":"directory"},{"name":"agent.lisp","type":"file"}],"files":1,"directories":1,"no_sizes":true}`,
		"directory_tree": `{"path":"src/","children":[{"name":"tools","type":"directory","children":[{"name":"buffer.lisp","type":"file"}]},{"name":"agent.lisp","type":"file"}],` +
			`"files":2,"directories":1,"no_sizes":true}`,
	} {
		got := must.Get(a.Call(ctx, tool, json.RawMessage(`{"path":"src","show_sizes":false}`)))(t)
		must.Equal(t, tool, false, got.IsError)
		sameJSON(t, got.Structured, want)
	}
}

// Clients count the characters of the part that they hand to a model.
func TestStructuredContentIsWithinMaxCharacters(t *testing.T) {
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("src/d%02d/file_%03d.go", i%20, i)] = "func f() { call() }\n"
		files[fmt.Sprintf("flat/file_%03d.go", i)] = "x"
	}
	a := adapterOf(t, catalog(t, memory(t, files)), mcpadapter.WithStructuredContent())
	for tool, argument := range map[string]string{"list_directory": `"path":"flat"`, "directory_tree": `"path":"src"`, "search_files": `"pattern":"*.go"`,
		"search_text": `"pattern":"call","limit":1000,"context_lines":1`} {
		for _, most := range []int{1000, 4000, 20000} {
			got, err := a.Call(ctx, tool, json.RawMessage(fmt.Sprintf(`{%s,"max_characters":%d}`, argument, most)))
			size := utf8.RuneCount(got.Structured)
			if err != nil || got.IsError || size > most || size < most/3 || utf8.RuneCountInString(got.Text) > most {
				t.Errorf("%s, %d: a text of %d and structured content of %d characters, %v: %.200s", tool, most, len(got.Text), size, err, got.Text)
			}
		}
	}
	a = adapterOf(t, catalog(t, memory(t, map[string]string{"src/" + strings.Repeat("\x01", 200): "x"})), mcpadapter.WithStructuredContent())
	got, err := a.Call(ctx, "list_directory", json.RawMessage(`{"path":"src","max_characters":1000}`))
	if want := "Error: max_characters: 1000 characters cannot hold the shortest structured content; use a larger budget"; err != nil || got.Text != want {
		t.Errorf("a long name: %+v, %v", got, err)
	}
}

func TestStructuredContentJustAboveMaxCharactersNeedsFewRuns(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("src/file_%03d.go", i)] = "call()\n"
	}
	for name, pattern := range map[string]string{"long entries": "call", "a long argument": "call|" + strings.Repeat("x", 900)} {
		disk := &openCounter{Fs: memory(t, files)}
		a := adapterOf(t, catalog(t, disk), mcpadapter.WithStructuredContent())
		search := func(most int) mcpadapter.Result {
			got, err := a.Call(ctx, "search_text", json.RawMessage(fmt.Sprintf(`{"pattern":%q,"limit":1000,"max_characters":%d}`, pattern, most)))
			if err != nil || got.IsError {
				t.Errorf("%s: %s, %v", name, got.Text, err)
			}
			return got
		}
		most := utf8.RuneCount(search(100_000).Structured) - 1
		if name == "a long argument" {
			most = 1200
		}
		disk.files.Store(0)
		got := search(most)
		if runs := disk.files.Load() / int64(len(files)); runs > 4 || utf8.RuneCount(got.Structured) > most {
			t.Errorf("%s: %d runs for %d characters of structured content, at most %d", name, runs, utf8.RuneCount(got.Structured), most)
		}
	}
}

func TestSkillTextsKeepTheFrontmatter(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{
		"skills/toml/SKILL.md": "+++\ndescription = \"T\"\ncompatibility = \"Needs jq\"\n+++\nDo it.\n", "skills/plain/SKILL.md": "Do it.\r\n",
		"skills/broken/SKILL.md": "---\ndescription: [\n---\nDo it.\n", "skills/toml/empty.md": ""})))
	for _, tt := range []struct{ tool, arguments, want string }{
		{"get_skill", `{"skill_name":"toml"}`, "Skill: toml\nPath: skills/toml/SKILL.md\n\n+++\ndescription = \"T\"\ncompatibility = \"Needs jq\"\n+++\nDo it.\n\nFiles, relative to the directory of the skill:\n  SKILL.md (60 B)\n  empty.md (0 B)"},
		{"get_skill", `{"skill_name":"plain"}`, "Skill: plain\nPath: skills/plain/SKILL.md\n\nDo it.\n\nFiles, relative to the directory of the skill:\n  SKILL.md (8 B)"},
		{"get_skill", `{"skill_name":"broken"}`, "Skill: broken\nPath: skills/broken/SKILL.md\n\n---\ndescription: [\n---\nDo it.\n\nFiles, relative to the directory of the skill:\n  SKILL.md (30 B)\n\nWarning: description: the value is not valid YAML and is read as text"},
		{"read_skill_file", `{"skill_name":"toml","path":"empty.md"}`, "The file is empty"},
	} {
		must.Equal(t, tt.tool, tt.want,
			must.Get(a.Call(ctx, tt.tool, json.RawMessage(tt.arguments)))(t).Text)
	}
}

func TestListSkillsNamesTheSkillsThatCannotBeLoaded(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{
		"skills/calculator/SKILL.md": "---\nname: calculator\ndescription: Adds.\n---\n", "skills/pdf/scripts/x.py": "", "skills/cache/x.pyc": ""})))
	got, err := a.Call(ctx, "list_skills", json.RawMessage(`{}`))
	want := `{"skills":["cache","calculator","pdf"],"descriptions":{"calculator":"Adds."},"not_loadable":["cache","pdf"]}`
	if err != nil || got.IsError || string(got.Structured) != want {
		t.Errorf("%s, %v, want %s", got.Structured, err, want)
	}
	session := a.NewSession()
	must.Len(t, "published skills", 1, must.Get(session.ListSkills(ctx, nil))(t).Skills)
	for _, name := range []string{"pdf", "calculator"} {
		choices, err := a.Complete(ctx, "get_skill", "skill_name", name[:2])
		if found := slices.Contains(choices.Values, name); err != nil || found != (name == "calculator") {
			t.Errorf("completions of %q: %v, %v", name[:2], choices, err)
		}
	}
}

func TestCallsReportMissingDirectoriesAndClosedCatalogs(t *testing.T) {
	empty := memory(t, map[string]string{"a.txt": ""})
	denied := deny{memory(t, project), []string{"commands", "skills", "src", "commands/commit.md"}}
	tests := []struct {
		name      string
		adapter   *mcpadapter.Adapter
		tool      string
		arguments string
		want      string
	}{
		{"missing", adapterOf(t, catalog(t, empty)), "list_commands", `{}`,
			`{"error":{"code":"DIRECTORY_NOT_FOUND","message":"Commands folder not found at path: commands"}}`},
		{"missing", adapterOf(t, catalog(t, empty)), "list_skills", `{}`, `{"error":"Skills folder not found at path: skills"}`},
		{"denied", adapterOf(t, catalog(t, denied)), "list_commands", `{}`,
			`{"error":{"code":"PERMISSION_DENIED","message":"Permission denied reading commands folder"}}`},
		{"denied", adapterOf(t, catalog(t, denied)), "list_skills", `{}`, `{"error":"Permission denied reading skills folder"}`},
		{"denied", adapterOf(t, catalog(t, denied)), "list_directory", `{"path":"src"}`, "Error: Cannot read directory 'src/'"},
		{"denied", adapterOf(t, catalog(t, deny{memory(t, project), []string{"commands/commit.md"}})), "get_command", `{"command_name":"commit"}`,
			`{"error":{"code":"FILE_READ_ERROR","message":"cannot read the file of command \"commit\" (permission denied); check its type and permissions"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.tool+"/"+tt.name, func(t *testing.T) {
			got := must.Get(tt.adapter.Call(ctx, tt.tool, json.RawMessage(tt.arguments)))(t)
			must.Equal(t, "IsError", true, got.IsError)
			if strings.HasPrefix(tt.want, "{") {
				sameJSON(t, []byte(got.Text), tt.want)
			} else if got.Text != tt.want {
				t.Errorf("got %q, want %q", got.Text, tt.want)
			}
		})
	}

	closed := catalog(t, memory(t, project))
	a := adapterOf(t, closed)
	closed.Close()
	got := must.Get(a.Call(ctx, "list_commands", nil))(t)
	must.Equal(t, "after Close", true, got.IsError)
	must.Contain(t, "after Close", got.Text, `"CLOSED"`)
}

func TestSearchFindsCommandsAndSkills(t *testing.T) {
	tests := []struct{ tool, query, name, tier string }{
		{"search_commands", "analyze log", "analyze_log", "tier1"},
		{"search_commands", "staged", "commit", "tier2"},
		{"search_commands", "nothing of the kind at all xyzzy", "", ""},
		{"search_skills", "multiplies", "calculator", "tier2"},
	}
	a := adapter(t)
	for _, tt := range tests {
		t.Run(tt.tool+"/"+tt.query, func(t *testing.T) {
			arguments := must.Get(json.Marshal(map[string]any{"query": tt.query, "max_results": 1}))(t)
			got := must.Get(a.Call(ctx, tt.tool, arguments))(t)
			must.Equal(t, "IsError", false, got.IsError)
			var found struct {
				Results []struct{ Name, Tier, Description string }
				Total   int `json:"total_found"`
			}
			must.Do(t, json.Unmarshal([]byte(got.Text), &found))
			if found.Results == nil || len(found.Results) > 1 || (tt.name == "") != (found.Total == 0) {
				t.Fatalf("got %s", got.Text)
			}
			if tt.name != "" && (found.Results[0].Name != tt.name || found.Results[0].Tier != tt.tier) {
				t.Errorf("got %+v, want %s in %s", found.Results[0], tt.name, tt.tier)
			}
		})
	}
}

func TestErrorsOfFileToolsHaveACode(t *testing.T) {
	got := must.Get(adapter(t).Call(ctx, "list_directory", json.RawMessage(`{"path":".."}`)))(t)
	sameJSON(t, got.Structured, `{"error":{"code":"OUTSIDE_ROOT","message":"Path '..' is outside project root"}}`)
}

func TestCallOfAnUnknownToolIsAProtocolError(t *testing.T) {
	_, err := adapter(t).Call(ctx, "no_such_tool", nil)
	if e := rpcError(t, err); e.Code != mcpadapter.CodeInvalidParams || !strings.Contains(e.Message, "list_commands, search_commands") {
		t.Errorf("got %v; want the code %d and the names", e, mcpadapter.CodeInvalidParams)
	} else if got, want := e.Error(), "mcpadapter: "+e.Message+" (-32602)"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}

func TestTheErrorOfAnUnknownToolHasAtMost20Names(t *testing.T) {
	for n, want := range map[int]string{
		0: "; this server has no tools", 1: "; the tools are t00", 20: "t18, t19", 21: "t18, t19, …",
	} {
		var tools []mcpadapter.Tool
		for i := range n {
			tools = append(tools, mcpadapter.Tool{Name: fmt.Sprintf("t%02d", i), Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) { return mcpadapter.Result{}, nil }})
		}
		_, err := adapter(t, mcpadapter.WithTools(), mcpadapter.WithExtraTools(tools...)).Call(ctx, "missing", nil)
		if e := rpcError(t, err); !strings.HasSuffix(e.Message, want) {
			t.Errorf("%d tools: %s", n, e.Message)
		}
	}
}

func TestCallReturnsTheErrorOfItsContext(t *testing.T) {
	a := adapter(t)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, tool := range a.Tools() {
		must.Fail(a.Call(ended, tool.Name, json.RawMessage(`{}`)))(t, tool.Name, context.Canceled)
		must.Fail(tool.Call(ended, json.RawMessage(`{}`)))(t, tool.Name, context.Canceled)
	}
}

func TestToolsAreAnnotatedAsReadOnly(t *testing.T) {
	for _, tool := range adapter(t).Tools() {
		raw := must.Get(json.Marshal(tool))(t)
		var wire struct{ Annotations json.RawMessage }
		must.Do(t, json.Unmarshal(raw, &wire))
		sameJSON(t, wire.Annotations, `{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`)
	}
}

func TestErrorsOfExtraToolsAreResults(t *testing.T) {
	extra := mcpadapter.Tool{Name: "fail", Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) {
		return mcpadapter.Result{}, errors.New("the printer is out of paper")
	}}
	got := must.Get(adapter(t, mcpadapter.WithExtraTools(extra)).Call(ctx, "fail", nil))(t)
	must.Equal(t, "IsError", true, got.IsError)
	must.Equal(t, "Text", "the printer is out of paper", got.Text)
}

func TestInvalidStructuredContentOfExtraToolsIsAnError(t *testing.T) {
	for _, structured := range []string{`{"a":`, `[1]`, "{\"a\":\"\xff\"}", nested(501)} {
		extra := mcpadapter.Tool{Name: "broken", Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) {
			return mcpadapter.Result{Text: "x", Structured: json.RawMessage(structured)}, nil
		}}
		got, err := adapter(t, mcpadapter.WithExtraTools(extra)).Call(ctx, "broken", nil)
		if err != nil || !got.IsError || got.Structured != nil {
			t.Errorf("%.40q: got %+v, %v; want an error for the model, and no structured content", structured, got, err)
		}
	}
}

// nested returns an object with the given number of levels and with brackets in a string.
func nested(levels int) string {
	return strings.Repeat(`{"a\"[":`, levels-1) + `{"b":"[{\"["}` + strings.Repeat("}", levels-1)
}

func TestStructuredContentOfExtraToolsMayBeNested(t *testing.T) {
	extra := mcpadapter.Tool{Name: "deep", Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) {
		return mcpadapter.Result{Structured: json.RawMessage(nested(500))}, nil
	}}
	must.Equal(t, "IsError", false,
		must.Get(adapter(t, mcpadapter.WithExtraTools(extra)).Call(ctx, "deep", nil))(t).IsError)
}

// Some JSON decoders close the connection at 1,000 levels.
func TestTreesHaveAtMost100Levels(t *testing.T) {
	deep := strings.Repeat("d/", 600)
	a := adapterOf(t, catalog(t, memory(t, map[string]string{"deep/" + deep + "file": "x"})), mcpadapter.WithStructuredContent())
	for _, arguments := range []string{`{"path":"deep"}`, `{"path":"deep","max_depth":599}`} {
		got := must.Get(a.Call(ctx, "directory_tree", json.RawMessage(arguments)))(t)
		must.Equal(t, "IsError", false, got.IsError)
		must.Equal(t, "result", 100, strings.Count(got.Text, "[DIR]"))
		must.Equal(t, "the JSON", 100, strings.Count(string(got.Structured), `"children":[`))
	}
}

func TestACutTreeKeepsTheMainFilesOfADirectoryOfManyDirectories(t *testing.T) {
	files := map[string]string{"README.md": "", "go.mod": "", "main.go": "", "a.txt": ""}
	for i := range 500 {
		files[fmt.Sprintf("dir%03d/file", i)] = ""
	}
	a := adapterOf(t, catalog(t, memory(t, files)))
	for _, arguments := range []string{`{"max_characters":1000}`, `{"limit":20}`} {
		got, err := a.Call(ctx, "directory_tree", json.RawMessage(arguments))
		if want := "\n[FILE] go.mod (0 B)\n[FILE] main.go (0 B)\n[FILE] README.md (0 B)\n… and "; err != nil || got.IsError || !strings.Contains(got.Text, want) {
			t.Errorf("%s: no %q, %v:\n%s", arguments, want, err, got.Text)
		}
	}
}

func TestTreesOmitIgnoredFilesAndDependencies(t *testing.T) {
	files := map[string]string{"main.js": "run()\n", "src/run.js": "let x\n", ".gitignore": "dist/\nnode_modules/\n", ".git/HEAD": "x"}
	for i := range 1500 {
		files[fmt.Sprintf("dist/%d.js", i)] = "x"
		files[fmt.Sprintf("node_modules/%d.js", i)] = "x"
	}
	a := adapterOf(t, catalog(t, memory(t, files)), mcpadapter.WithStructuredContent())
	got, err := a.Call(ctx, "directory_tree", nil)
	want := "Directory tree: ./\n\n[DIR]  .git/ (1 entry)\n[DIR]  node_modules/ (1500 entries)\n[DIR]  src/\n  [FILE] run.js (6 B)\n[FILE] main.js (6 B)\n[FILE] .gitignore (20 B)\n\n.gitignore omits 1 entry"
	if err != nil || got.Text != want || len(got.Structured) > 5*len(want) {
		t.Errorf("got %s, %v; want %s", got.Text, err, want)
	}
}

func TestStructuredContentOfExtraToolsIsTheDefaultText(t *testing.T) {
	extra := mcpadapter.Tool{Name: "terse", Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) {
		return mcpadapter.Result{Structured: json.RawMessage(`{"a":1}`)}, nil
	}}
	must.Equal(t, "Text", `{"a":1}`,
		must.Get(adapter(t, mcpadapter.WithExtraTools(extra)).Call(ctx, "terse", nil))(t).Text)
}

func TestNewRejectsToolsThatClientsCannotUse(t *testing.T) {
	call := func(context.Context, json.RawMessage) (mcpadapter.Result, error) { return mcpadapter.Result{}, nil }
	extra := func(names ...string) mcpadapter.Option {
		var tools []mcpadapter.Tool
		for _, name := range names {
			tools = append(tools, mcpadapter.Tool{Name: name, Call: call})
		}
		return mcpadapter.WithExtraTools(tools...)
	}
	schema := func(in, out string) mcpadapter.Option {
		return mcpadapter.WithExtraTools(mcpadapter.Tool{Name: "odd", Call: call, InputSchema: json.RawMessage(in), OutputSchema: json.RawMessage(out)})
	}
	long := strings.Repeat("n", 64)
	tests := []struct {
		name   string
		opts   []mcpadapter.Option
		naming string // a part of the message; "" if New succeeds
	}{
		{"a plain extra tool", []mcpadapter.Option{extra("mine")}, ""},
		{"an empty name", []mcpadapter.Option{extra("")}, `""`},
		{"a blank in a name", []mcpadapter.Option{extra("my tool")}, "my tool"},
		{"a slash in a name", []mcpadapter.Option{extra("my/tool")}, "my/tool"},
		{"a letter beyond ASCII", []mcpadapter.Option{extra("größe")}, "größe"},
		{"64 characters", []mcpadapter.Option{extra(long)}, ""},
		{"65 characters", []mcpadapter.Option{extra(long + "n")}, long + "n"},
		{"a namespace that makes a name too long", []mcpadapter.Option{mcpadapter.WithNamespace(strings.Repeat("n", 60))}, "list_commands"},
		{"a name of ours", []mcpadapter.Option{extra("get_command")}, "get_command"},
		{"a name of ours that is elsewhere", []mcpadapter.Option{mcpadapter.WithNamespace("x"), extra("get_command")}, ""},
		{"a name of ours in the other spelling", []mcpadapter.Option{mcpadapter.WithNamespace("x"), extra("x_get_command")}, "x_get_command"},
		{"and the other way about", []mcpadapter.Option{mcpadapter.WithNamespace("x"), mcpadapter.WithSeparator("_"), extra("x.get_command")}, "x.get_command"},
		{"two extra tools in two spellings", []mcpadapter.Option{extra("docs.find", "docs_find")}, "docs_find"},
		{"a tool of ours in another spelling", []mcpadapter.Option{mcpadapter.WithNamespace("x"), mcpadapter.WithSeparator("-"), extra("x.get_command")}, "x.get_command"},
		{"names that differ in case", []mcpadapter.Option{extra("find", "Find")}, ""},
		{"a namespace that is not legal", []mcpadapter.Option{mcpadapter.WithNamespace("a b")}, "a b"},
		{"a namespace with an empty part", []mcpadapter.Option{mcpadapter.WithNamespace("a..b")}, "a..b"},
		{"a separator that is none", []mcpadapter.Option{mcpadapter.WithSeparator("/")}, "/"},
		{"a tool that is not ours", []mcpadapter.Option{mcpadapter.WithTools("list_commands", "list_printers")}, "list_printers"},
		{"a page of nothing", []mcpadapter.Option{mcpadapter.WithPageSize(0)}, "0"},
		{"no Call", []mcpadapter.Option{mcpadapter.WithExtraTools(mcpadapter.Tool{Name: "idle"})}, "idle"},
		{"a schema that is no object", []mcpadapter.Option{schema(`true`, ``)}, "odd"},
		{"a schema of another type", []mcpadapter.Option{schema(`{"type":"array"}`, ``)}, "odd"},
		{"a broken schema", []mcpadapter.Option{schema(`{"type":"object"`, ``)}, "odd"},
		{"a type in upper case", []mcpadapter.Option{schema(`{"TYPE":"object"}`, ``)}, "odd"},
		{"a schema that is not UTF-8", []mcpadapter.Option{schema("{\"type\":\"object\",\"description\":\"\xff\"}", ``)}, "odd"},
		{"a schema that is too deep", []mcpadapter.Option{schema(`{"type":"object","x":`+nested(500)+`}`, ``)}, "odd"},
		{"an empty output schema", []mcpadapter.Option{schema(`{"type":"object"}`, ``)}, ""},
		{"an output schema of another type", []mcpadapter.Option{schema(`{"type":"object"}`, `{"type":"string"}`)}, "odd"},
		{"no name for the server", []mcpadapter.Option{mcpadapter.WithServerInfo("", "1")}, "WithServerInfo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := mcpadapter.New(catalog(t, memory(t, project)), tt.opts...)
			switch {
			case tt.naming == "" && err != nil:
				t.Errorf("got %v; want no error", err)
			case tt.naming != "" && (!errors.Is(err, toolshelf.ErrInvalidOption) || !strings.HasPrefix(err.Error(), "toolshelf: mcpadapter.New: ") || !strings.Contains(err.Error(), tt.naming)):
				t.Errorf("got %v; want INVALID_OPTION that names %s", err, tt.naming)
			}
		})
	}
	must.Fail(mcpadapter.New(nil))(t, "no catalog", toolshelf.ErrInvalidOption)
}

func TestNamesOfToolsConsistOfASCIILettersDigitsAndThreeSigns(t *testing.T) {
	c := catalog(t, memory(t, project))
	call := func(context.Context, json.RawMessage) (mcpadapter.Result, error) { return mcpadapter.Result{}, nil }
	accepted := ""
	for char := range 128 {
		_, err := mcpadapter.New(c, mcpadapter.WithExtraTools(mcpadapter.Tool{Name: string(rune(char)), Call: call}))
		if err == nil {
			accepted += string(rune(char))
		}
	}
	must.Equal(t, "accepted", accepted,
		"-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
}

func TestNamesHaveSeveralSpellings(t *testing.T) {
	tests := []struct {
		opts     []mcpadapter.Option
		listed   string
		accepted []string
		refused  []string
	}{
		{nil, "list_skills", []string{"list_skills"}, []string{"x.list_skills", "list.skills", "LIST_SKILLS", ""}},
		{[]mcpadapter.Option{mcpadapter.WithNamespace("x")}, "x.list_skills",
			[]string{"x.list_skills", "x_list_skills"}, []string{"list_skills", "x-list_skills", "x.list.skills"}},
		{[]mcpadapter.Option{mcpadapter.WithNamespace("x"), mcpadapter.WithSeparator("_")}, "x_list_skills",
			[]string{"x.list_skills", "x_list_skills"}, []string{"list_skills"}},
		{[]mcpadapter.Option{mcpadapter.WithNamespace("x"), mcpadapter.WithSeparator("-")}, "x-list_skills",
			[]string{"x-list_skills", "x.list_skills", "x_list_skills"}, []string{"list_skills"}},
		{[]mcpadapter.Option{mcpadapter.WithNamespace("a.b"), mcpadapter.WithSeparator("_")}, "a_b_list_skills",
			[]string{"a.b.list_skills", "a_b_list_skills"}, []string{"b.list_skills"}},
		{[]mcpadapter.Option{mcpadapter.WithNamespace("a.b")}, "a.b.list_skills",
			[]string{"a.b.list_skills", "a_b_list_skills"}, []string{"b.list_skills"}},
	}
	for _, tt := range tests {
		a := adapter(t, append(tt.opts, mcpadapter.WithTools("list_skills"))...)
		must.Equal(t, "listed as", tt.listed, a.Tools()[0].Name)
		for _, name := range tt.accepted {
			must.Get(a.Call(ctx, name, nil))(t)
		}
		for _, name := range tt.refused {
			if _, err := a.Call(ctx, name, nil); err == nil {
				t.Errorf("%s: %q is accepted", tt.listed, name)
			}
		}
	}
}

func TestTextsNameToolsWithTheNamespace(t *testing.T) {
	c := catalog(t, memory(t, project), toolshelf.WithReports("reports", ""))
	for _, tt := range []struct {
		opts       []mcpadapter.Option
		get, hints string
	}{
		{nil, "Pass a name to get_command", "'report_feedback'"},
		{[]mcpadapter.Option{mcpadapter.WithNamespace("x")}, "Pass a name to x.get_command", "'x.report_feedback'"},
		{[]mcpadapter.Option{mcpadapter.WithNamespace("x"), mcpadapter.WithSeparator("_")}, "Pass a name to x_get_command", "'x_report_feedback'"},
	} {
		a := adapterOf(t, c, tt.opts...)
		must.Contain(t, "list_commands is described with", a.Tools()[0].Description, tt.get)
		got, err := a.Call(ctx, a.Tools()[2].Name, json.RawMessage(`{"command_name":"analyze_log"}`))
		if err != nil || !strings.Contains(got.Text, tt.hints) {
			t.Errorf("got %s, %v; want %s in it", got.Text, err, tt.hints)
		}
	}
}

func TestReadSkillFileReturnsUpToOneMebibyte(t *testing.T) {
	const skill = "---\nname: big\ndescription: Is big.\n---\n"
	a := adapterOf(t, catalog(t, memory(t, map[string]string{"skills/big/SKILL.md": skill,
		"skills/big/most.txt": strings.Repeat("x", 1<<20), "skills/big/more.txt": strings.Repeat("x", 1<<20+1)})))
	for file, want := range map[string]string{"most.txt": "", "more.txt": "FILE_TOO_LARGE"} {
		got, err := a.Call(ctx, "read_skill_file", json.RawMessage(`{"skill_name":"big","path":"`+file+`"}`))
		if err != nil || got.IsError != (want != "") || !strings.Contains(got.Text, want) {
			t.Errorf("%s: got %.100s, %v; want %q", file, got.Text, err, want)
		}
	}
}

func TestReadFileReturnsPages(t *testing.T) {
	lines := strings.Repeat("0123456789abcde\n", 5000) // 80,000 bytes
	a := adapterOf(t, catalog(t, memory(t, map[string]string{"long.txt": lines})), mcpadapter.WithStructuredContent())
	read := func(arguments string) (page toolshelf.FileText) {
		t.Helper()
		got, err := a.Call(ctx, "read_file", json.RawMessage(arguments))
		if err == nil {
			err = json.Unmarshal(got.Structured, &page)
		}
		if err != nil || got.IsError || got.Text != page.String() {
			t.Fatalf("got %.200s, %v", got.Text, err)
		}
		if len(got.Structured) > len(page.Text)*11/10+300 { // a line break has two bytes in JSON
			t.Errorf("%s: %d bytes of structured content for a text of %d bytes", arguments, len(got.Structured), len(page.Text))
		}
		return page
	}
	first := read(`{"path":"long.txt"}`)
	if len(first.Text) != 64<<10 || first.NextLine != 4097 || first.Total != 5000 || !first.Truncated {
		t.Errorf("the first page has %d bytes and continues with line %d of %d", len(first.Text), first.NextLine, first.Total)
	}
	rest := read(`{"path":"long.txt","start_line":4097}`)
	if first.Text+rest.Text != lines || rest.NextLine != 0 || rest.Truncated {
		t.Errorf("the pages have %d and %d bytes", len(first.Text), len(rest.Text))
	}
}

func TestReadFileRefusesFilesThatAreNotText(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{"logo.png": "\x89PNG\r\n\x1a\n\x00"})))
	got, err := a.Call(ctx, "read_file", json.RawMessage(`{"path":"logo.png"}`))
	if want := "Error: 'logo.png' is not text: image/png, 9 B; use a tool for this type of file"; err != nil || !got.IsError || got.Text != want {
		t.Errorf("got %+v, %v; want %s", got, err, want)
	}
	sameJSON(t, got.Structured, `{"error":{"code":"NOT_TEXT","message":"'logo.png' is not text: image/png, 9 B; use a tool for this type of file"}}`)
}

func TestMessagesShortenLongArguments(t *testing.T) {
	long := strings.Repeat("n", 1<<20)
	for tool, argument := range map[string]string{"get_command": "command_name", "get_skill": "skill_name", "list_directory": "path", "read_file": "path"} {
		got, err := adapter(t).Call(ctx, tool, json.RawMessage(`{"`+argument+`":"`+long+`"}`))
		if err != nil || !got.IsError || len(got.Text) > 3000 || len(got.Structured) > 3000 || tool != "list_directory" && !strings.Contains(got.Text, long[:100]) {
			t.Errorf("%s: %d and %d bytes, %v, %.200s", tool, len(got.Text), len(got.Structured), err, got.Text)
		}
	}
}

func TestWithToolsSelectsTools(t *testing.T) {
	tests := []struct {
		choose []string
		want   []string
	}{
		{[]string{"list_skills", "list_commands"}, []string{"list_commands", "list_skills"}},
		{[]string{}, nil},
	}
	for _, tt := range tests {
		var names []string
		for _, tool := range adapter(t, mcpadapter.WithTools(tt.choose...)).Tools() {
			names = append(names, tool.Name)
		}
		must.Match(t, tt.choose, tt.want, names)
	}
}

// The texts for a model advise the model, which cannot set the options of the program.
func TestTextsNameNoOptionOfGo(t *testing.T) {
	long := strings.Repeat("x", 200)
	files := memory(t, map[string]string{"commands/long.md": long, "skills/long/SKILL.md": "---\nname: long\n---\n" + long, "skills/pdf/SKILL.md": "---\nname: pdf\n---\n", "skills/pdf/long.md": long})
	a := adapterOf(t, catalog(t, files, toolshelf.WithMaxFileSize(100)))
	gone := adapterOf(t, catalog(t, memory(t, nil), toolshelf.WithRoot("/gone")))
	local := adapterOf(t, catalog(t, files, toolshelf.WithReports("", "reports")))
	option := regexp.MustCompile(`\bWith[A-Z]|Render`)
	for _, tt := range []struct {
		adapter                    *mcpadapter.Adapter
		tool, arguments, code, say string
	}{
		{a, "get_command", `{"command_name":"long"}`, "FILE_TOO_LARGE", "shorten the file"},
		{a, "get_command", `{"command_name":"a:b"}`, "INVALID_COMMAND_NAME", "reads no subdirectories"},
		{a, "get_skill", `{"skill_name":"long"}`, "FILE_TOO_LARGE", "shorten the file"},
		{a, "read_skill_file", `{"skill_name":"pdf","path":"long.md"}`, "FILE_TOO_LARGE", "shorten the file"},
		{gone, "list_commands", `{}`, "DIRECTORY_NOT_FOUND", "create the directory"},
		{local, "report_feedback", `{"command_name":"long","report_content":"x","user_wants_upload":true}`, "DIRECTORY_PREPARATION_FAILED", "is configured"},
	} {
		got, err := tt.adapter.Call(ctx, tt.tool, json.RawMessage(tt.arguments))
		if err != nil || !strings.Contains(got.Text, tt.code) || !strings.Contains(got.Text, tt.say) || option.MatchString(got.Text) {
			t.Errorf("%s %s: got %s, %v; want %s with %q, and no option", tt.tool, tt.arguments, got.Text, err, tt.code, tt.say)
		}
	}
	_, err := a.GetPrompt(ctx, "long", nil)
	if err == nil || !strings.Contains(err.Error(), "shorten the file") || option.MatchString(err.Error()) {
		t.Errorf("GetPrompt: %v", err)
	}
}

func TestOutputSchemasHaveTheFieldsOfEntriesOfPlugins(t *testing.T) {
	c := catalog(t, memory(t, map[string]string{"p/commands/go.md": "Go.", "p/skills/style/SKILL.md": "---\nname: style\ndescription: Style.\n---\n", "p/agents/guard.md": "---\ndescription: Guards.\n---\n"}),
		toolshelf.WithPlugins("p"))
	a := adapterOf(t, c, mcpadapter.WithStructuredContent())
	for name, args := range map[string]string{"search_commands": `{"query":"go"}`, "search_skills": `{"query":"style"}`, "get_skill": `{"skill_name":"style"}`, "get_agent": `{"agent_name":"guard"}`} {
		got := must.Get(a.Call(ctx, name, json.RawMessage(args)))(t)
		must.Equal(t, name, false, got.IsError)
		i := slices.IndexFunc(a.Tools(), func(tool mcpadapter.Tool) bool { return tool.Name == name })
		known, row := propertyOf(t, a.Tools()[i].OutputSchema).AnyOf[0].Properties, decoded(t, got.Structured).(map[string]any)
		if results, ok := row["results"]; ok {
			known, row = known["results"].Items.Properties, results.([]any)[0].(map[string]any)
		}
		must.Equal(t, name, "p", row["plugin"])
		for member := range row {
			if _, ok := known[member]; !ok {
				t.Errorf("%s: the output schema has no property %q", name, member)
			}
		}
	}
}
