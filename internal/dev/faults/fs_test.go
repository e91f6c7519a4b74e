package faults_test

import (
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/spf13/afero"
)

// A fault is the failure of one call, or of all calls from that call on until heal.
type fault struct {
	mu      sync.Mutex
	at      int // the number of the first call that fails, from 1; 0 for none
	lasting bool
	on      map[string]bool // the files whose calls all fail
	err     error
	calls   int
	all     []string // the calls, as "op path"
	failed  []string // the failed calls
	cancel  func()   // called in place of a failure; nil for none
}

// next counts a call, and returns the error of a call that fails.
func (f *fault) next(op, name string) error {
	f.mu.Lock()
	f.calls++
	n, cancel := f.calls, f.cancel
	file := strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/")
	fails := f.at > 0 && (n == f.at || f.lasting && n > f.at) || f.on[file]
	f.all = append(f.all, op+" "+file)
	if fails {
		f.failed = append(f.failed, op+" "+file)
	}
	f.mu.Unlock()
	if fails && cancel != nil {
		cancel()
		return nil
	}
	if fails {
		return &fs.PathError{Op: op, Path: name, Err: f.err}
	}
	return nil
}

// start makes the call number at of the following calls fail.
func (f *fault) start(at int, lasting bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.lasting, f.err, f.calls, f.all, f.failed = at, lasting, err, 0, nil, nil
}

// stop heals the filesystem, and returns the number of calls and the failed calls.
func (f *fault) stop() (calls int, failed []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.cancel = 0, nil
	return f.calls, f.failed
}

// faultyFs is a filesystem of the program (WithFs) whose calls can fail.
type faultyFs struct {
	afero.Fs
	*fault
}

func (f faultyFs) Open(name string) (afero.File, error) {
	if err := f.next("open", name); err != nil {
		return nil, err
	}
	file, err := f.Fs.Open(name)
	return faultyFile{file, f.fault, name}, err
}

func (f faultyFs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if err := f.next("open", name); err != nil {
		return nil, err
	}
	file, err := f.Fs.OpenFile(name, flag, perm)
	return faultyFile{file, f.fault, name}, err
}

func (f faultyFs) Stat(name string) (fs.FileInfo, error) {
	if err := f.next("stat", name); err != nil {
		return nil, err
	}
	return f.Fs.Stat(name)
}

type faultyFile struct {
	afero.File
	*fault
	name string
}

func (f faultyFile) Read(p []byte) (int, error) {
	if err := f.next("read", f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f faultyFile) ReadAt(p []byte, at int64) (int, error) {
	if err := f.next("read", f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, at)
}

func (f faultyFile) Readdir(n int) ([]fs.FileInfo, error) {
	if err := f.next("readdir", f.name); err != nil {
		return nil, err
	}
	return f.File.Readdir(n)
}

func (f faultyFile) Readdirnames(n int) ([]string, error) {
	if err := f.next("readdir", f.name); err != nil {
		return nil, err
	}
	return f.File.Readdirnames(n)
}

func (f faultyFile) Stat() (fs.FileInfo, error) {
	if err := f.next("fstat", f.name); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

// A store is an fs.FS whose calls can fail. The modes of files can be unknown, and the files can
// have versions.
type store struct {
	files     map[string]string
	versioned bool
	untyped   bool
	*fault
}

func (s store) Open(name string) (fs.File, error) {
	if err := s.next("open", name); err != nil {
		return nil, err
	}
	text, ok := s.files[name]
	if !ok && !s.isDir(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &storeFile{s, name, text}, nil
}

// A linkedStore is a store in which a text such as "-> c1.md" is a symbolic link.
type linkedStore struct{ store }

const link = "-> "

func (s linkedStore) Open(name string) (fs.File, error) { return s.store.Open(s.target(name)) }

func (s linkedStore) ReadDir(name string) ([]fs.DirEntry, error) {
	return s.store.ReadDir(s.target(name))
}

func (s linkedStore) Stat(name string) (fs.FileInfo, error) { return s.store.Stat(s.target(name)) }

func (s linkedStore) Lstat(name string) (fs.FileInfo, error) { return s.store.Stat(name) }

func (s linkedStore) ReadLink(name string) (string, error) {
	if err := s.next("readlink", name); err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(s.files[name], link)
	if !ok {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return target, nil
}

// target returns the path of a name without links.
func (s linkedStore) target(name string) string {
	for at := name; at != "."; at = path.Dir(at) {
		if target, ok := strings.CutPrefix(s.files[at], link); ok {
			return path.Join(path.Dir(at), target, strings.TrimPrefix(name, at))
		}
	}
	return name
}

func (s store) isDir(name string) bool {
	for file := range s.files {
		if name == "." || strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}

func (s store) ReadDir(name string) (entries []fs.DirEntry, err error) {
	if err := s.next("readdir", name); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for file := range s.files {
		rest := file
		if name != "." {
			var ok bool
			if rest, ok = strings.CutPrefix(file, name+"/"); !ok {
				continue
			}
		}
		elem, _, _ := strings.Cut(rest, "/")
		if !seen[elem] {
			seen[elem] = true
			entries = append(entries, storeEntry{s, path.Join(name, elem)})
		}
	}
	if entries == nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	return entries, nil
}

func (s store) Stat(name string) (fs.FileInfo, error) {
	if err := s.next("stat", name); err != nil {
		return nil, err
	}
	if _, ok := s.files[name]; !ok && !s.isDir(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return storeInfo{s, name}, nil
}

type storeEntry struct {
	store
	name string
}

func (e storeEntry) Name() string { return path.Base(e.name) }
func (e storeEntry) IsDir() bool  { return e.Type().IsDir() }
func (e storeEntry) Type() fs.FileMode {
	return storeInfo{e.store, e.name}.Mode().Type()
}
func (e storeEntry) Info() (fs.FileInfo, error) { return e.Stat(e.name) }

type storeInfo struct {
	s    store
	name string
}

func (i storeInfo) Name() string       { return path.Base(i.name) }
func (i storeInfo) Size() int64        { return int64(len(i.s.files[i.name])) }
func (i storeInfo) ModTime() time.Time { return time.Unix(1_700_000_000, 0) }
func (i storeInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i storeInfo) Sys() any           { return nil }
func (i storeInfo) Mode() fs.FileMode {
	switch text, ok := i.s.files[i.name]; {
	case strings.HasPrefix(text, link):
		return fs.ModeSymlink | 0o777
	case ok && i.s.untyped:
		return fs.ModeIrregular
	case ok:
		return 0o644
	}
	return fs.ModeDir | 0o755
}

// Version returns the content, or "".
func (i storeInfo) Version() string {
	if !i.s.versioned {
		return ""
	}
	return "v:" + i.s.files[i.name]
}

type storeFile struct {
	s    store
	name string
	rest string
}

func (f *storeFile) Close() error { return nil }

func (f *storeFile) Stat() (fs.FileInfo, error) {
	if err := f.s.next("fstat", f.name); err != nil {
		return nil, err
	}
	return storeInfo{f.s, f.name}, nil
}

func (f *storeFile) Read(p []byte) (int, error) {
	if err := f.s.next("read", f.name); err != nil {
		return 0, err
	}
	if f.rest == "" {
		return 0, io.EOF
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func (f *storeFile) ReadDir(n int) ([]fs.DirEntry, error) { return f.s.ReadDir(f.name) }
