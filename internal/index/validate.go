package index

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A LayerError reports the failure of a layer's own directory.
type LayerError struct {
	Layer  int // index in Config.Layers
	Err    error
	NoRoot bool // the root that contains the layer does not exist; see Layer.InRoot
}

func (e *LayerError) Error() string { return e.Err.Error() }

func (e *LayerError) Unwrap() error { return e.Err }

// A scanner reads one layer. If the layer is unchanged, the scanner returns
// s.before itself.
type scanner func(s *scan, dir *confine.Dir, dirPath string) (*layerFiles, error)

// refresh validates the last snapshot for all callers that wait for the flight.
func (x *Index) refresh(ctx context.Context) (*Snapshot, error) {
	begin := time.Time{}
	if x.config.TTL > 0 {
		begin = x.config.Now()
	}
	if x.watch != nil {
		x.watch.beginScan()
	}
	now, err := x.validate(ctx)
	if err != nil {
		x.fresh.Store(nil)
	} else {
		x.fresh.Store(&freshness{now, begin})
	}
	if x.watch != nil {
		x.watch.endScan(err)
	}
	return now, err
}

// validate scans each layer. If a layer has changed, validate merges the layers
// into a new snapshot.
func (x *Index) validate(ctx context.Context) (*Snapshot, error) {
	last := x.last.Load()
	x.free.Store(sharedMemory)
	if last != nil {
		x.free.Add(-last.memory)
	}
	var (
		layers   = make([]layerFiles, len(x.config.Layers))
		missing  *LayerError
		rootless *LayerError
		present  bool
		same     = last != nil
	)
	for i := range layers {
		before := new(layerFiles)
		if last != nil {
			before = &last.layers[i]
		}
		if x.config.Layers[i].Immutable && before.read {
			present, layers[i] = true, *before
			continue
		}
		now, err := x.scanLayer(newScan(ctx, x, i, before))
		switch {
		case err == nil:
			present = true
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			switch {
			case x.noRoot(i):
				rootless = &LayerError{Layer: i, Err: err, NoRoot: true}
			case missing == nil:
				missing = &LayerError{Layer: i, Err: err}
			}
			now = before
			if !before.missing {
				now = &layerFiles{missing: true}
			}
		case x.config.Layers[i].Optional && unusable(err):
			if missing == nil {
				missing = &LayerError{Layer: i, Err: err}
			}
			unread := problem.Problem{Code: problem.DirectoryUnreadable, Severity: problem.Warning, Path: x.config.place(i, x.config.Layers[i].Dir),
				Message: "the files in the directory are not listed: " + unreadable(err), Suggestion: "check the type and the permissions of the directory"}
			now = before
			if !before.missing || !slices.Equal(before.problems, []problem.Problem{unread}) {
				now = &layerFiles{missing: true, problems: []problem.Problem{unread}}
			}
		default:
			return nil, &LayerError{Layer: i, Err: err}
		}
		same = same && now == before
		layers[i] = *now
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

// noRoot reports whether the root that contains a missing layer does not exist.
func (x *Index) noRoot(layer int) bool {
	l := x.config.Layers[layer]
	if !l.InRoot {
		return false
	}
	_, err := l.FS.Lstat(".")
	return errors.Is(err, fs.ErrNotExist)
}

// unusable reports whether the state of a directory prevents the read: no
// permission, or not a directory.
func unusable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, confine.ErrNotDir) || errors.Is(err, syscall.ENOTDIR)
}

// scanLayer opens the directory of a layer and runs the scanner. If the context
// ends during the scan, even in the last read of a file, the error is the error
// of the context, because the last read may have given up; see retryPartial.
func (x *Index) scanLayer(s *scan) (*layerFiles, error) {
	dirPath := x.config.Layers[s.layer].Dir
	s.visit(dirPath)
	dir, err := s.fs.OpenDir(dirPath)
	if err != nil {
		return nil, err
	}
	defer x.keepOpen(s.layer, dir)
	files, err := x.scan(s, dir, dirPath)
	if err == nil {
		err = s.ctx.Err()
	}
	return files, err
}
