// Package search searches the texts of an index and the reports of its entries.
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

// A Config describes what a Searcher searches.
type Config struct {
	Index       *index.Index
	Description func(*index.Entry) string
	MaxFileSize int64 // the text of a larger file is not searched

	TTL   time.Duration    // how long a file or a directory of reports is not checked again
	Now   func() time.Time // the clock for TTL
	Watch bool             // the files of a fixed layer never change

	Reports []*reports.Directory
	Logger  *slog.Logger // for directories of reports that cannot be read
}

// A Searcher keeps the words of the entries of an index. It reads the files of
// entries that are new or have changed at the next Find. A Searcher is made by
// New. Its methods may be called from any goroutine.
type Searcher struct {
	config  Config
	reports *reportSource // nil if there are no directories of reports

	lock       *semaphore.Weighted // for what follows: one of readers to read, all to write; unlike a mutex, waiting for it ends with a context
	ranked     rank.Index
	entries    []*index.Entry                 // what is in ranked, in the order of names.Compare
	generation uint64                         // of the snapshot that had these entries; an update that was broken off leaves it as it was
	unsettled  map[*index.Entry]unsettledText // files that may change without a change of their entry
	oldest     time.Time                      // no file in unsettled was read earlier
}

// An unsettledText is what was read of a file, and when.
type unsettledText struct {
	hash uint64
	read time.Time // by the clock for TTL; zero if the file could not be read
}

const readers = 1 << 20

// New returns a Searcher that has read nothing yet.
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
	Total int // before the limit
}

// Find searches a snapshot, or a later one that another call has come with. It
// returns at most limit hits, of names for which keep is true. A nil keep keeps
// all names. The error is the context's.
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

// update makes ranked hold what the snapshot has. When ctx ends, what was done
// until then is kept.
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

// expired reports whether TTL requires another look at what was looked at then.
func (s *Searcher) expired(then time.Time) bool {
	return s.config.TTL == 0 || s.config.Now().Sub(then) >= s.config.TTL
}

func (s *Searcher) remove(e *index.Entry) {
	s.ranked.Remove(e.Name)
	delete(s.unsettled, e)
}

var seed = maphash.MakeSeed()

// put reads the file of an entry and ranks it, unless it is known to be as it
// was.
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
		// What the file says since it was listed is for a later snapshot, and for the
		// filters that look at that.
		if err == nil && index.SameFile(info, e.Info) {
			doc, _ := matter.Parse(raw, true)
			tags, _ := doc.Get("tags")
			d.Tags, d.Body = tags.String(), string(raw[doc.Body:])
		}
	}
	s.ranked.Put(e.Name, d)
}

// readText reads as much of a file as is searched.
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
