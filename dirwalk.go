package toolshelf

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

// A walk visits directories level by level, the directories of a level in
// parallel. Each directory is opened from its parent, through no link. A
// directory that is moved or exchanged during the walk leads nowhere else.
//
// A walk keeps at most maxHeld directories open. To visit a directory whose
// parent is closed, the walk reopens the parent from the nearest ancestor that
// is open. In a level of long branches, a walk may reopen more directories than
// the level has. Then the walk visits directories below the level ahead of
// their turn, while their parents are open, one for each such reopening. So the
// number of reopenings is at most in proportion to the number of directories
// visited, at any depth.
type walk struct {
	top     *folder
	at      place // of top
	options dirOptions
	visit   visitor

	visited  atomic.Int64 // directories
	reopened atomic.Int64 // directories, each time

	mu    sync.Mutex
	held  []*folder // the open directories besides top
	clock int       // how many directories have been held
}

// A folder is a directory to visit.
type folder struct {
	element string // its name in parent
	parent  *folder
	depth   int           // 0 for the directory asked for
	rules   *ignore.Rules // of the .gitignore files down to here, after the visit
	visited bool
	below   []*folder  // the directories in it to visit, after the visit
	ahead   *dirReader // what has read it, if visited ahead of its turn

	// Guarded by the walk's mu.
	dir     *confine.Dir // nil while closed
	users   int          // goroutines that open directories in dir
	used    int          // the walk's clock at the last use
	above   *folder      // a directory below, see evict
	waiting int          // directories in below that are yet to be visited

	// For a tree.
	node    *TreeNode
	entries int  // that the options leave in
	filled  bool // node has its children
}

const (
	maxHeld  = 64 // directories that a walk keeps open
	nearHeld = 32 // levels above a directory that stay open
)

// A visitor is called with each directory, and returns the directories in it
// to visit. The dir is nil, and err is not, if the directory cannot be opened.
// An error that the visitor returns ends the walk.
//
// The reader d counts what it leaves out. For a directory that is visited
// ahead of its turn, d is a reader of its own.
type visitor func(d *dirReader, f *folder, at place, dir *confine.Dir, err error) ([]*folder, error)

func newWalk(d *dirReader, dir *confine.Dir, at place, visit visitor) *walk {
	return &walk{top: &folder{dir: dir}, at: at, options: d.dirOptions, visit: visit}
}

// levels visits the top, then the directories in it, and so on. After each
// level levels calls settle, which returns the next level.
func (w *walk) levels(ctx context.Context, d *dirReader, settle func(level []*folder) ([]*folder, error)) error {
	defer w.closeAll()
	for level := []*folder{w.top}; len(level) > 0; {
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

// below is the level below a level.
func below(level []*folder) []*folder {
	var next []*folder
	for _, f := range level {
		next = append(next, f.below...)
		f.below = nil
	}
	return next
}

// goAhead visits directories below f, depth first, as long as more directories
// have been reopened than visited.
func (w *walk) goAhead(ctx context.Context, f *folder) error {
	pending := slices.Clone(f.below)
	slices.Reverse(pending)
	for len(pending) > 0 && w.reopened.Load() > w.visited.Load() {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		next.ahead = &dirReader{dirOptions: w.options}
		if err := w.enter(next.ahead, next); err != nil {
			return err
		}
		for _, child := range slices.Backward(next.below) {
			pending = append(pending, child)
		}
	}
	return nil
}

// in returns the directory called element in f.
func (f *folder) in(element string) *folder {
	return &folder{element: element, parent: f, depth: f.depth + 1}
}

// place returns the place of a directory. A folder does not keep its path: the
// paths of all directories of a deep level could be too much to keep.
func (w *walk) place(f *folder) place {
	if f.parent == nil {
		return w.at
	}
	at := place{path: f.path(), rules: f.parent.rules}
	if at.name = at.path; w.at.name != "." {
		at.name = w.at.name + "/" + at.path
	}
	return at
}

// path is the path of a directory from the top.
func (f *folder) path() string {
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

// enter opens a directory, visits it, and keeps it open for the directories in
// it if there is room.
func (w *walk) enter(d *dirReader, f *folder) error {
	dir, err := f.dir, error(nil)
	if f != w.top {
		dir, err = w.open(f)
	}
	w.visited.Add(1)
	below, err := w.visit(d, f, w.place(f), dir, err)
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

// open opens a directory to visit it.
func (w *walk) open(f *folder) (*confine.Dir, error) {
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

// acquire returns an open directory, and reopens it if necessary. The caller
// must call release.
func (w *walk) acquire(f *folder) (*confine.Dir, error) {
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
	} else { // another goroutine was faster
		dir.Close()
	}
	f.users++
	return f.dir, nil
}

func (w *walk) release(f *folder) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f.users--
}

// hold keeps a directory open, and closes another one if there are too many.
func (w *walk) hold(f *folder, dir *confine.Dir) {
	if len(w.held) >= maxHeld {
		w.evict(f)
	}
	w.clock++
	f.dir, f.used = dir, w.clock
	w.held = append(w.held, f)
}

// evict closes a directory that the walk is not likely to need soon, given that
// the walk is at f: a directory that f is not in, the least recently used of
// them, or else an ancestor of f. Of the ancestors, the nearest ones and others
// at regular distances stay open. So the way back up a long branch reopens a
// part of the branch at a time, and each part once.
func (w *walk) evict(f *folder) {
	for g := f.parent; g != nil; g = g.parent {
		g.above = f
	}
	var victim *folder
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

// close closes a directory that is held and that no goroutine uses.
func (w *walk) close(f *folder) {
	if f.dir == nil {
		return
	}
	f.dir.Close()
	f.dir = nil
	i := slices.Index(w.held, f)
	w.held = slices.Delete(w.held, i, i+1)
}

func (w *walk) closeAll() {
	for _, f := range w.held {
		f.dir.Close()
	}
	w.held = nil
}

// inParallel calls do with 0 to n-1, on a few goroutines, until one fails or
// the context ends.
func inParallel(ctx context.Context, n int, do func(i int) error) error {
	return parallel.Do(ctx, statWorkers(), n, do)
}
