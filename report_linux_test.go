package toolshelf_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
)

// BenchmarkSaveReport saves a report of 20 KB in a directory with 0 and 10,000 other
// reports. The disk takes most of the time. TMPDIR selects the disk.
func BenchmarkSaveReport(b *testing.B) {
	for _, others := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("beside=%d", others), func(b *testing.B) {
			text := strings.Repeat("Nothing to worry about.\n", 800)
			root := diskOf(b, map[string]string{"commands/analyze.md": "Analyze it.", "reports/analyze/x": ""})
			dir := filepath.Join(root, "reports", "analyze")
			for i := range others {
				if err := os.Link(filepath.Join(dir, "x"), filepath.Join(dir, fmt.Sprintf("analyze_report_20251120_%06d_v1.md", i))); err != nil {
					b.Fatal(err)
				}
			}
			n := 0
			now := func() time.Time { n++; return at().AddDate(1, 0, 0).Add(time.Duration(n) * time.Second) }
			c := catalog(b, toolshelf.WithRoot(root), toolshelf.WithReports("reports", ""), toolshelf.WithClock(now))
			catalogtest.Compare(b, []string{"ours", "floor", "naive"}, map[string]func(){
				"ours": func() {
					if _, err := c.SaveReport(b.Context(), toolshelf.Report{Command: "analyze", Content: text, Upload: true}); err != nil {
						b.Fatal(err)
					}
				},
				"floor": func() { durableFloor(b, dir, fmt.Sprint("floor", n), text) },
				"naive": func() { namedByListing(b, dir, text) },
			})
		})
	}
}

// durableFloor makes only the system calls for a file that appears complete or not at all.
func durableFloor(b *testing.B, dir, name, text string) {
	try := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	try(err)
	file, err := unix.Openat(fd, name+".tmp", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o644)
	try(err)
	_, err = unix.Write(file, []byte(text))
	try(err)
	try(unix.Fsync(file))
	try(unix.Close(file))
	try(unix.Renameat2(fd, name+".tmp", fd, name, unix.RENAME_NOREPLACE))
	try(unix.Fsync(fd))
	try(unix.Close(fd))
}

// namedByListing counts the files for the next number and writes the file in place, like
// most programs: without a sync and without protection from other writers.
func namedByListing(b *testing.B, dir, text string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("naive_%d.md", len(entries)+1)), []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}
