package bench

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
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
			compare(b, []string{"ours", "floor", "reused", "os.ReadDir", "afero.ReadDir"}, map[string]func(){
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
	compare(b, []string{"ours", "floor", "filepath.WalkDir"}, map[string]func(){
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
			compare(b, []string{"ours", "floor", "filepath.WalkDir"}, map[string]func(){
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
			compare(b, order, run)
		})
	}
}
