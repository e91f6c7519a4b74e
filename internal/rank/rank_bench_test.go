package rank

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// BenchmarkPutOneOf10000 changes every word of one document, and one word in a
// hundred of it, among 10,000 documents of 600 words.
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
	x := new(Index)
	for i := range 10_000 {
		name := fmt.Sprint("n", i)
		x.Put(name, Document{Name: name, Description: text(10), Body: text(600)})
	}
	same := text(600)
	for name, next := range map[string]func() string{
		"all":     func() string { return text(600) },
		"hundred": func() string { return same + text(6) },
	} {
		b.Run(name, func(b *testing.B) {
			var bodies []string
			for range 100 {
				bodies = append(bodies, next())
			}
			for i := 0; b.Loop(); i++ {
				x.Put("n5000", Document{Name: "n5000", Body: bodies[i%len(bodies)]})
			}
		})
	}
}
