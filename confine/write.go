package confine

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
)

// A writableDir is a directory with methods that write. Names are as in dirHandle, but never
// ".".
type writableDir interface {
	dirHandle
	// mkdir creates a directory with mode 0755 before umask.
	mkdir(name string) error
	// create creates a regular file with mode 0644 before umask. create follows no link. If the
	// name is taken, the error matches fs.ErrExist.
	create(name string) (newFile, error)
	// renameNew renames a file if the new name is free. Otherwise the error matches fs.ErrExist.
	// For any other error, renameNew is not supported or has failed.
	renameNew(from, to string) error
	// rename renames a file and replaces any file of the new name.
	rename(from, to string) error
	remove(name string) error
	// sync writes the names in the directory to the disk, if the filesystem supports this.
	sync() error
}

// A newFile is a file open for writing.
type newFile interface {
	io.StringWriter
	Sync() error
	io.Closer
}

// MakeDir opens a directory as OpenDir does. If the directory is missing, MakeDir creates the
// directory and all missing parents, including the root. MakeDir follows the links that the
// options allow, but only to existing directories.
func (f *FS) MakeDir(name string) (*Dir, error) {
	d, err := f.OpenDir(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	if name == f.name {
		if err := f.makeTop(); err != nil {
			return nil, failure("mkdir", name, err)
		}
		return f.OpenDir(name)
	}
	above, err := f.MakeDir(path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer above.Close()
	return above.MakeDir(path.Base(name))
}

// makeTop creates the root. The path belongs to the host program, so makeTop follows links. The
// root of Within belongs to the outer FS.
func (f *FS) makeTop() error {
	if f.outer != nil {
		d, err := f.outer.MakeDir(f.at)
		if err != nil {
			return err
		}
		return d.Close()
	}
	if f.adapted != nil {
		return f.adapted.MkdirAll(f.dir, 0o755)
	}
	return makeOSDir(f.dir)
}

// MakeDir opens a directory in the directory as OpenDir does. If the directory is missing,
// MakeDir creates the directory.
func (d *Dir) MakeDir(name string) (*Dir, error) {
	for range attempts {
		child, err := d.OpenDir(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return child, err
		}
		w, ok := d.writable()
		if !ok {
			return nil, d.failure("mkdir", name, fs.ErrPermission)
		}
		if err = w.mkdir(name); err == nil {
			err = w.sync()
		}
		// Another process may have created the directory.
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, d.failure("mkdir", name, err)
		}
	}
	return nil, d.failure("mkdir", name, errChanged)
}

// writable returns the directory with its methods that write, except for a directory of an fs.FS and
// a directory without search permission.
func (d *Dir) writable() (w writableDir, ok bool) {
	w, ok = d.handle.(writableDir)
	return w, ok && (d.fs.adapted == nil || d.fs.adapted.io == nil)
}

// TempName returns the name that WriteNew gives a file until the file is
// complete. TempName adds five bytes to the name.
func TempName(name string) string { return "." + name + ".tmp" }

// WriteNew writes a new regular file. If a file, a directory or a symbolic link has the name, or
// if another WriteNew is writing a file with this name, the error matches [fs.ErrExist]. WriteNew
// replaces nothing and follows no link. The file appears under its name complete and synced to the
// disk, or not at all. Until then the file has its TempName. If the program ends during WriteNew,
// the file with the TempName remains.
//
// WriteNew checks the context at the beginning and again before the file appears, and returns the
// error of the context unchanged.
//
// Concurrent writers are safe only if the filesystem creates a file exclusively (O_EXCL) in one
// step; the callers of an [afero.MemMapFs] must serialize their writes. On a filesystem with
// neither a rename that replaces nothing nor hard links, and on an FS made by Over, WriteNew
// replaces a file that a program has created a moment before without WriteNew.
func (d *Dir) WriteNew(ctx context.Context, name, content string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := checkElement(name)
	if err == nil {
		err = d.writeNew(ctx, name, content)
	}
	if err != nil && err == ctx.Err() {
		return err
	}
	return d.failure("write", name, err)
}

func (d *Dir) writeNew(ctx context.Context, final, content string) error {
	w, ok := d.writable()
	if !ok {
		return fs.ErrPermission
	}
	if err := free(w, final); err != nil {
		return err
	}
	temp := TempName(final)
	file, err := w.create(temp)
	if err != nil {
		return err
	}
	err = fill(file, content)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = publish(w, temp, final)
	}
	if err != nil {
		w.remove(temp)
		return err
	}
	// From here on, another writer may use the temporary name.
	if err := w.sync(); err != nil {
		w.remove(final) // the file might not survive a crash
		return err
	}
	return nil
}

// free returns nil if the name is free.
func free(w dirHandle, name string) error {
	switch _, err := w.lstat(name, true); {
	case err == nil:
		return fs.ErrExist
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

// fill writes and syncs a file. A network filesystem reports a full disk only at Close.
func fill(file newFile, content string) error {
	n, err := file.WriteString(content)
	if err == nil && n < len(content) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}

// publish gives a file its final name.
func publish(w writableDir, temp, final string) error {
	err := w.renameNew(temp, final)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// Only the owner of the temporary name creates the final name. Earlier owners have
	// finished.
	if err := free(w, final); err != nil {
		return err
	}
	return w.rename(temp, final)
}
