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
			catalogtest.Compare(b, []string{"ours", "floor", "naive"}, map[string]func(){
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
			catalogtest.Compare(b, []string{"ours", "floor", "reused"}, map[string]func(){
				"ours":   func() { list(b, c, n) },
				"floor":  func() { statFloor(b, filepath.Join(root, "commands")) },
				"reused": func() { reusedStatFloor(b, filepath.Join(root, "commands"), buf) },
			})
		})
	}
}

// With WithWatch, the cost of a page does not depend on the number of commands. Each
// block times pages of one catalog only: a page after a scan of all files costs the
// cache misses of the scan too.
func BenchmarkListWatched(b *testing.B) {
	const pages = 500 // of each block
	counts := []int{100_000, 10_000, 100}
	var catalogs []*toolshelf.Catalog
	for _, n := range counts {
		c := catalogtest.Open(b, toolshelf.WithRoot(shelf(b, n)), toolshelf.WithWatch())
		awaitWatched(b, c, n)
		catalogs = append(catalogs, c)
	}
	request := func(c *toolshelf.Catalog, page toolshelf.Page) toolshelf.CommandList {
		l := must.Get(c.List(b.Context(), page))(b)
		must.Len(b, "Commands", 50, l.Commands)
		return l
	}
	for _, at := range []struct {
		name string
		page func(n int) int // number of the page of n commands
	}{
		{"first", func(int) int { return 1 }},
		{"middle", func(n int) int { return n/100 + 1 }},
		{"last", func(n int) int { return n / 50 }},
	} {
		for _, by := range []string{"number", "cursor"} {
			if at.name == "first" && by == "cursor" {
				continue // no cursor leads to the first page
			}
			b.Run(at.name+"/"+by, func(b *testing.B) {
				run := map[string]func(){}
				var order []string
				for i, n := range counts {
					c := catalogs[i]
					page := toolshelf.Page{Number: at.page(n)}
					if by == "cursor" {
						page = toolshelf.Page{Cursor: request(c, toolshelf.Page{Number: at.page(n) - 1}).Pagination.NextCursor}
					}
					order = append(order, fmt.Sprint(n))
					run[fmt.Sprint(n)] = func() {
						for range pages {
							request(c, page)
						}
					}
				}
				catalogtest.Compare(b, order, run)
			})
		}
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

// BenchmarkListMemory reports the bytes that a catalog keeps for each command and each skill after
// a cold list, and the ratio to the size of the necessary strings: the names, paths and
// descriptions, and the frontmatter of skills.
//
// The ratio of commands is 2.4: 272 bytes for 113 bytes of strings. The floor is 145 bytes, a
// ratio of 1.29: 93 bytes for the path, which contains the name, and the description; 44 bytes for
// the metadata that shows a change of the file; 8 bytes for a position in the order of names. The
// rest is 48 bytes of string headers, 20 bytes of flags and pointers in the Entry, 15 bytes for a
// second order and the hash table of paths, about 10 bytes of rounding by the allocator and, on
// average, 34 bytes for the problems of the 7 % of commands with a broken header.
//
// The ratio of skills is 1.9: 937 bytes for 501 bytes of strings. The text of the header contains
// most names and descriptions, so 300 bytes hold the header and the path. The rest is 225 bytes
// for the decoded fields, 104 bytes for the values that differ from the text of the header, 112
// bytes for the Entry, 144 bytes for its details, and 50 bytes for order, hash table and rounding.
func BenchmarkListMemory(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("commands/%d", n), func(b *testing.B) {
			d := PublicCommands(b, n, PublicCommandHeaders, HeaderSizes)
			keptMemory(b, d, func(c *toolshelf.Catalog) (strings int) {
				for info, err := range c.All(b.Context()) {
					must.Do(b, err)
					strings += len(info.Name) + len("commands/"+info.Name+".md") + len(info.Description)
				}
				return strings
			})
		})
		b.Run(fmt.Sprintf("skills/%d", n), func(b *testing.B) {
			d := PublicSkills(b, n, PublicSkillHeaders, HeaderSizes)
			keptMemory(b, d, func(c *toolshelf.Catalog) (strings int) {
				skills := must.Get(c.ListSkills(b.Context()))(b)
				for _, s := range skills {
					strings += len(s.Name) + len("skills/"+s.Name+"/SKILL.md") + len(s.Description) + len(s.Frontmatter.Raw)
				}
				return strings
			})
		})
	}
}

// keptMemory reports the memory of the catalog of a directory after a list. The function
// lists, and returns the total size in bytes of the necessary strings.
func keptMemory(b *testing.B, d *PublicDir, list func(*toolshelf.Catalog) (strings int)) {
	for b.Loop() {
		before := catalogtest.Heap()
		c := catalogtest.Open(b, toolshelf.WithRoot(d.Root))
		strings := list(c)
		kept := catalogtest.Heap() - before
		b.ReportMetric(float64(kept)/float64(len(d.Names)), "B/kept")
		b.ReportMetric(float64(strings)/float64(len(d.Names)), "B/strings")
		b.ReportMetric(float64(kept)/float64(strings), "kept/strings")
		c.Close()
	}
	d.ReportShares(b)
}

func BenchmarkGetWarm(b *testing.B) {
	const n = 10_000
	root := shelf(b, n)
	c := catalogtest.Open(b, toolshelf.WithRoot(root))
	list(b, c, n)
	file := filepath.Join(root, "commands", "review-005000.md")
	catalogtest.Compare(b, []string{"ours", "stat", "read"}, map[string]func(){
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

// A terminal completes a name after each key. With WithWatch, CompleteName costs less than a page
// of List, because the rows are fewer; otherwise both cost the validation of the files. naive reads
// and parses all files.
func BenchmarkCompleteName(b *testing.B) {
	const n = 10_000
	root := shelf(b, n)
	for _, mode := range []struct {
		name string
		opts []toolshelf.Option
		runs int // of each block
	}{{"validated", nil, 1}, {"watched", []toolshelf.Option{toolshelf.WithWatch()}, 500}} {
		b.Run(mode.name, func(b *testing.B) {
			c := catalogtest.Open(b, append(mode.opts, toolshelf.WithRoot(root), toolshelf.WithSkillsDir())...)
			if list(b, c, n); mode.runs > 1 {
				awaitWatched(b, c, n)
			}
			order := []string{"ours", "List"}
			run := map[string]func(){
				"ours": func() {
					for range mode.runs {
						must.Len(b, "rows", 10, must.Get(c.CompleteName(b.Context(), "/review-00501", 0))(b))
					}
				},
				"List": func() {
					for range mode.runs {
						list(b, c, n)
					}
				},
			}
			if mode.runs == 1 {
				order = append(order, "floor", "naive")
				run["floor"] = func() { statFloor(b, filepath.Join(root, "commands")) }
				run["naive"] = func() { naive(b, filepath.Join(root, "commands")) }
			}
			catalogtest.Compare(b, order, run)
		})
	}
}

// BenchmarkExpand compares Expand of a command beside 1,000 skills with Get and Render, which have
// no names of skills, and with a program that reads and parses the file.
func BenchmarkExpand(b *testing.B) {
	root := shelf(b, 10_000)
	for i := range 1000 {
		dir := filepath.Join(root, "skills", fmt.Sprint("s", i))
		must.Do(b, os.MkdirAll(dir, 0o755))
		must.Do(b, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: s\ndescription: d\n---\n"), 0o644))
	}
	c := catalogtest.Open(b, toolshelf.WithRoot(root))
	must.Get(c.CompleteName(b.Context(), "", 0))(b)
	catalogtest.Compare(b, []string{"ours", "Get", "naive"}, map[string]func(){
		"ours": func() {
			must.Get(c.Expand(b.Context(), "/review-005000 417 high"))(b)
		},
		"Get": func() {
			command := must.Get(c.Get(b.Context(), "review-005000"))(b)
			must.Get((toolshelf.Renderer{}).Render(b.Context(), command, toolshelf.ParseArgs("417 high")))(b)
		},
		"naive": func() {
			data := must.Get(os.ReadFile(filepath.Join(root, "commands", "review-005000.md")))(b)
			var header struct{ Description string }
			body := must.Get(frontmatter.Parse(strings.NewReader(string(data)), &header))(b)
			_ = strings.ReplaceAll(string(body), "$ARGUMENTS", "417 high")
		},
	})
}

// BenchmarkLint checks 1,000 commands. The naive way only parses the headers, and the
// floor reads the files on one core.
func BenchmarkLint(b *testing.B) {
	for _, mix := range HeaderMixes(PublicCommandHeaders) {
		b.Run(mix.Name, func(b *testing.B) {
			d := PublicCommands(b, 1000, mix.Classes, PublicCommandSizes)
			catalogtest.Compare(b, []string{"ours", "floor", "naive"}, map[string]func(){
				"ours": func() {
					c := catalogtest.Open(b, toolshelf.WithRoot(d.Root), toolshelf.WithSkillsDir())
					must.Get(c.Lint(b.Context()))(b)
					c.Close()
				},
				"floor": func() { readWhole(b, d.Files) },
				"naive": func() { naive(b, filepath.Join(d.Root, "commands")) },
			})
			d.ReportShares(b)
		})
	}
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
	catalogtest.Compare(b, []string{"4000", "2000", "floor"}, run)
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
	catalogtest.Compare(b, []string{"1000", "1"}, run)
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
			b.Run("versioned", func(b *testing.B) { catalogtest.Compare(b, []string{"gated", "open"}, run) })
			b.Run("unversioned", func(b *testing.B) { catalogtest.Compare(b, []string{"unversioned", "open"}, run) })
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
			catalogtest.Compare(b, []string{"gated", "open"}, run)
		})
	}
}

func listSkills(b *testing.B) func(*toolshelf.Catalog) (int, error) {
	return func(c *toolshelf.Catalog) (int, error) {
		skills, err := c.ListSkills(b.Context())
		return len(skills), err
	}
}
