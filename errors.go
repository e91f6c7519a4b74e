package toolshelf

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// A Code names a kind of failure. Codes are part of the API and do not change
// between versions. Tools report codes to a model.
type Code string

// An Error is the type of all errors that this package creates. The error of a
// context is returned unchanged, never wrapped in an Error, except that
// [ErrSearchTimeout] wraps the error of a deadline.
type Error struct {
	Code    Code     // the kind of failure; never empty
	Op      string   // the method or function that failed, such as "List" or "mcpadapter.New"; empty in the Err… sentinels
	Path    string   // the file, directory or name, as given by the caller or relative to its root; may be empty
	Message string   // the problem and its solution, without Op and Code
	Names   []string // the candidates of [ErrAmbiguousName]; nil in all other errors
	Err     error    // the cause, for errors.Is and errors.As; may be nil. The method Error omits the cause, because its text may contain a host path
}

// The codes of errors. The Err… sentinel of each code documents the failure.
const (
	CodeInvalidOption        Code = "INVALID_OPTION"
	CodeInvalidPage          Code = "INVALID_PAGE"
	CodeInvalidPageSize      Code = "INVALID_PAGE_SIZE"
	CodeInvalidCursor        Code = "INVALID_CURSOR"
	CodeDirectoryNotFound    Code = "DIRECTORY_NOT_FOUND"
	CodePermissionDenied     Code = "PERMISSION_DENIED"
	CodeInvalidCommandName   Code = "INVALID_COMMAND_NAME"
	CodeCommandNotFound      Code = "COMMAND_NOT_FOUND"
	CodeAmbiguousName        Code = "AMBIGUOUS_NAME"
	CodeFileRead             Code = "FILE_READ_ERROR"
	CodeFileTooLarge         Code = "FILE_TOO_LARGE"
	CodeInvalidSkillName     Code = "INVALID_SKILL_NAME"
	CodeSkillNotFound        Code = "SKILL_NOT_FOUND"
	CodeInvalidAgentName     Code = "INVALID_AGENT_NAME"
	CodeAgentNotFound        Code = "AGENT_NOT_FOUND"
	CodeOutsideRoot          Code = "OUTSIDE_ROOT"
	CodeNotADirectory        Code = "NOT_A_DIRECTORY"
	CodeNotFound             Code = "NOT_FOUND"
	CodeInvalidSort          Code = "INVALID_SORT"
	CodeInvalidPattern       Code = "INVALID_PATTERN"
	CodeInvalidQuery         Code = "INVALID_QUERY"
	CodeSearchTimeout        Code = "SEARCH_TIMEOUT"
	CodeSearchFailed         Code = "SEARCH_FAILED"
	CodeEmptyContent         Code = "EMPTY_CONTENT"
	CodeSizeLimitExceeded    Code = "SIZE_LIMIT_EXCEEDED"
	CodeInvalidReportName    Code = "INVALID_REPORT_NAME"
	CodeDirectoryPreparation Code = "DIRECTORY_PREPARATION_FAILED"
	CodeFileWrite            Code = "FILE_WRITE_FAILED"
	CodeLocalSave            Code = "LOCAL_SAVE_FAILED"
	CodeNotText              Code = "NOT_TEXT"
	CodeInvalidArguments     Code = "INVALID_ARGUMENTS"
	CodeInvalidDirective     Code = "INVALID_DIRECTIVE"
	CodeClosed               Code = "CLOSED"
)

// The sentinels, one per Code, for use with errors.Is. A matching error has the
// same Code and explains the failure in its Message.
var (
	ErrInvalidOption        = &Error{Code: CodeInvalidOption}        // the value of an option is invalid
	ErrInvalidPage          = &Error{Code: CodeInvalidPage}          // Page.Number is negative
	ErrInvalidPageSize      = &Error{Code: CodeInvalidPageSize}      // Page.Size is outside 0 to 100
	ErrInvalidCursor        = &Error{Code: CodeInvalidCursor}        // a cursor is from another list, is altered, or comes with a page number
	ErrDirectoryNotFound    = &Error{Code: CodeDirectoryNotFound}    // the directory, or the root, does not exist
	ErrPermissionDenied     = &Error{Code: CodePermissionDenied}     // no permission to read a directory, or a file with ReadFile or Grep
	ErrInvalidCommandName   = &Error{Code: CodeInvalidCommandName}   // no command can have the name
	ErrCommandNotFound      = &Error{Code: CodeCommandNotFound}      // no command has the name
	ErrAmbiguousName        = &Error{Code: CodeAmbiguousName}        // several plugins have the name; Error.Names has the full names
	ErrFileRead             = &Error{Code: CodeFileRead}             // a file exists but cannot be read
	ErrFileTooLarge         = &Error{Code: CodeFileTooLarge}         // a file is larger than WithMaxFileSize allows
	ErrInvalidSkillName     = &Error{Code: CodeInvalidSkillName}     // no skill can have the name
	ErrSkillNotFound        = &Error{Code: CodeSkillNotFound}        // no skill has the name
	ErrInvalidAgentName     = &Error{Code: CodeInvalidAgentName}     // no agent can have the name
	ErrAgentNotFound        = &Error{Code: CodeAgentNotFound}        // no agent has the name
	ErrOutsideRoot          = &Error{Code: CodeOutsideRoot}          // a path leads out of the root, or through a link that WithSymlinks does not allow
	ErrNotADirectory        = &Error{Code: CodeNotADirectory}        // the path of a directory names a file
	ErrNotFound             = &Error{Code: CodeNotFound}             // the file does not exist
	ErrInvalidSort          = &Error{Code: CodeInvalidSort}          // the sort key is not name, size or modified
	ErrInvalidPattern       = &Error{Code: CodeInvalidPattern}       // a glob, or a pattern of Grep, is malformed or too large
	ErrInvalidQuery         = &Error{Code: CodeInvalidQuery}         // the search query is empty or too long, or the limit is out of range
	ErrSearchTimeout        = &Error{Code: CodeSearchTimeout}        // the search took too long
	ErrSearchFailed         = &Error{Code: CodeSearchFailed}         // the engine of WithSearcher failed
	ErrEmptyContent         = &Error{Code: CodeEmptyContent}         // the report is empty
	ErrSizeLimitExceeded    = &Error{Code: CodeSizeLimitExceeded}    // the report exceeds 10 MiB, or arguments make a text too long
	ErrInvalidReportName    = &Error{Code: CodeInvalidReportName}    // no report can have the name
	ErrDirectoryPreparation = &Error{Code: CodeDirectoryPreparation} // the report directory is not configured, or cannot be created or used
	ErrFileWrite            = &Error{Code: CodeFileWrite}            // a shared report cannot be written
	ErrLocalSave            = &Error{Code: CodeLocalSave}            // a local report cannot be written
	ErrNotText              = &Error{Code: CodeNotText}              // the file is not text, such as an image
	ErrInvalidArguments     = &Error{Code: CodeInvalidArguments}     // a text cannot be rendered without another argument
	ErrInvalidDirective     = &Error{Code: CodeInvalidDirective}     // a directive of a text has no end
	ErrClosed               = &Error{Code: CodeClosed}               // the catalog is closed
)

// Error returns the package name, the method, the message and the code, as in
// "toolshelf: List: page is -1; pages are numbered from 1 (INVALID_PAGE)".
// Error omits the method if Op is empty. Without a Message, the text ends with the
// code, as in "toolshelf: INVALID_PAGE". Show Message instead of Error to a reader
// who does not know the package, such as a model.
func (e *Error) Error() string {
	s := "toolshelf: "
	if e.Op != "" {
		s += e.Op + ": "
	}
	if e.Message == "" {
		return s + string(e.Code)
	}
	return s + e.Message + " (" + string(e.Code) + ")"
}

// MarshalJSON returns the error as a JSON object with the members "code" and
// "message", as in {"code":"INVALID_PAGE","message":"page is -1; pages are
// numbered from 1"}. Both members are always present. The object omits Op, Path
// and the cause, because they may contain a host path. The results of the tools of
// package mcpadapter contain errors in the same form.
func (e *Error) MarshalJSON() ([]byte, error) {
	b := escape.AppendJSON([]byte(`{"code":`), string(e.Code))
	b = escape.AppendJSON(append(b, `,"message":`...), e.Message)
	return append(b, '}'), nil
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the sentinel of e's Code. An error with more fields
// than a Code matches only itself.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Op == "" && t.Path == "" && t.Message == "" && t.Err == nil && t.Names == nil
}

// CodeOf returns the Code of the first [Error] in err's chain. For nil and for
// errors of other packages, CodeOf returns "".
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// inOp sets the Op of an *Error to the method that the caller called. Until then,
// Op may name a method called internally.
func inOp(op string, err error) error {
	if e, ok := err.(*Error); ok && e.Op != op {
		named := *e
		named.Op = op
		return &named
	}
	return err
}

// quote makes a caller's text safe for a message: a single line without control
// characters.
func quote(s string) string { return strconv.Quote(s) }

// invalidOption returns an error without Op; see inOp.
func invalidOption(message string) error {
	return &Error{Code: CodeInvalidOption, Message: message}
}

// unknownName returns the error for a name that no shown entry has.
func (c *collection) unknownName(op, name, stem string, shown *index.Snapshot) error {
	return &Error{Code: c.notFound, Op: op, Path: name, Message: "there is no " + c.noun + " " + quote(stem) + "; " + c.hint(shown.Entries, stem)}
}

// ambiguousName returns the error for a name that several plugins have.
func (c *collection) ambiguousName(op, name string, candidates []*index.Entry) error {
	e := &Error{Code: CodeAmbiguousName, Op: op, Path: name}
	for _, candidate := range candidates {
		e.Names = append(e.Names, candidate.Name)
	}
	shown := make([]string, min(len(e.Names), maxShownNames))
	for i := range shown {
		shown[i] = quote(e.Names[i])
	}
	e.Message = fmt.Sprintf("%d %ss of plugins have the name %s; write %s", len(e.Names), c.noun, quote(name), strings.Join(shown, " or "))
	if more := len(e.Names) - len(shown); more > 0 {
		e.Message += fmt.Sprintf(" or one of %d other names", more)
	}
	return e
}

// maxShownNames is the number of candidates in a message.
const maxShownNames = 5

// lookupError returns the error for a name if the directories cannot be scanned.
func (c *collection) lookupError(op, name, stem string, err error) error {
	failed := c.layerError(op, err)
	if CodeOf(failed) != CodeDirectoryNotFound {
		return failed
	}
	reason := rootNotFound(op, c.root, failed).Message
	var at *index.LayerError
	if errors.As(err, &at) && !at.NoRoot {
		reason = "no directory of " + c.noun + "s exists" + c.missingReason(at) + "; check the configuration"
	}
	return &Error{Code: c.notFound, Op: op, Path: name, Message: "there is no " + c.noun + " " + quote(stem) + ", because " + reason, Err: failed}
}

// fileError describes why the file of an entry cannot be read. An *Error of a reader
// stays.
func (c *collection) fileError(op, name string, entry *index.Entry, err error) error {
	if CodeOf(err) != "" {
		return err
	}
	file := c.file + " of " + c.noun + " " + quote(entry.Name)
	if c.LayerOf(entry).Files {
		file = "the file of " + c.noun + " " + quote(entry.Name)
	}
	e := &Error{Code: CodeFileRead, Op: op, Path: name, Err: err,
		Message: "cannot read " + file + " (" + escape.Reason(err) + "); " + c.LayerOf(entry).ReadAdvice(err)}
	switch {
	case errors.Is(err, fs.ErrClosed):
		return closedMeanwhile(op)
	case errors.As(err, new(*index.Rejection)):
		e.Message = file + " is rejected by the rules of WithStrict: " + err.Error()
	case errors.Is(err, index.ErrTooLarge):
		e.Code, e.Message = CodeFileTooLarge, file+" is larger than allowed; shorten the file, or raise the limit with WithMaxFileSize"
	case errors.Is(err, index.ErrChanging):
		e.Message = "the files of " + c.noun + " " + quote(entry.Name) + " change while they are read; try again"
	case errors.Is(err, index.ErrNoSkillFile):
		e.Code, e.Message = c.notFound, "the directory "+quote(entry.Name)+" has no SKILL.md; add a SKILL.md with a name and a description in its frontmatter"
	case errors.Is(err, fs.ErrNotExist) && entry.Broken() != nil:
		e.Message = file + " is a broken link; replace the link by the file"
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Message = c.notFound, c.noun+" "+quote(entry.Name)+" was removed a moment ago; list the "+c.noun+"s for the names"
	}
	return e
}

// layerError converts an error of the index to an *Error. The contract of
// list_skills prescribes the texts for missing and unreadable directories.
func (c *collection) layerError(op string, err error) error {
	if err == nil {
		return nil
	}
	var failed *index.LayerError
	switch {
	case errors.Is(err, fs.ErrClosed) && !errors.As(err, &failed):
		return closedMeanwhile(op)
	case !errors.As(err, &failed):
		return err // error of the context
	case failed.NoRoot:
		return rootNotFound(op, c.root, failed)
	}
	content := c.noun + "s"
	if c.layers[failed.Layer].Plugins != nil {
		content = "plugins"
	}
	e := directoryError(op, c.layers[failed.Layer].Name, content, failed.Err, c.Layer(failed.Layer))
	if e.Code == CodeDirectoryNotFound {
		e.Message += c.missingReason(failed)
	}
	return e
}

// missingReason returns the reason of a store for a missing directory, in parentheses. If the
// error says no more than fs.ErrNotExist, missingReason returns "".
func (c *collection) missingReason(failed *index.LayerError) string {
	cause := escape.Cause(failed.Err)
	_, system := cause.(syscall.Errno)
	if c.layers[failed.Layer].FS == nil || system || cause == fs.ErrNotExist {
		return ""
	}
	return " (" + escape.Name(cause.Error()) + ")"
}

// rootNotFound returns the error of every method if the root does not exist or is a file.
func rootNotFound(op, root string, err error) *Error {
	if errors.Is(err, confine.ErrNotDir) {
		return &Error{Code: CodeNotADirectory, Op: op, Path: root, Err: err, Message: "root " + quote(root) + " is a file; pass a directory to WithRoot"}
	}
	return &Error{Code: CodeDirectoryNotFound, Op: op, Path: root, Err: err, Message: "root " + quote(root) + " does not exist; check the path given to WithRoot"}
}

// directoryError returns the error for a directory that cannot be read. The contract of list_skills
// fixes the first two texts. The content of the directory is "commands", "skills", "agents",
// "plugins" or "reports". A directory of reports has no layer.
func directoryError(op, name, content string, err error, layer index.Layer) *Error {
	e := &Error{Op: op, Path: name, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Message = CodeDirectoryNotFound, strings.ToUpper(content[:1])+content[1:]+" folder not found at path: "+name
	case errors.Is(err, fs.ErrPermission):
		e.Code, e.Message = CodePermissionDenied, "Permission denied reading "+content+" folder"
	case errors.Is(err, confine.ErrNotDir):
		e.Code, e.Message = CodeNotADirectory, "the directory "+quote(name)+" of "+content+" is a file; name another directory in the options"
	case errors.Is(err, confine.ErrEscape), errors.Is(err, confine.ErrSymlink):
		e.Code, e.Message = CodeOutsideRoot, "the directory "+quote(name)+" of "+content+" is behind a link that is not followed; replace the link by the directory, or see WithSymlinks"
	default:
		e.Code, e.Message = CodeFileRead, "cannot read the directory "+quote(name)+" of "+content+" ("+escape.Reason(err)+"); "+layer.ReadAdvice(err)
	}
	return e
}
