package confine

import (
	"io"
	"io/fs"
)

// A dirHandle is an open directory. Its implementations contain all differences between
// platforms and adapted filesystems. The rest of the package uses only dirHandle.
//
// A name is a single, checked element, or "." for the directory itself. No method follows
// links: for a link, the error is ErrSymlink. All methods are safe for concurrent use.
// Errors are the errors of the filesystem.
type dirHandle interface {
	// child opens a subdirectory for further calls. On Linux, search permission is
	// enough.
	child(name string) (dirHandle, error)
	// openDir opens a subdirectory for each.
	openDir(name string) (dirHandle, error)
	// openFile opens a regular file. For other files, the error is ErrNotRegular. openFile
	// never waits for a named pipe or a device.
	openFile(name string) (content, Info, error)
	// readHead is openFile, a read that fills buf as far as the file reaches, and Close.
	readHead(name string, buf []byte) (int, Info, error)
	// lstat describes a file. If brief is set, Info.Changed may be unknown, which saves system
	// calls.
	lstat(name string, brief bool) (Info, error)
	// readLink returns the text of a link. The kind of the error is unspecified.
	readLink(name string) (string, error)
	// each calls visit with the name and the type of each entry until visit returns false.
	// The name is valid during the call.
	each(visit func(name []byte, typ fs.FileMode) bool) error
	// close makes later calls fail with fs.ErrClosed. Running calls are not affected.
	close() error
}

// A wayOpener is a dirHandle that opens a path of several elements at once. An error can be
// less exact than the error of a call for each element.
type wayOpener interface {
	openWay(name string) (dirHandle, error)
}

// attempts limits the retries of an operation of two steps if the file is replaced between
// the steps.
const attempts = 8

// content is an open regular file.
type content interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
	stat() (Info, error)
}

// readHeadOf implements readHead with openFile.
func readHeadOf(dir dirHandle, name string, buf []byte) (int, Info, error) {
	c, info, err := dir.openFile(name)
	if err != nil {
		return 0, Info{}, err
	}
	defer c.Close()
	n, err := readHead(c, buf)
	return n, info, err
}
