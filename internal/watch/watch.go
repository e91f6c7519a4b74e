// Package watch reports changes of directories: a Watch of whole directories to the scans of an
// index, and an Observer of single files to other calls. A Follower calls a function after each
// burst of reports.
package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/toolshelf-go/toolshelf/internal/mounts"
	"github.com/toolshelf-go/toolshelf/internal/paths"
)

// A Watch reports whether the files of layers may have changed since the last scan began.
// The Watch reports a possible change, and the next call scans, in these cases:
//
//   - after each event in a watched directory, and after each error, such as an
//     overflow of the queue or a full watch table;
//   - if the last scan followed a link, because the directory of the link has no
//     event for a change of the target;
//   - after a mount or an unmount at the directory of a layer, above or below, because
//     a mount has no event in the directories;
//   - if the path of a layer no longer leads to the directory that the last scan
//     read, as after a rename of a directory above.
//
// A nil Watch watches nothing, and reports no change.
type Watch struct {
	routes []route           // none in an Observer
	real   map[string]string // the paths of the routes without links; only scans use the field, one after the other
	dirty  atomic.Bool
	times  atomic.Uint64  // number of touches
	report func()         // called after dirty was set
	unwait func()         // ends the watch of the mount table
	done   sync.WaitGroup // the goroutines of listen

	mu        sync.Mutex
	watcher   *watcher
	scanning  bool
	unwatched bool            // the last scan found something that cannot be watched
	routed    [][]os.FileInfo // the routes at the beginning of the last scan

	retired sync.WaitGroup // the previous watcher, until closed
}

// A watcher watches directories that have kept their paths since they were
// added. A rename separates the path of a watch from the directory, and the
// effect of adding or removing the path then differs by platform. Therefore each
// path is added once, and no watch is removed or moved before close. If a watched
// path may name another directory, the watcher is stale, and the next scan adds
// all paths to a new watcher.
//
// The system has one watch for a directory, and the events have the path that was added first.
// Layers may reach a directory by several paths. Therefore each path is added without links.
type watcher struct {
	events *fsnotify.Watcher
	end    func()        // removes all watches, and then closes events
	closed chan struct{} // closed after end

	// Guarded by Watch.mu.
	stale   bool
	added   map[string]*addition // by path
	watched int                  // number of added paths with events
	counted int                  // watched at the end of the last scan
	shared  bool                 // a directory has several paths without links, as with a bind mount; every event is relevant
}

// An addition is the state of a path in a watcher.
type addition struct {
	whole   bool // all entries of the directory are relevant, not only the entries on a route
	watched bool // the system has events for the path

	names map[string]bool // entries that an Observer wants, in lower case; true if the entry is relevant only as a directory or a link
}

// maxClose is the longest time that close waits.
const maxClose = 5 * time.Second

// newWatcher returns a watcher without paths. On Linux, fsnotify
// closes the descriptor before the goroutine that handles the events ends. If the
// goroutine then handles the move of a watched directory, the goroutine removes
// the watch by the number of the closed descriptor. If another inotify instance of
// the process has received the same number, the other instance loses a watch and
// reports no error. fsnotify ignores the events of removed watches.
//
// Remove panics for a path that was added to fsnotify before and after a move to
// the path. Therefore method add adds each path once.
func newWatcher(events *fsnotify.Watcher) *watcher {
	return &watcher{events: events, added: make(map[string]*addition), closed: make(chan struct{}), end: func() {
		for _, path := range events.WatchList() {
			_ = events.Remove(path) // fails if the directory has vanished
		}
		events.Close() // takes about 10 ms on Linux
	}}
}

// close ends the watcher, and afterwards listen. On Windows, the Close of fsnotify may never
// return: if fsnotify sends an error while Close begins, fsnotify can drop the request of Close
// (sendError of version 1.10.1 of 2026-05-04, and of the main branch of 2026-05-07). A goroutine, a
// thread and a handle of the process then remain.
func (w *watcher) close() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.end()
	}()
	select {
	case <-ended:
	case <-time.After(maxClose):
	}
	close(w.closed)
}

// A Dir is the path of a layer's directory, and of the top of its filesystem.
type Dir struct{ Path, Top string }

// A route is the path of a layer's directory and of each directory above,
// nearest first.
type route struct {
	paths []string
	top   int // the first of paths, after the layer's own, that is not below the layer's filesystem
}

func newRoute(d Dir) route {
	r := route{top: 1}
	for path := d.Path; ; path = filepath.Dir(path) {
		r.paths = append(r.paths, path)
		if path == d.Top {
			r.top = max(r.top, len(r.paths)-1)
		}
		if path == filepath.Dir(path) {
			return r
		}
	}
}

// stat describes the current directories of a route, with nil for a missing
// directory. The last element is the nearest existing directory from top on.
func (r route) stat() []os.FileInfo {
	var infos []os.FileInfo
	for i, path := range r.paths {
		info := describe(path)
		infos = append(infos, info)
		if info != nil && i >= r.top {
			break
		}
	}
	return infos
}

// describe returns the metadata of a file, of a link without a target, or nil. A missing directory
// and a link that leads nowhere have different errors.
func describe(path string) os.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		info, err = os.Lstat(path)
	}
	if err != nil {
		return nil
	}
	return info
}

// statRoutes describes all routes.
func (w *Watch) statRoutes() [][]os.FileInfo {
	infos := make([][]os.FileInfo, len(w.routes))
	for i, r := range w.routes {
		infos[i] = r.stat()
	}
	return infos
}

// sameRoutes reports whether routes name the same directories.
func sameRoutes(a, b [][]os.FileInfo) bool {
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return false
		}
		for j := range a[i] {
			if !sameDir(a[i][j], b[i][j]) {
				return false
			}
		}
	}
	return true
}

// sameDir is os.SameFile for directories that may be missing.
func sameDir(a, b os.FileInfo) bool {
	return (a == nil) == (b == nil) && (a == nil || os.SameFile(a, b))
}

// New returns a Watch of the directories of layers. After each change, the Watch calls report. The
// first scan has to begin with Begin. The error is the error of the system.
func New(dirs []Dir, report func()) (*Watch, error) {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &Watch{report: report}
	for _, d := range dirs {
		w.routes = append(w.routes, newRoute(d))
	}
	w.start(events)
	w.dirty.Store(true)
	w.unwait = mounts.Watch(w.dirs, w.remounted)
	return w, nil
}

// dirs returns the directories of the layers, free of links.
func (w *Watch) dirs() []string {
	dirs := make([]string, len(w.routes))
	for i, r := range w.routes {
		dirs[i] = paths.Real(r.paths[0])
	}
	return dirs
}

// remounted is called after a mount or an unmount. Each watched path may name another
// directory now.
func (w *Watch) remounted() {
	w.mu.Lock()
	w.watcher.stale = true
	w.mu.Unlock()
	w.touch()
}

// start makes a watcher of events and installs the watcher as the current
// watcher.
func (w *Watch) start(events *fsnotify.Watcher) {
	current := newWatcher(events)
	w.mu.Lock()
	w.watcher = current
	w.mu.Unlock()
	w.done.Go(func() { w.listen(current) })
}

// listen turns events into touches until the watcher is closed. The close of fsnotify needs a
// reader of the errors.
func (w *Watch) listen(from *watcher) {
	events, errs := from.events.Events, from.events.Errors
	for {
		select {
		case <-from.closed:
			return
		case e, ok := <-events:
			if !ok {
				return
			}
			if w.relevant(from, e) {
				w.touch()
			}
		case _, ok := <-errs:
			if !ok {
				return
			}
			if w.relevant(from, fsnotify.Event{}) {
				w.touch()
			}
		}
	}
}

// relevant reports whether an event may concern a file or directory that a scan
// reads. If a watched path may name another directory now, relevant marks the
// watcher as stale. An event without a name may concern anything.
func (w *Watch) relevant(from *watcher, e fsnotify.Event) bool {
	w.mu.Lock()
	if from != w.watcher { // the scan that replaced the watcher reads all directories
		w.mu.Unlock()
		return false
	}
	_, watched := from.added[e.Name]
	if e.Name == "" || watched && e.Op&^(fsnotify.Write|fsnotify.Chmod) != 0 {
		from.stale = true
	}
	dir := from.added[filepath.Dir(e.Name)]
	unrelated := dir != nil && !dir.whole && !watched && !w.scanning && !from.shared
	onlyDir := false
	if unrelated {
		var wanted bool
		onlyDir, wanted = dir.wants(filepath.Base(e.Name))
		unrelated = !wanted
	}
	routed := w.routed
	w.mu.Unlock()
	unrelated = unrelated || onlyDir && !dirOrLink(e.Name)
	return !unrelated || !sameRoutes(routed, w.statRoutes())
}

// touch records a change and wakes the Follower.
func (w *Watch) touch() {
	w.dirty.Store(true)
	w.times.Add(1)
	w.report()
}

// Begin is called before a scan reads a file or directory. Begin watches
// the directories above each layer, because only these have an event when the
// layer's directory is created or removed. The directories begin at the top of
// the layer's filesystem or, if the top is missing, at the nearest existing
// directory above.
func (w *Watch) Begin() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.scanning, w.unwatched = true, false
	w.dirty.Store(false) // Clean reads dirty, and then scanning
	w.mu.Unlock()
	routed := w.statRoutes()
	w.mu.Lock()
	stale := w.watcher.stale || w.routed != nil && !sameRoutes(w.routed, routed)
	w.routed = routed
	w.mu.Unlock()
	if stale {
		w.replaceWatcher()
	}
	w.real = make(map[string]string)
	for i, r := range w.routes {
		for j, info := range slices.Backward(routed[i]) {
			if info == nil {
				continue
			}
			real := paths.Real(r.paths[j])
			w.real[r.paths[j]] = real
			if j > 0 {
				_ = w.Add(real, false) // Clean stats the layer's directory in any case
			}
		}
	}
	if !sameRoutes(routed, w.statRoutes()) {
		w.touch() // a directory was created or removed before its parent was watched
	}
}

// replaceWatcher installs a new watcher. If the system has no watcher left, the
// old watcher stays stale, and clean trusts no snapshot.
func (w *Watch) replaceWatcher() {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.watcher.stale, w.unwatched = true, true
		return
	}
	before := w.watcher
	w.start(events)
	w.retired.Wait()
	w.retired.Go(before.close)
}

// Add watches a directory, unless the watcher already does. add records the path
// before the system has events for the path.
func (w *Watch) Add(path string, whole bool) error {
	w.mu.Lock()
	current := w.watcher
	a := current.added[path]
	if a == nil {
		a = new(addition)
		current.added[path] = a
	}
	a.whole = a.whole || whole
	watched := a.watched
	w.mu.Unlock()
	if watched {
		return nil
	}
	if err := current.events.Add(path); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	a.watched = true
	current.watched++
	return nil
}

// Visit watches a directory that a scan is about to read. The watch begins
// before the read. Therefore the read finds each change that has no event. A missing directory of a
// layer needs no watch, because clean stats the directory.
func (w *Watch) Visit(path string) {
	if w == nil {
		return
	}
	err := w.Add(w.withoutLinks(path), true)
	missing := errors.Is(err, fs.ErrNotExist) && slices.ContainsFunc(w.routes, func(r route) bool { return r.paths[0] == path })
	if err != nil && !missing {
		w.Unwatched()
	}
}

// withoutLinks returns the path of a directory of a layer without links. A scan that follows a link
// below the layer calls Unwatched.
func (w *Watch) withoutLinks(path string) string {
	for dir := path; ; dir = filepath.Dir(dir) {
		switch real, ok := w.real[dir]; {
		case ok && real != dir:
			return filepath.Join(real, path[len(dir):])
		case ok || dir == filepath.Dir(dir):
			return path
		}
	}
}

// Unwatched records that the scan found a file or directory without events.
// Then each call scans.
func (w *Watch) Unwatched() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unwatched = true
}

// End is called after a scan, when the snapshot is in place. After a failed
// scan, clean does not trust the previous snapshot. A canceled scan has reported
// its changes to no caller. Therefore End requests another scan.
func (w *Watch) End(err error) {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.scanning = false
	w.unwatched = w.unwatched || err != nil
	if current := w.watcher; current.counted != current.watched {
		current.counted = current.watched
		current.shared = len(current.events.WatchList()) < current.watched
	}
	w.mu.Unlock()
	if errors.Is(err, context.Canceled) {
		w.touch()
	}
}

// Quiet reports whether the last snapshot is still valid if each route leads to the same
// directories.
func (w *Watch) Quiet() bool {
	if w == nil {
		return true
	}
	if w.dirty.Load() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.unwatched && !w.scanning
}

// Clean reports whether the last snapshot is still valid.
func (w *Watch) Clean() bool {
	if w == nil || !w.Quiet() {
		return w == nil
	}
	w.mu.Lock()
	routed := w.routed
	w.mu.Unlock()
	for i, r := range w.routes {
		if !sameDir(describe(r.paths[0]), routed[i][0]) {
			return false
		}
	}
	return true
}

// Changed reports whether the next scan finds a change.
func (w *Watch) Changed() bool { return w != nil && w.dirty.Load() }

// Close ends the watch. No scan may be under way: a scan that adds a directory
// to a closed watcher waits forever on some platforms.
func (w *Watch) Close() {
	if w == nil {
		return
	}
	w.unwait()
	w.watcher.close()
	w.retired.Wait()
	w.done.Wait()
}
