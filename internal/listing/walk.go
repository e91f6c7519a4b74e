package listing

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/ignore"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// A walk visits directories level by level, and the directories of a level in
// parallel. The walk opens each directory from its parent, or else by its path from the top, and
// never through a link, so a replaced directory cannot lead the walk out of the top.
//
// A walk keeps at most maxHeld directories of a level open for the next level.
type walk[T any] struct {
	top   *directory[T]
	at    location // of top
	visit visitFunc[T]
	held  atomic.Int64 // number of directories of the level to keep open, also beyond maxHeld
}

// A directory is a directory to visit. T is the type of the data that a visitFunc keeps.
type directory[T any] struct {
	element string // its name in parent
	parent  *directory[T]
	depth   int             // 0 for the top
	rules   *ignore.Rules   // after the visit: of the .gitignore files down to the directory
	below   []*directory[T] // after the visit: the subdirectories to visit
	dir     *confine.Dir    // after the visit: nil unless the walk keeps the directory open
	data    T
}

// maxHeld limits the directories of a level that a walk keeps open for their subdirectories, and
// two levels can be open. The walk opens the subdirectories of the other directories by their paths
// from the top: on systems without openat2, the calls for many long paths grow with their depth.
const maxHeld = 32

// A visitFunc visits a directory, and returns the subdirectories to visit. If the
// directory cannot be opened, dir is nil and err is the reason. An error of the visitFunc
// ends the walk.
type visitFunc[T any] func(f *directory[T], at location, dir *confine.Dir, err error) ([]*directory[T], error)

func newWalk[T any](dir *confine.Dir, at location, visit visitFunc[T]) *walk[T] {
	return &walk[T]{top: &directory[T]{dir: dir}, at: at, visit: visit}
}

// levels visits the top, then the subdirectories of the top, and so on. After each level,
// levels calls settle for the next level.
func (w *walk[T]) levels(ctx context.Context,
	settle func(level []*directory[T]) ([]*directory[T], error)) error {
	var above []*directory[T]
	level := []*directory[T]{w.top}
	defer func() { w.close(slices.Concat(above, level)) }()
	for len(level) > 0 {
		w.held.Store(0)
		if err := inParallel(ctx, len(level), func(i int) error { return w.enter(level[i]) }); err != nil {
			return err
		}
		next, err := settle(level)
		if err != nil {
			return err
		}
		w.close(above)
		above, level = level, next
	}
	return nil
}

// below returns the level below a level.
func below[T any](level []*directory[T]) []*directory[T] {
	var next []*directory[T]
	for _, f := range level {
		next = append(next, f.below...)
		f.below = nil
	}
	return next
}

// in returns the subdirectory of f with the name element.
func (f *directory[T]) in(element string) *directory[T] {
	return &directory[T]{element: element, parent: f, depth: f.depth + 1}
}

// location returns the location of a directory. A directory does not store its path, because
// the paths of all directories of a deep level could need too much memory.
func (w *walk[T]) location(f *directory[T]) location {
	if f.parent == nil {
		return w.at
	}
	at := location{path: f.path(), rules: f.parent.rules}
	if at.name = at.path; w.at.name != "." {
		at.name = w.at.name + "/" + at.path
	}
	return at
}

// path returns the path of a directory from the top.
func (f *directory[T]) path() string {
	elements := make([]string, f.depth)
	for g := f; g.parent != nil; g = g.parent {
		elements[g.depth-1] = g.element
	}
	return strings.Join(elements, "/")
}

// enter opens and visits a directory. If the walk may hold the directory, enter keeps the
// directory open for its subdirectories.
func (w *walk[T]) enter(f *directory[T]) error {
	at := w.location(f)
	dir, err := w.open(f, at)
	f.below, err = w.visit(f, at, dir, err)
	switch {
	case dir == nil:
	case f == w.top, err == nil && len(f.below) > 0 && w.held.Add(1) <= maxHeld:
		f.dir = dir
	default:
		dir.Close()
	}
	return err
}

// open returns the top, or opens another directory. The walk never closes the top.
func (w *walk[T]) open(f *directory[T], at location) (*confine.Dir, error) {
	switch {
	case f == w.top:
		return f.dir, nil
	case f.parent.dir != nil:
		return f.parent.dir.OpenDir(f.element)
	}
	return w.top.dir.OpenBelow(at.path)
}

// close closes the open directories of a level.
func (w *walk[T]) close(level []*directory[T]) {
	for _, f := range level {
		if f.dir != nil && f != w.top {
			f.dir.Close()
			f.dir = nil
		}
	}
}

// inParallel is [parallel.Do] on a suitable number of goroutines.
func inParallel(ctx context.Context, n int, do func(i int) error) error {
	return parallel.Do(ctx, statWorkers(), n, do)
}
