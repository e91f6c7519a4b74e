package toolshelf

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// minMatchLine is the smallest number of characters of a matching line, such as "\n  a:1:".
const minMatchLine = 7

func (m TextMatches) within(ctx context.Context, o *dirOptions) (TextMatches, error) {
	if !o.budget.limited {
		return m, nil
	}
	order, reported, whole, hint := newGrepOrder(m.Matches), m.Warnings, m.Limits, m.Hint
	m.Hint = ""
	lines := limitOfLines(o.limitOr(defaultGrepLimit))
	cutLimits := slices.DeleteFunc(slices.Clone(whole), func(limit string) bool { return limit == lines }) // the budget is smaller
	cutLimits = append(cutLimits, o.budget.String())
	limits := func(n int) []string {
		if n < len(order.matches) {
			return cutLimits
		}
		return whole
	}
	c := cut[TextMatches]{
		most: len(m.Matches),
		at: func(n int, warnings []string) TextMatches {
			m.Matches, m.Limits, m.Warnings = order.first(n), limits(n), warnings
			return m
		},
		warnings: func(TextMatches) []string { return reported },
	}
	c.draft = func(n int) TextMatches { return c.at(n, o.reserved()) }
	if o.budget.count == nil {
		rest := func(n int) int {
			var b strings.Builder
			writeRest(&b, m.Total-n, m.Files-min(n, order.files), limits(n))
			return utf8.RuneCountInString(b.String())
		}
		c.sizes = func(least int) []int { return order.sizes(least, m.Files, rest) }
	}
	found, err := c.fit(ctx, o.budget)
	if found.Hint = hint; err != nil || hint != "" && !o.budget.fits(found.String()) {
		found.Hint = ""
	}
	return found, err
}

// A grepOrder is the order in which Budget adds the matches of Grep: the first match of each file,
// then the second matches, and so on.
type grepOrder struct {
	matches   []TextMatch // in path order
	further   []int       // for each match: number of further matching lines of the file
	additions []int       // indexes of matches
	files     int         // number of files; the first additions are the first matches of the files
}

func newGrepOrder(matches []TextMatch) *grepOrder {
	o := &grepOrder{matches: matches, further: make([]int, len(matches)), additions: make([]int, len(matches))}
	for i := len(matches) - 1; i >= 0; i-- {
		if o.further[i] = matches[i].More; i+1 < len(matches) && matches[i+1].Path == matches[i].Path {
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
func (o *grepOrder) continues(i int) bool { return i > 0 && o.matches[i-1].Path == o.matches[i].Path }

// first returns the first n matches of the order, in path order.
func (o *grepOrder) first(n int) []TextMatch {
	added := slices.Clone(o.additions[:n])
	slices.Sort(added)
	found := make([]TextMatch, n)
	for i, k := range added {
		found[i] = o.matches[k]
		if found[i].More = 0; i+1 == n || found[i].Path != o.matches[added[i+1]].Path {
			found[i].More = o.further[k]
		}
	}
	return found
}

// sizes returns the number of characters of the text with the first n matches, for each n. least
// is the number for n = 0, and rest returns the number of characters of the line about the other
// matches. The text of more matches can be shorter, because the last match of a
// file replaces a line "… and 1 more".
func (o *grepOrder) sizes(least, files int, rest func(n int) int) []int {
	sizes := append(make([]int, 0, len(o.additions)+1), least)
	size, gaps, context := least-rest(0), 0, false
	for n, i := range o.additions {
		match := o.matches[i]
		var b, before strings.Builder
		match.write(&b)
		match.More = o.further[i]
		match.writeMore(&b, files)
		if o.continues(i) {
			match.More++
			match.writeMore(&before, files)
		}
		size += utf8.RuneCountInString(b.String()) - utf8.RuneCountInString(before.String())
		context = context || match.hasContext()
		if n > 0 && !(o.continues(i) && match.follows(&o.matches[i-1])) {
			gaps++
		}
		sizes = append(sizes, size+rest(n+1))
		if context {
			sizes[n+1] += gaps * len(contextGap)
		}
	}
	return sizes
}
