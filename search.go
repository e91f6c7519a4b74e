package toolshelf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/reports"
	"github.com/toolshelf-go/toolshelf/internal/search"
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

func (c *Catalog) search(ctx context.Context, op string, s *searchable, filter func(*index.Snapshot) *index.Snapshot, query string, limit int) (SearchResults, error) {
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
	found, err := await(ctx, c, func(ctx context.Context) (search.Result, error) {
		return s.Find(ctx, snapshot, query, limit, keep)
	})
	if err != nil {
		return SearchResults{}, searchError(op, s.layerError(op, err))
	}
	results := SearchResults{Results: make([]SearchResult, len(found.Hits)), TotalFound: found.Total}
	for i, h := range found.Hits {
		results.Results[i] = SearchResult{Name: h.Name, Score: h.Score, Tier: fmt.Sprintf("tier%d", h.Tier),
			Description: h.Description, MatchReason: h.Reason}
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
	commands, skills *searchable
}

// A searchable is the commands or the skills of a catalog with their Searcher.
type searchable struct {
	*search.Searcher
	index      *index.Index
	layers     layers
	layerError func(op string, err error) error
}

func newSearchers(c *Catalog) searchers {
	config := search.Config{
		MaxFileSize: c.config.maxFileSize,
		TTL:         c.config.ttl,
		Now:         c.config.now,
		Watch:       c.config.watch,
		Logger:      c.config.logger,
	}
	skills := config
	skills.Index = c.skills
	skills.Description = func(e *index.Entry) string { return c.skillInfo(e).Description }
	commands := config
	commands.Index = c.commands
	commands.Description = func(e *index.Entry) string { return e.Description }
	for _, d := range []*reports.Directory{&c.reports.shared, &c.reports.local} {
		if d.FS != nil {
			commands.Reports = append(commands.Reports, d)
		}
	}
	return searchers{
		commands: &searchable{search.New(commands), c.commands, c.config.commands, c.commandsError},
		skills:   &searchable{search.New(skills), c.skills, c.config.skills, c.skillsError},
	}
}
