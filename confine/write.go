package confine

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
)

// A writableDir is a directory in which files and directories can be made. Names
// are as for directory, and never ".".
type writableDir interface {
	dirHandle
	// mkdir makes a directory, of mode 0755 before the umask.
	mkdir(name string) error
	// create makes a regular file, of mode 0644 before the umask. It follows
	// no link: where anything has the name, the error matches fs.ErrExist.
	create(name string) (newFile, error)
	// renameNew renames a file where nothing has the new name; else the error
	// matches fs.ErrExist. Any other error says only that it has not been done
	// this way.
	renameNew(from, to string) error
	// rename renames a file, whatever has the new name.
	rename(from, to string) error
	remove(name string) error
	// sync brings the names in the directory to the disk, where the filesystem
	// knows of that.
	sync() error
}

// A newFile is a file that is being written.
type newFile interface {
	io.StringWriter
	Sync() error
	io.Closer
}

// MakeDir opens the directory of that name, as OpenDir does, and makes it where it
// is missing, with all that is missing above it, the root's own directory
// included. Links are followed as policy allows, to directories that exist.
func (f *FS) MakeDir(name string) (*Dir, error) {
	d, err := f.OpenDir(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	if name == "." {
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

// makeTop makes the root's own directory. Its path is the host program's, so links
// on it are followed.
func (f *FS) makeTop() error {
	if f.adapted != nil {
		return f.adapted.MkdirAll(f.dir, 0o755)
	}
	return makeOSDir(f.dir)
}

// MakeDir opens the directory of that name, as OpenDir does, and makes it where it
// is missing.
func (d *Dir) MakeDir(name string) (*Dir, error) {
	for range attempts {
		child, err := d.OpenDir(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return child, err
		}
		w, ok := d.handle.(writableDir)
		if !ok {
			return nil, d.failure("mkdir", name, fs.ErrPermission)
		}
		if err = w.mkdir(name); err == nil {
			err = w.sync()
		}
		// It may have been made by somebody else meanwhile.
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, d.failure("mkdir", name, err)
		}
	}
	return nil, d.failure("mkdir", name, errChanged)
}

// TempName returns the name that WriteNew gives a file until the file is
// complete. TempName adds five bytes to the name.
func TempName(name string) string { return "." + name + ".tmp" }

// WriteNew writes a new regular file. If the name is taken, by a file, a
// directory or a symbolic link, or if another WriteNew is writing a file of this
// name, the error matches [fs.ErrExist]. WriteNew replaces nothing and follows no
// link. Of several writers of one name, in this or other processes, only one
// succeeds.
//
// The file appears under its name complete and synced to the disk, or not at
// all. Until then the file has its TempName, which also reserves the name for
// this writer. If WriteNew fails, WriteNew removes the file. If the program ends
// during WriteNew, the file with the TempName remains, and no other call removes
// or reuses that file.
//
// WriteNew checks the context first and again before the file appears. An error
// of the context is returned unchanged.
//
// On the operating system's filesystem the last step is a rename that replaces
// nothing, or a link if the filesystem has no such rename. If the filesystem has
// neither, the last step is a plain rename. An FS made by Over always uses a plain
// rename. A plain rename replaces a file that anything other than WriteNew has
// created under this name a moment before. Concurrent writers are safe only if
// the filesystem creates a file exclusively (O_EXCL) in one step. An
// [afero.MemMapFs] does not: its callers must serialize their writes.
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
	w, ok := d.handle.(writableDir)
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
	// The temporary name is anybody's from here on.
	if err := w.sync(); err != nil {
		w.remove(final) // nobody knows whether it would be there tomorrow
		return err
	}
	return nil
}

// free is nil where nothing has the name.
func free(w dirHandle, name string) error {
	switch _, err := w.lstat(name); {
	case err == nil:
		return fs.ErrExist
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

// fill writes a file to the disk. A network filesystem tells only at the end
// that it is full.
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
	// Who holds the temporary name is the only WriteNew that can make the final
	// one. One that has made it before has done so by now, for good.
	if err := free(w, final); err != nil {
		return err
	}
	return w.rename(temp, final)
}
