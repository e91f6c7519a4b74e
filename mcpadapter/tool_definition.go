package mcpadapter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A definition is one of the library's own tools.
type definition struct {
	name        string // without a namespace
	title       string
	description []sentence
	parameters  []parameter
	output      string // the properties of the results as JSON Schema, and which of them a success has
	relative    string // the output with WithRelativePaths; "" for the same
	errors      errorShape
	writes      bool
	run         func(ctx context.Context, t toolset, args arguments) (Result, error)
}

// A sentence is a part of a tool's description. The names of other tools are a
// field of their own, so no character of the text has a special meaning.
type sentence struct {
	text  string   // the whole sentence, or the part before the names
	tools []string // plain names; a description omits the sentence if the adapter offers none of the tools
	after string   // the part after the names
}

// A toolset holds the catalog and the names of the library's tools that the
// adapter offers.
type toolset struct {
	*toolshelf.Catalog
	names map[string]string // from the plain name to the name with the namespace

	relativePaths bool
	hider         rootHider // hides nothing without relativePaths
}

// description returns the sentences as one text, with each tool under the name of
// a call.
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

// definitions returns the library's tools, in their order on the shelf. A tool
// that a catalog has nothing for is not there.
func definitions(c *toolshelf.Catalog) []definition {
	all := []definition{
		listCommands, searchCommands, getCommand,
		listSkills, searchSkills, getSkill, readSkillFile,
		listDirectory, directoryTree, getFileInfo, searchFiles,
	}
	if shared, local := c.ReportsConfigured(); shared || local {
		d := reportFeedback
		d.description = reportDescription(shared, local)
		all = append(all, d)
	}
	return all
}

// tool makes a Tool of a definition.
func (d definition) tool(t toolset) Tool {
	output := d.output
	if t.relativePaths {
		output = cmp.Or(d.relative, output)
	}
	return Tool{
		Name:         t.names[d.name],
		Title:        d.title,
		Description:  t.description(d.description),
		InputSchema:  inputSchema(d.parameters),
		OutputSchema: json.RawMessage(output),
		Annotations: Annotations{
			ReadOnlyHint:    !d.writes,
			DestructiveHint: new(false), // what writes, never overwrites
			IdempotentHint:  !d.writes,
			OpenWorldHint:   new(false),
		},
		Call: func(ctx context.Context, raw json.RawMessage) (Result, error) {
			if err := ctx.Err(); err != nil {
				return Result{}, err
			}
			args, invalid := decodeArguments(raw, d.parameters)
			if invalid != nil {
				return d.errors.failure(invalid.code, t.hider.text(invalid.message)), nil
			}
			result, err := d.run(ctx, t, args)
			var ours *toolshelf.Error
			if errors.As(err, &ours) {
				return d.errors.failure(ours.Code, t.hider.text(ours.Message)), nil
			}
			return result, err
		},
	}
}

// outputSchema is the JSON Schema of what a tool returns: an object that has
// either all of these members, or an error.
func outputSchema(e errorShape, properties string, required ...string) string {
	b := []byte(`{"type":"object","properties":{` + properties + `,"error":` + e.schema + `},"anyOf":[{"required":[`)
	for i, name := range required {
		if i > 0 {
			b = append(b, ',')
		}
		b = escape.AppendJSON(b, name)
	}
	return string(append(b, `]},{"required":["error"]}]}`...))
}

// jsonResult is the result of a tool whose text is its structured content.
func jsonResult(v any) (Result, error) {
	structured, err := encode(v)
	return Result{Text: string(structured), Structured: structured}, err
}

// textResult is the result of a tool whose text is for a model and whose structured
// content is the same for a program.
func textResult(text string, v any) (Result, error) {
	structured, err := encode(v)
	return Result{Text: text, Structured: structured}, err
}
