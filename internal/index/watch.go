package index

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A burst of changes, such as a checkout of another branch, is taken as one:
// it ends when nothing has happened for quiet, or after burst at the latest.
const (
	quiet = 50 * time.Millisecond
	burst = 500 * time.Millisecond
)

// A watch knows whether anything may have changed since the last scan began.
// In doubt it says so, and the index looks for itself:
//
//   - after every event in a watched folder, and every error, such as an
//     overflow of the queue or a full watch table;
//   - where a file or folder is reached through a link, since what happens to
//     the target is not seen from the folder of the link;
//   - where a layer's path names another folder than the one that was scanned,
//     as after a rename of a folder above, or none.
type watch struct {
	events *fsnotify.Watcher
	dirty  atomic.Bool
	wake   chan struct{} // has a token after dirty was set
	cancel context.CancelFunc
	done   sync.WaitGroup

	// Of the scan under way, and then of the last one.
	mu       sync.Mutex
	scanning bool
	blind    bool          // something could not be watched
	visited  []string      // the folders watched, by full path
	layers   []os.FileInfo // of the layers' folders; nil for one that is missing
}

// startWatch begins to watch, and to scan whenever a burst of changes has ended.
func (x *Index) startWatch() error {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{events: events, wake: make(chan struct{}, 1), cancel: cancel}
	w.touch()
	x.watch = w
	w.done.Go(w.listen)
	w.done.Go(func() { w.follow(ctx, x) })
	return nil
}

// listen turns events into touches until the watcher is closed.
func (w *watch) listen() {
	events, errors := w.events.Events, w.events.Errors
	for events != nil && errors != nil {
		select {
		case _, ok := <-events:
			if !ok {
				return
			}
		case _, ok := <-errors:
			if !ok {
				return
			}
		}
		w.touch()
	}
}

func (w *watch) touch() {
	w.dirty.Store(true)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// follow scans after each burst of changes.
func (w *watch) follow(ctx context.Context, x *Index) {
	for {
		select {
		case <-w.wake:
		case <-ctx.Done():
			return
		}
		end := time.NewTimer(burst)
		for settled := false; !settled; {
			select {
			case <-w.wake:
			case <-time.After(quiet):
				settled = true
			case <-end.C:
				settled = true
			case <-ctx.Done():
				end.Stop()
				return
			}
		}
		end.Stop()
		if w.dirty.Load() {
			_, _ = x.flight.wait(ctx) // an error is found again by the next call
		}
	}
}

// begin is called before a scan looks at anything.
func (w *watch) begin(layers int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirty.Store(false)
	w.scanning, w.blind, w.visited, w.layers = true, false, nil, make([]os.FileInfo, layers)
}

// layer notes which folder a layer's path names, and watches the folder above,
// which tells when it comes and goes. It is called before it is opened.
func (w *watch) layer(i int, path string) {
	above := filepath.Dir(path)
	_ = w.events.Add(above) // a call looks for the folder itself in any case
	info, err := os.Stat(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.visited = append(w.visited, above)
	if err == nil {
		w.layers[i] = info
	}
}

// visit watches a folder. It is called before the folder is read, so that no
// change falls between.
func (w *watch) visit(path string) {
	err := w.events.Add(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.visited = append(w.visited, path)
	if err != nil {
		w.blind = true
	}
}

// throughLink notes that the scan went where events do not tell of.
func (w *watch) throughLink() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blind = true
}

// end is called after a scan, once what it found stands. What failed is not
// relied upon.
func (w *watch) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scanning = false
	if err != nil {
		w.blind = true
		return
	}
	slices.Sort(w.visited)
	for _, path := range w.events.WatchList() {
		if _, visited := slices.BinarySearch(w.visited, path); !visited {
			w.events.Remove(path) // gone already, or moved out of the layer
		}
	}
}

// clean reports whether the last snapshot still stands.
func (w *watch) clean(x *Index) bool {
	if w.dirty.Load() {
		return false
	}
	w.mu.Lock()
	blind, layers := w.blind || w.scanning, w.layers
	w.mu.Unlock()
	if blind {
		return false
	}
	for i, l := range x.config.Layers {
		if l.Fixed {
			continue
		}
		info, err := os.Stat(l.FS.Path(l.Dir))
		if (err == nil) != (layers[i] != nil) || err == nil && !os.SameFile(info, layers[i]) {
			return false
		}
	}
	return true
}

func (w *watch) close() {
	w.cancel()
	w.events.Close()
	w.done.Wait()
}
