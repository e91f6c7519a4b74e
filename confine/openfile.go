package confine

import (
	"io"
	"io/fs"
	"path"
	"sync"
)

// An openFile is a File or a Dir as an afero.File and an fs.File.
type openFile struct {
	*File // nil for a directory
	dir   *Dir
	name  string

	mu      sync.Mutex
	read    bool          // the directory has been read
	entries []fs.DirEntry // entries that have not been returned
	err     error         // error to return after the entries
}

func (f *openFile) Name() string { return f.name }

func (f *openFile) Stat() (fs.FileInfo, error) {
	if f.dir == nil {
		return fileInfo{path.Base(f.name), f.Info()}, nil
	}
	info, err := f.dir.Info()
	if err != nil {
		return nil, err
	}
	return fileInfo{path.Base(f.name), info}, nil
}

func (f *openFile) Read(p []byte) (int, error) {
	if f.dir != nil {
		return 0, failure("read", f.name, ErrNotRegular)
	}
	return f.File.Read(p)
}

func (f *openFile) ReadAt(p []byte, off int64) (int, error) {
	if f.dir != nil {
		return 0, failure("read", f.name, ErrNotRegular)
	}
	return f.File.ReadAt(p, off)
}

// Seek of a directory can only return to the beginning.
func (f *openFile) Seek(offset int64, whence int) (int64, error) {
	if f.dir == nil {
		return f.File.Seek(offset, whence)
	}
	if offset != 0 || whence != io.SeekStart {
		return 0, failure("seek", f.name, fs.ErrInvalid)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read, f.entries, f.err = false, nil, nil
	return 0, nil
}

func (f *openFile) Close() error {
	if f.dir == nil {
		return f.File.Close()
	}
	return f.dir.Close()
}

func (f *openFile) ReadDir(n int) ([]fs.DirEntry, error) {
	if f.dir == nil {
		return nil, failure("readdir", f.name, ErrNotDir)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.read {
		f.entries, f.err = f.dir.entries()
		f.read = true
	}
	some := f.entries
	if n > 0 && n < len(some) {
		some = some[:n:n]
	}
	f.entries = f.entries[len(some):]
	var err error
	if n <= 0 || len(some) == 0 {
		err, f.err = f.err, nil
	}
	if n > 0 && len(some) == 0 && err == nil {
		err = io.EOF
	}
	return some, err
}

func (f *openFile) Readdir(n int) ([]fs.FileInfo, error) {
	entries, err := f.ReadDir(n)
	infos := make([]fs.FileInfo, len(entries))
	for i, entry := range entries {
		infos[i], _ = entry.Info() // never fails
	}
	return infos, err
}

func (f *openFile) Readdirnames(n int) ([]string, error) {
	entries, err := f.ReadDir(n)
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names, err
}

func (f *openFile) Sync() error { return nil }

func (f *openFile) Write([]byte) (int, error) { return 0, failure("write", f.name, errReadOnly) }

func (f *openFile) WriteAt([]byte, int64) (int, error) {
	return 0, failure("write", f.name, errReadOnly)
}

func (f *openFile) WriteString(string) (int, error) { return 0, failure("write", f.name, errReadOnly) }

func (f *openFile) Truncate(int64) error { return failure("truncate", f.name, errReadOnly) }
