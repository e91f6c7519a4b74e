package toolshelf

import (
	"context"
	"math"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/rank"
	"github.com/toolshelf-go/toolshelf/internal/search"
)

// A Searcher is a search engine for the commands or for the skills of a catalog: Bleve,
// Meilisearch, a database. [WithSearcher] replaces the built-in search with a Searcher.
// The program puts the texts into the engine, for example in a function that
// [Catalog.OnChange] calls. The directory examples/bleve has a program.
type Searcher interface {
	// Search returns the best hits for a query, the best hit first, and the total number
	// of matches. The query has 1 to 500 characters without space at both ends. The limit
	// is 1 to 1,000. Search returns at most limit hits, and nil if nothing matches.
	//
	// Several goroutines call Search at the same time. Search must return soon after ctx
	// ends. A caller whose ctx ends does not wait for Search.
	Search(ctx context.Context, query string, limit int) (hits []Hit, total int, err error)
}

// A Hit is a match that a [Searcher] found.
type Hit struct {
	Name   string  // of the command or skill, as List or ListSkills returns the name
	Score  float64 // 0 or more; a better match has a higher score
	Reason string  // becomes SearchResult.MatchReason; may be empty
}

// WithSearcher makes Search use the engine commands and SearchSkills use the engine
// skills. If an engine is nil, its method keeps the built-in search. [PromptFor] uses the
// same engines. Use an engine for more than 100,000 commands or skills: the built-in
// search keeps 2.5 to 3 KB for a file of 7 KB in memory, and each process reads every
// file for the first search.
//
// Search omits the hits that List omits: names that the last scan did not find, names
// that a filter rejects, dependencies and repeated names. Search asks the engine for more
// hits if omitted hits leave fewer than limit, up to 1,000 hits. TotalFound is the total
// of the engine without the omitted hits.
//
// The results keep the order of the engine and have the tier "tier2". If a score is above
// 1, Search divides all scores by the highest score. A negative score and NaN become 0.
// Search does not read the files or the reports, so no result has the tier "tier3".
//
// If the engine returns an error, Search returns [ErrSearchFailed], which wraps the error
// of the engine.
func WithSearcher(commands, skills Searcher) Option {
	return optionFunc(func(c *config) error {
		c.commandSearcher, c.skillSearcher = commands, skills
		return nil
	})
}

// maxHits is the maximum number of hits that a Search asks from a Searcher.
const maxHits = 1000

// find returns the best hits among the shown entries of a snapshot. If the caller set no
// Searcher, the built-in search finds the hits.
func (c *collection[Info]) find(ctx context.Context, op string, all, shown *index.Snapshot, query string, limit int) (search.Result, error) {
	if c.engine != nil {
		return c.findWithEngine(ctx, op, shown, query, limit)
	}
	var keep func(name string) bool
	if shown != all {
		keep = func(name string) bool { return shown.Lookup(name) != nil }
	}
	return c.searcher.Find(ctx, all, query, limit, keep)
}

func (c *collection[Info]) findWithEngine(ctx context.Context, op string, shown *index.Snapshot, query string, limit int) (search.Result, error) {
	ask := min(limit, maxHits)
	for {
		hits, total, err := c.engine.Search(ctx, query, ask)
		if ctx.Err() != nil {
			return search.Result{}, ctx.Err()
		}
		if err != nil {
			return search.Result{}, &Error{Code: CodeSearchFailed, Op: op, Err: err, Message: "the search engine failed; repeat the search, or list all names"}
		}
		result := c.listedHits(shown, hits, total)
		if len(result.Hits) >= limit || len(hits) < ask || ask == maxHits {
			result.Hits = result.Hits[:min(limit, len(result.Hits))]
			return result, nil
		}
		ask = min(4*ask, maxHits)
	}
}

// listedHits returns the hits that a snapshot lists and that can be loaded, without repeated names.
func (c *collection[Info]) listedHits(shown *index.Snapshot, hits []Hit, total int) search.Result {
	highest := 1.0
	var kept []rank.Hit
	seen := make(map[string]bool, len(hits))
	for _, h := range hits {
		e := shown.Listed(h.Name)
		if e == nil || e.Broken() != nil || seen[h.Name] {
			continue
		}
		seen[h.Name] = true
		score := finite(h.Score)
		highest = max(highest, score)
		kept = append(kept, rank.Hit{Key: h.Name, Name: h.Name, Description: c.description(e), Tier: rank.Matched, Score: score, Reason: h.Reason})
	}
	for i := range kept {
		kept[i].Score /= highest
	}
	return search.Result{Hits: kept, Total: max(total, len(hits)) - len(hits) + len(kept)}
}

// finite returns the score, or 0 for a negative score and for NaN, or the largest number
// for +Inf.
func finite(score float64) float64 {
	if !(score > 0) {
		return 0
	}
	return min(score, math.MaxFloat64)
}
