package confine

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/afero"
)

// Symlinks says which symbolic links are followed. A policy is about links
// below the root: those on the way to it are the host program's own.
type Symlinks int

const (
	SymlinksInside  Symlinks = iota // links that lead to a file below the root, absolute ones included
	SymlinksDeny                    // none: a link is ErrSymlink
	SymlinksTrusted                 // links that lead below the root or one of Options.Trusted
)

// Options are the choices to make for an FS. The zero Options follow links
// inside the root.
type Options struct {
	Symlinks Symlinks
	Trusted  []string // for SymlinksTrusted: absolute paths of folders, on the same filesystem
}

// An FS is a folder, the root, with all that is below it, for reading; see
// MakeDir for what can be added.
//
// Names are slash-separated and relative to the root, which is "."; they need
// not be valid UTF-8. A name that is absolute or has a ".." element is
// ErrEscape, and one that could not be the name of a file is fs.ErrInvalid
// (an empty one, a "//", a "." element, a NUL; on Windows also a ":", an
// element that ends in a dot or a blank, a device such as "NUL"), both before
// anything is looked up.
//
// Errors are *fs.PathError with the name given, and hold no path of the
// underlying filesystem. All methods may be called from any goroutine. An FS
// holds nothing open between calls.
type FS struct {
	dir      string // full path of the root
	err      error  // why there is none
	symlinks Symlinks
	trusted  []string
	foreign  *foreign // nil on the operating system's filesystem
	openTop  func(dir string, list bool) (folder, error)
	closed   atomic.Bool
}

// New returns the FS below a folder of the operating system's filesystem. A
// relative dir is one of the working directory at the time of New.
//
// Nothing is looked up until it is asked for. The root is the folder that has
// the name dir at the time of a call, so it may be missing (each call is then
// an error that matches fs.ErrNotExist), come later, and be replaced. What a
// call, a Dir or a File has begun in one folder it ends in that folder.
func New(dir string, o Options) *FS {
	return newFS(dir, o, openOSFolder)
}

func newFS(dir string, o Options, openTop func(dir string, list bool) (folder, error)) *FS {
	f := &FS{symlinks: o.Symlinks, openTop: openTop}
	f.dir, f.err = filepath.Abs(dir)
	for _, dir := range o.Trusted {
		if filepath.IsAbs(dir) {
			f.trusted = append(f.trusted, filepath.Clean(dir))
		}
	}
	return f
}

// Over returns the FS below a folder of any other filesystem; "" and "." are
// its top. For an afero.OsFs it is New.
//
// What is confined there, and what is not, is in the package documentation.
func Over(fsys afero.Fs, dir string, o Options) *FS {
	switch fsys.(type) {
	case *afero.OsFs, afero.OsFs:
		return New(dir, o)
	}
	foreign := newForeign(fsys)
	f := &FS{dir: path.Clean(filepath.ToSlash(dir)), symlinks: o.Symlinks, foreign: foreign, openTop: foreign.open}
	for _, dir := range o.Trusted {
		if dir = filepath.ToSlash(dir); path.IsAbs(dir) || filepath.IsAbs(dir) {
			f.trusted = append(f.trusted, path.Clean(dir))
		}
	}
	return f
}

// Close makes later calls fail with fs.ErrClosed. Those under way, and the
// Dirs and Files that were opened, are not affected.
func (f *FS) Close() error {
	if f.closed.Swap(true) {
		return fs.ErrClosed
	}
	return nil
}

// Path is the full path of a name on the underlying filesystem, for the host
// program's own use: to open it by that path would be unconfined. It is "" for
// a name that is not valid.
func (f *FS) Path(name string) string {
	switch {
	case checkName(name) != nil:
		return ""
	case f.foreign != nil:
		return path.Join(f.dir, name)
	default:
		return filepath.Join(f.dir, filepath.FromSlash(name))
	}
}

// check is how every method begins.
func (f *FS) check(name string) error {
	if f.closed.Load() {
		return fs.ErrClosed
	}
	if err := checkName(name); err != nil {
		return err
	}
	return f.err
}

// Lstat returns the metadata of a file, and of a link itself where the last
// element is one.
func (f *FS) Lstat(name string) (Info, error) {
	return f.stat("lstat", name, false)
}

// Stat returns the metadata of a file, following links as policy allows.
func (f *FS) Stat(name string) (Info, error) {
	return f.stat("stat", name, true)
}

func (f *FS) stat(op, name string, follow bool) (info Info, err error) {
	err = f.check(name)
	if err == nil {
		w := walk{fs: f}
		defer w.close()
		err = w.to(name, follow, func(elem string) (err error) {
			info, err = w.dir.lstat(elem)
			if err == nil && follow && info.isLink() {
				return ErrSymlink
			}
			return err
		})
	}
	if err != nil {
		return Info{}, failure(op, name, err)
	}
	return info, nil
}

// OpenRegular opens a regular file, following links as policy allows. For
// anything else that is there the error is ErrNotRegular; it never waits for
// a FIFO or a device.
func (f *FS) OpenRegular(name string) (*File, error) {
	const op = "open"
	if err := f.check(name); err != nil {
		return nil, failure(op, name, err)
	}
	w := walk{fs: f}
	defer w.close()
	file := &File{name: name}
	err := w.to(name, true, func(elem string) (err error) {
		file.content, file.info, err = w.dir.openFile(elem)
		return err
	})
	if err != nil {
		return nil, failure(op, name, err)
	}
	return file, nil
}

// OpenDir opens a folder, following links as policy allows. For anything else
// that is there the error is ErrNotDir.
func (f *FS) OpenDir(name string) (*Dir, error) {
	const op = "open"
	if err := f.check(name); err != nil {
		return nil, failure(op, name, err)
	}
	if name == "." {
		// To open it by its name needs no permission to search it.
		top, err := f.openTop(f.dir, true)
		if err != nil {
			return nil, failure(op, name, err)
		}
		return &Dir{folder: top, fs: f, tree: f.dir, name: ".", at: "."}, nil
	}
	w := walk{fs: f}
	defer w.close()
	dir := &Dir{fs: f, name: name}
	err := w.to(name, true, func(elem string) (err error) {
		dir.folder, err = w.dir.openDir(elem)
		dir.tree, dir.at = w.tree, path.Join(w.at(), elem)
		return err
	})
	if err != nil {
		return nil, failure(op, name, err)
	}
	return dir, nil
}

// ReadLink returns where a link leads, as a name relative to the root, free of
// other links but for its last element. The target need not exist.
//
// A link that leads outside, be it by way of other links, is ErrEscape, and
// its text is not told. So is one that leads to a trusted folder. The policy
// has no say in this, except for links on the way to name. One whose way goes
// in a circle before it comes to an element is syscall.ELOOP. For what is no
// link the error is fs.ErrInvalid.
func (f *FS) ReadLink(name string) (string, error) {
	const op = "readlink"
	if err := f.check(name); err != nil {
		return "", failure(op, name, err)
	}
	w := walk{fs: f}
	defer w.close()
	var text string
	err := w.to(name, false, func(elem string) (err error) {
		text, err = readLink(w.dir, elem)
		return err
	})
	if err != nil {
		return "", failure(op, name, err)
	}
	target, err := f.resolve(w.tree, w.at(), text)
	return target, failure(op, name, err)
}

// readLink returns the text of a link, or why there is none.
func readLink(dir folder, elem string) (text string, err error) {
	for range attempts {
		if text, err = dir.readLink(elem); err == nil {
			return text, nil
		}
		info, lstatErr := dir.lstat(elem)
		switch {
		case lstatErr != nil:
			return "", lstatErr
		case !info.isLink():
			return "", fs.ErrInvalid
		}
		// It cannot be read, or it has become a link in between.
	}
	return "", err
}

// resolve returns the name that the text of a link in the folder at leads to.
func (f *FS) resolve(tree, at, text string) (string, error) {
	// Which links are followed to a file is a matter of policy; where one
	// leads is not.
	inside := &FS{dir: f.dir, foreign: f.foreign, openTop: f.openTop}
	w := walk{fs: inside}
	defer w.close()
	if tree != f.dir {
		// A trusted folder is outside.
		return "", ErrEscape
	}
	if err := w.start(tree, plain(at, ".")); err != nil {
		return "", err
	}
	if err := w.on(false, func(string) error { return nil }); err != nil {
		return "", err
	}
	first := ""
	err := w.splice(text, "")
	if err == nil {
		err = w.on(true, func(elem string) error {
			if first == "" {
				first = path.Join(w.at(), elem)
			}
			info, err := w.dir.lstat(elem)
			if err == nil && info.isLink() {
				return ErrSymlink
			}
			return err
		})
	}
	if err == ErrEscape {
		return "", ErrEscape
	}
	if first == "" {
		if err == errLoop || err == errTooDeep {
			return "", err
		}
		// It leads to nothing, by way of a folder that is missing or may not
		// be searched. Nothing says that what is left holds a link.
		first = path.Join(w.at(), w.path[w.done:])
		if first == ".." || strings.HasPrefix(first, "../") {
			return "", ErrEscape
		}
	}
	return first, nil
}

// trees are the folders that a walk may be in.
func (f *FS) trees() []string {
	if f.symlinks != SymlinksTrusted {
		return []string{f.dir}
	}
	return slices.Insert(slices.Clone(f.trusted), 0, f.dir)
}

// realPath is the path of a tree free of links, in slashes. Links may be
// written with either path.
func (f *FS) realPath(tree string) (string, bool) {
	if f.foreign != nil {
		return tree, path.IsAbs(tree) || filepath.IsAbs(tree)
	}
	real, err := filepath.EvalSymlinks(tree)
	return filepath.ToSlash(real), err == nil
}

// linkTarget reads the text of a link: whether it is absolute, and in slashes.
func (f *FS) linkTarget(text string) (absolute bool, target string) {
	if runtime.GOOS != "windows" {
		return path.IsAbs(text), text
	}
	text = filepath.ToSlash(strings.TrimPrefix(text, `\\?\`))
	// A path with a drive, absolute or not, and one without that begins with
	// a slash, are nothing that can be gone below the folder of the link.
	return filepath.VolumeName(text) != "" || os.IsPathSeparator(text[0]), text
}
