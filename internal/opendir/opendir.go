// Package opendir has the open directory of a filesystem that is read-only and knows the entries of
// its directories.
package opendir

import (
	"errors"
	"io"
	"io/fs"
)

// ErrIsDir is the cause of the error of a Read of a directory.
var ErrIsDir = errors.New("is a directory")

// A Dir is an fs.ReadDirFile. A Dir is not safe for concurrent use.
type Dir struct {
	info fs.FileInfo
	rest []fs.DirEntry // not yet returned
}

// New returns an open directory, which keeps entries and returns parts of entries.
func New(info fs.FileInfo, entries []fs.DirEntry) *Dir { return &Dir{info, entries} }

func (d *Dir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *Dir) Close() error               { return nil }

func (d *Dir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.Name(), Err: ErrIsDir}
}

func (d *Dir) ReadDir(n int) ([]fs.DirEntry, error) {
	switch {
	case n <= 0:
		n = len(d.rest)
	case len(d.rest) == 0:
		return nil, io.EOF
	}
	n = min(n, len(d.rest))
	some := d.rest[:n:n]
	d.rest = d.rest[n:]
	return some, nil
}
