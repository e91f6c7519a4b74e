package toolshelf

import (
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// A Code names one kind of failure. Codes are part of the API: they are what
// a tool reports to a model, and they do not change between versions.
type Code string

// An Error is every error that this package makes itself. A context's error
// is returned as it is, never wrapped in an Error.
type Error struct {
	Code    Code   // what kind of failure; never empty
	Op      string // the method or function that failed, such as "List" or "mcpadapter.New"; empty in the Err… sentinels
	Path    string // the file, folder or name concerned, as the caller gave it or relative to its root; may be empty
	Message string // what is wrong and what to do about it, without Op and Code
	Err     error  // the cause, for errors.Is and errors.As; may be nil. Its text is not part of Error's, since it may hold a host path
}

// Codes of errors, one for each Err… sentinel, which documents the failure.
const (
	CodeInvalidOption        Code = "INVALID_OPTION"
	CodeInvalidPage          Code = "INVALID_PAGE"
	CodeInvalidPageSize      Code = "INVALID_PAGE_SIZE"
	CodeInvalidCursor        Code = "INVALID_CURSOR"
	CodeDirectoryNotFound    Code = "DIRECTORY_NOT_FOUND"
	CodePermissionDenied     Code = "PERMISSION_DENIED"
	CodeInvalidCommandName   Code = "INVALID_COMMAND_NAME"
	CodeCommandNotFound      Code = "COMMAND_NOT_FOUND"
	CodeFileRead             Code = "FILE_READ_ERROR"
	CodeFileTooLarge         Code = "FILE_TOO_LARGE"
	CodeInvalidSkillName     Code = "INVALID_SKILL_NAME"
	CodeSkillNotFound        Code = "SKILL_NOT_FOUND"
	CodeOutsideRoot          Code = "OUTSIDE_ROOT"
	CodeNotADirectory        Code = "NOT_A_DIRECTORY"
	CodeNotFound             Code = "NOT_FOUND"
	CodeInvalidSort          Code = "INVALID_SORT"
	CodeInvalidPattern       Code = "INVALID_PATTERN"
	CodeInvalidQuery         Code = "INVALID_QUERY"
	CodeSearchTimeout        Code = "SEARCH_TIMEOUT"
	CodeEmptyContent         Code = "EMPTY_CONTENT"
	CodeSizeLimitExceeded    Code = "SIZE_LIMIT_EXCEEDED"
	CodeInvalidReportName    Code = "INVALID_REPORT_NAME"
	CodeDirectoryPreparation Code = "DIRECTORY_PREPARATION_FAILED"
	CodeFileWrite            Code = "FILE_WRITE_FAILED"
	CodeLocalSave            Code = "LOCAL_SAVE_FAILED"
	CodeClosed               Code = "CLOSED"
)

// The sentinels, one for each Code. Use them with errors.Is; an error that
// matches carries the same Code and tells more in its Message.
var (
	ErrInvalidOption        = &Error{Code: CodeInvalidOption}        // New: an option's value cannot be used
	ErrInvalidPage          = &Error{Code: CodeInvalidPage}          // Page.Number is negative
	ErrInvalidPageSize      = &Error{Code: CodeInvalidPageSize}      // Page.Size is not within 0 to 100
	ErrInvalidCursor        = &Error{Code: CodeInvalidCursor}        // a cursor that this list did not make, or one beside a page number
	ErrDirectoryNotFound    = &Error{Code: CodeDirectoryNotFound}    // no such folder
	ErrPermissionDenied     = &Error{Code: CodePermissionDenied}     // a folder that may not be read
	ErrInvalidCommandName   = &Error{Code: CodeInvalidCommandName}   // a name that no command can have
	ErrCommandNotFound      = &Error{Code: CodeCommandNotFound}      // no command of that name
	ErrFileRead             = &Error{Code: CodeFileRead}             // a file that is there and cannot be read
	ErrFileTooLarge         = &Error{Code: CodeFileTooLarge}         // a file of more bytes than WithMaxFileSize allows
	ErrInvalidSkillName     = &Error{Code: CodeInvalidSkillName}     // a name that no skill can have
	ErrSkillNotFound        = &Error{Code: CodeSkillNotFound}        // no skill of that name
	ErrOutsideRoot          = &Error{Code: CodeOutsideRoot}          // a path that leads out of the root; the same whether or not something is there
	ErrNotADirectory        = &Error{Code: CodeNotADirectory}        // a file where a folder is needed
	ErrNotFound             = &Error{Code: CodeNotFound}             // no such file
	ErrInvalidSort          = &Error{Code: CodeInvalidSort}          // a sort key other than name, size and modified
	ErrInvalidPattern       = &Error{Code: CodeInvalidPattern}       // a malformed glob
	ErrInvalidQuery         = &Error{Code: CodeInvalidQuery}         // a search for nothing, or for too much
	ErrSearchTimeout        = &Error{Code: CodeSearchTimeout}        // a search that took too long
	ErrEmptyContent         = &Error{Code: CodeEmptyContent}         // a report without a byte
	ErrSizeLimitExceeded    = &Error{Code: CodeSizeLimitExceeded}    // a report of more than 10 MiB, or arguments that make a text too long
	ErrInvalidReportName    = &Error{Code: CodeInvalidReportName}    // a name that no report can have
	ErrDirectoryPreparation = &Error{Code: CodeDirectoryPreparation} // a folder for reports that is not configured, or cannot be made or used
	ErrFileWrite            = &Error{Code: CodeFileWrite}            // a shared report that cannot be written
	ErrLocalSave            = &Error{Code: CodeLocalSave}            // a local report that cannot be written
	ErrClosed               = &Error{Code: CodeClosed}               // a call after Close
)

// Error returns the package name, the method, the message and the code, as in
// "toolshelf: List: page is -1; pages are numbered from 1 (INVALID_PAGE)".
// The method is omitted if Op is empty. Without a Message, the code follows the
// method, as in "toolshelf: INVALID_PAGE". Show Message instead of Error to a
// reader who does not know the package, such as a model.
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

// Is reports whether target is the sentinel of e's Code. Two errors that each
// say more than their Code are equal only if they are the same error.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && *t == Error{Code: e.Code}
}

// CodeOf returns the Code of the first Error in err's chain, and "" for nil
// and for an error that is not this package's.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// inOp names the method that was called in an error of ours, which may name
// one that it called itself.
func inOp(op string, err error) error {
	if e, ok := err.(*Error); ok && e.Op != op {
		named := *e
		named.Op = op
		return &named
	}
	return err
}

// quote makes a caller's text safe to stand in a message: one line, without
// control characters.
func quote(s string) string { return strconv.Quote(s) }

// suggestion returns the end of a "not found" message: the entry with the most
// similar name, or else the advice.
func suggestion(entries []*index.Entry, name, advice string) string {
	candidates := func(yield func(string) bool) {
		for _, e := range entries {
			// A removed command may still be in the snapshot.
			if e.Name != name && !yield(e.Name) {
				return
			}
		}
	}
	// For a name of up to three letters, only other letter cases are similar.
	nearest := names.Nearest(name, candidates, min(utf8.RuneCountInString(name)/4, 2), nil)
	if nearest == "" {
		return advice
	}
	return "did you mean " + quote(nearest) + "?"
}
