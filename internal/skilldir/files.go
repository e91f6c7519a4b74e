package skilldir

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// The limits of a skill's list of files.
const (
	MaxFiles = 10_000 // files and directories
	MaxDepth = 16     // levels of directories
)

// A File is a file below the directory of a skill.
type File struct {
	Name string // relative to the directory
	Info confine.Info
}

// Listing lists the files of a skill.
type Listing struct {
	Files     []File            // sorted by the bytes of Name
	Dirs      []string          // the directories that were read below the skill's directory, sorted
	Own       int               // index of the entry's SKILL.md in Files; -1 if the file is missing
	Truncated bool              // the skill exceeds the limits, and Files is incomplete
	Problems  []problem.Problem // the omitted files
	Omitted   []Omitted         // in a layer with Layer.Sealed; sorted by the bytes of Name

	// Listed are the directories before the list, for a scan: the skill's directory first, and each
	// directory before its subdirectories. If a change of the list can leave the metadata of all
	// directories unchanged, Listed is nil.
	Listed []access.ListedDir
}

// An Omitted is an entry below the directory of a skill that Dir.Files omits: a directory of
// dependencies or of Git with all its files, a link that is not followed to a file, or a special
// file.
type Omitted struct {
	Name   string
	Type   fs.FileMode // the type bits
	Target string      // of a link, on the filesystem of the layer; "" if the link leads outside
}

// Files returns every regular file below the directory, including hidden files.
// Files omits the contents of directories named .git and node_modules.
//
// Files includes links to files in the directory. Files does not follow links to
// directories in the directory, because the list contains the files under their
// own names. The error is the error of the directory itself, or of ctx.
func (d *Dir) Files(ctx context.Context) (Listing, error) {
	w := walker{Dir: d, ctx: ctx, left: MaxFiles}
	if d.Alone {
		w.file(d.File)
	} else if err := w.walk(d.Top, ".", 1); err != nil {
		return Listing{}, err
	}
	if w.list.Truncated {
		w.warn(problem.TooManyFiles, ".",
			"the list of files is limited to 10,000 files and directories in 16 levels",
			"remove files that do not belong to the skill")
		if w.own() < 0 {
			w.file(d.File)
		}
	}
	slices.SortFunc(w.list.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(w.list.Omitted, func(a, b Omitted) int {
		return strings.Compare(a.Name, b.Name)
	})
	slices.Sort(w.list.Dirs)
	w.list.Own = w.own()
	if w.unproven || len(w.list.Problems) > 0 {
		w.list.Listed = nil
	}
	slices.SortFunc(w.list.Problems, problem.Compare)
	w.list.Problems = problem.Limit(w.list.Problems)
	return w.list, nil
}

// A child is an entry of a directory.
type child struct {
	name string
	typ  fs.FileMode // the type bits, or confine.TypeUnknown
}

// A walker lists the files of a skill.
type walker struct {
	*Dir
	ctx  context.Context
	left int // number of files and directories that the walk may still visit
	list Listing

	unproven bool // Listing.listed is incomplete
}

// own returns the index of the entry's SKILL.md in the files found so far, or -1.
// The exact name precedes other spellings.
func (w *walker) own() int {
	base := w.File
	if i := slices.IndexFunc(w.list.Files, func(f File) bool { return f.Name == base }); i >= 0 {
		return i
	}
	return slices.IndexFunc(w.list.Files, func(f File) bool { return w.IsFile(f.Name) })
}

// warn reports a file.
func (w *walker) warn(code problem.Code, name, message, suggestion string) {
	w.list.Problems = append(w.list.Problems, problem.Problem{Code: code, Severity: problem.Warning,
		Path: escape.Path(w.place(name)), Message: message, Suggestion: suggestion})
}

// walk adds the files of a directory and of the directories below. walk returns
// only the errors of the directory itself and of the context.
func (w *walker) walk(dir *confine.Dir, prefix string, depth int) error {
	if w.Scan != nil {
		now := time.Now()
		info, err := dir.Info()
		w.unproven = w.unproven || err != nil || !stamp.Settled(info, now)
		w.list.Listed = append(w.list.Listed, access.ListedDir{Path: prefix, Stamp: stamp.Of(info)})
	}
	children, err := w.first(dir)
	if err != nil {
		return err
	}
	for _, c := range children {
		if w.left == 0 {
			w.list.Truncated = true
			return nil
		}
		w.left--
		if err := w.child(dir, access.Below(prefix, c.name), c, depth); err != nil {
			return err
		}
	}
	return nil
}

// first returns the first names of a directory in sorted order, at most one more
// than the walk may still visit. The memory is bounded for a directory of any
// size.
func (w *walker) first(dir *confine.Dir) ([]child, error) {
	var all []child
	limit := w.left + 1
	cut := func() {
		slices.SortFunc(all, func(a, b child) int { return strings.Compare(a.name, b.name) })
		all = all[:min(len(all), limit)]
	}
	err := dir.EachBytes(w.ctx, func(name []byte, typ fs.FileMode) error {
		if all = append(all, child{name: string(name), typ: typ}); len(all) >= 2*limit+1024 {
			cut()
		}
		return nil
	})
	cut()
	return all, err
}

func (w *walker) child(dir *confine.Dir, name string, c child, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	var info confine.Info
	if c.typ != fs.ModeDir {
		var err error
		if info, err = dir.Lstat(c.name); err != nil {
			w.unlisted(dir, name, err)
			return nil
		}
		c.typ = info.Mode.Type()
	}
	switch {
	case c.typ == fs.ModeDir && Skipped(c.name):
		w.omit(dir, name, c)
	case c.typ == fs.ModeDir && depth == MaxDepth:
		w.list.Truncated = true
	case c.typ == fs.ModeDir:
		if w.Scan != nil {
			w.Scan.Visit(path.Join(w.At, name))
		}
		below, err := dir.OpenDir(c.name)
		if err == nil {
			defer below.Close()
			if err = w.walk(below, name, depth+1); err == nil {
				w.list.Dirs = append(w.list.Dirs, name)
			}
		}
		if err != nil && w.ctx.Err() == nil {
			w.unlisted(dir, name, err)
		}
		return w.ctx.Err()
	case c.typ == 0:
		w.list.Files = append(w.list.Files, File{name, info})
	case c.typ == fs.ModeSymlink:
		w.unproven = true
		if w.Scan != nil {
			w.Scan.FollowedLink()
		}
		if !w.file(name) {
			w.omit(dir, name, c)
		}
	default:
		w.omit(dir, name, c)
		w.warn(problem.NotAFile, name, "not listed: the entry is neither a file nor a directory",
			"remove the entry")
	}
	return nil
}

// unlisted reports a listed name that cannot be described, unless the name has vanished during the
// walk. If the directory still has the name, the metadata of the directory do not prove the list.
func (w *walker) unlisted(dir *confine.Dir, name string, err error) {
	w.unproven = true
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		w.unreadable(name, err)
	case w.Scan != nil:
		w.Vanished(dir, path.Base(name))
	}
}

// omit adds an omitted entry.
func (w *walker) omit(dir *confine.Dir, name string, c child) {
	if !w.Sealed {
		return
	}
	o := Omitted{Name: name, Type: c.typ}
	if c.typ == fs.ModeSymlink {
		var err error
		if o.Target, err = dir.ReadLink(c.name); err != nil && access.IsFault(err) {
			w.unreadable(name, err)
		}
	}
	w.list.Omitted = append(w.list.Omitted, o)
}

// file opens a file and adds the file to the list, or reports false. Links need the open.
func (w *walker) file(name string) bool {
	file, err := w.Open(name)
	switch {
	case err == nil:
		w.list.Files = append(w.list.Files, File{name, file.Info()})
		file.Close()
	case errors.Is(err, confine.ErrNotRegular): // the walk handles the target under its own name
	case errors.Is(err, confine.ErrSymlink):
		w.warn(problem.LinkNotFollowed, name, "not listed: links are not followed",
			"replace the link by the file, or let the program follow links")
	case errors.Is(err, confine.ErrEscape), errors.Is(err, fs.ErrNotExist),
		errors.Is(err, syscall.ELOOP):
		w.warn(problem.LinkNotFollowed, name,
			"not listed: the link is broken, cyclic, or leads outside the skill directory",
			"replace the link by the file")
	default:
		w.unreadable(name, err)
	}
	return err == nil
}

func (w *walker) unreadable(name string, err error) {
	advice := "check the permissions"
	if errors.Is(err, fs.ErrInvalid) {
		advice = access.RenameFile
	}
	w.warn(problem.FileRead, name, "not listed: "+access.Unreadable(err),
		advice)
}
