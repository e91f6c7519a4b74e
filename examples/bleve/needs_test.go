package main

import (
	"bytes"
	"encoding/gob"
	"flag"
	"os"
	"testing"

	"github.com/blevesearch/bleve/v2"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

var (
	asked    = flag.String("asked", "", "a `file` with entries and queries")
	answered = flag.String("answered", "", "the `file` for the names that Bleve finds")
)

// TestAnswer writes what a Bleve index with the default mapping finds for the queries of the flag
// -asked, for internal/dev/needs.
func TestAnswer(t *testing.T) {
	if *asked == "" {
		t.Skip("TOOLSHELF_COMPARE=1 go test ./internal/dev/needs compares Bleve")
	}
	var question struct {
		Entries []struct{ Name, Description, Tags, Body string }
		Queries []struct{ Text string }
	}
	must.Do(t, gob.NewDecoder(bytes.NewReader(must.Get(os.ReadFile(*asked))(t))).Decode(&question))
	index := must.Get(bleve.NewMemOnly(bleve.NewIndexMapping()))(t)
	defer index.Close()
	batch := index.NewBatch()
	for _, e := range question.Entries {
		must.Do(t, batch.Index(e.Name, map[string]string{"name": e.Name, "description": e.Description, "tags": e.Tags, "body": e.Body}))
	}
	must.Do(t, index.Batch(batch))
	found := map[string][]string{}
	for _, q := range question.Queries {
		hits, _, err := engine{index}.Search(t.Context(), q.Text, 10)
		must.Do(t, err)
		names := []string{}
		for _, h := range hits {
			names = append(names, h.Name)
		}
		found[q.Text] = names
	}
	var answer bytes.Buffer
	must.Do(t, gob.NewEncoder(&answer).Encode(found))
	must.Do(t, os.WriteFile(*answered, answer.Bytes(), 0o644))
}
