package names

import (
	"iter"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest returns the candidate with the smallest edit distance to name, for a
// "did you mean" message. Letter case does not count. If several candidates have
// the same distance, Nearest returns the first in the order of [Compare]. If the
// distance of every candidate exceeds limit, Nearest returns "".
//
// If accept is not nil, Nearest omits the candidates that accept refuses. Nearest
// calls accept only for a candidate that is nearer than all earlier ones, because
// accept may be slow.
func Nearest(
	name string, candidates iter.Seq[string], limit int, accept func(candidate string) bool,
) string {
	nearest := ""
	name = strings.ToLower(name)
	wanted, letters := []rune(name), letterSet(name)
	for candidate := range candidates {
		d := edits(wanted, letters, candidate, limit)
		if d > limit || d == limit && nearest != "" && Compare(candidate, nearest) >= 0 {
			continue
		}
		if accept == nil || accept(candidate) {
			nearest, limit = candidate, d
		}
	}
	return nearest
}

// Near reports whether at most limit edits turn a name into another name. Letter case does not
// count.
func Near(name, other string, limit int) bool {
	name = strings.ToLower(name)
	return edits([]rune(name), letterSet(name), other, limit) <= limit
}

// edits returns the distance of a name in lower case, given with its letters, from a candidate, or
// any number above the limit.
func edits(wanted []rune, letters uint64, candidate string, limit int) int {
	n := utf8.RuneCountInString(candidate)
	if d := max(n-len(wanted), len(wanted)-n); d > limit {
		return d
	}
	lower := strings.ToLower(candidate)
	of := letterSet(lower) // each letter that one name lacks is an edit
	if d := max(bits.OnesCount64(letters&^of), bits.OnesCount64(of&^letters)); d > limit {
		return d
	}
	return distance(wanted, []rune(lower))
}

// letterSet returns the set of the letters of a name, modulo 64.
func letterSet(name string) (set uint64) {
	for _, r := range name {
		set |= 1 << (r % 64)
	}
	return set
}

// Similar returns the candidate that name probably means, or "". Arguments may follow the name, and
// the part before the last colon may be missing. The longer the name, the more edits a similar name
// may have.
func Similar(name string, candidates iter.Seq[string]) string {
	words := strings.Fields(name)
	for _, whole := range slices.Compact(append(words[:min(len(words), 1)], name)) {
		nearest := Nearest(whole, candidates, 0, nil)
		if nearest == "" {
			nearest = withoutPrefix(whole, candidates)
		}
		if nearest != "" {
			return nearest
		}
	}
	limit := min(utf8.RuneCountInString(name)/4, 2)
	nearest := Nearest(name, candidates, limit, nil)
	if nearest == "" && limit == 0 {
		// For a name of up to three letters, only other letter cases and two swapped letters are
		// similar.
		nearest = Nearest(name, candidates, 1, func(other string) bool {
			return sorted(other) == sorted(name)
		})
	}
	return nearest
}

// withoutPrefix returns the first candidate, in the order of Compare, whose part after the last
// colon is name.
func withoutPrefix(name string, candidates iter.Seq[string]) (first string) {
	for candidate := range candidates {
		i := strings.LastIndexByte(candidate, ':')
		if i >= 0 && strings.EqualFold(candidate[i+1:], name) &&
			(first == "" || Compare(candidate, first) < 0) {
			first = candidate
		}
	}
	return first
}

// sorted returns the letters of a name in lower case and in order.
func sorted(name string) string {
	return string(slices.Sorted(slices.Values([]rune(strings.ToLower(name)))))
}

// distance returns the number of edits that turn a into b. An edit inserts,
// removes or replaces a letter, or swaps two adjacent letters. No letter is
// edited twice (optimal string alignment).
func distance(a, b []rune) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		next[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
