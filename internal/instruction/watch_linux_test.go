package instruction_test

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// fileCalls are the system calls that open, describe or list a file, or watch a directory.
var fileCalls = []uint32{unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_STATX, unix.SYS_FSTAT, unix.SYS_READLINKAT, unix.SYS_GETDENTS64, unix.SYS_PREAD64, unix.SYS_FACCESSAT, unix.SYS_INOTIFY_ADD_WATCH,
	map[string]uint32{"amd64": 262, "arm64": 79}[runtime.GOARCH]} // newfstatat

// withoutFiles calls f on a thread on which each of the fileCalls fails with EXDEV.
func withoutFiles(t testing.TB, f func() error) error {
	t.Helper()
	if fileCalls[len(fileCalls)-1] == 0 {
		t.Skip("the number of a system call is unknown on " + runtime.GOARCH)
	}
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number of the call
	for _, call := range fileCalls {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: call},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EXDEV)})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	type outcome struct {
		unsupported, err error
	}
	done := make(chan outcome)
	go func() {
		runtime.LockOSThread() // without an unlock: the thread ends with the goroutine
		filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
		if err := errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&filter)), 0, 0)); err != nil {
			done <- outcome{unsupported: err}
			return
		}
		done <- outcome{err: f()}
	}()
	o := <-done
	if o.unsupported != nil {
		t.Skip("the system filters no system calls: " + o.unsupported.Error())
	}
	return o.err
}

// isWatched reports "" if a call makes no system call for files. A call without a Done channel
// reads files on the thread of its caller.
func isWatched(t testing.TB, c *toolshelf.Catalog, path string, opts ...toolshelf.InstructionOption) string {
	t.Helper()
	want := instructions(t, c, path, opts...)
	var got []toolshelf.Instruction
	err := withoutFiles(t, func() (err error) {
		got, err = c.Instructions(context.Background(), path, opts...)
		return err
	})
	if err != nil {
		return "a call reads files: " + err.Error()
	}
	return cmp.Diff(want, got)
}

func awaitWatched(t testing.TB, c *toolshelf.Catalog, path string, opts ...toolshelf.InstructionOption) {
	t.Helper()
	catalogtest.Eventually(t, func() string { return isWatched(t, c, path, opts...) })
}

// project is a directory of a user with the project top/repo.
type project struct{ home, top, root string }

func newProject(t testing.TB, files map[string]string) project {
	t.Helper()
	home := must.Get(filepath.EvalSymlinks(catalogtest.Disk(t, files)))(t)
	return project{home, filepath.Join(home, "top"), filepath.Join(home, "top", "repo")}
}

func (p project) open(t testing.TB, opts ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	return catalogtest.Open(t, append([]toolshelf.Option{toolshelf.WithRoot(p.root), toolshelf.WithHome(p.home), toolshelf.WithParents(p.top),
		toolshelf.WithInstructions(client.Claude(), client.Codex(), client.Cursor()), toolshelf.WithWatch()}, opts...)...)
}

// addDirectories adds directories of two levels, 100 on the second.
func (p project) addDirectories(t testing.TB, n int) {
	t.Helper()
	for i := range n {
		must.Do(t, os.MkdirAll(filepath.Join(p.root, fmt.Sprintf("d%d/e%d", i/100, i%100)), 0o755))
	}
}

// TestAWatchedCallMakesNoSystemCall asks in a project with 10,000 directories.
func TestAWatchedCallMakesNoSystemCall(t *testing.T) {
	files := map[string]string{".claude/CLAUDE.md": "h", "top/AGENTS.md": "t", "top/repo/AGENTS.md": "a @docs/a.md", "top/repo/docs/a.md": "i", "top/repo/d7/e7/AGENTS.md": "b", "top/repo/.claude/rules/r.md": "c",
		"top/repo/d7/e7/CLAUDE.md": "@AGENTS.md", "top/repo/.claude/rules/sub/s.md": "---\npaths: d7/**\n---\nd", "top/repo/d7/e7/f.go": ""}
	p := newProject(t, files)
	p.addDirectories(t, 1000)
	c := p.open(t)
	for _, path := range []string{"d7/e7/f.go", "d7/e7/missing.go", "d7", "missing/x"} {
		awaitWatched(t, c, path)
		awaitWatched(t, c, path, toolshelf.Imports(0))
	}
	// A saved source file changes no answer, see TestAnObserverHearsOfTheNamesOfItsCalls.
	catalogtest.Write(t, "package e7\n", p.root, "d7", "e7", "f.go")
	catalogtest.Write(t, "package e7\n", p.root, "d7", "e7", "missing.go")
	catalogtest.Write(t, "package x\n", p.root, "other.go")
	awaitWatched(t, c, "d7/e7/f.go")
	view := must.Get(c.View(toolshelf.WithInstructionFilter(func(i toolshelf.Instruction) bool { return i.Path != "AGENTS.md" })))(t)
	awaitWatched(t, view, "d7/e7/f.go")
	if err := withoutFiles(t, func() error { _, err := c.Instructions(context.Background(), "d8"); return err }); err == nil {
		t.Error("the first call for a path reads no file")
	}
}

// The text of the caller is not the text of later calls.
func TestAWatchedAnswerIsNotShared(t *testing.T) {
	p := newProject(t, map[string]string{"top/repo/CLAUDE.md": "@a.md", "top/repo/a.md": "i", "top/repo/.claude/rules/r.md": "---\npaths: \"*.go\"\n---\nc"})
	c := p.open(t)
	awaitWatched(t, c, "x.go", toolshelf.Imports(0))
	list := instructions(t, c, "x.go", toolshelf.Imports(0))
	list[0].Imports[0], list[1].Globs[0] = "changed", "changed"
	if list = instructions(t, c, "x.go", toolshelf.Imports(0)); list[0].Imports[0] != "a.md" || list[1].Globs[0] != "*.go" {
		t.Errorf("got %+v", list)
	}
}

//go:embed testdata/watch.txt
var changesOnTheWay string

// TestAWatchSeesEachChangeOnTheWay makes the changes of testdata/watch.txt, and waits after each
// until a call has the answer of a new catalog.
func TestAWatchSeesEachChangeOnTheWay(t *testing.T) {
	p := newProject(t, map[string]string{"top/repo/x/y/f.go": "", "top/repo/AGENTS.md": "a",
		"top/repo/x/AGENTS.md": "b"})
	c := p.open(t)
	title, unwatched := "", false
	for line := range strings.Lines(changesOnTheWay + "the end\n") {
		line = strings.TrimSuffix(line, "\n")
		step, ok := strings.CutPrefix(line, "\t")
		switch {
		case ok && step == "unwatched":
			unwatched = true
		case ok:
			if err := p.change(step); err != nil && !errors.Is(err, unix.ENOTDIR) {
				t.Fatalf("%s: %v", title, err)
			}
		case line != "" && line[0] != '#':
			if title != "" {
				p.sees(t, c, title, unwatched)
			}
			title, unwatched = line, false
		}
	}
}

// change makes a step of a change.
func (p project) change(step string) error {
	at := func(name string) string {
		if below, ok := strings.CutPrefix(name, "~/"); ok {
			return filepath.Join(p.home, below)
		}
		return filepath.Join(p.root, name)
	}
	word, rest, _ := strings.Cut(step, " ")
	name, rest, _ := strings.Cut(rest, " ")
	file := at(name)
	switch word {
	case "write":
		text, err := strconv.Unquote(rest)
		dir := os.MkdirAll(filepath.Dir(file), 0o755)
		return errors.Join(err, dir, os.WriteFile(file, []byte(text), 0o644))
	case "remove":
		return os.RemoveAll(file)
	case "rename":
		return os.Rename(file, at(rest))
	case "link":
		made := os.Symlink(strings.TrimPrefix(rest, "-> "), file+".new")
		return errors.Join(made, os.Rename(file+".new", file))
	}
	return errors.New("unknown step " + word)
}

// sees waits until a watched catalog has the answer of a new catalog, and whether calls read files.
func (p project) sees(t *testing.T, c *toolshelf.Catalog, title string, unwatched bool) {
	t.Helper()
	const path = "x/y/z/new.go"
	fresh := must.Get(toolshelf.New(toolshelf.WithRoot(p.root), toolshelf.WithHome(p.home),
		toolshelf.WithParents(p.top),
		toolshelf.WithInstructions(client.Claude(), client.Codex(), client.Cursor())))(t)
	want := instructions(t, fresh, path, toolshelf.Imports(0))
	fresh.Close()
	catalogtest.Eventually(t, func() string {
		if diff := cmp.Diff(want, instructions(t, c, path, toolshelf.Imports(0))); diff != "" {
			return title + " (-new +watched):\n" + diff
		}
		return ""
	})
	if !unwatched {
		awaitWatched(t, c, path, toolshelf.Imports(0))
		return
	}
	catalogtest.Eventually(t, func() string { // the answer can be the same
		if isWatched(t, c, path, toolshelf.Imports(0)) == "" {
			return title + ": a call makes no system call"
		}
		return ""
	})
}

func TestACallThatFailsEndsNoWatch(t *testing.T) {
	p := newProject(t, map[string]string{"top/repo/x/AGENTS.md": "text"})
	c := p.open(t)
	awaitWatched(t, c, "x/f.go")
	must.Do(t, errors.Join(os.Rename(p.top, p.top+".old"), os.Rename(p.top+".old", p.top)))
	catalogtest.Eventually(t, func() string { // the call that begins to watch again does not read the table of mounts
		if withoutFiles(t, func() error { _, err := c.Instructions(context.Background(), "x/f.go"); return err }) == nil {
			return "the move of a directory above is not noticed"
		}
		return ""
	})
	awaitWatched(t, c, "x/f.go")
}

func TestAWatchOfInstructionsNoticesMounts(t *testing.T) {
	p := newProject(t, map[string]string{"top/repo/x/AGENTS.md": "disk"})
	within, above := filepath.Join(p.root, "x"), p.top
	t.Run("with parents", func(t *testing.T) { p.noticesMounts(t, p.open(t), within, above) })
	alone := catalogtest.Open(t, toolshelf.WithRoot(p.root), toolshelf.WithWatch())
	t.Run("the root alone", func(t *testing.T) { p.noticesMounts(t, alone, within, p.root) })
}

func (p project) noticesMounts(t *testing.T, c *toolshelf.Catalog, places ...string) {
	t.Helper()
	awaitWatched(t, c, "x/f.go")
	for _, at := range places {
		if err := unix.Mount("tmpfs", at, "tmpfs", 0, ""); err != nil {
			t.Skip("the test needs the permission to mount: " + err.Error())
		}
		t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
		catalogtest.Write(t, "mounted", p.root, "x", "AGENTS.md")
		for _, want := range []string{"mounted", "disk"} {
			catalogtest.Eventually(t, func() string {
				if list := instructions(t, c, "x/f.go"); len(list) != 1 || list[0].Text != want {
					return fmt.Sprintf("%s: got %+v, want %s", at, list, want)
				}
				return ""
			})
			if want == "mounted" {
				must.Do(t, unix.Unmount(at, unix.MNT_DETACH))
			}
		}
	}
}

// inotify returns the numbers of inotify instances and of watches of the process.
func inotify(t testing.TB) (instances, watches int) {
	t.Helper()
	fds := must.Get(os.ReadDir("/proc/self/fd"))(t)
	for _, fd := range fds {
		if target, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && target == "anon_inode:inotify" {
			text, _ := os.ReadFile("/proc/self/fdinfo/" + fd.Name())
			instances, watches = instances+1, watches+strings.Count(string(text), "inotify ")
		}
	}
	return instances, watches
}

// TestAWatchOfManyDirectoriesIsBounded asks for the paths of more directories than an Observer
// watches.
func TestAWatchOfManyDirectoriesIsBounded(t *testing.T) {
	p := newProject(t, map[string]string{"top/repo/AGENTS.md": strings.Repeat("a", 30_000)})
	p.addDirectories(t, 2600)
	instancesBefore, watchesBefore := inotify(t)
	heap := catalogtest.Heap()
	c := p.open(t)
	for i := range 2500 {
		instructions(t, c, fmt.Sprintf("d%d/e%d/f.go", i/100, i%100))
	}
	instances, watches := inotify(t)
	if n := watches - watchesBefore; n > 2100 {
		t.Errorf("%d watches", n)
	}
	if n := instances - instancesBefore; n > 5 {
		t.Errorf("%d instances", n)
	}
	if n := catalogtest.Heap() - heap; n > 40<<20 {
		t.Errorf("%d bytes of memory", n)
	}
	// Beyond the limit, a call reads the directories.
	catalogtest.Write(t, "new", p.root, "d25", "e99", "AGENTS.md")
	if list := instructions(t, c, "d25/e99/f.go"); len(list) != 2 || list[1].Text != "new" {
		t.Errorf("got %d instructions", len(list))
	}
	must.Do(t, c.Close())
	if instances, watches := inotify(t); instances != instancesBefore || watches != watchesBefore {
		t.Errorf("after Close: %d instances and %d watches, before: %d and %d", instances, watches, instancesBefore, watchesBefore)
	}
}

// A watched catalog has the answers of a new catalog after each of many random changes.
func TestWatchedInstructionsAgreeWithANewCatalog(t *testing.T) {
	const trees = 8
	for seed := range trees {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), 0))
			p := newProject(t, map[string]string{"top/repo/AGENTS.md": "a"})
			rows := toolshelf.WithInstructions(client.Claude(), client.Codex(), client.Windsurf())
			options := []toolshelf.Option{toolshelf.WithRoot(p.root), toolshelf.WithHome(p.home), toolshelf.WithParents(p.top), rows}
			watched := catalogtest.Open(t, append(slices.Clip(options), toolshelf.WithWatch())...)
			pick := func(all ...string) string { return all[random.IntN(len(all))] }
			dir := func() string {
				return filepath.Join(p.root, pick(".", "x", "y", ".."), pick(".", "x", "y"), pick(".", "x", ".claude", ".windsurf/rules", ".claude/rules"))
			}
			file := func() string {
				return filepath.Join(dir(), pick("AGENTS.md", "CLAUDE.md", "AGENTS.override.md", "r.md"))
			}
			for step := range catalogtest.Rounds(400, 4000) / trees {
				from, to := "", ""
				switch random.IntN(8) {
				case 0, 1, 2:
					to = file()
					_ = os.MkdirAll(filepath.Dir(to), 0o755)
					_ = os.WriteFile(to, []byte(pick("@x/AGENTS.md ", "@../CLAUDE.md ", "@./r.md ", "")+fmt.Sprint(step)), 0o644)
				case 3:
					from = file()
					_ = os.Remove(from)
				case 4:
					if from = dir(); len(from) > len(p.root) {
						_ = os.RemoveAll(from)
					}
				case 5, 6:
					if from, to = dir(), dir(); len(from) > len(p.root) {
						_ = os.Rename(from, to)
					}
				case 7:
					from, to = pick("AGENTS.md", "../AGENTS.md", "x", "y/CLAUDE.md", "/etc/passwd", "missing"), pick(dir(), file())
					_ = os.Symlink(from, to)
				}
				fresh := must.Get(toolshelf.New(options...))(t)
				for _, path := range []string{"x/y/f.go", "y/x/x/new", "x"} {
					want, wantErr := fresh.Instructions(t.Context(), path, toolshelf.Imports(0))
					catalogtest.Eventually(t, func() string {
						got, err := watched.Instructions(t.Context(), path, toolshelf.Imports(0))
						if diff := cmp.Diff(want, got); diff != "" || toolshelf.CodeOf(err) != toolshelf.CodeOf(wantErr) {
							return fmt.Sprintf("step %d, %q to %q, %s: %v, want %v (-new +watched)\n%s", step, from, to, path, err, wantErr, diff)
						}
						return ""
					})
				}
				fresh.Close()
			}
		})
	}
}

// The events of a directory with two paths have one of the paths.
func TestADirectoryWithTwoPathsIsNotWatchedTwice(t *testing.T) {
	p := newProject(t, map[string]string{"top/repo/x/AGENTS.md": "first", "top/repo/y/f.go": ""})
	at := filepath.Join(p.root, "y")
	if err := unix.Mount(filepath.Join(p.root, "x"), at, "", unix.MS_BIND, ""); err != nil {
		t.Skip("the test needs the permission to mount: " + err.Error())
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	c := p.open(t)
	awaitWatched(t, c, "x")
	instructions(t, c, "y/z/f.go")
	catalogtest.Write(t, "second", at, "z", "AGENTS.md")
	catalogtest.Eventually(t, func() string {
		if got := pathsOf(t, c, "y/z/f.go"); len(got) != 2 {
			return fmt.Sprintf("got %q", got)
		}
		return ""
	})
}
