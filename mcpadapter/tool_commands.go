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

var (
	searchCommands = searchTool("search_commands", "Search commands", []sentence{
		{text: "Find commands by 5 to 8 keywords that the name or description would contain, with synonyms and the technical term. " +
			"Best matches first."},
		{text: "Pass a name to ", tools: []string{"get_command"}, after: "."},
	}, `{"enum":["tier1","tier2","tier3"]}`,
		(*toolshelf.Catalog).Search)
	searchSkills = searchTool("search_skills", "Search skills", []sentence{
		{text: "Find skills by 5 to 8 keywords that the name or description would contain, with synonyms and the technical term. " +
			"Best matches first."},
		{text: "Pass a name to ", tools: []string{"get_skill"}, after: "."},
	}, `{"enum":["tier1","tier2"]}`,
		(*toolshelf.Catalog).SearchSkills)
)

func searchTool(name, title string, description []sentence, tier string,
	search func(*toolshelf.Catalog, context.Context, string, int, ...toolshelf.SearchOption) (toolshelf.SearchResults, error)) definition {
	return definition{
		name:        name,
		title:       title,
		description: description,
		parameters: []schema.Parameter{
			{Name: "query", Kind: schema.String, Required: true, Description: "Search text, 1 to 500 characters", Code: toolshelf.CodeInvalidQuery},
			{Name: "max_results", Kind: schema.Integer, Description: "Maximum number of results", Default: "10", Minimum: 1, Maximum: 100,
				Code: toolshelf.CodeInvalidQuery},
		},
		errors: errorObject,
		output: outputSchema(errorObject, `"results":{"type":"array","items":{"type":"object","properties":{`+
			`"name":{"type":"string"},`+
			`"score":{"type":"number"},`+
			`"tier":`+tier+`,`+
			`"description":{"type":"string"},`+
			`"match_reason":{"type":"string"},`+
			`"plugin":{"type":"string"}`+
			`},"required":["name","score","tier","description","match_reason"]}},`+
			`"search_time_ms":{"type":"integer"},`+
			`"total_found":{"type":"integer"},`+
			`"partial":{"const":true}`,
			"results", "search_time_ms", "total_found"),
		run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
			found, err := search(t.Catalog, ctx, args.String("query"), args.Integer("max_results"), reportOption(ctx))
			if err != nil {
				return Result{}, err
			}
			return jsonResult(found)
		},
	}
}

// reportFeedback is the only tool that writes. Its description depends on the
// directories of the catalog; see reportDescription.
var reportFeedback = definition{
	name:  "report_feedback",
	title: "Save a report",
	parameters: []schema.Parameter{
		{Name: "command_name", Kind: schema.String, Required: true, Description: "Name of the command that produced the report",
			Examples: []string{"review-pr"}, Code: toolshelf.CodeInvalidCommandName},
		{Name: "report_content", Kind: schema.String, Required: true, Description: "The whole report, as Markdown; at most 10 MiB",
			Code: toolshelf.CodeEmptyContent},
		{Name: "user_wants_upload", Kind: schema.Boolean, Required: true, Description: "Whether the user has agreed to share the report"},
		{Name: "report_name", Kind: schema.String, Maximum: 100, Description: `Short name of the report: letters, digits, "_" and "-" (default "report")`,
			Default: `"report"`, Examples: []string{"slow-join"}, Code: toolshelf.CodeInvalidReportName},
	},
	errors: errorObject,
	output: outputSchema(errorObject, `"success":{"const":true},`+
		`"action_taken":{"enum":["uploaded","saved_locally"]},`+
		`"report_path":{"type":"string","description":"File path of the report"},`+
		`"report_name":{"type":"string"},`+
		`"version":{"type":"integer","minimum":1},`+
		`"message":{"type":"string"}`,
		"success", "action_taken", "report_path", "report_name", "version", "message"),
	writes: true,
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		saved, err := t.SaveReport(ctx, toolshelf.Report{
			Command: args.String("command_name"),
			Name:    args.String("report_name"),
			Content: args.String("report_content"),
			Upload:  args.Boolean("user_wants_upload"),
		})
		if err != nil {
			return Result{}, err
		}
		if t.relativePaths {
			saved.Path = t.RelativePath("", saved.Path)
		}
		return jsonResult(saved)
	},
}

// reportDescription returns the description of report_feedback for a catalog with a
// shared directory, a local directory or both.
func reportDescription(shared, local bool) []sentence {
	d := []sentence{{text: "Save the report that an analysis command produced. Call this tool when the command has finished."}}
	if shared {
		d = append(d, sentence{text: "With user_wants_upload true, the report is saved in a shared directory: ask the user first, " +
			"and send true only if the user agrees."})
	}
	switch {
	case shared && local:
		d = append(d, sentence{text: "With false, the report is kept on this machine."})
	case shared:
		d = append(d, sentence{text: "Do not call this tool if the user does not agree: reports cannot be saved locally."})
	default:
		d = append(d, sentence{text: "Send user_wants_upload false: reports cannot be shared. The report is kept on this machine."})
	}
	return d
}
