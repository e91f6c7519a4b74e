package toolshelf

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/listing"
)

// FileMatches are the results of FindFiles.
type FileMatches struct {
	Path     string   `json:"path"`               // the searched directory, relative to the root, ending in a slash; "./" for the root
	Pattern  string   `json:"pattern"`            // as given
	Files    []string `json:"files"`              // paths relative to the root, in path order; never null
	Total    int      `json:"total"`              // number of matches, including those beyond Limit
	Skipped  int      `json:"skipped,omitempty"`  // directories that cannot be read
	Ignored  int      `json:"ignored,omitempty"`  // entries that Gitignore omitted, without the entries below them
	Warnings []string `json:"warnings,omitempty"` // information that could not be read, one line each
}

// FindFiles returns the files below a directory that match a glob.
//
// The pattern has the syntax of Exclude: a pattern without a slash is for names at any depth,
// and a pattern with a slash is for paths relative to the searched directory. A match is a
// regular file, or a link to a regular file that [WithSymlinks] allows. FindFiles does not
// enter linked directories. FindFiles omits hidden files and directories unless the options
// include ShowHidden. FindFiles skips and counts directories that cannot be read.
//
// The result is in path order, the order in which Tree prints files: paths are compared name
// by name from the left, and directories come before files. With Limit, FindFiles returns the
// first files in this order, and memory is bounded by the limit and the number of
// directories.
//
// The path and the errors are those of ListDir. A malformed pattern is [ErrInvalidPattern].
// FindFiles reads each directory that can contain a match once, on at most four
// processors.
func (c *Catalog) FindFiles(ctx context.Context, path, pattern string, opts ...DirOption) (FileMatches, error) {
	opts = append(slices.Clip(opts), matching(pattern))
	return inDirectory(ctx, c, "FindFiles", path, opts, func(ctx context.Context, name string, o dirOptions) (FileMatches, error) {
		found, err := listing.Find(ctx, c.root, name, o.pattern, o.listing())
		if err != nil {
			return FileMatches{}, err
		}
		if found.Files == nil {
			found.Files = []string{}
		}
		return FileMatches{
			Path:     name + "/",
			Pattern:  pattern,
			Files:    found.Files,
			Total:    found.Total,
			Skipped:  found.Skipped,
			Ignored:  found.Ignored,
			Warnings: found.Warnings,
		}, nil
	})
}

// String returns the matches as text for a model, in the format of the tool search_files. The
// text has no line break at its end. Further lines report matches beyond the limit and
// skipped directories. Names are written as in [DirListing.String].
func (m FileMatches) String() string {
	var b strings.Builder
	if m.Total == 0 {
		b.WriteString("No files found matching pattern '" + escape.Path(m.Pattern) + "'")
	} else {
		b.WriteString("Found " + counted(m.Total, "file", "files") + " matching '" + escape.Path(m.Pattern) + "':\n")
	}
	for _, file := range m.Files {
		b.WriteString("\n  " + escape.Path(file))
	}
	if more := m.Total - len(m.Files); more > 0 {
		b.WriteString("\n  … and " + strconv.Itoa(more) + " more")
	}
	if m.Skipped > 0 {
		b.WriteString("\n\n" + counted(m.Skipped, "directory", "directories") + " could not be read and were skipped")
	}
	writeWarnings(&b, m.Warnings)
	return b.String()
}
