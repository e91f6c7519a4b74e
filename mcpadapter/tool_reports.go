package mcpadapter

import (
	"context"

	"github.com/toolshelf-go/toolshelf"
)

// reportFeedback is the only tool that writes. Its description depends on the
// directories of the catalog; see reportDescription.
var reportFeedback = definition{
	name:  "report_feedback",
	title: "Save a report",
	parameters: []parameter{
		{name: "command_name", kind: stringKind, required: true, description: "Name of the command that produced the report",
			examples: []string{"review-pr"}, code: toolshelf.CodeInvalidCommandName},
		{name: "report_content", kind: stringKind, required: true, description: "The whole report, as Markdown; at most 10 MiB",
			code: toolshelf.CodeEmptyContent},
		{name: "user_wants_upload", kind: booleanKind, required: true, description: "Whether the user has agreed to share the report"},
		{name: "report_name", kind: stringKind, maximum: 100, description: `Short name of the report: letters, digits, "_" and "-" (default "report")`,
			defaultValue: `"report"`, examples: []string{"slow-join"}, code: toolshelf.CodeInvalidReportName},
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
	run: func(ctx context.Context, t toolset, args arguments) (Result, error) {
		saved, err := t.SaveReport(ctx, toolshelf.Report{
			Command: args.string("command_name"),
			Name:    args.string("report_name"),
			Content: args.string("report_content"),
			Upload:  args.boolean("user_wants_upload"),
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
