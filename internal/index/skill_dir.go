package index

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// maxSkillLinks is the number of links on the way to one file, as on Linux.
const maxSkillLinks = 40

// A SkillDir is the open directory of a skill. No content of the directory
// leads a SkillDir outside: each name is opened element by element, relative
// to descriptors, and a link is followed only if the target is in the directory.
// The single exception is a SKILL.md that is a link: a SkillDir reads this
// link as a scan does. If the entry of the scan is no link, Open does not follow a link
// that has replaced the SKILL.md.
type SkillDir struct {
	index *Index
	entry *Entry
	fs    *confine.FS
	at    string // path of the directory on fs
	dir   *confine.Dir

	scan     *scan // the scan that seals the skill, or nil
	alone    bool  // the file of the entry is the only file of the skill; see Layer.Files
	snapshot bool  // fs shows one moment of a store
	stale    bool  // the store has not answered, and fs is its last good snapshot
}

// OpenSkill opens the directory of a skill. The caller must close the SkillDir. The calls
// of the filesystem may end with ctx.
func (x *Index) OpenSkill(ctx context.Context, e *Entry) (*SkillDir, error) {
	d := &SkillDir{index: x, entry: e, alone: x.LayerOf(e).Files}
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *SkillDir) open(ctx context.Context) (err error) {
	if err = d.index.viewSkill(ctx, d); err != nil {
		return err
	}
	if d.dir = d.index.openCached(d); d.dir == nil {
		d.dir, err = d.fs.OpenDir(d.at)
	}
	return err
}

// openCached opens the directory of a skill below the open directory of the layer, which needs
// fewer system calls. If a link or a change is on the way, openCached returns nil.
func (x *Index) openCached(d *SkillDir) *confine.Dir {
	l := x.LayerOf(d.entry)
	if d.fs != l.FS || d.at == l.Dir {
		return nil
	}
	dir := x.openLayer(d.entry.Layer())
	if dir == nil {
		return nil
	}
	opened, _ := access.OpenBelow(dir, l.Dir, d.at)
	return opened
}

// place returns the path of a file for problems, not escaped. The name "." is the directory.
func (d *SkillDir) place(name string) string {
	return path.Join(path.Dir(d.index.config.join(d.entry.Layer(), d.entry.Path)), name)
}

// Entry returns the entry of the skill.
func (d *SkillDir) Entry() *Entry { return d.entry }

// Settled is Index.Settled for a file of the skill.
func (d *SkillDir) Settled(info confine.Info, now time.Time) bool {
	return d.index.Settled(d.entry.Layer(), info, now)
}

// Outdated reports whether the error of reading a file can be the refusal of a snapshot,
// because the file has changed since the snapshot.
func (d *SkillDir) Outdated(err error) bool {
	return d.snapshot && !d.stale && err != nil && mayHaveChanged(err)
}

// Renew replaces the snapshot of the directory. Without a snapshot, Renew does nothing.
// After an error, the SkillDir has the previous snapshot.
func (d *SkillDir) Renew(ctx context.Context) error {
	if !d.snapshot {
		return nil
	}
	now := *d
	if err := now.open(ctx); err != nil {
		return err
	}
	d.dir.Close()
	*d = now
	return nil
}

// file returns the path of the skill's file on d.fs.
func (d *SkillDir) file() string { return below(d.at, path.Base(d.entry.Path)) }

// Close closes the directory.
func (d *SkillDir) Close() { d.dir.Close() }

// Open opens a regular file below the directory. The name contains no ".." (see
// confine.FS). If a link leads out of the directory, Open returns
// confine.ErrEscape, whether or not the target exists. If the policy does not
// allow a link, Open returns confine.ErrSymlink. If more than maxSkillLinks
// links are on the way, Open returns syscall.ELOOP.
func (d *SkillDir) Open(name string) (*confine.File, error) {
	if d.isSkillFile(name) {
		if d.entry.Linked {
			return d.fs.OpenRegular(d.file())
		}
		return d.dir.OpenRegular(name)
	}
	if d.alone && name != "." {
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
func (d *SkillDir) OpenDir(name string) (*confine.Dir, error) {
	if d.alone && name != "." {
		if d.isSkillFile(name) {
			return nil, confine.ErrNotDir
		}
		return nil, fs.ErrNotExist
	}
	var child *confine.Dir
	err := d.follow(name, func(dir *confine.Dir, elem string) (err error) {
		if elem == "." {
			child, err = d.fs.OpenDir(d.at)
		} else {
			child, err = dir.OpenDir(elem)
		}
		return err
	})
	return child, err
}

// follow calls open with the directory and the last element of a name, and again
// with the target if a link is on the way.
func (d *SkillDir) follow(name string, open func(dir *confine.Dir, elem string) error) error {
	for range maxSkillLinks {
		if name == "." {
			return open(d.dir, ".")
		}
		next, err := d.step(name, open)
		if !errors.Is(err, confine.ErrSymlink) || next == "" {
			return err
		}
		name = next
	}
	return syscall.ELOOP
}

// isSkillFile reports whether a name in the directory is the entry's SKILL.md.
// If the filesystem ignores letter case, the entry has the name that the scan
// tried, and the directory can have another spelling of the name.
func (d *SkillDir) isSkillFile(name string) bool {
	base := path.Base(d.entry.Path)
	if name == base || !SameLetters(name, base) {
		return name == base
	}
	own, err := d.dir.Lstat(base)
	if err != nil {
		return false
	}
	info, err := d.dir.Lstat(name)
	return err == nil && stamp.SameFile(own, info)
}

// step calls open if no link is on the way of a name. If a link is on the way and
// may be followed, the error is confine.ErrSymlink, and next is the name to continue
// with.
func (d *SkillDir) step(name string, open func(dir *confine.Dir, elem string) error) (next string, err error) {
	dir, done, rest := d.dir, "", name
	for {
		var elem string
		elem, rest, _ = strings.Cut(rest, "/")
		var child *confine.Dir
		if rest == "" {
			err = open(dir, elem)
		} else {
			child, err = dir.OpenDir(elem)
		}
		if errors.Is(err, confine.ErrSymlink) {
			next, err = d.through(dir, elem, path.Join(done, elem))
			if next != "" {
				next = path.Join(next, rest)
			}
		}
		if dir != d.dir {
			dir.Close()
		}
		if err != nil || child == nil {
			return next, err
		}
		dir, done = child, path.Join(done, elem)
	}
}

// through returns the target of a link as a name below the directory, with
// confine.ErrSymlink. If the link must not be followed, through returns "" and
// the reason.
func (d *SkillDir) through(dir *confine.Dir, elem, name string) (string, error) {
	target, err := dir.ReadLink(elem)
	if errors.Is(err, fs.ErrInvalid) {
		return name, confine.ErrSymlink // no longer a link: open the same name again
	}
	if err != nil {
		return "", err
	}
	dirPath, err := realName(d.fs, d.at)
	if err != nil {
		return "", err
	}
	below, ok := strings.CutPrefix(target, dirPath+"/")
	switch {
	case target == dirPath:
		below, ok = ".", true
	case dirPath == ".":
		below, ok = target, true
	}
	if !ok {
		return "", confine.ErrEscape
	}
	// The target is in the directory, and the error may reveal the target. The
	// filesystem decides whether the policy allows the link.
	if _, err := d.fs.Info(path.Join(d.at, name)); errors.Is(err, confine.ErrSymlink) {
		return "", err
	}
	return below, confine.ErrSymlink
}

// realName returns the name of a directory without links.
func realName(fsys *confine.FS, name string) (string, error) {
	done, rest := ".", name
	for links := 0; rest != ""; {
		var elem string
		elem, rest, _ = strings.Cut(rest, "/")
		next := path.Join(done, elem)
		if next == "." {
			continue
		}
		target, err := fsys.ReadLink(next)
		switch {
		case err == nil:
			if links++; links > maxSkillLinks {
				return "", syscall.ELOOP
			}
			done, rest = ".", path.Join(target, rest)
		case errors.Is(err, fs.ErrInvalid): // not a link
			done = next
		default:
			return "", err
		}
	}
	return done, nil
}
