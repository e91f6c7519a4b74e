package toolshelf

import (
	"cmp"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/internal/budget"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/lint"
	"github.com/toolshelf-go/toolshelf/internal/listing"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// A DirOption is an option for one call of ListDir, Tree or FindFiles. If an option is repeated,
// the last value applies, except for Exclude: the globs of all options apply. Each option
// documents the methods that accept the option. Other methods return [ErrInvalidOption]. A nil
// DirOption has no effect.
type DirOption interface{ applyDir(*dirOptions) }

// A GrepOption is an option for one call of Grep. If an option is repeated, the last value applies,
// except for [Exclude] and [InFiles]: the globs of all options apply. A nil GrepOption has no
// effect.
type GrepOption interface{ applyGrep(*dirOptions) }

// A FileOption is a [DirOption] and a [GrepOption].
type FileOption interface {
	DirOption
	GrepOption
}

type (
	dirOption  func(*dirOptions) // a DirOption
	fileOption func(*dirOptions) // a FileOption
	grepOption func(*dirOptions) // a GrepOption
)

func (f dirOption) applyDir(o *dirOptions)   { f(o) }
func (f fileOption) applyDir(o *dirOptions)  { f(o) }
func (f fileOption) applyGrep(o *dirOptions) { f(o) }
func (f grepOption) applyGrep(o *dirOptions) { f(o) }

// dirOptions are the options of a call.
type dirOptions struct {
	optionError
	showHidden       bool
	sort             string
	limit            int // -1 if not given
	after            string
	exclude          []listing.Glob
	expansion        int // total size of all patterns, in bytes
	maxDepth         int
	gitignore        bool
	skipDependencies bool
	withoutSizes     bool
	progress         func(Progress)
	seen, searched   *atomic.Int64  // the counts for progress; or nil
	files            []listing.Glob // of InFiles, or the pattern of FindFiles
	modes            GrepMode       // joined by |
	context          int
	budget           budget.Budget
}

// A SearchOption is an option for one call of Search or SearchSkills. The only option is
// [WithProgress]. A nil SearchOption has no effect.
type SearchOption interface{ applySearch(*searchOptions) }

type searchOptions struct{ progress func(Progress) }

// A LintOption is an option for one call of Lint: [WithProgress] or [LintFor]. A nil LintOption has
// no effect.
type LintOption interface{ applyLint(*lintOptions) }

type lintOptions struct {
	optionError
	progress func(Progress)
	profile  *lint.Profile
}

// A PromptOption changes the result of one call of SkillsPrompt or CommandsPrompt.
// If an option is repeated, the last value applies. A nil PromptOption has no effect.
type PromptOption interface{ applyPrompt(*promptOptions) }

type promptOption func(*promptOptions)

func (f promptOption) applyPrompt(o *promptOptions) { f(o) }

// promptOptions are the options of a call of a prompt or of Instructions.
type promptOptions struct {
	budget    budget.Budget
	locations bool
	elements  bool // see bridge.WithElements
	each      int
	hops      int // of the imports of instructions
	shown     []Instruction
	first     []string
	query     string
	err       error
}

func newPromptOptions[Option interface {
	comparable
	PromptOption
}](opts []Option) (promptOptions, error) {
	var o promptOptions
	each(opts, func(opt Option) { opt.applyPrompt(&o) })
	return o, o.err
}

// each calls apply with each option that is not nil.
func each[Option comparable](opts []Option, apply func(Option)) {
	var none Option
	for _, opt := range opts {
		if opt != none {
			apply(opt)
		}
	}
}

// The orders of the entries of a directory, for [SortedBy]. In every order, directories come first,
// and entries with equal keys are ordered by name. The empty key is ByName.
const (
	ByName     = "name"     // case-insensitive (Unicode simple folding); names that differ only in case are ordered by their bytes
	BySize     = "size"     // largest first; directories by name
	ByModified = "modified" // newest first
)

// ShowHidden includes the entries whose names begin with a dot. Accepted by ListDir, Tree,
// FindFiles and Grep.
func ShowHidden() FileOption {
	return fileOption(func(o *dirOptions) { o.showHidden = true })
}

// SortedBy sets the order. The default is ByName, which is the order of paths for FindFiles. An
// unknown key, for example from the arguments of a tool, is [ErrInvalidSort]. Accepted by ListDir,
// Tree and FindFiles.
func SortedBy(key string) DirOption {
	return dirOption(func(o *dirOptions) {
		switch key {
		case "":
			key = ByName
		case ByName, BySize, ByModified:
		default:
			o.fail(&Error{Code: CodeInvalidSort, Path: key,
				Message: "cannot sort by '" + escape.Name(key) + "'; use name, size or modified"})
		}
		o.sort = key
	})
}

// limitOr returns the option Limit, or n without the option.
func (o *dirOptions) limitOr(n int) int {
	if o.limit < 0 {
		return n
	}
	return o.limit
}

// Limit sets the maximum number of entries or lines: ListDir returns a page, Tree the levels
// near the top, FindFiles the first files, and Grep the first lines. Totals are not limited. The
// value 0 means no limit. A negative n is [ErrInvalidOption]. Without the option, Tree returns
// at most 10,000 entries, Grep at most 1,000 lines, and the other methods have no limit.
// [Budget] limits the length of the text instead. Accepted by ListDir, Tree, FindFiles and
// Grep.
func Limit(n int) FileOption {
	return fileOption(func(o *dirOptions) {
		if n < 0 {
			o.fail(invalidOption(fmt.Sprintf("Limit: %d entries; use 1 or more, or 0 for no limit", n)))
		}
		o.limit = n
	})
}

// After returns the page that follows the page with this DirListing.NextCursor. The cursor ""
// means the first page. A cursor identifies the last entry of its page, so entries created or
// removed between two calls cause no repeated and no missing entries. In orders other than
// ByName, an entry may be repeated or missing if its size or time has changed. A cursor of
// another directory or another order is [ErrInvalidCursor]. Accepted by ListDir.
func After(cursor string) DirOption {
	return dirOption(func(o *dirOptions) { o.after = cursor })
}

// Exclude omits entries that match any of the globs, and all entries below an omitted directory,
// from lists and totals. A glob without a slash matches names at any depth. A glob with a slash
// matches paths relative to the directory of the call. A slash at the end restricts a glob to
// directories. The syntax is that of github.com/bmatcuk/doublestar: *, **, ?, [a-z], {a,b}.
//
// The error is [ErrInvalidPattern] for a malformed glob, a glob of more than 1,000 bytes or with
// braces of more than 1,000 patterns, and globs of one call of more than 64 KiB, with their braces
// expanded. Accepted by ListDir, Tree, FindFiles and Grep.
func Exclude(globs ...string) FileOption {
	return fileOption(func(o *dirOptions) { o.addGlobs(&o.exclude, globs) })
}

// MaxDepth sets the number of levels below the directory of the call. MaxDepth(1) includes
// only the entries of the directory itself. The default, 0, means no limit. A negative n is
// [ErrInvalidOption]. Accepted by Tree, FindFiles and Grep.
func MaxDepth(n int) FileOption {
	return fileOption(func(o *dirOptions) {
		if n < 0 {
			o.fail(invalidOption(fmt.Sprintf("MaxDepth: %d levels; use 1 or more, or 0 for no limit", n)))
		}
		o.maxDepth = n
	})
}

// Gitignore omits directories named .git, and the entries that git would ignore because of
// the .gitignore files of the root and of the directories below. The field Ignored of the
// result counts the omitted entries. Rules that ignore the directory of the call itself have
// no effect. Gitignore does not read other files of git, such as .git/info/exclude. If the
// patterns with stars of the .gitignore files from the root down to a directory are longer than
// 32 KiB together, the other patterns with stars have no effect, and Warnings has a line. A
// pattern such as "*.log" does not count. Accepted by ListDir, Tree, FindFiles and Grep.
func Gitignore() FileOption {
	return fileOption(func(o *dirOptions) { o.gitignore = true })
}

// SkipDependencies leaves out the content of directories that hold dependencies or the files of a
// version control system, such as .git, node_modules and .venv; docs/methods.md has all names. Tree
// shows such a directory as a single line with the number of its entries. FindFiles and Grep do not
// search the directory, and the field Dependencies counts the directories.
//
// Names that are also usual for source, such as vendor and build, do not count. The directory of
// the call itself is read whatever its name. Accepted by Tree, FindFiles and Grep.
func SkipDependencies() FileOption {
	return fileOption(func(o *dirOptions) { o.skipDependencies = true })
}

// addGlobs parses patterns up to the first error.
func (o *dirOptions) addGlobs(all *[]listing.Glob, globs []string) {
	for _, text := range globs {
		if o.err == nil {
			*all = append(*all, o.glob(text))
		}
	}
}

// glob parses a pattern and limits the total size of all patterns of a call.
func (o *dirOptions) glob(text string) listing.Glob {
	g, err := listing.ParseGlob(text)
	if err != nil {
		o.fail(invalidPattern(text[:min(len(text), listing.MaxGlob)], err.Error()))
	}
	if o.expansion += g.Size(); o.expansion > listing.MaxExpansion {
		o.fail(invalidPattern(text, fmt.Sprintf("all patterns of the call, with their braces expanded, are larger than %d bytes; use fewer braces", listing.MaxExpansion)))
	}
	return g
}

func invalidPattern(text, why string) error {
	return &Error{Code: CodeInvalidPattern, Path: text,
		Message: "invalid pattern '" + escape.Path(text) + "': " + why}
}

var orders = map[string]listing.Order{ByName: listing.ByName, BySize: listing.BySize, ByModified: listing.ByModified}

// listing returns the options for package listing. Without Limit, the limit is def. A budget bounds
// the number of lines with at least min characters each.
func (o *dirOptions) listing(def, min int) listing.Options {
	return listing.Options{
		Hidden:           o.showHidden,
		Exclude:          o.exclude,
		Gitignore:        o.gitignore,
		SkipDependencies: o.skipDependencies,
		NoMetadata:       o.withoutSizes,
		Seen:             o.seen,
		Order:            orders[o.sort],
		Limit:            o.budget.Lines(o.limitOr(def), min),
		MaxDepth:         o.maxDepth,
	}
}

func newDirOptions(opts []DirOption) dirOptions {
	o := dirOptions{limit: -1}
	each(opts, func(opt DirOption) { opt.applyDir(&o) })
	return o
}

func newGrepOptions(opts []GrepOption) dirOptions {
	o := dirOptions{limit: -1}
	each(opts, func(opt GrepOption) { opt.applyGrep(&o) })
	return o
}

// check completes the options, and returns the first error of the options. A method without pages,
// orders or levels rejects the options for them.
func (o *dirOptions) check(op string) error {
	switch {
	case o.err != nil:
	case o.after != "" && op != "ListDir":
		o.err = invalidOption("After: " + op + " has no pages; use ListDir")
	case o.maxDepth != 0 && op == "ListDir":
		o.err = invalidOption("MaxDepth: ListDir does not enter directories; use Tree")
	case o.skipDependencies && op == "ListDir":
		o.err = invalidOption("SkipDependencies: ListDir does not enter directories; use Tree")
	case o.modes > 2*CountOnly-1:
		o.err = invalidOption(fmt.Sprintf("GrepMode(%d): no such mode; use Literal, IgnoreCase, WholeWords, FilesOnly or CountOnly", uint(o.modes)))
	case o.modes&FilesOnly != 0 && o.modes&CountOnly != 0:
		o.err = invalidOption("CountOnly: FilesOnly stops at the first line of a file; use one of both options")
	case o.withoutSizes && op == "FindFiles":
		o.err = invalidOption("WithoutSizes: FindFiles returns no sizes; omit the option")
	}
	o.sort, o.budget.Reserve = cmp.Or(o.sort, ByName), o.gitignore
	return o.err
}

// Budget limits the text of the result, the result of String, to n characters (Unicode code
// points), with headings, warnings and the marks of the cuts. The fields of the result have only
// the entries of the text. Totals count all entries. A larger budget never shows fewer entries. The
// section "Budgets" of docs/reference.md states which entries a budget keeps first.
//
// If the text without entries does not fit, or n is 0 or less, the error is [ErrInvalidOption].
// Only the text of a prompt becomes "", and Dropped has all names. Budget replaces an earlier
// [Tokens]. The memory depends on the budget, not on the number of entries. Accepted by ListDir,
// Tree, FindFiles, Grep and the prompts.
func Budget(n int) BudgetOption { return budgetOption{Budget: budget.Budget{Limited: true, Max: n}} }

// Tokens is [Budget] for a number of tokens, as counted by count. A nil count is
// [ErrInvalidOption], and a budget of 0 or less except for a prompt. Tokens replaces an earlier
// Budget.
//
// The method calls count with whole texts, on the goroutine of its caller: once if the whole result
// fits, and otherwise as often as the logarithm of the number of entries or of the length of a
// prompt. The methods of files read all entries up to [Limit]. Accepted by the methods of Budget.
func Tokens(n int, count func(text string) int) BudgetOption {
	o := budgetOption{Budget: budget.Budget{Limited: true, Max: n, Count: count}}
	if count == nil {
		o.err = invalidOption("Tokens: the counter is nil; pass a function that counts the tokens of a text, or use Budget")
	}
	return o
}

// A BudgetOption is a [FileOption], an [InstructionOption] and so a [PromptOption].
type BudgetOption interface {
	FileOption
	InstructionOption
}

type budgetOption struct {
	budget.Budget
	err error
}

func (b budgetOption) applyDir(o *dirOptions) {
	switch {
	case b.err == nil && b.Max > 0:
	case b.err == nil && b.Count == nil:
		b.err = invalidOption("Budget: " + strconv.Itoa(b.Max) + " characters; use 1000 or more")
	case b.err == nil:
		b.err = invalidOption("Tokens: " + strconv.Itoa(b.Max) + " tokens; use 100 or more")
	}
	if b.err != nil {
		o.fail(b.err)
	}
	o.budget = b.Budget
}

func (b budgetOption) applyGrep(o *dirOptions) { b.applyDir(o) }

func (b budgetOption) applyPrompt(o *promptOptions) {
	o.budget, o.err = b.Budget, cmp.Or(o.err, b.err)
}

func (budgetOption) ofInstructions() {}

// A Progress is the state of a call that has not ended, or that has just ended.
//
// ListDir, Tree, FindFiles and Grep count all entries of the directories that they read,
// including entries that the options omit. Search, SearchSkills and Lint first scan the
// directories of commands or skills, and count the new and the changed files as Entries. Then
// they read the texts, and count the texts as Files. A Search reads only new and changed texts,
// and Lint reads all texts. The files that concurrent calls read count, because calls share
// their results.
type Progress struct {
	Entries int  `json:"entries"`         // number of entries seen so far
	Files   int  `json:"files,omitempty"` // number of files searched or checked so far, by Grep, Search, SearchSkills and Lint
	Done    bool `json:"done,omitempty"`  // the call ends without an error; no further report follows
}

// WithProgress is an option that reports the progress of a call to the function, about six times a
// second, and once at the end if the method returns no error. The numbers never decrease.
//
// The method calls the function on the goroutine of its caller, and works on another goroutine. A
// panic of the function ends the method. The function may call all methods of the catalog.
// WithProgress(nil) has no effect. Accepted by ListDir, Tree, FindFiles, Grep, Search, SearchSkills
// and Lint.
type WithProgress func(Progress)

func (f WithProgress) applyDir(o *dirOptions)       { o.progress = f }
func (f WithProgress) applyGrep(o *dirOptions)      { o.progress = f }
func (f WithProgress) applySearch(o *searchOptions) { o.progress = f }
func (f WithProgress) applyLint(o *lintOptions)     { o.progress = f }

// newReporter returns a reporter, or nil if f is nil. count returns numbers that never
// decrease.
func newReporter(f func(Progress), count func() (entries, files int64)) *parallel.Reporter {
	if f == nil {
		return nil
	}
	return parallel.NewReporter(func(entries, files int, done bool) { f(Progress{entries, files, done}) }, count)
}

// reporter returns the reporter of a call with WithProgress, or nil.
func (o *dirOptions) reporter() *parallel.Reporter {
	if o.progress == nil {
		return nil
	}
	seen, searched := new(atomic.Int64), new(atomic.Int64)
	o.seen, o.searched = seen, searched
	return newReporter(o.progress, func() (entries, files int64) { return seen.Load(), searched.Load() })
}

// A GrepMode is a [GrepOption] without a value. A call may have several modes, as arguments or
// joined by "|". A number with another bit than the constants is [ErrInvalidOption].
type GrepMode uint

const (
	// Literal searches for the text of the pattern: no character has a special meaning.
	Literal GrepMode = 1 << iota
	// IgnoreCase ignores the letter case of the pattern (Unicode simple folding).
	IgnoreCase
	// WholeWords requires that the characters before and after a match are not part of a word: not
	// a letter, a mark or a digit of any script, and not "_". The beginning and the end of a line
	// meet the requirement.
	WholeWords
	// FilesOnly returns the first matching line of each file, and does not search the rest of the
	// file, so Total is Files. The text has only the paths. Limit is a number of files.
	FilesOnly
	// CountOnly returns the first matching line of each file, and More is the number of its other
	// matching lines. The text has the paths and the numbers of lines. Limit is a number of files.
	CountOnly
)

func (m GrepMode) applyGrep(o *dirOptions) { o.modes |= m }
