package mcpadapter_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
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
	if err := json.Unmarshal(schema, &p); err != nil {
		t.Fatal(err)
	}
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
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var all []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			t.Fatal(err)
		}
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

// resultTable returns the table of the properties of a tool's results.
func resultTable(t *testing.T, tool mcpadapter.Tool) string {
	t.Helper()
	var output struct{ AnyOf []json.RawMessage } // a success, an error, and other successes
	if err := json.Unmarshal(tool.OutputSchema, &output); err != nil || len(output.AnyOf) < 2 {
		t.Fatalf("%s: %v in %s", tool.Name, err, tool.OutputSchema)
	}
	return "| Property | Type | Present | Values | Description |\n|---|---|---|---|---|\n" + resultRows(t, "", output.AnyOf[0])
}

func resultRows(t *testing.T, prefix string, schema json.RawMessage) (rows string) {
	t.Helper()
	var object struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(schema, &object); err != nil {
		t.Fatal(err)
	}
	required := propertyOf(t, schema).Required
	for _, name := range names(t, schema) {
		raw := object.Properties[name]
		p := propertyOf(t, raw)
		present := "sometimes"
		if slices.Contains(required, name) {
			present = "always"
		}
		rows += row("`"+prefix+name+"`", p.typeName(), present, p.limits(), p.Description)
		var nested struct{ Items json.RawMessage }
		if err := json.Unmarshal(raw, &nested); err != nil {
			t.Fatal(err)
		}
		switch {
		case p.Properties != nil:
			rows += resultRows(t, prefix+name+".", raw)
		case p.Items != nil && p.Items.Properties != nil:
			rows += resultRows(t, prefix+name+"[].", nested.Items)
		}
	}
	return rows
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
	page, err := os.ReadFile("../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
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
		for _, table := range []string{argumentTable(t, tool), resultTable(t, tool)} {
			if !strings.Contains(sections[tool.Name], "\n"+table) {
				t.Errorf("docs/tools.md: the section %s lacks\n%s", tool.Name, table)
			}
		}
		if strings.Count(sections[tool.Name], "\n|") != strings.Count("\n"+argumentTable(t, tool)+"\n"+resultTable(t, tool), "\n|") {
			t.Errorf("docs/tools.md: the section %s has rows that the schemas lack", tool.Name)
		}
	}
	if !slices.Equal(order, offered) {
		t.Errorf("docs/tools.md has the tools %q, and the adapter has %q", order, offered)
	}
}

func TestToolContractsNameTheErrorCodes(t *testing.T) {
	codes := regexp.MustCompile("`([A-Z][A-Z_]+)`")
	known := map[string]bool{"INVALID_ARGUMENTS": true}
	for _, e := range []*toolshelf.Error{
		toolshelf.ErrInvalidOption, toolshelf.ErrInvalidPage, toolshelf.ErrInvalidPageSize, toolshelf.ErrDirectoryNotFound,
		toolshelf.ErrPermissionDenied, toolshelf.ErrInvalidCommandName, toolshelf.ErrCommandNotFound, toolshelf.ErrFileRead,
		toolshelf.ErrFileTooLarge, toolshelf.ErrInvalidSkillName, toolshelf.ErrSkillNotFound, toolshelf.ErrOutsideRoot,
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
	page, err := os.ReadFile("../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), "| Tools | No directory exists | The root does not exist |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if !found {
		t.Fatal("docs/tools.md has no table of missing directories")
	}
	empty, reports := afero.NewMemMapFs(), toolshelf.WithReports("reports", "")
	if err := empty.Mkdir("/root", 0o755); err != nil {
		t.Fatal(err)
	}
	root := toolshelf.WithRoot("/root")
	adapters := map[string]*mcpadapter.Adapter{
		"default": adapterOf(t, catalog(t, empty, root, reports)),
		"named":   adapterOf(t, catalog(t, empty, root, reports, toolshelf.WithCommandsDir("c"), toolshelf.WithSkillsDir("s"))),
		"no root": adapterOf(t, catalog(t, empty, toolshelf.WithRoot("/missing"), reports)),
	}
	arguments := map[string]string{
		"search_commands": `{"query":"x"}`,
		"search_skills":   `{"query":"x"}`,
		"get_command":     `{"command_name":"x"}`,
		"report_feedback": `{"command_name":"x","report_content":"x","user_wants_upload":true}`,
		"get_skill":       `{"skill_name":"x"}`,
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
