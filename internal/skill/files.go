package skill

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/opendir"
)

// ReadFile returns the bytes of the file at a caller's path. If the skill changes during the call,
// ReadFile reads the file again.
func (d *Dir) ReadFile(ctx context.Context, given string) (raw []byte, err error) {
	name, err := fileName(given)
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		if raw, err = d.readNamed(name); !d.again(ctx, n, &err) {
			return raw, err
		}
	}
}

func (d *Dir) readNamed(name string) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if name == path.Base(d.Entry.Path) && f.Info().Version != "" {
		if text, ok := d.kept(f.Info()); ok {
			d.Digest, d.Size = text.Digest, len(text.whole)
			return text.Bytes(), nil
		}
	}
	return d.read(f, name)
}

// read reads an open file. In a gated layer, read returns index.ErrChanging for other bytes than
// the bytes that the gate has allowed.
func (d *Dir) read(f *confine.File, name string) ([]byte, error) {
	name = path.Clean(name)
	raw, err := d.Index.ReadOpen(f)
	if err = cmp.Or(err, d.Index.VerifyFile(d.Entry, name, raw)); err == nil {
		d.Digest, d.Size = d.reader.digestOf(d.Entry.Seal(), name, raw), len(raw)
	}
	return raw, err
}

// OpenFile returns a file with its content, or a directory with its entries.
func (d *Dir) OpenFile(ctx context.Context, name string) (fs.File, error) {
	info, err := d.Stat(ctx, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		entries, err := d.ReadDir(ctx, name)
		return opendir.New(info, entries), err
	}
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := d.read(f, name)
	if err != nil {
		return nil, err
	}
	return content{bytes.NewReader(raw), fileInfo{path.Base(name), f.Info()}}, nil
}

// Stat returns the metadata of a file or directory of the skill.
func (d *Dir) Stat(_ context.Context, name string) (fs.FileInfo, error) {
	if seal := d.Entry.Seal(); seal != nil && !seal.Has(name) {
		return nil, fs.ErrNotExist
	}
	f, err := d.Open(name)
	if err == nil {
		defer f.Close()
		return fileInfo{path.Base(name), f.Info()}, nil
	}
	if !errors.Is(err, confine.ErrNotRegular) {
		return nil, err
	}
	dir, err := d.OpenDir(name)
	if errors.Is(err, confine.ErrNotDir) {
		err = confine.ErrNotRegular // a pipe or another special file
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	info, err := dir.Info()
	return fileInfo{path.Base(name), info}, err
}

// ReadDir lists a directory of the skill.
func (d *Dir) ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	if seal := d.Entry.Seal(); seal != nil && !seal.Has(name) {
		return nil, fs.ErrNotExist
	}
	files, err := d.List(ctx, name)
	if err != nil {
		return nil, err
	}
	entries := make([]fs.DirEntry, 0, len(files))
	for _, f := range files {
		if seal := d.Entry.Seal(); seal == nil || seal.Has(path.Join(name, f.Name)) {
			entries = append(entries, fs.FileInfoToDirEntry(fileInfo{f.Name, f.Info}))
		}
	}
	return entries, nil
}

// A fileInfo is the metadata of a file or directory.
type fileInfo struct {
	name string
	info confine.Info
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.info.Size }
func (i fileInfo) Mode() fs.FileMode  { return i.info.Mode }
func (i fileInfo) ModTime() time.Time { return i.info.Modified }
func (i fileInfo) IsDir() bool        { return i.info.Mode.IsDir() }
func (i fileInfo) Sys() any           { return nil }

// A content is an open file.
type content struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f content) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f content) Close() error               { return nil }

// ValidPath reports whether a name is a path of package fs. The name may contain invalid UTF-8, as
// file names do. Package fs separates by slashes only, so a name with a backslash of Windows is no
// path.
func ValidPath(name string) bool {
	return fs.ValidPath(strings.ToValidUTF8(name, string(utf8.RuneError))) && filepath.ToSlash(name) == name
}

// fileName converts a caller's path to a name below the directory of the skill, without access to
// the filesystem.
func fileName(given string) (string, error) {
	name := given
	if runtime.GOOS == "windows" {
		name = filepath.ToSlash(name)
	}
	if path.IsAbs(name) || filepath.VolumeName(given) != "" {
		return "", confine.ErrEscape
	}
	name = path.Clean(name)
	switch {
	case name == ".." || strings.HasPrefix(name, "../"):
		return "", confine.ErrEscape
	case name == "." || strings.HasSuffix(given, "/"):
		return "", confine.ErrNotRegular
	}
	return name, nil
}
