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
	"github.com/toolshelf-go/toolshelf/internal/must"
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
			must.Do(b, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("A zeppelin."), 0o644), os.Chtimes(file, old, old)))
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
		top := must.Get(unix.Open(filepath.Join(root, "reports"), unix.O_RDONLY|unix.O_DIRECTORY, 0))(b)
		defer unix.Close(top)
		for _, command := range rawNames(b, top) {
			dir := must.Get(unix.Openat(top, command, unix.O_RDONLY|unix.O_DIRECTORY, 0))(b)
			for _, file := range rawNames(b, dir) {
				var st unix.Statx_t
				must.Do(b, unix.Statx(dir, file, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &st))
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
