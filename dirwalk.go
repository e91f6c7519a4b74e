package toolshelf

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/internal/confine"
)

// A walk visits folders level by level, those of a level in parallel. Each is
// opened from its parent, through no link, so that a folder that is moved or
// exchanged meanwhile leads nowhere else.
type walk struct {
	top  *folder
	mu   sync.Mutex
	held map[*folder]struct{} // besides top, those kept open for the folders in them
}

// A folder is one to visit.
type folder struct {
	place
	element string // its name in parent
	parent  *folder
	depth   int // 0 for the folder asked for
	dir     *confine.Dir
	waiting int // how many folders in it are yet to be opened

	// For a tree.
	node    *TreeNode
	entries int  // that the options leave in
	filled  bool // node has its children
}

// maxHeld bounds how many folders a walk keeps open. Those in others are
// reached from the top again, element by element.
const maxHeld = 64

func newWalk(dir *confine.Dir, at place) *walk {
	return &walk{top: &folder{place: at, dir: dir}, held: map[*folder]struct{}{}}
}

// release closes all but the top. Folders in those are opened from the top
// from now on.
func (w *walk) release() {
	for f := range w.held {
		f.dir.Close()
		f.dir = nil
	}
	clear(w.held)
}

// A visitor is called with each folder, and returns those in it to visit
// next. The dir is nil, and err is not, where a folder cannot be opened. An
// error that it returns ends the walk.
type visitor func(f *folder, dir *confine.Dir, err error) ([]*folder, error)

// levels visits the top, then the folders in it, and so on. After each level
// settle is called, alone, with what the visits of it have returned, and
// returns the next one.
func (w *walk) levels(ctx context.Context, visit visitor, settle func(level []*folder, below [][]*folder) ([]*folder, error)) error {
	defer w.release()
	for level := []*folder{w.top}; len(level) > 0; {
		below := make([][]*folder, len(level))
		err := inParallel(ctx, len(level), func(i int) (err error) {
			below[i], err = w.visit(level[i], visit)
			return err
		})
		if err == nil {
			level, err = settle(level, below)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// in returns the folder called element in f.
func (f *folder) in(element string) *folder {
	return &folder{place: f.below(element), element: element, parent: f, depth: f.depth + 1}
}

// visit opens a folder, visits it, and keeps it open if that spares opening
// it again.
func (w *walk) visit(f *folder, visit visitor) ([]*folder, error) {
	dir, err := w.open(f)
	below, err := visit(f, dir, err)
	if dir == nil || dir == w.top.dir {
		return below, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && len(below) > 0 && len(w.held) < maxHeld {
		f.dir, f.waiting = dir, len(below)
		w.held[f] = struct{}{}
	} else {
		dir.Close()
	}
	return below, err
}

// open opens a folder that the walk has come to.
func (w *walk) open(f *folder) (*confine.Dir, error) {
	switch {
	case f.parent == nil:
		return f.dir, nil
	case f.parent == w.top:
		return w.top.dir.OpenDir(f.element)
	case f.parent.dir == nil:
		return w.reopen(f)
	}
	dir, err := f.parent.dir.OpenDir(f.element)
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.parent.waiting--; f.parent.waiting == 0 {
		delete(w.held, f.parent)
		f.parent.dir.Close()
	}
	return dir, err
}

// reopen opens a folder by its path from the top.
func (w *walk) reopen(f *folder) (*confine.Dir, error) {
	dir := w.top.dir
	if f == w.top {
		return dir, nil
	}
	for element := range strings.SplitSeq(f.path, "/") {
		next, err := dir.OpenDir(element)
		if dir != w.top.dir {
			dir.Close()
		}
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// inParallel calls do with 0 to n-1, on a few goroutines, until one fails or
// the context ends.
func inParallel(ctx context.Context, n int, do func(i int) error) error {
	var (
		next   atomic.Int64
		failed atomic.Pointer[error]
		group  sync.WaitGroup
	)
	work := func() {
		for failed.Load() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			err := ctx.Err()
			if err == nil {
				err = do(i)
			}
			if err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		}
	}
	for range min(n, statWorkers()) - 1 {
		group.Go(work)
	}
	work()
	group.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
