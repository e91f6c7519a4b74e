package catalogtest

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
)

// A Folding finds files whatever the letter case of the path below Top, as the usual
// filesystems of macOS and Windows do.
type Folding struct {
	afero.Fs
	Top string
}

// spelled returns the path as the directories spell the path's elements.
func (f Folding) spelled(name string) string {
	name = path.Clean(filepath.ToSlash(name))
	dir, base := path.Split(name)
	if name == "." || base == "" || name == filepath.ToSlash(f.Top) {
		return name
	}
	dir = f.spelled(path.Clean(dir))
	entries, _ := afero.ReadDir(f.Fs, dir)
	for _, entry := range entries {
		if entry.Name() == base {
			return path.Join(dir, base)
		}
	}
	for _, entry := range entries {
		if strings.EqualFold(entry.Name(), base) {
			return path.Join(dir, entry.Name())
		}
	}
	return path.Join(dir, base)
}

func (f Folding) Open(name string) (afero.File, error)  { return f.Fs.Open(f.spelled(name)) }
func (f Folding) Stat(name string) (fs.FileInfo, error) { return f.Fs.Stat(f.spelled(name)) }
func (f Folding) ReadlinkIfPossible(n string) (string, error) {
	return f.Fs.(afero.LinkReader).ReadlinkIfPossible(f.spelled(n))
}
func (f Folding) LstatIfPossible(n string) (fs.FileInfo, bool, error) {
	if l, ok := f.Fs.(afero.Lstater); ok {
		return l.LstatIfPossible(f.spelled(n))
	}
	info, err := f.Stat(n)
	return info, false, err
}
