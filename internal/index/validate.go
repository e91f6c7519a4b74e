package index

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A LayerError reports the failure of a layer's own directory.
type LayerError struct {
	Layer  int // index in Config.Layers
	Err    error
	NoRoot bool // the root that contains the layer does not exist or is a file; see Layer.InRoot
}

func (e *LayerError) Error() string { return e.Err.Error() }

func (e *LayerError) Unwrap() error { return e.Err }

// A scanner adds the entries and the problems of a directory to the scan.
type scanner func(s *scan, dir *confine.Dir, dirPath string) error

// refresh validates the last snapshot for all callers that wait for the flight.
func (x *Index) refresh(ctx context.Context) (*Snapshot, error) {
	begin := freshness{feed: x.config.Feed.position()}
	if x.config.TTL > 0 {
		begin.at = x.config.Now()
	}
	x.watch.Begin()
	now, err := x.validate(ctx, begin)
	if err != nil {
		x.fresh.Store(nil)
	} else {
		begin.snapshot = now
		for i := range x.states {
			state := &x.states[i]
			if state.incomplete {
				begin.feed = 0 // the next call reads the rest
			}
			if retry := state.begin.retry; !retry.IsZero() && (begin.retry.IsZero() || retry.Before(begin.retry)) {
				begin.retry = retry
			}
		}
		x.fresh.Store(&begin)
	}
	x.watch.End(err)
	return now, err
}

// A scan of a store that does not answer leaves the touches of the feed pending. For the time
// retryAfter, calls use the last snapshot and do not ask the store again.
const retryAfter = time.Second

// A layerState is the result of the last scan of a layer. The next scan continues from
// the state, even if no snapshot contains the result.
type layerState struct {
	open   atomic.Pointer[confine.Dir] // see keepOpen
	listed atomic.Pointer[listed]      // see lookout.renames
	retry  atomic.Pointer[time.Time]   // freshness.retry of the last scan; nil if the store has answered

	// Only scans use the other fields, one after the other.
	files   *layerFiles       // the result of the last complete scan
	read    map[string]*Entry // what interrupted scans have read since, by path
	begin   freshness         // when the last complete scan began
	version string            // of the whole filesystem at the last complete scan; "" if the next scan must read the files again

	incomplete bool // the last complete scan could not read a file of a store that has answered, but the next scan may
}

// validate scans each layer, except the layers that cannot have changed. If a layer has
// changed, validate merges the layers into a new snapshot.
func (x *Index) validate(ctx context.Context, begin freshness) (*Snapshot, error) {
	last := x.last.Load()
	x.free.Store(sharedMemory)
	if last != nil {
		x.free.Add(-last.memory)
	}
	for i := range x.states {
		for _, e := range x.states[i].read {
			x.free.Add(-e.get().shared)
		}
	}
	var (
		layers   = make([]*layerFiles, len(x.config.Layers))
		missing  *LayerError
		rootless *LayerError
		present  bool
		same     = last != nil
	)
	for i := range layers {
		now, absent, err := x.update(ctx, i, begin)
		switch {
		case err != nil:
			return nil, err
		case absent == nil:
			present = true
		case absent.NoRoot:
			rootless = absent
		case missing == nil && !x.config.Layers[i].MayBeMissing:
			missing = absent
		}
		x.states[i].files, layers[i] = now, now
		same = same && now == last.layers[i]
	}
	next := last
	if !same {
		next = merge(&x.config, layers)
		if last != nil {
			next.Generation = last.Generation + 1
		}
		x.last.Store(next)
		if last != nil && x.config.Changed != nil {
			x.config.Changed(last, next)
		}
	}
	switch {
	case rootless != nil:
		return nil, rootless
	case !present && missing != nil:
		return next, missing
	}
	return next, nil
}

// update scans a layer, unless the layer cannot have changed. If the directory of the layer
// is missing, or is optional and cannot be read, absent is the reason, and the layer has no
// entries.
func (x *Index) update(ctx context.Context, layer int, begin freshness) (now *layerFiles, absent *LayerError, err error) {
	before, l := x.states[layer].files, &x.config.Layers[layer]
	unreadable := func(code problem.Code, message, suggestion string) []problem.Problem {
		return []problem.Problem{{Code: code, Severity: problem.Warning, Path: x.config.place(layer, l.Dir),
			Message: message, Suggestion: suggestion}}
	}
	if x.unchanged(layer, before, x.states[layer].begin) {
		return before, nil, nil
	}
	now, err = x.scanLayer(ctx, layer, begin)
	var unread []problem.Problem
	switch {
	case err == nil:
		return now, nil, nil
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		absent = &LayerError{Layer: layer, Err: err, NoRoot: x.noRoot(layer)}
		if p := l.Plugins; p != nil && p.Options.Only == "" && x.config.kind.plugins {
			unread = unreadable(problem.DirectoryNotFound, "the directory of plugins does not exist",
				"create the directory, or let the program read another directory")
		}
	case l.Optional && unusable(err) && !(l.Permitted && errors.Is(err, fs.ErrPermission)):
		absent = &LayerError{Layer: layer, Err: err, NoRoot: x.noRoot(layer)}
		code, suggestion := problem.DirectoryUnreadable, "check the type and the permissions of the directory"
		if err == errForeign {
			code = problem.DirectoryOfOtherUser
			suggestion = "change the owner of the directory, or let the program name the directory"
		}
		unread = unreadable(code, "the files in the directory are not listed: "+access.Unreadable(err), suggestion)
	default:
		return nil, nil, &LayerError{Layer: layer, Err: err, NoRoot: x.noRoot(layer)}
	}
	if before.missing && slices.Equal(before.problems, unread) {
		return before, absent, nil
	}
	return &layerFiles{missing: true, problems: unread}, absent, nil
}

// noRoot reports whether the root that contains a layer does not exist or is a file.
func (x *Index) noRoot(layer int) bool {
	l := x.config.Layers[layer]
	if !l.InRoot {
		return false
	}
	_, err := l.FS.Lstat(".")
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, confine.ErrNotDir)
}

// errForeign is the error of a directory that exists and belongs to another user.
var errForeign = errors.New("the directory, the repository or a directory between the two belongs to another user")

// unusable reports whether the state of a directory prevents the read: another owner, no
// permission, not a directory, or a link that is not followed.
func unusable(err error) bool {
	return slices.ContainsFunc([]error{errForeign, fs.ErrPermission, confine.ErrNotDir, syscall.ENOTDIR,
		confine.ErrEscape, confine.ErrSymlink, syscall.ELOOP},
		func(reason error) bool { return errors.Is(err, reason) })
}

// scanLayer scans a layer. If the context ends during the scan, even in the last read of
// a file, the error is the error of the context, because the last read may have given up;
// see retryPartial. The next scan then continues with what this scan has read.
func (x *Index) scanLayer(ctx context.Context, layer int, begin freshness) (*layerFiles, error) {
	state := &x.states[layer]
	state.begin = freshness{} // until the scan is complete
	state.retry.Store(nil)
	store, err := x.view(ctx, layer)
	if err != nil {
		return nil, err
	}
	if store.stale != nil {
		defer func() { // after the requests of the scan, which may take long
			retry := x.config.Now().Add(retryAfter)
			state.begin.retry = retry
			state.retry.Store(&retry)
		}()
	}
	if state.files.read && store.version != "" && store.version == state.version {
		state.begin = begin
		return state.files, nil
	}
	s := newScan(ctx, x, layer, store)
	files, err := x.scanDir(s)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		state.read = s.kept()
		return nil, err
	}
	state.read, state.begin, state.version = nil, begin, store.version
	if s.incomplete.Load() || s.refusal.Load() {
		state.version = ""
	}
	if state.incomplete = s.incomplete.Load() && store.stale == nil; state.incomplete {
		state.begin = freshness{}
	}
	return files, nil
}

// scanDir opens the directory of a layer and runs the scanner.
func (x *Index) scanDir(s *scan) (*layerFiles, error) {
	l := x.config.Layers[s.layer]
	dirPath := l.Dir
	if l.Foreign != nil && l.Foreign() {
		if _, err := s.FS.Lstat(dirPath); err != nil {
			return nil, err
		}
		return nil, errForeign
	}
	s.Visit(dirPath)
	dir, err := s.FS.OpenDir(dirPath)
	if err != nil {
		return nil, err
	}
	defer x.keepOpen(s.layer, dir)
	scan := x.config.kind.scan
	if s.at.Plugins != nil {
		scan = scanPlugins
	}
	if err := scan(s, dir, dirPath); err != nil {
		return nil, err
	}
	files := s.result()
	x.states[s.layer].listed.Store(s.listed(files))
	return files, nil
}
