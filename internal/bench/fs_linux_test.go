package bench

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// flat is a directory of n empty files.
func flat(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	for i := range n {
		touch(b, filepath.Join(dir, fmt.Sprintf("source_%07d.go", i*7919%n)))
	}
	return dir
}

func touch(b *testing.B, name string) {
	fd := must.Get(unix.Open(name, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644))(b)
	unix.Close(fd)
}

// BenchmarkListDir compares ListDir with the two usual ways to list a directory, and with
// the minimum: only the system calls, with and without an allocation for each name.
func BenchmarkListDir(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := flat(b, n)
			c := catalogtest.Open(b, toolshelf.WithRoot(dir))
			buf := make([]byte, 64<<10)
			b.ResetTimer()
			catalogtest.Compare(b, []string{"ours", "floor", "reused", "os.ReadDir", "afero.ReadDir"}, map[string]func(){
				"ours": func() {
					must.Len(b, "Entries", n, must.Get(c.ListDir(b.Context(), "."))(b).Entries)
				},
				"floor": func() { statFloor(b, dir) },
				"reused": func() {
					must.Equal(b, "entries", n, reusedStatFloor(b, dir, buf))
				},
				"os.ReadDir": func() {
					entries := must.Get(os.ReadDir(dir))(b)
					for _, e := range entries {
						must.Get(e.Info())(b)
					}
				},
				"afero.ReadDir": func() {
					must.Get(afero.ReadDir(afero.NewOsFs(), dir))(b)
				},
			})
		})
	}
}

// BenchmarkFirstPage lists 200 of 100,000 entries. If TOOLSHELF_BENCH_MILLION is set,
// the benchmark also creates 1,000,000 files and lists 200 of them.
func BenchmarkFirstPage(b *testing.B) {
	counts := []int{100_000}
	if os.Getenv("TOOLSHELF_BENCH_MILLION") != "" {
		counts = append(counts, 1_000_000)
	}
	for _, n := range counts {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := flat(b, n)
			c := catalogtest.Open(b, toolshelf.WithRoot(dir))
			page := func() {
				l := must.Get(c.ListDir(b.Context(), ".", toolshelf.Limit(200)))(b)
				must.Len(b, "Entries", 200, l.Entries)
				must.Equal(b, "Files", n, l.Files)
			}
			b.ResetTimer()
			catalogtest.Compare(b, []string{"ours", "getdents"}, map[string]func(){
				"ours":     page,
				"getdents": func() { getdentsFloor(b, dir) },
			})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			page()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc), "B/ours")
		})
	}
}

// getdentsFloor reads a directory without metadata.
func getdentsFloor(b *testing.B, dir string) {
	fd := must.Get(unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0))(b)
	defer unix.Close(fd)
	buf := make([]byte, 64<<10)
	for {
		n := must.Get(unix.Getdents(fd, buf))(b)
		if n == 0 {
			return
		}
	}
}

// forest is a tree of n files. A directory contains 100 files, and its parent contains ten
// directories.
func forest(b *testing.B, n int) (dir string, entries int) {
	b.Helper()
	dir = b.TempDir()
	for i := range n / 1000 {
		for j := range 10 {
			below := filepath.Join(dir, fmt.Sprintf("package-%03d", i), fmt.Sprintf("part-%d", j))
			must.Do(b, os.MkdirAll(below, 0o755))
			entries++
			for k := range 100 {
				extension := ".go"
				if k%10 == 0 {
					extension = ".md"
				}
				touch(b, filepath.Join(below, fmt.Sprintf("file_%03d%s", k, extension)))
				entries++
			}
		}
		entries++
	}
	return dir, entries
}

// walkFloor walks a tree with openat, on one goroutine, and returns the number of entries.
func walkFloor(b *testing.B, at int, name string, buf []byte, stat bool) (entries int) {
	fd := must.Get(unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0))(b)
	defer unix.Close(fd)
	var dirs []string
	for {
		n := must.Get(unix.Getdents(fd, buf))(b)
		if n == 0 {
			break
		}
		for rest := buf[:n]; len(rest) > 0; {
			length := int(rest[16]) | int(rest[17])<<8
			end := 19
			for rest[end] != 0 {
				end++
			}
			name, isDir := rest[19:end], rest[18] == unix.DT_DIR
			rest = rest[length:]
			if string(name) == "." || string(name) == ".." {
				continue
			}
			entries++
			if stat {
				var s unix.Statx_t
				must.Do(b, unix.Statx(fd, string(name), unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &s))
			}
			if isDir {
				dirs = append(dirs, string(name))
			}
		}
	}
	for _, dir := range dirs {
		entries += walkFloor(b, fd, dir, buf, stat)
	}
	return entries
}

func BenchmarkTree(b *testing.B) {
	dir, n := forest(b, 100_000)
	c := catalogtest.Open(b, toolshelf.WithRoot(dir))
	buf := make([]byte, 64<<10)
	b.ResetTimer()
	catalogtest.Compare(b, []string{"ours", "floor", "filepath.WalkDir"}, map[string]func(){
		"ours": func() {
			tree := must.Get(c.Tree(b.Context(), ".", toolshelf.Limit(0)))(b)
			must.Equal(b, "entries", n, tree.Files+tree.Dirs)
		},
		"floor": func() {
			must.Equal(b, "entries of the floor", n, walkFloor(b, unix.AT_FDCWD, dir, buf, true))
		},
		"filepath.WalkDir": func() {
			must.Do(b, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
				if err == nil {
					_, err = d.Info()
				}
				return err
			}))
		},
	})
}

func BenchmarkFindFiles(b *testing.B) {
	dir, n := forest(b, 100_000)
	c := catalogtest.Open(b, toolshelf.WithRoot(dir))
	buf := make([]byte, 64<<10)
	b.ResetTimer()
	for _, tt := range []struct {
		name, pattern string
		want          int
		options       []toolshelf.DirOption
	}{
		{"names", "*.md", 10_000, nil},
		{"paths", "**/part-[0-4]/*_0?0.md", 5_000, nil},
		{"gitignore", "*.md", 10_000, []toolshelf.DirOption{toolshelf.Gitignore()}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			catalogtest.Compare(b, []string{"ours", "floor", "filepath.WalkDir"}, map[string]func(){
				"ours": func() {
					must.Equal(b, "found.Total", tt.want,
						must.Get(c.FindFiles(b.Context(), ".", tt.pattern, tt.options...))(b).Total)
				},
				"floor": func() {
					must.Equal(b, "entries of the floor", n, walkFloor(b, unix.AT_FDCWD, dir, buf, false))
				},
				"filepath.WalkDir": func() {
					must.Do(b, filepath.WalkDir(dir, func(_ string, _ fs.DirEntry, err error) error { return err }))
				},
			})
		})
	}
}

// BenchmarkReadFile reads pages of a file of 1 GiB with lines of 64 bytes, once the catalog
// has indexed the file. "new" is the floor: one pread of the returned bytes into new memory,
// because the caller keeps the text. "reused" is one pread into the same memory each time.
// "open" is "new" with the calls that open and close a file. "naive" is the usual way of a
// program that knows the offset of the page. The pages are at random lines. The file is in the
// page cache. The context cannot end, so ReadFile starts no goroutine. With -short, the file
// has 64 MiB.
//
// The difference between "ours" and "new" is 12 to 20 µs for pages of 64 KiB and 256 KiB, although
// make writes zeros and ReadFile does not. On a virtual machine with Linux 6.18, the check of a text
// of 256 KiB and the count of its line breaks take 9 µs, the calls that open and close the root and
// the file 4.5 µs, the two stats 0.7 µs, the check of the mounts 0.3 µs, and the bytes around the
// page, 16 KiB, 1.3 µs. The rest includes the search for the first line. "new" costs more than
// "reused", because the memory of the text is not in the cache of the processor.
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
				must.Equal(b, "Pread", page, must.Get(unix.Pread(fd, buf, offset()))(b))
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
					must.Get(f.ReadAt(text, offset()))(b)
					must.Equal(b, "valid UTF-8", true, utf8.Valid(text))
					benchSink = string(text)
				},
				"reused": func() { pread(int(file.Fd()), reused) },
			})
		})
	}
}

// sources writes n files of about 1.5 KB of source code. A directory has 100 files, and one of
// 1,000 files contains a rare line. For each directory, sources returns the directory and the
// names of the files.
func sources(b *testing.B, n int) (dir string, dirs [][]string) {
	b.Helper()
	dir = b.TempDir()
	for i := range n / 100 {
		below := []string{filepath.Join(dir, fmt.Sprintf("package-%03d", i/10), fmt.Sprintf("part-%d", i%10))}
		must.Do(b, os.MkdirAll(below[0], 0o755))
		for k := range 100 {
			text := "package part\n\n" + strings.Repeat(fmt.Sprintf("// Func%d returns the response for a request.\nfunc Func%d(r *Request) Response { return r.answer(%d) }\n", k, k, i), 14)
			if i%10 == 3 && k == 50 {
				text += "// Deprecated: use NewResponder.\n"
			}
			below = append(below, fmt.Sprintf("file_%03d.go", k))
			must.Do(b, os.WriteFile(filepath.Join(below[0], below[k+1]), []byte(text), 0o644))
		}
		dirs = append(dirs, below)
	}
	return dir, dirs
}

// grepFloor opens, reads and closes each file, on all processors. The first element of each
// list is a directory, and the others are names of its files.
func grepFloor(b *testing.B, dirs [][]string) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			buf := make([]byte, 64<<10)
			for i := next.Add(1) - 1; i < int64(len(dirs)); i = next.Add(1) - 1 {
				at, err := unix.Open(dirs[i][0], unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
				if err != nil {
					b.Error(err)
					return
				}
				for _, name := range dirs[i][1:] {
					fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
					if err == nil {
						_, err = unix.Read(fd, buf)
						unix.Close(fd)
					}
					if err != nil {
						b.Error(err)
					}
				}
				unix.Close(at)
			}
		})
	}
	group.Wait()
}

// BenchmarkGrep searches 100,000 files. The floor only reads the files. GNU grep and ripgrep
// search the same files if they are installed.
func BenchmarkGrep(b *testing.B) {
	const n = 100_000
	dir, dirs := sources(b, n)
	c := catalogtest.Open(b, toolshelf.WithRoot(dir))
	for _, tt := range []struct {
		name, pattern string
		options       []toolshelf.GrepOption
		flags         []string // of GNU grep and ripgrep
		want          int
	}{
		{"literal", "Deprecated: use NewResponder", []toolshelf.GrepOption{toolshelf.Literal}, []string{"-F"}, n / 1000},
		{"frequent", "returns the response", []toolshelf.GrepOption{toolshelf.Literal}, []string{"-F"}, 14 * n},
		{"ignorecase", "deprecated: use newresponder", []toolshelf.GrepOption{toolshelf.IgnoreCase}, []string{"-i"}, n / 1000},
		{"words", "NewResponder", []toolshelf.GrepOption{toolshelf.WholeWords}, []string{"-w"}, n / 1000},
		{"regexp", `use New\w+\.$`, nil, []string{"-E"}, n / 1000},
	} {
		b.Run(tt.name, func(b *testing.B) {
			order := []string{"ours", "floor"}
			run := map[string]func(){
				"ours": func() {
					found := must.Get(c.Grep(b.Context(), ".", tt.pattern, tt.options...))(b)
					must.Equal(b, "found.Total", tt.want, found.Total)
					must.Equal(b, "found.Searched", n, found.Searched)
				},
				"floor": func() { grepFloor(b, dirs) },
			}
			for _, tool := range [][]string{{"grep", "-r", "-n"}, {"rg", "-n", "--no-ignore"}} {
				if _, err := exec.LookPath(tool[0]); err != nil {
					continue
				}
				arguments := append(append(tool[1:], tt.flags...), "-e", tt.pattern, dir)
				order = append(order, tool[0])
				run[tool[0]] = func() {
					output, err := exec.Command(tool[0], arguments...).Output()
					if lines := strings.Count(string(output), "\n"); err != nil || lines != tt.want {
						b.Fatal(lines, err)
					}
				}
			}
			catalogtest.Compare(b, order, run)
		})
	}
}
