package toolshelf

import (
	"cmp"
	"context"
	"fmt"

	"github.com/toolshelf-go/toolshelf/internal/budget"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/grep"
	"github.com/toolshelf-go/toolshelf/internal/listing"
	"github.com/toolshelf-go/toolshelf/internal/shown"
)

// TextMatches are the results of Grep.
type TextMatches struct {
	Path         string      `json:"path"`                   // the searched directory, relative to the root, ending in a slash; "./" for the root; or the searched file
	Pattern      string      `json:"pattern"`                // as given
	Matches      []TextMatch `json:"matches"`                // in path order, and by line within a file; never null
	Total        int         `json:"total"`                  // number of matching lines, including those beyond Limit and Budget
	Files        int         `json:"files"`                  // number of files with matching lines, including those beyond Limit
	Searched     int         `json:"searched"`               // number of searched files, excluding Binary and Skipped
	Binary       int         `json:"binary,omitempty"`       // number of files that are not text
	Skipped      int         `json:"skipped,omitempty"`      // number of unreadable directories and files
	Ignored      int         `json:"ignored,omitempty"`      // number of entries omitted by Gitignore, excluding entries below omitted directories
	Dependencies int         `json:"dependencies,omitempty"` // number of directories not searched because of SkipDependencies
	Vanished     int         `json:"vanished,omitempty"`     // number of entries removed during the call
	LongLines    int         `json:"long_lines,omitempty"`   // number of lines larger than 1 MiB; Grep searches the first 1 MiB
	Limits       []string    `json:"limits,omitempty"`       // the limits beyond which there are matching lines, such as "100 lines" or "8000 characters": of Limit and Budget, the smaller
	Hint         string      `json:"hint,omitempty"`         // if no file matches the globs of InFiles: a glob that matches a file, the glob without the repeated path, or why a glob matches none, in one line; empty if unknown
	Warnings     []string    `json:"warnings,omitempty"`     // information that could not be read, one line each
}

// A TextMatch is a line that matches.
type TextMatch struct {
	Path       string   `json:"path"`                  // of the file, relative to the root
	Line       int      `json:"line"`                  // from 1
	Column     int64    `json:"column"`                // number of bytes of the line before the first match, for ReadFile with Column
	Text       string   `json:"text"`                  // the line in UTF-8, without its line break; of a line of more than 500 characters, 500 characters around the match
	TextColumn int64    `json:"text_column,omitempty"` // number of bytes of the line before Text; more than 0 if Text lacks the beginning of the line
	Truncated  bool     `json:"truncated,omitempty"`   // Text lacks the end of the line
	Before     []string `json:"before,omitempty"`      // the lines before the line, for ContextLines
	After      []string `json:"after,omitempty"`       // the lines after the line, for ContextLines
	More       int      `json:"more,omitempty"`        // on the last match of a file: number of further matching lines of the file, not in Matches
}

// defaultGrepLimit is the limit of lines without Limit.
const defaultGrepLimit = 1000

// Grep returns the lines of text files that match a pattern. The path is a directory, whose files
// Grep searches at any depth, or a file.
//
// The pattern is a regular expression in the syntax of package [regexp] (RE2). With Literal, the
// pattern is the text to find. Grep matches the pattern with each line without its line break, so
// "^" and "$" are the beginning and the end of a line, and no match contains a line break.
// IgnoreCase and WholeWords change the meaning of the pattern. A line with several matches is one
// TextMatch with the column of the first match.
//
// Grep searches the files that [Catalog.FindFiles] would return for one of the globs of InFiles, or
// for "**" without InFiles: regular files, and links to regular files if [WithSymlinks] allows the
// link. Grep does not enter linked directories. Grep omits hidden files and directories unless the
// options include ShowHidden. If the path is a file, Grep searches the file, whatever its name,
// and the options that select files have no effect.
//
// Encodings and lines are as for [Catalog.ReadFile]: UTF-16 with a byte order mark is decoded, an
// LF, a CRLF or, in a file without LF, a CR ends a line, and a line number selects the line in
// Lines. Bytes that are not UTF-8 match like U+FFFD, and Text contains U+FFFD. Grep counts a file
// that is not text as Binary, and does not search the file.
//
// Matches is in path order, as the result of FindFiles, and the same for any number of
// processors. With Limit, Grep returns the first lines in this order, but still
// searches all files for Total and Files. Without Limit, Grep returns at most 1,000 lines. With
// [Budget], all files share the limit and the budget. With
// ContextLines, Before and After have the lines around the matching line. No line of a file is twice
// in the result: After ends before the next matching line, and Before begins after the After of
// the previous matching line. Each line of Before and After is cut to 500 characters, and "…"
// marks the cut.
//
// Grep reads each file up to the size that the file has when Grep opens the file: bytes that
// another program appends later are not searched. If a file shrinks, Grep searches the bytes up to
// the new end. Grep counts a file that is removed before Grep opens the file as Vanished. Grep
// skips and counts unreadable directories, unreadable files, and files whose reading fails.
//
// If no file matches the globs of InFiles, Grep looks for a Hint, as FindFiles does.
//
// Grep accepts the paths of [Catalog.ListDir]. The errors are:
//
//   - [ErrInvalidPattern] if the pattern is empty, longer than 4,096 bytes or not valid UTF-8,
//     or contains a line break, also with Literal; if a regular expression is malformed or too
//     complex; and for malformed globs.
//   - [ErrOutsideRoot], [ErrNotFound], [ErrDirectoryNotFound], [ErrPermissionDenied] and
//     [ErrFileRead], as for ReadFile, if the file or the directory of the path cannot be opened.
//   - [ErrInvalidOption] for invalid options.
//
// Grep reads files of any size in blocks of 64 KiB, on all processors. The limit of
// [WithMaxFileSize] does not apply. In a line larger than 1 MiB, Grep searches the first 1 MiB,
// and "$" matches at the end of this part. The memory depends on Limit, ContextLines, the number of
// processors and the number of directories. The end of ctx ends Grep before the next block, and
// within a block if the pattern is complex. Searching for a text, or for a pattern whose matches
// contain a constant text, costs little more than reading the files. Other patterns cost the time
// of package regexp.
func (c *Catalog) Grep(ctx context.Context, path, pattern string, opts ...GrepOption) (TextMatches, error) {
	return run(ctx, fileCall{catalog: c, op: "Grep", path: path, dirOptions: newGrepOptions(opts)}, TextMatches{Pattern: pattern})
}

func (m *TextMatches) read(ctx context.Context, f *fileCall) error {
	pattern := m.Pattern
	compiled, err := grep.Compile(pattern, f.grep)
	if err != nil {
		return &Error{Code: CodeInvalidPattern, Path: pattern,
			Message: "invalid pattern '" + escape.Line(pattern[:min(len(pattern), 200)]) + "': " + escape.Line(err.Error())}
	}
	if err := f.budget.Holds(TextMatches{Pattern: pattern, Searched: 1}); err != nil {
		return err
	}
	o := f.listing(defaultGrepLimit, minMatchLine)
	found, err := listing.Grep(ctx, f.catalog.root, f.name, listing.GrepOptions{Pattern: compiled, Files: f.files, Context: f.context, Fair: f.budget.Limited, Searched: f.searched}, o)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return err
	}
	*m = TextMatches{
		Path:         f.name + "/",
		Pattern:      pattern,
		Matches:      newTextMatches(found.Files),
		Total:        found.Total,
		Files:        found.Matching,
		Searched:     found.Searched,
		Binary:       found.Binary,
		Skipped:      found.Skipped,
		Ignored:      found.Ignored,
		Dependencies: found.Dependencies,
		Vanished:     found.Vanished,
		LongLines:    found.Long,
		Warnings:     found.Warnings,
	}
	if found.IsFile {
		m.Path = f.name
	} else if found.Searched+found.Binary+found.Skipped+found.Vanished == 0 {
		m.Hint = f.globHint(ctx, o)
	}
	if limit := f.limitOr(defaultGrepLimit); limit > 0 && found.Total > limit {
		m.Limits = []string{shown.Counted(limit, "line", "lines")}
	}
	return nil
}

func (m *TextMatches) fit(ctx context.Context, f *fileCall) error {
	found, err := budget.Matches(ctx, f.budget, shown.Matches[TextMatch](*m), (*TextMatch).row)
	*m = TextMatches(found)
	return err
}

func newTextMatches(files []listing.MatchingFile) []TextMatch {
	n := 0
	for i := range files {
		n += len(files[i].Lines)
	}
	all := make([]TextMatch, 0, n)
	for _, file := range files {
		for _, l := range file.Lines {
			all = append(all, TextMatch{Path: file.Path, Line: l.Number, Column: l.Column, Text: l.Text,
				TextColumn: l.TextColumn, Truncated: l.Truncated, Before: l.Before, After: l.After})
		}
		all[len(all)-1].More = file.Total - len(file.Lines)
	}
	return all
}

// String returns the matches as text for a model. The text has no line break at its end.
//
// The line of a match is the path, ":", the number of the line, ":", and, unless the line is empty,
// a space and the line. The lines are not grouped by file, so each line can be read and cited
// without the lines above. A line of Before and After has "-" in place of both colons. With context, the line "--" separates lines
// that are not adjacent in a file. "…" marks the cut ends of a line. After the last line of a
// file, "… and N more" reports the further matches of the file. Lines after the matches report
// all matching lines beyond the limits, the files of which no line is shown, the values of the limits, the files that are not text, the unreadable directories and files,
// the directories of SkipDependencies, the long lines, the hint and the warnings.
//
// Each line of a file is one line, even if the line contains control characters. Names are escaped
// as in [DirListing.String], and lines as in [FileText.String].
func (m TextMatches) String() string { return shown.Matches[TextMatch](m).Text((*TextMatch).row) }

// row returns the match for a text.
func (m *TextMatch) row() *shown.Match { return (*shown.Match)(m) }

// A GrepOption is an option for one call of Grep. If an option is repeated, the last value
// applies, except for Exclude and InFiles: the globs of all options apply. A nil GrepOption has no
// effect.
type GrepOption interface{ applyGrep(*dirOptions) }

func newGrepOptions(opts []GrepOption) dirOptions {
	o := dirOptions{limit: -1}
	for _, opt := range opts {
		if opt != nil {
			opt.applyGrep(&o)
		}
	}
	return o
}

// Literal searches for the text of the pattern: no character has a special meaning.
func Literal() GrepOption {
	return grepOption(func(o *dirOptions) { o.grep.Literal = true })
}

// IgnoreCase ignores the letter case of the pattern (Unicode simple folding).
func IgnoreCase() GrepOption {
	return grepOption(func(o *dirOptions) { o.grep.IgnoreCase = true })
}

// WholeWords requires that the characters before and after a match are not part of a word: not
// a letter, a mark or a digit of any script, and not "_". The beginning and the end of a line
// meet the requirement.
func WholeWords() GrepOption {
	return grepOption(func(o *dirOptions) { o.grep.WholeWords = true })
}

// InFiles searches only files that match at least one of the globs. A glob without a slash matches
// names at any depth. A glob with a slash matches paths relative to the directory of the call.
// Syntax and errors are the syntax and the errors of Exclude. No glob means all files.
func InFiles(globs ...string) GrepOption {
	return grepOption(func(o *dirOptions) {
		for _, text := range globs {
			if o.err != nil {
				return
			}
			o.files = append(o.files, o.glob(text))
		}
	})
}

// maxContext limits ContextLines, because a result has up to 2n+1 lines for each matching line.
const maxContext = 100

// ContextLines returns up to n lines before and up to n lines after each matching line, n from 0 to
// 100. The default is 0. Another n is [ErrInvalidOption].
func ContextLines(n int) GrepOption {
	return grepOption(func(o *dirOptions) {
		if n < 0 || n > maxContext {
			o.fail(invalidOption(fmt.Sprintf("ContextLines: %d lines; use 0 to %d", n, maxContext)))
		}
		o.context = n
	})
}

// minMatchLine is the smallest number of characters of a matching line, such as "\n  a:1:".
const minMatchLine = 7
