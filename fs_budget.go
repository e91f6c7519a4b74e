package toolshelf

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// A budget limits the text of a result. The zero budget sets no limit.
type budget struct {
	limited bool
	max     int
	count   func(string) int // nil counts characters
}

// Budget limits the text of the result, the result of String, to n characters (Unicode code
// points), including the heading, the cursor, the warnings and the marks of the cuts. The
// fields of the result have only the entries of the text. Totals count all entries.
//
//   - ListDir returns the first entries. NextCursor continues after the last entry.
//   - FindFiles returns the first files in path order. Total counts all files.
//   - Grep returns the first match of each file, then the second matches, and so on, with their
//     Before and After. Total counts all matches.
//   - Tree returns entries of all levels. The text marks each cut, and names the budget.
//
// Tree adds one entry after the other, until the next entry does not fit. The subdirectories
// of the directory of the call come first. Then Tree proceeds in rounds. In each round, each
// directory in the tree adds its next 16 subdirectories or, after the last subdirectory, its
// next file. A directory adds its first entries four rounds after its own line, so a text shows
// many directories rather than the content of a few. 50 files beside 5 directories leave room
// for the files of the directories.
//
// With Budget, the Limit of Tree and Grep follows the same order. The default limit of Tree
// remains 10,000 entries, and the default limit of Grep 1,000 lines.
//
// A larger budget never shows fewer entries. If the whole result does not fit, the entries
// precede the warnings: the result has the first three warnings and the number of the others,
// or fewer if the rest of the budget is too small. A Hint of FindFiles and Grep that exceeds the
// budget is omitted. With Gitignore, 35 characters are reserved
// for the number of warnings.
//
// If the text without entries does not fit, the error is [ErrInvalidOption]. A listing needs its
// first entry. The error precedes the work if the budget is too small for any result of the method
// with the path, the pattern and the globs. No call returns the error from 400 characters for Tree
// and FindFiles, from 600 characters for Grep, and from 700 characters for ListDir, if the path has
// at most 100 characters, the pattern and the globs at most 100 characters together, and, for
// ListDir, the names and the targets of links at most 50 characters. A budget of 0 or less is
// [ErrInvalidOption]. Budget replaces an earlier [BudgetTokens].
//
// The memory depends on the budget, not on the number of entries. In the order ByName, ListDir
// reads the metadata only of entries that may fit. Accepted by ListDir, Tree, FindFiles and
// Grep.
func Budget(n int) DirOption {
	return func(o *dirOptions) {
		if n <= 0 {
			o.fail(invalidOption("Budget: " + strconv.Itoa(n) + " characters; use 1000 or more"))
		}
		o.budget = budget{limited: true, max: n}
	}
}

// BudgetTokens is [Budget] for a number of tokens, as counted by count. A budget of 0 or less
// and a nil count are [ErrInvalidOption]. BudgetTokens replaces an earlier Budget.
//
// The argument of count is always a whole text, and count has been called with the returned
// text. If the whole result fits, count is called once. Otherwise the number of calls grows
// with the logarithm of the number of entries. The method calls count on the goroutine of its
// caller. The methods read all entries up to Limit: use a Limit for ListDir and FindFiles.
//
// BudgetTokens assumes that a text with more entries has no fewer tokens. For a count that
// breaks this assumption, the text stays within the budget, but a longer text may exist.
// Accepted by ListDir, Tree, FindFiles and Grep.
func BudgetTokens(n int, count func(text string) int) DirOption {
	return func(o *dirOptions) {
		switch {
		case n <= 0:
			o.fail(invalidOption("BudgetTokens: " + strconv.Itoa(n) + " tokens; use 100 or more"))
		case count == nil:
			o.fail(invalidOption("BudgetTokens: the counter is nil; pass a function that counts the tokens of a text, or use Budget"))
		}
		o.budget = budget{limited: true, max: n, count: count}
	}
}

// String returns, for example, "300 characters".
func (b budget) String() string {
	if b.count != nil {
		return counted(b.max, "token", "tokens")
	}
	return counted(b.max, "character", "characters")
}

// lines returns a limit for the number of lines with at least min characters each.
func (b budget) lines(limit, min int) int {
	// A line more than the number of lines within the budget shows that the result is cut.
	return b.bound(limit, b.max/min+1)
}

// levels returns a limit for the number of levels of a tree. The indent grows by two characters
// with each level, so the lines of n levels have more than n*n characters.
func (b budget) levels(limit int) int {
	return b.bound(limit, int(math.Sqrt(float64(b.max)))+1)
}

// bound returns the smaller of a limit and n, or the limit for a budget of tokens. The limit 0
// means no limit.
func (b budget) bound(limit, n int) int {
	if !b.limited || b.count != nil || limit > 0 && limit < n {
		return limit
	}
	return n
}

// size returns the number of characters or tokens of a text.
func (b budget) size(text string) int {
	if b.count != nil {
		return b.count(text)
	}
	return utf8.RuneCountInString(text)
}

// fits reports whether a text is within the budget.
func (b budget) fits(text string) bool { return !b.limited || b.size(text) <= b.max }

// A cut describes how a budget reduces a result to its first entries.
type cut[T fmt.Stringer] struct {
	least, most int                              // the numbers of entries of the shortest and of the whole result
	at          func(n int, warnings []string) T // the result with the first n entries
	draft       func(n int) T                    // the result whose size decides about n
	warnings    func(result T) []string          // the warnings of a result of at
	sizes       func(least int) []int            // the sizes of all drafts from the size of draft(0); nil for a search
}

// fit returns the result with the most entries within the budget. Without sizes, a draft with
// more entries must not have a shorter text, except for draft(most). If draft(least) exceeds the budget,
// the error is [ErrInvalidOption].
func (c *cut[T]) fit(ctx context.Context, b budget) (T, error) {
	whole := c.at(c.most, nil)
	if warnings := c.warnings(whole); len(warnings) > 0 {
		whole = c.at(c.most, warnings)
	}
	if b.fits(whole.String()) {
		return whole, nil
	}
	n, err := c.search(ctx, b)
	if err != nil {
		var none T
		return none, err
	}
	// The text can be shorter than the text of the draft, and have more tokens.
	for ; n >= c.least; n-- {
		if result, ok := c.withWarnings(b, n); ok {
			return result, nil
		}
	}
	var none T
	return none, b.tooSmall(b.size(c.at(c.least, nil).String()))
}

func (c *cut[T]) search(ctx context.Context, b budget) (int, error) {
	if c.sizes != nil {
		sizes := c.sizes(b.size(c.draft(0).String()))
		for n, size := range slices.Backward(sizes) {
			if size <= b.max {
				return n, nil
			}
		}
		return 0, b.tooSmall(sizes[0])
	}
	if b.size(c.draft(c.most).String()) <= b.max {
		return c.most, nil
	}
	if size := b.size(c.draft(c.least).String()); size > b.max {
		return 0, b.tooSmall(size)
	}
	low, high := c.least, c.most // draft(low) fits, and draft(high) does not
	for low+1 < high {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if middle := low + (high-low)/2; b.size(c.draft(middle).String()) <= b.max {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// withWarnings returns the result with n entries and the first warnings, as many as fit, and
// reports whether the result is within the budget.
func (c *cut[T]) withWarnings(b budget, n int) (T, bool) {
	result := c.at(n, nil)
	warnings := c.warnings(result)
	for kept := min(len(warnings), maxWarnings); kept >= 0 && len(warnings) > 0; kept-- {
		some := warnings[:kept:kept]
		if further := len(warnings) - kept; further > 0 {
			some = append(some, furtherWarnings(further))
		}
		if warned := c.at(n, some); b.size(warned.String()) <= b.max {
			return warned, true
		}
	}
	return c.at(n, nil), b.size(result.String()) <= b.max
}

// maxWarnings is the number of warnings in a result that Budget cuts.
const maxWarnings = 3

func furtherWarnings(n int) string { return counted(n, "further warning", "further warnings") }

// reserved are warnings that stand for the shortest warnings of a call with the option
// Gitignore. A call with a larger budget reads more .gitignore files, and can have more
// warnings. The warnings must not displace entries.
func (o *dirOptions) reserved() []string {
	if !o.gitignore {
		return nil
	}
	return []string{furtherWarnings(99_999)}
}

// holds returns [ErrInvalidOption] if a budget of characters is smaller than a text. No result of
// the call has fewer characters than the text of shortest: "1 file" is shorter than "0 files".
func (b budget) holds(shortest fmt.Stringer) error {
	if b.limited && b.count == nil {
		if size := b.size(shortest.String()); size > b.max {
			return b.tooSmall(size)
		}
	}
	return nil
}

func (b budget) tooSmall(size int) error {
	option, shortest := "Budget", budget{max: size, count: b.count}
	if b.count != nil {
		option = "BudgetTokens"
	}
	return invalidOption(option + ": " + b.String() + " cannot hold the shortest result, " + shortest.String() + "; use a larger budget")
}
