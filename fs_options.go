package toolshelf

import (
	"fmt"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/listing"
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
	exclude    []listing.Glob
	pattern    listing.Glob // of FindFiles
	expansion  int          // total size of all patterns
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
				Message: "cannot sort by '" + escape.Name(string(key)) + "'; use name, size or modified"})
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
// ErrInvalidPattern. So are a glob longer than 1,000 bytes, a glob whose braces
// stand for more than 1,000 patterns, and globs of one call that are larger than
// 64 KiB together, with each pattern that braces stand for counted once. Taken by ListDir, Tree and FindFiles.
func Exclude(globs ...string) DirOption {
	return func(o *dirOptions) {
		for _, text := range globs {
			if o.err != nil {
				return
			}
			o.exclude = append(o.exclude, o.glob(text))
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

// matching is the pattern of FindFiles, which is checked with the options.
func matching(pattern string) DirOption {
	return func(o *dirOptions) { o.pattern = o.glob(pattern) }
}

// glob parses a pattern and limits the total size of all patterns of a call.
func (o *dirOptions) glob(text string) listing.Glob {
	g, err := listing.ParseGlob(text)
	if err != nil {
		o.fail(invalidPattern(text[:min(len(text), listing.MaxGlob)], err.Error()))
	}
	if o.expansion += g.Size(); o.expansion > listing.MaxExpansion {
		o.fail(invalidPattern(text, fmt.Sprintf("the patterns of the call, with all that their braces stand for, are larger than %d bytes; use fewer braces", listing.MaxExpansion)))
	}
	return g
}

func invalidPattern(text, why string) error {
	return &Error{Code: ErrInvalidPattern.Code, Path: text,
		Message: "the pattern '" + escape.Path(text) + "' cannot be used: " + why}
}

// listing returns the options for package listing.
func (o *dirOptions) listing() listing.Options {
	orders := map[SortKey]listing.Order{ByName: listing.ByName, BySize: listing.BySize, ByModified: listing.ByModified}
	return listing.Options{
		Hidden:    o.showHidden,
		Exclude:   o.exclude,
		Gitignore: o.gitignore,
		Order:     orders[o.sort],
		Limit:     max(o.limit, 0),
		MaxDepth:  o.maxDepth,
	}
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
