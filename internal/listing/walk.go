package listing

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/ignore"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// A walk visits directories level by level, and the directories of a level in
// parallel. The walk opens each directory from its parent, and never through a link, so
// a moved or replaced directory cannot lead the walk to another place.
//
// A walk keeps at most maxHeld directories open. To visit a directory whose parent is
// closed, the walk reopens the parent from the nearest open ancestor. In a level of long
// branches, the reopened directories can outnumber the directories of the level. The
// walk then visits one directory of a deeper level early, while its parent is open, for
// each further reopening. Therefore the number of reopenings is proportional to the
// number of visited directories, at any depth.
type walk[T any] struct {
	top     *directory[T]
	at      location // of top
	options Options
	visit   visitFunc[T]

	visited  atomic.Int64 // directories
	reopened atomic.Int64 // number of reopenings

	mu    sync.Mutex
	held  []*directory[T] // the open directories besides top
	clock int             // number of calls of hold
}

// A directory is a directory to visit. T is the type of the data that a visitFunc keeps.
type directory[T any] struct {
	element string // its name in parent
	parent  *directory[T]
	depth   int           // 0 for the top
	rules   *ignore.Rules // after the visit: of the .gitignore files from the root down to the directory
	visited bool
	below   []*directory[T] // after the visit: the subdirectories to visit
	ahead   *reader         // the reader of an early visit; nil without an early visit

	// Guarded by the walk's mu.
	dir     *confine.Dir  // nil while closed
	users   int           // goroutines that open directories in dir
	used    int           // the walk's clock at the last use
	above   *directory[T] // scratch variable of evict
	waiting int           // number of unvisited directories in below

	data T
}

const (
	maxHeld  = 64 // directories that a walk keeps open
	nearHeld = 32 // levels above a directory that stay open
)

// A visitFunc visits a directory, and returns the subdirectories to visit. If the
// directory cannot be opened, dir is nil and err is the reason. An error of the visitFunc
// ends the walk.
//
// The reader d counts omitted entries. A directory visited early has its own reader.
type visitFunc[T any] func(d *reader, f *directory[T], at location, dir *confine.Dir, err error) ([]*directory[T], error)

func newWalk[T any](d *reader, dir *confine.Dir, at location, visit visitFunc[T]) *walk[T] {
	return &walk[T]{top: &directory[T]{dir: dir}, at: at, options: d.Options, visit: visit}
}

// levels visits the top, then the subdirectories of the top, and so on. After each level,
// levels calls settle for the next level.
func (w *walk[T]) levels(ctx context.Context, d *reader, settle func(level []*directory[T]) ([]*directory[T], error)) error {
	defer w.closeAll()
	for level := []*directory[T]{w.top}; len(level) > 0; {
		err := inParallel(ctx, len(level), func(i int) error {
			f := level[i]
			if f.visited {
				d.add(f.ahead)
				f.ahead = nil
				return nil
			}
			if err := w.enter(d, f); err != nil {
				return err
			}
			return w.goAhead(ctx, f)
		})
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

// goAhead visits directories below f early, depth first, as long as the number of
// reopenings exceeds the number of visits.
func (w *walk[T]) goAhead(ctx context.Context, f *directory[T]) error {
	pending := slices.Clone(f.below)
	slices.Reverse(pending)
	for len(pending) > 0 && w.reopened.Load() > w.visited.Load() {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		next.ahead = &reader{Options: w.options}
		if err := w.enter(next.ahead, next); err != nil {
			return err
		}
		for _, child := range slices.Backward(next.below) {
			pending = append(pending, child)
		}
	}
	return nil
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
func (w *walk[T]) enter(d *reader, f *directory[T]) error {
	dir, err := f.dir, error(nil)
	if f != w.top {
		dir, err = w.open(f)
	}
	w.visited.Add(1)
	below, err := w.visit(d, f, w.location(f), dir, err)
	f.visited, f.below = true, below
	switch {
	case dir == nil || f == w.top:
	case err == nil && len(below) > 0:
		w.mu.Lock()
		defer w.mu.Unlock()
		f.waiting = len(below)
		if len(w.held) < maxHeld || f.ahead != nil {
			w.hold(f, dir)
			break
		}
		fallthrough
	default:
		dir.Close()
	}
	return err
}

// open opens a directory for a visit.
func (w *walk[T]) open(f *directory[T]) (*confine.Dir, error) {
	parent, err := w.acquire(f.parent)
	if err != nil {
		return nil, err
	}
	dir, err := parent.OpenDir(f.element)
	w.mu.Lock()
	defer w.mu.Unlock()
	f.parent.users--
	if f.parent.waiting--; f.parent.waiting == 0 && f.parent.users == 0 && f.parent != w.top {
		w.close(f.parent)
	}
	return dir, err
}

// acquire returns the open directory of f, and reopens a closed directory. The caller must
// call release.
func (w *walk[T]) acquire(f *directory[T]) (*confine.Dir, error) {
	w.mu.Lock()
	dir := f.dir
	if dir != nil {
		f.users++
		f.used = w.clock
	}
	w.mu.Unlock()
	if dir != nil {
		return dir, nil
	}
	parent, err := w.acquire(f.parent)
	if err != nil {
		return nil, err
	}
	dir, err = parent.OpenDir(f.element)
	w.release(f.parent)
	if err != nil {
		return nil, err
	}
	w.reopened.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.dir == nil {
		w.hold(f, dir)
	} else { // another goroutine has reopened the directory
		dir.Close()
	}
	f.users++
	return f.dir, nil
}

func (w *walk[T]) release(f *directory[T]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f.users--
}

// hold keeps a directory open. If too many directories are open, hold closes another
// directory.
func (w *walk[T]) hold(f *directory[T], dir *confine.Dir) {
	if len(w.held) >= maxHeld {
		w.evict(f)
	}
	w.clock++
	f.dir, f.used = dir, w.clock
	w.held = append(w.held, f)
}

// evict closes a directory that a walk at f probably does not need soon: the least
// recently used directory that is not an ancestor of f, or else an ancestor of f. The
// nearest ancestors and further ancestors at regular distances stay open. On the way back
// up a long branch, the walk therefore reopens the branch in parts, and each part once.
func (w *walk[T]) evict(f *directory[T]) {
	for g := f.parent; g != nil; g = g.parent {
		g.above = f
	}
	var victim *directory[T]
	least := 0
	for _, g := range w.held {
		if g.users > 0 {
			continue
		}
		value := g.used - w.clock
		if g.above == f {
			value = 1 + bits.TrailingZeros(uint(g.depth))
			if f.depth-g.depth <= nearHeld {
				value = maxHeld + g.depth
			}
		}
		if victim == nil || value < least {
			victim, least = g, value
		}
	}
	if victim != nil {
		w.close(victim)
	}
}

// close closes a held directory without users.
func (w *walk[T]) close(f *directory[T]) {
	if f.dir == nil {
		return
	}
	f.dir.Close()
	f.dir = nil
	i := slices.Index(w.held, f)
	w.held = slices.Delete(w.held, i, i+1)
}

func (w *walk[T]) closeAll() {
	for _, f := range w.held {
		f.dir.Close()
	}
	w.held = nil
}

// inParallel is [parallel.Do] on a suitable number of goroutines.
func inParallel(ctx context.Context, n int, do func(i int) error) error {
	return parallel.Do(ctx, statWorkers(), n, do)
}
