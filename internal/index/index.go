// Package index holds the contents of layered directories of Markdown files. The
// index parses each file once and reads a file again only after a change.
//
// An Index answers every question from a Snapshot. A Snapshot is immutable and
// shared by all callers. Each call for a snapshot validates the previous
// snapshot against the filesystem: one read for each directory and one stat for
// each file. Concurrent calls share one validation. A call never shares a
// validation that began before the call. Therefore a caller always sees its own
// writes. Config.TTL, Config.Watch and Config.Feed give up this guarantee to save
// validations.
package index

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/watch"
)

// A Layer is one directory of commands or skills on one filesystem.
type Layer struct {
	Name string      // the caller's name for the layer; paths in problems begin with Name
	FS   *confine.FS // the filesystem of the layer
	Dir  string      // the directory, relative to FS

	MayBeMissing bool // a missing directory is empty; without this field, Snapshot returns an error if all directories are missing
	Optional     bool // a directory that cannot be read is reported and counts as missing
	Permitted    bool // the directory of an Optional layer without permission is an error
	InRoot       bool // FS begins at the root of the catalog; if the root does not exist, the LayerError has NoRoot
	Immutable    bool // files never change; only one scan reads the layer
	Fixed        bool // not watched, because FS is not the operating system's filesystem

	// Foreign, if not nil, reports whether the directory belongs to another user. A scan then does
	// not read the directory, and reports the directory if it exists.
	Foreign func() bool

	Store fs.FS // the fs.FS below FS; nil for a directory of the catalog's filesystem
	Fed   bool  // Config.Feed reports the changes of the layer

	Rules   client.Rules // the placeholder rules of the client of WithPlace
	RulesOf string       // Place.Of

	// Plugins, if not nil, finds the plugins in the directory. Each place of files in a plugin is a
	// part, whose Layer is a copy of this layer. All indexes of a catalog have the same Plugins.
	Plugins  *Plugins
	manifest string // Options.Only of the Plugins of another layer with the name; set by New

	Sealed bool // scans read whole files, and each entry has a Seal

	Prefix string          // precedes each name
	Names  client.NameRule // where the name comes from

	Loose bool // every safe path element is a valid name

	// Files of commands and of agents, and skills with Files.
	Only    string // the only file that is read; "" means all files
	Subdirs bool   // the names of subdirectories, each followed by ":", precede a name from the header too
	Nested  bool   // read subdirectories; their names, each followed by ":", precede the name of the file
	Suffix  string // the end of the file names, which the name omits; "" means ".md" in any letter case

	// Skills only.
	Depth int  // number of directory levels to search; 0 means 1
	Own   Own  // whether the directory is a skill itself
	Files bool // each file is a skill without other files, and needs a name or a description in the header
}

// An Own states whether a directory of skills is a skill itself.
type Own int

const (
	OwnAlone Own = iota // with a SKILL.md, if no subdirectory is a skill
	OwnFirst            // with a SKILL.md, and then no subdirectory is a skill
	OwnOnly             // no subdirectory is a skill
	OwnNever            // only subdirectories are skills
)

// Config configures an Index.
type Config struct {
	Lifetime context.Context // scans end with Lifetime and return fs.ErrClosed; nil means context.Background

	Layers      []Layer // highest precedence first
	MaxFileSize int64   // in bytes; the entry of a larger file is broken with ErrTooLarge
	MaxReads    int     // number of files that a scan reads at the same time from a slow filesystem; 0 means parallel.MaxReads

	TTL     time.Duration               // how long a snapshot may be served without validation
	Now     func() time.Time            // the clock for TTL
	Watch   bool                        // validate only after the operating system reports a change
	Feed    *Feed                       // validate the layers with Layer.Fed only after Feed reports a change; with a TTL, both conditions apply
	Changed func(before, now *Snapshot) // if not nil, called after each validation that finds a change; calls never overlap

	// Exited, if not nil, is called after a scan in the background in which the filesystem, or
	// another function of the caller, has panicked or has called runtime.Goexit.
	Exited func(exit *parallel.Exit)

	// Judge, if not nil, returns the reasons why a file counts as broken although a scan can read
	// the file. The file has a name and a path for problems, and raw begins with the header.
	// Several goroutines call Judge.
	Judge func(l Layer, name, path string, raw []byte, doc matter.Document) []problem.Problem

	Broken bool // Snapshot.Entries also contains entries that cannot be loaded

	// Whole, if not nil, is called with the text of each file of a Layer.Store that a scan
	// has read as a whole, because another request for the file takes long. Whole is not
	// called with files larger than MaxFileSize. The text is valid during the call. Several
	// goroutines call Whole.
	Whole func(e *Entry, info confine.Info, text []byte)

	Nested bool                   // Layer.Nested of all layers
	Depth  int                    // the least Layer.Depth of all layers
	Valid  func(name string) bool // reports whether a command, or a directory of commands, may have the name; for other kinds names.Loose

	kind kind        // set by New
	look *watch.Look // set by Extend; may be nil
}

// An Index is safe for concurrent use.
type Index struct {
	config Config
	last   atomic.Pointer[Snapshot]
	fresh  atomic.Pointer[freshness]
	flight flight[*Snapshot]
	watch  *watch.Watch    // nil without Config.Watch
	follow *watch.Follower // nil without Config.Watch and Config.Feed
	states []layerState    // by layer

	collecting sync.Mutex // guards collectors
	collectors []*collector

	access    sync.RWMutex // read-locked by clean; Close locks access and never unlocks
	filesRead atomic.Int64
	free      atomic.Int64 // bytes of sharedMemory that neither the last snapshot nor the current scan uses
}

// A freshness is the snapshot of a validation, and the time and the position in the feed
// when the validation began.
type freshness struct {
	snapshot *Snapshot
	at       time.Time
	feed     uint64
	retry    time.Time // when calls ask a store again that has not answered; zero if all stores have answered
}

func newIndex(config Config) (*Index, error) {
	config.MaxReads = cmp.Or(config.MaxReads, parallel.MaxReads)
	if config.Lifetime == nil {
		config.Lifetime = context.Background()
	}
	config.Layers = slices.Clone(config.Layers)
	for i := range config.Layers {
		l := &config.Layers[i]
		l.Nested, l.Depth = l.Nested || config.Nested, max(l.Depth, config.Depth)
		for _, other := range config.Layers {
			if other.Plugins != nil && other.Name == l.Name {
				l.manifest = other.Plugins.Options.Only
			}
		}
	}
	x := &Index{config: config, states: make([]layerState, len(config.Layers))}
	x.flight.do, x.flight.lifetime = x.refresh, config.Lifetime
	for i := range x.states {
		x.states[i].files = new(layerFiles)
	}
	if !slices.ContainsFunc(config.Layers, func(l Layer) bool { return l.Fed }) {
		x.config.Feed = nil
	}
	if config.Watch || x.config.Feed != nil {
		x.follow = watch.NewFollower()
	}
	if config.Watch {
		var err error
		if x.watch, err = watch.New(watched(config.Layers), x.follow.Report); err != nil {
			return nil, err
		}
	}
	if x.config.Feed != nil {
		x.config.Feed.onTouch(x.follow.Report)
	}
	if x.follow != nil {
		x.follow.Start(x.catchUp)
	}
	return x, nil
}

// watched returns the directories that the operating system can watch.
func watched(layers []Layer) (dirs []watch.Dir) {
	for _, l := range layers {
		if !l.Fixed {
			dirs = append(dirs, watch.Dir{Path: l.FS.Path(l.Dir), Top: l.FS.Path(".")})
		}
	}
	return dirs
}

// catchUp validates after a change that a watch or a feed has reported.
func (x *Index) catchUp(ctx context.Context) {
	f := x.fresh.Load()
	position := x.config.Feed.position()
	if x.watch.Changed() || position > 0 && (f == nil || f.feed != position) {
		// The next call scans again, and returns the error or receives the panic.
		if _, exit, _ := x.flight.join(ctx); exit != nil && x.config.Exited != nil {
			x.config.Exited(exit)
		}
	}
}

// Snapshot returns the current contents of the layers. A layer whose directory
// is missing is empty. If all directories are missing, Snapshot returns an empty
// snapshot and a *LayerError. If a directory cannot be read, or the root does
// not exist, Snapshot returns nil and a *LayerError. When ctx ends, Snapshot
// returns the error of ctx at once, and other callers are not affected.
func (x *Index) Snapshot(ctx context.Context) (*Snapshot, error) {
	fed := func(f *freshness) bool { return x.config.Feed == nil || x.config.Feed.unchanged(*f) }
	if f := x.fresh.Load(); f != nil && x.withinTTL(f.at) && fed(f) {
		return f.snapshot, nil
	}
	if x.config.TTL == 0 || x.config.Feed == nil {
		clean := x.clean()
		// A scan may end before clean. Therefore the snapshot is loaded after clean.
		if f := x.fresh.Load(); f != nil && clean && fed(f) {
			return f.snapshot, nil
		}
	}
	return x.Validate(ctx)
}

// clean reports whether no layer without a feed can have changed since the last scan. With
// a watch, only remote layers and watched layers can change.
func (x *Index) clean() bool {
	if !x.reported() {
		return false
	}
	if x.watch == nil {
		return true
	}
	if !x.access.TryRLock() { // closed
		return false
	}
	defer x.access.RUnlock()
	return x.watch.Clean()
}

// reported reports whether a feed or the watch reports the changes of each layer.
func (x *Index) reported() bool {
	return !slices.ContainsFunc(x.config.Layers, func(l Layer) bool {
		return !l.Fed && !l.Immutable && (x.watch == nil || l.Remote())
	})
}

// Unchanged reports without a call of the filesystem whether a snapshot is the last and no change
// was reported since. An Observer must have reported no change of the directories above the layers
// either.
func (x *Index) Unchanged(s *Snapshot) bool {
	quiet := x.config.Feed == nil && x.reported() && x.watch.Quiet()
	// A scan may end before quiet. Therefore the snapshot is loaded after quiet.
	f := x.fresh.Load()
	return quiet && f != nil && f.snapshot == s
}

// Confirm is Unchanged for an Observer that has just begun to watch the directories above the
// layers.
func (x *Index) Confirm(s *Snapshot) bool { return x.clean() && x.Unchanged(s) }

// withinTTL reports whether a result of the given time may be served without a check.
func (x *Index) withinTTL(at time.Time) bool {
	return x.config.TTL > 0 && x.config.Now().Sub(at) < x.config.TTL
}

// unchanged reports without a call of the filesystem whether no file of a layer can have changed
// since a scan that has returned the files. With a feed and a TTL, both conditions apply.
func (x *Index) unchanged(layer int, files *layerFiles, since freshness) bool {
	l := &x.config.Layers[layer]
	if l.Immutable && files.read {
		return true
	}
	return l.Fed && x.config.Feed.unchanged(since) && (x.config.TTL == 0 || x.withinTTL(since.at))
}

// current reports whether the feed shows that the file of an entry is unchanged since the
// last scan.
func (x *Index) current(e *Entry) bool {
	f := x.fresh.Load()
	if f == nil || !x.config.Layers[e.layer].Fed {
		return false
	}
	files := f.snapshot.layers[e.layer]
	return x.unchanged(e.Layer(), files, *f) && files.find(e.Path, e.Part()) == e
}

// unanswered reports whether err, the error of a read of the file of an entry, can be a
// failure of a store that has just answered a scan with its last good snapshot. The argument
// begin is the time before the read, which may take long.
func (x *Index) unanswered(e *Entry, begin time.Time, err error) bool {
	retry := x.states[e.layer].retry.Load()
	return retry != nil && begin.Before(*retry) && access.MayHaveChanged(err)
}

// Validate is like Snapshot, but always reads the filesystem, regardless of the
// TTL and the watch. Validate trusts the feed.
func (x *Index) Validate(ctx context.Context) (*Snapshot, error) { return x.flight.wait(ctx) }

// Last returns the snapshot of the last validation, or nil before the first
// validation.
func (x *Index) Last() *Snapshot { return x.last.Load() }

// FilesRead returns the number of new and changed files that all scans have read.
func (x *Index) FilesRead() int64 { return x.filesRead.Load() }

// Layers returns Config.Layers. The slice is not a copy.
func (x *Index) Layers() []Layer { return x.config.Layers }

// Layer returns one of Config.Layers.
func (x *Index) Layer(i int) Layer { return x.config.Layers[i] }

// LayerOf returns the layer of an entry, in a plugin the layer of the part. The caller must not
// change the layer.
func (x *Index) LayerOf(e *Entry) *Layer { return x.config.layerOf(e) }

func (c *Config) layerOf(e *Entry) *Layer {
	if p := e.Part(); p != nil {
		return &p.Layer
	}
	return &c.Layers[e.layer]
}

// Valid reports whether a file, or a directory of files, may have a name.
func (x *Index) Valid(name string) bool { return x.config.Valid(name) }

// Place returns the path of an entry's file for problems: the layer's name and
// the path below the layer's directory.
func (x *Index) Place(e *Entry) string { return x.config.place(e.Layer(), e.Spelled()) }

// PlaceIn is Place for a file of a layer.
func (x *Index) PlaceIn(layer int, file string) string { return x.config.place(layer, file) }

// place returns the path of a file for problems: the result of join in a single
// line.
func (c *Config) place(layer int, file string) string { return escape.Path(c.join(layer, file)) }

// join joins the layer's name and the path below the layer's directory.
func (c *Config) join(layer int, file string) string {
	l := c.Layers[layer]
	if l.Dir != "." {
		file = strings.TrimPrefix(strings.TrimPrefix(file, l.Dir), "/")
	}
	return path.Join(l.Name, file)
}

// Rejection returns an error if Config.Judge rejects a file with this text. The entry is of an
// earlier text.
func (x *Index) Rejection(e *Entry, raw []byte, doc matter.Document) error {
	if x.config.Judge == nil {
		return nil
	}
	if reasons := x.config.Judge(*x.LayerOf(e), e.Name, x.Place(e), raw, doc); len(reasons) > 0 {
		return &Rejection{Reasons: reasons}
	}
	return nil
}

// Unread returns the problem of a file that could not be read after the scan.
func (x *Index) Unread(e *Entry, err error) problem.Problem {
	return problem.Problem{Code: problem.FileRead, Severity: problem.Error, Path: x.Place(e),
		Message: "cannot read the file: " + escape.Reason(err), Suggestion: x.LayerOf(e).ReadAdvice(err)}
}

// Below returns the path of an entry's file below the layer's directory.
func (x *Index) Below(e *Entry) string {
	if dir := x.config.Layers[e.layer].Dir; dir != "." {
		return e.Path[len(dir)+1:]
	}
	return e.Path
}

// Close cancels a running validation and waits for the validation to return.
// Later validations return fs.ErrClosed. Close must be called only once.
func (x *Index) Close() {
	x.flight.close() // first, because a scan adds directories to the watch
	x.access.Lock()  // never unlocked
	x.follow.Stop()
	x.watch.Close()
	x.follow.Wait()
	x.closeDirs()
}

// closeDirs closes the open directories of the layers.
func (x *Index) closeDirs() {
	for i := range x.states {
		if dir := x.states[i].open.Swap(nil); dir != nil {
			dir.Close()
		}
	}
}
