// Package budget reduces results to the first entries whose text is within a number of characters
// or tokens.
package budget

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/shown"
)

// A Budget limits a text. The zero Budget sets no limit.
type Budget struct {
	Limited bool
	Max     int
	Count   func(string) int // nil counts characters

	// Reserve reserves characters for the shortest warnings, because a call with a larger budget
	// can have more warnings. The warnings must not displace entries.
	Reserve bool
}

// String returns, for example, "300 characters".
func (b Budget) String() string {
	if b.Count != nil {
		return shown.Counted(b.Max, "token", "tokens")
	}
	return shown.Counted(b.Max, "character", "characters")
}

// Lines returns a limit for the number of lines with at least min characters each. The limit 0
// means no limit.
func (b Budget) Lines(limit, min int) int {
	// A line more than the number of lines within the budget shows that the result is cut.
	return b.bound(limit, b.Max/min+1)
}

// Levels returns a limit for the number of levels of a tree. The indent grows by two characters
// with each level, so the lines of n levels have more than n*n characters.
func (b Budget) Levels(limit int) int {
	return b.bound(limit, int(math.Sqrt(float64(b.Max)))+1)
}

// bound returns the smaller of a limit and n, or the limit for a budget of tokens.
func (b Budget) bound(limit, n int) int {
	if !b.Limited || b.Count != nil || limit > 0 && limit < n {
		return limit
	}
	return n
}

// size returns the number of characters or tokens of a text.
func (b Budget) size(text string) int {
	if b.Count != nil {
		return b.Count(text)
	}
	return utf8.RuneCountInString(text)
}

func (b Budget) fits(text string) bool { return !b.Limited || b.size(text) <= b.Max }

// A TooSmallError is the error of a budget that cannot hold the shortest result.
type TooSmallError struct {
	Budget Budget
	Size   int // of the shortest result
}

func (e *TooSmallError) Error() string {
	shortest := Budget{Max: e.Size, Count: e.Budget.Count}
	return e.Budget.String() + " cannot hold the shortest result, " + shortest.String() + "; use a larger budget"
}

// Holds returns a TooSmallError if a budget of characters is smaller than a text. No result of the
// call has fewer characters than the text of shortest: "1 file" is shorter than "0 files".
func (b Budget) Holds(shortest fmt.Stringer) error {
	if b.Limited && b.Count == nil {
		if size := b.size(shortest.String()); size > b.Max {
			return &TooSmallError{b, size}
		}
	}
	return nil
}

// A Text is a text with a number of entries.
type Text struct {
	Entries int
	Text    string
	Size    int // in characters or tokens
}

// Measure returns a Text.
func (b Budget) Measure(entries int, text string) Text { return Text{entries, text, b.size(text)} }

// Longest returns the text with the most entries, up to most, within the budget. If the text low is
// not within the budget, only the text with most entries can be. Otherwise a text with more entries
// must not be shorter. If no text is within the budget, Longest returns low. The function estimate
// returns numbers that grow with the sizes of the texts. If ctx ends, the result has no meaning.
//
// A counter of the caller is expensive. For most counters, a good guess is the interpolation
// between low and high. Every second guess is the middle, to limit the number of texts for every
// counter.
func (b Budget) Longest(ctx context.Context, low Text, most int, estimate func(entries int) int,
	text func(entries int) string) Text {
	high := b.Measure(most, text(most))
	if high.Size <= b.Max {
		return high
	}
	for middle := false; low.Size <= b.Max && low.Entries+1 < high.Entries && ctx.Err() == nil; middle = !middle {
		share := 0.5
		if !middle {
			share = float64(b.Max-low.Size) / float64(high.Size-low.Size)
		}
		from, to := estimate(low.Entries), estimate(high.Entries)
		wanted := from + int(share*float64(to-from))
		guess := low.Entries + sort.Search(high.Entries-low.Entries, func(i int) bool { return estimate(low.Entries+i) > wanted }) - 1
		guess = min(max(guess, low.Entries+1), high.Entries-1)
		if next := b.Measure(guess, text(guess)); next.Size <= b.Max {
			low = next
		} else {
			high = next
		}
	}
	return low
}

// A cut describes how a budget reduces a result to its first entries.
type cut[T any] struct {
	// The numbers of entries of the shortest and of the whole result.
	least, most int
	at          func(n int, warnings []string) T // the result with the first n entries
	// The result whose size decides about n; nil for at with the reserved warnings.
	draft    func(n int) T
	text     func(result T) string
	warnings func(result T) []string // the warnings of a result of at
	// The sizes of all drafts from the size of draft(0); nil for a search.
	sizes func(least int) []int
}

// fit returns the result with the most entries within the budget. Without sizes, a draft with more
// entries must not have a shorter text, except for draft(most). If draft(least) exceeds the budget,
// the error is a TooSmallError.
func (c *cut[T]) fit(ctx context.Context, b Budget) (T, error) {
	whole := c.at(c.most, nil)
	if warnings := c.warnings(whole); len(warnings) > 0 {
		whole = c.at(c.most, warnings)
	}
	if !b.Limited || b.fits(c.text(whole)) {
		return whole, nil
	}
	n, err := c.search(ctx, b)
	// The text can be shorter than the text of the draft, and have more tokens.
	for ; err == nil && n >= c.least; n-- {
		if result, ok := c.withWarnings(b, n); ok {
			return result, nil
		}
	}
	if err == nil {
		err = &TooSmallError{b, b.size(c.text(c.at(c.least, nil)))}
	}
	var none T
	return none, err
}

func (c *cut[T]) search(ctx context.Context, b Budget) (int, error) {
	draft := func(n int) string {
		if c.draft != nil {
			return c.text(c.draft(n))
		}
		return c.text(c.at(n, b.reserved()))
	}
	if c.sizes != nil && b.Count == nil {
		sizes := c.sizes(b.size(draft(0)))
		for n, size := range slices.Backward(sizes) {
			if size <= b.Max {
				return n, nil
			}
		}
		return 0, &TooSmallError{b, sizes[0]}
	}
	least := b.Measure(c.least, draft(c.least))
	found := b.Longest(ctx, least, c.most, func(n int) int { return n }, draft)
	if found.Size > b.Max {
		return 0, &TooSmallError{b, least.Size}
	}
	return found.Entries, ctx.Err()
}

// withWarnings returns the result with n entries and the first warnings, as many as fit, and
// reports whether the result is within the budget.
func (c *cut[T]) withWarnings(b Budget, n int) (T, bool) {
	result := c.at(n, nil)
	warnings := c.warnings(result)
	for kept := min(len(warnings), maxWarnings); kept >= 0 && len(warnings) > 0; kept-- {
		some := warnings[:kept:kept]
		if further := len(warnings) - kept; further > 0 {
			some = append(some, furtherWarnings(further))
		}
		if warned := c.at(n, some); b.fits(c.text(warned)) {
			return warned, true
		}
	}
	return c.at(n, nil), b.fits(c.text(result))
}

// maxWarnings is the number of warnings in a result that a budget cuts.
const maxWarnings = 3

// reserved returns warnings that stand for the shortest warnings of a call.
func (b Budget) reserved() []string {
	if !b.Reserve {
		return nil
	}
	return []string{furtherWarnings(reservedNumber)}
}

// reservedNumber stands for a number of at most five digits that a larger budget can change.
const reservedNumber = 99_999

func furtherWarnings(n int) string { return shown.Counted(n, "further warning", "further warnings") }
