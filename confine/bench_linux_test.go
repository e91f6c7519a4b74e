package confine

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// The floor of a benchmark makes only the necessary system calls, from Go.

// BenchmarkList lists a directory with all metadata.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := manyFiles(b, n, "")
			f := osFS(dir, options{})
			portable := rootFS(dir, options{})
			compare(b, []way{
				{"floor", func() int { return floorList(b, dir) }},
				{"confine", func() int {
					seen := 0
					list(b, f, func(Info) { seen++ })
					return seen
				}},
				{"confine, kept", func() int { return kept(b, f) }},
				{"os.Root, kept", func() int { return kept(b, portable) }},
				{"os.ReadDir", func() int {
					entries := must.Get(os.ReadDir(dir))(b)
					for _, entry := range entries {
						must.Get(entry.Info())(b)
					}
					return len(entries)
				}},
				{"afero.ReadDir", func() int {
					infos := must.Get(afero.ReadDir(afero.NewOsFs(), dir))(b)
					return len(infos)
				}},
			}, n)
		})
	}
}

// BenchmarkNames reads the names of a directory without keeping them.
func BenchmarkNames(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := manyFiles(b, n, "")
			f := osFS(dir, options{})
			compare(b, []way{
				{"floor", func() int { return floorNames(b, dir, func(*byte) {}) }},
				{"confine", func() int {
					d := must.Get(f.OpenDir("."))(b)
					defer d.Close()
					seen := 0
					must.Do(b, d.EachBytes(context.Background(), func([]byte, fs.FileMode) error { seen++; return nil }))
					return seen
				}},
			}, n)
		})
	}
}

// BenchmarkHead opens every file of a directory and reads its beginning.
func BenchmarkHead(b *testing.B) {
	const n = 10_000
	dir := manyFiles(b, n, "---\ndescription: what it does\n---\n\nThe text of it.\n")
	names := must.Get(filepath.Glob(filepath.Join(dir, "*")))(b)
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	f := osFS(dir, options{})
	buf := make([]byte, 4096)
	compare(b, []way{
		{"floor", func() int {
			d := must.Get(unix.Open(dir, unix.O_PATH, 0))(b)
			defer unix.Close(d)
			for _, name := range names {
				fd := must.Get(unix.Openat(d, name, unix.O_RDONLY, 0))(b)
				var st unix.Stat_t
				must.Do(b, unix.Fstat(fd, &st))
				must.Get(unix.Read(fd, buf))(b)
				unix.Close(fd)
			}
			return len(names)
		}},
		{"confine", func() int {
			d := must.Get(f.OpenDir("."))(b)
			defer d.Close()
			for _, name := range names {
				if _, _, err := d.ReadHead(name, buf); err != nil {
					b.Fatal(err)
				}
			}
			return len(names)
		}},
		{"os.Open", func() int {
			for _, name := range names {
				file := must.Get(os.Open(filepath.Join(dir, name)))(b)
				must.Get(file.Stat())(b)
				must.Get(file.Read(buf))(b)
				file.Close()
			}
			return len(names)
		}},
	}, n)
}

// BenchmarkStat reads the metadata of a file three directories below the root.
func BenchmarkStat(b *testing.B) {
	dir := tempDir(b)
	write(b, dir, tree{"a/b/c": "x"})
	f := osFS(dir, options{})
	portable := rootFS(dir, options{})
	root := must.Get(os.OpenRoot(dir))(b)
	defer root.Close()
	statWith := func(stat func(string) error) func() int {
		return func() int {
			must.Do(b, stat("a/b/c"))
			return 1
		}
	}
	compare(b, []way{
		{"floor", func() int {
			top := must.Get(unix.Open(dir, throughFlags, 0))(b)
			a := must.Get(unix.Openat(top, "a", throughFlags|unix.O_NOFOLLOW, 0))(b)
			bb := must.Get(unix.Openat(a, "b", throughFlags|unix.O_NOFOLLOW, 0))(b)
			var st unix.Statx_t
			must.Do(b, unix.Statx(bb, "c", unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &st))
			unix.Close(bb)
			unix.Close(a)
			unix.Close(top)
			return 1
		}},
		{"confine", statWith(func(name string) error { _, err := f.Info(name); return err })},
		{"os.Root", statWith(func(name string) error { _, err := portable.Stat(name); return err })},
		{"held os.Root alone", statWith(func(name string) error { _, err := root.Stat(name); return err })},
	}, 1)
}

type way struct {
	name string
	do   func() int
}

// compare runs the ways in turn, under the same load of the machine, and reports the time
// of each way as a multiple of the first. The time of a benchmark operation is the time of
// one turn of all ways.
func compare(b *testing.B, ways []way, want int) {
	b.Helper()
	spent := make([]time.Duration, len(ways))
	for _, w := range ways {
		if got := w.do(); got != want {
			b.Fatalf("%s: %d, want %d", w.name, got, want)
		}
	}
	turns := 0
	for b.Loop() {
		turns++
		for w := range ways {
			if want >= 1_000 {
				runtime.GC() // no way pays for the garbage of another way
			}
			begin := time.Now()
			ways[w].do()
			spent[w] += time.Since(begin)
		}
	}
	b.ReportMetric(float64(spent[0].Nanoseconds())/float64(turns)/float64(want), "floor-ns/entry")
	for i, w := range ways[1:] {
		b.ReportMetric(float64(spent[i+1])/float64(spent[0]), unit(w.name)+"/floor")
	}
}

func unit(name string) string {
	return strings.NewReplacer(",", "", " ", "-").Replace(name)
}

func list(b *testing.B, f *FS, see func(Info)) {
	d := must.Get(f.OpenDir("."))(b)
	defer d.Close()
	must.Do(b, d.Each(context.Background(), func(name string, _ fs.FileMode) error {
		info, err := d.Lstat(name)
		see(info)
		return err
	}))
}

// kept lists a directory like os.ReadDir, with all entries in memory at the end.
func kept(b *testing.B, f *FS) int {
	var infos []Info
	list(b, f, func(info Info) { infos = append(infos, info) })
	return len(infos)
}

func floorList(b *testing.B, dir string) int {
	fd := must.Get(unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0))(b)
	defer unix.Close(fd)
	var st unix.Statx_t
	return floorDirents(b, fd, func(name *byte) {
		_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(name)), unix.AT_SYMLINK_NOFOLLOW,
			unix.STATX_BASIC_STATS, uintptr(unsafe.Pointer(&st)), 0)
		if errno != 0 {
			b.Fatal(errno)
		}
	})
}

func floorNames(b *testing.B, dir string, see func(*byte)) int {
	fd := must.Get(unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0))(b)
	defer unix.Close(fd)
	return floorDirents(b, fd, see)
}

var floorBuf [64 << 10]byte

func floorDirents(b *testing.B, fd int, see func(*byte)) int {
	n := 0
	for {
		got := must.Get(unix.Getdents(fd, floorBuf[:]))(b)
		if got == 0 {
			return n
		}
		for at := 0; at < got; {
			if name := floorBuf[at+19:]; name[0] != '.' {
				n++
				see(&name[0])
			}
			at += int(*(*uint16)(unsafe.Pointer(&floorBuf[at+16])))
		}
	}
}

// manyFiles makes n files in a directory. Set TMPDIR to choose the disk.
func manyFiles(b *testing.B, n int, content string) string {
	dir := tempDir(b)
	if os.Getenv("TMPDIR") != "" {
		dir = b.TempDir()
	}
	for i := range n {
		must.Do(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("some-file-%06d.md", i)), []byte(content), 0o644))
	}
	return dir
}
