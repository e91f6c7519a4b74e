package confine

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
)

// A Dir is an open directory. On the operating system's filesystem a Dir stays the
// same directory if the directory is renamed or replaced.
//
// The names of its methods are single elements. No method follows links: for a link,
// methods that open a file or a directory return ErrSymlink. All methods are safe for
// concurrent use. The caller must call Close.
type Dir struct {
	handle dirHandle
	fs     *FS
	tree   string // the root or the trusted directory that contains the directory
	at     string // path below tree, without links
	name   string // as opened, for errors

	location atomic.Pointer[location] // for Current
}

// Each calls f for each entry, in no particular order. Each omits "." and "..". typ
// contains only type bits. typ is TypeUnknown if the filesystem reports the type only
// with other metadata. For an FS made by New on a system other than Linux and Windows,
// typ is always TypeUnknown.
//
// Each may or may not report entries that are created or removed during the call. Each
// returns the first error of f, or the context's error, unchanged. Each may return an
// error of the filesystem after some calls of f.
//
// Memory does not grow with the size of the directory, except on filesystems given to
// Over. Every call of Each starts at the beginning of the directory. On Linux, concurrent
// calls for the same Dir run in sequence. Therefore f must not call Each.
func (d *Dir) Each(ctx context.Context, f func(name string, typ fs.FileMode) error) error {
	return d.EachBytes(ctx, func(name []byte, typ fs.FileMode) error { return f(string(name), typ) })
}

// EachBytes is Each without an allocation for each name. The name is valid until f
// returns. f must not change the name.
func (d *Dir) EachBytes(ctx context.Context, f func(name []byte, typ fs.FileMode) error) error {
	const entriesPerCheck = 16 // f may read the metadata of each entry
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

// Lstat returns the metadata of an entry. For a link, Lstat describes the link.
func (d *Dir) Lstat(name string) (Info, error) { return d.lstat(name, false) }

// LstatBrief is Lstat with fewer system calls. Info.Changed may be unknown.
func (d *Dir) LstatBrief(name string) (Info, error) { return d.lstat(name, true) }

func (d *Dir) lstat(name string, brief bool) (info Info, err error) {
	if err = checkElement(name); err == nil {
		info, err = d.handle.lstat(name, brief)
	}
	return info, d.failure("lstat", name, err)
}

// Info returns the metadata of the directory itself.
func (d *Dir) Info() (Info, error) {
	info, err := d.handle.lstat(".", false)
	return info, failure("stat", d.name, err)
}

// RealPath returns the full path of the directory. The path contains no links below the
// root.
func (d *Dir) RealPath() string { return path.Join(d.tree, d.at) }

// OpenDir opens a directory in the directory.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	err := checkElement(name)
	if err == nil {
		var child dirHandle
		if child, err = d.handle.openDir(name); err == nil {
			return d.below(child, name), nil
		}
	}
	return nil, d.failure("open", name, err)
}

// below returns the Dir of a handle below d.
func (d *Dir) below(handle dirHandle, name string) *Dir {
	full := name
	if d.name != "." {
		full = d.name + "/" + name
	}
	at := full // without links on the way, in the same allocation
	if d.at != d.name {
		at = path.Join(d.at, name)
	}
	return &Dir{handle: handle, fs: d.fs, tree: d.tree, at: at, name: full}
}

// OpenBelow is OpenDir for a path of several elements. If a link is on the way, the error is
// ErrSymlink. On Linux, OpenBelow makes one system call.
func (d *Dir) OpenBelow(name string) (*Dir, error) {
	if w, ok := d.handle.(wayOpener); ok && name != "." && checkName(name) == nil {
		if handle, err := w.openWay(name); err == nil {
			return d.below(handle, name), nil
		}
	}
	at, rest, more := d.handle, name, true
	for more {
		var elem string
		elem, rest, more = strings.Cut(rest, "/")
		open := at.openDir
		if more {
			open = at.child
		}
		err := checkElement(elem)
		var next dirHandle
		if err == nil {
			next, err = open(elem)
		}
		if at != d.handle {
			at.close()
		}
		if err != nil {
			return nil, d.failure("open", name[:len(name)-len(rest)], err)
		}
		at = next
	}
	return d.below(at, name), nil
}

// OpenRegular opens a regular file. For a link the error is ErrSymlink, and for any
// other kind of file ErrNotRegular. OpenRegular never waits for a named pipe or a
// device.
func (d *Dir) OpenRegular(name string) (*File, error) {
	err := checkElement(name)
	if err == nil {
		f := &File{dir: d.name, name: name}
		if f.content, f.info, err = d.handle.openFile(name); err == nil {
			return f, nil
		}
	}
	return nil, d.failure("open", name, err)
}

// ReadHead opens a regular file, reads the first len(buf) bytes, and closes the file,
// with as few system calls as possible. If the file is shorter, ReadHead returns fewer
// bytes and no error.
func (d *Dir) ReadHead(name string, buf []byte) (n int, info Info, err error) {
	if err = checkElement(name); err == nil {
		n, info, err = d.handle.readHead(name, buf)
	}
	if err != nil {
		return 0, Info{}, d.failure("read", name, err)
	}
	return n, info, nil
}

// ReadHeadBelow is ReadHead for a file below a subdirectory, which is a path as for OpenBelow. If a
// link is on the way, the error is ErrSymlink. On Linux, ReadHeadBelow does not open the
// subdirectory.
func (d *Dir) ReadHeadBelow(subdirectory, name string, buf []byte) (int, Info, error) {
	_, ok := d.handle.(wayOpener)
	if ok && subdirectory != "." && checkName(subdirectory) == nil && checkElement(name) == nil {
		file := subdirectory + "/" + name
		n, info, err := d.handle.readHead(file, buf)
		if err == nil {
			return n, info, nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			return 0, Info{}, d.failure("read", file, err)
		}
	}
	below, err := d.OpenBelow(subdirectory)
	if err != nil {
		return 0, Info{}, err
	}
	defer below.Close()
	return below.ReadHead(name, buf)
}

// Has reports whether the file at a path below the directory has known metadata, without the access
// time. On Linux, Has follows links on the way and so usually makes one system call. The result true
// means that the path leads to the known file, and that the file has not changed.
func (d *Dir) Has(name string, known Info) bool {
	if checkName(name) != nil {
		return false
	}
	if _, ok := d.handle.(wayOpener); !ok {
		if dir, base := path.Split(name); dir != "" {
			below, err := d.OpenBelow(path.Clean(dir))
			if err != nil {
				return false
			}
			defer below.Close()
			d, name = below, base
		}
	}
	now, err := d.handle.lstat(name, false)
	return err == nil && now.Mode == known.Mode && now.Size == known.Size &&
		now.Modified.Equal(known.Modified) && now.Changed.Equal(known.Changed) &&
		now.Dev == known.Dev && now.Ino == known.Ino && now.Version == known.Version
}

// ReadLink returns the target of a link, as FS.ReadLink does.
func (d *Dir) ReadLink(name string) (target string, err error) {
	var text string
	if err = checkElement(name); err == nil {
		text, err = readLink(d.handle, name)
	}
	if err == nil {
		target, err = d.fs.resolve(place{d.tree, d.at}, text)
	}
	return target, d.failure("readlink", name, err)
}

// Close releases the directory. Later calls fail with fs.ErrClosed. Running calls are not
// affected.
func (d *Dir) Close() error { return failure("close", d.name, d.handle.close()) }

func (d *Dir) failure(op, name string, err error) error {
	if err == nil {
		return nil // without a join of the names
	}
	return failure(op, path.Join(d.name, name), err)
}
