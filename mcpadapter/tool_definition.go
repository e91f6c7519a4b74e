package mcpadapter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

// A definition defines one of the library's own tools.
type definition struct {
	name        string // without a namespace
	title       string
	description []sentence
	parameters  []schema.Parameter
	output      string // the output schema
	relative    string // the output with WithRelativePaths; "" for the same
	text        bool   // results are texts: the output schema and the structured content require WithStructuredContent
	errors      errorShape
	writes      bool
	run         func(ctx context.Context, t toolset, args schema.Arguments) (Result, error)
}

// A sentence is a part of a tool's description. The names of other tools have their own
// field, so no character of the text has a special meaning.
type sentence struct {
	text  string   // the whole sentence, or the part before the names
	tools []string // plain names; a description omits the sentence if the adapter offers none of the tools
	after string   // the part after the names
}

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
		for _, plain := range d.tools {
			if name, ok := t.names[plain]; ok {
				names = append(names, name)
			}
		}
		if len(d.tools) == 0 || names != nil {
			parts = append(parts, d.text+strings.Join(names, " or ")+d.after)
		}
	}
	return strings.Join(parts, " ")
}

// definitions returns the library's tools for a catalog, in the order of Tools. The options of the
// catalog exclude the tools that can only fail. The map has the reason for each excluded tool.
func definitions(c bridged) (offered []definition, excluded map[string]string) {
	commands, skills, agents, instructions, shared, local := c.Configured()
	report := reportFeedback
	report.description = reportDescription(shared, local)
	excluded = make(map[string]string)
	for _, group := range []struct {
		tools  []definition
		usable bool
		reason string
	}{
		{[]definition{listCommands, searchCommands, getCommand}, commands, "no directory of commands; use WithCommandsDir or WithCommandsFS"},
		{[]definition{listSkills, searchSkills, getSkill, readSkillFile}, skills, "no directory of skills; use WithSkillsDir or WithSkillsFS"},
		{[]definition{listAgents, getAgent}, agents, "no directory of agents; use WithAgentsDir"},
		{[]definition{getInstructions}, instructions, "no clients of instructions; use toolshelf.WithInstructions"},
		{[]definition{listDirectory, directoryTree, getFileInfo, searchFiles, searchText, readFile}, true, ""},
		{[]definition{report}, commands && (shared || local), "no directory of commands or no directory of reports; use WithReports"},
	} {
		if group.usable {
			offered = append(offered, group.tools...)
			continue
		}
		for _, d := range group.tools {
			excluded[d.name] = group.reason
		}
	}
	return offered, excluded
}

// tool returns the Tool of a definition.
func (d definition) tool(t toolset) Tool {
	output, hider := d.output, t.hider
	destructive, open := false, false
	if t.relativePaths {
		output = cmp.Or(d.relative, output)
	} else if d.errors.relative {
		hider = rootHiderOf(t.Root())
	}
	tool := Tool{
		Name:        t.names[d.name],
		Title:       d.title,
		Description: t.description(d.description),
		InputSchema: schema.Input(d.parameters),
		Annotations: Annotations{
			ReadOnlyHint:    !d.writes,
			DestructiveHint: &destructive, // report_feedback never overwrites a file
			IdempotentHint:  !d.writes,
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
	if !d.text || t.structured {
		tool.OutputSchema = json.RawMessage(output)
	}
	return tool
}

// within runs the tool so that the structured content of a text is within max_characters too.
// Structured content is longer than its text, so within runs the tool again with a smaller limit
// for the text. Each further run reduces the limit by a further sixteenth, because the structured
// content can repeat long arguments.
func (d definition) within(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
	result, err := d.run(ctx, t, args)
	most, limited := args[maxCharacters.Name].(int)
	for runs, budget := 0, most; limited && t.structured && err == nil; runs++ {
		size := utf8.RuneCount(result.Structured)
		if size <= most {
			break
		}
		budget = min(budget, utf8.RuneCountInString(result.Text)) * (most - most/16*runs) / size
		args[maxCharacters.Name] = budget
		if result, err = d.run(ctx, t, args); errors.Is(err, toolshelf.ErrInvalidOption) {
			err = &toolshelf.Error{Code: toolshelf.CodeInvalidOption, Op: d.name, Message: fmt.Sprintf(
				"%s: %d characters cannot hold the shortest structured content; use a larger budget", maxCharacters.Name, most)}
		}
	}
	return result, err
}

// outputSchema returns the JSON Schema of a tool's results: an object with either the required
// properties or an error. The strict mode of the validator Ajv demands the properties beside their
// names in "required".
func outputSchema(e errorShape, properties string, required ...string) string {
	b := []byte(`{"type":"object","anyOf":[{"properties":{` + properties + `},"required":[`)
	for i, name := range required {
		if i > 0 {
			b = append(b, ',')
		}
		b = escape.AppendJSON(b, name)
	}
	return string(append(b, `]},{"properties":{"error":`+e.schema+`},"required":["error"]}]}`...))
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
