package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// A tree is the content of the root: the text of each file by its path. A text
// "-> target" is a symbolic link. A path that ends with "/" is a directory. A
// path that begins with "../" is outside the root.
type tree map[string]string

func (tr tree) hasLinks() bool {
	for _, text := range tr {
		if strings.HasPrefix(text, "-> ") {
			return true
		}
	}
	return false
}

// oddNames returns two names that differ only in letter case, and the names with characters that
// some systems do not have.
func (tr tree) oddNames() (odd []string) {
	seen := map[string]string{}
	for file := range tr {
		dir := ""
		for name := range strings.SplitSeq(strings.TrimSuffix(file, "/"), "/") {
			dir = path.Join(dir, strings.ToLower(name))
			switch other, ok := seen[dir]; {
			case ok && other != name:
				return []string{other, name}
			case !ok && strings.ContainsFunc(name, unicode.IsControl):
				odd = append(odd, name)
			}
			seen[dir] = name
		}
	}
	return odd
}

// onDisk creates the tree in a temporary directory and returns the root.
func (tr tree) onDisk(t testing.TB) string {
	t.Helper()
	if tr.hasLinks() {
		hosttest.NeedsSymlinks(t)
	}
	hosttest.NeedsNames(t, tr.oddNames()...)
	root := filepath.Join(t.TempDir(), "root")
	err := os.Mkdir(root, 0o755)
	for _, links := range []bool{false, true} { // on Windows, the target decides whether a new link is a directory
		for name, text := range tr {
			if strings.HasPrefix(text, "-> ") == links {
				err = errors.Join(err, create(filepath.Join(root, filepath.FromSlash(name)), name, text))
			}
		}
	}
	must.Do(t, err)
	return root
}

func create(full, name, text string) error {
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	if target, ok := strings.CutPrefix(text, "-> "); ok {
		return os.Symlink(filepath.FromSlash(target), full)
	}
	if strings.HasSuffix(name, "/") {
		return os.MkdirAll(full, 0o755)
	}
	return os.WriteFile(full, []byte(text), 0o644)
}

// inMemory returns a filesystem without change times and inode numbers. Its
// files were changed long ago.
func (tr tree) inMemory(t testing.TB) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, text := range tr {
		err := fsys.MkdirAll("/"+path.Dir(name), 0o755)
		if strings.HasSuffix(name, "/") {
			err = errors.Join(err, fsys.MkdirAll("/"+name, 0o755))
		} else {
			err = errors.Join(err, write(fsys, name, text))
		}
		must.Do(t, err)
	}
	return fsys
}

var written = time.Date(2025, 11, 20, 10, 30, 0, 5, time.UTC)

func write(fsys afero.Fs, name, text string) error {
	return errors.Join(afero.WriteFile(fsys, "/"+name, []byte(text), 0o644), fsys.Chtimes("/"+name, written, written))
}

// onEveryFilesystem runs a test of a tree on each kind of filesystem that can
// hold the tree. The root of the filesystem is the root of the tree.
func onEveryFilesystem(t *testing.T, tr tree, opts []confine.Option, test func(t *testing.T, fsys *confine.FS)) {
	for _, kind := range []struct {
		name   string
		onDisk bool
		open   func(root string) (*confine.FS, error)
	}{
		{"memory", false, func(string) (*confine.FS, error) { return confine.Over(tr.inMemory(t), "/", opts...) }},
		{"memory with unknown types", false, func(string) (*confine.FS, error) { return confine.Over(restricted{Fs: tr.inMemory(t)}, "/", opts...) }},
		{"disk", true, func(root string) (*confine.FS, error) { return confine.New(root, opts...) }},
		{"disk with unknown types", true, func(root string) (*confine.FS, error) {
			return confine.Over(restricted{Fs: afero.NewOsFs()}, root, opts...)
		}},
		{"disk with unknown types and inodes", true, func(root string) (*confine.FS, error) {
			return confine.Over(restricted{Fs: afero.NewOsFs(), noInodes: true}, root, opts...)
		}},
	} {
		if tr.hasLinks() && !kind.onDisk {
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			root := ""
			if kind.onDisk {
				root = tr.onDisk(t)
			}
			test(t, confined(t)(kind.open(root)))
		})
	}
}

func confined(t testing.TB) func(*confine.FS, error) *confine.FS {
	return func(fsys *confine.FS, err error) *confine.FS {
		t.Helper()
		must.Do(t, err)
		t.Cleanup(func() { fsys.Close() })
		return fsys
	}
}

// A restricted filesystem tells the types of directory entries only with their
// metadata, and on request no inode numbers and change times.
type restricted struct {
	afero.Fs
	noInodes bool
}

func (r restricted) Open(name string) (afero.File, error) {
	f, err := r.Fs.Open(name)
	if err != nil {
		return nil, err
	}
	return restrictedFile{f, r}, nil
}

func (r restricted) Stat(name string) (fs.FileInfo, error) {
	fi, err := r.Fs.Stat(name)
	return r.info(fi), err
}

func (r restricted) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	l, ok := r.Fs.(afero.Lstater)
	if !ok {
		fi, err := r.Stat(name)
		return fi, false, err
	}
	fi, lstat, err := l.LstatIfPossible(name)
	return r.info(fi), lstat, err
}

func (r restricted) ReadlinkIfPossible(name string) (string, error) {
	if l, ok := r.Fs.(afero.LinkReader); ok {
		return l.ReadlinkIfPossible(name)
	}
	return "", afero.ErrNoReadlink
}

func (r restricted) info(fi fs.FileInfo) fs.FileInfo {
	if fi == nil || !r.noInodes {
		return fi
	}
	return withoutSys{fi}
}

// A restrictedFile has no method ReadDir.
type restrictedFile struct {
	afero.File
	fs restricted
}

func (f restrictedFile) Stat() (fs.FileInfo, error) {
	fi, err := f.File.Stat()
	return f.fs.info(fi), err
}

type withoutSys struct{ fs.FileInfo }

func (withoutSys) Sys() any { return nil }

// layersOf returns layers of the directories of a filesystem.
func layersOf(fsys *confine.FS, dirs ...string) []Layer {
	var layers []Layer
	for _, dir := range dirs {
		layers = append(layers, Layer{Name: dir, FS: fsys, Dir: dir})
	}
	return layers
}

// commandsOf and skillsOf make an index that ends with the test. The layers of
// config may be given as directories of fsys instead.
func commandsOf(t testing.TB, config Config, fsys *confine.FS, dirs ...string) *Index {
	t.Helper()
	if config.Valid == nil {
		config.Valid = names.Plain
	}
	return open(t, client.Commands, config, fsys, dirs)
}

func skillsOf(t testing.TB, config Config, fsys *confine.FS, dirs ...string) *Index {
	t.Helper()
	config.Broken = true
	return open(t, client.Skills, config, fsys, dirs)
}

func open(t testing.TB, of client.Files, config Config, fsys *confine.FS, dirs []string) *Index {
	t.Helper()
	if config.MaxFileSize == 0 {
		config.MaxFileSize = 1 << 20
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Layers == nil {
		config.Layers = layersOf(fsys, dirs...)
	}
	x := must.Get(New(of, config))(t)
	t.Cleanup(x.Close)
	return x
}

func snapshotOf(t testing.TB, x *Index) *Snapshot {
	t.Helper()
	return must.Get(x.Snapshot(t.Context()))(t)
}

// lines is a snapshot as text: "name path" for each listed entry, with "broken"
// if the entry is, and then "CODE path" for each problem.
func lines(x *Index, s *Snapshot) []string {
	all := []string{}
	for _, e := range s.Entries {
		line := e.Name + " " + x.Place(e)
		if e.Broken() != nil {
			line += " broken"
		}
		all = append(all, line)
	}
	for _, p := range s.Problems() {
		all = append(all, fmt.Sprint(p.Code, " ", p.Path))
	}
	return all
}

// expect compares the snapshot of an index with lines, separated by ";" or line
// breaks. A second snapshot must be the same value, because nothing has changed.
func expect(t testing.TB, x *Index, want string) *Snapshot {
	t.Helper()
	s := snapshotOf(t, x)
	must.Match(t, "snapshot", splitLines(want), lines(x, s))
	must.Equal(t, "a new snapshot of the same files", s, snapshotOf(t, x))
	return s
}

func splitLines(text string) []string {
	all := []string{}
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == ';' }) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// A faulty filesystem fails with the errors of fault. The op is "open" or
// "stat".
type faulty struct {
	afero.Fs
	fault func(op, name string) error
}

func (f faulty) Open(name string) (afero.File, error) {
	if err := f.fault("open ", name); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f.Fs.Open(name)
}

func (f faulty) Stat(name string) (fs.FileInfo, error) {
	if err := f.fault("stat ", name); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return f.Fs.Stat(name)
}

func entryNames(entries []*Entry) []string {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.Name
	}
	return all
}
