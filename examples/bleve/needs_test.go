package main

import (
	"os"
	"testing"

	"github.com/blevesearch/bleve/v2"

	"github.com/toolshelf-go/toolshelf/internal/dev/needs"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/rank"
)

// The built-in search answers requests better than a Bleve index with the default mapping. The test
// logs all scores.
func TestTheBuiltInSearchAnswersRequestsBetterThanBleve(t *testing.T) {
	corpus := os.Getenv("TOOLSHELF_CORPUS")
	if corpus == "" {
		t.Skip("TOOLSHELF_CORPUS is not set; set the variable to a directory of public command and skill files")
	}
	for _, part := range []string{"commands", "skills"} {
		entries, queries, err := needs.Read(corpus, part)
		if err != nil {
			t.Fatal(err)
		}
		index := must.Get(bleve.NewMemOnly(bleve.NewIndexMapping()))(t)
		batch, ranked := index.NewBatch(), new(rank.Corpus)
		for _, e := range entries {
			must.Do(t, batch.Index(e.Name, map[string]string{"name": e.Name, "description": e.Description, "tags": e.Tags, "body": e.Body}))
			ranked.Put(e.Name, rank.Document{Name: e.Name, Description: e.Description, Tags: e.Tags, Body: e.Body})
		}
		must.Do(t, index.Batch(batch))
		for _, kind := range []needs.Kind{needs.Need, needs.Request, needs.Words, needs.Mistyped, needs.Heading} {
			bleves, err := needs.Measure(queries, kind, func(text string) (names []string, err error) {
				hits, _, err := engine{index}.Search(t.Context(), text, 10)
				for _, h := range hits {
					names = append(names, h.Name)
				}
				return names, err
			})
			if err != nil {
				t.Fatal(err)
			}
			ours, err := needs.Measure(queries, kind, func(text string) (names []string, err error) {
				found, err := ranked.Search(t.Context(), text, 10, nil, nil)
				for _, h := range found.Hits {
					names = append(names, h.Name)
				}
				return names, err
			})
			if err != nil {
				t.Fatal(err)
			}
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
