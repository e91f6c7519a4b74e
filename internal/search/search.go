// Package search finds the entries of an index by the words of their names, their
// texts and their reports.
package search

import (
	"cmp"
	"context"
	"hash/maphash"
	"log/slog"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sync/semaphore"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/meaning"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/rank"
	"github.com/toolshelf-go/toolshelf/internal/reports"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// A Config describes the index and the reports of a Finder.
type Config struct {
	Index       *index.Index
	Description func(*index.Entry) string
	Text        func(*index.Entry) (text []byte, info confine.Info, ok bool) // a text in memory, or nil
	MaxFileSize int64                                                        // larger files are found by name and description only
	MaxReads    int                                                          // number of files that a search reads at the same time from a slow filesystem; 0 means parallel.MaxReads

	TTL   time.Duration    // between two checks of a file or of the reports
	Now   func() time.Time // the clock for TTL
	Watch bool             // trust that the files of a fixed layer never change, unless the layer is remote

	Reports []*reports.Directory
	Logger  *slog.Logger // logs unreadable directories of reports

	Meanings *meaning.Store                           // the vectors of the entries and of the queries, or nil
	Allows   func(context.Context, *index.Entry) bool // reports whether Meanings may get the text of an entry
}

// A Finder holds the words of all entries of an index. Use [New] to create a
// Finder. Several goroutines may call Find at the same time.
type Finder struct {
	config    Config
	reports   *reportSource // nil without directories of reports
	filesRead atomic.Int64

	// lock guards the fields below. A reader acquires 1, a writer acquires readers.
	// The lock is a semaphore, because a wait for a mutex does not end with a context.
	lock       *semaphore.Weighted
	ranked     rank.Corpus
	entries    []*index.Entry                 // the entries of ranked, in the order of names.Compare
	generation uint64                         // of the last snapshot that ranked contains completely
	unsettled  map[*index.Entry]unsettledText // files that can change while their metadata stays the same
	oldest     time.Time                      // the earliest read of a file in unsettled, or an earlier time
	refused    map[*index.Entry]bool          // entries without a vector, because Config.Allows has refused them
}

// An unsettledText identifies the text of a file at the time of a read.
type unsettledText struct {
	hash uint64
	read time.Time // by Config.Now; zero if the read failed
}

const readers = 1 << 20

// New returns a Finder. New reads no files.
func New(config Config) *Finder {
	config.MaxReads = cmp.Or(config.MaxReads, parallel.MaxReads)
	s := &Finder{config: config, lock: semaphore.NewWeighted(readers), unsettled: map[*index.Entry]unsettledText{}, refused: map[*index.Entry]bool{}}
	if len(config.Reports) > 0 {
		s.reports = newReportSource()
	}
	return s
}

// FilesRead returns the number of texts that all calls of Find have read.
func (s *Finder) FilesRead() int64 { return s.filesRead.Load() }

// Find searches the entries of a snapshot. If another call has already passed a later
// snapshot, Find searches the later snapshot. First, Find reads the new and the changed
// files. Find returns at most limit hits, and omits the names for which keep returns
// false, and entries that differ from the snapshot. If keep is nil, Find omits no name.
//
// The error is ctx.Err(). The next call does not repeat the completed reads.
func (s *Finder) Find(ctx context.Context, snapshot *index.Snapshot, query string, limit int, keep func(name string) bool) (rank.Result, error) {
	if s.reports != nil {
		if err := s.reports.update(ctx, s, snapshot); err != nil {
			return rank.Result{}, err
		}
	}
	if err := s.acquire(ctx, snapshot); err != nil {
		return rank.Result{}, err
	}
	var near *rank.Point
	if s.config.Meanings != nil {
		understood := s.ranked.Understood(s.keeping(snapshot, keep))
		s.lock.Release(1) // a model can be slow
		near = s.near(ctx, query, keep, understood)
		if err := s.lock.Acquire(ctx, 1); err != nil {
			return rank.Result{}, err
		}
	}
	defer s.lock.Release(1)
	return s.ranked.Search(ctx, query, limit, s.keeping(snapshot, keep), near)
}

// keeping returns keep without the names of entries that ranked has from another snapshot, because keep is true for the entries of
// the given snapshot. The caller holds s.lock.
func (s *Finder) keeping(snapshot *index.Snapshot, keep func(name string) bool) func(name string) bool {
	entries := s.entries
	if keep == nil || len(entries) == len(snapshot.Loadable) && unsafe.SliceData(entries) == unsafe.SliceData(snapshot.Loadable) {
		return keep
	}
	return func(name string) bool {
		if !keep(name) {
			return false
		}
		i, found := slices.BinarySearchFunc(entries, name, func(e *index.Entry, name string) int { return names.Compare(e.Name, name) })
		return found && entries[i] == snapshot.Lookup(name)
	}
}

// acquire acquires s.lock for a reader, after an update of ranked if necessary.
func (s *Finder) acquire(ctx context.Context, snapshot *index.Snapshot) error {
	if err := s.lock.Acquire(ctx, 1); err != nil {
		return err
	}
	if s.generation < snapshot.Generation || len(s.unsettled) > 0 && s.expired(s.oldest) || len(s.admitted(ctx)) > 0 {
		s.lock.Release(1)
		if err := s.lock.Acquire(ctx, readers); err != nil {
			return err
		}
		err := s.update(ctx, snapshot)
		s.lock.Release(readers - 1)
		if err != nil {
			s.lock.Release(1)
			return err
		}
	}
	return nil
}

// near returns the point of a query, or nil if a meaning is not known within the time of a search.
func (s *Finder) near(ctx context.Context, query string, keep func(name string) bool, understood bool) *rank.Point {
	within, cancel := meaning.Within(ctx)
	defer cancel()
	if !understood {
		s.config.Meanings.Fill(within)
		if s.lock.Acquire(within, 1) != nil {
			return nil
		}
		understood = s.ranked.Understood(keep)
		s.lock.Release(1)
	}
	if !understood {
		return nil
	}
	return s.config.Meanings.Query(within, query)
}

// update puts the loadable entries of a snapshot into ranked. If ctx ends, ranked keeps the
// entries that were read.
func (s *Finder) update(ctx context.Context, snapshot *index.Snapshot) error {
	if s.expired(s.oldest) {
		if err := s.readAgain(ctx); err != nil {
			return err
		}
	}
	admitted := s.admitted(ctx)
	if err := s.put(ctx, len(admitted), func(i int) *index.Entry { return admitted[i] }, func(int) {}); err != nil || s.generation >= snapshot.Generation {
		return err
	}
	changes, removed := compare(s.entries, snapshot.Loadable)
	for _, e := range removed {
		s.remove(e)
	}
	err := s.put(ctx, len(changes), func(i int) *index.Entry { return snapshot.Loadable[changes[i].position] }, func(i int) {
		delete(s.unsettled, changes[i].before)
		delete(s.refused, changes[i].before)
		changes[i].done = true
	})
	if err != nil {
		s.entries = partly(snapshot.Loadable, changes)
		return err
	}
	s.entries, s.generation = snapshot.Loadable, snapshot.Generation
	return nil
}

// admitted returns the entries that Config.Allows has refused and allows now.
func (s *Finder) admitted(ctx context.Context) (all []*index.Entry) {
	for e := range s.refused {
		if s.config.Allows(ctx, e) {
			all = append(all, e)
		}
	}
	return all
}

// readAgain reads the expired texts of unsettled entries.
func (s *Finder) readAgain(ctx context.Context) error {
	var expired []*index.Entry
	for e, u := range s.unsettled {
		if s.expired(u.read) {
			expired = append(expired, e)
		}
	}
	if err := s.put(ctx, len(expired), func(i int) *index.Entry { return expired[i] }, func(int) {}); err != nil {
		return err
	}
	s.oldest = s.config.Now()
	for _, u := range s.unsettled {
		if u.read.Before(s.oldest) {
			s.oldest = u.read
		}
	}
	return nil
}

// A change is an entry of a snapshot that ranked does not contain.
type change struct {
	position int          // in the entries of the snapshot
	before   *index.Entry // the entry of ranked with the same name, or nil
	done     bool         // ranked contains the entry
}

// compare returns the new and the changed entries of now, and the entries of before whose
// names are not in now. Both lists are in the order of names.Compare.
func compare(before, now []*index.Entry) (changes []change, removed []*index.Entry) {
	for i, e := range now {
		for len(before) > 0 && before[0] != e && names.Compare(before[0].Name, e.Name) < 0 {
			removed, before = append(removed, before[0]), before[1:]
		}
		if len(before) > 0 && before[0] == e {
			before = before[1:]
			continue
		}
		change := change{position: i}
		if len(before) > 0 && before[0].Name == e.Name {
			change.before, before = before[0], before[1:]
		}
		changes = append(changes, change)
	}
	return changes, append(removed, before...)
}

// partly returns the entries of ranked after some changes are done.
func partly(entries []*index.Entry, changes []change) []*index.Entry {
	var all []*index.Entry
	for i, e := range entries {
		if len(changes) > 0 && changes[0].position == i {
			if !changes[0].done {
				e = changes[0].before
			}
			changes = changes[1:]
		}
		if e != nil {
			all = append(all, e)
		}
	}
	return all
}

// expired reports whether a read at the given time is older than TTL.
func (s *Finder) expired(then time.Time) bool {
	return s.config.TTL == 0 || s.config.Now().Sub(then) >= s.config.TTL
}

func (s *Finder) remove(e *index.Entry) {
	s.ranked.Remove(e.Name)
	delete(s.unsettled, e)
	delete(s.refused, e)
}

// put reads the files of n entries and puts the texts into ranked. put reads many files
// at a time from a slow filesystem, but analyzes only one text on each core, because an
// Analyzer can take much memory. After each entry, put calls done, one call at a time. If
// ctx ends, put finishes the entries that it is reading. The results of searches do not
// depend on the order of the entries.
func (s *Finder) put(ctx context.Context, n int, entry func(i int) *index.Entry, done func(i int)) error {
	var mu sync.Mutex // guards the fields of s and the calls of done
	analyzers := make(chan *rank.Analyzer, runtime.GOMAXPROCS(0))
	for range cap(analyzers) {
		analyzers <- new(rank.Analyzer)
	}
	defer s.ranked.Flush()
	return parallel.Each(ctx, s.config.MaxReads, n, func(i int) {
		e := entry(i)
		defer s.filesRead.Add(1)
		mu.Lock()
		known, again := s.unsettled[e]
		refused := s.refused[e]
		mu.Unlock()
		embeds := s.config.Meanings != nil && s.config.Allows(ctx, e)
		r := textReaders.Get().(*textReader)
		defer textReaders.Put(r)
		text := s.read(ctx, e, r)
		a := <-analyzers
		defer func() { analyzers <- a }()
		changed := !again || known.hash != text.hash || refused && embeds
		if changed {
			if embeds {
				text.document.Vector = s.config.Meanings.Vector(text.document)
			}
			a.Analyze(text.document)
		}
		mu.Lock()
		defer mu.Unlock()
		if changed {
			s.ranked.PutAnalyzed(e.Name, a)
		}
		s.observe(e, text)
		if delete(s.refused, e); s.config.Meanings != nil && !embeds {
			s.refused[e] = true
		}
		done(i)
	})
}

// A textReader holds the memory for reading one file. The next file reuses the memory.
type textReader struct {
	buf     []byte
	scanner matter.Scanner
}

var textReaders = sync.Pool{New: func() any { return new(textReader) }}

// A text is the text of an entry at the time of a read. The document is valid until the
// next read with the same textReader.
type text struct {
	document rank.Document
	settled  bool // a change of the file changes its metadata
	unsettledText
}

// observe records whether the text of an entry can change unnoticed.
func (s *Finder) observe(e *index.Entry, t text) {
	delete(s.unsettled, e)
	if t.settled {
		return
	}
	if len(s.unsettled) == 0 || t.read.Before(s.oldest) {
		s.oldest = t.read
	}
	s.unsettled[e] = t.unsettledText
}

var seed = maphash.MakeSeed()

// read reads the file of an entry.
func (s *Finder) read(ctx context.Context, e *index.Entry, r *textReader) text {
	t := text{document: rank.Document{Name: e.Name, Description: s.config.Description(e)}}
	layer := s.config.Index.LayerOf(e)
	now := time.Now()
	t.unsettledText.read = s.config.Now()
	raw, info, err := s.readText(ctx, e, &r.buf)
	if err != nil {
		t.unsettledText.read = time.Time{}
	}
	t.hash = maphash.Bytes(seed, raw)
	t.settled = err == nil && (s.config.Index.Settled(e.Layer(), info, now) || s.config.Watch && layer.Fixed && !layer.Remote())
	// If the file has changed since the scan, the text belongs to a later snapshot,
	// which the filters have not seen yet.
	if err == nil && stamp.Of(info).Same(e.Stamp) {
		doc, _ := r.scanner.ParseFile(e.Path, raw, true, "tags")
		tags, _ := doc.Get("tags")
		body := doc.Text(raw)
		t.document.Tags, t.document.Body = tags.String(), unsafe.String(unsafe.SliceData(body), len(body))
	}
	return t
}

// readText reads the part of a file that Find searches into a buffer, which grows to
// the size of the part.
func (s *Finder) readText(ctx context.Context, e *index.Entry, buf *[]byte) ([]byte, confine.Info, error) {
	if x := s.config.Index; x.Sealed(e) {
		raw, info, err := x.ReadFile(x.FSOf(ctx, e), e.Path)
		return raw[:min(len(raw), matter.MaxHead+rank.MaxText)], info, cmp.Or(err, x.Verify(e, raw))
	}
	if s.config.Text != nil {
		if text, info, ok := s.config.Text(e); ok {
			return text, info, nil
		}
	}
	fsys, name := s.config.Index.FSOf(ctx, e), e.Path
	if fsys.KnowsHeads() {
		return readKnownHead(fsys, name, buf)
	}
	f, err := fsys.OpenRegular(name)
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer f.Close()
	info := f.Info()
	if info.Size > s.config.MaxFileSize {
		return nil, info, index.ErrTooLarge
	}
	size := int(min(info.Size, matter.MaxHead+rank.MaxText))
	*buf = slices.Grow((*buf)[:0], size)[:size]
	n, err := f.ReadHead(*buf)
	if err != nil {
		return nil, info, err
	}
	return (*buf)[:n], info, nil
}

// readKnownHead is readText for a filesystem that must not read a whole file for a search.
func readKnownHead(fsys *confine.FS, name string, buf *[]byte) ([]byte, confine.Info, error) {
	dir, err := fsys.OpenDir(path.Dir(name))
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer dir.Close()
	*buf = slices.Grow((*buf)[:0], matter.MaxHead)[:matter.MaxHead]
	n, info, err := dir.ReadHead(path.Base(name), *buf)
	if err != nil {
		return nil, info, err
	}
	return (*buf)[:n], info, nil
}
