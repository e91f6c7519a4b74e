package mcpadapter

import (
	"context"

	"github.com/toolshelf-go/toolshelf"
)

// The tool of the contract search_commands, and its like for skills.

var (
	searchCommands = searchTool("search_commands", "Search commands", []sentence{
		{text: "Find commands by a query: a few words that say what is needed. Returns the best matches first, with a score from 0 to 1 and the reason."},
		{text: "Pass one of the names to ", tools: []string{"get_command"}, after: " to read the command itself."},
	}, `{"enum":["tier1","tier2","tier3"],"description":"tier1: the name matches; tier2: the text does; tier3: a saved report does"}`,
		(*toolshelf.Catalog).Search)
	searchSkills = searchTool("search_skills", "Search skills", []sentence{
		{text: "Find skills by a query: a few words that say what is needed. Returns the best matches first, with a score from 0 to 1 and the reason."},
		{text: "Pass one of the names to ", tools: []string{"get_skill"}, after: " to read the skill itself."},
	}, `{"enum":["tier1","tier2"],"description":"tier1: the name matches; tier2: the text does"}`,
		(*toolshelf.Catalog).SearchSkills)
)

func searchTool(name, title string, description []sentence, tier string,
	search func(*toolshelf.Catalog, context.Context, string, int) (toolshelf.SearchResults, error)) definition {
	return definition{
		name:        name,
		title:       title,
		description: description,
		parameters: []parameter{
			{name: "query", kind: stringKind, required: true, description: "What to look for, 1 to 500 characters",
				examples: []string{"review a pull request"}, code: toolshelf.ErrInvalidQuery.Code},
			{name: "max_results", kind: integerKind, description: "How many results to return at most", defaultValue: "10", minimum: 1, maximum: 100,
				code: toolshelf.ErrInvalidQuery.Code},
		},
		errors: errorObject,
		output: outputSchema(errorObject, `"results":{"type":"array","items":{"type":"object","properties":{`+
			`"name":{"type":"string"},`+
			`"score":{"type":"number","minimum":0,"maximum":1},`+
			`"tier":`+tier+`,`+
			`"description":{"type":"string"},`+
			`"match_reason":{"type":"string","description":"Which part matched, and which words"}`+
			`},"required":["name","score","tier","description","match_reason"]}},`+
			`"search_time_ms":{"type":"integer","minimum":0},`+
			`"total_found":{"type":"integer","minimum":0,"description":"How many match, returned or not"}`,
			"results", "search_time_ms", "total_found"),
		run: func(ctx context.Context, t toolset, args arguments) (Result, error) {
			found, err := search(t.Catalog, ctx, args.string("query"), args.integer("max_results"))
			if err != nil {
				return Result{}, err
			}
			return jsonResult(found)
		},
	}
}
