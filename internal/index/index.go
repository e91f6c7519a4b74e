// Package index holds the contents of layered directories of Markdown files. The
// index parses each file once and reads a file again only after a change. The
// index never serves stale contents, except within Config.TTL.
//
// An Index answers every question from a Snapshot. A Snapshot is immutable and
// shared by all callers. Each call for a snapshot validates the previous
// snapshot against the filesystem: one read for each directory and one stat for
// each file. Concurrent calls share one validation. A call never shares a
// validation that began before the call. Therefore a caller always sees its own
// writes.
package index

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A Layer is one directory on one filesystem.
type Layer struct {
	Name string      // the caller's name for the layer; paths in problems begin with Name
	FS   *confine.FS // the filesystem of the layer
	Dir  string      // the directory, relative to FS

	Optional  bool // a directory that cannot be read is reported and counts as missing
	InRoot    bool // the top of FS is the root; a missing root is an error with NoRoot
	Immutable bool // files never change; the layer is scanned once
	Fixed     bool // with Watch: the layer is not on the operating system's filesystem and does not change
}

// Config configures an Index.
type Config struct {
	Lifetime context.Context // cancels each scan when done; Close follows later. Nil means context.Background

	Layers      []Layer // highest precedence first
	MaxFileSize int64   // in bytes; larger files are reported and not kept

	TTL     time.Duration               // how long a snapshot may be served without validation
	Now     func() time.Time            // the clock for TTL
	Watch   bool                        // validate only after the operating system reports a change
	Changed func(before, now *Snapshot) // called, if not nil, when a validation finds a change; calls never overlap

	Broken     bool // Snapshot.Entries also contains entries that cannot be loaded
	KeepHeader bool // keep Entry.Header

	// Commands only.
	Nested bool                   // read subdirectories; their names, each followed by ":", precede the command name
	Valid  func(name string) bool // reports whether a command, or a directory of commands, may have the name

	// Skills only.
	Depth int // number of directory levels to search; 0 means 1
}

// An Entry is one command or skill, and is immutable.
type Entry struct {
	Name        string
	Layer       int               // index in Config.Layers
	Path        string            // path of the file, relative to the layer's FS
	Linked      bool              // the file is a link; Info describes the target
	Info        confine.Info      // metadata of the file at the time of the read
	Description string            // the author's description, unchanged, or else the first paragraph
	Dependency  bool              // served by name only
	UserOnly    bool              // models must not choose the entry: disable-model-invocation
	Header      matter.Document   // skills only: the frontmatter
	Problems    []problem.Problem // problems of the file that do not end the scan
	Broken      error             // why the file cannot be loaded, or nil; a broken entry still claims its name

	version version
	shared  int64 // bytes that the entry takes from sharedMemory; see fit
	missing int64 // bytes that the whole entry needs if fit has cut the entry; otherwise 0
}

// A Snapshot holds the contents of the layers at one moment.
type Snapshot struct {
	Generation uint64            // changes whenever another field changes
	Entries    []*Entry          // the listed entries, in the order of names.Compare
	Problems   []problem.Problem // problems of all files, listed or not, sorted by path, line and class

	byName  map[string]*Entry   // the winning entry of each name, including dependencies and broken entries
	shadows map[*Entry][]*Entry // the entries that a winning entry shadows
	layers  []found             // the merged layers; the next validation starts from them
	memory  int64               // sum of Entry.shared
}

// Lookup returns the entry for the first of the names that an entry has, even if
// the entry is a dependency or broken. If no entry has any of the names, Lookup
// returns nil.
func (s *Snapshot) Lookup(names ...string) *Entry {
	for _, name := range names {
		if e := s.byName[name]; e != nil {
			return e
		}
	}
	return nil
}

// Where returns a copy of the snapshot without the entries that keep rejects.
// The problems stay.
func (s *Snapshot) Where(keep func(*Entry) bool) *Snapshot {
	shown := &Snapshot{
		Generation: s.Generation,
		Entries:    make([]*Entry, 0, len(s.Entries)),
		Problems:   s.Problems,
		byName:     make(map[string]*Entry, len(s.byName)),
		shadows:    s.shadows,
		layers:     s.layers,
	}
	for name, e := range s.byName {
		if keep(e) {
			shown.byName[name] = e
		}
	}
	for _, e := range s.Entries {
		if shown.byName[e.Name] != nil {
			shown.Entries = append(shown.Entries, e)
		}
	}
	return shown
}

// Shadows returns the entries that e shadows, in order of precedence.
func (s *Snapshot) Shadows(e *Entry) []*Entry { return s.shadows[e] }

// Has reports whether a layer has an entry for the file.
func (s *Snapshot) Has(layer int, file string) bool { return s.layers[layer].byPath[file] != nil }

// HasSkill reports whether a directory of a layer has a SKILL.md.
func (s *Snapshot) HasSkill(layer int, dirPath string) bool {
	for _, base := range skillFiles {
		if e := s.layers[layer].byPath[below(dirPath, base)]; e != nil && hasSkillFile(e) {
			return true
		}
	}
	return false
}

// Files ranges over the entries of all files, layer by layer. Files includes
// entries that a list omits: dependencies, shadowed and broken entries.
func (s *Snapshot) Files() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, f := range s.layers {
			for _, e := range f.entries {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// A LayerError reports the failure of a layer's own directory.
type LayerError struct {
	Layer  int // index in Config.Layers
	Err    error
	NoRoot bool // the root of the layer does not exist; see Layer.InRoot
}

func (e *LayerError) Error() string { return e.Err.Error() }
func (e *LayerError) Unwrap() error { return e.Err }

// An Index is safe for concurrent use.
type Index struct {
	config Config
	scan   scanner
	last   atomic.Pointer[Snapshot]
	fresh  atomic.Pointer[freshness]
	flight flight[*Snapshot]
	watch  *watch                        // nil without Config.Watch
	open   []atomic.Pointer[confine.Dir] // by layer; see StatCached

	access sync.RWMutex // read-locked by filesystem access outside of a scan; Close locks access and never unlocks
	room   atomic.Int64 // bytes of sharedMemory that the last snapshot and the current scan leave free
}

// A freshness is the snapshot of a validation, and the time when the validation
// began.
type freshness struct {
	snapshot *Snapshot
	at       time.Time
}

// Commands indexes Markdown files. Each file is a command. Commands returns an
// error if the operating system's facility for watching fails.
func Commands(config Config) (*Index, error) { return newIndex(config, scanCommands) }

// Skills indexes subdirectories. Each subdirectory is a skill, and SKILL.md is
// the skill's file. A layer with a SKILL.md is a skill itself if no subdirectory
// has a SKILL.md. The error is the same as for Commands.
func Skills(config Config) (*Index, error) { return newIndex(config, scanSkills) }

func newIndex(config Config, scan scanner) (*Index, error) {
	x := &Index{config: config, scan: scan, open: make([]atomic.Pointer[confine.Dir], len(config.Layers))}
	x.flight.do, x.flight.lifetime = x.refresh, config.Lifetime
	if config.Lifetime == nil {
		x.flight.lifetime = context.Background()
	}
	if config.Watch {
		if err := x.startWatch(); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// Snapshot returns the current contents of the layers. A layer whose directory
// is missing is empty. If all directories are missing, Snapshot returns an empty
// snapshot and a *LayerError. If a directory cannot be read, or the root does
// not exist, Snapshot returns nil and a *LayerError. When ctx ends, Snapshot
// returns the error of ctx at once, and other callers are not affected.
func (x *Index) Snapshot(ctx context.Context) (*Snapshot, error) {
	if f := x.fresh.Load(); f != nil {
		if x.config.TTL > 0 && x.config.Now().Sub(f.at) < x.config.TTL {
			return f.snapshot, nil
		}
		if x.watch != nil && x.enter() {
			clean := x.watch.clean()
			x.leave()
			if clean {
				return f.snapshot, nil
			}
		}
	}
	return x.Validate(ctx)
}

// Validate is like Snapshot, but always reads the filesystem, regardless of the
// TTL and the watch.
func (x *Index) Validate(ctx context.Context) (*Snapshot, error) { return x.flight.wait(ctx) }

// Last returns the snapshot of the last validation, or nil before the first
// validation.
func (x *Index) Last() *Snapshot { return x.last.Load() }

// Known returns the entry that Lookup would find in a snapshot taken now, if the
// entry's own file alone decides the result. The caller checks the file. If a
// file created since the last validation can take precedence over the entry,
// Known returns nil. Known also returns nil for a broken entry.
func (x *Index) Known(wanted ...string) *Entry {
	last := x.last.Load()
	if last == nil || last.byName[wanted[0]] == nil && wanted[0] != wanted[len(wanted)-1] && names.Loose(wanted[0]) && x.config.Valid(wanted[0]) {
		return nil
	}
	e := last.Lookup(wanted...)
	if e == nil || e.Broken != nil || e.Layer > 0 || !strings.HasSuffix(e.Path, ".md") || strings.Contains(e.Path, ":") {
		return nil
	}
	return e
}

// Layers returns Config.Layers. The slice is not a copy.
func (x *Index) Layers() []Layer { return x.config.Layers }

// Layer returns one of Config.Layers.
func (x *Index) Layer(i int) Layer { return x.config.Layers[i] }

// Settled is the function Settled for a file of a layer. Files of an immutable
// layer are always settled.
func (x *Index) Settled(layer int, info confine.Info, now time.Time) bool {
	return x.config.Layers[layer].Immutable || Settled(info, now)
}

// Place returns the path of an entry's file for problems: the layer's name and
// the path below the layer's directory.
func (x *Index) Place(e *Entry) string { return x.config.place(e.Layer, e.Path) }

// Below returns the path of an entry's file below the layer's directory.
func (x *Index) Below(e *Entry) string {
	if dir := x.config.Layers[e.Layer].Dir; dir != "." {
		return e.Path[len(dir)+1:]
	}
	return e.Path
}

// Close cancels a running validation and waits for the validation to return.
// Later validations return fs.ErrClosed.
func (x *Index) Close() {
	x.flight.close() // first, because a scan adds directories to the watch
	x.access.Lock()  // never unlocked
	if x.watch != nil {
		x.watch.close()
	}
	for i := range x.open {
		if dir := x.open[i].Swap(nil); dir != nil {
			dir.Close()
		}
	}
}

// enter reports whether the index may use the filesystem outside of a scan.
// Close waits for leave.
func (x *Index) enter() bool { return x.access.TryRLock() }
func (x *Index) leave()      { x.access.RUnlock() }

// found holds the contents of one layer, and is immutable once part of a
// Snapshot.
type found struct {
	missing  bool              // the layer's directory does not exist, or is optional and cannot be read
	entries  []*Entry          // every file, in order of precedence
	problems []problem.Problem // problems without an entry: unusable names, links not followed
	byPath   map[string]*Entry // the entries, by Path
}

// A scanner reads one layer. If the layer is unchanged, the scanner returns
// s.before itself.
type scanner func(s *scan, dir *confine.Dir, dirPath string) (*found, error)

func (x *Index) refresh(ctx context.Context) (*Snapshot, error) {
	begin := time.Time{}
	if x.config.TTL > 0 {
		begin = x.config.Now()
	}
	if x.watch != nil {
		x.watch.begin()
	}
	now, err := x.validate(ctx)
	if err != nil {
		x.fresh.Store(nil)
	} else {
		x.fresh.Store(&freshness{now, begin})
	}
	if x.watch != nil {
		x.watch.end(err)
	}
	return now, err
}

func (x *Index) validate(ctx context.Context) (*Snapshot, error) {
	last := x.last.Load()
	x.room.Store(sharedMemory)
	if last != nil {
		x.room.Add(-last.memory)
	}
	var (
		layers   = make([]found, len(x.config.Layers))
		missing  *LayerError
		rootless *LayerError
		present  bool
		same     = last != nil
	)
	for i := range layers {
		before := new(found)
		if last != nil {
			before = &last.layers[i]
		}
		if x.config.Layers[i].Immutable && before.byPath != nil {
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
				now = &found{missing: true}
			}
		case x.config.Layers[i].Optional && unusable(err):
			if missing == nil {
				missing = &LayerError{Layer: i, Err: err}
			}
			unread := problem.Problem{Code: problem.DirectoryUnreadable, Severity: problem.Warning, Path: x.config.place(i, x.config.Layers[i].Dir),
				Message: "the files in the directory are not listed: " + unreadable(err), Suggestion: "check the type and the permissions of the directory"}
			now = before
			if !before.missing || !slices.Equal(before.problems, []problem.Problem{unread}) {
				now = &found{missing: true, problems: []problem.Problem{unread}}
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

// noRoot reports whether a missing layer is below a root that does not exist.
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

func (x *Index) scanLayer(s *scan) (*found, error) {
	dirPath := x.config.Layers[s.layer].Dir
	s.visit(dirPath)
	dir, err := s.fs.OpenDir(dirPath)
	if err != nil {
		return nil, err
	}
	defer x.keepOpen(s.layer, dir)
	return x.scan(s, dir, dirPath)
}

// merge applies the precedence of the layers.
func merge(config *Config, layers []found) *Snapshot {
	n := 0
	for _, f := range layers {
		n += len(f.entries)
	}
	s := &Snapshot{
		Generation: 1,
		Entries:    make([]*Entry, 0, n),
		byName:     make(map[string]*Entry, n),
		shadows:    make(map[*Entry][]*Entry),
		layers:     layers,
	}
	for _, f := range layers {
		s.Problems = append(s.Problems, f.problems...)
		for _, e := range f.entries {
			s.Problems = append(s.Problems, e.Problems...)
			s.memory += e.shared
			if first, taken := s.byName[e.Name]; taken {
				s.Problems = append(s.Problems, shadowed(config, e, first))
				s.shadows[first] = append(s.shadows[first], e)
				continue
			}
			s.byName[e.Name] = e
			if !e.Dependency && (e.Broken == nil || config.Broken) {
				s.Entries = append(s.Entries, e)
			}
		}
	}
	slices.SortFunc(s.Entries, func(a, b *Entry) int { return names.Compare(a.Name, b.Name) })
	for i := 1; i < len(s.Entries); i++ {
		if strings.EqualFold(s.Entries[i].Name, s.Entries[i-1].Name) {
			s.Problems = append(s.Problems, differsInCase(config, s.Entries[i], s.Entries[i-1]))
		}
	}
	slices.SortFunc(s.Problems, problem.Compare)
	return s
}
