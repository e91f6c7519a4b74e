package rank

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// queries holds a query of each kind over the documents of commands.
var queries = map[string]string{
	"rare": "w997", "hit": "w1 w3", "mistyped": "qualtiy", "beginning": "kin",
	"nothing": "zebrafish quagga", "named": "name5",
}

// commands puts the names of n documents and then the texts, as a first search does.
func commands(n int) *Corpus {
	x := new(Corpus)
	var a Analyzer
	for _, format := range []string{"", "w%d w%d w%d w%d"} {
		for i := range n {
			d := Document{Name: fmt.Sprintf("name%d-of-kind%d", i, i%50), Description: "Words of quality"}
			if format != "" {
				d.Body = fmt.Sprintf(format, i, i%3, i%100, i%1000)
			}
			a.Analyze(d)
			x.PutAnalyzed(d.Name, &a)
		}
		x.Flush()
	}
	return x
}

// BenchmarkQuery counts the terms and the memory of a query of each kind.
func BenchmarkQuery(b *testing.B) {
	x := commands(8000)
	for _, kind := range slices.Sorted(maps.Keys(queries)) {
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			terms := 0
			for b.Loop() {
				found := must.Get(x.Search(b.Context(), queries[kind], 10, nil, nil))(b)
				terms += found.Terms
			}
			b.ReportMetric(float64(terms)/float64(b.N), "terms/op")
		})
	}
}

// A query without a hit costs at most three times a rare word, and no more among many documents.
func TestAQueryWithoutAHitCostsLittle(t *testing.T) {
	cost := func(x *Corpus, kind string) (terms int, bytes uint64) {
		bytes = math.MaxUint64
		for range 50 { // under the race detector, a pool drops values at random
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			found, err := x.Search(t.Context(), queries[kind], 10, nil, nil)
			runtime.ReadMemStats(&after)
			if err != nil || (kind == "nothing") != (len(found.Hits) == 0) {
				t.Fatalf("%s: %d hits, %v", kind, len(found.Hits), err)
			}
			terms, bytes = found.Terms, min(bytes, after.TotalAlloc-before.TotalAlloc)
		}
		return terms, bytes
	}
	few, many := commands(1000), commands(8000)
	rareTerms, rareBytes := cost(many, "rare")
	fewTerms, _ := cost(few, "nothing")
	terms, bytes := cost(many, "nothing")
	if terms > 3*rareTerms || terms > fewTerms || bytes > 3*rareBytes {
		t.Errorf("%d terms (%d among fewer documents) and %d bytes; a rare word: %d terms and %d bytes",
			terms, fewTerms, bytes, rareTerms, rareBytes)
	}
}
