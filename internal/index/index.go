// Package index knows what is in layered folders of Markdown files: each file
// parsed once, read again only when it has changed, and never served stale.
//
// An Index answers every question from a Snapshot, which is immutable and
// shared by all callers. Each call for a snapshot validates the one before
// against the filesystem: one directory read for each folder and one stat for
// each file. Calls at the same time share one validation, but never one that
// began before they were made, so that a caller always sees its own writes.
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

// A Layer is one folder on one filesystem.
type Layer struct {
	Name string      // what the caller calls it; paths in problems begin with it
	FS   *confine.FS // where it is
	Dir  string      // the folder, relative to FS

	Optional  bool // it counts as missing where it cannot be read, which is reported
	InRoot    bool // the top of FS is the root; a missing root is an error with NoRoot
	Immutable bool // files never change; the layer is scanned once
	Fixed     bool // with Watch: it is not the operating system's, and does not change
}

// Config says what an Index holds.
type Config struct {
	Lifetime context.Context // ends each scan when it ends; Close comes later. Nil is context.Background

	Layers      []Layer // highest precedence first
	MaxFileSize int64   // larger files are reported, not held

	TTL     time.Duration               // how long a snapshot may be served without validation
	Now     func() time.Time            // the clock for TTL
	Watch   bool                        // validate only when the operating system has told of a change
	Changed func(before, now *Snapshot) // called, if not nil, when a validation finds a change; one call at a time

	Escape func(path string) string // makes one line of the paths in problems; nil leaves them as they are

	Broken     bool // Snapshot.Entries has those that cannot be loaded, too
	KeepHeader bool // Entry.Header is kept

	// Commands only.
	Nested bool                   // read subfolders; their names come before a ":"
	Valid  func(name string) bool // the names that a command, and a folder of commands, may have

	// Skills only.
	Depth int // how many levels of folders are looked through; 0 is 1
}

// An Entry is one command or skill. It is immutable.
type Entry struct {
	Name        string
	Layer       int               // its place in Config.Layers
	Path        string            // of its file, relative to the layer's FS
	Linked      bool              // the file is a link, and Info its target's
	Info        confine.Info      // of its file, when it was read
	Description string            // as its author wrote it, else the first paragraph
	Hidden      bool              // is a dependency: served by name only
	UserOnly    bool              // no model may choose it: disable-model-invocation
	Header      matter.Document   // skills only: the frontmatter
	Problems    []problem.Problem // what is wrong with the file and was survived
	Broken      error             // the file cannot be loaded; the entry holds its name

	version version
	shared  int64 // the memory that it takes from the index's, see fit
	missing int64 // the memory that it was cut for lack of; 0 if it is whole
}

// A Snapshot is what the layers held at one moment.
type Snapshot struct {
	Generation uint64            // changes when anything else here does
	Entries    []*Entry          // those that a list shows, in the order of names.Compare
	Problems   []problem.Problem // of all files, shown or not, by path, line and class

	byName map[string]*Entry   // every name that a layer claims, hidden and broken ones too
	hides  map[*Entry][]*Entry // the others that claim the name of one
	layers []found             // what it was made of: what the next validation starts from
	memory int64               // of the entries' shared
}

// Lookup returns the entry of the first of these names that is one's, also if
// it is hidden or broken; nil if there is none.
func (s *Snapshot) Lookup(names ...string) *Entry {
	for _, name := range names {
		if e := s.byName[name]; e != nil {
			return e
		}
	}
	return nil
}

// Where is the snapshot without the entries that keep is false for. The
// problems stay.
func (s *Snapshot) Where(keep func(*Entry) bool) *Snapshot {
	shown := &Snapshot{
		Generation: s.Generation,
		Entries:    make([]*Entry, 0, len(s.Entries)),
		Problems:   s.Problems,
		byName:     make(map[string]*Entry, len(s.byName)),
		hides:      s.hides,
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

// Hides returns the entries that an entry hides, in order of precedence.
func (s *Snapshot) Hides(e *Entry) []*Entry { return s.hides[e] }

// Has reports whether a layer has the file of an entry.
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

// Files ranges over everything that a layer holds as a file, layer by layer,
// whether or not a list shows it: hidden, shadowed and broken ones too.
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

// A LayerError is the failure of a layer's own folder.
type LayerError struct {
	Layer  int // its place in Config.Layers
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
	watch  *watch                 // nil without Config.Watch
	held   []atomic.Pointer[held] // by layer

	looking sync.RWMutex // held to read by a look at the filesystem outside of a scan, and by Close for good
	room    atomic.Int64 // of sharedMemory, what the last snapshot and the scan under way leave
}

// A freshness is what a validation found, and when it began.
type freshness struct {
	snapshot *Snapshot
	at       time.Time
}

// Commands indexes Markdown files: each is a command. The error is that of the
// system's facility for watching.
func Commands(config Config) (*Index, error) { return newIndex(config, scanCommands) }

// Skills indexes subdirectories: each is a skill, and SKILL.md is its file. A
// layer with a SKILL.md is a skill itself if no subdirectory has a SKILL.md.
func Skills(config Config) (*Index, error) { return newIndex(config, scanSkills) }

func newIndex(config Config, scan scanner) (*Index, error) {
	x := &Index{config: config, scan: scan, held: make([]atomic.Pointer[held], len(config.Layers))}
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

// Snapshot returns what the layers hold now. A layer whose directory is missing
// is empty. If all directories are missing, Snapshot returns an empty snapshot
// and a *LayerError; if a directory cannot be read, or the root does not exist,
// the snapshot is nil. When ctx ends, Snapshot returns its error at once;
// other callers are not harmed.
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

// Validate is Snapshot, from the filesystem as it is, whatever the TTL and
// the watch say.
func (x *Index) Validate(ctx context.Context) (*Snapshot, error) { return x.flight.wait(ctx) }

// Last returns what the last validation found; nil before the first.
func (x *Index) Last() *Snapshot { return x.last.Load() }

// Known returns the entry that Lookup would find in a snapshot taken now, if
// that can be told without looking at any file but the entry's own, which the
// caller does: nil if it cannot. It can where no file that may have come to be
// since can claim the name before this one.
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

// Settled is the function Settled for a file of a layer.
func (x *Index) Settled(layer int, info confine.Info, now time.Time) bool {
	return x.config.Layers[layer].Immutable || Settled(info, now)
}

// Place is the path of an entry's file as problems have it: the layer's name
// and the path below it.
func (x *Index) Place(e *Entry) string { return x.config.place(e.Layer, e.Path) }

// Below is the path of an entry's file below its layer's folder.
func (x *Index) Below(e *Entry) string {
	if dir := x.config.Layers[e.Layer].Dir; dir != "." {
		return e.Path[len(dir)+1:]
	}
	return e.Path
}

// Close ends a validation that is under way, and waits for it to return.
// Later calls of Snapshot return fs.ErrClosed.
func (x *Index) Close() {
	x.flight.close() // first: a scan adds directories to the watch
	x.looking.Lock() // and never unlocked
	if x.watch != nil {
		x.watch.close()
	}
	for i := range x.held {
		if h := x.held[i].Swap(nil); h != nil {
			h.dir.Close()
		}
	}
}

// enter reports whether the index may look at the filesystem outside of a scan.
// Close waits for leave.
func (x *Index) enter() bool { return x.looking.TryRLock() }
func (x *Index) leave()      { x.looking.RUnlock() }

// found is what one layer holds. It is immutable once it is part of a Snapshot.
type found struct {
	missing  bool              // the layer's folder does not exist
	entries  []*Entry          // every file, in the order in which they claim their names
	problems []problem.Problem // of what is no entry: unusable names, links not followed
	byPath   map[string]*Entry // the entries, by Path
}

// A scanner looks through one layer. Given what the layer held before, it
// returns the very same if that still stands.
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

// unusable reports whether a folder's own state keeps it from being read.
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
	defer x.hold(s.layer, dir)
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
		hides:      make(map[*Entry][]*Entry),
		layers:     layers,
	}
	for _, f := range layers {
		s.Problems = append(s.Problems, f.problems...)
		for _, e := range f.entries {
			s.Problems = append(s.Problems, e.Problems...)
			s.memory += e.shared
			if first, taken := s.byName[e.Name]; taken {
				s.Problems = append(s.Problems, shadowed(config, e, first))
				s.hides[first] = append(s.hides[first], e)
				continue
			}
			s.byName[e.Name] = e
			if !e.Hidden && (e.Broken == nil || config.Broken) {
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
