package toolshelf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"time"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/reports"
)

const maxReportSize = 10 << 20

// A Report is the result of a command, for SaveReport. Its JSON form is the input
// of the tool report_feedback.
type Report struct {
	Command string `json:"command_name"`          // a name for Get
	Name    string `json:"report_name,omitempty"` // up to 100 letters of any script, digits, "_" and "-"; default "report"
	Content string `json:"report_content"`        // 1 byte to 10 MiB of UTF-8, saved unchanged
	Upload  bool   `json:"user_wants_upload"`     // save the report in the shared directory
}

// A SavedReport describes the file of a report. Its JSON form is the output of the
// tool report_feedback.
type SavedReport struct {
	Success bool   `json:"success"`      // true
	Action  string `json:"action_taken"` // "uploaded" or "saved_locally"
	Path    string `json:"report_path"`  // the full path on the catalog's filesystem
	Name    string `json:"report_name"`  // Report.Name, or "report"
	Version int    `json:"version"`      // 1, or more if several reports of this name were saved in the same second
	Message string `json:"message"`      // a sentence about the file, for a model
}

// ReportInfo describes a saved report without its content.
type ReportInfo struct {
	Command string    `json:"command_name"`
	Name    string    `json:"report_name"`
	Path    string    `json:"report_path"` // the full path on the catalog's filesystem
	Version int       `json:"version"`
	Time    time.Time `json:"time"` // of the save, in UTC, in whole seconds
	Size    int64     `json:"size"` // in bytes
	Local   bool      `json:"local"`
}

// Configured is documented at bridge.Catalog.
func (c bridged) Configured() (commands, skills, agents, instructions, shared, local bool) {
	return len(c.commands.layers) > 0, len(c.skills.layers) > 0, len(c.agents.layers) > 0, len(c.config.readers) > 0, c.config.reports.Shared != "", c.config.reports.Local != ""
}

// SaveReport saves the report of a command as a file of a directory of [WithReports]: of the shared
// directory if r.Upload is set, and otherwise of the local directory. The path is
//
//	{directory}/{command}/{command}_{name}_{YYYYMMDD_HHMMSS}_v{version}.md
//
// A local file name ends in "_local.md". SaveReport replaces no file, also among several processes.
// A report appears complete and synced to the disk, or not at all.
//
// SaveReport returns the errors of [Catalog.Get] for the command name, [ErrEmptyContent],
// [ErrSizeLimitExceeded], [ErrInvalidReportName], [ErrDirectoryPreparation], and for a failed write
// [ErrFileWrite] or, for a local report, [ErrLocalSave]. The document docs/methods.md has the
// details.
func (c *Catalog) SaveReport(ctx context.Context, r Report) (SavedReport, error) {
	const op = "SaveReport"
	command, err := c.reportedCommand(ctx, op, r.Command)
	if err != nil {
		return SavedReport{}, err
	}
	switch {
	case r.Content == "":
		return SavedReport{}, &Error{Code: CodeEmptyContent, Op: op, Path: command,
			Message: "the report is empty; pass the text of the report"}
	case len(r.Content) > maxReportSize:
		return SavedReport{}, &Error{Code: CodeSizeLimitExceeded, Op: op, Path: command,
			Message: fmt.Sprintf("the report has %d bytes; use at most %d (10 MiB)", len(r.Content), maxReportSize)}
	case !utf8.ValidString(r.Content):
		return SavedReport{}, &Error{Code: writeCode(r.Upload), Op: op, Path: command,
			Message: "the report is not valid UTF-8; pass the report as text"}
	}
	stem := reports.Stem(command)
	r.Name = cmp.Or(r.Name, "report")
	if err := reports.CheckName(stem, r.Name); err != nil {
		return SavedReport{}, &Error{Code: CodeInvalidReportName, Op: op, Path: r.Name, Message: err.Error()}
	}
	directory, kind, other := &c.reports.Shared, "shared", &c.reports.Local
	if !r.Upload {
		directory, kind, other = other, "local", directory
	}
	if directory.FS == nil {
		message := "no directory for " + kind + " reports is configured; use WithReports"
		if other.FS != nil {
			message += fmt.Sprintf(", or set user_wants_upload to %t if the user agrees", !r.Upload)
		}
		return SavedReport{}, &Error{Code: CodeDirectoryPreparation, Op: op, Path: command, Message: message}
	}
	saved, err := await(ctx, c, func(context.Context) (SavedReport, error) {
		// The caller's context does not end with Close: Close waits until the report is
		// written.
		return c.saveReport(ctx, directory, stem, r)
	})
	return saved, c.methodError(op, err)
}

// reportedCommand returns the canonical name of a command.
func (c *Catalog) reportedCommand(ctx context.Context, op, name string) (string, error) {
	command, err := c.Get(ctx, name)
	return command.Name, inOp(op, err)
}

func writeCode(upload bool) Code {
	if upload {
		return CodeFileWrite
	}
	return CodeLocalSave
}

// saveReport writes a report whose fields are valid.
func (c *Catalog) saveReport(ctx context.Context, directory *reports.Directory, stem string, r Report) (SavedReport, error) {
	file, err := directory.Save(ctx, stem, r.Name, r.Content, c.config.now)
	var unusable *reports.DirectoryError
	switch {
	case err == nil:
	case err == ctx.Err():
		return SavedReport{}, err
	case errors.As(err, &unusable):
		return SavedReport{}, &Error{Code: CodeDirectoryPreparation, Path: unusable.Name, Err: unusable.Err,
			Message: "cannot use the directory " + quote(unusable.Name) + " for reports (" + escape.Reason(unusable.Err) + "); check that the directory is writable, and that WithSymlinks allows its links"}
	default:
		at := path.Join(directory.Name, stem)
		return SavedReport{}, &Error{Code: writeCode(r.Upload), Path: at, Err: err,
			Message: "cannot write the report (" + escape.Reason(err) + "); nothing was saved; check the free space and the permissions of the directory " + quote(at)}
	}
	saved := SavedReport{
		Success: true,
		Action:  "saved_locally",
		Path:    file.Path,
		Name:    file.Name,
		Version: file.Version,
		Message: "The report was saved locally as " + file.FileName + ".",
	}
	if r.Upload {
		saved.Action = "uploaded"
		saved.Message = "The report was uploaded to the shared directory as " + file.FileName + "."
	}
	return saved, nil
}

// Reports returns the saved reports of a command from both directories of [WithReports], newest
// first; reports of the same second are ordered by version, the highest first, then by name, then
// shared before local. The slice is never nil. A missing directory has no reports. Reports omits
// symbolic links, and files whose names SaveReport would not choose.
//
// Reports returns the errors of [Catalog.Get] for the name, and for a directory
// [ErrPermissionDenied], [ErrNotADirectory], [ErrOutsideRoot] for a link that [WithSymlinks] does
// not allow, and [ErrFileRead]. Without WithReports, the error is [ErrDirectoryNotFound]. Reports
// reads each directory once and stats each report.
func (c *Catalog) Reports(ctx context.Context, command string) ([]ReportInfo, error) {
	const op = "Reports"
	command, err := c.reportedCommand(ctx, op, command)
	if err != nil {
		return nil, err
	}
	if !c.config.reports.Configured() {
		return nil, &Error{Code: CodeDirectoryNotFound, Op: op, Path: command,
			Message: "no directory for reports is configured; use WithReports"}
	}
	all, err := await(ctx, c, func(ctx context.Context) ([]reports.File, error) {
		return c.reports.List(ctx, reports.Stem(command))
	})
	if failed := (*reports.DirectoryError)(nil); errors.As(err, &failed) {
		err = directoryError(op, failed.Name, "reports", failed.Err, index.Layer{})
	}
	if err != nil {
		return nil, c.methodError(op, err)
	}
	list := make([]ReportInfo, len(all))
	for i, f := range all {
		list[i] = ReportInfo{command, f.Name, f.Path, f.Version, f.Time, f.Stat.Size, f.Local}
	}
	return list, nil
}
