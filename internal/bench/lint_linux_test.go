package bench

import (
	"path/filepath"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// BenchmarkLint checks 1,000 commands. The naive way only parses the headers, and the
// floor reads the files on one core.
func BenchmarkLint(b *testing.B) {
	for _, mix := range catalogtest.HeaderMixes(catalogtest.PublicCommandHeaders) {
		b.Run(mix.Name, func(b *testing.B) {
			d := catalogtest.PublicCommands(b, 1000, mix.Classes, catalogtest.PublicCommandSizes)
			catalogtest.Compare(b, []string{"ours", "floor", "naive"}, map[string]func(){
				"ours": func() {
					c := catalogtest.Open(b, toolshelf.WithRoot(d.Root), toolshelf.WithSkillsDir())
					must.Get(c.Lint(b.Context()))(b)
					c.Close()
				},
				"floor": func() { readWhole(b, d.Files) },
				"naive": func() { naive(b, filepath.Join(d.Root, "commands")) },
			})
			d.ReportShares(b)
		})
	}
}
