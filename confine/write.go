package confine

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
)

// A writableFolder is a folder in which files and folders can be made. Names
// are as for folder, and never ".".
type writableFolder interface {
	folder
	// mkdir makes a folder, of mode 0755 before the umask.
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
	// sync brings the names in the folder to the disk, where the filesystem
	// knows of that.
	sync() error
}

// A newFile is a file that is being written.
type newFile interface {
	io.StringWriter
	Sync() error
	io.Closer
}

// MakeDir opens the folder of that name, as OpenDir does, and makes it where it
// is missing, with all that is missing above it, the root's own folder
// included. Links are followed as policy allows, to folders that exist.
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

// makeTop makes the root's own folder. Its path is the host program's, so links
// on it are followed.
func (f *FS) makeTop() error {
	if f.foreign != nil {
		return f.foreign.MkdirAll(f.dir, 0o755)
	}
	return makeOSFolder(f.dir)
}

// MakeDir opens the folder of that name, as OpenDir does, and makes it where it
// is missing.
func (d *Dir) MakeDir(name string) (*Dir, error) {
	for range attempts {
		child, err := d.OpenDir(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return child, err
		}
		w, ok := d.folder.(writableFolder)
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

// maxVersions is how many names WriteNew tries. Only a folder that somebody has
// filled on purpose has more.
const maxVersions = 9999

// TempName is the name that WriteNew gives a file until it is whole. It is five
// bytes longer than the file's own.
func TempName(name string) string { return "." + name + ".tmp" }

// WriteNew writes a new regular file under the first of the names name(1),
// name(2), … that is free, and returns the number. What has a name keeps it:
// nothing is replaced or followed, and writers at the same time, in this or
// other processes, get different names.
//
// The file appears under its name whole and on the disk, or not at all. Until
// then it has its TempName, which also keeps the name for this writer: a writer
// that finds a TempName taken goes on to the next name. If WriteNew fails it
// removes what it has made. If the program ends in the middle, the TempName is
// left; nobody else ever removes or reuses it.
//
// The context is looked at before each name and last before the file appears;
// its error is returned as it is.
//
// On the operating system's filesystem the final step is a rename that does not
// replace, or a link where there is none, and if the filesystem has neither it
// is a plain rename. For an FS made by Over it is always a plain rename. That
// replaces a file which somebody else than a WriteNew has made under this very
// name since a moment before. A filesystem must create a file exclusively
// (O_EXCL) in one step for concurrent writers to be safe; an afero.MemMapFs does
// not, and its writers must be kept apart by the caller.
func (d *Dir) WriteNew(ctx context.Context, name func(version int) string, content string) (version int, err error) {
	for version = 1; version <= maxVersions; version++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		final := name(version)
		err := checkElement(final)
		if err == nil {
			err = d.writeNew(ctx, final, content)
		}
		switch {
		case err == nil:
			return version, nil
		case errors.Is(err, fs.ErrExist):
			continue
		case err == ctx.Err():
			return 0, err
		}
		return 0, d.failure("write", final, err)
	}
	return 0, d.failure("write", name(maxVersions), fs.ErrExist)
}

// writeNew writes a file under this name. Where it is taken the error matches
// fs.ErrExist.
func (d *Dir) writeNew(ctx context.Context, final, content string) error {
	w, ok := d.folder.(writableFolder)
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
func free(w folder, name string) error {
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
func publish(w writableFolder, temp, final string) error {
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
