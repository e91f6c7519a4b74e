// Package skilldir reads the open directory of one skill. No content of the directory leads
// outside.
package skilldir

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// Names are the names of a skill's file, the preferred name first.
var Names = [...]string{"SKILL.md", "skill.md"}

// Skipped reports whether a directory has a name that the guide for clients of
// the Agent Skills format excludes: the directory holds neither skills nor files
// of skills.
func Skipped(name string) bool { return name == ".git" || name == "node_modules" }

// SameLetters reports whether a name is SKILL.md in any letter case. The length excludes the
// letters ſ and K (U+212A), which Unicode folds and Windows does not.
func SameLetters(name, skillFile string) bool {
	return len(name) == len(skillFile) && strings.EqualFold(name, skillFile)
}

// maxLinks is the number of links on the way to one file, as on Linux.
const maxLinks = 40

// A Dir is the open directory of a skill. No content of the directory
// leads a Dir outside: each name is opened element by element, relative
// to descriptors, and a link is followed only if the target is in the directory.
// The single exception is a SKILL.md that is a link: a Dir reads this
// link as a scan does. If the entry of the scan is no link, Open does not follow a link
// that has replaced the SKILL.md.
type Dir struct {
	FS     *confine.FS
	At     string       // path of the directory on FS
	Top    *confine.Dir // the open directory
	File   string       // the name of the SKILL.md
	Linked bool         // the SKILL.md is a link
	Alone  bool         // the SKILL.md is the only file of the skill
	Sealed bool         // Files lists the omitted entries

	// For problems: the name of the layer, and the path of the SKILL.md below the layer.
	Layer, Below string

	Scan     *access.Source                      // of a scan that seals the skill, or nil
	Vanished func(dir *confine.Dir, name string) // with Scan: the directory has listed the name
}

// place returns the path of a file for problems, not escaped. The name "." is the directory.
func (d *Dir) place(name string) string { return path.Join(d.Layer, path.Dir(d.Below), name) }

// Close closes the directory.
func (d *Dir) Close() { d.Top.Close() }

// Open opens a regular file below the directory. The name contains no ".." (see
// confine.FS). If a link leads out of the directory, Open returns
// confine.ErrEscape, whether or not the target exists. If the policy does not
// allow a link, Open returns confine.ErrSymlink. If more than maxLinks
// links are on the way, Open returns syscall.ELOOP.
func (d *Dir) Open(name string) (*confine.File, error) {
	if d.IsFile(name) {
		if d.Linked {
			return d.FS.OpenRegular(access.Below(d.At, d.File))
		}
		return d.Top.OpenRegular(name)
	}
	if d.Alone && name != "." {
		return nil, fs.ErrNotExist
	}
	var file *confine.File
	err := d.follow(name, func(dir *confine.Dir, elem string) (err error) {
		if elem == "." { // a link leads to the directory itself
			return confine.ErrNotRegular
		}
		file, err = dir.OpenRegular(elem)
		return err
	})
	return file, err
}

// OpenDir opens a directory below the directory, or the directory itself, ".".
// OpenDir follows links, and returns errors, as Open does.
func (d *Dir) OpenDir(name string) (*confine.Dir, error) {
	if d.Alone && name != "." {
		if d.IsFile(name) {
			return nil, confine.ErrNotDir
		}
		return nil, fs.ErrNotExist
	}
	var child *confine.Dir
	err := d.follow(name, func(dir *confine.Dir, elem string) (err error) {
		if elem == "." {
			child, err = d.FS.OpenDir(d.At)
		} else {
			child, err = dir.OpenDir(elem)
		}
		return err
	})
	return child, err
}

// follow calls open with the directory and the last element of a name, and again
// with the target if a link is on the way.
func (d *Dir) follow(name string, open func(dir *confine.Dir, elem string) error) error {
	for range maxLinks {
		err := d.in(name, open)
		if !errors.Is(err, confine.ErrSymlink) {
			return err
		}
		if name, err = d.through(name); err != nil {
			return err
		}
	}
	return syscall.ELOOP
}

// in calls open with the directory and the last element of a name. If a link is on the way, the
// error is confine.ErrSymlink.
func (d *Dir) in(name string, open func(dir *confine.Dir, elem string) error) error {
	parent := path.Dir(name)
	if parent == "." {
		return open(d.Top, name)
	}
	dir, err := d.Top.OpenBelow(parent)
	if err != nil {
		return err
	}
	defer dir.Close()
	return open(dir, path.Base(name))
}

// IsFile reports whether a name in the directory is the entry's SKILL.md.
// If the filesystem ignores letter case, the entry has the name that the scan
// tried, and the directory can have another spelling of the name.
func (d *Dir) IsFile(name string) bool {
	base := d.File
	if name == base || !SameLetters(name, base) {
		return name == base
	}
	own, err := d.Top.Lstat(base)
	if err != nil {
		return false
	}
	info, err := d.Top.Lstat(name)
	return err == nil && stamp.SameFile(own, info)
}

// through replaces the first link on the way of a name by the target, if the link may be followed.
// Without a link, which another file has replaced, through returns the name.
func (d *Dir) through(name string) (string, error) {
	done, rest, more := "", name, true
	for more {
		var elem, target string
		elem, rest, more = strings.Cut(rest, "/")
		done = path.Join(done, elem)
		err := d.in(done, func(dir *confine.Dir, elem string) (err error) {
			target, err = dir.ReadLink(elem)
			return err
		})
		if errors.Is(err, fs.ErrInvalid) { // not a link
			continue
		}
		if err != nil {
			return "", err
		}
		below, err := filepath.Rel(d.Top.RealPath(), d.FS.Path(target))
		if err != nil || !filepath.IsLocal(below) {
			return "", confine.ErrEscape
		}
		// The target is in the directory, and the error may reveal the target. The
		// filesystem decides whether the policy allows the link.
		if _, err := d.FS.Info(path.Join(d.At, done)); errors.Is(err, confine.ErrSymlink) {
			return "", err
		}
		return path.Join(filepath.ToSlash(below), rest), nil
	}
	return name, nil
}
