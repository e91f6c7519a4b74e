package mcpadapter_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// per measures f alone, in nanoseconds a call.
func per(n int, f func()) float64 {
	begin := time.Now()
	for range n {
		f()
	}
	return float64(time.Since(begin)) / float64(n)
}

// A page of tools/list, beside encoding the same page anew each time.
func BenchmarkToolsList(b *testing.B) {
	for _, n := range []int{3, 50, 500} {
		for _, era := range []string{"legacy", "modern"} {
			b.Run(fmt.Sprintf("tools=%d/%s", n, era), func(b *testing.B) {
				a := shelf(b, n)
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

// tools/call of get_command for a command that was had before, beside Catalog.Get itself.
func BenchmarkCallGetCommand(b *testing.B) {
	dir := b.TempDir()
	body := "---\ndescription: Review a change\n---\n" + strings.Repeat("Look at each line, and say \"why\" of it.\n", 80)
	err := os.Mkdir(filepath.Join(dir, "commands"), 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "commands", "review.md"), []byte(body), 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
	c := catalog(b, afero.NewOsFs(), toolshelf.WithRoot(dir))
	s := ready(b, adapterOf(b, c))
	params := json.RawMessage(`{"name":"get_command","arguments":{"command_name":"review"}}`)
	get := func() {
		if _, err := c.Get(ctx, "review"); err != nil {
			b.Fatal(err)
		}
	}
	for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
		get() // a file that was just written is not kept yet
	}
	floor := per(5000, get)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Handle(ctx, "tools/call", params); err != nil {
			b.Fatal(err)
		}
	}
	ours := float64(b.Elapsed()) / float64(b.N)
	b.ReportMetric((ours-floor)/1000, "µs-over-Get")
	b.ReportMetric(ours/floor, "x-Get")
}
