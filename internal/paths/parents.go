package paths

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
)

// A Parent is a directory above the root of a project.
type Parent struct {
	Dir  string // full path
	Name string // relative to the root, such as "../.."
}

// errBoundary is the error of Parents for a boundary without the root.
var errBoundary = errors.New("the boundary is not above the root; " +
	`use a directory that contains the root, or "" for the root of the repository`)

// Parents returns the directories above the root that belong to the project, nearest first: up to
// the first directory with a .git, or to the boundary, whichever is nearer. Without a boundary and
// without a .git, Parents returns no directory. Parents looks at no file above the boundary.
//
// On the operating system's filesystem, the paths are free of links: the parents are the parents of
// the directory to which the path of the root leads. The home directory of the user, or the
// directory given as home, is no parent, because its directories are the directories of the user.
func (r Root) Parents(fsys afero.Fs, boundary string, home *string) (parents []Parent, err error) {
	above, real := filepath.Dir, Real
	if !r.OnOS {
		above, real = path.Dir, func(dir string) string { return path.Clean(filepath.ToSlash(dir)) }
	}
	dir, name := real(r.Dir), "."
	levels := -1 // no limit
	if boundary != "" {
		below, err := filepath.Rel(real(r.Absolute(boundary)), dir)
		if err != nil || !filepath.IsLocal(below) {
			return nil, errBoundary
		}
		if levels = 0; below != "." {
			levels = 1 + strings.Count(filepath.ToSlash(below), "/")
		}
	}
	for ; levels != 0 && !isRepository(fsys, dir); levels-- {
		up := above(dir)
		if up == dir {
			return nil, nil // the top, without a repository
		}
		dir, name = up, path.Join("..", name)
		if !r.isHome(dir, home) {
			parents = append(parents, Parent{dir, name})
		}
	}
	return parents, nil
}

// Below returns the path of the root below a parent, with slashes.
func (r Root) Below(p Parent) string {
	dir := r.Dir
	if r.OnOS {
		dir = Real(dir)
	}
	below, err := filepath.Rel(p.Dir, dir)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(below)
}

// Real resolves the links of a path of the operating system's filesystem as far as the path exists.
func Real(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil || name == filepath.Dir(name) {
		return real
	}
	return filepath.Join(Real(filepath.Dir(name)), filepath.Base(name))
}

// isRepository reports whether a directory is the top of a repository or of a working tree of Git.
func isRepository(fsys afero.Fs, dir string) bool {
	info, err := fsys.Stat(filepath.Join(dir, ".git"))
	return err == nil && (info.IsDir() || info.Mode().IsRegular())
}

// isHome reports whether a directory is the given home directory or the home directory of the user.
func (r Root) isHome(dir string, given *string) bool {
	same := func(home string) bool {
		return filepath.Clean(home) == filepath.Clean(dir) || r.OnOS && sameDir(home, dir)
	}
	if given != nil && *given != "" && same(r.Absolute(*given)) {
		return true
	}
	home, err := os.UserHomeDir()
	return r.OnOS && err == nil && same(home)
}

// OfOtherUser reports whether a parent, its .git, or an element of the path dir below the parent
// belongs to another user than the user of the program. The rule is the rule of Git for
// safe.directory (git-config and git-compat-util.h, 2026-01): a program of root may also use the
// files of the user in SUDO_UID. If the filesystem does not know the owner, the owner is the user.
func (r Root) OfOtherUser(fsys afero.Fs, parent, dir string) bool {
	foreign := func(name string) bool {
		info, err := lstat(fsys, name)
		return err == nil && r.foreign(name, info)
	}
	if foreign(parent) || foreign(filepath.Join(parent, ".git")) {
		return true
	}
	for elem := range strings.SplitSeq(dir, "/") {
		if parent = filepath.Join(parent, elem); foreign(parent) {
			return true
		}
	}
	return false
}

func lstat(fsys afero.Fs, name string) (fs.FileInfo, error) {
	if l, ok := fsys.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(name)
		return info, err
	}
	return fsys.Stat(name)
}
