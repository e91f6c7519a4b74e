package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// readsFs counts the bytes read of each file, and holds the reads of the files
// that have a gate until the gate is closed.
type readsFs struct {
	afero.Fs

	mu    sync.Mutex
	read  map[string]int
	gates map[string]chan struct{}
}

func (f *readsFs) Open(name string) (afero.File, error) {
	file, err := f.Fs.Open(name)
	if err != nil {
		return nil, err
	}
	return readsFile{file, f, path.Base(name)}, nil
}

func (f *readsFs) gate(name string, gate chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gates = map[string]chan struct{}{name: gate}
}

// total returns the number of bytes read since the last call.
func (f *readsFs) total() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, bytes := range f.read {
		n += bytes
	}
	f.read = nil
	return n
}

type readsFile struct {
	afero.File
	fs   *readsFs
	name string
}

func (f readsFile) Read(p []byte) (int, error) {
	f.fs.mu.Lock()
	gate := f.fs.gates[f.name]
	f.fs.mu.Unlock()
	if gate != nil {
		<-gate
	}
	n, err := f.File.Read(p)
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.fs.read == nil {
		f.fs.read = make(map[string]int)
	}
	f.fs.read[f.name] += n
	return n, err
}

// oldFiles writes files to the disk, and reports change times on every system. In a bubble of
// synctest that runs settle first, the files are an hour old.
func oldFiles(t *testing.T, files map[string]string) (fsys *readsFs, settle func()) {
	fsys = &readsFs{Fs: dated{afero.NewBasePathFs(afero.NewOsFs(), diskOf(t, files))}}
	later := time.Now().Add(time.Hour)
	return fsys, func() { time.Sleep(time.Until(later)) }
}

// bridgeOf returns the methods of a catalog for package mcpadapter.
func bridgeOf(c *toolshelf.Catalog) bridge.Catalog[toolshelf.SkillInfo, toolshelf.SkillFile] {
	return bridge.Of[toolshelf.SkillInfo, toolshelf.SkillFile](c)
}

// argumentNames returns the names of the arguments of each command on a page.
func argumentNames(t testing.TB, c *toolshelf.Catalog) map[string][]string {
	t.Helper()
	list := must.Get(bridgeOf(c).ListUsage(t.Context(), 0, "", nil))(t)
	all := make(map[string][]string)
	for _, u := range list.Rows {
		names := []string{}
		for _, a := range u.Arguments {
			names = append(names, a.Name)
		}
		all[u.Name] = names
	}
	return all
}

func TestListUsageReturnsListWithArguments(t *testing.T) {
	synctest.Test(t, testListUsageIsListWithArguments)
}

func testListUsageIsListWithArguments(t *testing.T) {
	files := map[string]string{
		"commands/fix.md":     "---\narguments: [issue, branch]\n---\nFix $issue.\n",
		"commands/plain.md":   "Nothing.\n",
		"commands/release.md": "---\nargument-hint: \"<level> [date]\"\n---\nMake a $1 release.\n",
		"commands/part.md":    "---\nis_dependency: true\n---\n$1\n",
	}
	for i := range 120 {
		files[fmt.Sprintf("commands/c%03d.md", i)] = fmt.Sprintf("$1 ${input:n%d:a hint}\n", i)
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
	whole, err := bridgeOf(c).ListUsage(t.Context(), math.MaxInt, "", nil)
	all := whole.Rows
	if err != nil || len(all) != 123 {
		t.Fatalf("%d commands, %v; want 123", len(all), err)
	}
	for page := (toolshelf.Page{Size: 50}); ; {
		list := must.Get(c.List(t.Context(), page))(t)
		usage := must.Get(bridgeOf(c).ListUsage(t.Context(), page.Size, page.Cursor, nil))(t)
		if diff := cmp.Diff(list.Pagination.NextCursor, usage.NextCursor); diff != "" {
			t.Errorf("(-List +ListUsage):\n%s", diff)
		}
		for i, u := range usage.Rows {
			command := must.Get(c.Get(t.Context(), u.Name))(t)
			want := bridge.Usage{Name: list.Commands[i].Name, Description: list.Commands[i].Description}
			for _, a := range argumentsOf(t, command) {
				want.Arguments = append(want.Arguments, template.Parameter(a))
			}
			if diff := cmp.Diff(want, u); diff != "" {
				t.Errorf("%s (-want +got):\n%s", u.Name, diff)
			}
			if diff := cmp.Diff(want, all[0]); diff != "" {
				t.Errorf("the whole list: %s (-want +got):\n%s", u.Name, diff)
			}
			all = all[1:]
		}
		for name, want := range map[string]bool{"fix": true, "fix.md": true, "c119": true, "part": false, "none": false, "../fix": false} {
			if usage.Contains(name) != want {
				t.Errorf("Contains(%q) is %t", name, !want)
			}
		}
		if page.Cursor = list.Pagination.NextCursor; page.Cursor == "" {
			return
		}
	}
}

func TestListUsageReturnsTheErrorsOfList(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithCommandsDir("commands"))
	list := func(ctx context.Context, page toolshelf.Page) error {
		_, err := bridgeOf(c).ListUsage(ctx, page.Size, page.Cursor, nil)
		return err
	}
	if err := list(t.Context(), toolshelf.Page{}); !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
		t.Errorf("no directory: got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := list(ended, toolshelf.Page{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	c.Close()
	if err := list(t.Context(), toolshelf.Page{}); !errors.Is(err, toolshelf.ErrClosed) {
		t.Errorf("closed: got %v", err)
	}
	if (bridge.UsageList{}).Contains("x") {
		t.Error("the zero list has a command")
	}
}

func TestListUsageReadsAnUnchangedFileOnce(t *testing.T) {
	fsys, settle := oldFiles(t, map[string]string{"commands/a.md": "$1\n", "commands/b.md": "$1 $2\n"})
	synctest.Test(t, func(t *testing.T) {
		c := catalog(t, toolshelf.WithFs(fsys))
		settle()
		argumentNames(t, c)
		fsys.total()
		want := map[string][]string{"a": {"1"}, "b": {"1", "2"}}
		must.Match(t, "result", want, argumentNames(t, c))
		if n := fsys.total(); n != 0 {
			t.Errorf("the second list read %d bytes, want 0", n)
		}
		// A renderer with other options has other arguments.
		list, err := bridgeOf(c).ListUsage(t.Context(), 0, "", &client.Rules{Count: client.CountFromZero})
		if err != nil || len(list.Rows[0].Arguments) != 2 {
			t.Errorf("from zero, $1 is the second argument: got %+v, %v", list.Rows, err)
		}
		must.Do(t, afero.WriteFile(fsys, "commands/a.md", []byte("${input:new}\n"), 0o644))
		want["a"] = []string{"new"}
		must.Match(t, "after a change", want, argumentNames(t, c))
		c.Close()
	})
}

func TestListUsageWaitsOnceForABlockedFile(t *testing.T) {
	files := map[string]string{"commands/stuck.md": "$1\n"}
	for i := range 30 {
		files[fmt.Sprintf("commands/c%02d.md", i)] = "$1\n"
	}
	fsys, settle := oldFiles(t, files)
	synctest.Test(t, func(t *testing.T) {
		c := catalog(t, toolshelf.WithFs(fsys))
		settle()
		if _, err := c.List(t.Context(), toolshelf.Page{}); err != nil { // the headers are read
			t.Fatal(err)
		}
		gate := make(chan struct{})
		fsys.gate("stuck.md", gate)
		for i, limit := range []time.Duration{time.Second, 0, 0} {
			begin := time.Now()
			got := argumentNames(t, c)
			if took := time.Since(begin); took > limit {
				t.Errorf("list %d waited %s, want at most %s", i, took, limit)
			}
			for name, arguments := range got {
				if want := name != "stuck"; (len(arguments) == 1) != want {
					t.Errorf("list %d: %s has the arguments %q", i, name, arguments)
				}
			}
		}
		close(gate)
		synctest.Wait()
		if got := argumentNames(t, c)["stuck"]; len(got) != 1 {
			t.Errorf("after it was read: got %q", got)
		}
		c.Close()
	})
}

func TestListUsageEndsWithItsContextOrTheCatalog(t *testing.T) {
	fsys, settle := oldFiles(t, map[string]string{"commands/stuck.md": "$1\n"})
	synctest.Test(t, func(t *testing.T) {
		c := catalog(t, toolshelf.WithFs(fsys))
		settle()
		must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
		gate := make(chan struct{})
		fsys.gate("stuck.md", gate)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		begin := time.Now()
		if _, err := bridgeOf(c).ListUsage(ctx, 0, "", nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > time.Millisecond {
			t.Errorf("got %v after %s", err, time.Since(begin))
		}
		close(gate)
		c.Close()
	})
}

// exitFs calls exit when a command is opened.
type exitFs struct {
	afero.Fs
	exit func(file string)
}

func (f *exitFs) Open(name string) (afero.File, error) {
	if path.Ext(name) == ".md" {
		f.exit(path.Base(name))
	}
	return f.Fs.Open(name)
}

func TestListUsagePassesOnAPanicOfTheFilesystem(t *testing.T) {
	for way, exit := range map[string]func(file string){"panic": func(file string) { panic("open " + file) }, "Goexit": func(string) { runtime.Goexit() }} {
		t.Run(way, func(t *testing.T) {
			fsys := &readsFs{Fs: memoryOf(t, map[string]string{"commands/a.md": "$1\n"})}
			c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithCacheTTL(time.Hour))
			must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
			fsys.Fs = &exitFs{fsys.Fs, exit}
			var panicked any
			if returned(func() {
				defer func() { panicked = recover() }()
				argumentNames(t, c)
			}) && panicked == nil {
				t.Error("ListUsage returned")
			}
			if way == "panic" && panicked != "open a.md" {
				t.Errorf("recovered %v", panicked)
			}
		})
	}
}

func TestListUsageReadsTheHeadOfALongFile(t *testing.T) {
	synctest.Test(t, testUsageReadsTheBeginningOfALongFile)
}

func testUsageReadsTheBeginningOfALongFile(t *testing.T) {
	const limit = 64 << 10
	long := map[string]string{
		"hostile":   strings.Repeat("@"+strings.Repeat("a", 100)+"（）", 40_000),
		"late":      "$1\n" + strings.Repeat("x\n", limit) + "$2 ${input:late}\n",
		"cut":       strings.Repeat("x\n", limit/2-2) + "$1234567 $12345\n" + strings.Repeat("x\n", limit),
		"one line":  "$1 " + strings.Repeat("x", 2*limit),
		"many":      strings.Repeat("${input:a} ", 1) + manyInputs(5000),
		"no end":    "---\narguments: [a]\n" + strings.Repeat("b: c\n", limit),
		"exact":     "$1" + strings.Repeat("x\n", limit/2-2) + "$2",
		"backticks": "$1\n" + strings.Repeat("`", 2*limit),
	}
	want := map[string]int{"hostile": 0, "late": 1, "cut": 0, "one line": 0, "many": 100, "no end": 0, "exact": 0, "backticks": 1}
	for name, text := range long {
		fsys := &readsFs{Fs: memoryOf(t, map[string]string{"commands/long.md": text})}
		c := catalog(t, toolshelf.WithFs(fsys))
		must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
		fsys.total()
		list := must.Get(bridgeOf(c).ListUsage(t.Context(), 0, "", nil))(t)
		got := list.Rows[0].Arguments
		if len(got) != want[name] {
			t.Errorf("%s: %d arguments, want %d: %v", name, len(got), want[name], got)
		}
		command := must.Get(c.Get(t.Context(), "long"))(t)
		head := command.Raw[:min(len(command.Raw), limit)]
		if diff := cmp.Diff(template.Renderer{}.Listed(command.Metadata.Path, head, len(head) == len(command.Raw)), got); diff != "" {
			t.Errorf("%s (-Listed +ListUsage):\n%s", name, diff)
		}
	}
	fsys := &readsFs{Fs: memoryOf(t, map[string]string{"commands/long.md": strings.Repeat("$1\n", 4<<20/3)})}
	c := catalog(t, toolshelf.WithFs(fsys))
	must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	head := fsys.total()
	argumentNames(t, c)
	if n := fsys.total(); n > limit+head { // the scan may read the header again
		t.Errorf("read %d bytes of a file of 4 MiB, want at most %d", n, limit+head)
	}
}

func manyInputs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "${input:a%d}\n", i)
	}
	return b.String()
}
