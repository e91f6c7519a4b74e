package index

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// List lists a directory below the directory of the skill, or the directory itself,
// ".": the regular files, the links to files that Open follows, with the metadata of
// their targets, and the directories except .git and node_modules. The entries are
// sorted by the bytes of Name, which has no directory. The error is the error of
// OpenDir, of reading the directory, or of ctx.
//
// In contrast to Files, List has no limit.
func (d *SkillDir) List(ctx context.Context, name string) ([]SkillFile, error) {
	dir, err := d.OpenDir(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	var names []string
	if d.alone {
		names = []string{path.Base(d.entry.Path)}
	} else if err := dir.Each(ctx, func(elem string, _ fs.FileMode) error { names = append(names, elem); return nil }); err != nil {
		return nil, err
	}
	slices.Sort(names)
	files := make([]SkillFile, 0, len(names))
	for _, elem := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, err := dir.Lstat(elem)
		if err == nil && info.Mode.Type() == fs.ModeSymlink {
			if info, err = d.fileInfo(path.Join(name, elem)); err != nil && !IsFault(err) {
				continue // Files reports the link
			}
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed since the directory was read
		case err != nil:
			return nil, err
		case info.Mode.IsRegular(), info.Mode.IsDir() && !Skipped(elem):
			files = append(files, SkillFile{elem, info})
		}
	}
	return files, nil
}

// NestedSkills returns the names of the direct subdirectories that have a SKILL.md, sorted.
// NestedSkills looks into at most maxWithinSkill subdirectories.
func (d *SkillDir) NestedSkills(ctx context.Context) ([]string, error) {
	files, err := d.List(ctx, ".")
	if err != nil {
		return nil, err
	}
	dirs := slices.DeleteFunc(files, func(f SkillFile) bool { return !f.Info.Mode.IsDir() || !names.Loose(f.Name) })
	var found []string
	for _, dir := range dirs[:min(len(dirs), maxWithinSkill)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, base := range SkillFileNames {
			switch info, err := d.fileInfo(path.Join(dir.Name, base)); {
			case err == nil && info.Mode.IsRegular():
				found = append(found, dir.Name)
			case err != nil && IsFault(err):
				return nil, err
			default:
				continue
			}
			break
		}
	}
	return found, nil
}

// fileInfo returns the metadata of a file that Open opens.
func (d *SkillDir) fileInfo(name string) (confine.Info, error) {
	file, err := d.Open(name)
	if err != nil {
		return confine.Info{}, err
	}
	defer file.Close()
	return file.Info(), nil
}

// Subdir returns the directory of the skill with a file, given by its full path, below the layer
// with a name, or "".
func (x *Index) Subdir(layer, file string) string {
	for _, l := range x.config.Layers {
		if l.Name != layer || file == "" {
			continue
		}
		below, err := filepath.Rel(l.FS.Path(l.Dir), file)
		if err == nil && filepath.IsLocal(below) {
			dir, base := path.Split(filepath.ToSlash(below))
			if !strings.EqualFold(base, "SKILL.md") {
				dir += strings.TrimSuffix(base, path.Ext(base)) // the file is the skill
			}
			return path.Clean(dir)
		}
	}
	return ""
}
