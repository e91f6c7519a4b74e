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
		most := rapid.SampledFrom([]uint32{10, 1000, 100_000}).Draw(t, "documents")
		for range rapid.IntRange(0, 40).Draw(t, "changes") {
			first := rapid.Uint32Range(0, most).Draw(t, "first")
			step := rapid.Uint32Range(1, 300).Draw(t, "step")
			add := rapid.Bool().Draw(t, "add")
			c := counts(rapid.Uint32Range(1, 1<<30-1).Draw(t, "counts"))
			for i := range rapid.Uint32Range(1, 400).Draw(t, "documents") {
				doc := first + i*step
				if _, there := want[doc]; add {
					p.put(posting{doc, c})
					want[doc] = c
				} else if there {
					p.remove(doc)
					delete(want, doc)
				}
			}
		}
		var all []posting
		for _, doc := range slices.Sorted(maps.Keys(want)) {
			all = append(all, posting{doc, want[doc]})
		}
		got := slices.Collect(p.all)
		if diff := cmp.Diff(all, got, cmp.AllowUnexported(posting{})); diff != "" || int(p.len) != len(all) {
			t.Errorf("%d postings, -want +got:\n%s", p.len, diff)
		}
		for _, one := range all {
			if c := p.of(one.doc); c != one.counts {
				t.Errorf("document %d has %d, want %d", one.doc, c, one.counts)
			}
			if c := p.of(one.doc + 1); c != want[one.doc+1] {
				t.Errorf("document %d has %d, want %d", one.doc+1, c, want[one.doc+1])
			}
		}
		for i := range p.blocks {
			if b := p.blocks[i]; len(b.data) == 0 || len(b.data) > 2*fullBlock+10 {
				t.Errorf("a block of %d bytes", len(b.data))
			}
		}
	})
}
