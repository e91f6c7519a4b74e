package mcpadapter_test

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// Each text of a tool for a model is a claim. The file of the claims quotes each text beside checks of
// the tool's behavior, so a changed text needs a changed check.
//
//go:embed testdata/claims.txt
var claims string

//go:embed testdata/claimed.txt
var claimedFiles string

// claimed is the project of the checks: 101 commands, and files with the example names of the
// texts.
func claimed() map[string]string {
	files := must.Files(claimedFiles)
	for i := range 98 {
		files[fmt.Sprintf("commands/plain%02d.md", i)] = "A plain command.\n"
	}
	for i := range 1001 {
		files[fmt.Sprintf("many/%04d.txt", i)] = "1"
	}
	for i := range 11 {
		files[fmt.Sprintf("skills/zeta-%02d/SKILL.md", i)] = "---\ndescription: A plain skill.\n---\n"
	}
	return files
}

// exampleNames are example names of files that look like names of tools.
var exampleNames = map[string]bool{"node_modules": true}

// A caller calls a tool and fails the test if the result is not the expected result.
type caller struct {
	t       *testing.T
	tool    mcpadapter.Tool
	program mcpadapter.Tool // with structured content
}

func (c caller) succeeds(arguments string) (text string, structured map[string]any) {
	c.t.Helper()
	got, err := c.tool.Call(ctx, json.RawMessage(arguments))
	text = got.Text
	if err == nil && got.Structured == nil {
		got, err = c.program.Call(ctx, json.RawMessage(arguments))
	}
	if err != nil || got.IsError {
		c.t.Fatalf("%s(%s): %.300s, %v", c.tool.Name, arguments, got.Text, err)
	}
	if err := json.Unmarshal(got.Structured, &structured); err != nil {
		c.t.Fatal(err)
	}
	return text, structured
}

// checks are the checks of a claim.
var checks = map[string]func(c caller, a ...string){
	"succeeds":  func(c caller, a ...string) { c.succeeds(a[0]) },
	"refuses":   func(c caller, a ...string) { c.refuses(a[0], toolshelf.Code(a[1])) },
	"same":      func(c caller, a ...string) { c.same(a[0], a[1]) },
	"holds":     func(c caller, a ...string) { c.holds(a[0], a[1:]...) },
	"lacks":     func(c caller, a ...string) { c.lacks(a[0], a[1:]...) },
	"length":    func(c caller, a ...string) { c.length(a[0], a[1], number(c.t, a[2])) },
	"ordered":   ordered,
	"working":   workingOn,
	"search":    searchClaim,
	"weak":      weakClaim,
	"query":     queryClaim,
	"results":   resultsClaim,
	"exclude":   excludeClaim,
	"gitignore": gitignoreClaim,
	"limit":     limitClaim,
	"size":      sizeClaim,
	"cursor":    cursorClaim,
	"characters": func(c caller, a ...string) {
		text, _ := c.succeeds(a[0])
		n, most := utf8.RuneCountInString(text), number(c.t, a[1])
		if n > most || n < most*9/10 {
			c.t.Errorf("%s: %d characters", a[0], n)
		}
	},
	"levels": func(c caller, a ...string) {
		text, _ := c.succeeds(a[0])
		must.Equal(c.t, a[0], number(c.t, a[1]), strings.Count(text, "[DIR]"))
	},
	"finds": func(c caller, a ...string) {
		_, got := c.succeeds(`{"path":"files","pattern":"` + a[0] + `"}`)
		must.Equal(c.t, a[0], fmt.Sprint(a[1:]), fmt.Sprint(got["files"]))
	},
}

func number(t *testing.T, s string) int { return must.Get(strconv.Atoi(s))(t) }

func (c caller) refuses(arguments string, code toolshelf.Code) {
	c.t.Helper()
	got, err := c.tool.Call(ctx, json.RawMessage(arguments))
	var failed struct{ Error struct{ Code toolshelf.Code } }
	if err == nil {
		err = json.Unmarshal(got.Structured, &failed)
	}
	if err != nil || !got.IsError || failed.Error.Code != code {
		c.t.Errorf("%s(%.200s): %.300s, %v; want %s", c.tool.Name, arguments, got.Text, err, code)
	}
}

func (c caller) same(x, y string) {
	c.t.Helper()
	first, _ := c.succeeds(x)
	second, _ := c.succeeds(y)
	must.Equal(c.t, c.tool.Name+y, first, second)
}

func (c caller) holds(arguments string, texts ...string) {
	c.t.Helper()
	got, _ := c.succeeds(arguments)
	must.Contain(c.t, c.tool.Name+arguments, got, texts...)
}

func (c caller) lacks(arguments string, texts ...string) {
	c.t.Helper()
	got, _ := c.succeeds(arguments)
	must.NotContain(c.t, c.tool.Name+arguments, got, texts...)
}

func (c caller) length(arguments, member string, want int) {
	c.t.Helper()
	_, structured := c.succeeds(arguments)
	list, _ := structured[member].([]any)
	must.Equal(c.t, c.tool.Name+arguments, want, len(list))
}

func ordered(c caller, a ...string) {
	got, _ := c.succeeds(a[0])
	rest := got
	for _, text := range a[1:] {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			c.t.Fatalf("%s(%s): want %q in this order in\n%s", c.tool.Name, a[0], a[1:], got)
		}
		rest = after
	}
}

func cursorClaim(c caller, _ ...string) {
	c.same(`{"path":"many"}`, `{"path":"many","cursor":""}`)
	first, _ := c.succeeds(`{"path":"many","max_characters":30000}`)
	_, next, _ := strings.Cut(first, "1000 of 1001 entries shown; the next cursor is ")
	c.holds(`{"path":"many","cursor":"`+next+`"}`, "[FILE] 1000.txt")
	c.lacks(`{"path":"many","cursor":"`+next+`"}`, "0999.txt", "next cursor")
	c.refuses(`{"path":"files","cursor":"`+next+`"}`, "INVALID_CURSOR")
}

func searchClaim(c caller, a ...string) {
	_, found := c.succeeds(`{"query":"review a pull request"}`)
	last := 1.0
	for i, result := range found["results"].([]any) {
		r := result.(map[string]any)
		score := r["score"].(float64)
		if score < 0 || score > last || r["match_reason"] == "" || i == 0 && r["name"] != a[0] {
			c.t.Errorf("result %d is %v", i, r)
		}
		last = score
	}
}

func weakClaim(c caller, _ ...string) {
	_, found := c.succeeds(`{"query":"xyzzy"}`)
	if words, _ := found["words"].([]any); found["weak"] != true || len(words) == 0 {
		c.t.Errorf("a query without a match has %v", found)
	}
}

func queryClaim(c caller, _ ...string) {
	c.succeeds(`{"query":"x"}`)
	c.succeeds(`{"query":"` + strings.Repeat("é", 500) + `"}`)
	c.refuses(`{"query":""}`, "INVALID_QUERY")
	c.refuses(`{"query":"`+strings.Repeat("é", 501)+`"}`, "INVALID_QUERY")
}

// resultsClaim takes the number of results by default and with the largest max_results.
func resultsClaim(c caller, a ...string) {
	query := a[0]
	c.length(`{"query":"`+query+`"}`, "results", number(c.t, a[1]))
	c.length(`{"query":"`+query+`","max_results":1}`, "results", 1)
	c.length(`{"query":"`+query+`","max_results":100}`, "results", number(c.t, a[2]))
	c.refuses(`{"query":"`+query+`","max_results":101}`, "INVALID_QUERY")
}

func excludeClaim(c caller, a ...string) {
	others := a[0]
	c.holds(`{`+others+`}`, "x.js", "error.log")
	c.lacks(`{`+others+`,"exclude_patterns":["node_modules"]}`, "x.js")
	c.lacks(`{`+others+`,"exclude_patterns":["**/*.log"]}`, "error.log")
	list := strings.TrimSuffix(strings.Repeat(`"*.log",`, 101), ",")
	c.refuses(`{`+others+`,"exclude_patterns":[`+list+`]}`, "INVALID_PATTERN")
	c.lacks(`{`+others+`,"exclude_patterns":[`+strings.TrimSuffix(list, `,"*.log"`)+`]}`, "error.log")
}

func gitignoreClaim(c caller, a ...string) {
	others := a[0]
	c.same(`{`+others+`}`, `{`+others+`,"gitignore":true}`)
	c.holds(`{`+others+`}`, "a.txt")
	c.lacks(`{`+others+`}`, "a.tmp", "out")
	c.holds(strings.ReplaceAll(`{`+others+`}`, `"ignoring"`, `"ignoring/out"`), "x.txt")
	c.holds(`{`+others+`,"gitignore":false}`, "a.txt", "a.tmp", "out")
}

// limitClaim takes arguments with 1,001 results in a member.
func limitClaim(c caller, a ...string) {
	others, member := a[0]+`,"max_characters":1000000`, a[1]
	c.length(`{`+others+`}`, member, 1000)
	c.length(`{`+others+`,"limit":1}`, member, 1)
	c.length(`{`+others+`,"limit":10000}`, member, 1001)
	c.refuses(`{`+others+`,"limit":0}`, "INVALID_OPTION")
	c.refuses(`{`+others+`,"limit":10001}`, "INVALID_OPTION")
}

// sizeClaim takes arguments with a result of more than 20,000 characters.
func sizeClaim(c caller, a ...string) {
	others := a[0]
	c.same(`{`+others+`}`, `{`+others+`,"max_characters":20000}`)
	for _, size := range []int{1000, 5000, 20_000} {
		arguments := fmt.Sprintf(`{%s,"max_characters":%d}`, others, size)
		text, structured := c.succeeds(arguments)
		if n := utf8.RuneCountInString(text); n > size || n < size/2 {
			c.t.Errorf("%s(%s): %d characters", c.tool.Name, arguments, n)
		}
		if n := len(encoded(c.t, structured)); n > 10*len(text) {
			c.t.Errorf("%s(%s): %d bytes of structured content for %d bytes of text",
				c.tool.Name, arguments, n, len(text))
		}
	}
	c.succeeds(`{` + others + `,"max_characters":1000000}`)
	c.refuses(`{`+others+`,"max_characters":999}`, "INVALID_OPTION")
	c.refuses(`{`+others+`,"max_characters":1000001}`, "INVALID_OPTION")
}

// input has the fields of an input schema for the tests.
type input struct {
	Properties map[string]struct {
		Type, Description string
		Default           json.RawMessage
		Examples          []json.RawMessage
	}
	Required []string
}

func inputOf(t *testing.T, tool mcpadapter.Tool) (schema input) {
	t.Helper()
	must.Do(t, json.Unmarshal(tool.InputSchema, &schema))
	return schema
}

// workingOn calls the tool of a claim over a project with a skill to deploy, and with skills of the
// directory packages/web.
func workingOn(c caller, a ...string) {
	files := map[string]string{".claude/skills/deploy/SKILL.md": "---\ndescription: Deploys\n---\n",
		"packages/web/.claude/skills/deploy/SKILL.md": "---\ndescription: Deploys the website\n---\n",
		"packages/web/.claude/skills/lint/SKILL.md":   "---\ndescription: Checks styles\n---\n"}
	claude := catalog(c.t, memory(c.t, files), toolshelf.WithClient(client.Claude()))
	adapter := adapterOf(c.t, claude, mcpadapter.WithRelativePaths())
	got := must.Get(adapter.Call(ctx, c.tool.Name, json.RawMessage(a[0])))(c.t)
	must.Equal(c.t, a[0], false, got.IsError)
	must.Contain(c.t, a[0], got.Text, a[1:]...)
}

func claimedCatalog(t *testing.T) *toolshelf.Catalog {
	t.Helper()
	return catalog(t, memory(t, claimed()), toolshelf.WithAgentsDir("agents"), toolshelf.WithInstructions(client.Cursor()), toolshelf.WithReports("reports", "local"))
}

func TestDescriptionsMatchTheBehavior(t *testing.T) {
	c := claimedCatalog(t)
	a, programs := adapterOf(t, c), adapterOf(t, c, mcpadapter.WithStructuredContent())
	want, got := map[string]string{}, map[string]string{}
	for _, tool := range a.Tools() {
		got[tool.Name] = tool.Description
		for name, p := range inputOf(t, tool).Properties {
			got[tool.Name+" "+name] = p.Description
		}
	}
	var key, text string
	for line := range strings.SplitSeq(claims, "\n") {
		check, ok := strings.CutPrefix(line, "\t")
		if !ok {
			if !strings.HasPrefix(line, "#") && line != "" {
				key, text, _ = strings.Cut(line, ": ")
				want[key] = text
			}
			continue
		}
		t.Run(key, func(t *testing.T) {
			name, _, _ := strings.Cut(key, " ")
			tool, ok := a.Lookup(name)
			must.Equal(t, "the tool exists", true, ok)
			program, _ := programs.Lookup(name)
			word, arguments, _ := strings.Cut(check, " ")
			checks[word](caller{t, tool, program}, must.Arguments(arguments)...)
		})
	}
	must.Match(t, "texts", want, got)
}

// A tool accepts the examples in its schema and in its errors.
func TestToolsAcceptTheExamplesOfTheirSchemas(t *testing.T) {
	a := adapterOf(t, claimedCatalog(t), mcpadapter.WithStructuredContent())
	working := map[string]json.RawMessage{
		"command_name": json.RawMessage(`"review-pr"`), "skill_name": json.RawMessage(`"pdf-processing"`), "agent_name": json.RawMessage(`"reviewer"`), "path": json.RawMessage(`"references/guide.md"`),
		"report_content": json.RawMessage(`"x"`), "user_wants_upload": json.RawMessage(`true`), "pattern": json.RawMessage(`"x"`), "query": json.RawMessage(`"x"`),
	}
	examples := 0
	for _, tool := range a.Tools() {
		schema := inputOf(t, tool)
		check := compiled(t, tool.InputSchema)
		for name, p := range schema.Properties {
			for _, example := range append(p.Examples, p.Default) {
				if example == nil {
					continue
				}
				examples++
				arguments := map[string]json.RawMessage{}
				for _, other := range schema.Required {
					arguments[other] = working[other]
				}
				switch tool.Name {
				case "list_directory":
					arguments["path"] = json.RawMessage(`"."`)
				case "read_file": // needs path or paths
					arguments["path"] = working["path"]
				}
				arguments[name] = example
				raw := must.Get(json.Marshal(arguments))(t)
				must.Is(t, tool.Name, nil, validate(t, check, raw))
				caller{t, tool, tool}.succeeds(string(raw))
			}
		}
		refused := must.Get(tool.Call(ctx, json.RawMessage(`[]`)))(t)
		var body struct{ Error any }
		must.Do(t, json.Unmarshal(refused.Structured, &body))
		message, ok := body.Error.(string)
		if !ok {
			message = body.Error.(map[string]any)["message"].(string)
		}
		_, example, _ := strings.Cut(message, "such as ")
		must.Is(t, tool.Name, nil, validate(t, check, []byte(example)))
	}
	if examples < 15 {
		t.Errorf("%d examples", examples)
	}
}

// A tool accepts the arguments that its errors suggest.
func TestToolsAcceptTheSuggestionsOfTheirErrors(t *testing.T) {
	a := adapterOf(t, claimedCatalog(t), mcpadapter.WithStructuredContent())
	for _, tt := range []struct {
		tool, refused, says string
		accepted            []string
	}{
		{"list_commands", `{"page":0}`, "send a whole number of 1 or more", []string{`{"page":1}`, `{"page":9007199254740991}`}},
		{"list_commands", `{"page_size":101}`, "send a whole number from 1 to 100", []string{`{"page_size":1}`, `{"page_size":100}`}},
		{"search_commands", `{"query":"x","max_results":0}`, "send a whole number from 1 to 100", []string{`{"query":"x","max_results":1}`, `{"query":"x","max_results":100}`}},
		{"search_commands", `{"query":""}`, "use at least one word", []string{`{"query":"word"}`}},
		{"list_directory", `{"path":7}`, `send a string, "." for the project root`, []string{`{"path":"."}`}},
		{"list_directory", `{"path":".","sort_by":"type"}`, "send one of name, size, modified", []string{`{"path":".","sort_by":"name"}`, `{"path":".","sort_by":"size"}`, `{"path":".","sort_by":"modified"}`}},
		{"list_directory", `{"path":".","show_hidden":"yes"}`, "send true or false", []string{`{"path":".","show_hidden":true}`, `{"path":".","show_hidden":false}`}},
		{"directory_tree", `{"path":"files","max_depth":0}`, "send a whole number of 1 or more", []string{`{"path":"files","max_depth":1}`}},
		{"search_files", `{"pattern":"*","exclude_patterns":"x"}`, `send an array of at most 100 strings, such as ["node_modules", "*.log"]`, []string{`{"pattern":"*","exclude_patterns":["node_modules", "*.log"]}`}},
		{"list_directory", `{"path":"filse"}`, "did you mean 'files/'?", []string{`{"path":"files/"}`}},
		{"get_file_info", `{"path":"files/bb.md"}`, "did you mean 'files/b.md'?", []string{`{"path":"files/b.md"}`}},
		{"get_command", `{"command_name":"review-rp"}`, `did you mean \"review-pr\"?`, []string{`{"command_name":"review-pr"}`}},
		{"get_agent", `{"agent_name":"agents/reviewer.md"}`, `write \"reviewer\"`, []string{`{"agent_name":"reviewer"}`}},
		{"get_skill", `{"skill_name":"review"}`, `did you mean \"Review\"?`, []string{`{"skill_name":"Review"}`}},
	} {
		tool, _ := a.Lookup(tt.tool)
		got := must.Get(tool.Call(ctx, json.RawMessage(tt.refused)))(t)
		must.Equal(t, tt.tool, true, got.IsError)
		must.Contain(t, tt.tool, got.Text, tt.says)
		for _, arguments := range tt.accepted {
			caller{t, tool, tool}.succeeds(arguments)
		}
	}
}

// identifier matches names in the notation of tools and arguments.
var identifier = regexp.MustCompile(`[A-Za-z0-9.-]*[a-z0-9](?:_[A-Za-z0-9.-]+)+`)

// misnamed returns the identifiers in a text that are not among the known names.
func misnamed(text string, known map[string]bool) (foreign []string) {
	for _, name := range identifier.FindAllString(text, -1) {
		if name = strings.Trim(name, "."); !known[name] && !exampleNames[name] {
			foreign = append(foreign, name)
		}
	}
	return foreign
}

// walkSchema calls property with the name of each property, and text with each description.
func walkSchema(schema any, property, text func(string)) {
	switch s := schema.(type) {
	case map[string]any:
		if d, ok := s["description"].(string); ok {
			text(d)
		}
		if properties, ok := s["properties"].(map[string]any); ok {
			for name := range properties {
				property(name)
			}
		}
		for _, below := range s {
			walkSchema(below, property, text)
		}
	case []any:
		for _, below := range s {
			walkSchema(below, property, text)
		}
	}
}

// For all sets and names of tools, a text names only offered tools, and the arguments and results
// of its own tool.
func TestTextsNameOnlyExistingToolsAndArguments(t *testing.T) {
	c := claimedCatalog(t)
	all := adapterOf(t, c).Tools()
	optionSets := [][]mcpadapter.Option{nil, {mcpadapter.WithNamespace("my_x")}, {mcpadapter.WithNamespace("a.b")}, {mcpadapter.WithNamespace("a.b"), mcpadapter.WithSeparator("_")}}
	for _, tool := range all {
		optionSets = append(optionSets, []mcpadapter.Option{mcpadapter.WithTools(tool.Name)}, []mcpadapter.Option{mcpadapter.WithTools(tool.Name), mcpadapter.WithNamespace("x")})
	}
	for _, options := range optionSets {
		a := adapterOf(t, c, append(options, mcpadapter.WithStructuredContent())...)
		tools := map[string]bool{}
		for _, tool := range a.Tools() {
			tools[tool.Name] = true
		}
		for _, tool := range a.Tools() {
			known := maps.Clone(tools)
			var texts []string
			for _, raw := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
				walkSchema(decoded(t, raw), func(name string) { known[name] = true }, func(text string) { texts = append(texts, text) })
			}
			names := slices.Collect(maps.Keys(inputOf(t, tool).Properties))
			for _, bad := range append(names, "nothing") { // each argument with a wrong value, and an unknown argument
				raw := must.Get(json.Marshal(map[string]any{bad: map[string]any{}}))(t)
				got := must.Get(tool.Call(ctx, raw))(t)
				must.Equal(t, tool.Name, true, got.IsError)
				if !strings.HasPrefix(got.Text, "{") {
					texts = append(texts, got.Text)
					continue
				}
				texts = append(texts, fmt.Sprint(decoded(t, []byte(got.Text))))
			}
			for _, text := range append(texts, tool.Description) {
				if foreign := misnamed(text, known); foreign != nil {
					t.Errorf("with %d tools, %s says %q; there is no %q", len(tools), tool.Name, text, foreign)
				}
			}
		}
		if tool, ok := a.Lookup("get_command"); ok {
			_, got := caller{t, tool, tool}.succeeds(`{"command_name":"analyze_zoom_speech_sdk_log"}`)
			hint, _ := got["next_steps"].(string)
			if foreign := misnamed(hint, tools); foreign != nil {
				t.Errorf("with %d tools, next_steps is %q; there is no %q", len(tools), hint, foreign)
			}
		}
		_, err := a.Call(ctx, "nothing", nil)
		var rpc *mcpadapter.RPCError
		if !errors.As(err, &rpc) || misnamed(rpc.Message, tools) != nil {
			t.Errorf("%v", err)
		}
	}
}

// misnamed finds unknown names.
func TestMisnamedFindsUnknownNames(t *testing.T) {
	known := map[string]bool{"x.get_command": true, "page_size": true}
	for text, want := range map[string][]string{
		"Pass it to x.get_command.":        nil,
		"Pass it to get_command.":          {"get_command"},
		"Set page_size, or page_number":    {"page_number"},
		"names: x.get_command, list_shoes": {"list_shoes"},
	} {
		must.Match(t, text, want, misnamed(text, known))
	}
}

// The description of report_feedback names only directories that exist.
func TestReportFeedbackDescribesTheDirectoriesThatExist(t *testing.T) {
	for _, tt := range []struct {
		shared, local string
		says, omits   []string
	}{
		{"reports", "local", []string{"ask the user first", "kept on this machine"}, nil},
		{"reports", "", []string{"ask the user first"}, []string{"kept on this machine"}},
		{"", "local", []string{"kept on this machine"}, []string{"user_wants_upload true"}},
	} {
		a := adapterOf(t, catalog(t, memory(t, claimed()), toolshelf.WithAgentsDir("agents"), toolshelf.WithReports(tt.shared, tt.local)))
		tool, _ := a.Lookup("report_feedback")
		must.Contain(t, tt.shared, tool.Description, tt.says...)
		must.NotContain(t, tt.shared, tool.Description, tt.omits...)
		for upload, ok := range map[string]bool{"true": tt.shared != "", "false": tt.local != ""} {
			got, err := tool.Call(ctx, json.RawMessage(`{"command_name":"review-pr","report_content":"x","user_wants_upload":`+upload+`}`))
			if err != nil || got.IsError == ok {
				t.Errorf("reports %q and %q, upload %s: %s, %v", tt.shared, tt.local, upload, got.Text, err)
			}
		}
	}
}
