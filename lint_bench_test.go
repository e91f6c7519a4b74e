package toolshelf_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf"
)

// BenchmarkLint checks 1,000 commands of 4.5 KB, the median size of public commands.
// x-read is the ratio to the time of reading the files sequentially.
func BenchmarkLint(b *testing.B) {
	const n = 1000
	files := map[string]string{}
	for i := range n {
		text := strings.Repeat("## Step\n\n"+strings.Repeat("Look at `src/main.go`, and write down what is not as it should be.\n", 7)+
			"Then run /c0002 and see [the rules](c0001.md).\n\n", 8)
		files[fmt.Sprintf("commands/c%04d.md", i)] = fmt.Sprintf("---\ndescription: Command %d\nargument-hint: [file]\n---\n%s", i, text)
	}
	root := diskOf(b, files)
	c := catalog(b, toolshelf.WithRoot(root), toolshelf.WithSkillsDir(), toolshelf.WithNestedCommands())
	names, err := filepath.Glob(filepath.Join(root, "commands", "*.md"))
	if err != nil || len(names) != n {
		b.Fatalf("%d files, %v", len(names), err)
	}
	var reading time.Duration
	for b.Loop() {
		b.StopTimer()
		begin := time.Now()
		for _, name := range names {
			if _, err := os.ReadFile(name); err != nil {
				b.Fatal(err)
			}
		}
		reading += time.Since(begin)
		b.StartTimer()
		if diagnostics, err := c.Lint(b.Context()); err != nil || len(diagnostics) != 0 {
			b.Fatalf("%v, %v", diagnostics, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(reading), "x-read")
}
