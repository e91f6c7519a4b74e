package mcpadapter

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

// maxLevels is the maximum depth of a tree. Some clients and SDKs close the connection
// when they receive JSON with 1,000 levels, and a directory takes two levels.
const maxLevels = 100

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

func (t toolset) listDirectory(ctx context.Context, args schema.Arguments) (Result, error) {
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

func (t toolset) directoryTree(ctx context.Context, args schema.Arguments) (Result, error) {
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

func (t toolset) getFileInfo(ctx context.Context, args schema.Arguments) (Result, error) {
	info, err := t.Stat(ctx, args.String("path"))
	if err != nil {
		return Result{}, err
	}
	return t.textResult(info.String(), info)
}

func (t toolset) searchFiles(ctx context.Context, args schema.Arguments) (Result, error) {
	order := args.String("sort_by")
	if order == "path" {
		order = toolshelf.ByName
	}
	matches, err := t.FindFiles(ctx, args.String("path"), args.String("pattern"), walkOptions[toolshelf.DirOption](ctx, args, toolshelf.SortedBy(order))...)
	if err != nil {
		return Result{}, err
	}
	return t.textResult(matches.String(), matches)
}

func (t toolset) readFile(ctx context.Context, args schema.Arguments) (Result, error) {
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
}

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

func (t toolset) searchText(ctx context.Context, args schema.Arguments) (Result, error) {
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
}
