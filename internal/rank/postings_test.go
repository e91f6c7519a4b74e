package rank

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Postings are a map from documents to counts, sorted by document.
func TestPostingsAreASortedMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p postings
		want := map[uint32]counts{}
		for range rapid.IntRange(0, 100).Draw(t, "changes") {
			doc := rapid.Uint32Range(0, 30).Draw(t, "document")
			if rapid.Bool().Draw(t, "merge") {
				var more postings
				for n := range rapid.Uint32Range(0, 5).Draw(t, "documents") {
					if d := (doc + 7*n) % 31; want[d] == 0 {
						more = append(more, posting{d, 1})
						want[d] = 1
					}
				}
				p.merge(more)
			} else if c := counts(rapid.Uint32Range(0, 9).Draw(t, "counts")); c > 0 {
				p.put(posting{doc, c})
				want[doc] = c
			} else {
				p.remove(doc)
				delete(want, doc)
			}
		}
		var all postings
		for _, doc := range slices.Sorted(maps.Keys(want)) {
			all = append(all, posting{doc, want[doc]})
		}
		if diff := cmp.Diff(all, p, cmp.AllowUnexported(posting{})); diff != "" && len(p) > 0 {
			t.Errorf("-want +got:\n%s", diff)
		}
		for doc := range uint32(32) {
			if c := p.of(doc); c != want[doc] {
				t.Errorf("document %d has %d, want %d", doc, c, want[doc])
			}
		}
	})
}
