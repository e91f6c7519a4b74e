package mcpadapter_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// per returns the duration of a call of f in nanoseconds.
func per(n int, f func()) float64 {
	begin := time.Now()
	for range n {
		f()
	}
	return float64(time.Since(begin)) / float64(n)
}

// BenchmarkToolsList compares a page of tools/list with encoding the page for each request.
func BenchmarkToolsList(b *testing.B) {
	for _, n := range []int{3, 50, 500} {
		for _, era := range []string{"legacy", "modern"} {
			b.Run(fmt.Sprintf("tools=%d/%s", n, era), func(b *testing.B) {
				a := manyTools(b, n)
				s := ready(b, a)
				params := json.RawMessage(`{}`)
				if era == "modern" {
					params = modern("")
				}
				naive := per(200, func() {
					tools := a.Tools()
					if _, err := json.Marshal(map[string]any{"tools": tools[:min(len(tools), 50)]}); err != nil {
						b.Fatal(err)
					}
				})
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Handle(ctx, "tools/list", params); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(naive/(float64(b.Elapsed())/float64(b.N)), "x-faster-than-naive")
			})
		}
	}
}
