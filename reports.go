package toolshelf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
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

// reports are the folders for reports, opened.
type reports struct {
	shared, local reportFolder
	writing       sync.Mutex // held to write on any filesystem but the operating system's
}

// A reportFolder holds the reports of one kind. Where none is configured its FS
// is nil.
type reportFolder struct {
	index.Layer
	local bool
}

func (f *reportFolder) kind() string {
	if f.local {
		return "local"
	}
	return "shared"
}

func (c *Catalog) openReports() {
	c.reports.local.local = true
	if dir := c.config.reports.shared; dir != "" {
		c.reports.shared.Layer = c.layers([]layer{{name: dir}}, "")[0]
	}
	if dir := c.config.reports.local; dir != "" {
		c.reports.local.Layer = c.layers([]layer{{name: dir}}, "")[0]
	}
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
	stem := reportStem(command)
	r.Name = cmp.Or(r.Name, "report")
	if err := checkReportName(stem, r.Name); err != nil {
		return SavedReport{}, inOp(op, err)
	}
	folder, other := &c.reports.shared, &c.reports.local
	if !r.Upload {
		folder, other = other, folder
	}
	if folder.FS == nil {
		message := "there is no folder for " + folder.kind() + " reports; configure it with WithReports"
		if other.FS != nil {
			message += fmt.Sprintf(", or set user_wants_upload to %t if the user agrees", !r.Upload)
		}
		return SavedReport{}, &Error{Code: ErrDirectoryPreparation.Code, Op: op, Path: command, Message: message}
	}
	saved, err := await(ctx, c, func(context.Context) (SavedReport, error) {
		// With the caller's context: Close waits for a save that has begun.
		return c.save(ctx, folder, stem, r)
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

// save writes a report that has been checked.
func (c *Catalog) save(ctx context.Context, folder *reportFolder, stem string, r Report) (SavedReport, error) {
	if !c.onOS {
		c.reports.writing.Lock()
		defer c.reports.writing.Unlock()
	}
	if err := ctx.Err(); err != nil {
		return SavedReport{}, err
	}
	dir, err := makeReportDir(folder, stem)
	if err != nil {
		return SavedReport{}, err
	}
	defer dir.Close()
	now := c.config.now().UTC()
	name := func(version int) string { return reportFile(stem, r.Name, now, version, !r.Upload) }
	version, err := writeVersion(ctx, dir, name, r.Content)
	switch {
	case err != nil && err == ctx.Err():
		return SavedReport{}, err
	case err != nil:
		return SavedReport{}, &Error{Code: writeCode(r.Upload), Path: path.Join(folder.Name, stem), Err: err,
			Message: "the report cannot be written (" + escape.Reason(err) + "); nothing was saved; check the space and the permissions of the folder " + quote(path.Join(folder.Name, stem))}
	}
	file := name(version)
	saved := SavedReport{
		Success: true,
		Action:  "saved_locally",
		Path:    folder.FS.Path(path.Join(folder.Dir, stem, file)),
		Name:    r.Name,
		Version: version,
		Message: "The report was saved locally as " + file + ".",
	}
	if r.Upload {
		saved.Action = "uploaded"
		saved.Message = "The report was uploaded to the shared folder as " + file + "."
	}
	return saved, nil
}

// maxVersions is the number of names that writeVersion tries. Only a directory
// that somebody has filled on purpose has more versions.
const maxVersions = 9999

// writeVersion writes a file under the first of name(1), name(2), … that is free,
// and returns the number.
func writeVersion(ctx context.Context, dir *confine.Dir, name func(version int) string, content string) (version int, err error) {
	for version = 1; version <= maxVersions; version++ {
		if err = dir.WriteNew(ctx, name(version), content); !errors.Is(err, fs.ErrExist) {
			return version, err
		}
	}
	return 0, err
}

// makeReportDir opens the folder of a command's reports and makes what is
// missing. The command's own folder is never reached by a link.
func makeReportDir(folder *reportFolder, stem string) (*confine.Dir, error) {
	at := folder.Name
	top, err := folder.FS.MakeDir(folder.Dir)
	if err == nil {
		defer top.Close()
		at = path.Join(folder.Name, stem)
		var dir *confine.Dir
		if dir, err = top.MakeDir(stem); err == nil {
			return dir, nil
		}
	}
	return nil, &Error{Code: ErrDirectoryPreparation.Code, Path: at, Err: err,
		Message: "the folder " + quote(at) + " cannot be used for reports (" + escape.Reason(err) + "); check that it is a folder that may be written, and no link that is not followed"}
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
		for _, folder := range []*reportFolder{&c.reports.shared, &c.reports.local} {
			some, at, err := folder.list(ctx, command)
			if err != nil && err == ctx.Err() {
				return nil, err
			}
			if err != nil {
				return nil, c.layerError(op, &index.LayerError{Err: err}, layers{all: []layer{{name: at}}}, "reports", "Reports")
			}
			all = append(all, some...)
		}
		return all, nil
	})
	if err != nil {
		return nil, c.methodError(op, err)
	}
	slices.SortFunc(all, newestFirst)
	return all, nil
}

func newestFirst(a, b ReportInfo) int {
	local := func(r ReportInfo) int {
		if r.Local {
			return 1
		}
		return 0
	}
	return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.Version, a.Version), strings.Compare(a.Name, b.Name), cmp.Compare(local(a), local(b)))
}

// list returns the reports of a command in the folder. With an error it returns
// which folder is concerned.
func (f *reportFolder) list(ctx context.Context, command string) (all []ReportInfo, at string, err error) {
	top, err := f.open()
	if top == nil {
		return nil, f.Name, err
	}
	defer top.Close()
	stem := reportStem(command)
	at = path.Join(f.Name, stem)
	dir, err := openIfThere(func() (*confine.Dir, error) { return top.OpenDir(stem) })
	if dir == nil {
		return nil, at, err
	}
	defer dir.Close()
	err = f.files(ctx, dir, stem, func(file string, r ReportInfo) error {
		info, err := dir.Lstat(file)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode.IsRegular() {
			return nil
		}
		r.Command, r.Size = command, info.Size
		all = append(all, r)
		return err
	})
	return all, at, err
}

// open opens the folder, which is nil where it is missing or not configured.
func (f *reportFolder) open() (*confine.Dir, error) {
	if f.FS == nil {
		return nil, nil
	}
	return openIfThere(func() (*confine.Dir, error) { return f.FS.OpenDir(f.Dir) })
}

// openIfThere returns nil for a folder that does not exist.
func openIfThere(open func() (*confine.Dir, error)) (*confine.Dir, error) {
	dir, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return dir, nil
}

// files calls visit for each file of a command's folder that is a report of this
// kind by its name, in no order. Links and folders are left out where the
// filesystem tells types as it lists.
func (f *reportFolder) files(ctx context.Context, dir *confine.Dir, stem string, visit func(file string, r ReportInfo) error) error {
	return dir.Each(ctx, func(file string, typ fs.FileMode) error {
		r, ok := parseReportFile(stem, file)
		if !ok || r.Local != f.local || typ != 0 && typ != confine.TypeUnknown {
			return nil
		}
		r.Path = f.FS.Path(path.Join(f.Dir, stem, file))
		return visit(file, r)
	})
}
