package mcpadapter

import (
	"context"

	"github.com/toolshelf-go/toolshelf"
)

var searchText = definition{
	name:  "search_text",
	title: "Search the text of files",
	description: []sentence{
		{text: "Find lines in text files, below a directory or in a single file. The pattern is a regular expression (RE2), or a plain text with literal. " +
			"Returns the lines by file, with their numbers; of many matches, returns the first matches of each file."},
		{text: "Pass a path and a line number to ", tools: []string{"read_file"}, after: " to read the lines around a match."},
	},
	parameters: []parameter{
		{name: "pattern", kind: stringKind, required: true, description: "Regular expression to find within a line (RE2)", code: toolshelf.CodeInvalidPattern},
		{name: "path", kind: stringKind, description: "Directory or file to search (relative to project root)", defaultValue: `"."`},
		{name: "literal", kind: booleanKind, description: "Find the pattern as plain text (default false)", defaultValue: "false"},
		{name: "ignore_case", kind: booleanKind, description: "Ignore the letter case (default false)", defaultValue: "false"},
		{name: "whole_words", kind: booleanKind, description: "Find whole words only (default false)", defaultValue: "false"},
		{name: "files", kind: stringsKind, description: `Globs of the files to search, such as "*.go" or "src/**" (default: all files)`, maximum: 100, code: toolshelf.CodeInvalidPattern},
		excludePatterns,
		{name: "output", kind: stringKind, description: "Lines, only paths, or paths and numbers of lines (default: content)", defaultValue: `"content"`,
			enum: []string{"content", "files", "count"}, code: toolshelf.CodeInvalidOption},
		{name: "context_lines", kind: integerKind, maximum: 20, description: "Lines to show before and after each match (default 0)", defaultValue: "0", code: toolshelf.CodeInvalidOption},
		showHidden("false"),
		gitignore,
		showDependencies,
		{name: "limit", kind: integerKind, minimum: 1, maximum: 1000, description: "Maximum number of matching lines (default 100)", defaultValue: "100", code: toolshelf.CodeInvalidOption},
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
	run: func(ctx context.Context, t toolset, args arguments) (Result, error) {
		options := walkOptions(ctx, args, toolshelf.InFiles(args.strings("files")...), toolshelf.ContextLines(args.integer("context_lines")))
		options = appendIf[toolshelf.GrepOption](options, args.boolean("literal"), toolshelf.Literal)
		options = appendIf[toolshelf.GrepOption](options, args.boolean("ignore_case"), toolshelf.IgnoreCase)
		options = appendIf[toolshelf.GrepOption](options, args.boolean("whole_words"), toolshelf.WholeWords)
		options = appendIf[toolshelf.GrepOption](options, args.string("output") == "files", toolshelf.FilesOnly)
		options = appendIf[toolshelf.GrepOption](options, args.string("output") == "count", toolshelf.CountOnly)
		matches, err := t.Grep(ctx, args.string("path"), args.string("pattern"), options...)
		if err != nil {
			return Result{}, err
		}
		return t.textResult(matches.String(), matches)
	},
}
