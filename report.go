package toolshelf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/reports"
)

const maxReportSize = 10 << 20

// A Report is what a command produced, to be saved. Its JSON is the input of
// the tool report_feedback.
type Report struct {
	Command string `json:"command_name"`          // as Get takes it
	Name    string `json:"report_name,omitempty"` // up to 100 letters of any script, digits, "_" and "-"; "" is "report"
	Content string `json:"report_content"`        // 1 byte to 10 MiB of UTF-8, saved as it is
	Upload  bool   `json:"user_wants_upload"`     // save it in the folder that is shared
}

// A SavedReport says where a report is now. Its JSON is the output of the tool
// report_feedback.
type SavedReport struct {
	Success bool   `json:"success"`      // true
	Action  string `json:"action_taken"` // "uploaded" or "saved_locally"
	Path    string `json:"report_path"`  // the full path on the catalog's filesystem
	Name    string `json:"report_name"`  // the Report's, or "report"
	Version int    `json:"version"`      // 1, or more where reports of this name were saved in the same second
	Message string `json:"message"`      // the above in a sentence, for a model
}

// ReportInfo is what is known of a saved report without reading it.
type ReportInfo struct {
	Command string    `json:"command_name"`
	Name    string    `json:"report_name"`
	Path    string    `json:"report_path"` // the full path on the catalog's filesystem
	Version int       `json:"version"`
	Time    time.Time `json:"time"` // when it was saved, in UTC, to the second
	Size    int64     `json:"size"` // in bytes
	Local   bool      `json:"local"`
}

// reportDirs are the folders for reports as WithReports names them.
type reportDirs struct{ shared, local string }

func (d reportDirs) configured() bool { return d.shared != "" || d.local != "" }

// reportDirectories are the directories of WithReports. FS is nil in a directory
// that is not configured.
type reportDirectories struct{ shared, local reports.Directory }

func (c *Catalog) openReports() {
	var writing sync.Locker
	if !c.onOS {
		writing = new(sync.Mutex)
	}
	open := func(name string, local bool) reports.Directory {
		d := reports.Directory{Name: name, Local: local, Writing: writing}
		if name != "" {
			d.FS, d.Path = c.locate(name)
		}
		return d
	}
	c.reports.shared = open(c.config.reports.shared, false)
	c.reports.local = open(c.config.reports.local, true)
}

// ReportsConfigured tells which kinds of report SaveReport can save: those with
// Upload and those without. See WithReports.
func (c *Catalog) ReportsConfigured() (shared, local bool) {
	return c.config.reports.shared != "", c.config.reports.local != ""
}

// SaveReport saves the report of a command, as
//
//	{folder}/{command}/{command}_{name}_{YYYYMMDD_HHMMSS}_v{version}.md
//
// in the folder for shared reports if r.Upload is set, else in the one for local
// reports and with "_local" before ".md"; see WithReports. The time is that of
// the call in UTC. A file has mode 0644 and a folder 0755, less the umask.
//
// Nothing is ever replaced: of reports with one name in one second, each gets
// the next version. The file appears whole and synced to the disk, or not at
// all. Until then its content is in a hidden file beside it, named for it and
// ending in ".tmp"; a program that dies in the middle leaves that file, which
// nothing reads and anybody may delete. This holds for writers in any number of
// goroutines and processes on the operating system's filesystem. On another one
// (see WithFs), a rename is as atomic and a sync as good as it makes them, and
// writers of several catalogs can be in each other's way unless it creates
// files exclusively in one step, as an afero.MemMapFs does not.
//
// In the names of files, the ":" of a nested command is ".", and a character
// that some system does not allow, as names under WithLooseNames may have, is
// %XX. A command's name of more than 110 bytes is cut, with a hash at its end.
//
// What is wrong is looked for in this order. For the command's name the errors
// are those of Get, ErrInvalidCommandName and ErrCommandNotFound above all;
// commands that List leaves out have reports too. Then come ErrEmptyContent,
// ErrSizeLimitExceeded, and ErrInvalidReportName for a name that is malformed or
// too long for a file: 100 ASCII letters always fit, 100 letters of several
// bytes may not. ErrDirectoryPreparation is for a folder that is not configured,
// cannot be made or opened, or, for the command's own folder, is a link. Last is
// ErrFileWrite for a shared report or ErrLocalSave for a local one, with the
// cause in the chain, also for content that is not valid UTF-8.
//
// If ctx ends before the file has appeared, the report is not saved. Whoever
// gets ctx's error may find it saved only if that happened in the very moment of
// its appearance.
//
// The cost is that of writing and syncing two files, however many reports the
// folder has.
func (c *Catalog) SaveReport(ctx context.Context, r Report) (SavedReport, error) {
	const op = "SaveReport"
	command, err := c.reportedCommand(ctx, op, r.Command)
	if err != nil {
		return SavedReport{}, err
	}
	switch {
	case r.Content == "":
		return SavedReport{}, &Error{Code: ErrEmptyContent.Code, Op: op, Path: command,
			Message: "the report is empty; give its text"}
	case len(r.Content) > maxReportSize:
		return SavedReport{}, &Error{Code: ErrSizeLimitExceeded.Code, Op: op, Path: command,
			Message: fmt.Sprintf("the report has %d bytes and may have %d (10 MiB); shorten it", len(r.Content), maxReportSize)}
	case !utf8.ValidString(r.Content):
		return SavedReport{}, &Error{Code: writeCode(r.Upload), Op: op, Path: command,
			Message: "the report is not valid UTF-8; give it as text"}
	}
	stem := reports.Stem(command)
	r.Name = cmp.Or(r.Name, "report")
	if err := checkReportName(stem, r.Name); err != nil {
		return SavedReport{}, inOp(op, err)
	}
	directory, kind, other := &c.reports.shared, "shared", &c.reports.local
	if !r.Upload {
		directory, kind, other = other, "local", directory
	}
	if directory.FS == nil {
		message := "there is no folder for " + kind + " reports; configure it with WithReports"
		if other.FS != nil {
			message += fmt.Sprintf(", or set user_wants_upload to %t if the user agrees", !r.Upload)
		}
		return SavedReport{}, &Error{Code: ErrDirectoryPreparation.Code, Op: op, Path: command, Message: message}
	}
	saved, err := await(ctx, c, func(context.Context) (SavedReport, error) {
		// With the caller's context: Close waits for a save that has begun.
		return c.save(ctx, directory, stem, r)
	})
	return saved, c.methodError(op, err)
}

// reportedCommand is the name of the command that Get has for a name.
func (c *Catalog) reportedCommand(ctx context.Context, op, name string) (string, error) {
	command, err := c.Get(ctx, name)
	return command.Name, inOp(op, err)
}

func writeCode(upload bool) Code {
	if upload {
		return ErrFileWrite.Code
	}
	return ErrLocalSave.Code
}

// checkReportName says what is wrong with the name of a report.
func checkReportName(stem, name string) error {
	if !reports.ValidName(name) {
		return &Error{Code: ErrInvalidReportName.Code, Path: name,
			Message: fmt.Sprintf(`no report can be called %s; use 1 to %d letters, digits, "_" and "-"`, quote(name), reports.MaxName)}
	}
	if limit := reports.MaxNameBytes(stem); len(name) > limit {
		return &Error{Code: ErrInvalidReportName.Code, Path: name,
			Message: fmt.Sprintf("the report name has %d bytes, which together with the command's name is too long for a file; use at most %d bytes", len(name), limit)}
	}
	return nil
}

// save writes a report that has been checked.
func (c *Catalog) save(ctx context.Context, directory *reports.Directory, stem string, r Report) (SavedReport, error) {
	file, err := directory.Save(ctx, stem, r.Name, r.Content, c.config.now)
	var unusable *reports.DirectoryError
	switch {
	case err == nil:
	case err == ctx.Err():
		return SavedReport{}, err
	case errors.As(err, &unusable):
		return SavedReport{}, &Error{Code: ErrDirectoryPreparation.Code, Path: unusable.Name, Err: unusable.Err,
			Message: "the folder " + quote(unusable.Name) + " cannot be used for reports (" + escape.Reason(unusable.Err) + "); check that it is a folder that may be written, and no link that is not followed"}
	default:
		at := path.Join(directory.Name, stem)
		return SavedReport{}, &Error{Code: writeCode(r.Upload), Path: at, Err: err,
			Message: "the report cannot be written (" + escape.Reason(err) + "); nothing was saved; check the space and the permissions of the folder " + quote(at)}
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
		saved.Message = "The report was uploaded to the shared folder as " + file.FileName + "."
	}
	return saved, nil
}

// Reports returns the saved reports of a command from both folders, newest
// first; those of one second by version, the highest first, then by name, the
// shared before the local ones. There is none, and no error, where a folder
// does not exist yet. The slice is never nil.
//
// Files that SaveReport cannot have written are left out, by their names, and so
// are links.
//
// For the command's name the errors are those of Get. Without WithReports the
// error is ErrDirectoryNotFound. A folder that may not be read is
// ErrPermissionDenied, one that is no folder ErrNotADirectory, a link that is
// not followed ErrOutsideRoot, and any other failure ErrFileRead.
//
// The cost is a directory read and one stat a report.
func (c *Catalog) Reports(ctx context.Context, command string) ([]ReportInfo, error) {
	const op = "Reports"
	command, err := c.reportedCommand(ctx, op, command)
	if err != nil {
		return nil, err
	}
	if !c.config.reports.configured() {
		return nil, &Error{Code: ErrDirectoryNotFound.Code, Op: op, Path: command,
			Message: "there is no folder for reports; configure one with WithReports"}
	}
	all, err := await(ctx, c, func(ctx context.Context) ([]ReportInfo, error) {
		all := []ReportInfo{}
		for _, directory := range []*reports.Directory{&c.reports.shared, &c.reports.local} {
			for file, err := range directory.List(ctx, reports.Stem(command)) {
				var failed *reports.DirectoryError
				if errors.As(err, &failed) {
					return nil, directoryError(op, failed.Name, "reports", "Reports", failed.Err)
				}
				if err != nil {
					return nil, err
				}
				all = append(all, ReportInfo{Command: command, Name: file.Name, Path: file.Path, Version: file.Version,
					Time: file.Time, Size: file.Stat.Size, Local: file.Local})
			}
		}
		return all, nil
	})
	if err != nil {
		return nil, c.methodError(op, err)
	}
	slices.SortFunc(all, func(a, b ReportInfo) int { return reports.Compare(a.fileInfo(), b.fileInfo()) })
	return all, nil
}

func (r ReportInfo) fileInfo() reports.Info {
	return reports.Info{Name: r.Name, Time: r.Time, Version: r.Version, Local: r.Local}
}
