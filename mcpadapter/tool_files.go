package mcpadapter

import (
	"cmp"
	"context"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
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

var excludePatterns = schema.Parameter{Name: "exclude_patterns", Kind: schema.Array,
	Description: `Globs to omit, such as "node_modules" or "**/*.log"`, Maximum: 100, Code: toolshelf.CodeInvalidPattern}

var limit = schema.Parameter{Name: "limit", Kind: schema.Integer, Minimum: 1, Maximum: maxEntries, Default: "1000",
	Description: "Maximum number of entries (default 1000)", Code: toolshelf.CodeInvalidOption}

var maxCharacters = schema.Parameter{Name: "max_characters", Kind: schema.Integer, Minimum: 1000, Maximum: 1_000_000, Default: "20000",
	Description: "Maximum number of characters (default 20000)", Code: toolshelf.CodeInvalidOption, Option: "Budget"}

var gitignore = schema.Parameter{Name: "gitignore", Kind: schema.Boolean, Default: "true",
	Description: "Omit entries that .gitignore files ignore (default true)"}

var showDependencies = schema.Parameter{Name: "show_dependencies", Kind: schema.Boolean, Default: "false",
	Description: "Enter .git, node_modules and similar directories (default false)"}

// showHidden returns the parameter for entries whose names begin with a dot. The contracts define
// the defaults.
func showHidden(byDefault string) schema.Parameter {
	return schema.Parameter{Name: "show_hidden", Kind: schema.Boolean, Description: "Include hidden files (default " + byDefault + ")", Default: byDefault}
}

var showSizes = schema.Parameter{Name: "show_sizes", Kind: schema.Boolean, Default: "true",
	Description: "Show the sizes of files (default true)"}

var withoutSizes = bridge.WithoutSizes.(toolshelf.DirOption)

// walkOptions appends the options of all tools that enter subdirectories to the options of a tool.
func walkOptions[O any](ctx context.Context, args schema.Arguments, options ...O) []O {
	common := []toolshelf.FileOption{toolshelf.Limit(args.Integer("limit")), toolshelf.Budget(args.Integer("max_characters")),
		toolshelf.Exclude(args.Strings("exclude_patterns")...), reportOption(ctx)}
	common = appendIf(common, args.Boolean("gitignore"), toolshelf.Gitignore())
	common = appendIf(common, args.Boolean("show_hidden"), toolshelf.ShowHidden())
	common = appendIf(common, !args.Boolean("show_dependencies"), toolshelf.SkipDependencies())
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
	parameters: []schema.Parameter{
		{Name: "path", Kind: schema.String, Required: true, Description: "Directory path (relative to project root)", Hint: `"." for the project root`},
		showHidden("false"),
		{Name: "sort_by", Kind: schema.String, Description: "Sort by: name, size, modified (default: name)", Default: `"name"`,
			Enum: []string{"name", "size", "modified"}, Code: toolshelf.CodeInvalidSort},
		{Name: "gitignore", Kind: schema.Boolean, Description: "Omit entries that .gitignore files ignore (default false)", Default: "false"},
		showSizes,
		limit,
		maxCharacters,
		{Name: "cursor", Kind: schema.String, Description: "The next cursor of the previous page (default: first page)", Code: toolshelf.CodeInvalidCursor},
	},
	errors: errorText,
	text:   true,
	output: outputSchema(errorText, pathSchema+`,"entries":{"type":"array","items":{"type":"object","properties":{`+entryMembers+`},"required":["name","type"]}},`+
		`"files":{"type":"integer","description":"Number of entries that are not directories"},"directories":{"type":"integer","description":"Number of entries that are directories"},`+
		`"next_cursor":{"type":"string","description":"Cursor of the next page"},`+ignoredSchema+`,`+vanishedSchema+`,`+noSizesSchema+`,`+hintSchema+`,`+warningSchema,
		"path", "entries", "files", "directories"),
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		options := []toolshelf.DirOption{toolshelf.Limit(args.Integer("limit")), toolshelf.Budget(args.Integer("max_characters")),
			toolshelf.SortedBy(args.String("sort_by")), toolshelf.After(args.String("cursor")), reportOption(ctx)}
		options = appendIf[toolshelf.DirOption](options, args.Boolean("gitignore"), toolshelf.Gitignore())
		options = appendIf[toolshelf.DirOption](options, args.Boolean("show_hidden"), toolshelf.ShowHidden())
		options = appendIf(options, !args.Boolean("show_sizes"), withoutSizes)
		listing, err := t.ListDir(ctx, args.String("path"), options...)
		if err != nil {
			return Result{}, err
		}
		if !args.Boolean("show_sizes") {
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
	parameters: []schema.Parameter{
		{Name: "path", Kind: schema.String, Description: "Directory path (relative to project root)", Default: `"."`},
		excludePatterns,
		showHidden("true"),
		{Name: "max_depth", Kind: schema.Integer, Minimum: 1, Description: "Maximum number of levels to show (default 100; higher values count as 100)", Code: toolshelf.CodeInvalidOption},
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
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		options := walkOptions[toolshelf.DirOption](ctx, args, toolshelf.MaxDepth(min(cmp.Or(args.Integer("max_depth"), maxLevels), maxLevels)))
		options = appendIf(options, !args.Boolean("show_sizes"), withoutSizes)
		tree, err := t.Tree(ctx, args.String("path"), options...)
		if err != nil {
			return Result{}, err
		}
		if !args.Boolean("show_sizes") {
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
	parameters: []schema.Parameter{
		{Name: "path", Kind: schema.String, Required: true, Description: "File path (relative to project root)"},
	},
	errors: errorText,
	text:   true,
	output: outputSchema(errorText, pathSchema+`,`+entryMembers+`,"accessed":{"type":"string","format":"date-time","description":"Time of the last access"},`+
		`"readable":{"type":"boolean","description":"This program can read the file or list the directory"},"writable":{"type":"boolean","description":"The permissions allow somebody to write"}`,
		"path", "name", "type", "size"),
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		info, err := t.Stat(ctx, args.String("path"))
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
	parameters: []schema.Parameter{
		{Name: "pattern", Kind: schema.String, Required: true, Description: `Glob to match, such as "**/*.go"`, Code: toolshelf.CodeInvalidPattern},
		{Name: "path", Kind: schema.String, Description: "Directory path (relative to project root)", Default: `"."`},
		excludePatterns,
		showHidden("false"),
		gitignore,
		showDependencies,
		{Name: "sort_by", Kind: schema.String, Description: "Order of all files; newest or largest first (default: path)", Default: `"path"`,
			Enum: []string{"path", "modified", "size"}, Code: toolshelf.CodeInvalidSort},
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
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		order := args.String("sort_by")
		if order == "path" {
			order = toolshelf.ByName
		}
		matches, err := t.FindFiles(ctx, args.String("path"), args.String("pattern"), walkOptions[toolshelf.DirOption](ctx, args, toolshelf.SortedBy(order))...)
		if err != nil {
			return Result{}, err
		}
		return t.textResult(matches.String(), matches)
	},
}
