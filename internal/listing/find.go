package listing

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"syscall"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/shown"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// Find returns the files below a directory that match a glob: regular files, and
// links to regular files that the FS follows. Find does not enter linked
// directories.
//
// The order ByName is path order, which compares paths name by name, with directories before
// files. Equal sizes and times are in path order. With a limit, the memory depends on the limit
// and on the number of directories.
func Find(ctx context.Context, fsys *confine.FS, name string, pattern Glob,
	o Options) (shown.Files, error) {
	d, dir, at, err := open(fsys, name, o)
	if err != nil {
		return shown.Files{}, err
	}
	defer dir.Close()
	f := finder{limit: o.Limit, order: o.Order}
	skipped, err := walkFiles(ctx, d, dir, at, []Glob{pattern}, func(in foundFiles) error {
		var found []Row
		for _, name := range in.files {
			if err := ctx.Err(); err != nil {
				return err
			}
			file := Row{Name: in.path(name)}
			if o.Order == ByName || d.describeOne(in.dir, &dirent{name: name, kind: KindFile}, &file) && file.Kind == KindFile {
				file.Name = in.path(name)
				found = append(found, file)
			}
		}
		for _, link := range in.links {
			info, err := fsys.Info(in.path(link))
			switch {
			case err == nil && info.Mode.IsRegular():
				found = append(found, Describe(in.path(link), info))
			case err != nil && !leadsNowhere(err):
				d.miss(err)
			}
		}
		f.add(found)
		return nil
	})
	if err != nil {
		return shown.Files{}, err
	}
	f.sort()
	if f.limit > 0 && len(f.files) > f.limit {
		f.files = f.files[:f.limit]
	}
	r := d.report()
	m := shown.Files{
		Path:         name + "/",
		Pattern:      pattern.text,
		Files:        make([]string, len(f.files)),
		Total:        f.total,
		Skipped:      skipped + int(d.unread.Load()),
		Ignored:      r.Ignored,
		Dependencies: r.Dependencies,
		Warnings:     r.Warnings,
	}
	for i, file := range f.files {
		m.Files[i] = file.Name
		switch o.Order {
		case BySize:
			m.Sizes = append(m.Sizes, file.Size)
		case ByModified:
			m.Modified = append(m.Modified, stamp.UTC(file.Modified))
		}
	}
	return m, nil
}

// leadsNowhere reports whether a link leads to no file that the FS follows.
func leadsNowhere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, confine.ErrEscape) || errors.Is(err, confine.ErrNotDir) ||
		errors.Is(err, confine.ErrSymlink) || errors.Is(err, syscall.ELOOP)
}

// A finder collects the matches of a walk.
type finder struct {
	limit int
	order Order

	mu    sync.Mutex
	files []Row // unsorted, at most twice the limit
	total int
}

func (f *finder) sort() {
	slices.SortFunc(f.files, func(a, b Row) int {
		return cmp.Or(compareMetadata(f.order, &a, &b), comparePaths(a.Name, b.Name))
	})
}

// add adds the matches of a directory. With a limit, add keeps the first matches in
// the order.
func (f *finder) add(found []Row) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total += len(found)
	f.files = append(f.files, found...)
	if f.limit > 0 && len(f.files)/2 >= f.limit {
		f.sort()
		clear(f.files[f.limit:])
		f.files = f.files[:f.limit]
	}
}
