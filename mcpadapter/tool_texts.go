package mcpadapter

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

var readFile = definition{
	name:  "read_file",
	title: "Read a text file",
	description: []sentence{
		{text: "Read a text file, or some of its lines, or several files. Returns each line with its number. " +
			"If a file has more than max_bytes, the result ends with the line to continue with."},
		{text: "Use a path that ", tools: []string{"directory_tree", "search_files"}, after: " has returned."},
	},
	parameters: []schema.Parameter{
		{Name: "path", Kind: schema.String, Description: "File path (relative to project root)"},
		{Name: "paths", Kind: schema.Array, Maximum: maxReadPaths, Description: "Several files, which share max_bytes", Hint: `["README.md", "docs/guide.md"]`},
		{Name: "around", Kind: schema.Integer, Minimum: 1, Description: "Return the function, type or other block around this line", Code: toolshelf.CodeInvalidOption, Option: "Around"},
		{Name: "start_line", Kind: schema.Integer, Minimum: schema.NoMinimum, Description: "First line to read, from 1; a negative number counts from the end: -1 is the last line", Default: "1", Code: toolshelf.CodeInvalidOption, Option: "Lines"},
		{Name: "end_line", Kind: schema.Integer, Minimum: schema.NoMinimum, Description: "Last line to read, inclusive; a negative number counts from the end", Default: "-1", Code: toolshelf.CodeInvalidOption},
		{Name: "start_column", Kind: schema.Integer, Description: "Number of bytes of the first line to skip, to continue within a long line", Default: "0", Code: toolshelf.CodeInvalidOption},
		{Name: "max_bytes", Kind: schema.Integer, Minimum: 1, Maximum: 256 << 10, Description: "Maximum size of the text in bytes (default 65536); a longer text ends at the end of a line", Default: "65536", Code: toolshelf.CodeInvalidOption},
	},
	errors: errorText,
	text:   true,
	output: strings.TrimSuffix(outputSchema(errorText, pathSchema+`,"text":{"type":"string","description":"The lines in UTF-8, without numbers"},`+
		`"first":{"type":"integer","description":"Number of the first line; negative if counted from the end; 0 for no lines"},"last":{"type":"integer","description":"Number of the last line, like first"},`+
		`"total":{"type":"integer","description":"Number of lines of the file; -1 if unknown"},"size":{"type":"integer","description":"Size of the file in bytes"},`+
		`"truncated":{"type":"boolean","description":"The text ends before the last of the requested lines"},`+
		`"next_line":{"type":"integer","description":"Line to continue with, like first"},"next_column":{"type":"integer","description":"Number of bytes of next_line to skip"},"column":{"type":"integer","description":"Number of skipped bytes of the first line"},`+
		`"line_ending":{"enum":["lf","crlf","mixed","cr"]},"encoding":{"enum":["utf-8","utf-16le","utf-16be"],"description":"Encoding of the file"},"bom":{"type":"boolean","description":"The file begins with a byte order mark"},`+
		`"invalid":{"type":"integer","description":"Number of invalid bytes or units, replaced by U+FFFD"},"changed":{"type":"boolean","description":"The file changed during the call"},`+
		`"instructions":{"type":"array","items":{"type":"string"},"description":"Paths of the instructions for the file that do not apply to the root"},"more_instructions":{"type":"integer","description":"Number of further instructions"},`+
		`"results":{"type":"array","items":{"type":"object"},"description":"For paths: the result for each file, or its path and error"}`,
		"path", "text", "first", "last", "total", "size", "truncated", "encoding"),
		"]}") + `,{"properties":{"results":{"type":"array"}},"required":["results"]}]}`, // for paths
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		paths := args.Strings("paths")
		if path, ok := args["path"].(string); ok {
			if paths == nil {
				text, err := readPath(ctx, &instructionHints{toolset: t}, args, path, args.Integer("max_bytes"))
				if err != nil {
					return Result{}, err
				}
				return t.textResult(text.String(), text)
			}
			paths = append([]string{path}, paths...)
		}
		if len(paths) == 0 {
			return errorText.failure(schema.CodeArguments, "path is missing; send path or paths"), nil
		}
		return readPaths(ctx, t, args, paths)
	},
}

// maxReadPaths is the maximum number of files of a call.
const maxReadPaths = 50

func readPath(ctx context.Context, h *instructionHints, args schema.Arguments, path string, maxBytes int) (hintedText, error) {
	options := []toolshelf.ReadOption{toolshelf.MaxBytes(maxBytes)}
	from, to, column := args.Integer("start_line"), args.Integer("end_line"), args.Integer("start_column")
	if line := args.Integer("around"); line > 0 {
		options = append(options, toolshelf.Around(line))
	}
	if from != 1 || to != -1 || column != 0 {
		options = append(options, toolshelf.Lines(from, to), toolshelf.Column(int64(column)))
	}
	text, err := h.ReadFile(ctx, path, options...)
	if err != nil {
		return hintedText{}, err
	}
	return h.add(ctx, text)
}

// readPaths reads several files. Each file gets an equal share of the bytes that the files before
// have left over. The error of a file is a part of the result. If all files fail, the call fails
// with the code of the first file.
func readPaths(ctx context.Context, t toolset, args schema.Arguments, paths []string) (Result, error) {
	type failed struct {
		Path  string           `json:"path"`
		Error *toolshelf.Error `json:"error"`
	}
	var parts, messages []string
	var results []any
	var code toolshelf.Code // of the first file that fails
	hider, left, hints := rootHiderOf(t.Root()), args.Integer("max_bytes"), &instructionHints{toolset: t}
	for i, path := range paths {
		text, err := readPath(ctx, hints, args, path, max(left/(len(paths)-i), 1))
		shown, result := text.String(), any(text)
		if err != nil {
			var ours *toolshelf.Error
			if !errors.As(err, &ours) || ours.Code == toolshelf.CodeInvalidOption {
				return Result{}, err
			}
			message := hider.Text(withoutGo(ours))
			shown, result = "Error: "+escape.Truncate(message), failed{path, &toolshelf.Error{Code: ours.Code, Message: escape.Truncate(message)}}
			code, messages = cmp.Or(code, ours.Code), append(messages, message)
		}
		left = max(left-len(text.Text), 0)
		parts, results = append(parts, "==> "+escape.Path(path)+" <==\n"+shown), append(results, result)
	}
	if len(messages) == len(paths) {
		return errorText.failure(code, strings.Join(messages, "; ")), nil
	}
	return t.textResult(strings.Join(parts, "\n\n"), struct {
		Results []any `json:"results"`
	}{results})
}

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
