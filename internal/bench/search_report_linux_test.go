package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
)

// BenchmarkSearchReports searches 10,000 commands. A thousand commands have four
// reports each. The minimum for the reports is to open and list their directories
// and to stat each report.
func BenchmarkSearchReports(b *testing.B) {
	root := shelf(b, 10_000)
	old := time.Now().Add(-time.Minute)
	for i := range 1000 {
		command := fmt.Sprintf("review-%06d", i)
		for v := range 4 {
			file := filepath.Join(root, "reports", command, fmt.Sprintf("%s_report_20251120_103000_v%d.md", command, v+1))
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("A zeppelin."), 0o644), os.Chtimes(file, old, old)); err != nil {
				b.Fatal(err)
			}
		}
	}
	search := func(query string, opts ...toolshelf.Option) func() {
		c := catalogtest.Open(b, append(opts, toolshelf.WithRoot(root))...)
		search := func() {
			if results, err := c.Search(b.Context(), query, 0); err != nil || results.TotalFound == 0 {
				b.Fatal(results, err)
			}
		}
		search() // the first search reads all files
		return search
	}
	floor := func() {
		top, err := unix.Open(filepath.Join(root, "reports"), unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			b.Fatal(err)
		}
		defer unix.Close(top)
		for _, command := range rawNames(b, top) {
			dir, err := unix.Openat(top, command, unix.O_RDONLY|unix.O_DIRECTORY, 0)
			if err != nil {
				b.Fatal(err)
			}
			for _, file := range rawNames(b, dir) {
				var st unix.Statx_t
				if err := unix.Statx(dir, file, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &st); err != nil {
					b.Fatal(err)
				}
			}
			unix.Close(dir)
		}
	}
	catalogtest.Compare(b, []string{"with", "without", "floor"}, map[string]func(){
		"with":    search("zeppelin", toolshelf.WithReports("reports", "")),
		"without": search("files"),
		"floor":   floor,
	})
}
