package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fsnotify/fsnotify"

	"github.com/toolshelf-go/toolshelf/internal/mounts"
)

// The limits of an Observer. Linux before 5.11 has 8,192 watches for all programs of a user.
const (
	maxObserved = 2000   // watched directories
	maxWanted   = 64_000 // names in these directories
)

// An Observer tells whether files that calls have looked at may have changed since. A call looks at
// a few names in each directory, and a scan reads whole directories. An Observer watches
// directories on local disks of Linux: on other systems, the watch of a directory costs a
// descriptor for each entry. A nil Observer observes nothing. An Observer is safe for concurrent
// use.
type Observer struct {
	dirs    []string // mounts at these directories, above or below concern the calls
	changed func()
	watch   atomic.Pointer[Watch] // nil before the first Begin
	follow  *Follower

	mu     sync.Mutex // held while a directory is added, and by Close
	closed bool

	// Of the current watcher.
	table    mounts.Table // read after the watcher began; a change of the table that concerns dirs makes the watcher stale
	observed int          // watched directories
	wanted   int          // names
}

// NewObserver returns an Observer of calls that look at files below and above the given
// directories. The Observer calls changed on a goroutine of its own, once after the first Begin and
// after each burst of changes. The Observer has no watch before Begin.
func NewObserver(dirs []string, changed func()) *Observer {
	return &Observer{dirs: dirs, changed: changed, follow: NewFollower()}
}

// A Look is a call that looks at files. The call looks at a directory or a file after Dir or File.
// If the Observer cannot watch a directory, the Look has no Generation. A nil Look is a call
// without an Observer.
type Look struct {
	*Observer
	generation uint64
	failed     atomic.Bool // several goroutines of a scan may look
}

// Begin begins a Look.
func (o *Observer) Begin() *Look {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil
	}
	w := o.watch.Load()
	if w == nil {
		if !mounts.ReadTable().Local(string(filepath.Separator)) {
			return nil
		}
		events, err := fsnotify.NewWatcher()
		if err != nil {
			return nil
		}
		w = &Watch{report: o.follow.Report}
		w.start(events)
		w.unwait = mounts.Watch(func() []string { return o.dirs }, w.remounted)
		o.follow.Start(func(context.Context) { o.changed() })
		o.watch.Store(w)
	}
	look := &Look{Observer: o, generation: w.times.Load()}
	if w.isStale() {
		if w.replaceWatcher(); w.isStale() {
			return nil
		}
		o.table, o.observed, o.wanted = "", 0, 0
	}
	if o.table == "" {
		o.table = mounts.ReadTable()
	}
	if o.table == "" {
		return nil // without a free descriptor, for example
	}
	return look
}

// isStale reports whether the watcher is stale. The touch that invalidates all answers follows at
// once.
func (w *Watch) isStale() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watcher.stale
}

// Unchanged reports without a system call whether no change was reported since a Look with a
// generation.
func (o *Observer) Unchanged(generation uint64) bool {
	if o == nil {
		return false
	}
	w := o.watch.Load()
	return w != nil && w.times.Load() == generation
}

// Generation returns the number that Unchanged compares, unless a directory cannot be watched.
func (l *Look) Generation() (generation uint64, ok bool) {
	if l == nil || l.failed.Load() {
		return 0, false
	}
	return l.generation, true
}

// Fail removes the Generation, because the result of the call depends on a file without events,
// such as the target of a link.
func (l *Look) Fail() {
	if l != nil {
		l.failed.Store(true)
	}
}

// Dir watches a directory. A missing directory, and a file in its place, are watched by the name.
func (l *Look) Dir(dir string) { l.at(dir, "", false) }

// Whole watches a directory with all entries.
func (l *Look) Whole(dir string) { l.at(dir, "", true) }

// File watches the name of a file, which may be missing.
func (l *Look) File(file string) { l.at(filepath.Dir(file), filepath.Base(file), false) }

// Link fails unless the text of a link is the path of the target, because another link in the text
// can change later.
func (l *Look) Link(link, target string) {
	if l == nil || l.failed.Load() {
		return
	}
	text, err := os.Readlink(link)
	at := text
	if !filepath.IsAbs(text) {
		at = filepath.Join(filepath.Dir(link), text)
	}
	if err != nil || filepath.Clean(text) != text || at != target {
		l.Fail()
	}
}

// at watches a directory, with all entries or with a name.
func (l *Look) at(dir, name string, whole bool) {
	if l == nil || l.failed.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		l.Fail()
		return
	}
	exists, err := l.reach(dir)
	switch {
	case err != nil || !exists:
	case whole:
		err = l.watch.Load().Add(dir, true)
	case name != "":
		err = l.want(dir, name, false)
	}
	if err != nil {
		l.Fail()
	}
}

// The reasons why a directory is not watched.
var (
	errLimit  = errors.New("too many directories")
	errRemote = errors.New("not on a local disk")
	errLink   = errors.New("reached through a link")
)

// reach watches a directory after the directories above, so that each change of the path has an
// event.
func (o *Observer) reach(dir string) (exists bool, err error) {
	w := o.watch.Load()
	if w.isWatched(dir) {
		return true, nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if exists, err := o.reach(parent); !exists || err != nil {
			return false, err
		}
		if err := o.want(parent, filepath.Base(dir), true); err != nil {
			return false, err
		}
	}
	if !o.table.Local(dir) {
		return false, errRemote // a stat can wait
	}
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.Mode()&fs.ModeSymlink != 0:
		return false, errLink
	case !info.IsDir():
		return false, nil
	case o.observed == maxObserved:
		return false, errLimit
	}
	if err := w.Add(dir, false); err != nil {
		return false, err
	}
	o.observed++
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.watcher.events.WatchList(), dir) {
		w.watcher.added[dir].watched = false
		return false, errLink // the directory has another path too, as with a bind mount, and events have the other path
	}
	return true, nil
}

// want makes the events of an entry relevant. The events of a file are not relevant with onlyDir.
func (o *Observer) want(dir, name string, onlyDir bool) error {
	w := o.watch.Load()
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.watcher.added[dir]
	name = strings.ToLower(name) // some filesystems ignore the letter case
	before, known := a.names[name]
	switch {
	case known:
	case o.wanted == maxWanted:
		return errLimit
	default:
		o.wanted++
	}
	if a.names == nil {
		a.names = map[string]bool{}
	}
	a.names[name] = onlyDir && (before || !known)
	return nil
}

// isWatched reports whether the current watcher watches a directory.
func (w *Watch) isWatched(dir string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.watcher.added[dir]
	return a != nil && a.watched
}

// wants reports whether an Observer wants the events of an entry, perhaps only of a directory.
func (a *addition) wants(name string) (onlyDir, wanted bool) {
	onlyDir, wanted = a.names[strings.ToLower(name)]
	return onlyDir, wanted
}

// dirOrLink reports whether a file is a directory or a link.
func dirOrLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&(fs.ModeDir|fs.ModeSymlink) != 0
}

// Close ends the watch, and waits for changed.
func (o *Observer) Close() {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if w := o.watch.Load(); w != nil {
		o.follow.Stop()
		w.Close()
		o.follow.Wait()
	}
}
