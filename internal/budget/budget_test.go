package budget

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The sizes of the texts grow by any steps. The search measures about twice the logarithm of the
// number of texts.
func TestLongestFindsTheTextWithTheMostEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 1000)), 1, 200).Draw(t, "steps")
		sizes := []int{0}
		for _, step := range steps {
			sizes = append(sizes, sizes[len(sizes)-1]+step)
		}
		last := len(sizes) - 1
		calls := 0
		b := Budget{Limited: true, Max: rapid.IntRange(0, max(sizes[last]-1, 0)).Draw(t, "budget"), Count: func(text string) int {
			calls++
			return len(text)
		}}
		if sizes[last] <= b.Max {
			return
		}
		found := b.Longest(context.Background(), Text{}, last, func(n int) int { return n },
			func(n int) string { return strings.Repeat("x", sizes[n]) })
		want, _ := slices.BinarySearch(sizes, b.Max+1)
		if found.Entries != want-1 || found.Size != sizes[want-1] {
			t.Errorf("%d entries; want %d of %v", found.Entries, want-1, sizes)
		}
		if calls > 17 {
			t.Errorf("%d texts measured of %d", calls, last)
		}
	})
}
