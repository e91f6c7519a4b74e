package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

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
					found, err := c.Grep(b.Context(), ".", tt.pattern, tt.options...)
					if err != nil || found.Total != tt.want || found.Searched != n {
						b.Fatal(found.Total, found.Searched, err)
					}
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
