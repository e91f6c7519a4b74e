package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// searched returns the results of a query, as "name tier reason".
func searched(t *testing.T, c *toolshelf.Catalog, query string) []string {
	t.Helper()
	results, err := c.Search(t.Context(), query, 0)
	if err != nil {
		t.Fatalf("Search(%q): %v", query, err)
	}
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
			if diff := cmp.Diff(want, searched(t, c, query)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", query, diff)
			}
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
		if err := fsys.Remove(reports[0]); err != nil {
			t.Fatal(err)
		}
		expectFound("zeppelin")
		if err := afero.WriteFile(fsys, reports[1], []byte("A marmot was here, and it has left.\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		expectFound("marmot", `analyze tier3 report matches "marmot"`)

		// The next search sees the removal of a command.
		if err := fsys.Remove("commands/analyze.md"); err != nil {
			t.Fatal(err)
		}
		expectFound("marmot")
	})
}

func TestSearchReadsTheNewestReports(t *testing.T) {
	fsys := memoryOf(t, reported)
	animals := []string{"aardvark", "buffalo", "crocodile", "dolphin", "elephant", "flamingo", "giraffe", "hedgehog", "iguana"}
	for i, animal := range animals {
		file := fmt.Sprintf("reports/analyze/analyze_report_2025110%d_103000_v1.md", i+1)
		if err := afero.WriteFile(fsys, file, []byte("Of the "+animal+"."), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithReports("reports", ""), toolshelf.WithClock(at))
	expectFrom := func(oldest int) {
		t.Helper()
		for i, animal := range animals {
			if got := searched(t, c, animal); (len(got) > 0) != (i >= oldest) {
				t.Errorf("%s is found as %q", animal, got)
			}
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
	if got := searched(t, c, "zeppelin"); len(got) != 1 {
		t.Errorf("after the TTL: %q", got)
	}
}

// A canceled search does not complete its update of the reports. The next search
// finds the reports of a new command.
func TestSearchRepeatsACanceledUpdateOfReports(t *testing.T) {
	memory := memoryOf(t, reported)
	now := at()
	fsys := &interrupted{Fs: memory}
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithReports("reports", ""), toolshelf.WithCacheTTL(time.Hour),
		toolshelf.WithClock(func() time.Time { return now }))
	if _, err := c.List(t.Context(), toolshelf.Page{}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(50 * time.Minute)
	searched(t, c, "zeppelin")
	for file, text := range map[string]string{"commands/late.md": "Late.", "reports/late/late_report_20251120_103000_v1.md": "A zeppelin."} {
		if err := afero.WriteFile(memory, file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(11 * time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	fsys.interrupt = cancel
	if _, err := c.Search(ctx, "zeppelin", 0); !errors.Is(err, context.Canceled) {
		t.Fatalf("the search was not canceled: %v", err)
	}
	fsys.interrupt = nil
	if got := searched(t, c, "zeppelin"); len(got) != 1 {
		t.Errorf("found %q", got)
	}
}

// interrupted calls a function before each Open of a report.
type interrupted struct {
	afero.Fs
	interrupt func()
}

func (f *interrupted) Open(name string) (afero.File, error) {
	if f.interrupt != nil && strings.HasPrefix(filepath.ToSlash(name), "reports") {
		f.interrupt()
	}
	return f.Fs.Open(name)
}

// A closedFs denies the Opens of reports.
type closedFs struct{ afero.Fs }

func (f closedFs) Open(name string) (afero.File, error) {
	if strings.HasPrefix(filepath.ToSlash(name), "reports") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.Fs.Open(name)
}

func TestSearchOmitsUnreadableReports(t *testing.T) {
	files := map[string]string{"reports/analyze/analyze_report_20251120_103000_v1.md": "A zeppelin.", "local/analyze/analyze_report_20251120_103000_v1_local.md": "A walrus."}
	for file, text := range reported {
		files[file] = text
	}
	c := catalog(t, toolshelf.WithFs(closedFs{memoryOf(t, files)}), toolshelf.WithReports("reports", "local"))
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
		if _, err := c.Search(t.Context(), "zeppelin", 0); !errors.Is(err, toolshelf.ErrClosed) {
			t.Error(err)
		}
	})
}
