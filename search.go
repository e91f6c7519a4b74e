package toolshelf

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/rank"
	"github.com/toolshelf-go/toolshelf/internal/search"
)

// The limits of a search.
const (
	maxQuery           = 500 // characters
	defaultSearchLimit = 10
	maxSearchLimit     = 100
	searchTimeout      = 5 * time.Second
)

// SearchResults are the best matches of a search.
type SearchResults struct {
	Results    []SearchResult `json:"results"`     // by descending Score, then by the bytes of Name; with WithSearcher, in the order of the engine
	SearchTime time.Duration  `json:"-"`           // duration of the search; in JSON search_time_ms
	TotalFound int            `json:"total_found"` // number of matches before the limit

	// Semantic tells that the meaning of WithEmbedder counts. If Semantic is false, the results
	// depend on words alone.
	Semantic bool `json:"semantic,omitempty"`

	// Partial tells that the texts of some files are not read yet: these files are found by their
	// names and descriptions alone, and Weak is false. The catalog reads the texts in the
	// background, so a later Search finds more.
	Partial bool `json:"partial,omitempty"`

	// Weak tells that no result has a third of the words of the query, weighted by their rarity.
	// Words then has up to eight words of the names in the catalog, for another query. With
	// WithSearcher, Weak is false.
	Weak  bool     `json:"weak,omitempty"`
	Words []string `json:"words,omitempty"`
}

// A SearchResult is a matching command or skill.
type SearchResult struct {
	Name        string  `json:"name"`  // the argument for Get or GetSkill
	Score       float64 `json:"score"` // above 0, at most 1, of three digits; with WithSearcher, 0 is possible
	Tier        string  `json:"tier"`  // "tier1", "tier2" or "tier3"
	Description string  `json:"description"`
	MatchReason string  `json:"match_reason"`     // the matching words by field, such as: name matches "slow meeting"; or: meaning
	Plugin      string  `json:"plugin,omitempty"` // the name of the plugin, which begins Name; "" for a result of no plugin
}

// MarshalJSON returns an object with results (never null), search_time_ms (in whole
// milliseconds), total_found and, if true, semantic, partial and weak, with words.
func (r SearchResults) MarshalJSON() ([]byte, error) {
	type fields SearchResults
	return json.Marshal(struct {
		Results      []SearchResult `json:"results"`
		SearchTimeMS int64          `json:"search_time_ms"`
		fields
	}{append([]SearchResult{}, r.Results...), r.SearchTime.Milliseconds(), fields(r)})
}

// Search finds commands by the words of their names and texts. Search returns at most limit results
// (1 to 100; 0 means 10), best first, and the number of matches. Search never returns a command
// that List omits.
//
// Words match in their English forms (Porter2), in any letter case, with or without accents, and
// with one typing error if no command contains the word. The tier of a result tells whether the
// name ("tier1"), another part of the file ("tier2") or only a saved report ("tier3") matches. With
// [WithEmbedder], also the meaning ranks in tier2.
//
// Search returns [ErrInvalidQuery] for an empty query, one of more than 500 characters and a limit
// out of range, [ErrSearchTimeout] at the deadline of ctx or if the names are not known after 5
// seconds, and the errors of [Catalog.List], but a missing default directory contains no commands.
// The first Search reads all files; see Partial. The document docs/methods.md has the details.
func (c *Catalog) Search(ctx context.Context, query string, limit int, opts ...SearchOption) (SearchResults, error) {
	return searchIn(ctx, c, c.commands, "Search", query, limit, opts)
}

// SearchSkills is [Catalog.Search] for the skills of ListSkills. SearchSkills searches
// the names of the directories and the texts of the SKILL.md files, and returns the
// errors of [Catalog.ListSkills] for the directories.
func (c *Catalog) SearchSkills(ctx context.Context, query string, limit int, opts ...SearchOption) (SearchResults, error) {
	const op = "SearchSkills"
	near, err := c.near(ctx, op, pathOf(opts))
	if err != nil {
		return SearchResults{}, c.skills.searchError(ctx, op, err)
	}
	return searchIn(ctx, near, near.skills, op, query, limit, opts)
}

func searchIn(ctx context.Context, c *Catalog, in *collection, op, query string, limit int, opts []SearchOption) (SearchResults, error) {
	begin := time.Now()
	if err := c.begin(ctx, op); err != nil {
		return SearchResults{}, in.searchError(ctx, op, err)
	}
	var options searchOptions
	each(opts, func(opt SearchOption) { opt.applySearch(&options) })
	query = strings.TrimSpace(query)
	limit = cmp.Or(limit, defaultSearchLimit)
	switch n := utf8.RuneCountInString(query); {
	case n == 0:
		return SearchResults{}, &Error{Code: CodeInvalidQuery, Op: op, Message: "the query is empty; use at least one word"}
	case n > maxQuery:
		return SearchResults{}, &Error{Code: CodeInvalidQuery, Op: op,
			Message: fmt.Sprintf("the query has %d characters; use at most %d", n, maxQuery)}
	case limit < 1 || limit > maxSearchLimit:
		return SearchResults{}, &Error{Code: CodeInvalidQuery, Op: op,
			Message: fmt.Sprintf("the limit %d is out of range; use 1 to %d", limit, maxSearchLimit)}
	}
	progress := newReporter(options.progress, func() (entries, files int64) { return in.FilesRead(), in.finder.FilesRead() })
	o := c.observer.Begin(ctx)
	found, err := findCurrent(ctx, c, in, progress, op, query, limit)
	progress.End(err)
	err = in.searchError(ctx, op, err)
	o.Send(Event{Action: EventSearched, Kind: Kind(in.noun), Count: len(found.Hits)}, err)
	if err != nil {
		return SearchResults{}, err
	}
	results := SearchResults{Results: make([]SearchResult, len(found.Hits)), TotalFound: found.Total, Semantic: found.Semantic,
		Partial: found.Partial, Weak: found.Weak, Words: found.Words}
	last := in.Last() // at least as new as the searched snapshot
	for i, h := range found.Hits {
		if e := last.Lookup(h.Name); in.forModel && e != nil && in.exposure(e) == ExposeName {
			h.Description = ""
		}
		results.Results[i] = SearchResult{Plugin: last.Plugin(h.Name), Name: in.shownName(last, h.Name), Score: h.Score, Tier: fmt.Sprintf("tier%d", h.Tier),
			Description: h.Description, MatchReason: h.Reason}
	}
	results.SearchTime = time.Since(begin)
	return results, nil
}

// findCurrent searches the current entries that pass the filter.
func findCurrent(ctx context.Context, c *Catalog, in *collection, progress *parallel.Reporter, op, query string, limit int) (search.Result, error) {
	names, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	if slices.ContainsFunc(in.layers, func(l layer) bool { return l.FS != nil }) {
		names = ctx // a remote store can need longer to list many files
	}
	snapshot, err := parallel.Reported(names, progress, func(ctx context.Context) (*index.Snapshot, error) { return in.optionalSnapshot(ctx, op) })
	if err != nil {
		return search.Result{}, err
	}
	shown := in.filter.Apply(ctx, snapshot)
	if in.engine != nil {
		ctx, cancel = context.WithTimeout(ctx, searchTimeout)
		defer cancel()
	}
	found, err := parallel.Reported(ctx, progress, func(ctx context.Context) (search.Result, error) {
		return await(ctx, c, func(ctx context.Context) (search.Result, error) {
			return in.find(ctx, op, snapshot, shown, query, limit)
		})
	})
	return found, in.layerError(op, err)
}

// searchError adds the code ErrSearchTimeout to the error of a deadline, of ctx or of the search.
func (c *collection) searchError(ctx context.Context, op string, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) || CodeOf(err) != "" {
		return err
	}
	message := fmt.Sprintf("the names of the %ss are not known after %d seconds; list the %[1]ss, "+
		"which has no time limit, and repeat the search", c.noun, searchTimeout/time.Second)
	if ctx.Err() != nil {
		message = "the time of the call ended before the search; repeat the search with more time"
	}
	return &Error{Code: CodeSearchTimeout, Op: op, Err: err, Message: message}
}

// find returns the best hits among the shown entries of a snapshot. If the caller set no
// Searcher, the built-in search finds the hits.
func (c *collection) find(ctx context.Context, op string, all, shown *index.Snapshot, query string, limit int) (search.Result, error) {
	if c.engine != nil {
		return c.findWithEngine(ctx, op, shown, query, limit)
	}
	var keep func(name string) bool
	if shown != all {
		keep = func(name string) bool { return shown.Lookup(name) != nil }
	}
	if c.way == nil {
		return c.finder.Find(ctx, all, query, limit, keep)
	}
	found, err := c.finder.Find(ctx, c.way.Root, query, limit, keep)
	if err != nil {
		return found, err
	}
	return c.finder.FindBeside(ctx, found, c.Index, shown.Where(c.way.Has), query, limit)
}

// shownName returns the name of an entry of a snapshot as a list shows the name.
func (c *collection) shownName(s *index.Snapshot, name string) string {
	if e := s.Lookup(name); e != nil {
		return c.way.Name(e)
	}
	return name
}

func (c *collection) findWithEngine(ctx context.Context, op string, shown *index.Snapshot, query string, limit int) (search.Result, error) {
	ask := func(limit int) ([]Hit, int, error) {
		hits, total, err := c.engine.Search(ctx, query, limit)
		return hits, total, cmp.Or(ctx.Err(), err)
	}
	hit := func(h Hit) rank.Hit { return rank.Hit{Name: h.Name, Score: h.Score, Reason: h.Reason} }
	found, err := search.FromEngine(shown, limit, ask, hit, c.description)
	if err != nil {
		err = cmp.Or(ctx.Err(), error(&Error{Code: CodeSearchFailed, Op: op, Err: err,
			Message: "the search engine failed; repeat the search, or list all names"}))
	}
	return found, err
}
