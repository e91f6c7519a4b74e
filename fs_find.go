package toolshelf

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/listing"
)

// FileMatches are the files that FindFiles has found.
type FileMatches struct {
	Path     string   `json:"path"`               // the folder searched, relative to the root, ending in a slash; "./" for the root
	Pattern  string   `json:"pattern"`            // as given
	Files    []string `json:"files"`              // paths relative to the root, in path order; never null
	Total    int      `json:"total"`              // how many files match, beyond Limit too
	Skipped  int      `json:"skipped,omitempty"`  // folders that cannot be read, and so are not searched
	Ignored  int      `json:"ignored,omitempty"`  // entries that Gitignore left out, without what is below them
	Warnings []string `json:"warnings,omitempty"` // what could not be found out, one line each
}

// FindFiles returns the files below a folder whose path matches a glob.
//
// The pattern has the syntax of Exclude: without a slash it is for names at
// any depth, with one for paths relative to the folder searched. A file is a
// regular file, or a link to one inside the root (as WithSymlinks says). Links
// to folders are not followed. Hidden files and folders are left out without
// ShowHidden. Folders that cannot be read are skipped and counted.
//
// The path order is that of Tree, read downwards: name by name from the
// left, folders before files. With Limit the first files in that order are
// returned, and memory is bounded by them and the folders there are.
//
// For the path and the errors see ListDir; a malformed pattern is
// ErrInvalidPattern. The cost is one reading of each folder that can hold a
// match, shared out over at most four processors.
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

// String is the matches as text for a model, in the form of the contract of
// search_files, with a last line where there are more than these or folders
// were skipped. There is no line break at its end. Names are written as in
// DirListing.String.
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
