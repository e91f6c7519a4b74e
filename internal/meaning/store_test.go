package meaning

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/rank"
	"github.com/toolshelf-go/toolshelf/internal/vector"
)

// A model embeds a text as the frequencies of its letters, unless fail answers.
type model struct {
	fail func(ctx context.Context, texts []string, query bool) ([][]float32, error) // nil, nil for a text that the model embeds

	mu    sync.Mutex
	texts []string // of all calls
	calls int
}

func (m *model) embed(ctx context.Context, texts []string, query bool) ([][]float32, error) {
	m.mu.Lock()
	m.texts = append(m.texts, texts...)
	m.calls++
	m.mu.Unlock()
	if m.fail != nil {
		if vectors, err := m.fail(ctx, texts, query); vectors != nil || err != nil {
			return vectors, err
		}
	}
	return letters(texts), nil
}

func letters(texts []string) (all [][]float32) {
	for _, text := range texts {
		v := make([]float32, 26)
		for _, r := range strings.ToLower(text) {
			if 'a' <= r && r <= 'z' {
				v[r-'a']++
			}
		}
		all = append(all, v)
	}
	return all
}

func (m *model) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.texts)
}

func (m *model) called() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

func newStore(t *testing.T, m *model, dir, id string) *Store {
	return New(Config{ID: id, Embed: m.embed, Dir: dir, Lifetime: t.Context(), Enter: func() bool { return true }, Leave: func() {}, Logger: slog.New(slog.DiscardHandler)})
}

// documents returns the vectors of n documents.
func documents(s *Store, n int) (all []*vector.Cell) {
	for i := range n {
		all = append(all, s.Vector(rank.Document{Name: fmt.Sprintf("document%d", i), Description: "text"}))
	}
	return all
}

// fill fills the store, until no fill is due.
func fill(s *Store) {
	for {
		s.Fill(context.Background())
		s.mu.Lock()
		filling, progress := s.filling, s.progress
		s.mu.Unlock()
		if !filling {
			return
		}
		<-progress
	}
}

func known(vectors []*vector.Cell) (n int) {
	for _, v := range vectors {
		if v.Point() != nil {
			n++
		}
	}
	return n
}

func TestFillEmbedsEachTextOnce(t *testing.T) {
	m := new(model)
	s := newStore(t, m, "", "a")
	vectors := documents(s, 200)
	if again := documents(s, 200); !slices.Equal(vectors, again) {
		t.Error("documents with the same text have different vectors")
	}
	fill(s)
	fill(s)
	if known(vectors) != 200 || m.count() != 200 || m.called() != 4 {
		t.Errorf("%d known vectors, %d texts in %d calls", known(vectors), m.count(), m.called())
	}
	changed := s.Vector(rank.Document{Name: "document1", Description: "another text"})
	fill(s)
	if !changed.Known() || m.count() != 201 {
		t.Errorf("a changed text is %d embeddings", m.count()-200)
	}
	if v := s.Vector(rank.Document{Name: "?!"}); !v.Known() {
		t.Error("a document without text waits for the model")
	}
	runtime.KeepAlive(vectors)
}

func TestAFailureCostsOnlyTheVectors(t *testing.T) {
	nan := float32(math.NaN())
	down := errors.New("down")
	each := func(v []float32) func(context.Context, []string, bool) ([][]float32, error) {
		return func(_ context.Context, texts []string, _ bool) ([][]float32, error) {
			return slices.Repeat([][]float32{v}, len(texts)), nil
		}
	}
	for _, test := range []struct {
		name string
		fail func(context.Context, []string, bool) ([][]float32, error)
	}{
		{"an error", func(context.Context, []string, bool) ([][]float32, error) { return nil, down }},
		{"a panic", func(context.Context, []string, bool) ([][]float32, error) { panic("no model") }},
		{"a Goexit", func(context.Context, []string, bool) ([][]float32, error) { runtime.Goexit(); return nil, nil }},
		{"no vectors", func(context.Context, []string, bool) ([][]float32, error) { return [][]float32{}, nil }},
		{"one vector more", func(_ context.Context, texts []string, _ bool) ([][]float32, error) {
			return letters(append(texts, "a")), nil
		}},
		{"NaN", each([]float32{1, nan})},
		{"infinity", each([]float32{1, float32(math.Inf(-1))})},
		{"zeros", each([]float32{0, 0})},
		{"empty vectors", each(nil)},
		{"too many dimensions", each(make([]float32, vector.MaxDimensions+1))},
		{"other dimensions in one vector", func(_ context.Context, texts []string, _ bool) ([][]float32, error) {
			v := letters(texts)
			v[len(v)-1] = make([]float32, 3, 4)
			v[len(v)-1][0] = nan
			return v, nil
		}},
		{"a call that ignores its context", func(context.Context, []string, bool) ([][]float32, error) {
			time.Sleep(time.Hour)
			return nil, down
		}},
		{"a call that waits for its context", func(ctx context.Context, _ []string, _ bool) ([][]float32, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var broken atomic.Bool
				m := &model{fail: func(ctx context.Context, texts []string, query bool) ([][]float32, error) {
					if !broken.Load() {
						return nil, nil
					}
					return test.fail(ctx, texts, query)
				}}
				s := newStore(t, m, "", "a")
				broken.Store(true)
				vectors := documents(s, 100)
				for range 40 { // searches
					begin := time.Now()
					within, cancel := Within(t.Context(), MaxWait)
					s.Fill(within)
					if p := s.Query(within, "query"); p != nil {
						t.Error("a broken model has a point for a query")
					}
					cancel()
					if waited := time.Since(begin); waited > MaxWait {
						t.Errorf("a search waits %v", waited)
					}
					if known(vectors) > 0 {
						t.Fatal("a broken model makes a vector known")
					}
				}
				if m.called() > 2+2*40 {
					t.Errorf("%d calls", m.called())
				}
				broken.Store(false)
				time.Sleep(2 * time.Hour)
				fill(s)
				must.Equal(t, "known(vectors)", 100, known(vectors))
				if s.Query(t.Context(), "query") == nil {
					t.Error("no point for a query after the failure")
				}
			})
		})
	}
}

func TestAHangingModelHasFewCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		m := &model{fail: func(context.Context, []string, bool) ([][]float32, error) { <-block; return nil, errors.New("late") }}
		s := newStore(t, m, "", "a")
		vectors := documents(s, 100)
		var waited time.Duration
		for range 500 {
			begin := time.Now()
			within, cancel := Within(t.Context(), MaxWait)
			s.Fill(within)
			s.Query(within, "query")
			cancel()
			waited += time.Since(begin)
			time.Sleep(time.Minute)
		}
		if m.called() > maxAbandoned+2 {
			t.Errorf("%d calls hang", m.called())
		}
		if waited > 2*maxAbandoned*MaxWait {
			t.Errorf("500 searches wait %v", waited)
		}
		close(block)
		runtime.KeepAlive(vectors)
	})
}

func TestSearchesInARowWaitOnce(t *testing.T) {
	for _, test := range []struct {
		name    string
		queries bool // that fail, otherwise texts
		after   time.Duration
	}{
		{"the texts hang", false, time.Hour},
		{"the queries hang", true, time.Hour},
		{"the queries fail slowly", true, MaxWait - time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &model{fail: func(ctx context.Context, _ []string, query bool) ([][]float32, error) {
					if query != test.queries {
						return nil, nil
					}
					select {
					case <-ctx.Done():
					case <-time.After(test.after):
					}
					return nil, errors.New("down")
				}}
				s := newStore(t, m, "", "a")
				vectors := documents(s, 20)
				begin := time.Now()
				for i := range 100 {
					within, cancel := Within(t.Context(), MaxWait)
					s.Fill(within)
					if known(vectors) == 20 {
						s.Query(within, fmt.Sprint("query ", i))
					}
					cancel()
				}
				must.Equal(t, "100 searches wait", min(MaxWait, test.after), time.Since(begin))
			})
		})
	}
}

func TestATextThatTheModelRejectsAffectsNoOtherText(t *testing.T) {
	for _, n := range []int{0, 1, 100} {
		t.Run(fmt.Sprint(n, " other texts"), func(t *testing.T) {
			m := &model{fail: func(_ context.Context, texts []string, _ bool) ([][]float32, error) {
				if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "bad") }) {
					return nil, errors.New("bad text")
				}
				return nil, nil
			}}
			s := newStore(t, m, "", "a")
			vectors := documents(s, n)
			bad := s.Vector(rank.Document{Name: "bad"})
			fill(s)
			if known(vectors) != n || !bad.Known() || known([]*vector.Cell{bad}) != 0 {
				t.Errorf("%d of %d vectors are known; the bad text is settled: %v", known(vectors), n, bad.Known())
			}
		})
	}
}

func TestADeadlineLeavesTimeForTheSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		within, end := Within(ctx, MaxWait)
		defer end()
		begin := time.Now()
		<-within.Done()
		must.Equal(t, "a wait takes", 50*time.Millisecond, time.Since(begin))
	})
}

func TestFillEndsWithTheLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lifetime, end := context.WithCancel(t.Context())
		m := &model{fail: func(ctx context.Context, _ []string, _ bool) ([][]float32, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		s := newStore(t, m, "", "a")
		s.config.Lifetime = lifetime
		vectors := documents(s, 100)
		within, cancel := Within(t.Context(), MaxWait)
		defer cancel()
		s.Fill(within)
		end()
		synctest.Wait() // synctest.Test fails if a goroutine stays
		s.Fill(t.Context())
		must.Equal(t, "m.called()", 1, m.called())
		runtime.KeepAlive(vectors)
	})
}

func TestTheFileKeepsVectors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "cache")
	m := new(model)
	s := newStore(t, m, dir, "a")
	first := documents(s, 100)
	fill(s)

	for _, test := range []struct {
		name, id  string
		documents int
		want      int // embeddings
	}{
		{"the same texts", "a", 100, 0},
		{"more texts", "a", 110, 10},
		{"another model", "b", 100, 100},
		{"the first model again", "a", 110, 0},
	} {
		m := new(model)
		s := newStore(t, m, dir, test.id)
		vectors := documents(s, test.documents)
		fill(s)
		if known(vectors) != test.documents || m.count() != test.want {
			t.Errorf("%s: %d vectors and %d embeddings, want %d", test.name, known(vectors), m.count(), test.want)
		}
		for i, v := range first {
			a := v.Point()
			if b := vectors[i].Point(); !slices.Equal(a.Values(), b.Values()) {
				t.Errorf("%s: vector %d differs", test.name, i)
			}
		}
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("the directory has %v", names)
	}
	if info, err := os.Stat(filepath.Join(dir, fileName)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

func TestABrokenFileIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, fileName)
	s := newStore(t, new(model), dir, "a")
	documents := func(s *Store) []*vector.Cell { return documents(s, 70) }
	keep := documents(s)
	fill(s)
	good := must.Get(os.ReadFile(file))(t)
	runtime.KeepAlive(keep)
	for _, test := range []struct {
		name  string
		spoil func() error
	}{
		{"a changed byte", func() error { return os.WriteFile(file, flip(good, len(good)/2), 0o600) }},
		{"a changed checksum", func() error { return os.WriteFile(file, flip(good, len(good)-1), 0o600) }},
		{"a short file", func() error { return os.WriteFile(file, good[:len(good)-1], 0o600) }},
		{"an empty file", func() error { return os.WriteFile(file, nil, 0o600) }},
		{"a foreign file", func() error { return os.WriteFile(file, []byte(strings.Repeat("x", 1000)), 0o600) }},
		{"a large file", func() error { return os.Truncate(file, maxFile+1) }},
		{"no file", func() error { return nil }},
		{"a link", func() error { return os.Symlink(filepath.Join(t.TempDir(), "x"), file) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			must.Do(t, errors.Join(os.RemoveAll(file), os.WriteFile(file, good, 0o600)))
			if strings.HasPrefix(test.name, "no ") || test.name == "a link" {
				os.Remove(file)
			}
			if err := test.spoil(); err != nil {
				t.Skip(err)
			}
			m := new(model)
			s := newStore(t, m, dir, "a")
			vectors := documents(s)
			fill(s)
			if known(vectors) != 70 || m.count() != 70 {
				t.Errorf("%d vectors, %d embeddings", known(vectors), m.count())
			}
			m = new(model)
			s = newStore(t, m, dir, "a")
			if vectors := documents(s); true {
				fill(s)
				if known(vectors) != 70 || m.count() != 0 {
					t.Errorf("the new file has no vectors: %d embeddings", m.count())
				}
			}
		})
	}
}

func flip(data []byte, at int) []byte {
	data = slices.Clone(data)
	data[at] ^= 1
	return data
}

// Both stores read the file before the other store writes.
func TestTwoProcessesKeepTheVectorsOfBoth(t *testing.T) {
	dir := t.TempDir()
	var stores []*Store
	var vectors [][]*vector.Cell
	for i := range 2 {
		s := newStore(t, new(model), "", "a")
		vectors = append(vectors, []*vector.Cell{s.Vector(rank.Document{Name: fmt.Sprintf("document-of-%d", i)})})
		fill(s)
		s.config.Dir = dir
		stores = append(stores, s)
	}
	for _, s := range stores {
		s.use(s.save)
	}
	m := new(model)
	s := newStore(t, m, dir, "a")
	all := []*vector.Cell{s.Vector(rank.Document{Name: "document-of-0"}), s.Vector(rank.Document{Name: "document-of-1"})}
	fill(s)
	if known(all) != 2 || m.count() != 0 {
		t.Errorf("%d embeddings", m.count())
	}
	runtime.KeepAlive(vectors)
}

// Each store replaces the file many times while the other stores write.
func TestAFileOfSeveralProcessesIsAlwaysWhole(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for i := range 4 {
		s := newStore(t, new(model), dir, fmt.Sprint(i))
		vectors := documents(s, 100)
		fill(s)
		group.Go(func() {
			for range 200 {
				_ = s.save() // another store can be writing
				root, err := os.OpenRoot(dir)
				if err != nil {
					t.Error(err)
					return
				}
				if data, err := read(root); data == nil || err != nil {
					t.Errorf("the file is broken: %v", err)
				}
				root.Close()
			}
			runtime.KeepAlive(vectors)
		})
	}
	group.Wait()
	must.Fail(os.Stat(filepath.Join(dir, tempName)))(t, "a temporary file stays", os.ErrNotExist)
}

func TestTheFileHasABound(t *testing.T) {
	s := newStore(t, new(model), t.TempDir(), "a")
	vectors := documents(s, 10)
	fill(s)
	var old []byte
	values := make([]byte, vector.MaxDimensions)
	values[0] = 1
	for i := range maxFile/len(values) + 10 {
		old = appendRecord(old, key{byte(i), byte(i >> 8)}, values)
	}
	data := s.content(old)
	got := map[key]bool{}
	for k := range records(data[len(fileHeader):]) {
		got[k] = true
	}
	if len(data)+32 > maxFile || len(data) < maxFile-2*len(values) {
		t.Errorf("the file has %d bytes", len(data))
	}
	for k := range s.vectors {
		if !got[k] {
			t.Error("the file lacks the vector of a document")
		}
	}
	runtime.KeepAlive(vectors)
}

func TestUnusedVectorsAreFreed(t *testing.T) {
	s := newStore(t, new(model), "", "a")
	for i := range 10_000 {
		s.Vector(rank.Document{Name: fmt.Sprintf("document%d", i)})
		if i%1000 == 0 {
			runtime.GC()
		}
	}
	if len(s.vectors) > 5000 || len(s.pending) > 5000 {
		t.Errorf("the store has %d vectors and %d texts that no document has", len(s.vectors), len(s.pending))
	}
}

func TestAVectorOf384DimensionsHasAtMost600Bytes(t *testing.T) {
	const n = 5000
	m := &model{fail: func(_ context.Context, texts []string, _ bool) (all [][]float32, _ error) {
		for range texts {
			v := make([]float32, 384)
			v[0] = 1
			all = append(all, v)
		}
		return all, nil
	}}
	s := newStore(t, m, "", "a")
	memory := func() uint64 {
		runtime.GC()
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	vectors := make([]*vector.Cell, n)
	before := memory()
	copy(vectors, documents(s, n))
	fill(s)
	m.texts = nil
	if bytes := (memory() - before) / n; bytes > 600 {
		t.Errorf("a vector has %d bytes", bytes)
	} else {
		t.Logf("a vector has %d bytes", bytes)
	}
	runtime.KeepAlive(vectors)
	runtime.KeepAlive(s)
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte{})
	f.Add(appendRecord(appendRecord(nil, key{1}, []byte{1, 2}), key{2}, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		var again []byte
		for k, values := range records(data) {
			again = appendRecord(again, k, values)
		}
		if !strings.HasPrefix(string(data), string(again)) {
			t.Errorf("%x is read as %x", data, again)
		}
	})
}

func TestMeaningTextHasTheNameAndTheDescription(t *testing.T) {
	words := strings.Repeat("w ", 100)
	for _, test := range []struct {
		name string
		rank.Document
		want string
	}{
		{"name and description", rank.Document{Name: "review-pr", Description: "Review  a\npull request", Body: "text"}, "review pr Review a pull request"},
		{"parts of a name", rank.Document{Name: "git:parseHTTPHeader2", Body: "x"}, "git parse HTTP Header 2 x"},
		{"the body without a description", rank.Document{Name: "a", Description: " \n", Body: "# Title\n\ntext"}, "a # Title text"},
		{"80 words", rank.Document{Name: "a-b", Description: words}, "a b " + strings.TrimSpace(words[:160])},
		{"a script without spaces", rank.Document{Name: "代码审查", Description: strings.Repeat("会", 1000)}, "代码审查 " + strings.Repeat("会", (maxBytes-13)/3)},
		{"no UTF-8", rank.Document{Name: "a\xff", Description: "b\xff c"}, "a b c"},
		{"nothing", rank.Document{}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			must.Match(t, "result", test.want, Text(test.Document))
		})
	}
}
