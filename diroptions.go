package toolshelf

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A DirOption is a choice for one call of ListDir, Tree or FindFiles. Where the
// same one is given twice, the last counts; those of Exclude add up. An option
// that a method cannot follow is ErrInvalidOption, never ignored: each says
// which methods take it.
type DirOption func(*dirOptions)

// dirOptions are what the options of one call say.
type dirOptions struct {
	showHidden bool
	sort       SortKey
	limit      int // -1 where none was given
	after      string
	exclude    globs
	maxDepth   int
	gitignore  bool
	err        error // the first thing wrong
}

// A SortKey is an order for the entries of a folder. In every order folders
// come first, and names decide between entries that are equal otherwise.
type SortKey string

// The orders. The zero SortKey is ByName.
const (
	ByName     SortKey = "name"     // case-insensitively (Unicode simple folding); names that differ only in case by their bytes
	BySize     SortKey = "size"     // largest first; folders by name
	ByModified SortKey = "modified" // newest first
)

// ShowHidden includes the entries whose name begins with a dot. Taken by
// ListDir, Tree and FindFiles.
func ShowHidden() DirOption {
	return func(o *dirOptions) { o.showHidden = true }
}

// SortedBy sets the order, ByName being the default. The key may come straight
// from a tool's arguments: one that is not known is ErrInvalidSort. Taken by
// ListDir and Tree.
func SortedBy(key SortKey) DirOption {
	return func(o *dirOptions) {
		switch key {
		case "":
			key = ByName
		case ByName, BySize, ByModified:
		default:
			o.fail(&Error{Code: ErrInvalidSort.Code, Path: string(key),
				Message: "cannot sort by '" + escapeName(string(key)) + "'; use name, size or modified"})
		}
		o.sort = key
	}
}

// Limit returns at most n entries: of ListDir a page, of Tree the levels near
// the top, of FindFiles the first matches. Totals count all the same. With 0
// there is no limit; a negative n is ErrInvalidOption. Without the option, Tree
// stops at 10,000 entries and the others at none. Taken by ListDir, Tree and
// FindFiles.
func Limit(n int) DirOption {
	return func(o *dirOptions) {
		if n < 0 {
			o.fail(invalidDirOption(fmt.Sprintf("Limit: %d entries; use 1 or more, or 0 for no limit", n)))
		}
		o.limit = n
	}
}

// After continues where a page ended: cursor is its DirListing.NextCursor, and
// "" the beginning. The cursor names the last entry of that page, so that
// entries made or removed in the meantime neither repeat nor hide another; in
// orders other than ByName, an entry whose size or time has changed may. One
// from another folder or order is ErrInvalidCursor. Taken by ListDir.
func After(cursor string) DirOption {
	return func(o *dirOptions) { o.after = cursor }
}

// Exclude leaves out what matches one of the globs, and what is below a folder
// that does: from totals too. A glob without a slash is for names at any
// depth, one with a slash for paths relative to the folder that was asked for;
// a slash at its end restricts it to folders. The syntax is that of
// github.com/bmatcuk/doublestar: *, **, ?, [a-z], {a,b}. A malformed glob is
// ErrInvalidPattern. Taken by ListDir, Tree and FindFiles.
func Exclude(globs ...string) DirOption {
	return func(o *dirOptions) {
		for _, text := range globs {
			g, err := newGlob(text)
			if err != nil {
				o.fail(err)
				return
			}
			o.exclude = append(o.exclude, g)
		}
	}
}

// MaxDepth stops n levels below the folder asked for: MaxDepth(1) is its own
// entries. With 0, the default, there is no limit; a negative n is
// ErrInvalidOption. Taken by Tree and FindFiles.
func MaxDepth(n int) DirOption {
	return func(o *dirOptions) {
		if n < 0 {
			o.fail(invalidDirOption(fmt.Sprintf("MaxDepth: %d levels; use 1 or more, or 0 for no limit", n)))
		}
		o.maxDepth = n
	}
}

// Gitignore leaves out what the .gitignore files of the root and the folders
// below it ignore, as git does, and folders called .git; it is counted. The
// folder asked for is not itself held to be ignored, but the rules for what it
// holds apply. Files that git would read from elsewhere, such as
// .git/info/exclude, are not. Taken by ListDir, Tree and FindFiles.
func Gitignore() DirOption {
	return func(o *dirOptions) { o.gitignore = true }
}

// newDirOptions reads the options given to a method. A method without a page,
// an order or a depth refuses the option for it.
func newDirOptions(op string, opts []DirOption) (dirOptions, error) {
	o := dirOptions{limit: -1}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	switch {
	case o.err != nil:
	case o.after != "" && op != "ListDir":
		o.err = invalidDirOption("After: " + op + " has no pages; use ListDir")
	case o.sort != "" && op == "FindFiles":
		o.err = invalidDirOption("SortedBy: FindFiles sorts by path; leave it out")
	case o.maxDepth != 0 && op == "ListDir":
		o.err = invalidDirOption("MaxDepth: ListDir does not enter folders; use Tree")
	}
	if o.sort == "" {
		o.sort = ByName
	}
	return o, inOp(op, o.err)
}

func (o *dirOptions) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

func invalidDirOption(message string) error {
	return &Error{Code: ErrInvalidOption.Code, Message: message}
}

// A glob is a pattern for names or for paths.
type glob struct {
	text    string // as given
	pattern string
	suffix  string // of a "*suffix" pattern for names, which most are
	path    bool   // it is for paths
	dirOnly bool
}

// newGlob checks a pattern. Those of FindFiles and Exclude are alike.
func newGlob(text string) (glob, error) {
	g := glob{text: text}
	g.pattern, g.dirOnly = strings.CutSuffix(strings.TrimPrefix(text, "./"), "/")
	g.path = strings.Contains(g.pattern, "/")
	g.pattern = strings.TrimPrefix(g.pattern, "/")
	switch {
	case g.pattern == "":
		return g, invalidPattern(text, "it is empty")
	case len(text) > maxGlob:
		return g, invalidPattern(text[:maxGlob], fmt.Sprintf("it is longer than %d bytes", maxGlob))
	case !doublestar.ValidatePattern(g.pattern):
		return g, invalidPattern(text, "it is not a well-formed glob")
	case alternatives(g.pattern) > maxAlternatives:
		return g, invalidPattern(text, fmt.Sprintf("its braces stand for more than %d patterns", maxAlternatives))
	}
	if rest, star := strings.CutPrefix(g.pattern, "*"); star && !g.path && !strings.ContainsAny(rest, `*?[]{}\`) {
		g.suffix = rest
	}
	return g, nil
}

// The matcher tries all combinations of alternatives one after the other, so
// a short pattern could keep it busy forever.
const (
	maxGlob         = 1000
	maxAlternatives = 1000
)

// alternatives is an upper bound of the patterns that braces stand for.
func alternatives(pattern string) int {
	n, inside := 1, 1
	for i := 0; i < len(pattern) && n <= maxAlternatives; i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			n *= inside
			inside = 1
		case ',':
			inside++
		case '}':
			n *= inside
			inside = 1
		}
	}
	return n * inside
}

func invalidPattern(text, why string) error {
	return &Error{Code: ErrInvalidPattern.Code, Path: text,
		Message: "the pattern '" + escapePath(text) + "' cannot be used: " + why}
}

// matches reports whether the glob is for the entry called name in dir, the
// path of a folder relative to the one asked for.
func (g *glob) matches(dir, name string, isDir bool) bool {
	switch {
	case g.dirOnly && !isDir:
		return false
	case g.suffix != "":
		return strings.HasSuffix(name, g.suffix)
	case g.path:
		return doublestar.MatchUnvalidated(g.pattern, joinPath(dir, name))
	default:
		return doublestar.MatchUnvalidated(g.pattern, name)
	}
}

// globs match what one of them does.
type globs []glob

func (gs globs) matches(dir, name string, isDir bool) bool {
	for i := range gs {
		if gs[i].matches(dir, name, isDir) {
			return true
		}
	}
	return false
}

// joinPath puts a name below a folder, "" being the topmost.
func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
