package listing

import (
	"context"
	"slices"
	"sync"

	"github.com/toolshelf-go/toolshelf/confine"
)

// Matches are the results of Find.
type Matches struct {
	Files   []string // paths relative to the root, in path order
	Total   int      // number of matches, including those beyond the limit
	Skipped int      // unreadable directories
	Report
}

// Find returns the files below a directory that match a glob: regular files, and
// links to regular files that the FS follows. Find does not enter linked
// directories.
//
// Path order compares paths name by name, with directories before files. With a limit,
// the memory depends on the limit and on the number of directories.
func Find(ctx context.Context, fsys *confine.FS, name string, pattern Glob, o Options) (Matches, error) {
	d, dir, at, err := open(fsys, name, o)
	if err != nil {
		return Matches{}, err
	}
	defer dir.Close()
	f := finder{limit: o.Limit}
	skipped, err := walkFiles(ctx, d, dir, at, []Glob{pattern}, func(_ *reader, in foundFiles) error {
		var found []string
		for _, file := range in.files {
			found = append(found, in.path(file))
		}
		for _, link := range in.links {
			if info, err := fsys.Info(in.path(link)); err == nil && info.Mode.IsRegular() {
				found = append(found, in.path(link))
			}
		}
		f.add(found)
		return nil
	})
	if err != nil {
		return Matches{}, err
	}
	slices.SortFunc(f.files, comparePaths)
	if f.limit > 0 && len(f.files) > f.limit {
		f.files = slices.Clip(f.files[:f.limit])
	}
	return Matches{Files: f.files, Total: f.total, Skipped: skipped, Report: d.report()}, nil
}

// A finder collects the matches of a walk.
type finder struct {
	limit int

	mu    sync.Mutex
	files []string // unsorted, at most twice the limit
	total int
}

// add adds the matches of a directory. With a limit, add keeps the first matches in
// path order.
func (f *finder) add(found []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total += len(found)
	f.files = append(f.files, found...)
	if f.limit > 0 && len(f.files)/2 >= f.limit {
		slices.SortFunc(f.files, comparePaths)
		clear(f.files[f.limit:])
		f.files = f.files[:f.limit]
	}
}
