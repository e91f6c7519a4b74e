// Package search finds the entries of an index by the words of their names, their
// texts and their reports.
package search

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/meaning"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/rank"
	"github.com/toolshelf-go/toolshelf/internal/reports"
	"github.com/toolshelf-go/toolshelf/internal/vector"
)

// A Config describes the index and the reports of a Finder.
type Config struct {
	Index       *index.Index
	Description func(*index.Entry) string
	// Text returns a text in memory, or nil.
	Text        func(*index.Entry) (text []byte, info confine.Info, ok bool)
	MaxFileSize int64 // larger files are found by name and description only
	// MaxReads is the number of files that a search reads at the same time from a slow filesystem;
	// 0 means parallel.MaxReads.
	MaxReads int

	TTL   time.Duration    // between two checks of a file or of the reports
	Now   func() time.Time // the clock for TTL
	Watch bool             // trust that the files of a fixed, local layer never change

	Reports []*reports.Directory
	Logger  *slog.Logger // logs unreadable directories of reports

	Meanings *meaning.Store // the vectors of the entries and of the queries, or nil
	// Allows reports whether Meanings may get the text of an entry.
	Allows func(context.Context, *index.Entry) bool

	Lifetime context.Context // ends the index of texts
	Enter    func() bool     // reports whether the Finder may read files until Leave
	Leave    func()
	Exited   func(*parallel.Exit) // receives a panic of a read
}

// A Finder holds the words of all entries of an index. Use [New] to create a
// Finder. Several goroutines may call Find at the same time.
type Finder struct {
	config    Config
	reports   *reportSource // nil without directories of reports
	filesRead atomic.Int64

	lock       sync.RWMutex // guards the fields below
	ranked     rank.Corpus
	unflushed  bool                           // ranked has texts that no search finds
	flushed    time.Time                      // the last flush of ranked, by Config.Now
	entries    []*index.Entry                 // the entries of ranked, in the order of names.Compare
	generation uint64                         // of the snapshot of entries
	missing    map[*index.Entry]struct{}      // the entries whose texts ranked lacks
	unsettled  map[*index.Entry]unsettledText // files that can change without a change of metadata
	oldest     time.Time                      // the earliest read in unsettled, or an earlier time
	refused    map[*index.Entry]bool          // entries that Config.Allows has refused a vector

	running, next *batch // of texts; next begins after running
}

// An unsettledText identifies the text of a file at the time of a read.
type unsettledText struct {
	hash uint64
	read time.Time // by Config.Now; zero if the read failed
}

// New returns a Finder. New reads no files.
func New(config Config) *Finder {
	config.MaxReads = cmp.Or(config.MaxReads, parallel.MaxReads)
	s := &Finder{config: config, missing: map[*index.Entry]struct{}{},
		unsettled: map[*index.Entry]unsettledText{}, refused: map[*index.Entry]bool{}}
	if len(config.Reports) > 0 {
		s.reports = newReportSource()
	}
	return s
}

// FilesRead returns the number of texts that all calls of Find have read.
func (s *Finder) FilesRead() int64 { return s.filesRead.Load() }

// A Result holds the best hits of a search.
type Result struct {
	rank.Result
	Partial bool // some texts are not searched, and Weak is false
}

// Find searches the entries of a snapshot. If another call has already passed a later
// snapshot, Find searches the later snapshot. First, Find indexes the names and descriptions of
// new entries, and begins to read the new and the changed files. Find waits for few files, but no
// longer than half of the time before the deadline of ctx. The reads continue after Find.
//
// Find returns at most limit hits, and omits the names for which keep returns
// false, and entries that differ from the snapshot. If keep is nil, Find omits no name. The
// error is ctx.Err().
func (s *Finder) Find(
	ctx context.Context, snapshot *index.Snapshot, query string, limit int,
	keep func(name string) bool,
) (Result, error) {
	partial, err := s.update(ctx, snapshot)
	if err != nil {
		return Result{}, err
	}
	var near *vector.Point
	if s.config.Meanings != nil {
		s.rlock()
		understood := s.ranked.Understood(s.keeping(snapshot, keep))
		s.lock.RUnlock() // a model can be slow
		near = s.near(ctx, query, keep, understood)
	}
	s.rlock()
	defer s.lock.RUnlock()
	found, err := s.ranked.Search(ctx, query, limit, s.keeping(snapshot, keep), near)
	if err != nil {
		return Result{}, err
	}
	if partial = partial || len(s.missing) > 0; partial {
		found.Weak, found.Words = false, nil
	}
	return Result{found, partial}, nil
}

// maxUnflushed is the time between two flushes while texts are missing. A flush takes longer than a
// search.
const maxUnflushed = 100 * time.Millisecond

// rlock locks s.lock for reading, after a flush of ranked if necessary.
func (s *Finder) rlock() {
	s.lock.RLock()
	for s.unflushed && // the last text can arrive between two locks
		(len(s.missing) == 0 || s.config.Now().Sub(s.flushed) > maxUnflushed) {
		s.lock.RUnlock()
		s.lock.Lock()
		s.flush()
		s.lock.Unlock()
		s.lock.RLock()
	}
}

// flush lets searches find all texts of ranked. The caller holds s.lock.
func (s *Finder) flush() {
	s.ranked.Flush()
	s.unflushed, s.flushed = false, s.config.Now()
}

// FindBeside adds the hits among the entries of a snapshot of another index, whose names differ, to
// the result of Find. FindBeside reads the files of the entries.
func (s *Finder) FindBeside(
	ctx context.Context, found Result, x *index.Index, entries *index.Snapshot, query string, limit int,
) (Result, error) {
	if len(entries.Loadable) == 0 {
		return found, nil
	}
	config := s.config
	config.Index, config.Reports, config.Meanings = x, nil, nil
	more, err := New(config).Find(ctx, entries, query, limit, nil)
	if err != nil {
		return Result{}, err
	}
	found.Hits = slices.Concat(found.Hits, more.Hits)
	slices.SortStableFunc(found.Hits, func(a, b rank.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Name, b.Name))
	})
	found.Hits = found.Hits[:min(len(found.Hits), limit)]
	found.Total, found.Partial = found.Total+more.Total, found.Partial || more.Partial
	if found.Weak = found.Weak && more.Weak; !found.Weak {
		found.Words = nil
	}
	return found, nil
}

// keeping returns keep without the names of entries that ranked has from another snapshot, because
// keep is true for the entries of the given snapshot. The caller holds s.lock.
func (s *Finder) keeping(
	snapshot *index.Snapshot, keep func(name string) bool,
) func(name string) bool {
	entries := s.entries
	if keep == nil || len(entries) == len(snapshot.Loadable) &&
		unsafe.SliceData(entries) == unsafe.SliceData(snapshot.Loadable) {
		return keep
	}
	return func(name string) bool {
		if !keep(name) {
			return false
		}
		i, found := slices.BinarySearchFunc(entries, name, func(e *index.Entry, name string) int {
			return names.Compare(e.Name, name)
		})
		return found && entries[i] == snapshot.Lookup(name)
	}
}

// near returns the point of a query, or nil if a meaning is not known within the time of a search.
func (s *Finder) near(
	ctx context.Context, query string, keep func(name string) bool, understood bool,
) *vector.Point {
	within, cancel := meaning.Within(ctx, meaning.MaxWait)
	defer cancel()
	if !understood {
		s.config.Meanings.Fill(within)
		s.rlock()
		understood = s.ranked.Understood(keep)
		s.lock.RUnlock()
	}
	if !understood {
		return nil
	}
	return s.config.Meanings.Query(within, query)
}

// update brings ranked up to date with a snapshot. If texts are not searched, because they are many
// or the reads take too long, partial is true.
func (s *Finder) update(
	ctx context.Context, snapshot *index.Snapshot,
) (partial bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	b := s.due(ctx, snapshot)
	if b == nil && s.reports == nil {
		return false, nil
	}
	within, cancel := meaning.Within(ctx, maxWait)
	defer cancel()
	if s.reports != nil {
		partial = s.reports.update(within, s, snapshot) != nil
	}
	if b != nil {
		select {
		case <-b.done:
			if b.exit != nil {
				b.exit.Resume()
			}
		case <-within.Done():
			partial = true
		}
	}
	return partial, ctx.Err()
}

// maxWait bounds the time in which a search waits for reads.
const maxWait = 2500 * time.Millisecond

// expired reports whether a read at the given time is older than TTL.
func (s *Finder) expired(then time.Time) bool {
	return s.config.TTL == 0 || s.config.Now().Sub(then) >= s.config.TTL
}
