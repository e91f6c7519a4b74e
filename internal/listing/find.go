package listing

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/names"
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
	f := finder{ctx: ctx, fsys: fsys, pattern: pattern, limit: o.Limit}
	f.depth, f.base = pattern.reach()
	if o.MaxDepth > 0 && (f.depth == 0 || o.MaxDepth < f.depth) {
		f.depth = o.MaxDepth
	}
	settle := func(level []*searched) ([]*searched, error) { return below(level), nil }
	if err := newWalk(d, dir, at, f.visit).levels(ctx, d, settle); err != nil {
		return Matches{}, err
	}
	slices.SortFunc(f.files, comparePaths)
	if f.limit > 0 && len(f.files) > f.limit {
		f.files = slices.Clip(f.files[:f.limit])
	}
	return Matches{Files: f.files, Total: f.total, Skipped: f.skipped, Report: d.report()}, nil
}

// Find keeps no data for a visited directory.
type searched = directory[struct{}]

// A finder collects the matches of a walk.
type finder struct {
	ctx     context.Context
	fsys    *confine.FS
	pattern Glob
	limit   int
	depth   int      // levels to search; 0 for all
	base    []string // directories that contain every match, from the top

	mu      sync.Mutex
	files   []string // unsorted, at most twice the limit
	total   int
	skipped int
}

func (f *finder) visit(d *reader, in *searched, at place, dir *confine.Dir, err error) ([]*searched, error) {
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.skipped++
		return nil, nil
	}
	at.rules = d.addRules(dir, at)
	in.rules = at.rules
	var below []*searched
	var found, links []string
	_, err = d.read(f.ctx, dir, at, func(m *meter, bytes []byte, k Kind, _ *confine.Info) error {
		switch k {
		case KindDir:
			if name := string(bytes); f.enters(d, in, name) {
				below = append(below, in.in(name))
			}
		case KindFile, KindLink:
			name := string(bytes)
			ok, err := f.pattern.matches(m, at.path, name, false)
			switch {
			case !ok:
				return err
			case k == KindLink:
				links = append(links, joinPath(rulesDir(at.name), name))
			default:
				found = append(found, joinPath(rulesDir(at.name), name))
			}
		}
		return nil
	})
	if err != nil && (f.ctx.Err() != nil || in.parent == nil) {
		return nil, err
	}
	for _, link := range links {
		if info, err := f.fsys.Info(link); err == nil && info.Mode.IsRegular() {
			found = append(found, link)
		}
	}
	f.add(found, err != nil)
	return below, nil
}

// enters reports whether a directory can contain a match, and is no directory of
// dependencies. enters counts the directories of dependencies. A glob that begins with
// the path of a directory names the directory, so enters accepts the directory.
func (f *finder) enters(d *reader, at *searched, name string) bool {
	switch {
	case f.depth > 0 && at.depth+1 >= f.depth:
		return false
	case at.depth < len(f.base):
		return f.base[at.depth] == name
	case d.skips(name):
		d.dependencies.Add(1)
		return false
	}
	return true
}

// add adds the matches of a directory. With a limit, add keeps the first matches in
// path order.
func (f *finder) add(found []string, broken bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if broken {
		f.skipped++
	}
	f.total += len(found)
	f.files = append(f.files, found...)
	if f.limit > 0 && len(f.files)/2 >= f.limit {
		slices.SortFunc(f.files, comparePaths)
		clear(f.files[f.limit:])
		f.files = f.files[:f.limit]
	}
}

// comparePaths compares paths of files in path order.
func comparePaths(a, b string) int {
	for {
		x, afterX, dirX := strings.Cut(a, "/")
		y, afterY, dirY := strings.Cut(b, "/")
		switch {
		case dirX && !dirY:
			return -1
		case dirY && !dirX:
			return 1
		case x != y:
			return names.Compare(x, y)
		case !dirX:
			return 0
		}
		a, b = afterX, afterY
	}
}
