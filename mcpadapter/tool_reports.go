package mcpadapter

import (
	"context"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

// reportFeedback is the only tool that writes. Its description depends on the
// directories of the catalog; see reportDescription.
var reportFeedback = definition{
	name:  "report_feedback",
	title: "Save a report",
	parameters: []schema.Parameter{
		{Name: "command_name", Kind: schema.String, Required: true, Description: "Name of the command that produced the report",
			Examples: []string{"review-pr"}, Code: toolshelf.CodeInvalidCommandName},
		{Name: "report_content", Kind: schema.String, Required: true, Description: "The whole report, as Markdown; at most 10 MiB",
			Code: toolshelf.CodeEmptyContent},
		{Name: "user_wants_upload", Kind: schema.Boolean, Required: true, Description: "Whether the user has agreed to share the report"},
		{Name: "report_name", Kind: schema.String, Maximum: 100, Description: `Short name of the report: letters, digits, "_" and "-" (default "report")`,
			Default: `"report"`, Examples: []string{"slow-join"}, Code: toolshelf.CodeInvalidReportName},
	},
	errors: errorObject,
	output: outputSchema(errorObject, `"success":{"const":true},`+
		`"action_taken":{"enum":["uploaded","saved_locally"]},`+
		`"report_path":{"type":"string","description":"File path of the report"},`+
		`"report_name":{"type":"string"},`+
		`"version":{"type":"integer","minimum":1},`+
		`"message":{"type":"string"}`,
		"success", "action_taken", "report_path", "report_name", "version", "message"),
	writes: true,
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
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
	},
}

// reportDescription returns the description of report_feedback for a catalog with a
// shared directory, a local directory or both.
func reportDescription(shared, local bool) []sentence {
	d := []sentence{{text: "Save the report that an analysis command produced. Call this tool when the command has finished."}}
	if shared {
		d = append(d, sentence{text: "With user_wants_upload true, the report is saved in a shared directory: ask the user first, " +
			"and send true only if the user agrees."})
	}
	switch {
	case shared && local:
		d = append(d, sentence{text: "With false, the report is kept on this machine."})
	case shared:
		d = append(d, sentence{text: "Do not call this tool if the user does not agree: reports cannot be saved locally."})
	default:
		d = append(d, sentence{text: "Send user_wants_upload false: reports cannot be shared. The report is kept on this machine."})
	}
	return d
}
