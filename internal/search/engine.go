package search

import (
	"math"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/rank"
)

// maxAsked is the maximum number of hits that FromEngine asks for.
const maxAsked = 1000

// FromEngine returns the best hits of an engine among the entries that a snapshot lists and that
// can be loaded, without repeated names. ask returns at most limit hits and the number of all
// matches, and hit converts name, score and reason of a hit. If the snapshot lacks too many hits,
// FromEngine asks for more.
func FromEngine[H any](
	shown *index.Snapshot, limit int, ask func(limit int) ([]H, int, error),
	hit func(H) rank.Hit, description func(*index.Entry) string,
) (Result, error) {
	for asked := min(limit, maxAsked); ; asked = min(4*asked, maxAsked) {
		hits, total, err := ask(asked)
		if err != nil {
			return Result{}, err
		}
		highest := 1.0
		var kept []rank.Hit
		seen := make(map[string]bool, len(hits))
		for _, h := range hits {
			k := hit(h)
			e := shown.Listed(k.Name)
			if e == nil || e.Broken() != nil || seen[k.Name] {
				continue
			}
			seen[k.Name] = true
			k.Key, k.Description, k.Tier, k.Score = k.Name, description(e), rank.Matched, finite(k.Score)
			highest = max(highest, k.Score)
			kept = append(kept, k)
		}
		for i := range kept {
			kept[i].Score = rank.Round(kept[i].Score / highest)
		}
		if len(kept) >= limit || len(hits) < asked || asked == maxAsked {
			total = max(total, len(hits)) - len(hits) + len(kept)
			return Result{Result: rank.Result{Hits: kept[:min(limit, len(kept))], Total: total}}, nil
		}
	}
}

// finite returns the score, or 0 for a negative score and for NaN, or the largest number
// for +Inf.
func finite(score float64) float64 {
	if !(score > 0) {
		return 0
	}
	return min(score, math.MaxFloat64)
}
