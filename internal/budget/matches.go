package budget

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/shown"
)

// Matches returns the first match of each file, then the second matches, and so on, whose text is
// within the budget. Hint is empty if Hint exceeds the budget. The function row returns a match for
// a text, not a copy.
func Matches[M any](ctx context.Context, b Budget, m shown.Matches[M],
	row func(*M) *shown.Match) (shown.Matches[M], error) {
	if !b.Limited {
		return m, nil
	}
	o, warnings, whole, hint := newMatchOrder(m, row), m.Warnings, m.Limits, m.Hint
	m.Hint = ""
	limits := func(n int) []string {
		if n < len(o.matches) {
			return []string{b.String()} // smaller than the limit of lines
		}
		return whole
	}
	rest := func(n int) int {
		var b strings.Builder
		shown.WriteRest(&b, m.Output, m.Total-n, m.Files-min(n, o.files), limits(n))
		return utf8.RuneCountInString(b.String())
	}
	c := cut[shown.Matches[M]]{
		most: len(m.Matches),
		at: func(n int, warnings []string) shown.Matches[M] {
			m.Matches, m.Limits, m.Warnings = o.first(n), limits(n), warnings
			return m
		},
		text:     func(m shown.Matches[M]) string { return m.Text(row) },
		warnings: func(shown.Matches[M]) []string { return warnings },
		sizes:    func(least int) []int { return o.sizes(least, m.Files, rest) },
	}
	found, err := c.fit(ctx, b)
	if found.Hint = hint; err != nil || hint != "" && !b.fits(c.text(found)) {
		found.Hint = ""
	}
	return found, err
}

// A matchOrder is the order in which a budget adds matches: the first match of each file, then the
// second matches, and so on.
type matchOrder[M any] struct {
	matches   []M // in path order
	output    string
	row       func(*M) *shown.Match
	further   []int // for each match: number of further matching lines of the file
	additions []int // indexes of matches
	files     int   // number of files; the first additions are the first matches of the files
}

func newMatchOrder[M any](m shown.Matches[M], row func(*M) *shown.Match) *matchOrder[M] {
	matches := m.Matches
	o := &matchOrder[M]{matches: matches, output: m.Output, row: row, further: make([]int, len(matches)), additions: make([]int, len(matches))}
	for i := len(matches) - 1; i >= 0; i-- {
		if o.further[i] = row(&matches[i]).More; i+1 < len(matches) && o.continues(i+1) {
			o.further[i] = o.further[i+1] + 1
		}
	}
	index := make([]int, len(matches)) // in the file
	for i := range matches {
		if o.additions[i] = i; o.continues(i) {
			index[i] = index[i-1] + 1
		} else {
			o.files++
		}
	}
	slices.SortStableFunc(o.additions, func(i, j int) int { return cmp.Compare(index[i], index[j]) })
	return o
}

// continues reports whether a match follows another match of the same file.
func (o *matchOrder[M]) continues(i int) bool {
	return i > 0 && o.row(&o.matches[i-1]).Path == o.row(&o.matches[i]).Path
}

// first returns the first n matches of the order, in path order.
func (o *matchOrder[M]) first(n int) []M {
	added := slices.Clone(o.additions[:n])
	slices.Sort(added)
	found := make([]M, n)
	for i, k := range added {
		found[i] = o.matches[k]
		match := o.row(&found[i])
		if match.More = 0; i+1 == n || match.Path != o.row(&o.matches[added[i+1]]).Path {
			match.More = o.further[k]
		}
	}
	return found
}

// sizes returns the number of characters of the text with the first n matches, for each n. least is
// the number for n = 0, and rest returns the number of characters of the line about the other
// matches. The text of more matches can be shorter, because the last match of a file replaces a
// line "… and 1 more".
func (o *matchOrder[M]) sizes(least, files int, rest func(n int) int) []int {
	sizes := append(make([]int, 0, len(o.additions)+1), least)
	size, gaps, context := least-rest(0), 0, false
	var previous *shown.Match // nil before the first match, which may have an empty line above
	for n, i := range o.additions {
		match := *o.row(&o.matches[i])
		if o.continues(i) {
			previous = o.row(&o.matches[i-1])
		}
		var b, before strings.Builder
		match.More = o.further[i]
		match.Write(&b, o.output, previous)
		match.WriteMore(&b, o.output, files)
		if o.continues(i) {
			match.More++
			match.WriteMore(&before, o.output, files)
		}
		size += utf8.RuneCountInString(b.String()) - utf8.RuneCountInString(before.String())
		context = context || match.HasContext()
		if o.continues(i) && !match.Follows(previous) {
			gaps++
		}
		previous = o.row(&o.matches[i])
		sizes = append(sizes, size+rest(n+1))
		if context {
			sizes[n+1] += gaps * len(shown.ContextGap)
		}
	}
	return sizes
}
