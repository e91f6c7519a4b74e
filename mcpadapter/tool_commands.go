package mcpadapter

import (
	"context"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

var listCommands = definition{
	name:  "list_commands",
	title: "List commands",
	description: []sentence{
		{text: "List all available commands in the system with pagination support. " +
			"Returns command names with basic metadata, useful for browsing available commands when a specific search query is not known."},
		{text: "Pass a name to ", tools: []string{"get_command"}, after: " to read the command."},
	},
	parameters: []schema.Parameter{
		{Name: "page", Kind: schema.Integer, Description: "Page number (1-indexed)", Default: "1", Minimum: 1, Code: toolshelf.CodeInvalidPage},
		{Name: "page_size", Kind: schema.Integer, Description: "Number of items per page", Default: "50", Minimum: 1, Maximum: 100, Code: toolshelf.CodeInvalidPageSize},
	},
	errors: errorObject,
	output: outputSchema(errorObject, `"commands":{"type":"array","items":{"type":"object","properties":{`+
		`"name":{"type":"string","description":"Command name (without extension)"},`+
		`"description":{"type":"string","description":"Brief description of the command"},`+
		`"size":{"type":"number","description":"File size in bytes"},`+
		`"last_modified":{"type":"string","format":"date-time","description":"Last modification timestamp"}`+
		`},"required":["name","description","size"]}},`+
		`"pagination":{"type":"object","properties":{`+
		`"page":{"type":"number","description":"Current page number"},`+
		`"page_size":{"type":"number","description":"Items per page"},`+
		`"total":{"type":"number","description":"Total number of commands"},`+
		`"total_pages":{"type":"number","description":"Total number of pages"},`+
		`"has_next":{"type":"boolean","description":"Whether there are more pages"},`+
		`"has_prev":{"type":"boolean","description":"Whether there are previous pages"}`+
		`},"required":["page","page_size","total","total_pages","has_next","has_prev"]}`,
		"commands", "pagination"),
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		list, err := t.List(ctx, toolshelf.Page{Number: args.Integer("page"), Size: args.Integer("page_size")})
		if err != nil {
			return Result{}, err
		}
		list.Pagination.NextCursor = "" // the tool takes page numbers, not cursors
		return jsonResult(list)
	},
}

var getCommand = definition{
	name:  "get_command",
	title: "Get a command",
	description: []sentence{
		{text: "Get the complete definition of a command by its name. Returns the full Markdown content, metadata, and execution hints."},
		{text: "Use a name that ", tools: []string{"list_commands", "search_commands"}, after: " has returned."},
		{text: "Then follow the content and, if present, next_steps."},
	},
	parameters: []schema.Parameter{
		{Name: "command_name", Kind: schema.String, Required: true,
			Description: "Name of the command to retrieve (with or without .md extension)",
			Examples:    []string{"analyze_zoom_speech_sdk_log", "proxy-slow-meeting-analysis-command.md"},
			Code:        toolshelf.CodeInvalidCommandName},
	},
	errors:   errorObject,
	output:   commandOutput("Full file path to the command"),
	relative: commandOutput("File path to the command" + relativeNote),
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		command, err := t.Get(ctx, args.String("command_name"))
		if err != nil {
			return Result{}, err
		}
		command.NextSteps = t.nextSteps(command.NextSteps)
		if t.relativePaths {
			command.Metadata.Path = t.RelativePath(command.Layer, command.Metadata.Path)
		}
		return jsonResult(command)
	},
}

// relativeNote completes the description of a path with WithRelativePaths.
const relativeNote = ", relative to the project root or to a named directory outside the root"

// commandOutput returns the output schema of get_command with a description of the path.
func commandOutput(path string) string {
	return outputSchema(errorObject, `"name":{"type":"string","description":"Command name (without extension)"},`+
		`"content":{"type":"string","description":"Full Markdown content of the command"},`+
		`"metadata":{"type":"object","properties":{`+
		`"path":{"type":"string","description":"`+path+`"},`+
		`"size":{"type":"number","description":"File size in bytes"},`+
		`"last_modified":{"type":"string","format":"date-time","description":"Last modification timestamp (ISO 8601)"},`+
		`"description":{"type":"string","description":"Brief description extracted from command"}`+
		`},"required":["path","size","description"]},`+
		`"next_steps":{"type":"string","description":"Hints for AI on what to do after executing this command (optional, for analysis commands)"}`,
		"name", "content", "metadata")
}

// nextSteps replaces the name report_feedback in a hint by the name with the
// namespace. The default hint contains the name in quotes. nextSteps returns "" if the
// adapter does not offer report_feedback.
func (t toolset) nextSteps(hint string) string {
	const quoted = "'report_feedback'"
	if !strings.Contains(hint, quoted) {
		return hint
	}
	name, ok := t.names["report_feedback"]
	if !ok {
		return ""
	}
	return strings.ReplaceAll(hint, quoted, "'"+name+"'")
}
