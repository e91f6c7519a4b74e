package mcpadapter_test

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// property is the part of a JSON Schema that docs/tools.md shows.
type property struct {
	Type, Format        string
	Description         string
	Default, Const      json.RawMessage
	Minimum, Maximum    *int
	MaxLength, MaxItems int
	Enum                []string
	Items               *property
	Properties          map[string]property
	Required            []string
	AnyOf               []property
}

func propertyOf(t *testing.T, schema json.RawMessage) property {
	t.Helper()
	var p property
	must.Do(t, json.Unmarshal(schema, &p))
	return p
}

func (p property) typeName() string {
	switch {
	case p.Items != nil && p.Items.Type == "string":
		return "array of strings"
	case p.Items != nil:
		return "array of objects"
	case p.Enum != nil:
		return "string"
	case p.Const != nil:
		return "boolean"
	case p.Format != "":
		return p.Type + " (" + p.Format + ")"
	default:
		return p.Type
	}
}

func (p property) limits() string {
	switch {
	case p.Enum != nil:
		return "`" + strings.Join(p.Enum, "`, `") + "`"
	case p.Const != nil:
		return "`" + string(p.Const) + "`"
	case p.Minimum != nil && p.Maximum != nil:
		return fmt.Sprintf("%d to %d", *p.Minimum, *p.Maximum)
	case p.Minimum != nil:
		return fmt.Sprintf("%d or more", *p.Minimum)
	case p.MaxLength > 0:
		return fmt.Sprintf("at most %d characters", p.MaxLength)
	case p.MaxItems > 0:
		return fmt.Sprintf("at most %d items", p.MaxItems)
	default:
		return ""
	}
}

// names returns the properties in the order of the schema.
func names(t *testing.T, schema json.RawMessage) []string {
	t.Helper()
	var object struct{ Properties json.RawMessage }
	if err := json.Unmarshal(schema, &object); err != nil || object.Properties == nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(object.Properties)))
	must.Get(d.Token())(t)
	var all []string
	for d.More() {
		name := must.Get(d.Token())(t)
		var skipped json.RawMessage
		must.Do(t, d.Decode(&skipped))
		all = append(all, name.(string))
	}
	return all
}

// argumentTable returns the table of a tool's arguments.
func argumentTable(t *testing.T, tool mcpadapter.Tool) string {
	t.Helper()
	input := propertyOf(t, tool.InputSchema)
	if len(input.Properties) == 0 {
		return "Arguments: none.\n"
	}
	table := "| Argument | Type | Default | Values | Description |\n|---|---|---|---|---|\n"
	for _, name := range names(t, tool.InputSchema) {
		p := input.Properties[name]
		defaultCell := "none"
		switch {
		case slices.Contains(input.Required, name):
			defaultCell = "required"
		case p.Default != nil:
			defaultCell = "`" + string(p.Default) + "`"
		}
		table += row("`"+name+"`", p.typeName(), defaultCell, p.limits(), p.Description)
	}
	return table
}

// resultLine returns the line of docs/tools.md with the properties of a tool's results: the
// properties of an object or of the elements of an array are in parentheses, and a question mark
// follows a property that the result may omit.
func resultLine(t *testing.T, tool mcpadapter.Tool) string {
	t.Helper()
	line := "Result:"
	for _, name := range resultNames(t, "", successOf(t, tool)) {
		line += " " + name.shown
	}
	return strings.ReplaceAll(strings.TrimSuffix(line, ",")+".\n", ",)", ")")
}

// successOf returns the schema of a successful result, the first of the output schema: an error and
// other successes follow.
func successOf(t *testing.T, tool mcpadapter.Tool) json.RawMessage {
	t.Helper()
	var output struct{ AnyOf []json.RawMessage }
	if err := json.Unmarshal(tool.OutputSchema, &output); err != nil || len(output.AnyOf) < 2 {
		t.Fatalf("%s: %v in %s", tool.Name, err, tool.OutputSchema)
	}
	return output.AnyOf[0]
}

// resultName is a property with its path, as in "entries[].name", and as docs/tools.md shows the
// property.
type resultName struct{ path, shown string }

func resultNames(t *testing.T, prefix string, schema json.RawMessage) (all []resultName) {
	t.Helper()
	var object struct{ Properties map[string]json.RawMessage }
	must.Do(t, json.Unmarshal(schema, &object))
	required := propertyOf(t, schema).Required
	for _, name := range names(t, schema) {
		raw := object.Properties[name]
		p := propertyOf(t, raw)
		shown := "`" + name + "`"
		if !slices.Contains(required, name) {
			shown += "?"
		}
		var nested struct{ Items json.RawMessage }
		must.Do(t, json.Unmarshal(raw, &nested))
		var below []resultName
		switch {
		case p.Properties != nil:
			below = resultNames(t, prefix+name+".", raw)
		case p.Items != nil && p.Items.Properties != nil:
			below = resultNames(t, prefix+name+"[].", nested.Items)
		}
		if len(below) == 0 {
			all = append(all, resultName{prefix + name, shown + ","})
			continue
		}
		below[0].shown = "(" + below[0].shown
		below[len(below)-1].shown += "),"
		all = append(append(all, resultName{prefix + name, shown}), below...)
	}
	return all
}

// row returns a row of a Markdown table. The last cell is plain text.
func row(cells ...string) string {
	last := len(cells) - 1
	cells[last] = strings.NewReplacer("|", `\|`, "*", `\*`).Replace(cells[last])
	line := "|"
	for _, cell := range cells {
		line += strings.TrimRight(" "+cell, " ") + " |"
	}
	return line + "\n"
}

// toolSections returns the sections of docs/tools.md, by the tool in the heading.
func toolSections(t *testing.T) (sections map[string]string, order []string) {
	t.Helper()
	page := must.Get(os.ReadFile("../docs/tools.md"))(t)
	sections = map[string]string{}
	for _, part := range strings.Split("\n"+strings.ReplaceAll(string(page), "\r\n", "\n"), "\n## ")[1:] {
		heading, body, _ := strings.Cut(part, "\n")
		if name := strings.Trim(heading, "`"); name != heading {
			sections[name] = body
			order = append(order, name)
		}
	}
	return sections, order
}

func TestToolContractsAreDocumented(t *testing.T) {
	sections, order := toolSections(t)
	var offered []string
	for _, tool := range everyTool(t, mcpadapter.WithStructuredContent()).Tools() {
		offered = append(offered, tool.Name)
		for _, part := range []string{argumentTable(t, tool), resultLine(t, tool)} {
			must.Contain(t, "docs/tools.md", sections[tool.Name], "\n"+part)
		}
		must.Equal(t, "docs/tools.md", strings.Count("\n"+argumentTable(t, tool), "\n|"),
			strings.Count(sections[tool.Name], "\n|"))
	}
	must.Match(t, "order", offered, order)
}

func TestToolContractsNameTheErrorCodes(t *testing.T) {
	codes := regexp.MustCompile("`([A-Z][A-Z_]+)`")
	known := map[string]bool{"INVALID_ARGUMENTS": true}
	for _, e := range []*toolshelf.Error{
		toolshelf.ErrInvalidOption, toolshelf.ErrInvalidPage, toolshelf.ErrInvalidPageSize, toolshelf.ErrDirectoryNotFound,
		toolshelf.ErrPermissionDenied, toolshelf.ErrInvalidCommandName, toolshelf.ErrCommandNotFound, toolshelf.ErrFileRead,
		toolshelf.ErrFileTooLarge, toolshelf.ErrAmbiguousName, toolshelf.ErrInvalidAgentName, toolshelf.ErrAgentNotFound, toolshelf.ErrInvalidSkillName, toolshelf.ErrSkillNotFound, toolshelf.ErrOutsideRoot,
		toolshelf.ErrNotADirectory, toolshelf.ErrNotFound, toolshelf.ErrInvalidSort, toolshelf.ErrInvalidPattern,
		toolshelf.ErrInvalidQuery, toolshelf.ErrSearchTimeout, toolshelf.ErrSearchFailed, toolshelf.ErrEmptyContent, toolshelf.ErrSizeLimitExceeded,
		toolshelf.ErrInvalidReportName, toolshelf.ErrDirectoryPreparation, toolshelf.ErrFileWrite, toolshelf.ErrLocalSave, toolshelf.ErrNotText, toolshelf.ErrInvalidCursor, toolshelf.ErrClosed,
	} {
		known[string(e.Code)] = true
	}
	sections, _ := toolSections(t)
	for _, tool := range everyTool(t, mcpadapter.WithStructuredContent()).Tools() {
		_, line, _ := strings.Cut(sections[tool.Name], "\nError codes: ")
		line, _, _ = strings.Cut(line, "\n\n")
		listed := map[string]bool{"INVALID_ARGUMENTS": true} // of every tool
		for _, code := range codes.FindAllStringSubmatch(line, -1) {
			listed[code[1]] = true
			if !known[code[1]] {
				t.Errorf("%s: the code %s does not exist", tool.Name, code[1])
			}
		}
		if propertyOf(t, tool.OutputSchema).AnyOf[1].Properties["error"].Type == "string" {
			continue // the error has no code
		}
		if len(listed) == 1 {
			t.Errorf("%s: no error codes are listed", tool.Name)
		}
		for name := range propertyOf(t, tool.InputSchema).Properties {
			got, err := tool.Call(ctx, json.RawMessage(`{"`+name+`":{}}`))
			var failed struct{ Error toolshelf.Error }
			if err == nil {
				err = json.Unmarshal(got.Structured, &failed)
			}
			if err != nil || !listed[string(failed.Error.Code)] {
				t.Errorf("%s: an invalid %s is %s, %v; docs/tools.md lists %v", tool.Name, name, failed.Error.Code, err, listed)
			}
		}
	}
}

// TestMissingDirectoriesHaveTheDocumentedCodes compares the table of missing directories
// in docs/tools.md with the tools.
func TestMissingDirectoriesHaveTheDocumentedCodes(t *testing.T) {
	page := must.Get(os.ReadFile("../docs/tools.md"))(t)
	_, table, found := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), "| Tools | No directory exists | The root does not exist |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	must.Equal(t, "docs/tools.md has the table of missing directories", true, found)
	empty, reports := afero.NewMemMapFs(), toolshelf.WithReports("reports", "")
	must.Do(t, empty.Mkdir("/root", 0o755))
	root := toolshelf.WithRoot("/root")
	adapters := map[string]*mcpadapter.Adapter{
		"default": adapterOf(t, catalog(t, empty, root, reports, toolshelf.WithAgentsDir("a"))),
		"named":   adapterOf(t, catalog(t, empty, root, reports, toolshelf.WithCommandsDir("c"), toolshelf.WithSkillsDir("s"), toolshelf.WithAgentsDir("a"))),
		"no root": adapterOf(t, catalog(t, empty, toolshelf.WithRoot("/missing"), reports, toolshelf.WithAgentsDir("a"))),
	}
	arguments := map[string]string{
		"search_commands": `{"query":"x"}`,
		"search_skills":   `{"query":"x"}`,
		"get_command":     `{"command_name":"x"}`,
		"report_feedback": `{"command_name":"x","report_content":"x","user_wants_upload":true}`,
		"get_skill":       `{"skill_name":"x"}`,
		"get_agent":       `{"agent_name":"x"}`,
		"read_skill_file": `{"skill_name":"x","path":"x"}`,
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		want := map[string]string{}
		for name, cell := range map[string]string{"default": cells[2], "named": cells[2], "no root": cells[3]} {
			want[name] = quoted.FindStringSubmatch(cell)[1]
		}
		if strings.Contains(cells[2], "otherwise no results") {
			want["default"] = ""
		}
		for _, tool := range quoted.FindAllStringSubmatch(cells[1], -1) {
			for name, a := range adapters {
				got, err := a.Call(ctx, tool[1], json.RawMessage(arguments[tool[1]]))
				var failed struct{ Error toolshelf.Error }
				if json.Unmarshal(got.Structured, &failed) != nil { // list_skills has no code
					failed.Error.Code = toolshelf.CodeDirectoryNotFound
				}
				if err != nil || got.IsError != (want[name] != "") || string(failed.Error.Code) != want[name] {
					t.Errorf("%s, %s: got %s, %v; docs/tools.md has the code %q", tool[1], name, got.Text, err, want[name])
				}
			}
		}
	}
}

func TestARootThatIsAFileIsAnErrorOfEveryTool(t *testing.T) {
	fsys := memory(t, map[string]string{"root": "a file"})
	a := adapterOf(t, catalog(t, fsys, toolshelf.WithRoot("root"), toolshelf.WithReports("reports", ""), toolshelf.WithAgentsDir("a")), mcpadapter.WithRelativePaths())
	for _, tool := range a.Tools() {
		arguments := map[string]any{}
		for name := range inputOf(t, tool).Properties {
			switch {
			case name == "user_wants_upload":
				arguments[name] = true
			case slices.Contains([]string{"command_name", "skill_name", "agent_name", "path", "query", "pattern", "report_content"}, name):
				arguments[name] = "x"
			}
		}
		text := must.Get(json.Marshal(arguments))(t)
		got, err := a.Call(ctx, tool.Name, text)
		if err != nil || !got.IsError || !strings.Contains(got.Text, "is a file; replace the file by a directory") || strings.Contains(got.Text, "WithRoot") {
			t.Errorf("%s %s: %s, %v", tool.Name, text, got.Text, err)
		}
	}
}

//go:embed testdata/facts.txt
var factsOfTexts string

// denying is a directory of the disk with an unreadable directory.
type denying struct{ *afero.BasePathFs }

func (d denying) Open(name string) (afero.File, error) {
	return deny{d.BasePathFs, []string{"denied"}}.Open(name)
}

// TestTextsHaveTheFactsOfTheStructuredContent compares the texts with the properties that
// docs/tools.md does not except.
func TestTextsHaveTheFactsOfTheStructuredContent(t *testing.T) {
	root := t.TempDir()
	fsys := denying{afero.NewBasePathFs(afero.NewOsFs(), root).(*afero.BasePathFs)}
	for name, content := range map[string]string{
		"main.go": strings.Repeat("a\n", 15), "README.md": "a match\n", "image.bin": "\x00", "denied/x": "", "links/file": "", ".gitignore": "*.log\n", "a.log": "",
		"node_modules/a": "", "node_modules/b": "", "docs/.gitignore/x": "", "docs/dist/x": "", "docs/a.log": "",
		"docs/big.txt": strings.Repeat("b", 1024), "docs/crlf.txt": "a\r\n", "docs/utf16.txt": "\xff\xfea\x00\r\x00\n\x00b\x00\r\x00\n\x00c\x00", "docs/invalid.txt": "\xff",
		"docs/long.txt":  "before\n" + strings.Repeat("x", 2000) + "match" + strings.Repeat("y", 2000) + "\nafter\na match\n",
		"many/lines.txt": strings.Repeat("z", 2<<20),
		"skills/facts/SKILL.md": "---\nname: other\ndescription: Has facts.\ndisable-model-invocation: true\nuser-invocable: true\nlicense: MIT\ncompatibility: any\n" +
			"metadata:\n  a: b\nallowed-tools: Read(\n---\nDo it.\n",
		"agents/facts.md": "---\nname: facts\nname: facts\ndescription: Has facts.\nmodel: opus\ntools: Read\ndisable-model-invocation: true\nuser-invocable: true\n---\nDo it.\n",
	} {
		must.Do(t, cmp.Or(fsys.MkdirAll(path.Dir(name), 0o755), afero.WriteFile(fsys, name, []byte(content), 0o644)))
	}
	linked := hosttest.HasSymlinks(t)
	if linked {
		hosttest.Symlink(t, "file", root+"/links/in")
		hosttest.Symlink(t, t.TempDir(), root+"/links/out")
	} else if err := cmp.Or(fsys.MkdirAll("links/out", 0o755), afero.WriteFile(fsys, "links/in", nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	a := adapterOf(t, catalog(t, fsys, toolshelf.WithAgentsDir("agents"), toolshelf.WithInstructions(client.Cursor()),
		toolshelf.WithExposure(func(toolshelf.SkillInfo) toolshelf.Exposure { return toolshelf.ExposeName })), mcpadapter.WithStructuredContent())
	instructed := map[string]string{"AGENTS.md": strings.Repeat("a", 9000), "src/AGENTS.md": strings.Repeat("b", 9000), "src/x/AGENTS.md": "Near.\n", "src/x/a.go": "package x\n",
		".cursor/rules/ask.mdc": "---\ndescription: Migrations.\n---\nMigrate.\n", ".cursor/rules/broken.mdc": strings.Repeat("x", 20_000)}
	for i := range 22 {
		instructed[fmt.Sprintf(".cursor/rules/%02d.mdc", i)] = "---\nglobs: **/*.go\n---\nGo.\n"
	}
	i := adapterOf(t, catalog(t, memory(t, instructed), toolshelf.WithInstructions(client.Cursor()), toolshelf.WithMaxFileSize(10_000)), mcpadapter.WithStructuredContent(), mcpadapter.WithInstructionHints())
	known := map[string]bool{ // "tool property"
		"read_file changed":         strings.Contains(toolshelf.FileText{Changed: true}.String(), "Warning: the file changed during the call"),
		"get_skill files_truncated": true, // for more than 10,000 files
	}
	var tool string
	var got mcpadapter.Result
	must.Answer(t, factsOfTexts, map[string]func(t *testing.T, args ...string) string{
		"call": func(t *testing.T, args ...string) string {
			of := a
			if strings.Contains(args[1], "src/x/") {
				of = i
			}
			tool, got = args[0], must.Get(of.Call(ctx, args[0], json.RawMessage(args[1])))(t)
			must.Equal(t, tool, false, got.IsError)
			return ""
		},
		"text": func(t *testing.T, args ...string) string {
			name, part := args[0], args[1]
			known[tool+" "+name] = true
			if ofLink := strings.HasSuffix(name, "target") || strings.HasSuffix(name, "outside"); ofLink && !linked {
				return ""
			}
			must.Equal(t, name, true, hasMember(decoded(t, got.Structured), strings.Split(name, ".")))
			must.Contain(t, name, got.Text, part)
			return ""
		},
	})
	page := must.Get(os.ReadFile("../docs/tools.md"))(t)
	_, table, _ := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), "| Properties | Tools | Why the text omits the properties |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	quoted := regexp.MustCompile("`([^`]+)`")
	for _, line := range strings.Split(table, "\n") {
		cells := strings.Split(line, "|")
		for _, tool := range quoted.FindAllStringSubmatch(cells[2], -1) {
			for _, name := range quoted.FindAllStringSubmatch(cells[1], -1) {
				if known[tool[1]+" "+name[1]] {
					t.Errorf("docs/tools.md: the text of %s has %s", tool[1], name[1])
				}
				known[tool[1]+" "+name[1]] = true
			}
		}
	}
	for _, tool := range a.Tools() {
		if textTools[tool.Name] == "" {
			continue
		}
		for _, name := range resultNames(t, "", successOf(t, tool)) {
			if !known[tool.Name+" "+name.path] {
				t.Errorf("%s: neither a test of the text nor docs/tools.md has %s", tool.Name, name.path)
			}
			delete(known, tool.Name+" "+name.path)
		}
	}
	must.Match(t, "no such properties", map[string]bool{}, known)
}

// hasMember reports whether a value of JSON, or an element of its arrays, has a property.
func hasMember(v any, names []string) bool {
	if len(names) == 0 {
		return true
	}
	name, isArray := strings.CutSuffix(names[0], "[]")
	object, _ := v.(map[string]any)
	value, ok := object[name]
	if !isArray {
		return ok && hasMember(value, names[1:])
	}
	elements, _ := value.([]any)
	return slices.ContainsFunc(elements, func(e any) bool { return hasMember(e, names[1:]) || hasMember(e, names) })
}

// compiled compiles a schema and checks it against the metaschema of 2020-12.
func compiled(t *testing.T, raw json.RawMessage) *jsonschema.Schema {
	t.Helper()
	doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(raw)))(t)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	must.Do(t, c.AddResource("tool.json", doc))
	return must.Get(c.Compile("tool.json"))(t)
}

func validate(t *testing.T, s *jsonschema.Schema, raw []byte) error {
	t.Helper()
	return s.Validate(must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(raw)))(t))
}

func TestSchemasAreValidObjects(t *testing.T) {
	for _, tool := range everyTool(t, mcpadapter.WithStructuredContent()).Tools() {
		for _, raw := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
			compiled(t, raw)
			var root struct{ Type string }
			must.Do(t, json.Unmarshal(raw, &root))
			must.Equal(t, tool.Name, "object", root.Type)
			must.Equal(t, tool.Name, false, bytes.Contains(raw, []byte(`"required":true`)))
		}
	}
}

// The test compares the input schemas with the tool contracts.
func TestInputSchemasEqualTheContracts(t *testing.T) {
	a := everyTool(t, mcpadapter.WithStructuredContent())
	for _, name := range []string{"list_commands", "get_command", "list_skills", "list_directory"} {
		tool, _ := a.Lookup(name)
		sameJSON(t, tool.InputSchema, schemaOf(t, "contracts/"+name))
	}
}

// schemaOf returns a schema of testdata/schemas.
func schemaOf(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile("testdata/schemas/" + name + ".json"))(t))
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
				must.Equal(t, tool.Name, true, must.Get(tool.Call(ctx, raw))(t).IsError)
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
			must.Is(t, tool.Name, nil, validate(t, schema, got.Structured))
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
		sameJSON(t, must.Get(json.Marshal(tool.Schema()))(t), string(tool.InputSchema))
	}
}
