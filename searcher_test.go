package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
)

// An engine is a toolshelf.Searcher that finds the same hits for every query.
type engine struct {
	hits   []toolshelf.Hit
	err    error
	limits *[]int // receives the limit of each call, unless nil
}

func (e engine) Search(_ context.Context, _ string, limit int) ([]toolshelf.Hit, int, error) {
	if e.limits != nil {
		*e.limits = append(*e.limits, limit)
	}
	return e.hits[:min(limit, len(e.hits))], len(e.hits), e.err
}

func hits(names ...string) (all []toolshelf.Hit) {
	for i, name := range names {
		all = append(all, toolshelf.Hit{Name: name, Score: 1 / float64(1+i)})
	}
	return all
}

func withEngine(t *testing.T, opts ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	files := map[string]string{
		"commands/deploy.md":     "Ship a release.\n",
		"commands/Rollback.md":   "Undo a release.\n",
		"commands/style.md":      "---\nis_dependency: true\n---\nActive voice.\n",
		"skills/pdf/SKILL.md":    "---\nname: pdf\ndescription: Reads forms.\n---\n",
		"skills/broken/SKILL.md": "---\nname: [\n---\n",
	}
	c, err := toolshelf.New(append([]toolshelf.Option{toolshelf.WithFs(project(files))}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestSearcherFindsOnlyListedNames(t *testing.T) {
	c := withEngine(t, toolshelf.WithSearcher(engine{hits: hits("style", "gone", "Rollback", "rollback", "deploy", "Rollback")}, nil))
	found, err := c.Search(t.Context(), "release", 0)
	if err != nil {
		t.Fatal(err)
	}
	found.SearchTime = 0
	want := toolshelf.SearchResults{TotalFound: 2, Results: []toolshelf.SearchResult{
		{Name: "Rollback", Score: 1 / 3.0, Tier: "tier2", Description: "Undo a release."},
		{Name: "deploy", Score: 1 / 5.0, Tier: "tier2", Description: "Ship a release."},
	}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSearcherHitsPassTheFilters(t *testing.T) {
	c := withEngine(t, toolshelf.WithSearcher(engine{hits: hits("deploy", "Rollback")}, nil))
	view, err := c.View(toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Name != "deploy" }))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("Rollback/tier2", search(t, view, "release")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSearcherReplacesOnlyItsOwnMethod(t *testing.T) {
	c := withEngine(t, toolshelf.WithSearcher(nil, engine{hits: hits("pdf", "deploy")}))
	if diff := cmp.Diff("deploy/tier1", search(t, c, "deploy")); diff != "" {
		t.Errorf("Search, -want +got:\n%s", diff)
	}
	found, err := c.SearchSkills(t.Context(), "anything", 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("pdf/tier2", tiers(found)); diff != "" {
		t.Errorf("SearchSkills, -want +got:\n%s", diff)
	}
}

// Omitted hits must not leave fewer results than the engine has.
func TestSearcherIsAskedForMoreHits(t *testing.T) {
	for _, test := range []struct {
		name    string
		omitted int
		want    string
		limits  []int
	}{
		{"no hit is omitted", 0, "deploy/tier2", []int{1}},
		{"some hits are omitted", 10, "deploy/tier2", []int{1, 4, 16}},
		{"more hits than a search asks for are omitted", 2000, "", []int{1, 4, 16, 64, 256, 1000}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var names []string
			for i := range test.omitted {
				names = append(names, fmt.Sprint("gone-", i))
			}
			var limits []int
			c := withEngine(t, toolshelf.WithSearcher(engine{hits: hits(append(names, "deploy")...), limits: &limits}, nil))
			found, err := c.Search(t.Context(), "release", 1)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, tiers(found)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(test.limits, limits); diff != "" {
				t.Errorf("limits, -want +got:\n%s", diff)
			}
		})
	}
}

func TestSearcherScoresBecomeAtMostOne(t *testing.T) {
	for _, test := range []struct{ scores, want []float64 }{
		{[]float64{0.5, 0.25}, []float64{0.5, 0.25}},
		{[]float64{8, 2}, []float64{1, 0.25}},
		{[]float64{0, 0}, []float64{0, 0}},
		{[]float64{-1, math.NaN()}, []float64{0, 0}},
		{[]float64{math.Inf(1), math.MaxFloat64}, []float64{1, 1}},
	} {
		c := withEngine(t, toolshelf.WithSearcher(engine{hits: []toolshelf.Hit{{Name: "deploy", Score: test.scores[0]}, {Name: "Rollback", Score: test.scores[1]}}}, nil))
		found, err := c.Search(t.Context(), "release", 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, r := range found.Results {
			got = append(got, r.Score)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v, -want +got:\n%s", test.scores, diff)
		}
	}
}

// The total of an engine may be too small.
func TestSearcherTotalIsAtLeastTheNumberOfResults(t *testing.T) {
	for _, total := range []int{0, 1, -1, math.MinInt} {
		engine := func(context.Context) ([]toolshelf.Hit, int, error) {
			return hits("deploy", "unlisted", "Rollback"), total, nil
		}
		c := withEngine(t, toolshelf.WithSearcher(searchFunc(engine), nil))
		if found, err := c.Search(t.Context(), "release", 0); err != nil || found.TotalFound != 2 {
			t.Errorf("%d: %d, %v", total, found.TotalFound, err)
		}
	}
}

type searchFunc func(ctx context.Context) ([]toolshelf.Hit, int, error)

func (f searchFunc) Search(ctx context.Context, _ string, _ int) ([]toolshelf.Hit, int, error) {
	return f(ctx)
}

func TestSearcherErrorHasACode(t *testing.T) {
	down := errors.New("dial 10.0.0.1: connection refused")
	c := withEngine(t, toolshelf.WithSearcher(engine{err: down}, nil))
	_, err := c.Search(t.Context(), "release", 0)
	if !errors.Is(err, toolshelf.ErrSearchFailed) || !errors.Is(err, down) || strings.Contains(err.Error(), "10.0.0.1") {
		t.Errorf("%v", err)
	}
}

func TestSearchDoesNotWaitForASearcherAfterItsContext(t *testing.T) {
	block := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	c := withEngine(t, toolshelf.WithSearcher(searchFunc(func(context.Context) ([]toolshelf.Hit, int, error) {
		cancel()
		<-block
		return nil, 0, nil
	}), nil))
	t.Cleanup(func() { close(block) })
	if _, err := c.Search(ctx, "release", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestPromptForAsksTheSearcher(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		files["skills/"+name+"/SKILL.md"] = "---\nname: " + name + "\ndescription: Does " + name + ".\n---\n"
	}
	c, err := toolshelf.New(toolshelf.WithFs(project(files)), toolshelf.WithSearcher(nil, engine{hits: hits("c")}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	whole, err := c.SkillsPrompt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cut, err := c.SkillsPrompt(t.Context(), toolshelf.PromptFor("anything"), toolshelf.PromptBudget(len(whole.Text)*3/4))
	if err != nil {
		t.Fatal(err)
	}
	if len(cut.Dropped) == 0 || !slices.Contains(cut.Included, "c") {
		t.Errorf("included %q, dropped %q", cut.Included, cut.Dropped)
	}
}
