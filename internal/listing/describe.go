package listing

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// fill describes entries and returns the result of build for each entry. A removed entry
// has the zero value.
func fill[E any](ctx context.Context, d *reader, dir *confine.Dir, entries []dirent,
	build func(*Row) E, workers int) ([]E, error) {
	all := make([]E, len(entries))
	err := d.describe(ctx, dir, entries, workers, func(i int, r *Row) { all[i] = build(r) })
	return all, err
}

// describe reads the metadata of entries and sets their field now. describe calls see
// with each remaining entry. The row is valid until see returns.
func (d *reader) describe(ctx context.Context, dir *confine.Dir, entries []dirent, workers int,
	see func(i int, r *Row)) error {
	const chunk = 256
	return parallel.Do(ctx, workers, (len(entries)+chunk-1)/chunk, func(i int) error {
		begin := i * chunk
		var r Row
		for j := begin; j < min(begin+chunk, len(entries)); j++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if d.describeOne(dir, &entries[j], &r) {
				see(j, &r)
			}
		}
		return nil
	})
}

// describeOne reports whether the entry still exists.
func (d *reader) describeOne(dir *confine.Dir, e *dirent, r *Row) bool {
	info, err := e.info, error(nil)
	named := info == nil && d.NoMetadata && d.Order == ByName && e.kind != KindOther
	if info == nil && !named {
		var read confine.Info
		read, err = dir.LstatBrief(e.name)
		info = &read
	}
	switch {
	case err == nil && !named:
		r.describe(e.name, info)
	case errors.Is(err, fs.ErrNotExist):
		e.now = kindGone
		d.vanished.Add(1)
		return false
	default:
		// A directory without search permission reveals only names.
		*r = Row{Name: e.name, Kind: e.kind}
		if r.Kind == KindFile || r.Kind == KindOther {
			r.Size = -1
		}
		if err != nil && d.Order != ByName {
			d.miss(err) // an entry without metadata has no place in the order
		}
	}
	if e.now = r.Kind; r.Kind == KindLink {
		target, err := dir.ReadLink(r.Name)
		r.Target, r.Outside = target, errors.Is(err, confine.ErrEscape)
	}
	return true
}

// Describe returns the row of an entry, without the target of a link. Only a file has a
// size: the size of a link would be the length of its text.
func Describe(name string, info confine.Info) Row {
	var r Row
	r.describe(name, &info)
	return r
}

func (r *Row) describe(name string, info *confine.Info) {
	*r = Row{Name: name, Kind: kindOf(info.Mode), Modified: info.Modified}
	if r.Kind == KindFile {
		r.Size = info.Size
	}
}

// sortedRows describes entries and returns the rows in the order of the options, without
// removed entries.
func (d *reader) sortedRows(ctx context.Context, dir *confine.Dir, entries []dirent,
	workers int) ([]Row, error) {
	rows := make([]Row, len(entries))
	if err := d.describe(ctx, dir, entries, workers, func(i int, r *Row) { rows[i] = *r }); err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Name == "" })
	slices.SortFunc(rows, func(a, b Row) int { return compareRows(d.Order, &a, &b) })
	return rows, nil
}

// searchRows returns the index of a row in sorted rows.
func searchRows(o Order, rows []Row, r *Row) (int, bool) {
	return slices.BinarySearchFunc(rows, r, func(a Row, b *Row) int { return compareRows(o, &a, b) })
}

// reorder sorts the values of entries again after changes, and drops the values of removed
// entries.
func reorder[E any](all []E, entries []dirent) ([]E, []dirent) {
	var order []int
	for i := range entries {
		if entries[i].now != kindGone {
			entries[i].kind = entries[i].now
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareDirents(entries[i], entries[j]) })
	sorted, sortedEntries := make([]E, len(order)), make([]dirent, len(order))
	for to, from := range order {
		sorted[to], sortedEntries[to] = all[from], entries[from]
	}
	return sorted, sortedEntries
}

// An Info is the metadata of a file, a directory or a link.
type Info struct {
	Row
	Accessed           time.Time // zero if unknown
	Readable, Writable *bool     // nil if unknown
}

// Stat returns the metadata of a file, a directory or a link. To determine Readable, Stat opens and
// closes the file or directory.
func Stat(fsys *confine.FS, name string) (Info, error) {
	info, err := fsys.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	found := Info{Row: Describe(path.Base(name), info), Accessed: info.Accessed}
	switch found.Kind {
	case KindLink:
		target, err := fsys.ReadLink(name)
		found.Target, found.Outside = target, errors.Is(err, confine.ErrEscape)
		return found, nil
	case KindFile:
		file, err := fsys.OpenRegular(name)
		if err == nil {
			file.Close()
		}
		found.Readable = allowed(err)
	case KindDir:
		dir, err := fsys.OpenDir(name)
		if err == nil {
			dir.Close()
		}
		found.Readable = allowed(err)
	}
	// Some filesystems in memory store no permissions and serve every file.
	if info.Mode.Perm() != 0 {
		writable := info.Mode.Perm()&0o222 != 0
		found.Writable = &writable
	}
	return found, nil
}

// allowed returns whether an operation is permitted, judging by its error, or nil if unknown.
func allowed(err error) *bool {
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil
	}
	yes := err == nil
	return &yes
}
