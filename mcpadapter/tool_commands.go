package mcpadapter

import (
	"context"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

func (t toolset) listCommands(ctx context.Context, args schema.Arguments) (Result, error) {
	list, err := t.List(ctx, toolshelf.Page{Number: args.Integer("page"), Size: args.Integer("page_size")})
	if err != nil {
		return Result{}, err
	}
	list.Pagination.NextCursor = "" // the tool takes page numbers, not cursors
	return jsonResult(list)
}

func (t toolset) getCommand(ctx context.Context, args schema.Arguments) (Result, error) {
	command, err := t.Get(ctx, args.String("command_name"))
	if err != nil {
		return Result{}, err
	}
	command.NextSteps = t.nextSteps(command.NextSteps)
	if t.relativePaths {
		command.Metadata.Path = t.RelativePath(command.Layer, command.Metadata.Path)
	}
	return jsonResult(command)
}

// nextSteps replaces the name report_feedback in a hint by the name with the
// namespace. The default hint contains the name in quotes. nextSteps returns "" if the
// adapter does not offer report_feedback.
func (t toolset) nextSteps(hint string) string {
	const quoted = "'report_feedback'"
	if !strings.Contains(hint, quoted) {
		return hint
	}
	name, ok := t.names["report_feedback"]
	if !ok {
		return ""
	}
	return strings.ReplaceAll(hint, quoted, "'"+name+"'")
}

func (t toolset) searchCommands(ctx context.Context, args schema.Arguments) (Result, error) {
	return search(ctx, args, t.Search)
}

func (t toolset) searchSkills(ctx context.Context, args schema.Arguments) (Result, error) {
	return search(ctx, args, t.SearchSkills)
}

func search(ctx context.Context, args schema.Arguments,
	do func(context.Context, string, int, ...toolshelf.SearchOption) (toolshelf.SearchResults, error),
) (Result, error) {
	found, err := do(ctx, args.String("query"), args.Integer("max_results"), reportOption(ctx))
	if err != nil {
		return Result{}, err
	}
	return jsonResult(found)
}

// reportFeedback is the only tool that writes. Its description depends on the
// directories of the catalog; see reportDescription.
func (t toolset) reportFeedback(ctx context.Context, args schema.Arguments) (Result, error) {
	saved, err := t.SaveReport(ctx, toolshelf.Report{
		Command: args.String("command_name"),
		Name:    args.String("report_name"),
		Content: args.String("report_content"),
		Upload:  args.Boolean("user_wants_upload"),
	})
	if err != nil {
		return Result{}, err
	}
	if t.relativePaths {
		saved.Path = t.RelativePath("", saved.Path)
	}
	return jsonResult(saved)
}

// reportDescription returns the description of report_feedback for a catalog with a
// shared directory, a local directory or both.
func reportDescription(shared, local bool) []sentence {
	d := []sentence{{Text: "Save the report that an analysis command produced. Call this tool when the command has finished."}}
	if shared {
		d = append(d, sentence{Text: "With user_wants_upload true, the report is saved in a shared directory: ask the user first, " +
			"and send true only if the user agrees."})
	}
	switch {
	case shared && local:
		d = append(d, sentence{Text: "With false, the report is kept on this machine."})
	case shared:
		d = append(d, sentence{Text: "Do not call this tool if the user does not agree: reports cannot be saved locally."})
	default:
		d = append(d, sentence{Text: "Send user_wants_upload false: reports cannot be shared. The report is kept on this machine."})
	}
	return d
}
