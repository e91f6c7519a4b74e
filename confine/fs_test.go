package confine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// onOS are the kinds on the disk that exclude races.
func onOS(t *testing.T, test func(t *testing.T, newFS func(dir string, o options) *FS)) {
	t.Run("os", func(t *testing.T) { test(t, osFS) })
	t.Run("os.Root", func(t *testing.T) { test(t, rootFS) })
}

func TestRootIsTheDirectoryWithTheCurrentName(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		parent := t.TempDir()
		root := filepath.Join(parent, "a", "root")
		f := newFS(root, options{})
		expect(t, f, "stat . = not exist", "list . = not exist", "open x = not exist")

		write(t, root, tree{"x": "first"})
		expect(t, f, "open x = first")
		dir := must.Get(f.OpenDir("."))(t)
		defer dir.Close()

		must.Do(t, os.RemoveAll(root))
		expect(t, f, "open x = not exist", "stat . = not exist")
		write(t, root, tree{"x": "second"})
		expect(t, f, "open x = second")

		must.Do(t, os.Rename(filepath.Join(parent, "a"), filepath.Join(parent, "b")))
		expect(t, f, "open x = not exist")
		write(t, root, tree{"x": "third"})
		expect(t, f, "open x = third", "list . = [x]")

		// Files opened in the first directory still read the first directory.
		must.Equal(t, "a Dir of the removed directory reads", "not exist", callDir(dir, "open", "x"))
	})
}

func TestDirStaysTheSameDirectoryAfterARename(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		root := t.TempDir()
		write(t, root, tree{"sub/x": "first"})
		dir := must.Get(newFS(root, options{}).OpenDir("sub"))(t)
		defer dir.Close()
		must.Do(t, os.Rename(filepath.Join(root, "sub"), filepath.Join(root, "moved")))
		write(t, root, tree{"sub/x": "second"})
		must.Equal(t, "result", "first", callDir(dir, "open", "x"))
	})
}

func TestRelativeRootIsBelowTheWorkingDirectoryOfNew(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, tree{"x": "x"})
	t.Chdir(dir)
	f := osFS(".", options{})
	t.Chdir(t.TempDir())
	expect(t, f, "open x = x")
}

func TestRootMayBeReachedByALink(t *testing.T) {
	skipWindows(t, "symbolic links without a privilege")
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		dir := t.TempDir()
		write(t, dir, tree{"real/x": "x", "real/abs": "-> " + dir + "/alias/x", "real/absreal": "-> " + dir + "/real/x", "real/back": "-> ../real/x"})
		hosttest.Symlink(t, "real", filepath.Join(dir, "alias"))
		f := newFS(filepath.Join(dir, "alias"), options{denySymlinks: true})
		expect(t, f, "open x = x", "list . = [abs absreal back x]")
		f = newFS(filepath.Join(dir, "alias"), options{})
		expect(t, f, "open abs = x", "open absreal = x", "open back = x", "readlink abs = x", "readlink absreal = x")
	})
}

func TestRootThatIsAFile(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			f := k.make(t, tree{"file": "x"}, options{})
			under := f.rootedAt(f.Path("file"))
			expect(t, under, "stat . = not dir", "list . = not dir", "open x = not dir")
		})
	}
}

// Path and RealPath of Within are full paths. RealPath has no links below the root.
func TestPathsOfWithin(t *testing.T) {
	skipWindows(t, "symbolic links without a privilege")
	for _, k := range kinds {
		if !k.links {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			f := k.make(t, tree{"alias": "-> real", "real/sub/x": "", "real/link": "-> sub"}, options{})
			w := f.Within("alias")
			for name, want := range map[string]string{"alias": f.Path("alias"), "alias/sub/x": f.Path("alias/sub/x"), ".": "", "real": "", "alias2": "", "alias/..": ""} {
				must.Equal(t, fmt.Sprintf("Path of %s", name), want, w.Path(name))
			}
			for name, want := range map[string]string{"alias": "real", "alias/sub": "real/sub", "alias/link": "real/sub"} {
				dir := panicking(w.OpenDir(name))
				defer dir.Close()
				must.Equal(t, fmt.Sprintf("RealPath of %s", name), f.Path(want), dir.RealPath())
			}
			top := panicking(w.OpenDir("alias"))
			defer top.Close()
			sub := panicking(top.OpenDir("sub"))
			defer sub.Close()
			must.Equal(t, "RealPath of a child", f.Path("real/sub"), sub.RealPath())
		})
	}
}

// A trusted directory is outside, so no name leads to the target of a link there.
func TestReadLinkInATrustedDirectory(t *testing.T) {
	skipWindows(t, "symbolic links without a privilege")
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		home := tempDir(t)
		write(t, filepath.Join(home, "trusted"), tree{"dir/link": "-> x", "dir/x": "x"})
		root := filepath.Join(home, "proj")
		write(t, root, tree{"dir/x": "other", "dir/trusted": "-> " + home + "/trusted/dir"})
		f := newFS(root, options{trusted: []string{filepath.Join(home, "trusted")}})
		for _, f := range []*FS{f, f.Within("dir")} {
			expect(t, f, "open dir/trusted/link = x", "readlink dir/trusted/link = escape", "dir dir/trusted readlink link = escape")
		}
		expect(t, f.Within("dir/trusted"), "readlink dir/trusted/link = dir/trusted/x", "dir dir/trusted readlink link = dir/trusted/x")
	})
}

// Close of an FS closes the FS of Within, and Close of the FS of Within closes no other FS.
func TestCloseOfWithin(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			f := k.make(t, tree{"a/b/x": "x"}, options{})
			a, second := f.Within("a"), f.Within("a")
			b := a.Within("a/b")
			must.Do(t, second.Close())
			expect(t, second, "open a/b/x = closed")
			expect(t, b, "open a/b/x = x")
			must.Do(t, f.Close())
			for _, closed := range []*FS{a, b} {
				expect(t, closed, "open a/b/x = closed", "list a/b = closed", "readlink a/b/x = closed", "stat .. = closed")
			}
		})
	}
}

// An FS of Within needs no more memory than its fields and its path.
func TestWithinIsCheap(t *testing.T) {
	hosttest.NeedsOptimization(t)
	f := osFS(t.TempDir(), options{trusted: []string{t.TempDir(), t.TempDir()}})
	const most = 256
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.Within("plugins/example")
		}
	})
	if got := result.AllocedBytesPerOp(); got > most {
		t.Errorf("%d bytes, want at most %d", got, most)
	}
}

// The steps of the way to the directory of Within count, so that a link with many ".." elements
// does not repeat a long way without end.
func TestWithinHasTheLimitOfElements(t *testing.T) {
	skipWindows(t, "symbolic links without a privilege")
	deep := strings.Repeat("d/", 500)
	text := "-> " + strings.Repeat("../e/", 100) + "next"
	f := osFS(onDisk(t, tree{deep + "e/link": text, deep + "e/next": "hello"}, &options{}), options{})
	expect(t, f.Within(strings.TrimSuffix(deep, "/")), "open "+deep+"e/next = hello", "open "+deep+"e/link = too long")
}

func TestClosed(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			f := k.make(t, tree{"x": "x", "sub/y": "y"}, options{})
			dir := must.Get(f.OpenDir("."))(t)
			file := must.Get(f.OpenRegular("x"))(t)
			must.Do(t, f.Close())
			must.Is(t, "second Close", fs.ErrClosed, f.Close())
			expect(t, f, "stat x = closed", "lstat x = closed", "open x = closed", "list . = closed", "readlink x = closed")

			// Open files stay open until their own Close.
			must.Equal(t, "an open Dir gives", "x", callDir(dir, "open", "x"))
			must.Do(t, dir.Close())
			for _, op := range []string{"lstat", "open", "head", "list", "readlink"} {
				must.Equal(t, fmt.Sprintf("%s of a closed Dir", op), "closed",
					callDir(dir, op, "x"))
			}
			must.Is(t, "Each of a closed Dir", fs.ErrClosed, dir.Each(ctx, nil))
			must.Is(t, "second Close of a Dir", fs.ErrClosed, dir.Close())
			must.Do(t, file.Close())
			must.Fail(file.Read(make([]byte, 1)))(t, "Read of a closed File", fs.ErrClosed)
			must.Is(t, "second Close of a File", fs.ErrClosed, file.Close())
		})
	}
}

func TestPathIsAPathOfTheUnderlyingFilesystem(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		f          *FS
		name, want string
	}{
		{osFS(dir, options{}), "a/b", filepath.Join(dir, "a", "b")},
		{osFS(dir, options{}), ".", dir},
		{osFS(dir, options{}), "../b", ""},
		{over(afero.NewOsFs(), dir, options{}), "a", filepath.Join(dir, "a")},
		{over(afero.NewMemMapFs(), "/proj", options{}), "a/b", "/proj/a/b"},
		{over(afero.NewMemMapFs(), "", options{}), "a/b", "a/b"},
		{over(afero.NewMemMapFs(), ".", options{}), ".", "."},
	} {
		must.Equal(t, fmt.Sprintf("%s below %s", test.name, test.f.dir), test.want,
			test.f.Path(test.name))
	}
}

func TestInfo(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			f := k.make(t, tree{"x": "12345", "sub/": ""}, options{})
			info := must.Get(f.Info("x"))(t)
			file := must.Get(f.OpenRegular("x"))(t)
			defer file.Close()
			dir := must.Get(f.OpenDir("."))(t)
			defer dir.Close()
			listed := must.Get(dir.Lstat("x"))(t)
			_, head, err := dir.ReadHead("x", nil)
			must.Do(t, err)
			// Opening may set the time of the last access.
			opened := file.Info()
			opened.Accessed, listed.Accessed, head.Accessed = info.Accessed, info.Accessed, info.Accessed
			for _, other := range []Info{opened, listed, head} {
				must.Match(t, "Stat and others differ", info, other)
			}
			if sub, err := dir.Lstat("sub"); err != nil || sub.Size != 0 || !sub.Mode.IsDir() {
				t.Errorf("directory: %+v, %v", sub, err)
			}
			top := must.Get(dir.Info())(t)
			if root, err := f.Info("."); err != nil || root.Ino != top.Ino || !top.Mode.IsDir() {
				t.Errorf("root: %+v and %+v, %v", root, top, err)
			}
		})
	}
}

func TestEach(t *testing.T) {
	files := tree{}
	for i := range 3000 {
		files[fmt.Sprintf("f%04d", i)] = ""
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			f := k.make(t, files, options{})
			dir := must.Get(f.OpenDir("."))(t)
			defer dir.Close()
			t.Run("visits every entry once in each call", func(t *testing.T) {
				for range 2 {
					var names []string
					must.Do(t, dir.Each(ctx, func(name string, _ fs.FileMode) error {
						names = append(names, name)
						return nil
					}))
					slices.Sort(names)
					if len(names) != 3000 || len(slices.Compact(names)) != 3000 {
						t.Errorf("%d names", len(names))
					}
				}
			})
			t.Run("returns the error of f unchanged", func(t *testing.T) {
				enough, n := errors.New("enough"), 0
				err := dir.Each(ctx, func(string, fs.FileMode) error {
					if n++; n == 10 {
						return enough
					}
					return nil
				})
				if err != enough || n != 10 {
					t.Errorf("%v after %d", err, n)
				}
			})
			t.Run("ends with the context", func(t *testing.T) {
				ctx, cancel := context.WithCancel(ctx)
				n := 0
				err := dir.Each(ctx, func(string, fs.FileMode) error {
					n++
					cancel()
					return nil
				})
				if err != context.Canceled || n > 1000 {
					t.Errorf("%v after %d", err, n)
				}
				must.Equal(t, "with an ended context", context.Canceled, dir.Each(ctx, nil))
			})
		})
	}
}

func TestEntryRemovedBeforeLstat(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		root := t.TempDir()
		write(t, root, tree{"a": "", "b": "", "c": ""})
		dir := must.Get(newFS(root, options{}).OpenDir("."))(t)
		defer dir.Close()
		var got []string
		must.Do(t, dir.Each(ctx, func(name string, _ fs.FileMode) error {
			if name == "b" {
				must.Do(t, os.Remove(filepath.Join(root, name)))
			}
			_, err := dir.Lstat(name)
			if err != nil {
				name += " " + word(err)
			}
			got = append(got, name)
			return nil
		}))
		slices.Sort(got)
		must.Match(t, "result", []string{"a", "b not exist", "c"}, got)
	})
}

func TestFile(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			f := must.Get(k.make(t, tree{"x": "0123456789"}, options{}).OpenRegular("x"))(t)
			defer f.Close()
			buf := make([]byte, 4)
			for _, step := range []struct {
				what string
				do   func() (int, error)
				want string
				err  error
			}{
				{"Read", func() (int, error) { return f.Read(buf) }, "0123", nil},
				{"ReadAt", func() (int, error) { return f.ReadAt(buf, 5) }, "5678", nil},
				{"Read goes on", func() (int, error) { return f.Read(buf) }, "4567", nil},
				{"ReadAt the end", func() (int, error) { return f.ReadAt(buf, 8) }, "89", io.EOF},
				{"ReadAt beyond", func() (int, error) { return f.ReadAt(buf, 100) }, "", io.EOF},
				{"Read the end", func() (int, error) { return io.ReadFull(f, buf) }, "89", io.ErrUnexpectedEOF},
				{"Read beyond", func() (int, error) { return f.Read(buf) }, "", io.EOF},
				{"Seek", func() (int, error) { n, err := f.Seek(1, io.SeekStart); return int(n) - 1, err }, "", nil},
				{"Read there", func() (int, error) { return f.Read(buf) }, "1234", nil},
			} {
				n, err := step.do()
				if string(buf[:n]) != step.want || err != step.err {
					t.Errorf("%s: %q, %v; want %q, %v", step.what, buf[:n], err, step.want, step.err)
				}
			}
			must.Fail(f.ReadAt(buf, -1))(t, "ReadAt before the beginning", fs.ErrInvalid)
		})
	}
}

func TestErrorsContainNoHostPath(t *testing.T) {
	secret := errors.New("cannot read /home/user/proj/x")
	f := over(failing{afero.NewMemMapFs(), secret}, "/home/user/proj", options{})
	_, err := f.Info("x")
	must.Is(t, "error", secret, err)
	must.Equal(t, "err.Error()", "stat x: the filesystem failed", err.Error())
	plain := errors.New("quota exceeded")
	_, err = over(failing{afero.NewMemMapFs(), plain}, "/home/user/proj", options{}).Stat("x")
	must.Equal(t, "err.Error()", "stat x: quota exceeded", err.Error())
}

// failing is a filesystem whose methods all fail.
type failing struct {
	afero.Fs
	err error
}

func (f failing) Stat(name string) (fs.FileInfo, error) {
	return nil, &fs.PathError{Op: "stat", Path: name, Err: f.err}
}

func (f failing) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	fi, err := f.Stat(name)
	return fi, false, err
}

// unreadable is a filesystem with files that cannot be opened.
type unreadable struct {
	afero.Fs
	part string
}

func (u unreadable) Open(name string) (afero.File, error) {
	if strings.Contains(name, u.part) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.Fs.Open(name)
}

func TestUnreadable(t *testing.T) {
	mem := inMemory(t, "/proj", tree{"closed/x": "x", "open/x": "x", "open/closed.txt": "x"})
	f := over(unreadable{mem, "closed"}, "/proj", options{})
	expect(t, f, "list . = [closed open]", "stat closed = directory", "list closed = permission", "open open/closed.txt = permission",
		"open open/x = x", "dir . list closed = permission", "dir open head closed.txt = permission")
	expect(t, over(unreadable{mem, "proj"}, "/proj", options{}), "list . = permission")
}

func TestMemMapFsWithAbsoluteAndRelativePaths(t *testing.T) {
	mem := afero.NewMemMapFs()
	must.Do(t, afero.WriteFile(mem, "rel/x", []byte("x"), 0o644))
	must.Do(t, afero.WriteFile(mem, "/abs/y", []byte("y"), 0o644))
	for _, top := range []string{"", ".", "/"} {
		f := over(mem, top, options{})
		expect(t, f, "list . = [abs rel]", "open rel/x = x", "open abs/y = y", "list rel = [x]", "stat missing = not exist")
	}
	expect(t, over(mem, "/rel", options{}), "open x = x", "list . = [x]")
	expect(t, over(mem, "abs", options{}), "open y = y", "list . = [y]")
}

func TestInvalidNamesInAnArchiveAreOmitted(t *testing.T) {
	expect(t, over(badNames{afero.NewMemMapFs()}, "/", options{}), "list . = [good]")
}

// badNames is a filesystem with invalid names at its top.
type badNames struct{ afero.Fs }

func (b badNames) Open(name string) (afero.File, error) {
	f, err := b.Fs.Open(name)
	return badNamesFile{f}, err
}

type badNamesFile struct{ afero.File }

func (badNamesFile) Readdirnames(int) ([]string, error) {
	return []string{"good", "../evil", "..", "/etc/passwd", "", ".", "a\x00b"}, nil
}

// ReadDir has another type than the method of afero.File and hides this method.
func (badNamesFile) ReadDir() {}

func expect(t *testing.T, f *FS, lines ...string) {
	t.Helper()
	for _, line := range lines {
		line, want, _ := strings.Cut(line, " = ")
		must.Equal(t, line, want, call(f, line))
	}
}

func TestOptions(t *testing.T) {
	skipWindows(t, "absolute paths such as /a")
	for _, test := range []struct {
		opts []Option
		want string
	}{
		{nil, ""},
		{[]Option{nil, DenySymlinks()}, ""},
		{[]Option{TrustDirs(), DenySymlinks()}, ""},
		{[]Option{TrustDirs("/a"), TrustDirs("/b/../c")}, ""},
		{[]Option{TrustDirs("/a", "b")}, `confine: trusted directory "b" is not an absolute path`},
		{[]Option{TrustDirs("/a"), DenySymlinks()}, "confine: DenySymlinks cannot be combined with TrustDirs and TrustAll"},
		{[]Option{TrustAll(), TrustDirs("/a")}, ""},
		{[]Option{TrustAll(), DenySymlinks()}, "confine: DenySymlinks cannot be combined with TrustDirs and TrustAll"},
	} {
		_, osErr := New(t.TempDir(), test.opts...)
		_, memErr := Over(afero.NewMemMapFs(), "/", test.opts...)
		for _, err := range []error{osErr, memErr} {
			if err == nil && test.want != "" || err != nil && err.Error() != test.want {
				t.Errorf("got %v, want %q", err, test.want)
			}
		}
	}
	f := panicking(Over(afero.NewMemMapFs(), "/", TrustDirs("/a"), TrustDirs("/b/../c")))
	must.Match(t, "trusted", []string{"/a", "/c"}, f.trusted)
}

func TestIOFS(t *testing.T) {
	files := tree{"a.txt": "hello", "sub/b.txt": "b", "sub/deep/c.txt": "c", "empty/": "", "nothing": ""}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			if err := fstest.TestFS(k.make(t, files, options{}).IOFS(), "a.txt", "sub/deep/c.txt", "empty"); err != nil {
				t.Error(err)
			}
			if !k.links {
				return
			}
			linked := tree{"a.txt": "hello", "sub/b.txt": "b", "link": "-> sub/b.txt", "dir": "-> sub", "sub/self": "-> ."}
			f := k.make(t, linked, options{}).IOFS()
			if err := fstest.TestFS(f, "a.txt", "sub/self", "link", "dir"); err != nil {
				t.Error(err)
			}
			linked["sub/up"] = "-> ../a.txt" // TestFS would open this link in fs.Sub(f, "sub")
			f = k.make(t, linked, options{}).IOFS()
			for name, want := range map[string]string{"sub/up": "../a.txt", "link": "sub/b.txt", "dir": "sub", "dir/up": "../a.txt", "sub/self": "."} {
				must.Equal(t, fmt.Sprintf("ReadLink %s", name), want,
					must.Get(fs.ReadLink(f, name))(t))
			}
		})
	}
}

// The fs.Sub of an IOFS is the IOFS of Within, with names relative to the directory.
func TestSubOfIOFS(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			files := tree{"a.txt": "a", "sub/b.txt": "b", "sub/deep/c.txt": "c"}
			if k.links {
				files["sub/link"], files["sub/out"], files["sub/deep/up"] = "-> deep/c.txt", "-> ../a.txt", "-> ../b.txt"
			}
			f := k.make(t, files, options{})
			sub := panicking(fs.Sub(f.IOFS(), "sub"))
			deep := panicking(fs.Sub(sub, "deep"))
			for name, want := range map[string]string{"b.txt": "b", "deep/c.txt": "c", "link": "c"} {
				if name == "link" && !k.links {
					continue
				}
				must.Equal(t, name, want, string(must.Get(fs.ReadFile(sub, name))(t)))
			}
			must.Equal(t, "c.txt of the second Sub", "c",
				string(must.Get(fs.ReadFile(deep, "c.txt"))(t)))
			_, err := fs.Stat(deep, "missing/x")
			var failed *fs.PathError
			if !errors.As(err, &failed) || failed.Path != "missing/x" || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the error has another name: %v", err)
			}
			for _, dir := range []string{"..", "/sub", "sub/../..", ""} {
				if _, err := f.IOFS().(fs.SubFS).Sub(dir); !errors.Is(err, fs.ErrInvalid) {
					t.Errorf("Sub(%q): %v", dir, err)
				}
			}
			if !k.links {
				return
			}
			within := f.Within("sub").IOFS()
			for view, names := range map[fs.FS]map[string]string{
				sub: {"link": "deep/c.txt", "deep/up": "../b.txt"}, within: {"sub/link": "deep/c.txt", "sub/deep/up": "../b.txt"},
			} {
				for name, want := range names {
					must.Equal(t, fmt.Sprintf("ReadLink %s", name), want,
						must.Get(fs.ReadLink(view, name))(t))
				}
			}
			for _, refused := range []error{onlyError(fs.ReadFile(sub, "out")), onlyError(fs.ReadLink(sub, "out")), onlyError(fs.ReadFile(deep, "up"))} {
				if !errors.Is(refused, ErrEscape) {
					t.Errorf("a link out of the directory: %v", refused)
				}
			}
		})
	}
}

func TestIOFSRejectsNamesOutside(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			f := k.make(t, tree{"sub/a.txt": ""}, options{}).IOFS()
			for _, name := range []string{"..", "../outside/secret.txt", "/etc/passwd", "sub/../..", "sub/", ""} {
				_, openErr := f.Open(name)
				_, statErr := fs.Stat(f, name)
				_, lstatErr := fs.Lstat(f, name)
				_, readErr := fs.ReadFile(f, name)
				_, dirErr := fs.ReadDir(f, name)
				_, linkErr := fs.ReadLink(f, name)
				for _, err := range []error{openErr, statErr, lstatErr, readErr, dirErr, linkErr} {
					must.Is(t, name, fs.ErrInvalid, err)
				}
			}
			if !k.links {
				return
			}
			f = k.make(t, tree{"out": "-> ../outside/secret.txt", "outdir": "-> ../outside"}, options{}).IOFS()
			for _, name := range []string{"out", "outdir", "outdir/secret.txt"} {
				must.Fail(f.Open(name))(t, fmt.Sprintf("Open %s", name), ErrEscape)
			}
			if text, err := fs.ReadLink(f, "out"); text != "" || !errors.Is(err, ErrEscape) {
				t.Errorf("ReadLink: %q, %v", text, err)
			}
		})
	}
}

func TestAfero(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			f := k.make(t, tree{"a.txt": "hello", "sub/b.txt": "b", "sub/c.txt": ""}, options{})

			t.Run("reads", func(t *testing.T) {
				for _, name := range []string{"a.txt", "./a.txt", "sub/../a.txt"} {
					must.Equal(t, name, "hello", string(must.Get(afero.ReadFile(f, name))(t)))
				}
				var walked []string
				must.Do(t, afero.Walk(f, "", func(path string, fi fs.FileInfo, err error) error {
					walked = append(walked, filepath.ToSlash(path)) // afero joins names by package filepath
					return err
				}))
				must.Match(t, "result", []string{"", "a.txt", "sub", "sub/b.txt", "sub/c.txt"}, walked)
			})

			t.Run("returns directories in parts", func(t *testing.T) {
				dir := must.Get(f.Open("sub/"))(t)
				defer dir.Close()
				must.Equal(t, "its name", "sub", dir.Name())
				var names []string
				for range 2 {
					for {
						some, err := dir.Readdirnames(1)
						names = append(names, some...)
						if err == io.EOF {
							break
						}
						must.Do(t, err)
					}
					must.Get(dir.Seek(0, io.SeekStart))(t)
				}
				must.Match(t, "result", []string{"b.txt", "c.txt", "b.txt", "c.txt"}, names)
				infos, err := dir.Readdir(-1)
				if err != nil || len(infos) != 2 || infos[0].Size() != 1 {
					t.Errorf("%v, %v", infos, err)
				}
			})

			t.Run("does not write", func(t *testing.T) {
				file := must.Get(f.Open("a.txt"))(t)
				defer file.Close()
				_, create := f.Create("new")
				for _, flag := range []int{os.O_WRONLY, os.O_RDWR, os.O_APPEND, os.O_CREATE, os.O_TRUNC} {
					if _, err := f.OpenFile("a.txt", flag, 0); !errors.Is(err, fs.ErrPermission) {
						t.Errorf("OpenFile with %#x: %v", flag, err)
					}
				}
				_, write := file.Write([]byte("x"))
				_, writeAt := file.WriteAt([]byte("x"), 0)
				_, writeString := file.WriteString("x")
				for what, err := range map[string]error{
					"Create": create, "Write": write, "WriteAt": writeAt,
					"WriteString": writeString, "Truncate": file.Truncate(0), "Mkdir": f.Mkdir("new", 0o755), "MkdirAll": f.MkdirAll("new/x", 0o755),
					"Remove": f.Remove("a.txt"), "RemoveAll": f.RemoveAll("sub"), "Rename": f.Rename("a.txt", "b.txt"), "Chmod": f.Chmod("a.txt", 0),
					"Chown": f.Chown("a.txt", 0, 0), "Chtimes": f.Chtimes("a.txt", time.Now(), time.Now()),
				} {
					must.Is(t, what, fs.ErrPermission, err)
				}
			})

			t.Run("rejects names outside", func(t *testing.T) {
				for _, name := range []string{"..", "../outside/secret.txt", "/etc/passwd", "sub/../../outside"} {
					must.Fail(f.Open(name))(t, name, ErrEscape)
				}
			})
		})
	}
}

func TestLstatIfPossibleReportsLinkSupport(t *testing.T) {
	for _, k := range kinds {
		files := tree{"a.txt": "hello"}
		if k.links {
			files["link"], files["sub/out"] = "-> a.txt", "-> ../../outside"
		}
		f := k.make(t, files, options{})
		_, told, err := f.LstatIfPossible("a.txt")
		if told != k.links || err != nil {
			t.Errorf("%s: %v, %v", k.name, told, err)
		}
		if !k.links {
			continue
		}
		fi, _, err := f.LstatIfPossible("link")
		if err != nil || fi.Mode().Type() != fs.ModeSymlink || fi.Size() != 0 {
			t.Errorf("%s: %v, %v", k.name, fi, err)
		}
		must.Equal(t, k.name, "a.txt", must.Get(f.ReadlinkIfPossible("link"))(t))
		if target, err := f.ReadlinkIfPossible("sub/out"); target != "" || !errors.Is(err, ErrEscape) {
			t.Errorf("%s: %q, %v", k.name, target, err)
		}
	}
}

// An absolute link has a target relative to the directory of the link.
func TestRelative(t *testing.T) {
	for _, test := range []struct{ at, target, want string }{
		{".", "a", "a"},
		{".", "a/b", "a/b"},
		{".", ".", "."},
		{"a", "b", "../b"},
		{"a", "a/b", "b"},
		{"a", "a", "."},
		{"a/b", "a", ".."},
		{"a/b", ".", "../.."},
		{"a/b", "a/c/d", "../c/d"},
		{"ab", "a", "../a"},
	} {
		root := t.TempDir()
		must.Do(t, os.MkdirAll(filepath.Join(root, test.at), 0o755))
		hosttest.Symlink(t, filepath.Join(root, test.target), filepath.Join(root, test.at, "link"))
		got := must.Get(osFS(root, options{}).ReadlinkIfPossible(path.Join(test.at, "link")))(t)
		must.Equal(t, fmt.Sprintf("from %s to %s", test.at, test.target), test.want, got)
	}
}

func TestOpenFileOpensForReading(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			file := must.Get(k.make(t, tree{"a.txt": "hello"}, options{}).OpenFile("a.txt", os.O_RDONLY, 0))(t)
			defer file.Close()
			must.Equal(t, "io.ReadAll(file)", "hello", string(must.Get(io.ReadAll(file))(t)))
		})
	}
}

// A dirWithoutType is an afero.Fs whose modes of directories have no type.
type dirWithoutType struct{ afero.Fs }

func (f dirWithoutType) Stat(name string) (fs.FileInfo, error) {
	fi, err := f.Fs.Stat(name)
	return infoWithoutType{fi}, err
}

type infoWithoutType struct{ fs.FileInfo }

func (i infoWithoutType) Mode() fs.FileMode { return i.FileInfo.Mode().Perm() }

func TestIsDirOfAFilesystemMakesADirectory(t *testing.T) {
	m := afero.NewMemMapFs()
	must.Do(t, afero.WriteFile(m, "/sub/a.txt", nil, 0o644))
	f := must.Get(Over(dirWithoutType{m}, "/"))(t)
	for name, want := range map[string]bool{"sub": true, "sub/a.txt": false} {
		must.Equal(t, name, want, must.Get(f.Info(name))(t).Mode.IsDir())
	}
}

func TestALinkWithEmptyElementsLeadsInside(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		above := t.TempDir()
		write(t, filepath.Join(above, "root"), tree{"a.txt": "inside"})
		f := newFS(filepath.Join(above, "root"), options{})
		for i, target := range []string{"/root/a.txt", "//root//a.txt", "/./root/./a.txt", "/././root/.//./a.txt"} {
			link := fmt.Sprint("link", i)
			hosttest.Symlink(t, above+target, filepath.Join(above, "root", link))
			must.Equal(t, target, int64(len("inside")), must.Get(f.Info(link))(t).Size)
		}
	})
}

func TestALinkToAnotherSpellingOfTheRootLeadsOutside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows ignores the case of names")
	}
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		above := t.TempDir()
		write(t, filepath.Join(above, "root"), tree{"a.txt": "inside"})
		hosttest.Symlink(t, filepath.Join(above, "ROOT", "a.txt"), filepath.Join(above, "root", "link"))
		must.Fail(newFS(filepath.Join(above, "root"), options{}).Info("link"))(t, "error", ErrEscape)
	})
}

// A permissiveFS returns entries whose Type has permission bits, against the rule of fs.DirEntry.
type permissiveFS struct{ fstest.MapFS }

type permissiveEntry struct{ fs.DirEntry }

func (e permissiveEntry) Type() fs.FileMode { return e.DirEntry.Type() | 0o644 }

func (f permissiveFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := f.MapFS.ReadDir(name)
	for i, e := range entries {
		entries[i] = permissiveEntry{e}
	}
	return entries, err
}

func TestTypesWithPermissionBits(t *testing.T) {
	f := must.Get(Over(afero.FromIOFS{FS: permissiveFS{fstest.MapFS{"dir/file": {Data: []byte("text")}}}}, "."))(t)
	top := must.Get(f.OpenDir("."))(t)
	defer top.Close()
	must.Do(t, top.Each(t.Context(), func(name string, typ fs.FileMode) error {
		must.Equal(t, name, fs.ModeDir, typ)
		return nil
	}))
	dir := must.Get(top.OpenDir("dir"))(t)
	defer dir.Close()
	must.Do(t, dir.Each(t.Context(), func(name string, typ fs.FileMode) error {
		must.Equal(t, name, 0, typ)
		return nil
	}))
	must.Get(dir.OpenRegular("file"))(t).Close()
}
