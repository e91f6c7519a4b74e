package rank

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// BenchmarkPutOneOf10000 changes every word of one document, and one word in a
// hundred of it, among 10,000 documents of 600 words; the
// floor is the same in an index of that one.
func BenchmarkPutOneOf10000(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.07, 5, 30_000)
	text := func(n int) string {
		var s strings.Builder
		for range n {
			fmt.Fprintf(&s, "%s ", strings.Map(func(r rune) rune { return r - '0' + 'k' }, fmt.Sprint(zipf.Uint64())))
		}
		return s.String()
	}
	x, one := new(Corpus), new(Corpus)
	for i := range 10_000 {
		name := fmt.Sprint("n", i)
		x.Put(name, Document{Name: name, Description: text(10), Body: text(600)})
	}
	same := text(600)
	for _, run := range []struct {
		name string
		next func() string
	}{
		{"all", func() string { return text(600) }},
		{"hundred", func() string { return same + text(6) }},
	} {
		b.Run(run.name, func(b *testing.B) {
			var bodies []string
			for range 100 {
				bodies = append(bodies, run.next())
			}
			var ours, floor time.Duration
			for i := 0; b.Loop(); i++ {
				d := Document{Name: "n5000", Body: bodies[i%len(bodies)]}
				begin := time.Now()
				x.Put("n5000", d)
				ours += time.Since(begin)
				begin = time.Now()
				one.Put("n5000", d)
				floor += time.Since(begin)
			}
			b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N), "ns/ours")
			b.ReportMetric(float64(ours)/float64(floor), "ours/floor")
		})
	}
}
