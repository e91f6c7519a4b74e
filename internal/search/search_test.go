package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/rank"
	"github.com/toolshelf-go/toolshelf/internal/reports"
)

// A fixture is a Finder over the commands and the reports of a filesystem in
// memory, with a clock that the test sets.
type fixture struct {
	t       *testing.T
	files   afero.Fs
	mu      sync.Mutex
	opened  map[string]int // the Opens of each file
	failure error          // of each Open of a regular file
	before  func()         // called before each Open, if not nil
	index   *index.Index
	finder  *Finder
	now     time.Time
	log     bytes.Buffer
	end     context.CancelFunc // of the finder's Lifetime
}

// written is the modification time of the files. It is long ago.
var written = time.Date(2025, 11, 20, 10, 30, 0, 0, time.UTC)

func newFixture(t *testing.T, ttl time.Duration, files map[string]string) *fixture {
	t.Helper()
	f := &fixture{t: t, files: afero.NewMemMapFs(), opened: map[string]int{}, now: written}
	for file, text := range files {
		f.write(file, text, written)
	}
	confined := must.Get(confine.Over(countingFs{f.files, f}, "/"))(t)
	now := func() time.Time {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.now
	}
	f.index = must.Get(index.New(client.Commands, index.Config{
		Layers:      []index.Layer{{Name: "commands", FS: confined, Dir: "commands"}},
		MaxFileSize: 1 << 20,
		TTL:         ttl,
		Now:         now,
		Valid:       names.Plain,
	}))(t)
	t.Cleanup(func() { f.index.Close(); confined.Close() })
	lifetime, cancel := context.WithCancel(t.Context())
	f.end = cancel
	f.finder = New(Config{
		Lifetime:    lifetime,
		Enter:       func() bool { return lifetime.Err() == nil },
		Leave:       func() {},
		Exited:      func(*parallel.Exit) {},
		Index:       f.index,
		Description: func(e *index.Entry) string { return e.Description() },
		MaxFileSize: 100_000,
		TTL:         ttl,
		Now:         now,
		Reports:     []*reports.Directory{{FS: confined, Path: "shared", Name: "shared"}, {FS: confined, Path: "local", Name: "local", Local: true}},
		Logger:      slog.New(slog.NewTextHandler(&f.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	return f
}

// set changes fields that the reads in the background see.
func (f *fixture) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// A countingFs counts the Opens of a fixture's files.
type countingFs struct {
	afero.Fs
	f *fixture
}

func (c countingFs) Open(name string) (afero.File, error) {
	c.f.mu.Lock()
	before, failure := c.f.before, c.f.failure
	if path.Ext(name) == ".md" {
		c.f.opened[path.Base(name)]++
	} else {
		failure = nil
	}
	c.f.mu.Unlock()
	if before != nil {
		before()
	}
	if failure != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: failure}
	}
	return c.Fs.Open(name)
}

func (f *fixture) write(file, text string, modified time.Time) {
	f.t.Helper()
	if err := errors.Join(afero.WriteFile(f.files, "/"+file, []byte(text), 0o644), f.files.Chtimes("/"+file, modified, modified)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) remove(file string) {
	f.t.Helper()
	if err := f.files.Remove("/" + file); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) snapshot() *index.Snapshot {
	f.t.Helper()
	snapshot, err := f.index.Snapshot(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return snapshot
}

// expect checks which names, with their tiers, a search finds.
func (f *fixture) expect(query, want string) {
	f.t.Helper()
	result, err := f.finder.Find(f.t.Context(), f.snapshot(), query, 10, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	if got := hits(result); got != want {
		f.t.Errorf("%q finds %q, want %q", query, got, want)
	}
}

func hits(r Result) string {
	var all []string
	for _, hit := range r.Hits {
		all = append(all, fmt.Sprintf("%s/%d", hit.Name, hit.Tier))
	}
	return strings.Join(all, " ")
}

func TestFindSearchesNamesDescriptionsTagsAndTexts(t *testing.T) {
	f := newFixture(t, time.Hour, map[string]string{
		"commands/apples.md": "---\ndescription: Count pears\ntags: [plums]\n---\nHere are quinces.\n",
		"commands/other.md":  "Nothing.\n",
	})
	for query, want := range map[string]string{"apples": "apples/1", "pears": "apples/2", "plums": "apples/2", "quinces": "apples/2", "cherries": ""} {
		f.expect(query, want)
	}
}

// Once no text is missing, a search finds all texts, also a text that arrives during the flush.
func TestASearchFlushesTheLastTexts(t *testing.T) {
	s := New(Config{Now: time.Now})
	var ended atomic.Bool
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for !ended.Load() {
				s.lock.Lock()
				s.unflushed = true
				s.lock.Unlock()
			}
		})
	}
	for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
		s.rlock()
		unflushed := s.unflushed
		s.lock.RUnlock()
		if unflushed {
			t.Error("texts are not flushed")
			break
		}
	}
	ended.Store(true)
	writers.Wait()
}

func TestFindReturnsAtMostTheLimitOfTheKept(t *testing.T) {
	f := newFixture(t, time.Hour, map[string]string{"commands/a.md": "Same.\n", "commands/b.md": "Same.\n", "commands/c.md": "Same.\n"})
	result, err := f.finder.Find(t.Context(), f.snapshot(), "same", 1, func(name string) bool { return name != "a" })
	if err != nil || hits(result) != "b/2" || result.Total != 2 {
		t.Errorf("%s of %d, %v", hits(result), result.Total, err)
	}
}

func TestFindReadsNewAndChangedFiles(t *testing.T) {
	f := newFixture(t, 0, map[string]string{"commands/a.md": "Apples.\n", "commands/b.md": "Pears.\n", "commands/d.md": "Plums.\n"})
	f.expect("apples", "a/2")
	f.write("commands/b.md", "Quinces.\n", written.Add(time.Second))
	f.write("commands/c.md", "Cherries.\n", written)
	f.remove("commands/a.md")
	f.expect("apples", "")
	f.expect("pears", "")
	f.expect("quinces", "b/2")
	f.expect("cherries", "c/2")
	f.remove("commands/d.md")
	f.expect("plums", "")
}

func TestFindReadsAnImmutableLayerOnce(t *testing.T) {
	f := newFixture(t, 0, map[string]string{"commands/a.md": "Apples.\n", "commands/b.md": "Pears.\n"})
	f.index.Layers()[0].Immutable = true
	f.snapshot()
	clear(f.opened)
	f.expect("apples", "a/2")
	f.expect("pears", "b/2")
	if f.opened["a.md"] != 1 || f.opened["b.md"] != 1 {
		t.Errorf("the files were opened %v", f.opened)
	}
}

// A file that was modified a moment ago can change again without a change of its
// times.
func TestFindReadsUnsettledFilesAgain(t *testing.T) {
	later := time.Now().Add(time.Hour)
	head := "---\ndescription: Count\n---\n" + strings.Repeat("Filler.\n", 1000)
	f := newFixture(t, time.Minute, map[string]string{})
	f.write("commands/a.md", head+"apples", later)
	f.expect("apples", "a/2")
	f.write("commands/a.md", head+"quince", later)
	f.expect("apples", "a/2") // within the TTL
	f.set(func() { f.now = f.now.Add(time.Minute) })
	f.expect("apples", "")
	f.expect("quince", "a/2")
	f.set(func() { f.now = f.now.Add(time.Minute) })
	f.expect("quince", "a/2") // the text is known
	f.write("commands/b.md", "New.\n", later)
	f.set(func() { f.now = f.now.Add(time.Minute) })
	f.expect("new", "b/2")
	f.remove("commands/a.md")
	f.set(func() { f.now = f.now.Add(time.Minute) })
	f.expect("quince", "")
}

// The file after a removed file is unchanged, and stays unsettled.
func TestFindReadsAnUnsettledFileAgainAfterARemoval(t *testing.T) {
	later := time.Now().Add(time.Hour)
	head := "---\ndescription: Count\n---\n" + strings.Repeat("Filler.\n", 1000)
	f := newFixture(t, time.Minute, map[string]string{})
	f.write("commands/a.md", "New.\n", later)
	f.write("commands/b.md", head+"apples", later)
	f.expect("apples", "b/2")
	f.remove("commands/a.md")
	f.set(func() { f.now = f.now.Add(time.Minute) })
	f.expect("apples", "b/2")
	f.write("commands/b.md", head+"quince", later)
	f.set(func() { f.now = f.now.Add(time.Minute) })
	f.expect("apples", "")
	f.expect("quince", "b/2")
}

func TestFindSearchesTheDescriptionOfAnUnreadableFile(t *testing.T) {
	f := newFixture(t, time.Hour, map[string]string{
		"commands/a.md":     "---\ndescription: Count apples\n---\nPears.\n",
		"commands/large.md": "---\ndescription: Count plums\n---\n" + strings.Repeat("Quinces.\n", 20_000),
	})
	f.snapshot()
	f.set(func() { f.failure = fs.ErrPermission })
	f.expect("apples", "a/2")
	f.expect("pears", "")
	f.set(func() { f.failure = nil })
	f.expect("pears", "a/2") // the TTL does not apply to a failed read
	f.expect("plums", "large/2")
	f.expect("quinces", "")
}

// If a file has changed since the scan, Find searches the description of the scan
// until the next snapshot.
func TestFindIgnoresTextsNewerThanTheSnapshot(t *testing.T) {
	f := newFixture(t, time.Hour, map[string]string{"commands/a.md": "Apples.\n"})
	snapshot := f.snapshot()
	f.write("commands/a.md", "Pears, longer.\n", written.Add(time.Second))
	for query, want := range map[string]string{"pears": "", "apples": "a/2"} { // the description is "Apples."
		result, err := f.finder.Find(t.Context(), snapshot, query, 10, nil)
		if err != nil || hits(result) != want {
			t.Errorf("%q finds %q, %v", query, hits(result), err)
		}
	}
}

// idle waits until the finder reads no text.
func (f *fixture) idle() {
	for {
		f.finder.lock.RLock()
		b := f.finder.running
		f.finder.lock.RUnlock()
		if b == nil {
			return
		}
		<-b.done
	}
}

// gated returns a fixture of n commands whose texts can be read after a call of open.
func gated(t *testing.T, n int) (f *fixture, open func()) {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("commands/c%04d.md", i)] = "---\ndescription: Count\n---\nApples.\n"
	}
	f = newFixture(t, time.Hour, files)
	f.snapshot()
	clear(f.opened)
	gate := make(chan struct{})
	f.set(func() { f.before = func() { <-gate } })
	return f, func() { close(gate) }
}

func TestFindAnswersFromNamesBeforeTheTextsAreRead(t *testing.T) {
	const n = maxAwaited + 1
	f, open := gated(t, n)
	for query, want := range map[string]int{"0007": 1, "count": n, "apples": 0} {
		for range 2 { // the second call joins the reads of the first
			found, err := f.finder.Find(t.Context(), f.snapshot(), query, 10, nil)
			if err != nil || found.Total != want || !found.Partial || found.Weak || found.Words != nil {
				t.Errorf("%s: total %d, want %d; %+v, %v", query, found.Total, want, found, err)
			}
		}
	}
	open()
	f.idle()
	found, err := f.finder.Find(t.Context(), f.snapshot(), "apples", 10, nil)
	if err != nil || found.Total != n || found.Partial {
		t.Errorf("%d hits, partial: %v, %v", found.Total, found.Partial, err)
	}
	for file, opens := range f.opened {
		if opens != 1 {
			t.Errorf("%s was opened %d times", file, opens)
		}
	}
	found, err = f.finder.Find(t.Context(), f.snapshot(), "zebra", 10, nil)
	if err != nil || !found.Weak {
		t.Errorf("weak: %v, %v", found.Weak, err)
	}
}

func TestFindWaitsForFewTextsHalfOfItsTime(t *testing.T) {
	for _, limit := range []time.Duration{time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			f, open := gated(t, 3)
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			begin := time.Now()
			found, err := f.finder.Find(ctx, f.snapshot(), "count", 10, nil)
			if err != nil || found.Total != 3 || !found.Partial {
				t.Errorf("%+v, %v", found, err)
			}
			if took, want := time.Since(begin), min(limit/2, maxWait); took != want {
				t.Errorf("%v, want %v", took, want)
			}
			time.AfterFunc(maxWait/2, open)
			f.expect("apples", "c0000/2 c0001/2 c0002/2")
		})
	}
}

// One file never arrives, as on a server that hangs.
func TestFindSearchesTheTextsBesideAMissingOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20
		f, open := gated(t, n)
		defer open()
		hang := f.before
		var opened atomic.Bool
		f.set(func() {
			f.before = func() {
				if opened.CompareAndSwap(false, true) {
					hang()
				}
			}
		})
		for _, want := range []int{0, n - 1} {
			found, err := f.finder.Find(t.Context(), f.snapshot(), "apples", 10, nil)
			if err != nil || found.Total != want || !found.Partial {
				t.Errorf("total %d, want %d; %+v, %v", found.Total, want, found, err)
			}
			f.set(func() { f.now = f.now.Add(2 * maxUnflushed) })
		}
	})
}

func TestFindThatIsCanceledIsContinued(t *testing.T) {
	f, open := gated(t, 20)
	ctx, cancel := context.WithCancel(t.Context())
	within := f.before
	f.set(func() { f.before = func() { cancel(); within() } })
	if _, err := f.finder.Find(ctx, f.snapshot(), "apples", 10, nil); err != context.Canceled {
		t.Fatal(err)
	}
	open()
	found, err := f.finder.Find(t.Context(), f.snapshot(), "apples", 10, nil)
	if err != nil || found.Total != 20 || found.Partial {
		t.Errorf("%+v, %v", found, err)
	}
	for file, n := range f.opened {
		if n != 1 {
			t.Errorf("%s was opened %d times", file, n)
		}
	}
	if _, err := f.finder.Find(ctx, f.snapshot(), "apples", 10, nil); err != context.Canceled {
		t.Error(err)
	}
}

func TestTheEndOfAFinderEndsTheReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, open := gated(t, maxAwaited+1)
		must.Get(f.finder.Find(t.Context(), f.snapshot(), "apples", 10, nil))(t)
		synctest.Wait()
		f.end()
		synctest.Wait()
		open()
		f.idle()
		must.Equal(t, "len(f.finder.missing)", maxAwaited+1, len(f.finder.missing))
	})
}

// A panic in a filesystem is a panic of the search that waits, and the next search reads again.
func TestFindPassesOnAPanicOfARead(t *testing.T) {
	f, open := gated(t, 3)
	open()
	f.set(func() { f.before = func() { panic("no disk") } })
	func() {
		defer func() {
			must.Equal(t, "recovered", "no disk", recover())
		}()
		f.expect("apples", "")
	}()
	f.idle()
	f.set(func() { f.before = nil })
	f.expect("apples", "c0000/2 c0001/2 c0002/2")
}

func TestFindReadsManyFilesOfASlowFilesystemAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const latency, goroutines = 2 * time.Millisecond, 64
		files := map[string]string{}
		for i := range 1 + 2*goroutines { // the first file alone
			files[fmt.Sprintf("commands/c%03d.md", i)] = "Same.\n"
		}
		f := newFixture(t, time.Hour, files)
		snapshot := f.snapshot()
		f.set(func() { f.before = func() { <-time.After(latency) } })
		begin := time.Now()
		result, err := f.finder.Find(t.Context(), snapshot, "same", 10, nil)
		if took := time.Since(begin); err != nil || result.Total != len(files) || took != 3*latency {
			t.Errorf("found %d of %d in %v, want all in %v, %v", result.Total, len(files), took, 3*latency, err)
		}
	})
}

func TestFindWaitsNoLongerThanItsContext(t *testing.T) {
	f := newFixture(t, time.Hour, map[string]string{"commands/a.md": "Same.\n", "shared/a/a_report_20251120_103000_v1.md": "Apples."})
	snapshot := f.snapshot()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if !f.finder.reports.lock.TryAcquire(1) {
		t.Fatal("the lock is taken")
	}
	defer f.finder.reports.lock.Release(1)
	if _, err := f.finder.Find(ctx, snapshot, "same", 10, nil); err != context.Canceled {
		t.Error(err)
	}
}

func TestFindSearchesTheNewestReports(t *testing.T) {
	files := map[string]string{"commands/a.md": "A.\n", "commands/b.md": "B.\n", "shared/notes/notes_report_20251120_103000_v1.md": "Walrus."}
	for i, animal := range []string{"aardvark", "buffalo", "crocodile", "dolphin", "elephant"} {
		files[fmt.Sprintf("shared/a/a_report_2025112%d_103000_v1.md", i)] = animal
	}
	files["local/a/a_report_20251120_103000_v1_local.md"] = "giraffe"
	f := newFixture(t, 0, files)
	for query, want := range map[string]string{"aardvark": "", "buffalo": "a/3", "elephant": "a/3", "giraffe": "a/3", "walrus": ""} {
		f.expect(query, want)
	}
	f.remove("shared/a/a_report_20251124_103000_v1.md")
	f.expect("elephant", "")
	f.expect("aardvark", "a/3")
	f.write("shared/a/a_report_20251123_103000_v1.md", "zeppelin", written.Add(time.Second))
	f.expect("dolphin", "")
	f.expect("zeppelin", "a/3")
	f.write("shared/b/b_report_20251120_103000_v1.md", "zeppelin", written)
	f.expect("zeppelin", "a/3 b/3")
	f.remove("commands/a.md")
	f.expect("zeppelin", "b/3")
}

func TestFindKeepsReportsForTheTTL(t *testing.T) {
	f := newFixture(t, time.Minute, map[string]string{"commands/a.md": "A.\n"})
	f.expect("zeppelin", "")
	f.write("local/a/a_report_20251120_103000_v1_local.md", "zeppelin", written)
	f.expect("zeppelin", "")
	f.set(func() { f.now = f.now.Add(time.Minute) })
	f.expect("zeppelin", "a/3")
}

func TestFindLogsDirectoriesOfReportsThatCannotBeRead(t *testing.T) {
	f := newFixture(t, 0, map[string]string{
		"commands/a.md": "A.\n", "shared": "", "local/a/a_report_20251120_103000_v1_local.md": "zeppelin"})
	f.expect("zeppelin", "a/3")
	if !strings.Contains(f.log.String(), `msg="reports are not searched"`) || !strings.Contains(f.log.String(), "=shared ") {
		t.Errorf("the log is %q", f.log.String())
	}
	f = newFixture(t, 0, map[string]string{"commands/a.md": "A.\n", "shared/a/a_report_20251120_103000_v1.md": "zeppelin"})
	f.snapshot()
	f.set(func() { f.failure = fs.ErrPermission })
	f.expect("zeppelin", "")
	f.set(func() { f.failure = nil })
	f.expect("zeppelin", "a/3")
}

func TestFindThatIsCanceledInTheReports(t *testing.T) {
	f := newFixture(t, time.Hour, map[string]string{"commands/a.md": "A.\n", "shared/a/a_report_20251120_103000_v1.md": "zeppelin"})
	snapshot := f.snapshot()
	ctx, cancel := context.WithCancel(t.Context())
	f.set(func() { f.before = cancel })
	if _, err := f.finder.Find(ctx, snapshot, "zeppelin", 10, nil); err != context.Canceled {
		t.Fatal(err)
	}
	f.set(func() { f.before = nil })
	f.expect("zeppelin", "a/3")
}

func TestFindReadsABoundedPartOfAFile(t *testing.T) {
	f := newFixture(t, time.Hour, map[string]string{"commands/a.md": "A.\n", "shared/a/a_report_20251120_103000_v1.md": "begin " + strings.Repeat("filler ", rank.MaxText/7) + "end"})
	f.expect("begin", "a/3")
	f.expect("end", "")
}
