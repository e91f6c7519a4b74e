package toolshelf

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/names"
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
	return inFolder(ctx, c, "FindFiles", path, opts, func(ctx context.Context, dir *confine.Dir, at place, d *dirReader) (FileMatches, error) {
		return d.findFiles(ctx, c, dir, at)
	})
}

func (d *dirReader) findFiles(ctx context.Context, c *Catalog, dir *confine.Dir, at place) (FileMatches, error) {
	f := finder{
		dirReader: d,
		catalog:   c,
		ctx:       ctx,
	}
	f.depth, f.base = d.pattern.reach()
	if f.maxDepth > 0 && (f.depth == 0 || f.maxDepth < f.depth) {
		f.depth = f.maxDepth
	}
	err := newWalk(d, dir, at, f.visit).levels(ctx, d, func(level []*folder) ([]*folder, error) { return below(level), nil })
	if err != nil {
		return FileMatches{}, err
	}
	slices.SortFunc(f.files, comparePaths)
	if d.limit > 0 && len(f.files) > d.limit {
		f.files = slices.Clip(f.files[:d.limit])
	}
	if f.files == nil {
		f.files = []string{}
	}
	return FileMatches{
		Path:     at.name + "/",
		Pattern:  d.pattern.text,
		Files:    f.files,
		Total:    f.total,
		Skipped:  f.skipped,
		Ignored:  int(d.ignored.Load()),
		Warnings: d.allWarnings(0),
	}, nil
}

// A finder collects the matches of a walk.
type finder struct {
	*dirReader
	catalog *Catalog
	ctx     context.Context
	depth   int      // levels to search, 0 for all
	base    []string // folders that a match must be in, from the top

	mu      sync.Mutex
	files   []string // not sorted; at times up to twice as many as the limit
	total   int
	skipped int
}

func (f *finder) visit(d *dirReader, in *folder, at place, dir *confine.Dir, err error) ([]*folder, error) {
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.skipped++
		return nil, nil
	}
	at.rules = d.addRules(dir, at)
	in.rules = at.rules
	var below []*folder
	var found, links []string
	_, err = d.read(f.ctx, dir, at, func(m *meter, bytes []byte, k kind, _ *confine.Info) error {
		switch k {
		case kindDir:
			if name := string(bytes); f.enters(in, name) {
				below = append(below, in.in(name))
			}
		case kindFile, kindLink:
			name := string(bytes)
			ok, err := f.pattern.matches(m, at.path, name, false)
			switch {
			case !ok:
				return err
			case k == kindLink:
				links = append(links, joinPath(rulesDir(at.name), name))
			default:
				found = append(found, joinPath(rulesDir(at.name), name))
			}
		}
		return nil
	})
	if err != nil && (f.ctx.Err() != nil || in.parent == nil) {
		return nil, err
	}
	for _, link := range links {
		if info, err := f.catalog.root.Info(link); err == nil && info.Mode.IsRegular() {
			found = append(found, link)
		}
	}
	f.add(found, err != nil)
	return below, nil
}

// enters reports whether a match can be in a folder.
func (f *finder) enters(at *folder, name string) bool {
	return (f.depth == 0 || at.depth+1 < f.depth) && (at.depth >= len(f.base) || f.base[at.depth] == name)
}

// add keeps the first matches in path order.
func (f *finder) add(found []string, broken bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if broken {
		f.skipped++
	}
	f.total += len(found)
	f.files = append(f.files, found...)
	if f.limit > 0 && len(f.files)/2 >= f.limit {
		slices.SortFunc(f.files, comparePaths)
		clear(f.files[f.limit:])
		f.files = f.files[:f.limit]
	}
}

// comparePaths is the path order of files.
func comparePaths(a, b string) int {
	for {
		x, afterX, dirX := strings.Cut(a, "/")
		y, afterY, dirY := strings.Cut(b, "/")
		switch {
		case dirX && !dirY:
			return -1
		case dirY && !dirX:
			return 1
		case x != y:
			return names.Compare(x, y)
		case !dirX:
			return 0
		}
		a, b = afterX, afterY
	}
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
