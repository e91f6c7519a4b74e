package rank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/vector"
)

// at returns a vector at an angle, in degrees, to the point of the queries.
func at(degrees float64) *vector.Cell {
	v := new(vector.Cell)
	v.Set(*pointAt(degrees))
	return v
}

func pointAt(degrees float64) *vector.Point {
	sin, cos := math.Sincos(degrees / 180 * math.Pi)
	p, ok := vector.NewPoint([]float32{float32(cos), float32(sin), 0})
	if !ok {
		panic("no point")
	}
	return &p
}

// crowd returns n documents whose meanings are near 90 degrees.
func crowd(n int) (all []Document) {
	for i := range n {
		all = append(all, Document{Name: fmt.Sprintf("x%d", i), Vector: at(85 + float64(i%11))})
	}
	return all
}

func TestMeaningJoinsTheRankOfWords(t *testing.T) {
	meant := Document{Name: "meant", Vector: at(0)}
	word := Document{Name: "word", Description: "deploy some other long text about nothing", Vector: at(90)}
	both := Document{Name: "both", Description: "deploy some other long text about nothing", Vector: at(40)}
	named := Document{Name: "deploy-zebra-quagga-okapi", Vector: at(180)}
	for _, test := range []struct {
		name      string
		documents []Document
		want      string
	}{
		{"a meaning without a word, beside a weaker hit", append(crowd(28), meant, word), "meant/2 word/2"},
		{"a nearer meaning goes before the same words", append(crowd(28), word, both), "both/2 word/2"},
		{"a name goes before every meaning", append(crowd(28), meant, named, both), "deploy-zebra-quagga-okapi/1 both/2 meant/2"},
		{"below 30 documents, a meaning needs a word", append(crowd(20), meant, word, both), "both/2 word/2"},
		{"below two standard deviations, a meaning needs a word", append(crowd(28), Document{Name: "weak", Vector: at(84.5)}, word), "word/2"},
		{"equal meanings", []Document{word, {Name: "b", Vector: at(90)}}, "word/2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := indexOf(test.documents...).Search(t.Context(), "deploy zebra quagga okapi", 100, nil, pointAt(0))
			if err != nil || !found.Semantic || found.Total != len(found.Hits) {
				t.Errorf("%d hits of %d, semantic: %v, %v", len(found.Hits), found.Total, found.Semantic, err)
			}
			must.Match(t, "result", test.want, keys(found.Hits))
			for _, h := range found.Hits {
				if (h.Reason == "meaning") != (h.Key == "meant") || h.Score > 1 || h.Tier == Matched && h.Score > namedFloor {
					t.Errorf("%+v", h)
				}
			}
		})
	}
}

// The test computes the documented formula with floating-point numbers.
func TestMeaningAddsItsStandardScoreToTheShareOfWords(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{5, 29, 30, 200} {
		var documents []Document
		cosines := map[string]float64{}
		for i := range n {
			text := "nothing"
			if i%2 == 0 {
				text = "deploy " + strings.Repeat("word ", random.IntN(20))
			}
			d := Document{Name: fmt.Sprintf("d%d", i), Description: text, Vector: at(random.Float64() * 180)}
			cosines[d.Name] = vector.NewQuery(pointAt(0)).Cosine(d.Vector.Point())
			documents = append(documents, d)
		}
		x := indexOf(documents...)
		mean, deviation := 0.0, 1.0
		if n >= 30 {
			sum, squares := 0.0, 0.0
			for _, c := range cosines {
				sum, squares = sum+c, squares+c*c
			}
			mean = sum / float64(n)
			deviation = math.Sqrt(squares/float64(n) - mean*mean)
		}
		want := map[string]float64{}
		for _, h := range find(t, x, "deploy") {
			want[h.Key] = (h.Score - matchedFloor) / (namedFloor - matchedFloor)
		}
		for name, c := range cosines {
			z := (c - mean) / deviation
			if want[name] > 0 || z >= 2 {
				want[name] += 0.35 * max(0, z) / 6
			}
		}
		highest := 1.0
		for _, share := range want {
			highest = max(highest, share)
		}
		found, err := x.Search(t.Context(), "deploy", 1000, nil, pointAt(0))
		if err != nil || len(found.Hits) != len(want) {
			t.Errorf("%d documents: %d hits, want %d, %v", n, len(found.Hits), len(want), err)
		}
		for _, h := range found.Hits {
			if score := matchedFloor + (namedFloor-matchedFloor)*want[h.Key]/highest; math.Abs(h.Score-score) > 0.001 {
				t.Errorf("%d documents: %s has the score %f, want %f", n, h.Key, h.Score, score)
			}
		}
	}
}

func TestHitsByMeaningDependOnlyOnTheDocuments(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	documents := crowd(60)
	for i := range 10 {
		documents = append(documents, Document{Name: fmt.Sprintf("m%d", i), Description: "deploy", Vector: at(float64(7 * i))})
	}
	search := func(all []Document) []Hit {
		x := indexOf(all...)
		x.Put("gone", Document{Name: "gone", Vector: at(0)})
		x.Remove("gone")
		found := must.Get(x.Search(t.Context(), "deploy", 50, nil, pointAt(0)))(t)
		return found.Hits
	}
	want := search(documents)
	for range 5 {
		random.Shuffle(len(documents), func(i, j int) { documents[i], documents[j] = documents[j], documents[i] })
		must.Match(t, "result", want, search(documents))
	}
}

func TestAHiddenDocumentChangesNothingInTheMeanings(t *testing.T) {
	shown := append(crowd(40), Document{Name: "meant", Vector: at(20)})
	want, err := indexOf(shown...).Search(t.Context(), "deploy", 50, nil, pointAt(0))
	if err != nil || keys(want.Hits) != "meant/2" {
		t.Fatalf("%s, %v", keys(want.Hits), err)
	}
	hidden := slices.Clone(shown)
	for i := range 30 {
		hidden = append(hidden, Document{Name: fmt.Sprintf("hidden%d", i), Vector: at(0)})
	}
	hidden = append(hidden, Document{Name: "hidden", Vector: new(vector.Cell)}) // unknown
	keep := func(key string) bool { return !strings.HasPrefix(key, "hidden") }
	got, err := indexOf(hidden...).Search(t.Context(), "deploy", 50, keep, pointAt(0))
	if err != nil || !got.Semantic || got.Total != 1 {
		t.Errorf("total %d, semantic %v, %v", got.Total, got.Semantic, err)
	}
	must.Match(t, "result", want, got)
}

func TestTheMeaningOfAHiddenDocumentAloneDoesNotCount(t *testing.T) {
	rejected := new(vector.Cell)
	rejected.Reject()
	x := indexOf(Document{Name: "shown", Vector: rejected}, Document{Name: "hidden", Vector: at(0)})
	for name, keep := range map[string]func(string) bool{
		"a rejected document": func(key string) bool { return key == "shown" },
		"no document":         func(string) bool { return false },
	} {
		found, err := x.Search(t.Context(), "deploy", 10, keep, pointAt(0))
		if found.Semantic || x.Understood(keep) || err != nil {
			t.Errorf("%s: semantic %v, understood %v, %v", name, found.Semantic, x.Understood(keep), err)
		}
	}
}

func TestWithoutAllMeaningsOnlyWordsCount(t *testing.T) {
	rejected := new(vector.Cell)
	rejected.Reject()
	planar, _ := vector.NewPoint([]float32{1, 0})
	other := new(vector.Cell)
	other.Set(planar)
	for _, test := range []struct {
		name     string
		vector   *vector.Cell
		semantic bool
	}{
		{"no vector", nil, false},
		{"an unknown vector", new(vector.Cell), false},
		{"another number of dimensions", other, false},
		{"a rejected vector", rejected, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			words := Document{Name: "words", Description: "deploy", Vector: test.vector}
			x := indexOf(append(crowd(40), Document{Name: "meant", Vector: at(0)}, words)...)
			found, err := x.Search(t.Context(), "deploy", 50, nil, pointAt(0))
			if err != nil || found.Semantic != test.semantic || found.Semantic != (len(found.Hits) == 2) {
				t.Errorf("semantic %v, %s, %v", found.Semantic, keys(found.Hits), err)
			}
			if understood := x.Understood(nil); understood != found.Semantic && test.vector != other {
				t.Errorf("understood: %v", understood)
			}
			if !x.Understood(func(key string) bool { return key != "words" }) {
				t.Error("a hidden document has an effect")
			}
		})
	}
}
