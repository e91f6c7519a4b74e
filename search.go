package toolshelf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/rank"
)

// The limits of a search.
const (
	maxQuery           = 500 // characters
	defaultSearchLimit = 10
	maxSearchLimit     = 100
	searchTimeout      = 5 * time.Second
)

// SearchResults are the best of what a search found.
type SearchResults struct {
	Results    []SearchResult // by Score, then by Name, byte by byte
	SearchTime time.Duration  // what the search took
	TotalFound int            // before the limit
}

// A SearchResult is a command or a skill that was found.
type SearchResult struct {
	Name        string  `json:"name"`  // what Get, or GetSkill, takes
	Score       float64 `json:"score"` // above 0, at most 1
	Tier        string  `json:"tier"`  // "tier1", "tier2" or "tier3"
	Description string  `json:"description"`
	MatchReason string  `json:"match_reason"` // which field has which words of the query: name matches "slow meeting"
}

type searchResultsJSON struct {
	Results      []SearchResult `json:"results"`
	SearchTimeMS int64          `json:"search_time_ms"`
	TotalFound   int            `json:"total_found"`
}

// MarshalJSON returns an object of results, which is never null,
// search_time_ms, in whole milliseconds, and total_found.
func (r SearchResults) MarshalJSON() ([]byte, error) {
	if r.Results == nil {
		r.Results = []SearchResult{}
	}
	return json.Marshal(searchResultsJSON{r.Results, r.SearchTime.Milliseconds(), r.TotalFound})
}

// UnmarshalJSON reads what MarshalJSON returns.
func (r *SearchResults) UnmarshalJSON(data []byte) error {
	var v searchResultsJSON
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*r = SearchResults{v.Results, time.Duration(v.SearchTimeMS) * time.Millisecond, v.TotalFound}
	return nil
}

// Search finds commands by words of their names and texts. It returns the best
// results, at most limit (1 to 100; 0 is 10), and counts all. A command that
// List leaves out is never found, and no result is no error.
//
// In "tier1" are the commands whose name has every word of the query, be they
// in another order or letter case; names are split at "-", "_", ":", changes
// of case and digits. Their scores are above 0.7, and 1 where the query is the
// whole name. In "tier2", from 0.3 to 0.7, are those of which the name, the
// description, the tags (a list or text in the frontmatter), the headings or
// the rest of the text have words of the query, ranked by BM25F in this order
// of importance: the score is the share that a command has of what the query
// looks for, a rare word being more than a frequent one. In "tier3", below
// 0.3, are those of which only a saved report has words of the query (see
// WithReports): the newest four in either folder are searched.
//
// Words match in their English plural and verb forms, in any letter case, with
// or without accents. In a word of four letters or more that no command has,
// one typing error is forgiven (a letter missing, too many, wrong, or swapped
// with its neighbour). In text without blanks between words, such as Chinese,
// pairs of characters are matched. Words like "how", "the" and "for" do not
// count beside others. There is no other syntax: every query is words.
//
// The text is searched as far as its first 256 KiB and 4,096 different words go.
// A file that cannot be read just now is found by name and description.
//
// The first Search reads all files, and each later one those that have
// changed; what is kept of them is the words and not the text: some 20 bytes for
// each different one of a file, and some 120 more for one that no other file has.
// A file that was written in the last moment, and every file of a filesystem
// without change times (see [WithFs]), is read each time, or once in the time of
// WithCacheTTL; an embed.FS is read once (see [Immutable]). Otherwise the cost is that of
// List and about a millisecond over 10,000 commands, so for a search of
// thousands in a few milliseconds List must not look at each file: see WithWatch
// and WithCacheTTL. Where reports are configured their folders are listed too,
// some 35 µs for each, unless WithCacheTTL spares it, and those that are searched
// are looked at; reports that cannot be read are left out. The same files and
// query give the same results. What a filter refuses is never found; how rare a
// word is depends on all files.
//
// A query that is empty but for blanks or has over 500 characters, and a limit
// out of range, are ErrInvalidQuery. A search that takes over 5 seconds or
// longer than ctx allows is ErrSearchTimeout, and context.DeadlineExceeded as
// well; one that is canceled returns ctx's error. What the search has read by
// then is kept. For other errors see List; a default directory that is missing
// holds no commands here.
func (c *Catalog) Search(ctx context.Context, query string, limit int) (SearchResults, error) {
	return c.search(ctx, "Search", c.searchers.commands, c.commandFilter.of, query, limit)
}

// SearchSkills finds skills as Search does commands: among those of
// ListSkills, by the names of their folders and the texts of their SKILL.md.
// For errors of the folders see ListSkills.
func (c *Catalog) SearchSkills(ctx context.Context, query string, limit int) (SearchResults, error) {
	return c.search(ctx, "SearchSkills", c.searchers.skills, c.skillFilter.of, query, limit)
}

func (c *Catalog) search(ctx context.Context, op string, s *searcher, filter func(*index.Snapshot) *index.Snapshot, query string, limit int) (SearchResults, error) {
	begin := time.Now()
	if err := c.begin(ctx, op); err != nil {
		return SearchResults{}, searchError(op, err)
	}
	query = strings.TrimSpace(query)
	if limit == 0 {
		limit = defaultSearchLimit
	}
	switch n := utf8.RuneCountInString(query); {
	case n == 0:
		return SearchResults{}, &Error{Code: ErrInvalidQuery.Code, Op: op, Message: "the query is empty; use one word or more"}
	case n > maxQuery:
		return SearchResults{}, &Error{Code: ErrInvalidQuery.Code, Op: op,
			Message: fmt.Sprintf("the query has %d characters; use %d at most", n, maxQuery)}
	case limit < 1 || limit > maxSearchLimit:
		return SearchResults{}, &Error{Code: ErrInvalidQuery.Code, Op: op,
			Message: fmt.Sprintf("at most %d results are asked for; use 1 to %d", limit, maxSearchLimit)}
	}
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	snapshot, err := s.layers.snapshot(ctx, s.index)
	if err != nil {
		return SearchResults{}, searchError(op, s.layerError(op, err))
	}
	var keep func(name string) bool
	if shown := filter(snapshot); shown != snapshot {
		keep = func(name string) bool { return shown.Lookup(name) != nil }
	}
	results, err := await(ctx, c, func(ctx context.Context) (SearchResults, error) { return s.find(ctx, c, snapshot, query, limit, keep) })
	if err != nil {
		return SearchResults{}, searchError(op, s.layerError(op, err))
	}
	results.SearchTime = time.Since(begin)
	return results, nil
}

// searchError gives a deadline that has passed the code that the contract has
// for it.
func searchError(op string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && CodeOf(err) == "" {
		return &Error{Code: ErrSearchTimeout.Code, Op: op, Err: err,
			Message: "the search took too long; try again, since what was read is kept, or allow it more time"}
	}
	return err
}

// searchers are what a catalog searches.
type searchers struct {
	commands, skills *searcher
}

func newSearchers(c *Catalog) searchers {
	s := searchers{
		commands: newSearcher(c.commands, c.config.commands, func(e *index.Entry) string { return e.Description }, c.commandsError),
		skills:   newSearcher(c.skills, c.config.skills, func(e *index.Entry) string { return c.skillInfo(e).Description }, c.skillsError),
	}
	if c.config.reports.configured() {
		s.commands.evidence = newEvidence()
	}
	return s
}

// A searcher keeps the searched texts of an index. It is made by newSearcher.
type searcher struct {
	index       *index.Index
	layers      layers
	description func(*index.Entry) string
	layerError  func(op string, err error) error
	evidence    *evidence // nil where there are no reports

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
	read time.Time // by the clock for WithCacheTTL; zero if the file could not be read
}

const readers = 1 << 20

func newSearcher(x *index.Index, l layers, description func(*index.Entry) string, layerError func(op string, err error) error) *searcher {
	return &searcher{index: x, layers: l, description: description, layerError: layerError,
		lock: semaphore.NewWeighted(readers), unsettled: map[*index.Entry]unsettledText{}}
}

// find searches a snapshot, or a later one that another call has come with.
func (s *searcher) find(ctx context.Context, c *Catalog, snapshot *index.Snapshot, query string, limit int, keep func(name string) bool) (SearchResults, error) {
	if s.evidence != nil {
		if err := s.evidence.update(ctx, c, s, snapshot); err != nil {
			return SearchResults{}, err
		}
	}
	if err := s.lock.Acquire(ctx, 1); err != nil {
		return SearchResults{}, err
	}
	if s.generation < snapshot.Generation || len(s.unsettled) > 0 && c.expired(s.oldest) {
		s.lock.Release(1)
		if err := s.lock.Acquire(ctx, readers); err != nil {
			return SearchResults{}, err
		}
		err := s.update(ctx, c, snapshot)
		s.lock.Release(readers - 1)
		if err != nil {
			s.lock.Release(1)
			return SearchResults{}, err
		}
	}
	defer s.lock.Release(1)
	hits, total, err := s.ranked.Search(ctx, query, limit, keep)
	if err != nil {
		return SearchResults{}, err
	}
	results := SearchResults{Results: make([]SearchResult, len(hits)), TotalFound: total}
	for i, h := range hits {
		results.Results[i] = SearchResult{Name: h.Name, Score: h.Score, Tier: fmt.Sprintf("tier%d", h.Tier),
			Description: h.Description, MatchReason: h.Reason}
	}
	return results, nil
}

// update makes ranked hold what the snapshot has. When ctx ends, what was done
// until then is kept.
func (s *searcher) update(ctx context.Context, c *Catalog, snapshot *index.Snapshot) error {
	if c.expired(s.oldest) {
		for _, e := range slices.Collect(maps.Keys(s.unsettled)) {
			if !c.expired(s.unsettled[e].read) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			s.put(c, e)
		}
		s.oldest = c.config.now()
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
		s.put(c, e)
	}
	for _, e := range before {
		s.remove(e)
	}
	s.entries, s.generation = snapshot.Entries, snapshot.Generation
	return nil
}

// expired reports whether WithCacheTTL requires another look at what was looked
// at then.
func (c *Catalog) expired(then time.Time) bool {
	return c.config.ttl == 0 || c.config.now().Sub(then) >= c.config.ttl
}

func (s *searcher) remove(e *index.Entry) {
	s.ranked.Remove(e.Name)
	delete(s.unsettled, e)
}

var searchSeed = maphash.MakeSeed()

// put reads the file of an entry and ranks it, unless it is known to be as it
// was.
func (s *searcher) put(c *Catalog, e *index.Entry) {
	known, again := s.unsettled[e]
	delete(s.unsettled, e)
	d := rank.Document{Name: e.Name, Description: s.description(e)}
	if e.Broken == nil {
		layer := s.index.Layer(e.Layer)
		now, u := time.Now(), unsettledText{read: c.config.now()}
		raw, info, err := c.readText(layer.FS, e.Path)
		u.hash = maphash.Bytes(searchSeed, raw)
		if err != nil {
			u.read = time.Time{}
		}
		if err != nil || !s.index.Settled(e.Layer, info, now) && !(c.config.watch && layer.Fixed) {
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
func (c *Catalog) readText(fsys *confine.FS, name string) ([]byte, confine.Info, error) {
	f, err := fsys.OpenRegular(name)
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer f.Close()
	info := f.Info()
	if info.Size > c.config.maxFileSize {
		return nil, info, index.ErrTooLarge
	}
	raw := make([]byte, min(info.Size, matter.MaxHead+rank.MaxText))
	n, err := f.ReadHead(raw)
	if err != nil {
		return nil, info, err
	}
	return raw[:n], info, nil
}
