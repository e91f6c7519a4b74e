package rank

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

var update = flag.Bool("update", false, "write the results to testdata/results.txt")

// TestResultsStayTheSame compares the results of queries over generated documents with
// testdata/results.txt. A change of the index alone must not change the results.
func TestResultsStayTheSame(t *testing.T) {
	const file = "testdata/results.txt"
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.2, 8, 1999)
	var vocabulary []string
	for len(vocabulary) < 2000 {
		word := make([]byte, 2+random.IntN(10))
		for i := range word {
			word[i] = "etaoinshrdlucmfwyp"[min(random.IntN(18), random.IntN(18))]
		}
		w := string(word)
		switch random.IntN(20) {
		case 0:
			w = strings.ToUpper(w)
		case 1:
			w = strings.ToUpper(w[:1]) + w[1:] + "Name"
		case 2:
			w += fmt.Sprint(random.IntN(100))
		case 3:
			w = strings.ReplaceAll(w, "e", "é")
		case 4:
			w = string([]rune("会議録翻訳審査データ")[random.IntN(9):][:1]) + "録" + w
		case 5, 6, 7:
			w += []string{"s", "ed", "ing", "es"}[random.IntN(4)]
		}
		vocabulary = append(vocabulary, w)
	}
	text := func(n int, separator string) string {
		var words []string
		for range n {
			words = append(words, vocabulary[zipf.Uint64()])
		}
		return strings.Join(words, separator)
	}
	x := new(Corpus)
	var names []string
	for i := range 400 {
		d := Document{Name: fmt.Sprintf("%s-%d", text(1+random.IntN(3), "-"), i), Description: text(random.IntN(12), " "), Tags: text(random.IntN(3), ", ")}
		for range random.IntN(6) {
			d.Body += "# " + text(2, " ") + "\n\n" + text(random.IntN(80), " ") + "\n```\n# " + text(5, "=") + "\n```\n" + text(3, "\r\n") + "\n"
		}
		names = append(names, d.Name)
		x.Put(d.Name, d)
		if i%7 == 3 {
			x.Put(fmt.Sprint("report ", i), Document{Name: names[random.IntN(len(names))], Report: true, Body: text(30, " ") + fmt.Sprint(" evidence", i)})
		}
		if i%11 == 5 {
			d.Name = names[random.IntN(len(names))]
			x.Put(d.Name, d) // another text for a known name
		}
		if i%13 == 6 {
			x.Remove(names[random.IntN(len(names))])
		}
	}
	var got strings.Builder
	for i := range 250 {
		query := text(1+random.IntN(5), " ")
		if r := []rune(query); i%4 == 0 && len(r) > 2 {
			at := random.IntN(len(r) - 1)
			query = string(r[:at]) + string(r[at+1:])
		}
		if i%10 == 9 {
			query = fmt.Sprint("evidence", i)
		}
		found := must.Get(x.Search(t.Context(), query, 3, nil, nil))(t)
		fmt.Fprintf(&got, "%q: %d\n", query, found.Total)
		for _, h := range found.Hits {
			fmt.Fprintf(&got, "  %s/%d %.3f %s\n", h.Name, h.Tier, h.Score, h.Reason)
		}
	}
	if *update {
		must.Do(t, os.WriteFile(file, []byte(got.String()), 0o644))
	}
	want := must.Get(os.ReadFile(file))(t)
	must.Match(t, "result", strings.Split(string(want), "\n"), strings.Split(got.String(), "\n"))
}
