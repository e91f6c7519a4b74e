package mcpadapter

import (
	"cmp"
	"context"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
)

// maxEntries is the maximum number of entries in one result. No model can use more
// entries. The text of the result reports the number of further entries.
const maxEntries = 10_000

// maxLevels is the maximum depth of a tree. Some clients and SDKs close the connection
// when they receive JSON with 1,000 levels, and a directory takes two levels.
const maxLevels = 100

const (
	pathSchema         = `"path":{"type":"string","description":"Path relative to the project root"}`
	entryMembers       = `"name":{"type":"string"},"type":{"enum":["file","directory","symlink","other"]},"size":{"type":"integer","description":"Size in bytes; -1 if unknown"},"modified":{"type":"string","format":"date-time"},"target":{"type":"string","description":"Target of a symbolic link, relative to the project root"},"outside":{"type":"boolean","description":"The symbolic link leads outside the project root"}`
	dependenciesSchema = `"dependencies":{"type":"integer","description":"Number of directories of dependencies that were not searched"}`
	ignoredSchema      = `"ignored":{"type":"integer","description":"Number of entries that .gitignore files ignore, without the entries below"}`
	vanishedSchema     = `"vanished":{"type":"integer","description":"Number of entries removed during the call"}`
	noSizesSchema      = `"no_sizes":{"type":"boolean","description":"The result has no sizes and times, because of show_sizes"}`
	hintSchema         = `"hint":{"type":"string","description":"A better next call"}`
	warningSchema      = `"warnings":{"type":"array","items":{"type":"string"},"description":"Information that could not be read"}`
)

var excludePatterns = parameter{name: "exclude_patterns", kind: stringsKind,
	description: `Globs to omit, such as "node_modules" or "**/*.log"`, maximum: 100, code: toolshelf.CodeInvalidPattern}

var limit = parameter{name: "limit", kind: integerKind, minimum: 1, maximum: maxEntries, defaultValue: "1000",
	description: "Maximum number of entries (default 1000)", code: toolshelf.CodeInvalidOption}

var maxCharacters = parameter{name: "max_characters", kind: integerKind, minimum: 1000, maximum: 1_000_000, defaultValue: "20000",
	description: "Maximum number of characters (default 20000)", code: toolshelf.CodeInvalidOption, option: "Budget"}

var gitignore = parameter{name: "gitignore", kind: booleanKind, defaultValue: "true",
	description: "Omit entries that .gitignore files ignore (default true)"}

var showDependencies = parameter{name: "show_dependencies", kind: booleanKind, defaultValue: "false",
	description: "Enter .git, node_modules and similar directories (default false)"}

// showHidden returns the parameter for entries whose names begin with a dot. The contracts define
// the defaults.
func showHidden(byDefault string) parameter {
	return parameter{name: "show_hidden", kind: booleanKind, description: "Include hidden files (default " + byDefault + ")", defaultValue: byDefault}
}

var showSizes = parameter{name: "show_sizes", kind: booleanKind, defaultValue: "true",
	description: "Show the sizes of files (default true)"}

var withoutSizes = bridge.WithoutSizes.(toolshelf.DirOption)

// walkOptions appends the options of all tools that enter subdirectories to the options of a tool.
func walkOptions[O any](ctx context.Context, args arguments, options ...O) []O {
	common := []toolshelf.FileOption{toolshelf.Limit(args.integer("limit")), toolshelf.Budget(args.integer("max_characters")),
		toolshelf.Exclude(args.strings("exclude_patterns")...), reportOption(ctx)}
	common = appendIf(common, args.boolean("gitignore"), toolshelf.Gitignore())
	common = appendIf(common, args.boolean("show_hidden"), toolshelf.ShowHidden())
	common = appendIf(common, !args.boolean("show_dependencies"), toolshelf.SkipDependencies())
	for _, o := range common {
		options = append(options, o.(O))
	}
	return options
}

func appendIf[O any](options []O, wanted bool, option O) []O {
	if wanted {
		options = append(options, option)
	}
	return options
}

var listDirectory = definition{
	name:        "list_directory",
	title:       "List a directory",
	description: []sentence{{text: "List files and subdirectories in a directory. Returns names, types, and sizes."}},
	parameters: []parameter{
		{name: "path", kind: stringKind, required: true, description: "Directory path (relative to project root)", hint: `"." for the project root`},
		showHidden("false"),
		{name: "sort_by", kind: stringKind, description: "Sort by: name, size, modified (default: name)", defaultValue: `"name"`,
			enum: []string{"name", "size", "modified"}, code: toolshelf.CodeInvalidSort},
		{name: "gitignore", kind: booleanKind, description: "Omit entries that .gitignore files ignore (default false)", defaultValue: "false"},
		showSizes,
		limit,
		maxCharacters,
		{name: "cursor", kind: stringKind, description: "The next cursor of the previous page (default: first page)", code: toolshelf.CodeInvalidCursor},
	},
	errors: errorText,
	text:   true,
	output: outputSchema(errorText, pathSchema+`,"entries":{"type":"array","items":{"type":"object","properties":{`+entryMembers+`},"required":["name","type"]}},`+
		`"files":{"type":"integer","description":"Number of entries that are not directories"},"directories":{"type":"integer","description":"Number of entries that are directories"},`+
		`"next_cursor":{"type":"string","description":"Cursor of the next page"},`+ignoredSchema+`,`+vanishedSchema+`,`+noSizesSchema+`,`+hintSchema+`,`+warningSchema,
		"path", "entries", "files", "directories"),
	run: func(ctx context.Context, t toolset, args arguments) (Result, error) {
		options := []toolshelf.DirOption{toolshelf.Limit(args.integer("limit")), toolshelf.Budget(args.integer("max_characters")),
			toolshelf.SortedBy(args.string("sort_by")), toolshelf.After(args.string("cursor")), reportOption(ctx)}
		options = appendIf[toolshelf.DirOption](options, args.boolean("gitignore"), toolshelf.Gitignore())
		options = appendIf[toolshelf.DirOption](options, args.boolean("show_hidden"), toolshelf.ShowHidden())
		options = appendIf(options, !args.boolean("show_sizes"), withoutSizes)
		listing, err := t.ListDir(ctx, args.string("path"), options...)
		if err != nil {
			return Result{}, err
		}
		if !args.boolean("show_sizes") {
			return t.textResult(listing.String(), sizeless(listing))
		}
		return t.textResult(listing.String(), listing)
	},
}

// sizeless returns a listing whose entries have no member size.
func sizeless(listing toolshelf.DirListing) any {
	type entry struct {
		toolshelf.Entry
		Size *int64 `json:"size,omitempty"`
	}
	entries := make([]entry, len(listing.Entries))
	for i, e := range listing.Entries {
		entries[i].Entry = e
	}
	return struct {
		toolshelf.DirListing
		Entries []entry `json:"entries"`
	}{listing, entries}
}

var directoryTree = definition{
	name:  "directory_tree",
	title: "Show a directory tree",
	description: []sentence{{text: "Show a directory and all entries below as an indented tree, directories first, with the sizes of files. " +
		"Use this tool to learn the layout of a project. A large tree shows README, manifests and entry points first, and the number of omitted entries."}},
	parameters: []parameter{
		{name: "path", kind: stringKind, description: "Directory path (relative to project root)", defaultValue: `"."`},
		excludePatterns,
		showHidden("true"),
		{name: "max_depth", kind: integerKind, minimum: 1, description: "Maximum number of levels to show (default 100; higher values count as 100)", code: toolshelf.CodeInvalidOption},
		gitignore,
		showDependencies,
		showSizes,
		limit,
		maxCharacters,
	},
	errors: errorText,
	text:   true,
	output: outputSchema(errorText, pathSchema+`,"excluding":{"type":"array","items":{"type":"string"}},`+
		`"children":{"type":"array","items":{"type":"object","properties":{`+entryMembers+`,"children":{"type":"array","items":{"$ref":"#/anyOf/0/properties/children/items"}},`+
		`"more":{"type":"integer","description":"Number of omitted entries of this directory"},"dependency":{"type":"boolean","description":"The tree does not enter this directory of dependencies"},"skipped":{"type":"integer","description":"Number of entries of this directory of dependencies"},"error":{"type":"string","description":"Reason why the directory cannot be read"}},"required":["name","type"]}},`+
		`"more":{"type":"integer","description":"Number of omitted entries of this directory"},`+
		`"files":{"type":"integer"},"directories":{"type":"integer"},"omitted":{"type":"integer","description":"Number of all omitted entries"},`+ignoredSchema+`,`+vanishedSchema+`,"limits":{"type":"array","items":{"type":"string"},"description":"The limit that omits entries, such as \"1000 entries\""},`+noSizesSchema+`,`+warningSchema,
		"path", "children", "files", "directories"),
	run: func(ctx context.Context, t toolset, args arguments) (Result, error) {
		options := walkOptions[toolshelf.DirOption](ctx, args, toolshelf.MaxDepth(min(cmp.Or(args.integer("max_depth"), maxLevels), maxLevels)))
		options = appendIf(options, !args.boolean("show_sizes"), withoutSizes)
		tree, err := t.Tree(ctx, args.string("path"), options...)
		if err != nil {
			return Result{}, err
		}
		if !args.boolean("show_sizes") {
			return t.textResult(tree.String(), sizelessTree(tree))
		}
		return t.textResult(tree.String(), tree)
	},
}

// sizelessTree returns a tree whose nodes have no member size.
func sizelessTree(tree toolshelf.DirTree) any {
	type node struct {
		toolshelf.TreeNode
		Size     *int64 `json:"size,omitempty"`
		Children []node `json:"children,omitempty"`
	}
	var convert func(nodes []toolshelf.TreeNode) []node
	convert = func(nodes []toolshelf.TreeNode) []node {
		all := make([]node, len(nodes))
		for i, n := range nodes {
			all[i] = node{TreeNode: n, Children: convert(n.Children)}
		}
		return all
	}
	return struct {
		toolshelf.DirTree
		Children []node `json:"children"`
	}{tree, convert(tree.Children)}
}

var getFileInfo = definition{
	name:        "get_file_info",
	title:       "Get file information",
	description: []sentence{{text: "Get the type, size, times and permissions of one file, directory or symbolic link, without reading the content."}},
	parameters: []parameter{
		{name: "path", kind: stringKind, required: true, description: "File path (relative to project root)"},
	},
	errors: errorText,
	text:   true,
	output: outputSchema(errorText, pathSchema+`,`+entryMembers+`,"accessed":{"type":"string","format":"date-time","description":"Time of the last access"},`+
		`"readable":{"type":"boolean","description":"This program can read the file or list the directory"},"writable":{"type":"boolean","description":"The permissions allow somebody to write"}`,
		"path", "name", "type", "size"),
	run: func(ctx context.Context, t toolset, args arguments) (Result, error) {
		info, err := t.Stat(ctx, args.string("path"))
		if err != nil {
			return Result{}, err
		}
		return t.textResult(info.String(), info)
	},
}

var searchFiles = definition{
	name:  "search_files",
	title: "Search files by name",
	description: []sentence{{text: "Find files by glob, below a directory. A pattern may contain *, **, ?, [a-z] and {a,b}. " +
		"A pattern without a slash matches file names at any depth, and a pattern with a slash matches paths relative to the directory. " +
		"Returns paths relative to the project root."}},
	parameters: []parameter{
		{name: "pattern", kind: stringKind, required: true, description: `Glob to match, such as "**/*.go"`, code: toolshelf.CodeInvalidPattern},
		{name: "path", kind: stringKind, description: "Directory path (relative to project root)", defaultValue: `"."`},
		excludePatterns,
		showHidden("false"),
		gitignore,
		showDependencies,
		{name: "sort_by", kind: stringKind, description: "Order of all files; newest or largest first (default: path)", defaultValue: `"path"`,
			enum: []string{"path", "modified", "size"}, code: toolshelf.CodeInvalidSort},
		limit,
		maxCharacters,
	},
	errors: errorText,
	text:   true,
	output: outputSchema(errorText, pathSchema+`,"pattern":{"type":"string"},"files":{"type":"array","items":{"type":"string"}},`+
		`"sizes":{"type":"array","items":{"type":"integer"},"description":"For sort_by size: the sizes of files in bytes; -1 if unknown"},`+
		`"modified":{"type":"array","items":{"type":"string","format":"date-time"},"description":"For sort_by modified: the times of files"},`+
		`"total":{"type":"integer","description":"Number of matching files"},"skipped":{"type":"integer","description":"Number of directories that cannot be read"},`+
		ignoredSchema+`,`+dependenciesSchema+`,`+hintSchema+`,`+warningSchema,
		"path", "pattern", "files", "total"),
	run: func(ctx context.Context, t toolset, args arguments) (Result, error) {
		order := args.string("sort_by")
		if order == "path" {
			order = toolshelf.ByName
		}
		matches, err := t.FindFiles(ctx, args.string("path"), args.string("pattern"), walkOptions[toolshelf.DirOption](ctx, args, toolshelf.SortedBy(order))...)
		if err != nil {
			return Result{}, err
		}
		return t.textResult(matches.String(), matches)
	},
}
