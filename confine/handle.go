package confine

import (
	"io"
	"io/fs"
)

// A directory is an open directory. It is all that is asked of a platform or a
// foreign filesystem; everything else in this package is written once, over
// directories.
//
// A name is a single element, already checked, or "." for the directory itself.
// No method follows a link: where one is in the way, the error is ErrSymlink.
// All may be called from several goroutines. Errors are the filesystem's own.
type dirHandle interface {
	// child opens a directory to go through. Where the platform allows, the
	// permission to search it is enough.
	child(name string) (dirHandle, error)
	// openDir opens a directory to list.
	openDir(name string) (dirHandle, error)
	// openFile opens a regular file; for anything else it is ErrNotRegular. It
	// never blocks on a FIFO or a device.
	openFile(name string) (content, Info, error)
	// readHead is openFile, filling buf as far as the file reaches, and Close.
	readHead(name string, buf []byte) (int, Info, error)
	lstat(name string) (Info, error)
	// readLink returns a link's text as it is. Its error is of no meaning.
	readLink(name string) (string, error)
	// each calls visit with the name and type of each entry, until visit
	// returns false. The name is valid for the call only.
	each(visit func(name []byte, typ fs.FileMode) bool) error
	// close makes later calls fail with fs.ErrClosed, and does not disturb
	// those under way.
	close() error
}

// attempts is how often an operation of two steps is tried when what was
// looked at is replaced in between.
const attempts = 8

// content is an open regular file.
type content interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
}

// readHeadOf is readHead by means of openFile.
func readHeadOf(dir dirHandle, name string, buf []byte) (int, Info, error) {
	c, info, err := dir.openFile(name)
	if err != nil {
		return 0, Info{}, err
	}
	defer c.Close()
	n, err := readHead(c, buf)
	return n, info, err
}
