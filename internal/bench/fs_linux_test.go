package bench

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

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
					l, err := c.ListDir(b.Context(), ".")
					if err != nil || len(l.Entries) != n {
						b.Fatal(len(l.Entries), err)
					}
				},
				"floor": func() { statFloor(b, dir) },
				"reused": func() {
					if entries := reusedStatFloor(b, dir, buf); entries != n {
						b.Fatal(entries)
					}
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
				l, err := c.ListDir(b.Context(), ".", toolshelf.Limit(200))
				if err != nil || len(l.Entries) != 200 || l.Files != n {
					b.Fatal(len(l.Entries), l.Files, err)
				}
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
			tree, err := c.Tree(b.Context(), ".", toolshelf.Limit(0))
			if err != nil || tree.Files+tree.Dirs != n {
				b.Fatal(tree.Files, tree.Dirs, err)
			}
		},
		"floor": func() {
			if walkFloor(b, unix.AT_FDCWD, dir, buf, true) != n {
				b.Fatal("the floor has another tree")
			}
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
					found, err := c.FindFiles(b.Context(), ".", tt.pattern, tt.options...)
					if err != nil || found.Total != tt.want {
						b.Fatal(found.Total, err)
					}
				},
				"floor": func() {
					if walkFloor(b, unix.AT_FDCWD, dir, buf, false) != n {
						b.Fatal("the floor has another tree")
					}
				},
				"filepath.WalkDir": func() {
					must.Do(b, filepath.WalkDir(dir, func(_ string, _ fs.DirEntry, err error) error { return err }))
				},
			})
		})
	}
}
