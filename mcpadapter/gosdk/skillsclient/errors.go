package skillsclient

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// The kinds of an [Error]. Compare with errors.Is.
var (
	// ErrNotSupported means that the server does not declare the extension
	// io.modelcontextprotocol/skills.
	ErrNotSupported = errors.New("skills not supported")
	// ErrInvalidLabel means that a label cannot be used, or that another Server has
	// the label.
	ErrInvalidLabel = errors.New("invalid label")
	// ErrInvalidList means that the pages of skills/list do not form a list. In
	// Listing.Rejected, ErrInvalidList means that the list is too large and incomplete.
	ErrInvalidList = errors.New("invalid list")
	// ErrInvalidEntry means that an entry does not follow the specification.
	ErrInvalidEntry = errors.New("invalid entry")
	// ErrTooLarge means that a skill has more than 512 files, more than 16 MiB, or more
	// frontmatter than a catalog reads (64 KiB).
	ErrTooLarge = errors.New("skill too large")
	// ErrDynamic means that the server publishes no digests of the skill, so that the
	// files cannot be verified.
	ErrDynamic = errors.New("skill without digests")
	// ErrNotFound means that the server does not serve the skill or the file.
	ErrNotFound = errors.New("not found")
	// ErrClosed means that the Server is closed.
	ErrClosed = errors.New("server closed")

	// ErrVerification means that a file differs from the entry of the skill. The errors
	// below match ErrVerification.
	ErrVerification = errors.New("verification failed")
	// ErrSize means that a file does not have the size in the entry.
	ErrSize = verification("size")
	// ErrDigest means that a file does not have the digest in the entry.
	ErrDigest = verification("digest")
	// ErrFrontmatter means that SKILL.md does not have the frontmatter in the entry.
	ErrFrontmatter = verification("frontmatter")
	// ErrUnlisted means that the entry does not list the file.
	ErrUnlisted = verification("unlisted file")
	// ErrContents means that the result of resources/read is not the content of the file.
	ErrContents = verification("contents")
)

func verification(what string) error { return fmt.Errorf("%w: %s", ErrVerification, what) }

// An Error describes why a skill, a file or a list cannot be used. The error matches
// its Kind and its Err.
type Error struct {
	Server  string // the label of the server
	URI     string // of the skill or the file; "" for a list
	Kind    error  // one of the errors above; nil if only Err describes the problem
	Message string // the problem and the next step
	Err     error  // the cause; nil if Kind is the cause
}

// Error returns the label, the URI and the message in one line.
func (e *Error) Error() string {
	where := "skillsclient: server " + strconv.Quote(e.Server)
	if e.URI != "" {
		where += ": " + quote(e.URI)
	}
	text := where + ": " + e.Message
	if e.Err != nil {
		text += ": " + escape.Name(cut(e.Err.Error()))
	}
	return text
}

// Unwrap returns Kind and Err.
func (e *Error) Unwrap() []error {
	var all []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// A layerError is an Error as the cause of an *fs.PathError, which names the file. A catalog
// hides an error text that contains a path, so the text contains no separator.
type layerError struct{ err *Error }

func (e layerError) Error() string {
	message := e.err.Message
	if strings.ContainsAny(message, `/\`) && e.err.Kind != nil {
		message = e.err.Kind.Error()
	}
	return "server " + e.err.Server + ": " + message
}

func (e layerError) Unwrap() error { return e.err }

// Advice returns the next step, which a catalog appends to its message instead of the next
// step for a store that does not answer.
func (e layerError) Advice() string {
	switch e.err.Kind {
	case nil:
		return "check the connection to the server"
	case ErrClosed:
		return "call Host.Server again"
	case ErrNotFound:
		return "list the skills again"
	case ErrSize, ErrDigest, ErrFrontmatter, ErrUnlisted, ErrContents:
		return "do not use the skill until its files match its entry"
	}
	return "ask the operator of the server to correct the skills"
}

// pathError returns the error of a layer for a name.
func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: layerCause(err)}
}

func layerCause(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return layerError{e}
	}
	return err
}

// failf returns an Error without a place.
func failf(kind error, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// quote quotes text of a server, cut to a length that fits into a line.
func quote(text string) string {
	return strconv.Quote(cut(text))
}

func cut(text string) string { return escape.Cut(text, 300) }
