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
	Skipped      int         `json:"skipped,omitempty"`      // number of unreadable directories, files and .gitignore files
	Ignored      int         `json:"ignored,omitempty"`      // number of entries omitted by Gitignore, excluding entries below omitted directories
	Dependencies int         `json:"dependencies,omitempty"` // number of directories not searched because of SkipDependencies
	Vanished     int         `json:"vanished,omitempty"`     // number of entries removed during the call
	LongLines    int         `json:"long_lines,omitempty"`   // number of lines larger than 1 MiB; Grep searches the first 1 MiB
	Output       string      `json:"output,omitempty"`       // "files" for FilesOnly, "count" for CountOnly
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

// Grep returns the lines of text files that match a pattern: a regular expression of package
// regexp, or with [Literal] a text. The path is a directory, whose files Grep searches at any
// depth, or a file. Matches is in path order. Grep returns at most 1,000 lines without [Limit], but
// searches all files for the totals. Grep counts binary files and unreadable files, and continues.
// The limit of [WithMaxFileSize] does not apply.
//
// Grep returns [ErrInvalidPattern] for a malformed, empty or too long pattern and for malformed
// globs, [ErrInvalidOption], and for the path [ErrOutsideRoot], [ErrNotFound],
// [ErrDirectoryNotFound], [ErrPermissionDenied] and [ErrFileRead]. The document docs/methods.md has
// the bounds and the cost.
func (c *Catalog) Grep(ctx context.Context, path, pattern string, opts ...GrepOption) (TextMatches, error) {
	return run(ctx, fileCall{catalog: c, op: "Grep", action: EventSearched, path: path, dirOptions: newGrepOptions(opts)}, TextMatches{Pattern: pattern})
}

func (m *TextMatches) read(ctx context.Context, f *fileCall) error {
	compiled, err := grep.Compile(m.Pattern, grep.Options{Literal: f.modes&Literal != 0, IgnoreCase: f.modes&IgnoreCase != 0, WholeWords: f.modes&WholeWords != 0})
	if err != nil {
		return &Error{Code: CodeInvalidPattern, Path: m.Pattern,
			Message: "invalid pattern '" + escape.Line(m.Pattern[:min(len(m.Pattern), 200)]) + "': " + escape.Line(err.Error())}
	}
	output, shortest, context := "", TextMatches{Searched: 1}, f.context
	switch {
	case f.modes&FilesOnly != 0:
		output, shortest, context = shown.OutputFiles, TextMatches{Output: shown.OutputFiles, Matches: []TextMatch{{Path: "a"}}, Total: 1, Files: 1}, 0
	case f.modes&CountOnly != 0:
		output, context = shown.OutputCount, 0
	}
	if err := f.budget.Holds(shortest); err != nil {
		return err
	}
	o := f.listing(defaultGrepLimit, minMatchLine)
	search := listing.GrepOptions{Pattern: compiled, Files: f.files, Context: context,
		Output: output, Fair: f.budget.Limited, Searched: f.searched}
	newMatch := func(m shown.Match) TextMatch { return TextMatch(m) }
	found := (*shown.Matches[TextMatch])(m)
	err = listing.Grep(ctx, f.catalog.root, f.name, search, o, found, newMatch)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return err
	}
	if m.Searched+m.Binary+m.Skipped+m.Vanished == 0 { // in a directory
		m.Hint = f.globHint(ctx, o)
	}
	n, what := m.Total, "line"
	if output != "" {
		n, what = m.Files, "file"
	}
	if limit := f.limitOr(defaultGrepLimit); limit > 0 && n > limit {
		m.Limits = []string{shown.Counted(limit, what, what+"s")}
	}
	return nil
}

func (m *TextMatches) fit(ctx context.Context, f *fileCall) error {
	found, err := budget.Matches(ctx, f.budget, shown.Matches[TextMatch](*m), (*TextMatch).row)
	*m, f.count = TextMatches(found), len(found.Matches)
	return err
}

// String returns the matches as text for a model, in the format of the tool search_text
// (docs/tools.md), grouped by file, without a line break at its end. Lines after the matches report
// what the limits and Grep omit. With FilesOnly, a line is a path, and with CountOnly, a path, ":"
// and the number of matching lines. Names are escaped as in [DirListing.String], and lines as in
// [FileText.String].
func (m TextMatches) String() string { return shown.Matches[TextMatch](m).Text((*TextMatch).row) }

// row returns the match for a text.
func (m *TextMatch) row() *shown.Match { return (*shown.Match)(m) }

// InFiles searches only files that match at least one of the globs. A glob without a slash matches
// names at any depth. A glob with a slash matches paths relative to the directory of the call.
// Syntax and errors are the syntax and the errors of Exclude. No glob means all files.
func InFiles(globs ...string) GrepOption {
	return grepOption(func(o *dirOptions) { o.addGlobs(&o.files, globs) })
}

// maxContext limits ContextLines, because a result has up to 2n+1 lines for each matching line.
const maxContext = 100

// ContextLines returns up to n lines before and up to n lines after each matching line, n from 0 to
// 100. No line of a file is twice in a result. The default is 0. Another n is [ErrInvalidOption].
func ContextLines(n int) GrepOption {
	return grepOption(func(o *dirOptions) {
		if n < 0 || n > maxContext {
			o.fail(invalidOption(fmt.Sprintf("ContextLines: %d lines; use 0 to %d", n, maxContext)))
		}
		o.context = n
	})
}

// minMatchLine is the smallest number of characters of a matching line, such as "\n1:", or of a
// path, such as "\na".
const minMatchLine = 2
