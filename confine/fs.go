package confine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/afero"
)

// An Option is an option for New or Over.
type Option func(*options)

type options struct {
	denySymlinks bool
	trustAll     bool
	trusted      []string
}

// DenySymlinks follows no symbolic link below the root. If a name contains a link, the
// method returns ErrSymlink. DenySymlinks cannot be combined with TrustDirs and TrustAll.
func DenySymlinks() Option {
	return func(o *options) { o.denySymlinks = true }
}

// TrustDirs also follows symbolic links that lead to the directories or to files below.
// Each directory is an absolute path on the filesystem of the root. If TrustDirs is
// repeated, all directories are trusted.
//
// A name reaches a trusted directory only through a link.
func TrustDirs(dirs ...string) Option {
	return func(o *options) { o.trusted = append(o.trusted, dirs...) }
}

// TrustAll follows every symbolic link: TrustAll is TrustDirs of the top of the filesystem and, on
// Windows, of every volume. Whoever can create a link below the root then chooses the files that
// the FS opens.
func TrustAll() Option {
	return func(o *options) { o.trustAll = true }
}

// An FS is a confined view of one directory, the root. An FS is a read-only [afero.Fs] and also an
// [afero.Lstater] and an [afero.LinkReader]. [FS.MakeDir] and [Dir.WriteNew] are the only methods
// that write.
//
// Names are slash-separated and relative to the root. "." is the root. Names need not be valid
// UTF-8. A method rejects an invalid name before looking up any file. For an absolute name, or a
// name with a ".." element, the error is ErrEscape. For a name that no file can have, the error is
// [fs.ErrInvalid]: an empty name, a "." element, a "//", a NUL; on Windows also a ":", an element
// that ends in a dot or a space, and a device such as "NUL". A short name of Windows, such as
// "PROGRA~1", is the name of no file.
//
// The methods of afero first clean the name with [path.Clean]: "", "./a" and "a/" are names.
//
// Each error is a *[fs.PathError] with the given name. An error contains no path of the underlying
// filesystem. All methods are safe for concurrent use. An FS keeps no file open between calls.
type FS struct {
	dir     string   // full path of the root
	options          // with cleaned full paths
	adapted *adapted // nil on the operating system's filesystem
	openTop func(dir string, list bool) (dirHandle, error)
	closed  atomic.Bool

	name  string // of the root, as the names of the methods begin: "." except for Within
	outer *FS    // the FS of Within, which opens the root; nil for New and Over
	at    string // name of the root in outer
}

// KnowsHeads reports whether the underlying filesystem has the method ReadHead of docs/stores.md,
// and so knows the frontmatter of files. ReadHead of a Dir then reads no file.
func (f *FS) KnowsHeads() bool {
	return f.adapted != nil && f.adapted.heads != nil
}

// New returns an FS of a directory of the operating system's filesystem. If dir
// is relative, New joins dir to the current working directory.
//
// New does not look up dir. Each call opens the directory that has the path dir at the
// time of the call. Therefore the directory may be created or replaced later. While the
// directory is missing, calls return an error for [fs.ErrNotExist]. If the directory is
// replaced, running calls, Dirs and Files keep using the old directory.
//
// New returns an error if the working directory is unknown, if a trusted
// directory is not an absolute path, or if DenySymlinks is combined with TrustDirs or
// TrustAll.
func New(dir string, opts ...Option) (*FS, error) {
	return newFS(dir, newOptions(opts), openOSDir)
}

func newOptions(opts []Option) options {
	var o options
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

func newFS(dir string, o options,
	openTop func(dir string, list bool) (dirHandle, error)) (*FS, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("confine: the working directory is unknown: %w", cause(err))
	}
	f := &FS{dir: abs, openTop: openTop, name: "."}
	if err := f.set(o, filepath.IsAbs, filepath.Clean); err != nil {
		return nil, err
	}
	return f, nil
}

// Over returns an FS of a directory of any filesystem. "" and "." are the top of the
// filesystem. For an [afero.OsFs], Over is New. Over returns the errors of New.
//
// The package documentation lists the limits of an FS made by Over.
func Over(fsys afero.Fs, dir string, opts ...Option) (*FS, error) {
	switch fsys.(type) {
	case *afero.OsFs, afero.OsFs:
		return New(dir, opts...)
	}
	return overFS(fsys, dir, newOptions(opts))
}

func overFS(fsys afero.Fs, dir string, o options) (*FS, error) {
	adapted := newAdapted(fsys)
	f := &FS{dir: path.Clean(filepath.ToSlash(dir)), adapted: adapted, openTop: adapted.open, name: "."}
	isAbs := func(dir string) bool { return path.IsAbs(filepath.ToSlash(dir)) || filepath.IsAbs(dir) }
	if err := f.set(o, isAbs, clean); err != nil {
		return nil, err
	}
	return f, nil
}

// set checks and stores the options.
func (f *FS) set(o options, isAbs func(dir string) bool, clean func(dir string) string) error {
	if o.denySymlinks && (o.trustAll || len(o.trusted) > 0) {
		return errors.New("confine: DenySymlinks cannot be combined with TrustDirs and TrustAll")
	}
	for i, dir := range o.trusted {
		if !isAbs(dir) {
			return fmt.Errorf("confine: trusted directory %q is not an absolute path", dir)
		}
		o.trusted[i] = clean(dir)
	}
	f.options = o
	return nil
}

// Within returns an FS of the files at and below dir, under the same names as in f. A
// name outside dir is ErrEscape. A link below dir that leads out of dir is ErrEscape too, unless
// the link leads to a trusted directory of f.
//
// Each call opens dir as f does, so the name dir may contain links that f follows. For the links
// below, dir is the root: the rules of the package documentation apply with the full path of dir,
// f.Path(dir), as the path of the root. Lstat of dir describes the directory, never a link.
// [FS.ReadLink] returns targets as names that begin with dir.
//
// Within looks up no file. If dir is not a valid name, every name is ErrEscape. An FS of Within
// is small and keeps no file open. After Close of f or of the result, the calls of the result
// return fs.ErrClosed.
func (f *FS) Within(dir string) *FS { return f.within(dir, dir) }

// within is Within. The names of the result begin with name in place of dir.
func (f *FS) within(dir, name string) *FS {
	return &FS{
		dir: f.Path(dir), options: f.options, adapted: f.adapted, openTop: f.openTop,
		name: name, outer: f, at: dir,
	}
}

// Close makes later calls fail with fs.ErrClosed. Close does not affect running calls
// and open Dirs and Files.
func (f *FS) Close() error {
	if f.closed.Swap(true) {
		return fs.ErrClosed
	}
	return nil
}

// Path returns the full path of a name on the underlying filesystem, or "" for an
// invalid name. Opening a file by this path is not confined.
func (f *FS) Path(name string) string {
	rest, inside := below(f.name, name)
	switch {
	case checkName(name) != nil || !inside:
		return ""
	case f.adapted != nil:
		return path.Join(f.dir, rest)
	default:
		return filepath.Join(f.dir, filepath.FromSlash(rest))
	}
}

// check rejects calls after Close, invalid names, and names outside the root.
func (f *FS) check(name string) error {
	for g := f; g != nil; g = g.outer {
		if g.closed.Load() {
			return fs.ErrClosed
		}
	}
	if err := checkName(name); err != nil {
		return err
	}
	if _, inside := below(f.name, name); !inside {
		return ErrEscape
	}
	return nil
}

// Lstat returns the metadata of a file. If the last element is a link, Lstat describes
// the link.
func (f *FS) Lstat(name string) (Info, error) {
	return f.stat("lstat", name, false)
}

// Info returns the metadata of a file. Info follows the links that the options allow.
func (f *FS) Info(name string) (Info, error) {
	return f.stat("stat", name, true)
}

func (f *FS) stat(op, name string, follow bool) (info Info, err error) {
	err = f.to(name, follow, func(w resolution, elem string) (err error) {
		info, err = w.dir.lstat(elem, false)
		if err == nil && follow && info.isLink() {
			return ErrSymlink
		}
		return err
	})
	if err != nil {
		return Info{}, failure(op, name, err)
	}
	return info, nil
}

// to calls do with the last element of a name, as resolution.to.
func (f *FS) to(name string, follow bool, do func(w resolution, elem string) error) error {
	if err := f.check(name); err != nil {
		return err
	}
	w := resolution{fs: f}
	defer w.close()
	return w.to(name, follow, func(elem string) error { return do(w, elem) })
}

// OpenRegular opens a regular file. OpenRegular follows the links that the options allow.
// For a directory, named pipe, socket or device, the error is ErrNotRegular.
// OpenRegular never waits for a named pipe or a device.
func (f *FS) OpenRegular(name string) (*File, error) {
	file := &File{name: name}
	err := f.to(name, true, func(w resolution, elem string) (err error) {
		file.content, file.info, err = w.dir.openFile(elem)
		return err
	})
	if err != nil {
		return nil, failure("open", name, err)
	}
	return file, nil
}

// OpenDir opens a directory. OpenDir follows the links that the options allow. For a file
// of another kind, the error is ErrNotDir.
func (f *FS) OpenDir(name string) (*Dir, error) {
	const op = "open"
	if err := f.check(name); err != nil {
		return nil, failure(op, name, err)
	}
	w := resolution{fs: f}
	defer w.close()
	handle, at, err := w.open(name, true)
	if err != nil {
		return nil, failure(op, name, err)
	}
	return &Dir{handle: handle, fs: f, tree: at.tree, at: cmp.Or(at.path, "."), name: name}, nil
}

// ReadLink returns the target of a link, as a name relative to the root. Only the last
// element of the target may be another link. The target need not exist.
//
// If a link leads outside, directly or through other links, or to a trusted
// directory, the error is ErrEscape. If links form a loop, the error is
// syscall.ELOOP. If the file is not a link, the error is fs.ErrInvalid. The options apply
// only to links in the other elements of name.
func (f *FS) ReadLink(name string) (string, error) {
	target := ""
	err := f.to(name, false, func(w resolution, elem string) error {
		text, err := readLink(w.dir, elem)
		if err == nil {
			target, err = f.resolve(w.place(""), text)
		}
		return err
	})
	return target, failure("readlink", name, err)
}

// readLink returns the text of a link.
func readLink(dir dirHandle, elem string) (text string, err error) {
	for range attempts {
		if text, err = dir.readLink(elem); err == nil {
			return text, nil
		}
		info, lstatErr := dir.lstat(elem, true)
		switch {
		case lstatErr != nil:
			return "", lstatErr
		case !info.isLink():
			return "", fs.ErrInvalid
		}
		// The link is unreadable, or the file became a link between the two calls.
	}
	return "", err
}

// resolve returns the target of a link with the given text in the directory at.
func (f *FS) resolve(at place, text string) (string, error) {
	// The target of a link does not depend on the options.
	inside := &FS{dir: f.dir, adapted: f.adapted, openTop: f.openTop, name: f.name, outer: f.outer, at: f.at}
	w := resolution{fs: inside}
	defer w.close()
	if err := w.start(f.dir, "."); err != nil {
		return "", err
	}
	rest, ok := below(cmp.Or(w.root.path, "."), cmp.Or(at.path, "."))
	if !ok || at.tree != w.root.tree {
		// A trusted directory is outside.
		return "", ErrEscape
	}
	w.path = plain(rest, ".")
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
			info, err := w.dir.lstat(elem, true)
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
		// A directory of the path is missing or not searchable. Links in the rest of the
		// path are unknown.
		first = path.Join(w.at(), w.path[w.done:])
		if first == ".." || strings.HasPrefix(first, "../") {
			return "", ErrEscape
		}
	}
	return path.Join(f.name, first), nil
}

// trees returns the root and the trusted directories.
func (f *FS) trees() []string {
	if len(f.trusted) == 0 {
		return []string{f.dir}
	}
	return slices.Insert(slices.Clone(f.trusted), 0, f.dir)
}

// realPath returns the path of a tree without links, with slashes.
func (f *FS) realPath(tree string) (string, bool) {
	if f.adapted != nil {
		return tree, path.IsAbs(tree) || filepath.IsAbs(tree)
	}
	real, err := filepath.EvalSymlinks(tree)
	return filepath.ToSlash(real), err == nil
}

// linkTarget returns the text of a link with slashes, and whether the text is
// absolute.
func (f *FS) linkTarget(text string) (absolute bool, target string) {
	if runtime.GOOS != "windows" {
		return path.IsAbs(text), text
	}
	text = filepath.ToSlash(strings.TrimPrefix(text, `\\?\`))
	// A path with a drive, absolute or not, and a path that begins with a slash are
	// not relative to the directory of the link.
	return filepath.VolumeName(text) != "" || path.IsAbs(text), text
}
