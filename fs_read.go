package toolshelf

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/shown"
	"github.com/toolshelf-go/toolshelf/internal/text"
	"github.com/toolshelf-go/toolshelf/internal/textfile"
)

// A FileText is the text of a file, or of some lines of a file.
type FileText struct {
	Path       string `json:"path"`                  // relative to the root
	Text       string `json:"text"`                  // in UTF-8, with the line breaks of the file, without a byte order mark
	First      int    `json:"first"`                 // first line of Text, from 1; negative if counted from the end, as in Lines; 0 if Text is empty
	Last       int    `json:"last"`                  // last line of Text, like First
	Total      int    `json:"total"`                 // number of lines of the file; -1 if unknown
	Size       int64  `json:"size"`                  // size of the file in bytes
	Truncated  bool   `json:"truncated"`             // Text ends before the last of the requested lines; for more of the file see NextLine
	NextLine   int    `json:"next_line,omitempty"`   // line to continue with, like First; 0 at the end of the file
	NextColumn int64  `json:"next_column,omitempty"` // number of bytes of the line NextLine before the end of Text, for Column; 0 unless Text ends within a line
	Column     int64  `json:"column,omitempty"`      // number of bytes of the line First before Text
	LineEnding string `json:"line_ending,omitempty"` // of Text: "lf", "crlf", "mixed" (both), "cr", or "" if Text has no line break
	Encoding   string `json:"encoding"`              // of the file: "utf-8", "utf-16le" or "utf-16be"
	BOM        bool   `json:"bom,omitempty"`         // the file begins with a byte order mark
	Invalid    int    `json:"invalid,omitempty"`     // number of U+FFFD in Text that replace an invalid byte or an invalid unit of UTF-16
	Changed    bool   `json:"changed,omitempty"`     // the file changed during the call; Text may have parts of both versions
}

// A ReadOption is an option for one call of ReadFile. If an option is repeated, the last
// value applies. A nil ReadOption has no effect.
type ReadOption func(*readOptions)

type readOptions struct {
	text.Request
	optionError
}

const (
	defaultReadBytes = 256 << 10
	maxReadBytes     = 256 << 20
)

// Lines selects the lines from the line from to the line to, including both. Lines are
// numbered from 1. A negative number counts from the end: -1 is the last line. 0 is the first
// line as from, and the last line as to: Lines(-20, 0) selects the last 20 lines.
//
// A range beyond the end selects the lines that exist. If from is after to and both have the
// same sign, the error is [ErrInvalidOption].
func Lines(from, to int) ReadOption {
	return func(o *readOptions) {
		if from > to && (from > 0 && to > 0 || from < 0 && to < 0) {
			o.fail(invalidOption("Lines: line " + strconv.Itoa(from) + " is after line " + strconv.Itoa(to) + "; give the first line first"))
		}
		// -math.MaxInt is the smallest number with an opposite.
		o.From, o.To = max(from, -math.MaxInt), max(to, -math.MaxInt)
	}
}

// Around selects the block of lines that contains a line, such as the function or the type around a
// match of Grep. The block is the innermost block that does not begin with a control statement such
// as "if". Indents and brackets determine the blocks, in any language. A line outside all blocks is
// part of a paragraph.
//
// If the block has more than MaxBytes, the text may begin a few lines before the line. Around
// considers the 2,000 lines before and after the line. A line below 1, and Lines or Column beside
// Around, are [ErrInvalidOption].
func Around(line int) ReadOption {
	return func(o *readOptions) {
		if line < 1 {
			o.fail(invalidOption("Around: line " + strconv.Itoa(line) + "; use 1 or more"))
		}
		o.Around = line
	}
}

// Column skips the first n bytes of the first line, to continue a line that is longer than
// MaxBytes: use Lines(t.NextLine, 0) and Column(t.NextColumn). Column counts the bytes of the
// file. If the line is shorter, Column skips the line. A number within a character leads to
// U+FFFD at the beginning of the text. A negative n is [ErrInvalidOption].
func Column(n int64) ReadOption {
	return func(o *readOptions) {
		if n < 0 {
			o.fail(invalidOption("Column: " + strconv.FormatInt(n, 10) + " bytes; use 0 or more"))
		}
		o.Column = n
	}
}

// MaxBytes sets the maximum size of FileText.Text in bytes, from 1 to 256 MiB. The value 0
// means the default, 256 KiB. A value out of range is [ErrInvalidOption].
//
// ReadFile omits the lines that do not fit, and sets Truncated. If the first line does not
// fit, ReadFile returns the beginning of the line: whole characters and at least one, even if
// the character is larger than n.
func MaxBytes(n int) ReadOption {
	return func(o *readOptions) {
		switch {
		case n < 0 || n > maxReadBytes:
			o.fail(invalidOption("MaxBytes: " + strconv.Itoa(n) + " bytes; use 1 to " + strconv.Itoa(maxReadBytes) + ", or 0 for the default"))
		case n == 0:
			n = defaultReadBytes
		}
		o.Max = n
	}
}

// ReadFile returns the text of a file as UTF-8, or a part of the text: without options the first
// 256 KiB, in whole lines if the first line fits. [Lines], [Around] and [MaxBytes] select other
// lines. The options Lines(t.NextLine, 0) and Column(t.NextColumn) return the next page. The limit
// of [WithMaxFileSize] does not apply.
//
// ReadFile accepts the paths of [Catalog.ListDir], follows the links that [WithSymlinks] allows,
// and reads regular files only. ReadFile decodes UTF-16 with a byte order mark. A file is not text
// if its first 8,000 bytes contain a NUL.
//
// ReadFile returns [ErrNotFound], [ErrOutsideRoot], [ErrNotText], [ErrPermissionDenied],
// [ErrInvalidOption], [ErrDirectoryNotFound] if the root does not exist, and [ErrFileRead] for a
// directory, a special file or a failure of the filesystem. The document docs/methods.md has the
// details and the cost.
func (c *Catalog) ReadFile(ctx context.Context, path string, opts ...ReadOption) (FileText, error) {
	o := readOptions{Request: text.Request{Max: defaultReadBytes}}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if o.Around > 0 && (o.From != 0 || o.To != 0 || o.Column != 0) {
		o.fail(invalidOption("Around: Lines and Column select other lines; omit these options"))
	}
	return run(ctx, fileCall{catalog: c, op: "ReadFile", action: EventRead, path: path,
		lines: o.Request, dirOptions: dirOptions{optionError: o.optionError}}, FileText{})
}

func (t *FileText) read(ctx context.Context, f *fileCall) error {
	c := f.catalog
	page, err := textfile.Reader{FS: c.root, AnyOffset: c.at.OnOS, Lines: &c.caches.lines}.Read(ctx, f.name, f.lines)
	if err == nil {
		*t = FileText(page)
		return nil
	}
	var notText *text.NotTextError
	if errors.As(err, &notText) {
		return &Error{Code: CodeNotText, Path: f.path, Err: err,
			Message: "'" + escape.Path(f.name) + "' is not text: " + notText.MediaType + ", " + shown.Size(page.Size) + "; use a tool for this type of file"}
	}
	return err
}

// MaxBytes limits the text.
func (t *FileText) fit(_ context.Context, f *fileCall) error {
	f.bytes = len(t.Text)
	return nil
}

// String returns the lines as text for a model, in the format of the tool read_file
// (docs/tools.md): the number of each line, a tab and the line, and after the lines the number of
// the next line, the Format if the file is not plain UTF-8, and warnings. Each line of the file is
// one line: control characters except the tab, line and paragraph separators, format and invisible
// characters are written as in a Go string. A backslash stays as in the file.
func (t FileText) String() string { return shown.FileText(t).String() }
