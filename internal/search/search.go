// Package search finds the entries of an index by the words of their names, their
// texts and their reports.
package search

import (
	"context"
	"hash/maphash"
	"log/slog"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/rank"
	"github.com/toolshelf-go/toolshelf/internal/reports"
)

// A Config describes the index and the reports of a Searcher.
type Config struct {
	Index       *index.Index
	Description func(*index.Entry) string
	MaxFileSize int64 // larger files are found by name and description only

	TTL   time.Duration    // between two checks of a file or of the reports
	Now   func() time.Time // the clock for TTL
	Watch bool             // trust that the files of a fixed layer never change

	Reports []*reports.Directory
	Logger  *slog.Logger // logs unreadable directories of reports
}

// A Searcher holds the words of all entries of an index. Use [New] to create a
// Searcher. Several goroutines may call Find at the same time.
type Searcher struct {
	config  Config
	reports *reportSource // nil without directories of reports

	// lock guards the fields below. A reader acquires 1, a writer acquires readers.
	// The lock is a semaphore, because a wait for a mutex does not end with a context.
	lock       *semaphore.Weighted
	ranked     rank.Index
	entries    []*index.Entry                 // the entries of ranked, in the order of names.Compare
	generation uint64                         // of the last snapshot that ranked contains completely
	unsettled  map[*index.Entry]unsettledText // files that can change while their metadata stays the same
	oldest     time.Time                      // the earliest read of a file in unsettled, or an earlier time
}

// An unsettledText identifies the text of a file at the time of a read.
type unsettledText struct {
	hash uint64
	read time.Time // by Config.Now; zero if the read failed
}

const readers = 1 << 20

// New returns a Searcher. New reads no files.
func New(config Config) *Searcher {
	s := &Searcher{config: config, lock: semaphore.NewWeighted(readers), unsettled: map[*index.Entry]unsettledText{}}
	if len(config.Reports) > 0 {
		s.reports = newReportSource()
	}
	return s
}

// A Result holds the best hits of a search.
type Result struct {
	Hits  []rank.Hit
	Total int // number of matches before the limit
}

// Find searches the entries of a snapshot. If another call has already passed a later
// snapshot, Find searches the later snapshot. First, Find reads the new and the changed
// files. Find returns at most limit hits, and omits the names for which keep returns
// false. If keep is nil, Find omits no name.
//
// The error is ctx.Err(). The next call does not repeat the completed reads.
func (s *Searcher) Find(ctx context.Context, snapshot *index.Snapshot, query string, limit int, keep func(name string) bool) (Result, error) {
	if s.reports != nil {
		if err := s.reports.update(ctx, s, snapshot); err != nil {
			return Result{}, err
		}
	}
	if err := s.lock.Acquire(ctx, 1); err != nil {
		return Result{}, err
	}
	if s.generation < snapshot.Generation || len(s.unsettled) > 0 && s.expired(s.oldest) {
		s.lock.Release(1)
		if err := s.lock.Acquire(ctx, readers); err != nil {
			return Result{}, err
		}
		err := s.update(ctx, snapshot)
		s.lock.Release(readers - 1)
		if err != nil {
			s.lock.Release(1)
			return Result{}, err
		}
	}
	defer s.lock.Release(1)
	hits, total, err := s.ranked.Search(ctx, query, limit, keep)
	if err != nil {
		return Result{}, err
	}
	return Result{hits, total}, nil
}

// update puts the entries of a snapshot into ranked. If ctx ends, ranked keeps the
// entries that were read.
func (s *Searcher) update(ctx context.Context, snapshot *index.Snapshot) error {
	if s.expired(s.oldest) {
		for _, e := range slices.Collect(maps.Keys(s.unsettled)) {
			if !s.expired(s.unsettled[e].read) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			s.put(e)
		}
		s.oldest = s.config.Now()
		for _, u := range s.unsettled {
			if u.read.Before(s.oldest) {
				s.oldest = u.read
			}
		}
	}
	if s.generation >= snapshot.Generation {
		return nil
	}
	before := s.entries
	for i, e := range snapshot.Entries {
		if len(before) > 0 && before[0] == e {
			before = before[1:]
			continue
		}
		if err := ctx.Err(); err != nil {
			s.entries = slices.Concat(snapshot.Entries[:i], before)
			return err
		}
		for len(before) > 0 && names.Compare(before[0].Name, e.Name) < 0 {
			s.remove(before[0])
			before = before[1:]
		}
		if len(before) > 0 && before[0].Name == e.Name {
			delete(s.unsettled, before[0])
			before = before[1:]
		}
		s.put(e)
	}
	for _, e := range before {
		s.remove(e)
	}
	s.entries, s.generation = snapshot.Entries, snapshot.Generation
	return nil
}

// expired reports whether a read at the given time is older than TTL.
func (s *Searcher) expired(then time.Time) bool {
	return s.config.TTL == 0 || s.config.Now().Sub(then) >= s.config.TTL
}

func (s *Searcher) remove(e *index.Entry) {
	s.ranked.Remove(e.Name)
	delete(s.unsettled, e)
}

var seed = maphash.MakeSeed()

// put reads the file of an entry and puts the text into ranked. If the text is the
// same as at the last read, ranked stays unchanged.
func (s *Searcher) put(e *index.Entry) {
	known, again := s.unsettled[e]
	delete(s.unsettled, e)
	d := rank.Document{Name: e.Name, Description: s.config.Description(e)}
	if e.Broken == nil {
		layer := s.config.Index.Layer(e.Layer)
		now, u := time.Now(), unsettledText{read: s.config.Now()}
		raw, info, err := s.readText(layer.FS, e.Path)
		u.hash = maphash.Bytes(seed, raw)
		if err != nil {
			u.read = time.Time{}
		}
		if err != nil || !s.config.Index.Settled(e.Layer, info, now) && !(s.config.Watch && layer.Fixed) {
			if len(s.unsettled) == 0 || u.read.Before(s.oldest) {
				s.oldest = u.read
			}
			s.unsettled[e] = u
		}
		if again && u.hash == known.hash {
			return
		}
		// If the file has changed since the scan, the text belongs to a later snapshot,
		// which the filters have not seen yet.
		if err == nil && index.SameFile(info, e.Info) {
			doc, _ := matter.Parse(raw, true)
			tags, _ := doc.Get("tags")
			d.Tags, d.Body = tags.String(), string(raw[doc.Body:])
		}
	}
	s.ranked.Put(e.Name, d)
}

// readText reads the part of a file that Find searches.
func (s *Searcher) readText(fsys *confine.FS, name string) ([]byte, confine.Info, error) {
	f, err := fsys.OpenRegular(name)
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer f.Close()
	info := f.Info()
	if info.Size > s.config.MaxFileSize {
		return nil, info, index.ErrTooLarge
	}
	raw := make([]byte, min(info.Size, matter.MaxHead+rank.MaxText))
	n, err := f.ReadHead(raw)
	if err != nil {
		return nil, info, err
	}
	return raw[:n], info, nil
}
