package mcpadapter

import (
	"context"

	"github.com/toolshelf-go/toolshelf"
)

var readFile = definition{
	name:  "read_file",
	title: "Read a text file",
	description: []sentence{
		{text: "Read a text file, or some of its lines. Returns each line with its number. " +
			"If the file has more than max_bytes, the result ends with the line to continue with."},
		{text: "Use a path that ", tools: []string{"directory_tree", "search_files"}, after: " has returned."},
	},
	parameters: []parameter{
		{name: "path", kind: stringKind, required: true, description: "File path (relative to project root)"},
		{name: "start_line", kind: integerKind, minimum: noMinimum, description: "First line to read, from 1; a negative number counts from the end: -1 is the last line", defaultValue: "1", code: toolshelf.CodeInvalidOption, option: "Lines"},
		{name: "end_line", kind: integerKind, minimum: noMinimum, description: "Last line to read, inclusive; a negative number counts from the end", defaultValue: "-1", code: toolshelf.CodeInvalidOption},
		{name: "start_column", kind: integerKind, description: "Number of bytes of the first line to skip, to continue within a long line", defaultValue: "0", code: toolshelf.CodeInvalidOption},
		{name: "max_bytes", kind: integerKind, minimum: 1, maximum: 256 << 10, description: "Maximum size of the text in bytes; a longer text ends at the end of a line", defaultValue: "65536", code: toolshelf.CodeInvalidOption},
	},
	errors: errorText,
	text:   true,
	output: outputSchema(errorText, pathSchema+`,"text":{"type":"string","description":"The lines in UTF-8, without numbers"},`+
		`"first":{"type":"integer","description":"Number of the first line; negative if counted from the end; 0 for no lines"},"last":{"type":"integer","description":"Number of the last line, like first"},`+
		`"total":{"type":"integer","description":"Number of lines of the file; -1 if unknown"},"size":{"type":"integer","description":"Size of the file in bytes"},`+
		`"truncated":{"type":"boolean","description":"The text ends before the last of the requested lines"},`+
		`"next_line":{"type":"integer","description":"Line to continue with, like first"},"next_column":{"type":"integer","description":"Number of bytes of next_line to skip"},"column":{"type":"integer","description":"Number of skipped bytes of the first line"},`+
		`"line_ending":{"enum":["lf","crlf","mixed","cr"]},"encoding":{"enum":["utf-8","utf-16le","utf-16be"],"description":"Encoding of the file"},"bom":{"type":"boolean","description":"The file begins with a byte order mark"},`+
		`"invalid":{"type":"integer","description":"Number of invalid bytes or units, replaced by U+FFFD"},"changed":{"type":"boolean","description":"The file changed during the call"}`,
		"path", "text", "first", "last", "total", "size", "truncated", "encoding"),
	run: func(ctx context.Context, t toolset, args arguments) (Result, error) {
		text, err := t.ReadFile(ctx, args.string("path"), toolshelf.Lines(args.integer("start_line"), args.integer("end_line")),
			toolshelf.Column(int64(args.integer("start_column"))), toolshelf.MaxBytes(args.integer("max_bytes")))
		if err != nil {
			return Result{}, err
		}
		return t.textResult(text.String(), text)
	},
}
