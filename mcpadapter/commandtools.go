package mcpadapter

import (
	"context"
	"strings"

	"github.com/toolshelf-go/toolshelf"
)

// The tools of the contracts list_commands and get_command.

var listCommands = definition{
	name:  "list_commands",
	title: "List commands",
	description: "List all available commands in the system with pagination support. " +
		"Returns command names with basic metadata, useful for browsing available commands when a specific search query is not known. " +
		"Pass one of the names to {get_command} to read the command itself.",
	parameters: []parameter{
		{name: "page", kind: whole, description: "Page number (1-indexed)", standard: "1", minimum: 1, code: toolshelf.ErrInvalidPage.Code},
		{name: "page_size", kind: whole, description: "Number of items per page", standard: "50", minimum: 1, maximum: 100, code: toolshelf.ErrInvalidPageSize.Code},
	},
	shape: coded,
	output: outputSchema(coded, `"commands":{"type":"array","items":{"type":"object","properties":{`+
		`"name":{"type":"string","description":"Command name (without extension)"},`+
		`"description":{"type":"string","description":"Brief description of the command"},`+
		`"size":{"type":"number","description":"File size in bytes"},`+
		`"last_modified":{"type":"string","format":"date-time","description":"Last modification timestamp"}`+
		`},"required":["name","description","size","last_modified"]}},`+
		`"pagination":{"type":"object","properties":{`+
		`"page":{"type":"number","description":"Current page number"},`+
		`"page_size":{"type":"number","description":"Items per page"},`+
		`"total":{"type":"number","description":"Total number of commands"},`+
		`"total_pages":{"type":"number","description":"Total number of pages"},`+
		`"has_next":{"type":"boolean","description":"Whether there are more pages"},`+
		`"has_prev":{"type":"boolean","description":"Whether there are previous pages"}`+
		`},"required":["page","page_size","total","total_pages","has_next","has_prev"]}`,
		"commands", "pagination"),
	run: func(ctx context.Context, s shelf, args arguments) (Result, error) {
		list, err := s.List(ctx, toolshelf.Page{Number: args.whole("page"), Size: args.whole("page_size")})
		if err != nil {
			return Result{}, err
		}
		list.Pagination.NextCursor = "" // the tool counts pages, and takes no cursor
		return asJSON(list)
	},
}

var getCommand = definition{
	name:  "get_command",
	title: "Get a command",
	description: "Get the complete definition of a command by its name. Returns the full Markdown content, metadata, and execution hints. " +
		"Use a name that {list_commands} or {search_commands} has returned, then follow the content, and next_steps where it is there.",
	parameters: []parameter{
		{name: "command_name", kind: text, required: true,
			description: "Name of the command to retrieve (with or without .md extension)",
			examples:    []string{"analyze_zoom_speech_sdk_log", "proxy-slow-meeting-analysis-command.md"},
			code:        toolshelf.ErrInvalidCommandName.Code},
	},
	shape: coded,
	output: outputSchema(coded, `"name":{"type":"string","description":"Command name (without extension)"},`+
		`"content":{"type":"string","description":"Full Markdown content of the command"},`+
		`"metadata":{"type":"object","properties":{`+
		`"path":{"type":"string","description":"Full file path to the command"},`+
		`"size":{"type":"number","description":"File size in bytes"},`+
		`"last_modified":{"type":"string","format":"date-time","description":"Last modification timestamp (ISO 8601)"},`+
		`"description":{"type":"string","description":"Brief description extracted from command"}`+
		`},"required":["path","size","last_modified","description"]},`+
		`"next_steps":{"type":"string","description":"Hints for AI on what to do after executing this command (optional, for analysis commands)"}`,
		"name", "content", "metadata"),
	run: func(ctx context.Context, s shelf, args arguments) (Result, error) {
		command, err := s.Get(ctx, args.text("command_name"))
		if err != nil {
			return Result{}, err
		}
		// The default hint has the tool's name in quotes.
		command.NextSteps = strings.ReplaceAll(command.NextSteps, "'report_feedback'", "'"+s.prefix+"report_feedback'")
		return asJSON(command)
	},
}
