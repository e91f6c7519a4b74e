package confine

import (
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
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A tree has the contents of files by name. A name with a slash at the end is a directory.
// The content "-> x" is a link to x. In x, ROOT is the full path of the root, and OUTSIDE
// is the full path of a directory beside the root. OUTSIDE contains secret.txt.
type tree map[string]string

// A kind is a way to make an FS of a tree.
type kind struct {
	name     string
	links    bool // the kind supports links
	absolute bool // the kind supports absolute links that lead inside
	make     func(t testing.TB, files tree, o options) *FS
}

// kinds are all kinds. The table of TestConformance applies to each kind.
var kinds = append(slices.Clone(made), within(made)...)

// within returns the kinds whose roots have a parent, each as the fs.Sub of an FS of the parent.
func within(kinds []kind) (all []kind) {
	for _, k := range kinds {
		if strings.Contains(k.name, "top") {
			continue
		}
		direct := k.make
		k.name += ", within its parent"
		k.make = func(t testing.TB, files tree, o options) *FS {
			f := direct(t, files, o)
			return f.rootedAt(path.Dir(filepath.ToSlash(f.dir))).within(path.Base(filepath.ToSlash(f.dir)), ".")
		}
		all = append(all, k)
	}
	return all
}

// rootedAt returns an FS like f with another root, given by its full path.
func (f *FS) rootedAt(dir string) *FS {
	if f.adapted == nil {
		dir = filepath.FromSlash(dir)
	}
	return &FS{dir: dir, options: f.options, adapted: f.adapted, openTop: f.openTop, name: "."}
}

// made are the kinds of New and Over.
var made = []kind{
	{"os", true, true, func(t testing.TB, files tree, o options) *FS {
		return osFS(onDisk(t, files, &o), o)
	}},
	{"os.Root", true, true, func(t testing.TB, files tree, o options) *FS {
		return rootFS(onDisk(t, files, &o), o)
	}},
	{"wrapped OsFs", true, true, func(t testing.TB, files tree, o options) *FS {
		return over(wrappedOsFs{}, onDisk(t, files, &o), o)
	}},
	{"MemMapFs", false, false, func(t testing.TB, files tree, o options) *FS {
		return over(inMemory(t, "/home/proj", files), "/home/proj", o)
	}},
	{"MemMapFs, its top", false, false, func(t testing.TB, files tree, o options) *FS {
		return over(inMemory(t, "", files), ".", o)
	}},
	{"MemMapFs, absolute below its top", false, false, func(t testing.TB, files tree, o options) *FS {
		return over(inMemory(t, "/", files), "", o)
	}},
	{"MapFS", true, false, func(t testing.TB, files tree, o options) *FS {
		m := fstest.MapFS{"home/outside/secret.txt": {Data: []byte("secret")}, "home/proj": {Mode: fs.ModeDir | 0o755}}
		for name, content := range files {
			full := path.Join("home/proj", name)
			switch target, link := strings.CutPrefix(content, "-> "); {
			case strings.HasSuffix(name, "/"):
				m[full] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
			case link:
				target = strings.ReplaceAll(target, "OUTSIDE", "/home/outside")
				m[full] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
			default:
				m[full] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
			}
		}
		return over(afero.FromIOFS{FS: m}, "home/proj", o)
	}},
	{"fs.FS without links", false, false, func(t testing.TB, files tree, o options) *FS {
		m := fstest.MapFS{"home/outside/secret.txt": {Data: []byte("secret")}, "home/proj": {Mode: fs.ModeDir | 0o755}}
		for name, content := range files {
			full := path.Join("home/proj", name)
			if strings.HasSuffix(name, "/") {
				m[full] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
			} else {
				m[full] = &fstest.MapFile{Data: []byte(content), Mode: fs.ModeIrregular | 0o644}
			}
		}
		return over(afero.FromIOFS{FS: struct{ fs.FS }{m}}, "home/proj", o)
	}},
}

// osFS is New with the implementation for Linux, rootFS is New with os.Root, and over is
// Over. All panic on an error.
func osFS(dir string, o options) *FS   { return panicking(newFS(dir, o, openOSDir)) }
func rootFS(dir string, o options) *FS { return panicking(newFS(dir, o, openRootDir)) }

func over(fsys afero.Fs, dir string, o options) *FS {
	if _, isOS := fsys.(*afero.OsFs); isOS {
		return panicking(Over(fsys, dir))
	}
	return panicking(overFS(fsys, dir, o))
}

func panicking[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// wrappedOsFs is the operating system's filesystem in a type unknown to Over.
type wrappedOsFs struct{ afero.OsFs }

func onDisk(t testing.TB, files tree, o *options) (root string) {
	t.Helper()
	home := tempDir(t)
	root, outside := filepath.Join(home, "proj"), filepath.Join(home, "outside")
	write(t, outside, tree{"secret.txt": "secret"})
	write(t, root, files)
	for i, dir := range o.trusted {
		o.trusted[i] = strings.ReplaceAll(dir, "OUTSIDE", outside)
	}
	return root
}

// tempDir is t.TempDir on a filesystem in memory, if the system has one and TMPDIR selects no
// other, because some disks need a millisecond to create a file. The function word recognizes the
// name.
func tempDir(t testing.TB) string {
	t.Helper()
	if runtime.GOOS == "windows" || os.Getenv("TMPDIR") != "" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "home")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// write writes a tree below root. Empty files are hard links, because a link is much faster than a
// new file. Some filesystems have no hard links, or few of a file. NTFS takes longer for each
// further link of a file.
func write(t testing.TB, root string, files tree) {
	t.Helper()
	must.Do(t, os.MkdirAll(root, 0o755))
	empty, links := "", 0
	for name, content := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(full), 0o755))
		switch target, link := strings.CutPrefix(content, "-> "); {
		case strings.HasSuffix(name, "/"):
			must.Do(t, os.MkdirAll(full, 0o755))
		case link:
			target = strings.ReplaceAll(target, "ROOT", root)
			target = strings.ReplaceAll(target, "OUTSIDE", filepath.Join(filepath.Dir(root), "outside"))
			skipWindows(t, "symbolic links without a privilege")
			hosttest.Symlink(t, target, full)
		case content == "" && links < 100 && empty != "" && os.Link(empty, full) == nil:
			links++
		default:
			err := os.WriteFile(full, []byte(content), 0o644)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EINVAL) { // the directory exists
				t.Skipf("the filesystem has no file %q", name)
			}
			must.Do(t, err)
			if content == "" {
				empty, links = full, 0
			}
		}
	}
}

func inMemory(t testing.TB, root string, files tree) afero.Fs {
	t.Helper()
	m := afero.NewMemMapFs()
	if root != "" {
		must.Do(t, m.MkdirAll(root, 0o755))
	}
	for name, content := range files {
		full := path.Join(root, name)
		if strings.HasSuffix(name, "/") {
			must.Do(t, m.MkdirAll(full, 0o755))
		} else {
			must.Do(t, afero.WriteFile(m, full, []byte(content), 0o644))
		}
	}
	return m
}

// call executes a line, for example "stat a.txt", and returns the result in a few words.
func call(f *FS, line string) string {
	op, name, _ := strings.Cut(line, " ")
	name = strings.ReplaceAll(name, `\0`, "\x00")
	switch op {
	case "lstat":
		info, err := f.Lstat(name)
		return told(info, err)
	case "stat":
		info, err := f.Info(name)
		return told(info, err)
	case "open":
		file, err := f.OpenRegular(name)
		return contents(file, err)
	case "list":
		dir, err := f.OpenDir(name)
		return listing(dir, err)
	case "readlink":
		target, err := f.ReadLink(name)
		if err != nil {
			return word(err)
		}
		return target
	case "dir":
		// dir DIRECTORY OP NAME: the same through a Dir.
		dirName, rest, _ := strings.Cut(name, " ")
		op, name, _ := strings.Cut(rest, " ")
		dir, err := f.OpenDir(dirName)
		if err != nil {
			return word(err)
		}
		defer dir.Close()
		return callDir(dir, op, name)
	default:
		panic(line)
	}
}

func callDir(dir *Dir, op, name string) string {
	switch op {
	case "lstat":
		info, err := dir.Lstat(name)
		return told(info, err)
	case "open":
		file, err := dir.OpenRegular(name)
		return contents(file, err)
	case "head":
		buf := make([]byte, 3)
		n, info, err := dir.ReadHead(name, buf)
		if err != nil {
			return word(err)
		}
		return fmt.Sprintf("%q of %d", buf[:n], info.Size)
	case "list":
		child, err := dir.OpenDir(name)
		return listing(child, err)
	case "readlink":
		target, err := dir.ReadLink(name)
		if err != nil {
			return word(err)
		}
		return target
	default:
		panic(op)
	}
}

func told(info Info, err error) string {
	switch {
	case err != nil:
		return word(err)
	case info.Mode.IsDir():
		return "directory"
	case info.Mode.IsRegular():
		return fmt.Sprintf("file of %d", info.Size)
	case info.isLink():
		return "link"
	default:
		return info.Mode.Type().String()
	}
}

func contents(file *File, err error) string {
	if err != nil {
		return word(err)
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return word(err)
	}
	return string(data)
}

func listing(dir *Dir, err error) string {
	if err != nil {
		return word(err)
	}
	defer dir.Close()
	var names []string
	err = dir.Each(ctx, func(name string, typ fs.FileMode) error {
		if info, err := dir.Lstat(name); err == nil && typ != TypeUnknown && typ != info.Mode.Type() {
			return fmt.Errorf("%q is told as %v", name, typ)
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		return word(err)
	}
	slices.Sort(names)
	return "[" + strings.Join(names, " ") + "]"
}

// word returns the sentinel of an error in a few words.
func word(err error) string {
	var pathError *fs.PathError
	if !errors.As(err, &pathError) {
		return "not a PathError: " + err.Error()
	}
	if strings.Contains(err.Error(), os.TempDir()) || strings.Contains(err.Error(), "home") {
		return "holds a path of the host: " + err.Error()
	}
	for _, kind := range []struct {
		err  error
		word string
	}{
		{ErrEscape, "escape"},
		{ErrSymlink, "symlink"},
		{ErrNotRegular, "not regular"},
		{ErrNotDir, "not dir"},
		{fs.ErrNotExist, "not exist"},
		{fs.ErrPermission, "permission"},
		{fs.ErrInvalid, "invalid"},
		{fs.ErrClosed, "closed"},
		{syscall.ELOOP, "loop"},
		{syscall.ENAMETOOLONG, "too long"},
	} {
		if errors.Is(err, kind.err) {
			return kind.word
		}
	}
	return err.Error()
}

// skipWindows skips a test of what Windows lacks.
func skipWindows(t testing.TB, lacks string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no " + lacks)
	}
}

// A requestedFS records the calls of an fs.FS without links. Its files have the mode
// fs.ModeIrregular.
type requestedFS struct {
	files fstest.MapFS
	calls *[]string
}

func (f requestedFS) record(call, name string) { *f.calls = append(*f.calls, call+" "+name) }

func (f requestedFS) Open(name string) (fs.File, error) {
	f.record("open", name)
	return f.files.Open(name)
}

func (f requestedFS) Stat(name string) (fs.FileInfo, error) {
	f.record("stat", name)
	return f.files.Stat(name)
}

// ReadDir returns the entries in reverse order.
func (f requestedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	f.record("readdir", name)
	entries, err := f.files.ReadDir(name)
	slices.Reverse(entries)
	return entries, err
}

// Each call of an fs.FS can be a request to a remote store.
func TestAnIOFSIsCalledAsRarelyAsPossible(t *testing.T) {
	var calls []string
	fsys := over(afero.FromIOFS{FS: requestedFS{fstest.MapFS{
		"a.md":          {Data: []byte("hello"), Mode: fs.ModeIrregular},
		"pdf/SKILL.md":  {Data: []byte("skill"), Mode: fs.ModeIrregular},
		"pdf/doc/x.txt": {Data: []byte("x"), Mode: fs.ModeIrregular},
	}, &calls}}, ".", options{})
	top := panicking(fsys.OpenDir("."))
	for _, tt := range []struct {
		name string
		do   func() error
		want []string
	}{
		{"the listing of OpenDir", func() error { return top.Each(ctx, func(string, fs.FileMode) error { return nil }) }, []string{"readdir ."}},
		{"another listing", func() error { return top.Each(ctx, func(string, fs.FileMode) error { return nil }) }, []string{"readdir ."}},
		{"metadata of a listed file", func() error { return onlyError(top.Lstat("a.md")) }, nil},
		{"head of a listed file", func() error { return onlyError2(top.ReadHead("a.md", make([]byte, 3))) }, []string{"open a.md"}},
		{"a listed directory", func() error { return onlyError(top.OpenDir("pdf")) }, nil},
		{"a file by its path", func() error { return onlyError(fsys.OpenRegular("pdf/doc/x.txt")) }, []string{"open pdf/doc/x.txt"}},
		{"metadata by the path", func() error { return onlyError(fsys.Info("pdf/doc/x.txt")) }, []string{"stat pdf/doc/x.txt"}},
		{"a directory by its path", func() error { return onlyError(fsys.OpenDir("pdf/doc")) }, []string{"readdir pdf/doc"}},
	} {
		if err := tt.do(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		must.Match(t, fmt.Sprintf("%s: calls", tt.name), tt.want, calls)
		calls = nil
	}
}

// Within of an fs.FS without links makes the same calls as the FS.
func TestAnIOFSIsCalledAsRarelyThroughWithin(t *testing.T) {
	var calls []string
	files := requestedFS{fstest.MapFS{"pdf/SKILL.md": {Data: []byte("skill")}, "pdf/doc/x.txt": {Data: []byte("x")}}, &calls}
	whole := over(afero.FromIOFS{FS: files}, ".", options{})
	for _, tt := range []struct {
		name string
		do   func(f *FS) error
	}{
		{"a directory", func(f *FS) error { return onlyError(f.OpenDir("pdf")) }},
		{"a file", func(f *FS) error { return onlyError(f.OpenRegular("pdf/doc/x.txt")) }},
		{"metadata", func(f *FS) error { return onlyError(f.Info("pdf/doc/x.txt")) }},
		{"metadata of the directory", func(f *FS) error { return onlyError(f.Info("pdf")) }},
	} {
		must.Do(t, tt.do(whole))
		want := slices.Clone(calls)
		calls = nil
		must.Do(t, tt.do(whole.Within("pdf")))
		must.Match(t, fmt.Sprintf("%s: calls (-without +with Within)", tt.name), want, calls)
		calls = nil
	}
}

// A headsFS knows the head of each file.
type headsFS struct{ fstest.MapFS }

func (f headsFS) ReadHead(name string) ([]byte, fs.FileInfo, error) {
	info, err := fs.Stat(f.MapFS, name)
	return []byte("head of " + name), info, err
}

func TestWithinKnowsHeads(t *testing.T) {
	f := over(afero.FromIOFS{FS: headsFS{fstest.MapFS{"pdf/SKILL.md": {Data: []byte("skill")}}}}, ".", options{}).Within("pdf")
	if !f.KnowsHeads() {
		t.Error("it does not know heads")
	}
	dir := panicking(f.OpenDir("pdf"))
	defer dir.Close()
	buf := make([]byte, 100)
	n, _, err := dir.ReadHead("SKILL.md", buf)
	if got := string(buf[:n]); got != "head of pdf/SKILL.md" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if over(afero.FromIOFS{FS: fstest.MapFS{}}, ".", options{}).Within("pdf").KnowsHeads() {
		t.Error("it knows heads that the filesystem does not know")
	}
}

func onlyError[T any](_ T, err error) error          { return err }
func onlyError2[A, B any](_ A, _ B, err error) error { return err }

// A file with the version of its content is an Info with the version.
func TestInfoHasTheVersion(t *testing.T) {
	file := fstest.MapFS{"a": {Data: []byte("text"), Sys: 1}}
	info := panicking(fs.Stat(file, "a"))
	must.Equal(t, "a file without a version has version", "", infoOf(info).Version)
	must.Equal(t, "version", fmt.Sprint(info.Size()), infoOf(taggedInfo{info}).Version)
}

type taggedInfo struct{ fs.FileInfo }

func (i taggedInfo) Version() string { return fmt.Sprint(i.Size()) }
