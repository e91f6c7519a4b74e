package toolshelf_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// search returns the names and tiers of the results of a query.
func search(t testing.TB, c *toolshelf.Catalog, query string) string {
	t.Helper()
	return tiers(must.Get(c.Search(t.Context(), query, 0))(t))
}

func tiers(found toolshelf.SearchResults) string {
	var all []string
	for _, r := range found.Results {
		all = append(all, r.Name+"/"+r.Tier)
	}
	return strings.Join(all, " ")
}

func TestSearchFindsCommands(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		c := open(toolshelf.WithNestedCommands())
		for _, test := range []struct{ name, query, want string }{
			{"by words of the name", "logs analyze", "analyze-logs/tier1"},
			{"by the directory in the name", "frontend component", "frontend:component/tier1"},
			{"by the description", "cause of failures", "analyze-logs/tier2"},
			{"by a tag", "incidents", "analyze-logs/tier2"},
			{"by the text", "first error", "analyze-logs/tier2"},
			{"with a typing error", "analzye", "analyze-logs/tier2"},
			{"none that is a dependency", "active voice", ""},
			{"none", "xylophone", ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				must.Match(t, test.query, test.want, search(t, c, test.query))
			})
		}
	})
}

func TestSearchSkillsFindsSkills(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		c := open()
		for query, want := range map[string]string{
			"pdf":         "pdf-tools/tier1",
			"forms":       "pdf-tools/tier2",
			"no file":     "pdf-tools/tier2", // not the directory no-file, which has no SKILL.md
			"fill a form": "pdf-tools/tier2",
		} {
			must.Match(t, query, want, tiers(must.Get(c.SearchSkills(t.Context(), query, 0))(t)))
		}
		found := must.Get(c.SearchSkills(t.Context(), "pdf", 0))(t)
		want := []toolshelf.SearchResult{{Name: "pdf-tools", Score: found.Results[0].Score, Tier: "tier1",
			Description: "Read and fill PDF forms.\nUse when a form is mentioned.", MatchReason: `name matches "pdf"`}}
		must.Match(t, "result", want, found.Results)
	})
}

func TestAWeakSearchOffersWordsOfShownNames(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(catalogtest.Memory(t, map[string]string{
		"/commands/deploy-docs.md": "Publish the pages.", "/commands/review.md": "Look at a change.", "/commands/secret.md": "Hidden.",
	})), toolshelf.WithRoot("/"), toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Name != "secret" }))
	for query, want := range map[string][]string{"translate a novel": {"deploy", "docs", "review"}, "publish": nil, "rev": nil} {
		found, err := c.Search(t.Context(), query, 0)
		if diff := cmp.Diff(want, found.Words); diff != "" || err != nil || found.Weak != (want != nil) {
			t.Errorf("%q: weak is %v, %v, -want +got:\n%s", query, found.Weak, err, diff)
		}
	}
}

func TestSearchResultsAsJSON(t *testing.T) {
	for _, test := range []struct {
		name    string
		results toolshelf.SearchResults
		want    string
	}{
		{"some", toolshelf.SearchResults{
			Results: []toolshelf.SearchResult{{Name: "analyze-slow-meeting", Score: 0.93, Tier: "tier1",
				Description: "Find the cause", MatchReason: `name matches "slow meeting"`}},
			SearchTime: 2 * time.Millisecond, TotalFound: 7},
			`{"results":[{"name":"analyze-slow-meeting","score":0.93,"tier":"tier1","description":"Find the cause",` +
				`"match_reason":"name matches \"slow meeting\""}],"search_time_ms":2,"total_found":7}`},
		{"none", toolshelf.SearchResults{}, `{"results":[],"search_time_ms":0,"total_found":0}`},
		{"by meaning", toolshelf.SearchResults{Semantic: true}, `{"results":[],"search_time_ms":0,"total_found":0,"semantic":true}`},
		{"partial", toolshelf.SearchResults{Partial: true}, `{"results":[],"search_time_ms":0,"total_found":0,"partial":true}`},
		{"weak", toolshelf.SearchResults{Weak: true, Words: []string{"deploy"}}, `{"results":[],"search_time_ms":0,"total_found":0,"weak":true,"words":["deploy"]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := must.Get(json.Marshal(test.results))(t)
			must.Match(t, "result", test.want, string(got))
			if test.results.Results == nil {
				test.results.Results = []toolshelf.SearchResult{}
			}
			var back toolshelf.SearchResults
			must.Do(t, json.Unmarshal(got, &back))
			test.results.SearchTime = 0 // not read again
			must.Match(t, "read again", test.results, back)
		})
	}
}

func TestSearchChecksQueryAndLimit(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memory(t, ".")))
	for _, test := range []struct {
		name  string
		query string
		limit int
		want  error
	}{
		{"an empty query", "", 1, toolshelf.ErrInvalidQuery},
		{"a blank query", " \t\n\u3000", 1, toolshelf.ErrInvalidQuery},
		{"501 characters", strings.Repeat("x", 501), 1, toolshelf.ErrInvalidQuery},
		{"500 characters and blanks around", " " + strings.Repeat("会", 500) + " ", 1, nil},
		{"one character", "x", 1, nil},
		{"no word", "?", 1, nil},
		{"no UTF-8", "\xff", 1, nil},
		{"a negative limit", "logs", -1, toolshelf.ErrInvalidQuery},
		{"a limit of 101", "logs", 101, toolshelf.ErrInvalidQuery},
		{"a limit of 100", "logs", 100, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, search := range []func(context.Context, string, int, ...toolshelf.SearchOption) (toolshelf.SearchResults, error){c.Search, c.SearchSkills} {
				if _, err := search(t.Context(), test.query, test.limit); !errors.Is(err, test.want) || (test.want == nil) != (err == nil) {
					t.Errorf("the error is %v, want %v", err, test.want)
				}
			}
		})
	}
}

func TestSearchWithoutADirectory(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithCommandsDir("commands"), toolshelf.WithSkillsDir("skills"))
	for op, search := range map[string]func(context.Context, string, int, ...toolshelf.SearchOption) (toolshelf.SearchResults, error){"toolshelf: Search: ": c.Search, "toolshelf: SearchSkills: ": c.SearchSkills} {
		if _, err := search(t.Context(), "x", 0); !errors.Is(err, toolshelf.ErrDirectoryNotFound) || !strings.HasPrefix(err.Error(), op) {
			t.Errorf("%s%v", op, err)
		}
	}
}

func TestSearchAfterClose(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memory(t, ".")))
	search(t, c, "logs")
	c.Close()
	must.Fail(c.Search(t.Context(), "logs", 0))(t, "Search", toolshelf.ErrClosed)
}

func TestSearchReturnsAtMostTheLimitAndCountsAll(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("commands/c%02d.md", i)] = "Same text.\n"
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
	for limit, want := range map[int]int{0: 10, 1: 1, 29: 29, 100: 30} {
		found := must.Get(c.Search(t.Context(), "same", limit))(t)
		if len(found.Results) != want || found.TotalFound != 30 || found.SearchTime < 0 { // 0 within a tick of the clock
			t.Errorf("limit %d: %d of %d in %v", limit, len(found.Results), found.TotalFound, found.SearchTime)
		}
		for i, r := range found.Results {
			must.Equal(t, i, fmt.Sprintf("c%02d", i), r.Name)
		}
	}
}

func TestSearchSeesEveryChange(t *testing.T) {
	fsys := memoryOf(t, map[string]string{
		"commands/a.md": "---\ndescription: Count apples\n---\nBody.\n",
		"commands/b.md": "---\ndescription: Count pears\n---\nBody.\n",
	})
	c := catalog(t, toolshelf.WithFs(fsys))
	write := func(name, text string, at time.Time) {
		t.Helper()
		must.Do(t, errors.Join(afero.WriteFile(fsys, name, []byte(text), 0o644), fsys.Chtimes(name, at, at)))
	}
	expect := func(query, want string) {
		t.Helper()
		must.Match(t, query, want, search(t, c, query))
	}
	expect("apples", "a/tier2")
	expect("count", "a/tier2 b/tier2")

	write("commands/a.md", "---\ndescription: Count plums\n---\nBody.\n", written.Add(time.Second))
	expect("apples", "")
	expect("plums", "a/tier2")

	write("commands/b.md", "---\ndescription: Count pears\n---\nHere are quinces.\n", written.Add(time.Second))
	expect("quinces", "b/tier2") // the header is unchanged

	write("commands/apples.md", "New.\n", written)
	expect("apples", "apples/tier1")

	must.Do(t, fsys.Remove("commands/b.md"))
	expect("pears", "")
	expect("count", "a/tier2")

	write("commands/a.md", "---\nis_dependency: true\n---\nCount plums.\n", written.Add(2*time.Second))
	expect("plums", "")
}

// A file can change twice within one tick of the clock, and some filesystems have no
// times.
func TestSearchSeesAChangeWithoutANewTime(t *testing.T) {
	fsys := afero.NewMemMapFs()
	later := time.Now().Add(time.Hour)
	head := "---\ndescription: Count\n---\n" + strings.Repeat("Filler.\n", 1000)
	c := catalog(t, toolshelf.WithFs(fsys))
	for _, fruit := range []string{"apples", "quince", "apples"} {
		must.Do(t, errors.Join(afero.WriteFile(fsys, "commands/a.md", []byte(head+fruit), 0o644), fsys.Chtimes("commands/a.md", later, later)))
		must.Match(t, fruit, "a/tier2", search(t, c, fruit))
	}
	must.Equal(t, "the old text is still found", "", search(t, c, "quince"))
}

func TestSearchOfAViewAppliesItsFilters(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memory(t, ".")))
	view := must.Get(c.View(
		toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Name != "analyze-logs" }),
		toolshelf.WithSkillFilter(func(i toolshelf.SkillInfo) bool { return i.Name != "pdf-tools" })))(t)
	must.Equal(t, "the catalog and its view find", "analyze-logs/tier1", search(t, c, "logs")+search(t, view, "logs"))
	must.Equal(t, "the view finds", "deploy_app/tier2", search(t, view, "staging"))
	if found, err := view.SearchSkills(t.Context(), "pdf", 0); err != nil || len(found.Results)+found.TotalFound > 0 {
		t.Errorf("the view finds %+v, %v", found, err)
	}
	view.Close()
	must.Fail(view.Search(t.Context(), "logs", 0))(t, "Search", toolshelf.ErrClosed)
}

// An embedder points texts with the word money to one direction, and all other texts to another.
type embedder struct {
	id    string
	embed func(ctx context.Context) error // or nil

	mu    sync.Mutex
	texts []string // of entries
}

func (e *embedder) ID() string { return e.id }

func (e *embedder) Embed(ctx context.Context, texts []string, query bool) (all [][]float32, err error) {
	e.mu.Lock()
	if !query {
		e.texts = append(e.texts, texts...)
	}
	e.mu.Unlock()
	if e.embed != nil {
		if err := e.embed(ctx); err != nil {
			return nil, err
		}
	}
	for _, text := range texts {
		if strings.Contains(text, "money") {
			all = append(all, []float32{1, 0.1})
		} else {
			all = append(all, []float32{0.1, 1})
		}
	}
	return all, nil
}

func (e *embedder) embedded() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	slices.Sort(e.texts)
	return e.texts
}

// meaningful returns a filesystem with 40 commands and 40 skills, of which two are about money.
func meaningful() afero.Fs {
	files := map[string]string{
		"commands/bill.md":      "---\ndescription: About money.\n---\nBody\n",
		"skills/books/SKILL.md": "---\ndescription: About money.\n---\n",
	}
	for i := range 39 {
		files[fmt.Sprintf("commands/step-%d.md", i)] = "---\ndescription: Another step.\n---\nBody\n"
		files[fmt.Sprintf("skills/step-%d/SKILL.md", i)] = "---\ndescription: Another step.\n---\n"
	}
	return project(files)
}

func TestSearchByMeaning(t *testing.T) {
	e := &embedder{id: "toy"}
	fsys := meaningful()
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithEmbedder(e))
	found := must.Get(c.Search(t.Context(), "money-like quagga", 0))(t)
	must.Equal(t, "tiers", "bill/tier2", tiers(found))
	must.Equal(t, "found.Semantic", true, found.Semantic)
	must.Equal(t, "MatchReason", `description matches "money"`,
		must.Get(c.Search(t.Context(), "payments of money", 0))(t).Results[0].MatchReason)
	must.Equal(t, "len(e.embedded())", 40, len(e.embedded()))
	found = must.Get(c.SearchSkills(t.Context(), "money-like quagga", 0))(t)
	must.Equal(t, "tiers", "books/tier2", tiers(found))
	must.Equal(t, "found.Semantic", true, found.Semantic)
	must.Equal(t, "len(e.embedded())", 41, len(e.embedded()))

	must.Do(t, afero.WriteFile(fsys, "commands/bill.md", []byte("---\ndescription: About money.\n---\nAnother body\n"), 0o644))
	must.Do(t, afero.WriteFile(fsys, "commands/step-3.md", []byte("---\ndescription: Also money, money.\n---\nBody\n"), 0o644))
	if got := search(t, c, "a step for money-like quagga"); !strings.HasPrefix(got, "step-3/tier2 ") {
		t.Errorf("a search after a change finds %s", got)
	}
	if all := e.embedded(); len(all) != 42 || !slices.Contains(all, "step 3 Also money, money.") {
		t.Errorf("one changed description is %d embeddings", len(all)-41)
	}
}

func TestAFilterHidesMeanings(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(meaningful()), toolshelf.WithEmbedder(&embedder{id: "toy"}))
	view := must.Get(c.View(toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Name != "bill" })))(t)
	if found, err := view.Search(t.Context(), "money", 0); err != nil || found.TotalFound > 0 || !found.Semantic {
		t.Errorf("%+v, %v", found, err)
	}
}

// While a search waits for the embedder, another search reads a text that the filter refuses.
func TestAFilterHidesATextThatChangesDuringASearch(t *testing.T) {
	fsys := afero.NewMemMapFs()
	write := func(description string) {
		must.Do(t, afero.WriteFile(fsys, "commands/plan.md", []byte("---\ndescription: "+description+"\n---\nBody\n"), 0o644))
	}
	write("Public money")
	var armed atomic.Bool // for the next call
	waits, changed := make(chan struct{}), make(chan struct{})
	hidden := toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return !strings.Contains(i.Description, "Secret") })
	c := catalog(t, toolshelf.WithFs(fsys), hidden, toolshelf.WithEmbedder(&embedder{id: "toy", embed: func(context.Context) error {
		if armed.Swap(false) {
			close(waits)
			<-changed
		}
		return nil
	}}))
	search(t, c, "body")
	armed.Store(true)
	results := make(chan toolshelf.SearchResults)
	go func() {
		found, err := c.Search(t.Context(), "money", 0)
		if err != nil {
			t.Error(err)
		}
		results <- found
	}()
	<-waits
	write("Secret money of the plan")
	must.Equal(t, "a search after the change finds", "", search(t, c, "body"))
	close(changed)
	for _, r := range (<-results).Results {
		must.NotContain(t, "the search during the change", r.Description, "Secret")
	}
}

func TestABrokenEmbedderCostsOnlyTheMeaning(t *testing.T) {
	for name, embed := range map[string]func(context.Context) error{
		"an error":                 func(context.Context) error { return errors.New("down") },
		"a panic":                  func(context.Context) error { panic("down") },
		"a call that ends with it": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			fsys := meaningful()
			words := catalog(t, toolshelf.WithFs(fsys))
			c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithEmbedder(&embedder{id: "toy", embed: embed}))
			for _, query := range []string{"money", "step 3"} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second) // a search waits for half
				defer cancel()
				got, err := c.Search(ctx, query, 0)
				want, err2 := words.Search(t.Context(), query, 0)
				got.SearchTime, want.SearchTime = 0, 0
				if diff := cmp.Diff(want, got); diff != "" || err != nil || err2 != nil {
					t.Errorf("%q: %v, %v, -want +got:\n%s", query, err, err2, diff)
				}
			}
		})
	}
}

func TestVectorsSurviveTheCatalog(t *testing.T) {
	dir, fsys := t.TempDir(), meaningful()
	for i, want := range []int{40, 0} {
		e := &embedder{id: "toy"}
		c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithEmbedder(e), toolshelf.WithVectorCache(dir))
		must.Equal(t, i, "bill/tier2", search(t, c, "money-like quagga"))
		must.Len(t, i, want, e.embedded())
		c.Close() // waits for the file
	}
}

// If each search reads a file, the search uses the current description.
func TestSearchForgetsTheOldTextOfAnUnsettledFile(t *testing.T) {
	fsys := afero.NewMemMapFs()
	later := time.Now().Add(time.Hour)
	c := catalog(t, toolshelf.WithFs(fsys))
	filler := strings.Repeat("Filler.\n", 1000)
	for i, fruit := range append([]string{"apples"}, slices.Repeat([]string{"quince"}, 9)...) {
		text := fmt.Sprintf("---\ndescription: Count %s\n---\n%s%d\n", fruit, filler, i)
		must.Do(t, errors.Join(afero.WriteFile(fsys, "commands/a.md", []byte(text), 0o644), fsys.Chtimes("commands/a.md", later, later)))
		must.Equal(t, fruit, "a/tier2", search(t, c, fruit))
	}
}

func TestSearchUsesTheFirstLayer(t *testing.T) {
	fsys := memoryOf(t, map[string]string{
		"own/a.md":    "Apples.\n",
		"shared/a.md": "Pears.\n",
		"shared/b.md": "Plums.\n",
	})
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithCommandsDir("own", "shared"))
	for query, want := range map[string]string{"apples": "a/tier2", "pears": "", "plums": "b/tier2"} {
		must.Equal(t, query, want, search(t, c, query))
	}
	must.Do(t, fsys.Remove("own/a.md"))
	must.Equal(t, "a command is not found after the removal of the command that shadowed it", "a/tier2", search(t, c, "pears"))
}

func TestSearchFindsAnUnreadableFileByItsDescription(t *testing.T) {
	files := map[string]string{"commands/a.md": "---\ndescription: Count apples\n---\nPears.\n"}
	fsys := catalogtest.Faulty{Fs: memoryOf(t, files), Opens: map[string]error{}}
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithCacheTTL(time.Hour))
	must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	for _, cause := range []error{fs.ErrPermission, fs.ErrNotExist} {
		fsys.Opens["a.md"] = cause
		must.Equal(t, "found", "a/tier2", search(t, c, "apples")+search(t, c, "pears"))
	}
	delete(fsys.Opens, "a.md")
	must.Equal(t, "found", "a/tier2", search(t, c, "pears"))
}

func TestSearchReadsABoundedPartOfAFile(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		"commands/long.md":  "---\ndescription: Count\n---\nBegin.\n" + strings.Repeat("filler ", 1<<20) + "\nend\n",
		"commands/large.md": "Begin." + strings.Repeat("x", 10<<20),
	})))
	must.Equal(t, "the beginning", "long/tier2", search(t, c, "begin"))
	must.Equal(t, "the end", "", search(t, c, "end"))
}

func TestSearchThatIsCanceled(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memory(t, ".")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Search(ctx, "logs", 0); err != context.Canceled {
		t.Error(err)
	}
}

func TestSearchWhoseDeadlineHasPassed(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memory(t, ".")))
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := c.Search(ctx, "logs", 0); !errors.Is(err, toolshelf.ErrSearchTimeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// In a bubble of synctest, time advances when all goroutines wait.
func TestSearchOfAHangingFilesystemEnds(t *testing.T) {
	for _, part := range []string{"listing the directory", "reading a file"} {
		t.Run(part, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				fsys := &hook{Fs: memory(t, ".")}
				c := must.Get(toolshelf.New(toolshelf.WithFs(fsys), toolshelf.WithCacheTTL(time.Hour)))(t)
				if part == "reading a file" {
					must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
				}
				fsys.before = untilClosed(gate)
				begin := time.Now()
				var waiting sync.WaitGroup
				for range 3 {
					waiting.Go(func() {
						found, err := c.Search(t.Context(), "logs", 0)
						switch {
						case part == "reading a file":
							if err != nil || !found.Partial || tiers(found) != "analyze-logs/tier1" {
								t.Errorf("partial: %v, %s, %v", found.Partial, tiers(found), err)
							}
						case !errors.Is(err, toolshelf.ErrSearchTimeout) ||
							!errors.Is(err, context.DeadlineExceeded) ||
							!strings.Contains(err.Error(), "list the commands"):
							t.Error(err)
						}
					})
				}
				waiting.Wait()
				want := 5 * time.Second
				if part == "reading a file" {
					want /= 2
				}
				must.Equal(t, "it took", want, time.Since(begin))
				close(gate)
				must.Equal(t, "after the filesystem has answered", "analyze-logs/tier1",
					tiers(must.Get(c.Search(t.Context(), "logs", 0))(t)))
				c.Close()
			})
		})
	}
}

// The texts of more than 1,000 files are read in the background. Close ends the reads, and waits
// for the filesystem.
func TestSearchOfManyFilesAnswersFromTheirNames(t *testing.T) {
	files := map[string]string{}
	for i := range 1001 {
		text := fmt.Sprintf("---\ndescription: Count item%d\n---\nApples.\n", i)
		files[fmt.Sprintf("commands/c-%d.md", i)] = text
		files[fmt.Sprintf("skills/s-%d/SKILL.md", i)] = text
	}
	fsys, gate := &hook{Fs: memoryOf(t, files)}, make(chan struct{})
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithCacheTTL(time.Hour))
	for range c.All(t.Context()) {
	}
	must.Get(c.ListSkills(t.Context()))(t)
	fsys.before = untilClosed(gate)
	for name, search := range map[string]func(*toolshelf.Catalog, context.Context, string, int, ...toolshelf.SearchOption) (toolshelf.SearchResults, error){
		"c-7": (*toolshelf.Catalog).Search, "s-7": (*toolshelf.Catalog).SearchSkills,
	} {
		found, err := search(c, t.Context(), "item7", 0)
		if err != nil || !found.Partial || !strings.HasPrefix(tiers(found), name+"/tier2 ") {
			t.Errorf("%s, partial: %v, %v", tiers(found), found.Partial, err)
		}
		found, err = search(c, t.Context(), "apples", 0)
		if err != nil || !found.Partial || found.TotalFound > 0 || found.Weak {
			t.Errorf("%+v, %v", found, err)
		}
	}
	closed := make(chan error)
	go func() { closed <- c.Close() }()
	select {
	case <-closed:
		t.Error("Close does not wait")
	default:
	}
	close(gate)
	<-closed
}

// While files change, a search finds every unchanged command and no command that
// never existed.
func TestSearchWhileFilesChange(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("commands/steady%02d.md", i)] = "---\ndescription: Count apples\n---\nBody.\n"
	}
	root := diskOf(t, files)
	c := catalog(t, toolshelf.WithRoot(root))
	var searches, writer sync.WaitGroup
	stop := make(chan struct{})
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			name := filepath.Join(root, "commands", fmt.Sprintf("moving%d.md", i%5))
			if err := catalogtest.Replace(name, "Count pears.\n"); err != nil {
				t.Error(err)
				return
			}
			if i%2 == 1 {
				os.Remove(name)
			}
		}
	})
	search := func(query string) (toolshelf.SearchResults, error) {
		for {
			found, err := c.Search(t.Context(), query, 100)
			if !errors.Is(err, toolshelf.ErrSearchTimeout) { // an emulator reads files slowly
				return found, err
			}
		}
	}
	for range 8 {
		searches.Go(func() {
			for range catalogtest.Rounds(30, 100) {
				found, err := search("apples")
				if err != nil || found.TotalFound != 20 || len(found.Results) != 20 {
					t.Errorf("%d results, %v", found.TotalFound, err)
					return
				}
				if found, err = search("pears"); err != nil || found.TotalFound > 5 {
					t.Errorf("%d results, %v", found.TotalFound, err)
					return
				}
			}
		})
	}
	searches.Wait()
	close(stop)
	writer.Wait()
}

// A search does not repeat the reads of a canceled search.
func TestSearchContinuesACanceledSearch(t *testing.T) {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("commands/c%02d.md", i)] = "Same text.\n"
	}
	ctx, cancel := context.WithCancel(t.Context())
	var opens opened
	var after atomic.Int64
	fsys := onOpen(memoryOf(t, files), func(name string) {
		opens.add(name)
		if after.Add(-1) == 0 {
			cancel()
		}
	})
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithCacheTTL(time.Hour))
	must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	opens.files()
	after.Store(20)
	if _, err := c.Search(ctx, "same", 0); err != context.Canceled {
		t.Fatal(err)
	}
	must.Equal(t, "found.TotalFound", 50, must.Get(c.Search(t.Context(), "same", 0))(t).TotalFound)
	read := opens.files()
	for name, n := range read {
		must.Equal(t, name, 1, n)
	}
	must.Equal(t, "files", 50, len(read))
}

// searched returns the results of a query, as "name tier reason".
func searched(t *testing.T, c *toolshelf.Catalog, query string) []string {
	t.Helper()
	results := must.Get(c.Search(t.Context(), query, 0))(t)
	var rows []string
	for _, r := range results.Results {
		rows = append(rows, fmt.Sprintf("%s %s %s", r.Name, r.Tier, r.MatchReason))
		if ceiling := map[string]float64{"tier1": 1, "tier2": 0.7, "tier3": 0.3}[r.Tier]; r.Score <= 0 || r.Score > ceiling {
			t.Errorf("%s of %s has score %v", r.Name, r.Tier, r.Score)
		}
	}
	return rows
}

func TestSearchFindsCommandsByTheirReports(t *testing.T) {
	onReported(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog, fsys afero.Fs) {
		c := open()
		expectFound := func(query string, want ...string) {
			t.Helper()
			must.Match(t, query, want, searched(t, c, query))
		}
		expectFound("zeppelin")
		save(t, c, toolshelf.Report{Command: "analyze", Content: "A zeppelin and a walrus.", Upload: true})
		expectFound("zeppelin", `analyze tier3 report matches "zeppelin"`)
		save(t, c, toolshelf.Report{Command: "frontend:component", Content: "The walrus again.", Upload: false})
		expectFound("walrus", `frontend:component tier3 report matches "walrus"`, `analyze tier3 report matches "walrus"`)

		// A result has its best tier, and a dependency is never found.
		save(t, c, toolshelf.Report{Command: "hidden", Content: "A giraffe.", Upload: true})
		save(t, c, toolshelf.Report{Command: "analyze", Content: "Debug the component.", Upload: true})
		expectFound("giraffe")
		expectFound("component", `frontend:component tier1 name matches "component"`, `analyze tier3 report matches "component"`)

		// The next search sees the removal and the change of a report.
		reports := found(t, fsys, "reports/analyze")
		must.Do(t, fsys.Remove(reports[0]))
		expectFound("zeppelin")
		must.Do(t, afero.WriteFile(fsys, reports[1], []byte("A marmot was here, and it has left.\n"), 0o644))
		expectFound("marmot", `analyze tier3 report matches "marmot"`)

		// The next search sees the removal of a command.
		must.Do(t, fsys.Remove("commands/analyze.md"))
		expectFound("marmot")
	})
}

func TestSearchReadsTheNewestReports(t *testing.T) {
	fsys := memoryOf(t, reported)
	animals := []string{"aardvark", "buffalo", "crocodile", "dolphin", "elephant", "flamingo", "giraffe", "hedgehog", "iguana"}
	for i, animal := range animals {
		file := fmt.Sprintf("reports/analyze/analyze_report_2025110%d_103000_v1.md", i+1)
		must.Do(t, afero.WriteFile(fsys, file, []byte("Of the "+animal+"."), 0o644))
	}
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithReports("reports", ""), toolshelf.WithClock(at))
	expectFrom := func(oldest int) {
		t.Helper()
		for i, animal := range animals {
			must.Equal(t, animal, i >= oldest, len(searched(t, c, animal)) > 0)
		}
	}
	expectFrom(5)
	save(t, c, toolshelf.Report{Command: "analyze", Content: "The latest.", Upload: true})
	expectFrom(6)
}

func TestSearchCachesReportsForTheTTL(t *testing.T) {
	fsys := memoryOf(t, reported)
	now := at()
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithReports("reports", ""), toolshelf.WithCacheTTL(time.Minute),
		toolshelf.WithClock(func() time.Time { return now }))
	searched(t, c, "zeppelin")
	save(t, c, toolshelf.Report{Command: "analyze", Content: "A zeppelin.", Upload: true})
	if got := searched(t, c, "zeppelin"); got != nil {
		t.Errorf("within the TTL: %q", got)
	}
	now = now.Add(time.Minute)
	must.Len(t, "after the TTL", 1, searched(t, c, "zeppelin"))
}

// A canceled search does not complete its update of the reports. The next search
// finds the reports of a new command.
func TestSearchRepeatsACanceledUpdateOfReports(t *testing.T) {
	memory := memoryOf(t, reported)
	now := at()
	var interrupt atomic.Pointer[context.CancelFunc]
	fsys := onOpen(memory, func(name string) {
		if cancel := interrupt.Load(); cancel != nil && strings.HasPrefix(name, "reports") {
			(*cancel)()
		}
	})
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithReports("reports", ""), toolshelf.WithCacheTTL(time.Hour),
		toolshelf.WithClock(func() time.Time { return now }))
	must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	now = now.Add(50 * time.Minute)
	searched(t, c, "zeppelin")
	for file, text := range map[string]string{"commands/late.md": "Late.", "reports/late/late_report_20251120_103000_v1.md": "A zeppelin."} {
		must.Do(t, afero.WriteFile(memory, file, []byte(text), 0o644))
	}
	now = now.Add(11 * time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	interrupt.Store(&cancel)
	must.Fail(c.Search(ctx, "zeppelin", 0))(t, "Search", context.Canceled)
	interrupt.Store(nil)
	must.Len(t, "searched", 1, searched(t, c, "zeppelin"))
}

func TestSearchOmitsUnreadableReports(t *testing.T) {
	files := map[string]string{"reports/analyze/analyze_report_20251120_103000_v1.md": "A zeppelin.", "local/analyze/analyze_report_20251120_103000_v1_local.md": "A walrus."}
	for file, text := range reported {
		files[file] = text
	}
	denied := hook{Fs: memoryOf(t, files), before: func(op, name string) error {
		if op == "open" && strings.HasPrefix(name, "reports") {
			return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
		}
		return nil
	}}
	c := catalog(t, toolshelf.WithFs(denied), toolshelf.WithReports("reports", "local"))
	if got := append(searched(t, c, "zeppelin"), searched(t, c, "walrus")...); len(got) != 1 || !strings.HasPrefix(got[0], "analyze tier3") {
		t.Errorf("found %q", got)
	}
}

func TestSearchDuringSaveReport(t *testing.T) {
	onReported(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog, fsys afero.Fs) {
		c := open()
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for n := range 10 {
					if _, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Name: fmt.Sprintf("r%d-%d", i, n), Content: "A zeppelin.", Upload: n%2 == 0}); err != nil {
						t.Error(err)
					}
					results, err := c.Search(t.Context(), "zeppelin", 0)
					if err != nil || results.TotalFound != 1 {
						t.Errorf("found %+v, %v", results.Results, err)
					}
				}
			})
		}
		all.Wait()
		c.Close()
		must.Fail(c.Search(t.Context(), "zeppelin", 0))(t, "Search", toolshelf.ErrClosed)
	})
}

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
	c := must.Get(toolshelf.New(append([]toolshelf.Option{toolshelf.WithFs(project(files))}, opts...)...))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

func TestSearcherFindsOnlyListedNames(t *testing.T) {
	c := withEngine(t, toolshelf.WithSearcher(engine{hits: hits("style", "gone", "Rollback", "rollback", "deploy", "Rollback")}, nil))
	found := must.Get(c.Search(t.Context(), "release", 0))(t)
	found.SearchTime = 0
	want := toolshelf.SearchResults{TotalFound: 2, Results: []toolshelf.SearchResult{
		{Name: "Rollback", Score: 0.333, Tier: "tier2", Description: "Undo a release."},
		{Name: "deploy", Score: 1 / 5.0, Tier: "tier2", Description: "Ship a release."},
	}}
	must.Match(t, "result", want, found)
}

func TestSearcherHitsPassTheFilters(t *testing.T) {
	c := withEngine(t, toolshelf.WithSearcher(engine{hits: hits("deploy", "Rollback")}, nil))
	view := must.Get(c.View(toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Name != "deploy" })))(t)
	must.Match(t, "result", "Rollback/tier2", search(t, view, "release"))
}

func TestSearcherReplacesOnlyItsOwnMethod(t *testing.T) {
	c := withEngine(t, toolshelf.WithSearcher(nil, engine{hits: hits("pdf", "deploy")}))
	must.Match(t, "Search", "deploy/tier1", search(t, c, "deploy"))
	found := must.Get(c.SearchSkills(t.Context(), "anything", 0))(t)
	must.Match(t, "SearchSkills", "pdf/tier2", tiers(found))
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
			found := must.Get(c.Search(t.Context(), "release", 1))(t)
			must.Match(t, "result", test.want, tiers(found))
			must.Match(t, "limits", test.limits, limits)
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
		found := must.Get(c.Search(t.Context(), "release", 0))(t)
		var got []float64
		for _, r := range found.Results {
			got = append(got, r.Score)
		}
		must.Match(t, test.scores, test.want, got)
	}
}

// The total of an engine may be too small.
func TestSearcherTotalIsAtLeastTheNumberOfResults(t *testing.T) {
	for _, total := range []int{0, 1, -1, math.MinInt} {
		engine := func(context.Context) ([]toolshelf.Hit, int, error) {
			return hits("deploy", "unlisted", "Rollback"), total, nil
		}
		c := withEngine(t, toolshelf.WithSearcher(searchFunc(engine), nil))
		must.Equal(t, total, 2, must.Get(c.Search(t.Context(), "release", 0))(t).TotalFound)
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
	must.Fail(c.Search(ctx, "release", 0))(t, "error", context.Canceled)
}

func TestPromptForAsksTheSearcher(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		files["skills/"+name+"/SKILL.md"] = "---\nname: " + name + "\ndescription: Does " + name + ".\n---\n"
	}
	c := must.Get(toolshelf.New(toolshelf.WithFs(project(files)), toolshelf.WithSearcher(nil, engine{hits: hits("c")})))(t)
	defer c.Close()
	whole := must.Get(c.SkillsPrompt(t.Context()))(t)
	cut := must.Get(c.SkillsPrompt(t.Context(), toolshelf.PromptFor("anything"), toolshelf.Budget(len(whole.Text)*3/4)))(t)
	if len(cut.Named) == 0 || slices.Contains(cut.Named, "c") {
		t.Errorf("included %q, dropped %q", cut.Included, cut.Dropped)
	}
}
