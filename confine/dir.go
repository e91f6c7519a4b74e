package confine

import (
	"context"
	"io/fs"
	"path"
	"sync/atomic"
)

// A Dir is an open directory. On the operating system's filesystem it stays the
// same directory when it is renamed or another takes its name.
//
// Names given to its methods are single elements. No method follows a link:
// it is ErrSymlink where a file or directory is asked for. All methods may be
// called from any goroutine. Close it when done.
type Dir struct {
	handle dirHandle
	fs     *FS
	tree   string // the directory it was found in: the root, or a trusted one
	at     string // its path below tree, free of links
	name   string // as it was opened, for errors

	location atomic.Pointer[location] // for Current
}

// Each calls f for every entry, in the order of the filesystem, which is no
// order. It leaves out "." and "..". The typ has the type bits alone, or is
// TypeUnknown: a filesystem need not tell types this way, and except on Linux
// and Windows they are not asked for.
//
// Entries that come or go meanwhile may be seen or not. Each ends with the
// first error of f, which it returns as it is, or with the context's; one of
// the filesystem may come after entries.
//
// Memory is bounded whatever the size of the directory, but for filesystems
// given to Over. Each may be called again, and starts afresh then. Called
// twice at the same time for one Dir, the second call waits for the first; so
// f must not call it.
func (d *Dir) Each(ctx context.Context, f func(name string, typ fs.FileMode) error) error {
	return d.EachBytes(ctx, func(name []byte, typ fs.FileMode) error { return f(string(name), typ) })
}

// EachBytes is Each without an allocation for each name: the name is valid
// until f returns, and must not be changed.
func (d *Dir) EachBytes(ctx context.Context, f func(name []byte, typ fs.FileMode) error) error {
	const entriesPerCheck = 16 // f may ask for metadata of each
	stop := ctx.Err()
	if stop != nil {
		return stop
	}
	n := 0
	err := d.handle.each(func(name []byte, typ fs.FileMode) bool {
		if n++; n%entriesPerCheck == 0 {
			if stop = ctx.Err(); stop != nil {
				return false
			}
		}
		stop = f(name, typ)
		return stop == nil
	})
	if stop != nil {
		return stop
	}
	return failure("readdir", d.name, err)
}

// Lstat returns the metadata of an entry, and of a link itself.
func (d *Dir) Lstat(name string) (Info, error) {
	err := checkElement(name)
	if err == nil {
		var info Info
		if info, err = d.handle.lstat(name); err == nil {
			return info, nil
		}
	}
	return Info{}, d.failure("lstat", name, err)
}

// Info returns the metadata of the directory itself.
func (d *Dir) Info() (Info, error) {
	info, err := d.handle.lstat(".")
	return info, failure("stat", d.name, err)
}

// RealPath returns the full path of the directory, free of links below the root.
func (d *Dir) RealPath() string { return path.Join(d.tree, d.at) }

// OpenDir opens the directory of that name.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	err := checkElement(name)
	if err == nil {
		var child dirHandle
		if child, err = d.handle.openDir(name); err == nil {
			return &Dir{handle: child, fs: d.fs, tree: d.tree, at: path.Join(d.at, name), name: path.Join(d.name, name)}, nil
		}
	}
	return nil, d.failure("open", name, err)
}

// OpenRegular opens the regular file of that name. For anything else that is
// there the error is ErrSymlink or ErrNotRegular; it never waits for a FIFO or
// a device.
func (d *Dir) OpenRegular(name string) (*File, error) {
	err := checkElement(name)
	if err == nil {
		f := &File{name: path.Join(d.name, name)}
		if f.content, f.info, err = d.handle.openFile(name); err == nil {
			return f, nil
		}
	}
	return nil, d.failure("open", name, err)
}

// ReadHead is OpenRegular, a reading of the first len(buf) bytes, and Close, in
// as few system calls as that takes. It returns fewer bytes only at the end of
// the file, and then no error.
func (d *Dir) ReadHead(name string, buf []byte) (int, Info, error) {
	err := checkElement(name)
	if err == nil {
		var n int
		var info Info
		if n, info, err = d.handle.readHead(name, buf); err == nil {
			return n, info, nil
		}
	}
	return 0, Info{}, d.failure("read", name, err)
}

// ReadLink is FS.ReadLink for an entry.
func (d *Dir) ReadLink(name string) (string, error) {
	err := checkElement(name)
	if err == nil {
		var text, target string
		if text, err = readLink(d.handle, name); err == nil {
			if target, err = d.fs.resolve(d.tree, d.at, text); err == nil {
				return target, nil
			}
		}
	}
	return "", d.failure("readlink", name, err)
}

// Close releases the directory. Later calls fail with fs.ErrClosed; those under
// way are not disturbed.
func (d *Dir) Close() error { return failure("close", d.name, d.handle.close()) }

func (d *Dir) failure(op, name string, err error) error {
	return failure(op, path.Join(d.name, name), err)
}
