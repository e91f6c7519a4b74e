package index

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
)

// A SkillDir is the open directory of the skill of an entry.
type SkillDir struct {
	skilldir.Dir
	Index *Index
	Entry *Entry

	snapshot bool // the filesystem shows one moment of a store
	stale    bool // the store has not answered, and the filesystem is its last good snapshot
}

// newDir returns the SkillDir of an entry, which is not open.
func (x *Index) newDir(e *Entry) *SkillDir {
	l := x.LayerOf(e)
	return &SkillDir{Index: x, Entry: e, Dir: skilldir.Dir{File: path.Base(e.Path), Linked: e.Linked, Alone: l.Files,
		Sealed: l.Sealed, Layer: l.Name, Below: x.Below(e)}}
}

// OpenSkill opens the directory of a skill. For a skill of no plugin, OpenSkill begins at the open
// directory of the layer if possible, which needs fewer system calls. The caller must close the
// SkillDir. The calls of the filesystem may end with ctx.
func (x *Index) OpenSkill(ctx context.Context, e *Entry) (*SkillDir, error) {
	d, l := x.newDir(e), x.LayerOf(e)
	err := x.viewSkill(ctx, d)
	if err != nil {
		return nil, err
	}
	if d.FS == l.FS && d.At != l.Dir {
		if dir := x.openLayer(e.Layer()); dir != nil {
			d.Top, err = access.OpenBelow(dir, l.Dir, d.At)
		}
	}
	if d.Top == nil || err != nil { // also if a link or a change is on the way
		d.Top, err = d.FS.OpenDir(d.At)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Settled is Index.Settled for a file of the skill.
func (d *SkillDir) Settled(info confine.Info, now time.Time) bool {
	return d.Index.Settled(d.Entry.Layer(), info, now)
}

// Outdated reports whether the error of reading a file can be the refusal of a snapshot,
// because the file has changed since the snapshot.
func (d *SkillDir) Outdated(err error) bool {
	return d.snapshot && !d.stale && err != nil && access.MayHaveChanged(err)
}

// Renew replaces the snapshot of the directory. Without a snapshot, Renew does nothing.
// After an error, the SkillDir has the previous snapshot.
func (d *SkillDir) Renew(ctx context.Context) error {
	if !d.snapshot {
		return nil
	}
	now, err := d.Index.OpenSkill(ctx, d.Entry)
	if err != nil {
		return err
	}
	d.Top.Close()
	*d = *now
	return nil
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
