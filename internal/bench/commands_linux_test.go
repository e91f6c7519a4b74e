package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/adrg/frontmatter"
	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// shelf is a directory of n commands with a header of four fields.
func shelf(b *testing.B, n int) string {
	b.Helper()
	root := b.TempDir()
	dir := filepath.Join(root, "commands")
	must.Do(b, os.Mkdir(dir, 0o755))
	body := strings.Repeat("Read the files that were changed, and say what is wrong with them.\n", 60)
	for i := range n {
		text := fmt.Sprintf("---\ndescription: Review change %d and list what to mend\nargument-hint: <branch>\nallowed-tools: Read, Grep\nmodel: default\n---\n\n# Review %d\n\n%s", i, i, body)
		must.Do(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("review-%06d.md", i)), []byte(text), 0o644))
	}
	// The catalog does not trust files that were just written; see stamp.Settled.
	old := time.Now().Add(-time.Minute)
	for i := range n {
		must.Do(b, os.Chtimes(filepath.Join(dir, fmt.Sprintf("review-%06d.md", i)), old, old))
	}
	return root
}

// statFloor is one getdents64 pass and one statx for each name.
func statFloor(b *testing.B, dir string) {
	fd := must.Get(unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0))(b)
	defer unix.Close(fd)
	for _, name := range rawNames(b, fd) {
		var s unix.Statx_t
		must.Do(b, unix.Statx(fd, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &s))
	}
}

// reusedStatFloor is statFloor without any allocation, with a buffer for the names and a
// buffer for the metadata.
func reusedStatFloor(b *testing.B, dir string, buf []byte) (entries int) {
	fd := must.Get(unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0))(b)
	defer unix.Close(fd)
	var s unix.Statx_t
	for {
		n := must.Get(unix.Getdents(fd, buf))(b)
		if n == 0 {
			return entries
		}
		for rest := buf[:n]; len(rest) > 0; {
			name := rest[19:] // of a linux_dirent64, with a NUL at the end
			rest = rest[int(rest[16])|int(rest[17])<<8:]
			if name[0] == '.' && (name[1] == 0 || name[1] == '.' && name[2] == 0) {
				continue
			}
			_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(&name[0])), unix.AT_SYMLINK_NOFOLLOW,
				unix.STATX_BASIC_STATS, uintptr(unsafe.Pointer(&s)), 0)
			if errno != 0 {
				b.Fatal(errno)
			}
			entries++
		}
	}
}

// readFloor opens, stats, reads 4 KB of and closes each file, on all cores.
func readFloor(b *testing.B, dir string) {
	fd := must.Get(unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0))(b)
	defer unix.Close(fd)
	names := rawNames(b, fd)
	var all sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for core := range cores {
		all.Go(func() {
			buf := make([]byte, 4096)
			for i := core; i < len(names); i += cores {
				file, err := unix.Openat(fd, names[i], unix.O_RDONLY, 0)
				if err != nil {
					b.Error(err)
					return
				}
				var s unix.Stat_t
				unix.Fstat(file, &s)
				unix.Read(file, buf)
				unix.Close(file)
			}
		})
	}
	all.Wait()
}

func rawNames(b *testing.B, fd int) []string {
	var names []string
	buf := make([]byte, 32<<10)
	for {
		n := must.Get(unix.Getdents(fd, buf))(b)
		if n == 0 {
			return names
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// readWhole opens, stats, reads and closes each file, on one core.
func readWhole(b *testing.B, files []string) {
	buf := make([]byte, 128<<10)
	for _, name := range files {
		file := must.Get(unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0))(b)
		var s unix.Stat_t
		unix.Fstat(file, &s)
		for n := 1; n > 0; {
			n, _ = unix.Read(file, buf)
		}
		unix.Close(file)
	}
}

// naive reads and parses all files, like a program without a library. naive skips headers
// that the YAML library rejects.
func naive(b *testing.B, dir string) {
	entries := must.Get(os.ReadDir(dir))(b)
	for _, e := range entries {
		data := must.Get(os.ReadFile(filepath.Join(dir, e.Name())))(b)
		var header struct{ Description string }
		frontmatter.Parse(strings.NewReader(string(data)), &header)
		must.Get(e.Info())(b)
	}
}

func list(b *testing.B, c *toolshelf.Catalog, want int) {
	must.Equal(b, "Total", want, must.Get(c.List(b.Context(), toolshelf.Page{}))(b).Pagination.Total)
}

// No generated command is a dependency, so List omits no command.
func BenchmarkListCold(b *testing.B) {
	const n = 10_000
	for _, mix := range HeaderMixes(PublicCommandHeaders) {
		b.Run(mix.Name, func(b *testing.B) {
			d := PublicCommands(b, n, mix.Classes, PublicCommandSizes)
			dir := filepath.Join(d.Root, "commands")
			compare(b, []string{"ours", "floor", "naive"}, map[string]func(){
				"ours": func() {
					c := catalogtest.Open(b, toolshelf.WithRoot(d.Root))
					list(b, c, n)
					c.Close()
				},
				"floor": func() { readFloor(b, dir) },
				"naive": func() { naive(b, dir) },
			})
			d.ReportShares(b)
		})
	}
}

func BenchmarkListWarm(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			root := shelf(b, n)
			c := catalogtest.Open(b, toolshelf.WithRoot(root))
			list(b, c, n)
			buf := make([]byte, 64<<10)
			compare(b, []string{"ours", "floor", "reused"}, map[string]func(){
				"ours":   func() { list(b, c, n) },
				"floor":  func() { statFloor(b, filepath.Join(root, "commands")) },
				"reused": func() { reusedStatFloor(b, filepath.Join(root, "commands"), buf) },
			})
		})
	}
}

// awaitWatched lists until the first scan of the watch, in the background, has ended.
func awaitWatched(b *testing.B, c *toolshelf.Catalog, n int) {
	b.Helper()
	list(b, c, n)
	for begin := time.Now(); time.Since(begin) < 10*time.Millisecond; begin = time.Now() {
		list(b, c, n)
		if time.Since(begin) < time.Millisecond {
			break
		}
	}
}

func BenchmarkGetWarm(b *testing.B) {
	const n = 10_000
	root := shelf(b, n)
	c := catalogtest.Open(b, toolshelf.WithRoot(root))
	list(b, c, n)
	file := filepath.Join(root, "commands", "review-005000.md")
	compare(b, []string{"ours", "stat", "read"}, map[string]func(){
		"ours": func() {
			must.Get(c.Get(b.Context(), "review-005000"))(b)
		},
		"stat": func() {
			var s unix.Stat_t
			must.Do(b, unix.Lstat(file, &s))
		},
		"read": func() {
			must.Get(os.ReadFile(file))(b)
		},
	})
}

// BenchmarkGetAgents gets each of 2,000 and of 4,000 agents whose headers have the names. The floor
// reads the 2,000 files.
func BenchmarkGetAgents(b *testing.B) {
	run := map[string]func(){}
	for _, n := range []int{2000, 4000} {
		root := b.TempDir()
		var files []string
		for i := range n {
			files = append(files, filepath.Join(root, "agents", fmt.Sprintf("agent-%d.md", i)))
			text := fmt.Sprintf("---\nname: reviewer-%d\ndescription: Reviews.\n---\n", i)
			catalogtest.Write(b, text, files[i])
		}
		settle()
		c := catalogtest.Open(b, toolshelf.WithRoot(root), toolshelf.WithAgentsDir("agents"))
		run[fmt.Sprint(n)] = func() {
			for i := range n {
				must.Get(c.GetAgent(b.Context(), fmt.Sprint("reviewer-", i)))(b)
			}
		}
		if n == 2000 {
			run["floor"] = func() { wholeFloor(b, files) }
		}
	}
	compare(b, []string{"4000", "2000", "floor"}, run)
}

// BenchmarkGlobs asks for the instructions of a file that none of 200 rules of 1,000 globs matches,
// and of 200 rules of one glob.
func BenchmarkGlobs(b *testing.B) {
	run := map[string]func(){}
	for _, n := range []int{1, 1000} {
		root := b.TempDir()
		var globs []string
		for i := range n {
			globs = append(globs, fmt.Sprintf(`"src/part-%d/**/*.{go,mod}"`, i))
		}
		rule := "---\npaths: [" + strings.Join(globs, ", ") + "]\n---\nFormat the files.\n"
		for i := range 200 {
			catalogtest.Write(b, rule, root, ".claude", "rules", fmt.Sprintf("%d.md", i))
		}
		settle()
		rules := toolshelf.WithInstructions(client.Claude())
		c := catalogtest.Open(b, toolshelf.WithRoot(root), rules)
		run[fmt.Sprint(n)] = func() {
			must.Get(c.Instructions(b.Context(), "src/main.rs"))(b)
		}
	}
	compare(b, []string{"1000", "1"}, run)
}

// allow is a gate that allows every item.
type allow struct{}

func (allow) Allowed(context.Context, toolshelf.Item) bool { return true }

// versioned is a gate whose answers a catalog keeps.
type versioned struct{ allow }

func (versioned) Version() uint64 { return 1 }

// A gated list without a change costs the metadata of all files of the skills, and an ungated list
// the metadata of SKILL.md.
func BenchmarkListGated(b *testing.B) {
	commands := PublicCommands(b, 10_000, PublicCommandHeaders, PublicCommandSizes)
	skills := PublicSkills(b, 5000, PublicSkillHeaders, PublicSkillSizes)
	for _, of := range []struct {
		name, root string
		list       func(*toolshelf.Catalog) (int, error)
	}{
		{"commands", commands.Root, func(c *toolshelf.Catalog) (int, error) {
			l, err := c.List(b.Context(), toolshelf.Page{})
			return l.Pagination.Total, err
		}},
		{"skills of one file", skills.Root, listSkills(b)},
		{"skills of three files", manySkills(b, 5000), listSkills(b)},
	} {
		list := func(c *toolshelf.Catalog) {
			if n, err := of.list(c); err != nil || n == 0 {
				b.Fatal(n, err)
			}
		}
		open := func(opts ...toolshelf.Option) *toolshelf.Catalog {
			return catalogtest.Open(b, append(opts, toolshelf.WithRoot(of.root))...)
		}
		gates := map[string][]toolshelf.Option{"gated": {toolshelf.WithGate(versioned{})}, "unversioned": {toolshelf.WithGate(allow{})}, "open": nil}
		b.Run(of.name+"/warm", func(b *testing.B) {
			run := map[string]func(){}
			for name, opts := range gates {
				c := open(opts...)
				list(c)
				run[name] = func() { list(c) }
			}
			b.Run("versioned", func(b *testing.B) { compare(b, []string{"gated", "open"}, run) })
			b.Run("unversioned", func(b *testing.B) { compare(b, []string{"unversioned", "open"}, run) })
		})
		b.Run(of.name+"/cold", func(b *testing.B) {
			run := map[string]func(){}
			for name, opts := range gates {
				run[name] = func() {
					c := open(opts...)
					list(c)
					c.Close()
				}
			}
			compare(b, []string{"gated", "open"}, run)
		})
	}
}

func listSkills(b *testing.B) func(*toolshelf.Catalog) (int, error) {
	return func(c *toolshelf.Catalog) (int, error) {
		skills, err := c.ListSkills(b.Context())
		return len(skills), err
	}
}
