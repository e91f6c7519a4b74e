package confine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// onWritable runs a test on each writable kind of FS.
func onWritable(t *testing.T, test func(t *testing.T, k kind)) {
	for _, k := range kinds {
		if !strings.HasPrefix(k.name, "MapFS") && !strings.HasPrefix(k.name, "fs.FS without links") {
			t.Run(k.name, func(t *testing.T) { test(t, k) })
		}
	}
}

func version(n int) string { return fmt.Sprintf("v%d.md", n) }

// writeFirst writes a file under the first free version.
func writeFirst(d *Dir, content string) (n int, err error) {
	for n = 1; ; n++ {
		if err := d.WriteNew(ctx, version(n), content); !errors.Is(err, fs.ErrExist) {
			return n, err
		}
	}
}

// writeTo is writeFirst in a directory opened by MakeDir. writeTo returns the name of the
// file, or a word for the error.
func writeTo(f *FS, dir, content string) string {
	d, err := f.MakeDir(dir)
	if err != nil {
		return word(err)
	}
	defer d.Close()
	n, err := writeFirst(d, content)
	if err != nil {
		return word(err)
	}
	return version(n)
}

// all returns the names in a directory, including unfinished files.
func all(t *testing.T, f *FS, dir string) []string {
	t.Helper()
	d := must.Get(f.OpenDir(dir))(t)
	defer d.Close()
	var names []string
	must.Do(t, d.Each(ctx, func(name string, _ fs.FileMode) error { names = append(names, name); return nil }))
	slices.Sort(names)
	return names
}

func TestANewFileTakesTheFirstFreeName(t *testing.T) {
	onWritable(t, func(t *testing.T, k kind) {
		files := tree{"v2.md": "old", "v3.md/x": ""}
		if k.links {
			skipWindows(t, "symbolic links without a privilege")
			files["v4.md"] = "-> nowhere"
			files["v5.md"] = "-> v6.md"
		} else {
			files["v4.md"], files["v5.md"] = "old", "old"
		}
		files[TempName("v6.md")] = "somebody else's"
		f := k.make(t, files, options{})
		for i, want := range []string{"v1.md", "v7.md", "v8.md"} {
			must.Equal(t, "result", want, writeTo(f, ".", fmt.Sprint("text ", i)))
		}
		expect(t, f, "open v1.md = text 0", "open v2.md = old", "open v7.md = text 1", "open v8.md = text 2",
			"open "+TempName("v6.md")+" = somebody else's", "stat v6.md = not exist")
		want := []string{TempName("v6.md"), "v1.md", "v2.md", "v3.md", "v4.md", "v5.md", "v7.md", "v8.md"}
		must.Match(t, "the directory", want, all(t, f, "."))
	})
}

func TestInvalidNamesAreNotWritten(t *testing.T) {
	onWritable(t, func(t *testing.T, k kind) {
		f := k.make(t, tree{"sub/": ""}, options{})
		d := must.Get(f.OpenDir("sub"))(t)
		defer d.Close()
		for _, name := range []string{"", ".", "..", "../x", "a/b", "/x", "a\x00"} {
			if err := d.WriteNew(ctx, name, "x"); !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, ErrEscape) {
				t.Errorf("%q: %v", name, err)
			}
			if made, err := d.MakeDir(name); err == nil {
				made.Close()
				t.Errorf("%q was made", name)
			}
		}
		if names := all(t, f, "sub"); names != nil {
			t.Errorf("it holds %q", names)
		}
	})
}

func TestMakeDirCreatesMissingDirectories(t *testing.T) {
	onWritable(t, func(t *testing.T, k kind) {
		f := k.make(t, tree{"a/x": "x"}, options{})
		for _, dir := range []string{"a", "a/b/c", "new", "a/b/c"} {
			if got := writeTo(f, dir, "text"); got != "v1.md" && got != "v2.md" {
				t.Errorf("%s: %s", dir, got)
			}
		}
		expect(t, f, "open a/b/c/v2.md = text", "list a = [b v1.md x]", "list . = [a new]")
		must.Equal(t, "below a file", "not dir", writeTo(f, "a/x", "text"))
		must.Equal(t, "below a file", "not dir", writeTo(f, "a/x/y", "text"))
	})
}

func TestMakeDirWithinCreatesOnlyDirectoriesWithin(t *testing.T) {
	onWritable(t, func(t *testing.T, k kind) {
		f := k.make(t, tree{"a/x": "x"}, options{})
		must.Equal(t, `writeTo(f.Within("new/b"), "new/b/c", "text")`, "v1.md",
			writeTo(f.Within("new/b"), "new/b/c", "text"))
		for _, dir := range []string{"new/other", "new", "."} {
			must.Equal(t, dir, "escape", writeTo(f.Within("new/b"), dir, "text"))
		}
		expect(t, f, "open new/b/c/v1.md = text", "list new = [b]", "list . = [a new]")
	})
}

func TestMakeDirCreatesTheRoot(t *testing.T) {
	onWritable(t, func(t *testing.T, k kind) {
		f := k.make(t, nil, options{})
		if k.name == "MemMapFs, its top" {
			t.Skip("the top of MemMapFs always exists")
		}
		below := f.rootedAt(f.dir + "/not/yet")
		if got := writeTo(below, "reports", "text"); got != "v1.md" {
			t.Fatal(got)
		}
		expect(t, f, "open not/yet/reports/v1.md = text")
	})
}

func TestMakeDirFollowsLinksAsPolicyAllows(t *testing.T) {
	skipWindows(t, "symbolic links without a privilege")
	onWritable(t, func(t *testing.T, k kind) {
		if !k.links {
			t.Skip("the filesystem has no links")
		}
		for _, test := range []struct {
			o    options
			dir  string
			want string
		}{
			{options{}, "inside", "v1.md"},
			{options{}, "inside/new", "v1.md"},
			{options{}, "outside", "escape"},
			{options{}, "outside/new", "escape"},
			{options{}, "dangling", "symlink"},
			{options{}, "dangling/new", "symlink"},
			{options{denySymlinks: true}, "inside", "symlink"},
			{options{denySymlinks: true}, "inside/new", "symlink"},
			{options{trusted: []string{"OUTSIDE"}}, "outside", "v1.md"},
		} {
			f := k.make(t, tree{"real/": "", "inside": "-> real", "outside": "-> OUTSIDE", "dangling": "-> nowhere"}, test.o)
			must.Equal(t, fmt.Sprintf("%+v, %s", test.o, test.dir), test.want,
				writeTo(f, test.dir, "text"))
			if test.want != "v1.md" {
				expect(t, f, "stat nowhere = not exist", "list real = []")
			}
		}
	})
}

func TestMakeDirFollowsNoLink(t *testing.T) {
	skipWindows(t, "symbolic links without a privilege")
	onWritable(t, func(t *testing.T, k kind) {
		if !k.links {
			t.Skip("the filesystem has no links")
		}
		f := k.make(t, tree{"real/": "", "inside": "-> real", "outside": "-> OUTSIDE", "dangling": "-> nowhere"}, options{})
		d := must.Get(f.OpenDir("."))(t)
		defer d.Close()
		for _, name := range []string{"inside", "outside", "dangling"} {
			if made, err := d.MakeDir(name); !errors.Is(err, ErrSymlink) {
				t.Errorf("%s: %v, %v", name, made, err)
			}
		}
	})
}

func TestReadOnlyFilesystemsAreNotWritten(t *testing.T) {
	f := kinds[len(kinds)-1].make(t, tree{"sub/a": ""}, options{})
	for _, dir := range []string{"new", "sub"} {
		must.Equal(t, dir, "permission", writeTo(f, dir, "x"))
	}
}

func TestAnEndedContextRemovesTheFile(t *testing.T) {
	onWritable(t, func(t *testing.T, k kind) {
		f := k.make(t, tree{"sub/": ""}, options{})
		d := must.Get(f.OpenDir("sub"))(t)
		defer d.Close()
		ctx, cancel := context.WithCancel(context.Background())
		cancelling := &Dir{fs: d.fs, tree: d.tree, at: d.at, name: d.name, handle: faultyDir{writableDir: d.handle.(writableDir), created: func(newFile) (newFile, error) {
			cancel()
			return nil, nil
		}}}
		for range 2 { // during the write, and before
			must.Equal(t, "result", context.Canceled, cancelling.WriteNew(ctx, "v1.md", "x"))
		}
		if names := all(t, f, "sub"); names != nil {
			t.Errorf("it holds %q", names)
		}
	})
}

// A faultyDir fails in the methods for which an error is set.
type faultyDir struct {
	writableDir
	created           func(newFile) (newFile, error) // may replace a created file
	renamedNew, moved error
	synced            error
}

func (d faultyDir) create(name string) (newFile, error) {
	file, err := d.writableDir.create(name)
	if err != nil || d.created == nil {
		return file, err
	}
	if other, err := d.created(file); other != nil || err != nil {
		return other, err
	}
	return file, nil
}

func (d faultyDir) renameNew(from, to string) error {
	if d.renamedNew != nil {
		return d.renamedNew
	}
	return d.writableDir.renameNew(from, to)
}

func (d faultyDir) rename(from, to string) error {
	if d.moved != nil {
		return d.moved
	}
	return d.writableDir.rename(from, to)
}

func (d faultyDir) sync() error {
	if d.synced != nil {
		return d.synced
	}
	return d.writableDir.sync()
}

// A faultyFile writes a part of the data and fails.
type faultyFile struct {
	newFile
	written, synced, closed error
}

func (f faultyFile) WriteString(s string) (int, error) {
	if f.written == nil {
		return f.newFile.WriteString(s)
	}
	n, _ := f.newFile.WriteString(s[:len(s)/2])
	if f.written == errShort {
		return n, nil
	}
	return n, f.written
}

var errShort = errors.New("fewer bytes, and no error")

func (f faultyFile) Sync() error { return errors.Join(f.newFile.Sync(), f.synced) }

func (f faultyFile) Close() error { return errors.Join(f.newFile.Close(), f.closed) }

func TestAFailureLeavesNothing(t *testing.T) {
	full := syscall.ENOSPC
	onWritable(t, func(t *testing.T, k kind) {
		for _, test := range []struct {
			name string
			file faultyFile
			dir  faultyDir
			want string
		}{
			{"a full disk when it is written", faultyFile{written: full}, faultyDir{}, full.Error()},
			{"a part is written", faultyFile{written: errShort}, faultyDir{}, "short write"},
			{"a full disk when it is synced", faultyFile{synced: full}, faultyDir{}, full.Error()},
			{"a full disk when it is closed", faultyFile{closed: full}, faultyDir{}, full.Error()},
			{"no rename", faultyFile{}, faultyDir{renamedNew: errors.ErrUnsupported, moved: full}, full.Error()},
			{"the directory cannot be synced", faultyFile{}, faultyDir{synced: syscall.EIO}, syscall.EIO.Error()},
		} {
			f := k.make(t, tree{"sub/": ""}, options{})
			d := must.Get(f.OpenDir("sub"))(t)
			defer d.Close()
			test.dir.writableDir = d.handle.(writableDir)
			test.dir.created = func(file newFile) (newFile, error) {
				test.file.newFile = file
				return test.file, nil
			}
			faulty := &Dir{fs: d.fs, handle: test.dir, tree: d.tree, at: d.at, name: d.name}
			if err := faulty.WriteNew(ctx, "v1.md", "some text"); err == nil || !strings.HasSuffix(word(err), test.want) {
				t.Errorf("%s: %v", test.name, err)
			}
			if names := all(t, f, "sub"); names != nil {
				t.Errorf("%s leaves %q", test.name, names)
			}
			must.Equal(t, fmt.Sprintf("%s: and then", test.name), "v1.md",
				writeTo(f, "sub", "text"))
		}
	})
}

func TestAFileThatAppearsDuringAWriteStays(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		root := t.TempDir()
		f := newFS(root, options{})
		d := must.Get(f.OpenDir("."))(t)
		defer d.Close()
		late := faultyDir{writableDir: d.handle.(writableDir), created: func(newFile) (newFile, error) {
			return nil, os.WriteFile(filepath.Join(root, "v1.md"), []byte("other"), 0o644)
		}}
		writer := &Dir{fs: d.fs, handle: late, tree: d.tree, at: d.at, name: d.name}
		must.Is(t, "error", fs.ErrExist, writer.WriteNew(ctx, "v1.md", "text"))
		must.Equal(t, `os.ReadFile(filepath.Join(root, "v1.md"))`, "other",
			string(must.Get(os.ReadFile(filepath.Join(root, "v1.md")))(t)))
		must.Equal(t, "the directory", 1, len(all(t, f, ".")))
	})
}

// If every rename of a filesystem replaces, the temporary name still excludes other
// writers.
func TestAPlainRenameReplacesNoFile(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		root := t.TempDir()
		writeAtOnce(t, root, 16, func(content string) (int, error) {
			d := must.Get(newFS(root, options{}).MakeDir("sub"))(t)
			defer d.Close()
			plain := &Dir{fs: d.fs, handle: faultyDir{writableDir: d.handle.(writableDir), renamedNew: syscall.EPERM}, tree: d.tree, at: d.at, name: d.name}
			return writeFirst(plain, content)
		})
	})
}

func TestConcurrentWriters(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		root := t.TempDir()
		writeAtOnce(t, root, 16, func(content string) (int, error) {
			d := must.Get(newFS(root, options{}).MakeDir("sub"))(t)
			defer d.Close()
			return writeFirst(d, content)
		})
	})
}

// writeAtOnce lets n writers write different texts to root/sub, and checks that v1 to vn
// contain these texts.
func writeAtOnce(t *testing.T, root string, n int, write func(content string) (int, error)) {
	t.Helper()
	var writers sync.WaitGroup
	versions := make([]int, n)
	text := func(i int) string { return strings.Repeat(fmt.Sprintf("writer %d\n", i), 1000) }
	for i := range n {
		writers.Go(func() {
			var err error
			if versions[i], err = write(text(i)); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	for i, v := range versions {
		if data, err := os.ReadFile(filepath.Join(root, "sub", version(v))); string(data) != text(i) {
			t.Errorf("writer %d, version %d: %d bytes, %v", i, v, len(data), err)
		}
	}
	slices.Sort(versions)
	must.Match(t, "versions", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}[:n],
		versions)
	must.Equal(t, "the directory", n, len(all(t, osFS(root, options{}), "sub")))
}

// TestWritersInOtherProcesses runs itself.
func TestWritersInOtherProcesses(t *testing.T) {
	const place, each = "TEST_WRITERS_IN", 4
	if root := os.Getenv(place); root != "" {
		for range each {
			if got := writeTo(osFS(root, options{}), "sub", strings.Repeat(fmt.Sprint(os.Getpid(), "\n"), 1000)); !strings.HasPrefix(got, "v") {
				t.Error(got)
			}
		}
		return
	}
	root, self := t.TempDir(), hosttest.Self(t)
	var writers sync.WaitGroup
	for range 16 {
		writers.Go(func() {
			cmd := exec.Command(self, "-test.run=^TestWritersInOtherProcesses$")
			cmd.Env = append(os.Environ(), place+"="+root)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	writers.Wait()
	count := map[string]int{}
	names := all(t, osFS(root, options{}), "sub")
	for i := range 16 * each {
		data := must.Get(os.ReadFile(filepath.Join(root, "sub", version(i+1))))(t)
		pid, _, _ := strings.Cut(string(data), "\n")
		must.Equal(t, fmt.Sprintf("version %d is torn", i+1), strings.Repeat(pid+"\n", 1000),
			string(data))
		count[pid]++
	}
	if len(names) != 16*each || len(count) != 16 {
		t.Errorf("%d files by %d processes", len(names), len(count))
	}
}

// A recordedFs records the syncs and the changes of names in a tree.
type recordedFs struct {
	afero.Fs
	calls *[]string
}

func (f recordedFs) Open(name string) (afero.File, error) { return f.recorded(f.Fs.Open(name)) }

func (f recordedFs) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	return f.recorded(f.Fs.OpenFile(name, flag, mode))
}

func (f recordedFs) recorded(file afero.File, err error) (afero.File, error) {
	return recordedFile{file, f.calls}, err
}

func (f recordedFs) Mkdir(name string, mode fs.FileMode) error {
	*f.calls = append(*f.calls, "mkdir "+name)
	return f.Fs.Mkdir(name, mode)
}

func (f recordedFs) Rename(from, to string) error {
	*f.calls = append(*f.calls, "rename to "+to)
	return f.Fs.Rename(from, to)
}

type recordedFile struct {
	afero.File
	calls *[]string
}

func (f recordedFile) Sync() error {
	*f.calls = append(*f.calls, "sync "+f.Name())
	return f.File.Sync()
}

func TestEachNewNameIsSynced(t *testing.T) {
	var calls []string
	f := must.Get(Over(recordedFs{afero.NewMemMapFs(), &calls}, "/"))(t)
	d := must.Get(f.MakeDir("sub"))(t)
	defer d.Close()
	must.Do(t, d.WriteNew(ctx, "a.md", "text"))
	want := []string{"mkdir /sub", "sync /", "sync /sub/.a.md.tmp", "rename to /sub/a.md", "sync /sub"}
	must.Match(t, "calls", want, calls)
}

func TestADirectoryThatCannotBeSyncedIsNoError(t *testing.T) {
	for _, tt := range []struct{ err, want error }{
		{nil, nil},
		{&fs.PathError{Op: "sync", Err: syscall.EINVAL}, nil},
		{fmt.Errorf("sync: %w", errors.ErrUnsupported), nil},
		{syscall.EIO, syscall.EIO},
	} {
		must.Equal(t, tt.err, tt.want, ignoreNoSync(tt.err))
	}
}

func TestTheSyncOfAClosedDirectoryFails(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		d := must.Get(newFS(t.TempDir(), options{}).OpenDir("."))(t)
		w := d.handle.(writableDir)
		if err := w.sync(); err != nil {
			t.Error(err)
		}
		must.Do(t, d.Close())
		if err := w.sync(); !errors.Is(err, fs.ErrClosed) && !errors.Is(err, os.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}
