package mcpadapter

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

// toolsFile has the texts and the schemas of the tools, in the order of Tools. A list has at most
// 10,000 entries, because no model can use more; the text of the result reports the number of
// further entries.
//
//go:embed tools.json
var toolsFile []byte

// A definition is one of the library's own tools, as tools.json describes the tool.
type definition struct {
	Name        string // without a namespace
	Title       string
	Needs       string // what the options of a catalog must configure; see definitions
	Description []sentence
	Parameters  []json.RawMessage // objects, or names of shared parameters
	Errors      string            // of errorShapes
	Writes      bool

	// Text means that results are texts: the output schema and the structured content require
	// WithStructuredContent.
	Text bool

	// Results are the schemas of the results, except the error. The description "@path" of a member
	// becomes the first of Paths, or the second with WithRelativePaths.
	Results []json.RawMessage
	Paths   []string

	parameters []schema.Parameter
	errors     errorShape
	run        func(t toolset, ctx context.Context, args schema.Arguments) (Result, error)
}

// A sentence is a part of a tool's description. The names of other tools have their own
// field, so no character of the text has a special meaning.
type sentence struct {
	Text  string   // the whole sentence, or the part before the names
	Tools []string // plain names; a description omits the sentence if the adapter offers none of the tools
	After string   // the part after the names
}

var runs = map[string]func(toolset, context.Context, schema.Arguments) (Result, error){
	"list_commands":    toolset.listCommands,
	"search_commands":  toolset.searchCommands,
	"get_command":      toolset.getCommand,
	"list_skills":      toolset.listSkills,
	"search_skills":    toolset.searchSkills,
	"get_skill":        toolset.getSkill,
	"read_skill_file":  toolset.readSkillFile,
	"list_agents":      toolset.listAgents,
	"get_agent":        toolset.getAgent,
	"get_instructions": toolset.getInstructions,
	"list_directory":   toolset.listDirectory,
	"directory_tree":   toolset.directoryTree,
	"get_file_info":    toolset.getFileInfo,
	"search_files":     toolset.searchFiles,
	"search_text":      toolset.searchText,
	"read_file":        toolset.readFile,
	"report_feedback":  toolset.reportFeedback,
}

// tools returns the library's tools in the order of Tools.
var tools = sync.OnceValue(func() []definition {
	var file struct {
		Parameters map[string]schema.Parameter
		Tools      []definition
	}
	err := json.Unmarshal(toolsFile, &file)
	for i := range file.Tools {
		d := &file.Tools[i]
		d.run, d.errors = runs[d.Name], errorShapes[d.Errors]
		for _, raw := range d.Parameters {
			var name string
			if json.Unmarshal(raw, &name) == nil {
				d.parameters = append(d.parameters, file.Parameters[name])
				continue
			}
			var p schema.Parameter
			err = errors.Join(err, json.Unmarshal(raw, &p))
			d.parameters = append(d.parameters, p)
		}
	}
	if err != nil {
		panic(err) // the file is a part of the package
	}
	return file.Tools
})

// maxCharacters is the name of the parameter of the option Budget.
const maxCharacters = "max_characters"

// A toolset holds the catalog and the names of the library's tools that the adapter
// offers.
type toolset struct {
	*toolshelf.Catalog
	bridged
	names map[string]string // from the plain name to the name with the namespace

	relativePaths bool
	structured    bool      // texts have structured content too
	hints         bool      // read_file names instructions
	hider         rootHider // hides nothing without relativePaths
}

// description joins the sentences to one text. The text contains the names of tools
// with the namespace.
func (t toolset) description(sentences []sentence) string {
	var parts []string
	for _, d := range sentences {
		var names []string
		for _, plain := range d.Tools {
			if name, ok := t.names[plain]; ok {
				names = append(names, name)
			}
		}
		if len(d.Tools) == 0 || names != nil {
			parts = append(parts, d.Text+strings.Join(names, " or ")+d.After)
		}
	}
	return strings.Join(parts, " ")
}

// definitions returns the library's tools for a catalog, in the order of Tools. The options of the
// catalog exclude the tools that can only fail. The map has the reason for each excluded tool.
func definitions(c bridged) (offered []definition, excluded map[string]string) {
	commands, skills, agents, instructions, shared, local := c.Configured()
	reasons := map[string]string{}
	for _, need := range []struct {
		name   string
		met    bool
		reason string
	}{
		{"commands", commands, "no directory of commands; use WithCommandsDir or WithCommandsFS"},
		{"skills", skills, "no directory of skills; use WithSkillsDir or WithSkillsFS"},
		{"agents", agents, "no directory of agents; use WithAgentsDir"},
		{"instructions", instructions, "no clients of instructions; use toolshelf.WithInstructions"},
		{"reports", commands && (shared || local), "no directory of commands or no directory of reports; use WithReports"},
	} {
		if !need.met {
			reasons[need.name] = need.reason
		}
	}
	excluded = make(map[string]string)
	for _, d := range tools() {
		if reason, ok := reasons[d.Needs]; ok {
			excluded[d.Name] = reason
			continue
		}
		if d.Name == "report_feedback" {
			d.Description = reportDescription(shared, local)
		}
		offered = append(offered, d)
	}
	return offered, excluded
}

// tool returns the Tool of a definition.
func (d definition) tool(t toolset) Tool {
	hider := t.hider
	destructive, open := false, false
	if !t.relativePaths && d.errors.relative {
		hider = rootHiderOf(t.Root())
	}
	tool := Tool{
		Name:        t.names[d.Name],
		Title:       d.Title,
		Description: t.description(d.Description),
		InputSchema: schema.Input(d.parameters),
		Annotations: Annotations{
			ReadOnlyHint:    !d.Writes,
			DestructiveHint: &destructive, // report_feedback never overwrites a file
			IdempotentHint:  !d.Writes,
			OpenWorldHint:   &open,
		},
		Call: func(ctx context.Context, raw json.RawMessage) (Result, error) {
			if err := ctx.Err(); err != nil {
				return Result{}, err
			}
			args, invalid := schema.Decode(raw, d.parameters)
			if invalid != nil {
				return d.errors.failure(invalid.Code, hider.Text(invalid.Message)), nil
			}
			result, err := d.within(ctx, t, args)
			var ours *toolshelf.Error
			if errors.As(err, &ours) {
				return d.errors.failure(ours.Code, hider.Text(d.message(ours))), nil
			}
			return result, err
		},
	}
	if !d.Text || t.structured {
		tool.OutputSchema = d.output(t.relativePaths)
	}
	return tool
}

// within runs the tool so that the structured content of a text is within max_characters too.
// Structured content is longer than its text, so within runs the tool again with a smaller limit
// for the text. Each further run reduces the limit by a further sixteenth, because the structured
// content can repeat long arguments.
func (d definition) within(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
	result, err := d.run(t, ctx, args)
	most, limited := args[maxCharacters].(int)
	for runs, budget := 0, most; limited && t.structured && err == nil; runs++ {
		size := utf8.RuneCount(result.Structured)
		if size <= most {
			break
		}
		budget = min(budget, utf8.RuneCountInString(result.Text)) * (most - most/16*runs) / size
		args[maxCharacters] = budget
		if result, err = d.run(t, ctx, args); errors.Is(err, toolshelf.ErrInvalidOption) {
			err = &toolshelf.Error{Code: toolshelf.CodeInvalidOption, Op: d.Name, Message: fmt.Sprintf(
				"%s: %d characters cannot hold the shortest structured content; use a larger budget", maxCharacters, most)}
		}
	}
	return result, err
}

// output returns the JSON Schema of the results, with full or with relative paths.
func (d definition) output(relative bool) json.RawMessage {
	results := make([]string, len(d.Results))
	for i, raw := range d.Results {
		var compact bytes.Buffer
		_ = json.Compact(&compact, raw) // raw is JSON
		results[i] = compact.String()
		switch {
		case relative && d.Paths != nil:
			results[i] = strings.Replace(results[i], "@path", d.Paths[1], 1)
		case d.Paths != nil:
			results[i] = strings.Replace(results[i], "@path", d.Paths[0], 1)
		}
	}
	return outputSchema(d.errors, results...)
}

// outputSchema returns the JSON Schema of a tool's results: an object with the schema of a result,
// or with an error. The strict mode of the validator Ajv demands the properties beside their names
// in "required".
func outputSchema(e errorShape, results ...string) json.RawMessage {
	failed := `{"properties":{"error":` + e.schema + `},"required":["error"]}`
	all := slices.Insert(results, 1, failed)
	return json.RawMessage(`{"type":"object","anyOf":[` + strings.Join(all, ",") + `]}`)
}

// jsonResult returns a result whose text is its structured content.
func jsonResult(v any) (Result, error) {
	structured, err := escape.Marshal(v)
	return Result{Text: string(structured), Structured: structured}, err
}

// textResult returns a result with a text for a model and, with WithStructuredContent, the same
// content for a program.
func (t toolset) textResult(text string, v any) (Result, error) {
	if !t.structured {
		return Result{Text: text}, nil
	}
	structured, err := escape.Marshal(v)
	return Result{Text: text, Structured: structured}, err
}

var errorShapes = map[string]errorShape{"object": errorObject, "string": errorString, "text": errorText}

// An errorShape is the form in which a tool contract returns errors.
type errorShape struct {
	schema   string // of the property "error" of the output schema
	relative bool   // messages hide the root without WithRelativePaths too
	failure  func(code toolshelf.Code, message string) Result
}

// errorObject is the error shape of the tools for commands, skills, agents and reports:
// {"error":{"code":"…","message":"…"}}.
var errorObject = errorShape{
	schema: `{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"}},"required":["code","message"]}`,
	failure: func(code toolshelf.Code, message string) Result {
		r, _ := jsonResult(struct {
			Error *toolshelf.Error `json:"error"`
		}{&toolshelf.Error{Code: code, Message: escape.Truncate(message)}})
		r.IsError = true
		return r
	},
}

// message returns the message of an error of the catalog. A message about an option of the
// catalog begins with the name of the option. message replaces the name by the name of the
// argument, because the model knows only the arguments.
func (d definition) message(e *toolshelf.Error) string {
	name, problem, ok := strings.Cut(e.Message, ": ")
	if ok && e.Code == toolshelf.CodeInvalidOption {
		for _, p := range d.parameters {
			if p.Option == name {
				return p.Name + ": " + goAdvice.Replace(problem)
			}
		}
	}
	return withoutGo(e)
}

// withoutGo returns the message of an error of the catalog without the advice for the
// programmer, who sets the options, because the reader is a model or a user.
func withoutGo(e *toolshelf.Error) string { return goAdvice.Replace(e.Message) }

var goAdvice = strings.NewReplacer(
	", and fill in the arguments with Render", "",
	", or raise the limit with WithMaxFileSize", "",
	"raise the limit with WithMaxFileSize", "shorten the file",
	"reads no subdirectories without WithNestedCommands", "reads no subdirectories",
	"; see WithSymlinks", "; replace the link by the directory",
	"; check the path given to WithRoot", "; create the directory",
	"; pass a directory to WithRoot", "; replace the file by a directory",
	"is configured; use WithReports", "is configured",
	"Lines and Column select other lines; omit these options", "start_line, end_line and start_column select other lines; omit these arguments",
	", and that WithSymlinks allows its links", ", and no link",
)

// errorString is the error shape of list_skills and list_agents: {"error":"…"}.
var errorString = errorShape{
	schema: `{"type":"string"}`,
	failure: func(_ toolshelf.Code, message string) Result {
		r, _ := jsonResult(struct {
			Error string `json:"error"`
		}{escape.Truncate(message)})
		r.IsError = true
		return r
	},
}

// errorText is the error shape of the tools for files: the text "Error: …", with the
// code in the structured content.
var errorText = errorShape{
	schema:   errorObject.schema,
	relative: true,
	failure: func(code toolshelf.Code, message string) Result {
		r := errorObject.failure(code, message)
		r.Text = "Error: " + escape.Truncate(message)
		return r
	},
}
