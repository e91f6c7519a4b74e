package toolshelf

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/listing"
)

// FileMatches are the results of FindFiles.
type FileMatches struct {
	Path         string   `json:"path"`                   // the searched directory, relative to the root, ending in a slash; "./" for the root
	Pattern      string   `json:"pattern"`                // as given
	Files        []string `json:"files"`                  // paths relative to the root, in path order; never null
	Total        int      `json:"total"`                  // number of matches, including those beyond Limit and Budget
	Skipped      int      `json:"skipped,omitempty"`      // number of unreadable directories
	Ignored      int      `json:"ignored,omitempty"`      // number of entries omitted by Gitignore, excluding entries below omitted directories
	Dependencies int      `json:"dependencies,omitempty"` // number of directories not searched because of SkipDependencies
	Hint         string   `json:"hint,omitempty"`         // if no file matches: a pattern that matches a file, or why the pattern matches none, in one line; empty if unknown
	Warnings     []string `json:"warnings,omitempty"`     // information that could not be read, one line each
}

// FindFiles returns the files below a directory that match a glob.
//
// The pattern has the syntax of Exclude. A pattern without a slash matches names at any
// depth. A pattern with a slash matches paths relative to the searched directory. FindFiles
// returns regular files, and links to regular files if [WithSymlinks] allows the link.
// FindFiles does not enter linked directories. FindFiles omits hidden files and directories
// unless the options include ShowHidden. FindFiles skips and counts unreadable directories.
//
// The result is in path order, the order in which Tree prints files: FindFiles compares paths
// name by name from the left, with directories before files. With Limit, FindFiles returns
// the first files in this order. The memory then depends on the limit and on the number of
// directories, not on the number of matches.
//
// FindFiles accepts the paths and returns the errors of [Catalog.ListDir]. A malformed
// pattern is [ErrInvalidPattern]. FindFiles reads each directory with possible matches once,
// on at most four processors. If no file matches, FindFiles reads directories again for Hint,
// also hidden directories: up to 50,000 entries below the directory, and none for patterns such
// as "*.go". A Hint and the text name ShowHidden and SkipDependencies by the arguments of the
// tools: show_hidden and show_dependencies.
func (c *Catalog) FindFiles(ctx context.Context, path, pattern string, opts ...DirOption) (FileMatches, error) {
	opts = append(slices.Clip(opts), matching(pattern))
	return inDirectory(ctx, c, "FindFiles", path, opts, FileMatches.within, func(ctx context.Context, name string, o dirOptions) (FileMatches, error) {
		if err := o.budget.holds(FileMatches{Pattern: pattern, Files: []string{"a"}, Total: 1}); err != nil {
			return FileMatches{}, err
		}
		lo := o.listing()
		lo.Limit = o.budget.lines(lo.Limit, minFileLine)
		found, err := listing.Find(ctx, c.root, name, o.pattern, lo)
		if err != nil {
			return FileMatches{}, err
		}
		hint := ""
		if found.Total == 0 {
			found.Files = []string{}
			hint = c.globHint(ctx, name, []listing.Glob{o.pattern}, lo)
		}
		return FileMatches{
			Hint:         hint,
			Path:         name + "/",
			Pattern:      pattern,
			Files:        found.Files,
			Total:        found.Total,
			Skipped:      found.Skipped,
			Ignored:      found.Ignored,
			Dependencies: found.Dependencies,
			Warnings:     found.Warnings,
		}, nil
	})
}

// globHint returns the hint for globs that match no file.
func (c *Catalog) globHint(ctx context.Context, name string, globs []listing.Glob, o listing.Options) string {
	roots := []string{c.rootDir}
	if slices.ContainsFunc(globs, func(g listing.Glob) bool { _, ok := c.config.absolute(g.String()); return ok }) {
		roots = c.rootPaths()
	}
	for i := range roots {
		roots[i] = filepath.ToSlash(roots[i])
	}
	h := listing.Correct(ctx, c.root, name, roots, globs, o)
	glob, use := "'"+escape.Path(h.Glob)+"'", "'"+escape.Path(h.Use)+"'"
	switch h.Kind {
	case listing.SimilarGlob:
		return "Did you mean " + use + " in place of " + glob + "?"
	case listing.RepeatedPath:
		return "Globs are relative to '" + slashed(name) + "'; use " + use + " in place of " + glob
	case listing.Backslashes:
		return "Globs have slashes between names; use " + use + " in place of " + glob
	case listing.HiddenFiles:
		return "Hidden files are omitted; set show_hidden to find files for " + glob
	case listing.ParentPath:
		return "Globs cannot leave '" + slashed(name) + "'; pass another directory as path, and remove '..' from " + glob
	default:
		return ""
	}
}

// unsearched returns the line about the directories of SkipDependencies, with the argument of the
// tools that search the directories.
func unsearched(dependencies int) string {
	return counted(dependencies, "directory of dependencies was", "directories of dependencies were") + " not searched (see show_dependencies)"
}

// minFileLine is the smallest number of characters of a line of matches, such as "\n  a".
const minFileLine = 4

// within returns the first files whose text is within the budget.
func (m FileMatches) within(ctx context.Context, o *dirOptions) (FileMatches, error) {
	files, ofWalk, hint := m.Files, m.Warnings, m.Hint
	m.Hint = ""
	c := cut[FileMatches]{
		most: len(files),
		at: func(n int, warnings []string) FileMatches {
			m.Files, m.Warnings = files[:n:n], warnings
			return m
		},
		warnings: func(FileMatches) []string { return ofWalk },
	}
	c.draft = func(n int) FileMatches { return c.at(n, o.reserved()) }
	found, err := c.fit(ctx, o.budget)
	if found.Hint = hint; err != nil || hint != "" && !o.budget.fits(found.String()) {
		found.Hint = ""
	}
	return found, err
}

// String returns the matches as text for a model, in the format of the tool search_files. The
// text has no line break at its end. Lines after the paths report the matches beyond the
// limit, the unreadable directories, the directories of SkipDependencies, the hint and the
// warnings.
// Names are escaped as in [DirListing.String].
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
	if m.Dependencies > 0 {
		b.WriteString("\n\n" + unsearched(m.Dependencies))
	}
	writeHint(&b, m.Hint)
	writeWarnings(&b, m.Warnings)
	return b.String()
}
