package mcpadapter

import (
	"context"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

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
			`"score":{"type":"number","minimum":0,"maximum":1},`+
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
