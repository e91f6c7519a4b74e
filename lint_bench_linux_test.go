package toolshelf_test

import (
	"path/filepath"
	"testing"

	"github.com/toolshelf-go/toolshelf"
)

// BenchmarkLint checks 1,000 commands. The naive way only parses the headers, and the
// floor reads the files on one core.
func BenchmarkLint(b *testing.B) {
	for _, mix := range headerMixes(publicCommandHeaders) {
		b.Run(mix.name, func(b *testing.B) {
			d := publicCommands(b, 1000, mix.classes, publicCommandSizes)
			compare(b, []string{"ours", "floor", "naive"}, map[string]func(){
				"ours": func() {
					c := catalog(b, toolshelf.WithRoot(d.root), toolshelf.WithSkillsDir())
					if _, err := c.Lint(b.Context()); err != nil {
						b.Fatal(err)
					}
					c.Close()
				},
				"floor": func() { readWhole(b, d.files) },
				"naive": func() { naive(b, filepath.Join(d.root, "commands")) },
			})
			d.reportShares(b)
		})
	}
}
