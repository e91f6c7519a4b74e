package mcpadapter_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// compiled compiles a schema and checks it against the metaschema of 2020-12.
func compiled(t *testing.T, raw json.RawMessage) *jsonschema.Schema {
	t.Helper()
	doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(raw)))(t)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	must.Do(t, c.AddResource("tool.json", doc))
	s, err := c.Compile("tool.json")
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, raw []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return s.Validate(v)
}

func TestSchemasAreValidObjects(t *testing.T) {
	for _, tool := range everyTool(t, mcpadapter.WithStructuredContent()).Tools() {
		for _, raw := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
			compiled(t, raw)
			var root struct{ Type string }
			if err := json.Unmarshal(raw, &root); err != nil || root.Type != "object" {
				t.Errorf("%s: the root has the type %q, %v", tool.Name, root.Type, err)
			}
			if bytes.Contains(raw, []byte(`"required":true`)) {
				t.Errorf("%s: a property says that it is required, which is for its object to say", tool.Name)
			}
		}
	}
}

// The test compares the input schemas with the tool contracts.
func TestInputSchemasEqualTheContracts(t *testing.T) {
	want := map[string]string{
		"list_commands": `{"type":"object","properties":{
			"page":{"type":"integer","description":"Page number (1-indexed)","default":1,"minimum":1},
			"page_size":{"type":"integer","description":"Number of items per page","default":50,"minimum":1,"maximum":100}},
			"required":[],"additionalProperties":false}`,
		"get_command": `{"type":"object","properties":{
			"command_name":{"type":"string","description":"Name of the command to retrieve (with or without .md extension)",
			"examples":["analyze_zoom_speech_sdk_log","proxy-slow-meeting-analysis-command.md"]}},
			"required":["command_name"],"additionalProperties":false}`,
		"list_skills": `{"type":"object","properties":{"path":{"type":"string","description":"File to work on"}},"required":[],"additionalProperties":false}`,
		"list_directory": `{"type":"object","properties":{
			"path":{"type":"string","description":"Directory path (relative to project root)"},
			"show_hidden":{"type":"boolean","description":"Include hidden files (default false)","default":false},
			"sort_by":{"type":"string","description":"Sort by: name, size, modified (default: name)","default":"name","enum":["name","size","modified"]},
			"gitignore":{"type":"boolean","description":"Omit entries that .gitignore files ignore (default false)","default":false},
			"show_sizes":{"type":"boolean","description":"Show the sizes of files (default true)","default":true},
			"limit":{"type":"integer","description":"Maximum number of entries (default 1000)","default":1000,"minimum":1,"maximum":10000},
			"max_characters":{"type":"integer","description":"Maximum number of characters (default 20000)","default":20000,"minimum":1000,"maximum":1000000},
			"cursor":{"type":"string","description":"The next cursor of the previous page (default: first page)"}},
			"required":["path"],"additionalProperties":false}`,
	}
	for _, tool := range everyTool(t, mcpadapter.WithStructuredContent()).Tools() {
		if want[tool.Name] != "" {
			sameJSON(t, tool.InputSchema, want[tool.Name])
		}
	}
}

// A tool rejects all arguments that its schema rejects.
func TestInputSchemasAndChecksAgree(t *testing.T) {
	values := []string{`1`, `0`, `-1`, `50`, `100`, `101`, `1.5`, `"name"`, `""`, `"*"`, `true`, `["*"]`, `[]`, `[1]`, `{}`}
	for _, tool := range everyTool(t, mcpadapter.WithStructuredContent()).Tools() {
		schema := compiled(t, tool.InputSchema)
		var input struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		must.Do(t, json.Unmarshal(tool.InputSchema, &input))
		for name := range input.Properties {
			for _, value := range values {
				arguments := map[string]json.RawMessage{name: json.RawMessage(value)}
				for _, other := range input.Required {
					if other != name {
						arguments[other] = exampleOf(t, input.Properties[other])
					}
				}
				raw := must.Get(json.Marshal(arguments))(t)
				if validate(t, schema, raw) == nil {
					continue // the catalog may still reject the value
				}
				if got, err := tool.Call(ctx, raw); err != nil || !got.IsError {
					t.Errorf("%s: the schema refuses %s, and the tool takes it: %+v, %v", tool.Name, raw, got, err)
				}
			}
		}
	}
}

func exampleOf(t *testing.T, property json.RawMessage) json.RawMessage {
	t.Helper()
	var p struct{ Type string }
	must.Do(t, json.Unmarshal(property, &p))
	return map[string]json.RawMessage{"string": json.RawMessage(`"x"`), "boolean": json.RawMessage(`false`)}[p.Type]
}

// Successful and failed results fit the output schema of the tool.
func TestResultsFitTheOutputSchemas(t *testing.T) {
	a := everyTool(t, mcpadapter.WithStructuredContent())
	calls := map[string][]string{
		"list_commands":    {`{}`, `{"page":9}`, `{"page":0}`, `[`},
		"get_command":      {`{"command_name":"analyze_log"}`, `{"command_name":"commit"}`, `{"command_name":"nothing"}`, `{}`},
		"search_commands":  {`{"query":"log"}`, `{"query":"xyzzy"}`, `{"query":""}`},
		"search_skills":    {`{"query":"weather"}`, `{"query":"weather","max_results":0}`},
		"list_skills":      {`{}`, `{"x":1}`},
		"list_directory":   {`{"path":"."}`, `{"path":"src","show_hidden":true}`, `{"path":".","limit":1,"gitignore":true}`, `{"path":".."}`, `{}`},
		"directory_tree":   {`{}`, `{"exclude_patterns":["*.md"],"max_depth":1}`, `{"path":"nothing"}`},
		"get_file_info":    {`{"path":"src"}`, `{"path":"src/agent.lisp"}`, `{"path":"."}`, `{"path":"nothing"}`},
		"get_skill":        {`{"skill_name":"calculator"}`, `{"skill_name":"nothing"}`},
		"list_agents":      {`{}`, `{"x":1}`},
		"get_instructions": {`{"path":"src/agent.lisp"}`, `{"path":"."}`, `{"path":"../x"}`, `{}`},
		"get_agent":        {`{"agent_name":"plan"}`, `{"agent_name":"nothing"}`},
		"read_skill_file":  {`{"skill_name":"calculator","path":"logo.png"}`, `{"skill_name":"calculator","path":".."}`},
		"report_feedback":  {`{"command_name":"commit","report_content":"x","user_wants_upload":true}`, `{"command_name":"commit","report_content":"","user_wants_upload":true}`},
		"search_files":     {`{"pattern":"*.md"}`, `{"pattern":"*.none"}`, `{"pattern":"["}`},
		"search_text":      {`{"pattern":"a","context_lines":1}`, `{"pattern":"xyzzy"}`, `{"pattern":"a","limit":1,"path":"src/agent.lisp"}`, `{"pattern":"("}`},
		"read_file":        {`{"path":"src/agent.lisp"}`, `{"path":"src/agent.lisp","max_bytes":2}`, `{"path":"src/agent.lisp","start_line":5}`, `{"path":"src"}`},
	}
	for _, tool := range a.Tools() {
		schema := compiled(t, tool.OutputSchema)
		outcomes := map[bool]int{}
		for _, arguments := range calls[tool.Name] {
			got := must.Get(tool.Call(ctx, json.RawMessage(arguments)))(t)
			outcomes[got.IsError]++
			if err := validate(t, schema, got.Structured); err != nil {
				t.Errorf("%s(%s): %v\n%s", tool.Name, arguments, err, got.Structured)
			}
		}
		if outcomes[false] == 0 || outcomes[true] == 0 {
			t.Errorf("%s: %d successes and %d failures were tried; want some of both", tool.Name, outcomes[false], outcomes[true])
		}
		if validate(t, schema, []byte(`{"unrelated":1}`)) == nil {
			t.Errorf("%s: the output schema takes anything", tool.Name)
		}
	}
}

// everyTool returns an adapter with all tools of the library.
func everyTool(t testing.TB, opts ...mcpadapter.Option) *mcpadapter.Adapter {
	t.Helper()
	files := maps.Clone(project)
	files["agents/plan.md"] = "---\ndescription: Plans.\n---\nPlan the work.\n"
	files["src/AGENTS.md"] = "Write Lisp.\n"
	return adapterOf(t, catalog(t, memory(t, files), toolshelf.WithAgentsDir("agents"), toolshelf.WithInstructions(client.Codex()), toolshelf.WithReports("reports", "local")), opts...)
}

func TestSchemaDecodesTheInputSchema(t *testing.T) {
	for _, tt := range []struct {
		name, schema string
		want         map[string]any
	}{
		{"no schema", ``, map[string]any{"type": "object"}},
		{"an array", `[]`, map[string]any{"type": "object"}},
		{"null", `null`, map[string]any{"type": "object"}},
		{"two objects", `{} {}`, map[string]any{"type": "object"}},
		{"numbers", `{"type":"object","a":[1,-1.5,1e400,9007199254740992,9007199254740993,-9223372036854775808]}`, map[string]any{"type": "object",
			"a": []any{1.0, -1.5, json.Number("1e400"), json.Number("9007199254740992"), json.Number("9007199254740993"), json.Number("-9223372036854775808")}}},
		{"other values", `{"a":null,"b":true,"c":"x","d":{"e":[]}}`,
			map[string]any{"a": nil, "b": true, "c": "x", "d": map[string]any{"e": []any{}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must.Match(t, "result", tt.want, mcpadapter.Tool{InputSchema: json.RawMessage(tt.schema)}.Schema())
		})
	}
}

func TestSchemaEqualsTheInputSchemaOfEachTool(t *testing.T) {
	for _, tool := range everyTool(t, mcpadapter.WithStructuredContent()).Tools() {
		changed := tool.Schema()
		clear(changed["properties"].(map[string]any))
		raw := must.Get(json.Marshal(tool.Schema()))(t)
		sameJSON(t, raw, string(tool.InputSchema))
	}
}
