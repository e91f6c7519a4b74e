package mcpadapter

import (
	"context"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

var searchText = definition{
	name:  "search_text",
	title: "Search the text of files",
	description: []sentence{
		{text: "Find lines in text files, below a directory or in a single file. The pattern is a regular expression (RE2), or a plain text with literal. " +
			"Returns the lines by file, with their numbers; of many matches, returns the first matches of each file."},
		{text: "Pass a path and a line number to ", tools: []string{"read_file"}, after: " to read the lines around a match."},
	},
	parameters: []schema.Parameter{
		{Name: "pattern", Kind: schema.String, Required: true, Description: "Regular expression to find within a line (RE2)", Code: toolshelf.CodeInvalidPattern},
		{Name: "path", Kind: schema.String, Description: "Directory or file to search (relative to project root)", Default: `"."`},
		{Name: "literal", Kind: schema.Boolean, Description: "Find the pattern as plain text (default false)", Default: "false"},
		{Name: "ignore_case", Kind: schema.Boolean, Description: "Ignore the letter case (default false)", Default: "false"},
		{Name: "whole_words", Kind: schema.Boolean, Description: "Find whole words only (default false)", Default: "false"},
		{Name: "files", Kind: schema.Array, Description: `Globs of the files to search, such as "*.go" or "src/**" (default: all files)`, Maximum: 100, Code: toolshelf.CodeInvalidPattern},
		excludePatterns,
		{Name: "output", Kind: schema.String, Description: "Lines, only paths, or paths and numbers of lines (default: content)", Default: `"content"`,
			Enum: []string{"content", "files", "count"}, Code: toolshelf.CodeInvalidOption},
		{Name: "context_lines", Kind: schema.Integer, Maximum: 20, Description: "Lines to show before and after each match (default 0)", Default: "0", Code: toolshelf.CodeInvalidOption},
		showHidden("false"),
		gitignore,
		showDependencies,
		{Name: "limit", Kind: schema.Integer, Minimum: 1, Maximum: 1000, Description: "Maximum number of matching lines (default 100)", Default: "100", Code: toolshelf.CodeInvalidOption},
		maxCharacters,
	},
	errors: errorText,
	text:   true,
	output: outputSchema(errorText, pathSchema+`,"pattern":{"type":"string"},"matches":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string","description":"Path of the file, relative to the project root"},`+
		`"line":{"type":"integer","description":"Number of the line, from 1"},"column":{"type":"integer","description":"Number of bytes of the line before the match"},`+
		`"text":{"type":"string","description":"The line; of a line of more than 500 characters, the part around the match"},"text_column":{"type":"integer","description":"Number of bytes of the line before text"},`+
		`"truncated":{"type":"boolean","description":"text lacks the end of the line"},"before":{"type":"array","items":{"type":"string"},"description":"Lines before the match"},`+
		`"after":{"type":"array","items":{"type":"string"},"description":"Lines after the match"},"more":{"type":"integer","description":"After the last match of a file: number of omitted matching lines of the file"}},"required":["path","line","column","text"]}},`+
		`"total":{"type":"integer","description":"Number of matching lines"},"files":{"type":"integer","description":"Number of files with matching lines"},"searched":{"type":"integer","description":"Number of searched files"},`+
		`"binary":{"type":"integer","description":"Number of files that are not text"},"skipped":{"type":"integer","description":"Number of directories and files that cannot be read"},`+
		ignoredSchema+`,`+dependenciesSchema+`,`+vanishedSchema+`,"long_lines":{"type":"integer","description":"Number of lines larger than 1 MiB, of which only the first 1 MiB was searched"},"output":{"enum":["files","count"],"description":"The argument output, except content"},"limits":{"type":"array","items":{"type":"string"},"description":"Limits beyond which there are matching lines, such as \"100 lines\""},`+hintSchema+`,`+warningSchema,
		"path", "pattern", "matches", "total", "files", "searched"),
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		options := walkOptions(ctx, args, toolshelf.InFiles(args.Strings("files")...), toolshelf.ContextLines(args.Integer("context_lines")))
		options = appendIf[toolshelf.GrepOption](options, args.Boolean("literal"), toolshelf.Literal)
		options = appendIf[toolshelf.GrepOption](options, args.Boolean("ignore_case"), toolshelf.IgnoreCase)
		options = appendIf[toolshelf.GrepOption](options, args.Boolean("whole_words"), toolshelf.WholeWords)
		options = appendIf[toolshelf.GrepOption](options, args.String("output") == "files", toolshelf.FilesOnly)
		options = appendIf[toolshelf.GrepOption](options, args.String("output") == "count", toolshelf.CountOnly)
		matches, err := t.Grep(ctx, args.String("path"), args.String("pattern"), options...)
		if err != nil {
			return Result{}, err
		}
		return t.textResult(matches.String(), matches)
	},
}
