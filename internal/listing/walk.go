package listing

import (
	"context"
	"slices"
	"sync"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/ignore"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// A walk visits directories level by level, and the directories of a level in
// parallel. The walk opens each directory from its parent, or else by its path from the top, and
// never through a link, so a replaced directory cannot lead the walk out of the top.
//
// A walk keeps at most maxHeld directories of a level open for the next level. The walk opens the
// other directories again, each once, for all subdirectories of the directory.
type walk[T any] struct {
	top   *directory[T]
	at    location // of top
	visit visitFunc[T]

	mu   sync.Mutex
	held []*directory[T] // the open directories besides top
}

// A directory is a directory to visit. T is the type of the data that a visitFunc keeps.
type directory[T any] struct {
	element string // its name in parent
	parent  *directory[T]
	depth   int             // 0 for the top
	rules   *ignore.Rules   // after the visit: of the .gitignore files down to the directory
	below   []*directory[T] // after the visit: the subdirectories to visit

	// Guarded by the walk's mu.
	dir   *confine.Dir // nil while closed
	users int          // goroutines that use dir, and subdirectories of the level

	data T
}

// maxHeld limits the visited directories that a walk keeps open for their subdirectories. Each
// goroutine can have another directory open, which acquire opens by the whole path: on systems
// without openat2, the calls for many long chains grow with their depth.
const maxHeld = 64

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
	defer w.close(func(*directory[T]) bool { return true })
	for level := []*directory[T]{w.top}; len(level) > 0; {
		for _, f := range level {
			if f.parent != nil {
				f.parent.users++
			}
		}
		w.close(func(f *directory[T]) bool { return f.users == 0 })
		err := inParallel(ctx, len(level), func(i int) error { return w.enter(level[i]) })
		if err == nil {
			level, err = settle(level)
		}
		if err != nil {
			return err
		}
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
	if f.parent == nil {
		return ""
	}
	length := -1
	for g := f; g.parent != nil; g = g.parent {
		length += 1 + len(g.element)
	}
	buf := make([]byte, length)
	for g := f; ; g = g.parent {
		length -= copy(buf[length-len(g.element):], g.element)
		if length == 0 {
			return string(buf)
		}
		length--
		buf[length] = '/'
	}
}

// enter opens and visits a directory. If the walk may hold the directory, enter keeps the
// directory open for its subdirectories.
func (w *walk[T]) enter(f *directory[T]) error {
	dir, err := f.dir, error(nil)
	if f != w.top {
		var parent *confine.Dir
		if parent, err = w.acquire(f.parent); err == nil {
			dir, err = parent.OpenDir(f.element)
		}
		w.release(f.parent, 2) // the goroutine, and the subdirectory of the level
	}
	f.below, err = w.visit(f, w.location(f), dir, err)
	if dir == nil || f == w.top {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && len(f.below) > 0 && len(w.held) < maxHeld {
		f.dir, w.held = dir, append(w.held, f)
	} else {
		dir.Close()
	}
	return err
}

// acquire returns the open directory of f, and opens a closed directory. The caller must call
// release, also after an error.
func (w *walk[T]) acquire(f *directory[T]) (*confine.Dir, error) {
	w.mu.Lock()
	f.users++
	dir := f.dir
	w.mu.Unlock()
	if dir != nil {
		return dir, nil
	}
	dir, err := w.top.dir.OpenBelow(f.path())
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.dir == nil {
		f.dir, w.held = dir, append(w.held, f)
	} else { // another goroutine has opened the directory
		dir.Close()
	}
	return f.dir, nil
}

// release ends a number of uses of a directory, and closes a directory without users.
func (w *walk[T]) release(f *directory[T], uses int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.users -= uses; f.users == 0 {
		w.close(func(g *directory[T]) bool { return f == g })
	}
}

// close closes the held directories for which needless returns true.
func (w *walk[T]) close(needless func(*directory[T]) bool) {
	w.held = slices.DeleteFunc(w.held, func(f *directory[T]) bool {
		if !needless(f) {
			return false
		}
		f.dir.Close()
		f.dir = nil
		return true
	})
}

// inParallel is [parallel.Do] on a suitable number of goroutines.
func inParallel(ctx context.Context, n int, do func(i int) error) error {
	return parallel.Do(ctx, statWorkers(), n, do)
}
