package mcpadapter_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/must"
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
					must.Get(json.Marshal(map[string]any{"tools": tools[:min(len(tools), 50)]}))(b)
				})
				b.ReportAllocs()
				for b.Loop() {
					must.Get(s.Handle(ctx, "tools/list", params))(b)
				}
				b.ReportMetric(naive/(float64(b.Elapsed())/float64(b.N)), "x-faster-than-naive")
			})
		}
	}
}
