package mcpadapter

import (
	"cmp"
	"context"

	"github.com/toolshelf-go/toolshelf"
)

// maxEntries is the maximum number of entries in one result. No model can use more
// entries. The text of the result reports the number of further entries.
const maxEntries = 10_000

// maxLevels is the maximum depth of a tree. Some clients and SDKs close the connection
// when they receive JSON with 1,000 levels, and a directory takes two levels.
const maxLevels = 100

const (
	pathSchema    = `"path":{"type":"string","description":"Path relative to the project root"}`
	entryMembers  = `"name":{"type":"string"},"type":{"enum":["file","directory","symlink","other"]},"size":{"type":"integer","description":"Size in bytes; -1 if unknown"},"modified":{"type":"string","format":"date-time"},"target":{"type":"string","description":"Target of a symbolic link, relative to the project root"},"outside":{"type":"boolean","description":"The symbolic link leads outside the project root"}`
	warningSchema = `"warnings":{"type":"array","items":{"type":"string"},"description":"Information that could not be read"}`
)

var excludePatterns = parameter{name: "exclude_patterns", kind: stringsKind,
	description: `Globs of files and directories to omit, such as "node_modules" or "**/*.log"`, maximum: 100, code: toolshelf.CodeInvalidPattern}

func appendIf(options []toolshelf.DirOption, wanted bool, option func() toolshelf.DirOption) []toolshelf.DirOption {
	if wanted {
		options = append(options, option())
	}
	return options
}

var listDirectory = definition{
	name:        "list_directory",
	title:       "List a directory",
	description: []sentence{{text: "List files and subdirectories in a directory. Returns names, types, and sizes."}},
	parameters: []parameter{
		{name: "path", kind: stringKind, required: true, description: "Directory path (relative to project root)", hint: `"." for the project root`},
		{name: "show_hidden", kind: booleanKind, description: "Include hidden files (default false)", defaultValue: "false"},
		{name: "sort_by", kind: stringKind, description: "Sort by: name, size, modified (default: name)", defaultValue: `"name"`,
			enum: []string{"name", "size", "modified"}, code: toolshelf.CodeInvalidSort},
	},
	errors: errorText,
	output: outputSchema(errorText, pathSchema+`,"entries":{"type":"array","items":{"type":"object","properties":{`+entryMembers+`},"required":["name","type","size"]}},`+
		`"files":{"type":"integer","description":"Number of entries that are not directories"},"directories":{"type":"integer","description":"Number of entries that are directories"},`+warningSchema,
		"path", "entries", "files", "directories"),
	run: func(ctx context.Context, t toolset, args arguments) (Result, error) {
		options := []toolshelf.DirOption{toolshelf.SortedBy(toolshelf.SortKey(args.string("sort_by"))), toolshelf.Limit(maxEntries)}
		options = appendIf(options, args.boolean("show_hidden"), toolshelf.ShowHidden)
		listing, err := t.ListDir(ctx, args.string("path"), options...)
		if err != nil {
			return Result{}, err
		}
		return textResult(listing.String(), listing)
	},
}

var directoryTree = definition{
	name:  "directory_tree",
	title: "Show a directory tree",
	description: []sentence{{text: "Show a directory and all entries below as an indented tree, directories first, with the sizes of files. " +
		"Use this tool to learn the layout of a project. Set max_depth or exclude_patterns for a large project."}},
	parameters: []parameter{
		{name: "path", kind: stringKind, description: "Directory path (relative to project root)", defaultValue: `"."`},
		excludePatterns,
		{name: "show_hidden", kind: booleanKind, description: "Include hidden files (default true)", defaultValue: "true"},
		{name: "max_depth", kind: integerKind, minimum: 1, description: "Maximum number of levels to show (default 100; higher values count as 100)", code: toolshelf.CodeInvalidOption},
	},
	errors: errorText,
	output: outputSchema(errorText, pathSchema+`,"excluding":{"type":"array","items":{"type":"string"}},`+
		`"children":{"type":"array","items":{"type":"object","properties":{`+entryMembers+`,"children":{"type":"array","items":{"$ref":"#/properties/children/items"}},`+
		`"more":{"type":"integer","description":"Number of omitted entries of this directory"},"error":{"type":"string","description":"Reason why the directory cannot be read"}},"required":["name","type","size"]}},`+
		`"more":{"type":"integer","description":"Number of omitted entries of this directory"},`+
		`"files":{"type":"integer"},"directories":{"type":"integer"},"omitted":{"type":"integer","description":"Number of all omitted entries"},`+warningSchema,
		"path", "children", "files", "directories"),
	run: func(ctx context.Context, t toolset, args arguments) (Result, error) {
		options := []toolshelf.DirOption{toolshelf.Exclude(args.strings("exclude_patterns")...), toolshelf.MaxDepth(min(cmp.Or(args.integer("max_depth"), maxLevels), maxLevels))}
		options = appendIf(options, args.boolean("show_hidden"), toolshelf.ShowHidden)
		tree, err := t.Tree(ctx, args.string("path"), options...)
		if err != nil {
			return Result{}, err
		}
		return textResult(tree.String(), tree)
	},
}

var getFileInfo = definition{
	name:        "get_file_info",
	title:       "Get file information",
	description: []sentence{{text: "Get the type, size, times and permissions of one file, directory or symbolic link, without reading the content."}},
	parameters: []parameter{
		{name: "path", kind: stringKind, required: true, description: "File path (relative to project root)"},
	},
	errors: errorText,
	output: outputSchema(errorText, pathSchema+`,`+entryMembers+`,"accessed":{"type":"string","format":"date-time","description":"Time of the last access"},`+
		`"readable":{"type":"boolean","description":"This program can read the file or list the directory"},"writable":{"type":"boolean","description":"The permissions allow somebody to write"}`,
		"path", "name", "type", "size"),
	run: func(ctx context.Context, t toolset, args arguments) (Result, error) {
		info, err := t.Stat(ctx, args.string("path"))
		if err != nil {
			return Result{}, err
		}
		return textResult(info.String(), info)
	},
}

var searchFiles = definition{
	name:  "search_files",
	title: "Search files by name",
	description: []sentence{{text: "Find files by glob, below a directory. A pattern may contain *, **, ?, [a-z] and {a,b}. " +
		"A pattern without a slash matches file names at any depth, and a pattern with a slash matches paths relative to the directory. " +
		"Omits hidden files. Returns paths relative to the project root."}},
	parameters: []parameter{
		{name: "pattern", kind: stringKind, required: true, description: `Glob to match, such as "**/*.go"`,
			examples: []string{"*.md", "src/**/*_test.go"}, code: toolshelf.CodeInvalidPattern},
		{name: "path", kind: stringKind, description: "Directory path (relative to project root)", defaultValue: `"."`},
		excludePatterns,
	},
	errors: errorText,
	output: outputSchema(errorText, pathSchema+`,"pattern":{"type":"string"},"files":{"type":"array","items":{"type":"string"}},`+
		`"total":{"type":"integer","description":"Number of matching files"},"skipped":{"type":"integer","description":"Number of directories that cannot be read"},`+warningSchema,
		"path", "pattern", "files", "total"),
	run: func(ctx context.Context, t toolset, args arguments) (Result, error) {
		matches, err := t.FindFiles(ctx, args.string("path"), args.string("pattern"),
			toolshelf.Exclude(args.strings("exclude_patterns")...), toolshelf.Limit(maxEntries))
		if err != nil {
			return Result{}, err
		}
		return textResult(matches.String(), matches)
	},
}
