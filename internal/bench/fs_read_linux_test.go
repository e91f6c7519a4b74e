package bench

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// BenchmarkReadFile reads pages of a file of 1 GiB with lines of 64 bytes, once the catalog
// has indexed the file. "new" is the floor: one pread of the returned bytes into new memory,
// because the caller keeps the text. "reused" is one pread into the same memory each time.
// "open" is "new" with the calls that open and close a file. "naive" is the usual way of a
// program that knows the offset of the page. The pages are at random lines. The file is in the
// page cache. The context cannot end, so ReadFile starts no goroutine. With -short, the file
// has 64 MiB.
//
// The difference between "ours" and "new" is 10 to 13 µs for pages of 64 KiB and 256 KiB. The
// difference is smaller for larger pages, because make writes zeros and ReadFile does not. On a
// virtual machine with Linux 6.18, the calls that open and close the root and the file take 4.5 µs,
// the two stats 0.7 µs, the check of the mounts 0.3 µs, and the bytes around the page, 16 KiB, 1.3
// µs. The rest includes the search for the first line. "new" costs more than "reused", because the
// memory of the text is not in the cache of the processor.
func BenchmarkReadFile(b *testing.B) {
	const line = 64
	size := 1 << 30
	if testing.Short() {
		size = 64 << 20
	}
	root := b.TempDir()
	name := filepath.Join(root, "large.txt")
	part := bytes.Repeat(append(bytes.Repeat([]byte("x"), line-1), '\n'), 1<<20/line)
	file := must.Get(os.Create(name))(b)
	defer file.Close()
	for range size / len(part) {
		must.Get(file.Write(part))(b)
	}
	// A file that has just changed is not indexed.
	must.Do(b, os.Chtimes(name, catalogtest.Written, catalogtest.Written))
	// The garbage collector runs after 16 MB, as in a program that keeps 16 MB.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	for _, page := range []int{64 << 10, 256 << 10, 1 << 20, 4 << 20} {
		b.Run(fmt.Sprint(page), func(b *testing.B) {
			c := catalogtest.Open(b, toolshelf.WithRoot(root))
			read := func(first int, options ...toolshelf.ReadOption) {
				text, err := c.ReadFile(context.Background(), "large.txt", append(options, toolshelf.MaxBytes(page))...)
				if err != nil || len(text.Text) != page || text.First != first || text.Total != size/line {
					b.Fatal(len(text.Text), text.First, text.Total, err)
				}
			}
			for indexed := false; !indexed; { // the first calls may come too soon after the write
				must.Get(c.ReadFile(b.Context(), "large.txt", toolshelf.Lines(size/line, 0)))(b)
				text := must.Get(c.ReadFile(b.Context(), "large.txt", toolshelf.Lines(1, 1)))(b)
				indexed = text.Total >= 0
			}
			reused := make([]byte, page)
			random := rand.New(rand.NewPCG(1, 2))
			first := func() int { return 1 + random.IntN((size-page)/line) }
			offset := func() int64 { return int64(first()-1) * line }
			pread := func(fd int, buf []byte) {
				if n, err := unix.Pread(fd, buf, offset()); n != page || err != nil {
					b.Fatal(n, err)
				}
			}
			b.ResetTimer()
			catalogtest.Compare(b, []string{"ours", "new", "open", "naive", "reused"}, map[string]func(){
				"ours": func() {
					first := first()
					read(first, toolshelf.Lines(first, 0))
				},
				"new": func() { pread(int(file.Fd()), make([]byte, page)) },
				"open": func() {
					fd := must.Get(unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0))(b)
					defer unix.Close(fd)
					pread(fd, make([]byte, page))
				},
				"naive": func() {
					f := must.Get(os.Open(name))(b)
					defer f.Close()
					text := make([]byte, page)
					if _, err := f.ReadAt(text, offset()); err != nil || !utf8.Valid(text) {
						b.Fatal(err)
					}
					benchSink = string(text)
				},
				"reused": func() { pread(int(file.Fd()), reused) },
			})
		})
	}
}
