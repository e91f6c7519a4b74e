package skilldir

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// MaxWithin is the number of subdirectories without a SKILL.md that the
// search visits in the directory of one skill.
const MaxWithin = 100

// List lists a directory below the directory of the skill, or the directory itself,
// ".": the regular files, the links to files that Open follows, with the metadata of
// their targets, and the directories except .git and node_modules. The entries are
// sorted by the bytes of Name, which has no directory. The error is the error of
// OpenDir, of reading the directory, or of ctx.
//
// In contrast to Files, List has no limit.
func (d *Dir) List(ctx context.Context, name string) ([]File, error) {
	dir, err := d.OpenDir(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	var names []string
	if d.Alone {
		names = []string{d.File}
	} else if err := dir.Each(ctx, func(elem string, _ fs.FileMode) error {
		names = append(names, elem)
		return nil
	}); err != nil {
		return nil, err
	}
	slices.Sort(names)
	files := make([]File, 0, len(names))
	for _, elem := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, err := dir.Lstat(elem)
		if err == nil && info.Mode.Type() == fs.ModeSymlink {
			if info, err = d.fileInfo(path.Join(name, elem)); err != nil && !access.IsFault(err) {
				continue // Files reports the link
			}
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed since the directory was read
		case err != nil:
			return nil, err
		case info.Mode.IsRegular(), info.Mode.IsDir() && !Skipped(elem):
			files = append(files, File{elem, info})
		}
	}
	return files, nil
}

// NestedSkills returns the names of the direct subdirectories that have a SKILL.md, sorted.
// NestedSkills looks into at most MaxWithin subdirectories.
func (d *Dir) NestedSkills(ctx context.Context) ([]string, error) {
	files, err := d.List(ctx, ".")
	if err != nil {
		return nil, err
	}
	dirs := slices.DeleteFunc(files, func(f File) bool {
		return !f.Info.Mode.IsDir() || !names.Loose(f.Name)
	})
	var found []string
	for _, dir := range dirs[:min(len(dirs), MaxWithin)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, base := range Names {
			switch info, err := d.fileInfo(path.Join(dir.Name, base)); {
			case err == nil && info.Mode.IsRegular():
				found = append(found, dir.Name)
			case err != nil && access.IsFault(err):
				return nil, err
			default:
				continue
			}
			break
		}
	}
	return found, nil
}

// Sum returns the SHA-256, the metadata and the number of bytes of a file that Open opens. A file
// with more than limit bytes is access.ErrTooLarge. The error may be the error of ctx.
func (d *Dir) Sum(ctx context.Context, name string, limit int64) (
	sum [sha256.Size]byte, info confine.Info, n int64, err error,
) {
	f, err := d.Open(name)
	if err != nil {
		return sum, info, 0, err
	}
	defer f.Close()
	if info = f.Info(); info.Size > limit {
		return sum, info, 0, access.ErrTooLarge
	}
	hash := sha256.New()
	buf := make([]byte, min(max(info.Size, 511), 32<<10)+1) // the size is a hint, and can be 0
	n, err = io.CopyBuffer(hash, io.LimitReader(untilEnded{ctx, f}, max(limit, limit+1)), buf)
	if err == nil && n > limit {
		err = access.ErrTooLarge
	}
	hash.Sum(sum[:0])
	return sum, info, n, err
}

// untilEnded is a reader that stops at the end of a context.
type untilEnded struct {
	ctx context.Context
	r   io.Reader
}

func (u untilEnded) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// fileInfo returns the metadata of a file that Open opens.
func (d *Dir) fileInfo(name string) (confine.Info, error) {
	file, err := d.Open(name)
	if err != nil {
		return confine.Info{}, err
	}
	defer file.Close()
	return file.Info(), nil
}
