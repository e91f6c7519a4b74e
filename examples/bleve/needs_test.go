package main

import (
	"testing"

	"github.com/blevesearch/bleve/v2"

	"github.com/toolshelf-go/toolshelf/internal/dev/needs"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// The built-in search answers requests better than a Bleve index with the default mapping. The test
// logs all scores.
func TestTheBuiltInSearchAnswersRequestsBetterThanBleve(t *testing.T) {
	for _, part := range []string{"commands", "skills"} {
		entries, queries := needs.Read(t, part)
		index := must.Get(bleve.NewMemOnly(bleve.NewIndexMapping()))(t)
		batch, ranked := index.NewBatch(), needs.Ranker(t, entries)
		for _, e := range entries {
			must.Do(t, batch.Index(e.Name, map[string]string{"name": e.Name, "description": e.Description, "tags": e.Tags, "body": e.Body}))
		}
		must.Do(t, index.Batch(batch))
		for _, kind := range []needs.Kind{needs.Need, needs.Request, needs.Words, needs.Mistyped, needs.Heading} {
			bleves := needs.Measure(queries, kind, func(text string) (names []string) {
				hits, _, err := engine{index}.Search(t.Context(), text, 10)
				must.Do(t, err)
				for _, h := range hits {
					names = append(names, h.Name)
				}
				return names
			})
			ours := needs.Measure(queries, kind, ranked)
			for half := range ours {
				t.Logf("%s, %s, half %d: nDCG@10 %.3f, of Bleve %.3f", part, kind, half, ours[half].NDCG, bleves[half].NDCG)
				if kind == needs.Request && ours[half].NDCG <= bleves[half].NDCG {
					t.Errorf("%s, half %d: the built-in search is not above Bleve", part, half)
				}
			}
		}
		index.Close()
	}
}
