package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A library holds a directory of commands and queries for the commands. The words
// are as frequent as in a natural text (Zipf's law).
type library struct {
	root   string
	dir    string
	names  []string
	bodies [][]byte
	words  []string
}

// newLibrary writes n commands of about 4 KB each.
func newLibrary(b *testing.B, n int) *library {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	l := &library{root: b.TempDir()}
	l.dir = filepath.Join(l.root, "commands")
	must.Do(b, os.Mkdir(l.dir, 0o755))
	for range 30_000 {
		word := make([]byte, 3+random.IntN(8))
		for i := range word {
			word[i] = "etaoinshrdlucmfwypvbgkjqxz"[min(random.IntN(26), random.IntN(26))]
		}
		l.words = append(l.words, string(word))
	}
	zipf := rand.NewZipf(random, 1.07, 5, uint64(len(l.words)-1))
	text := func(n int) string {
		var s strings.Builder
		for i := range n {
			if i > 0 {
				s.WriteByte(' ')
			}
			s.WriteString(l.words[zipf.Uint64()])
		}
		return s.String()
	}
	old := time.Now().Add(-time.Minute) // see stamp.Settled
	for i := range n {
		name := fmt.Sprintf("%s-%05d", strings.ReplaceAll(text(2), " ", "-"), i)
		body := fmt.Sprintf("---\ndescription: %s\ntags: [%s]\n---\n# %s\n\n", text(10), text(1), text(3))
		for range 6 {
			body += fmt.Sprintf("## %s\n\n%s\n\n", text(2), text(100))
		}
		file := filepath.Join(l.dir, name+".md")
		must.Do(b, os.WriteFile(file, []byte(body), 0o644))
		must.Do(b, os.Chtimes(file, old, old))
		l.names, l.bodies = append(l.names, name), append(l.bodies, []byte(body))
	}
	return l
}

// queries returns queries of each kind in turn: a name, a rare word with two frequent
// words, a word with a typing error, a sentence, and five of the most frequent words.
func (l *library) queries(n int) []string {
	random := rand.New(rand.NewPCG(3, 4))
	var all []string
	for i := range n {
		switch i % 5 {
		case 0:
			all = append(all, strings.ReplaceAll(l.names[random.IntN(len(l.names))], "-", " "))
		case 1:
			all = append(all, l.words[random.IntN(len(l.words))]+" "+l.words[random.IntN(100)]+" "+l.words[random.IntN(100)])
		case 2:
			all = append(all, l.words[random.IntN(1000)]+"z")
		case 3:
			body := strings.Fields(string(l.bodies[random.IntN(len(l.bodies))]))
			all = append(all, strings.Join(body[20:40], " "))
		case 4:
			all = append(all, strings.Join(l.words[:5], " "))
		}
	}
	return all
}

// scan does what a program without an index does. All texts are in memory, and scan
// counts the commands that contain each word.
func (l *library) scan(query string) int {
	hits := 0
	for _, body := range l.bodies {
		all := true
		for word := range strings.FieldsSeq(query) {
			all = all && bytes.Contains(body, []byte(word))
		}
		if all {
			hits++
		}
	}
	return hits
}

// BenchmarkSearch reports the median and the 95th percentile of a search over 10,000
// commands. For comparison, the benchmark reports the medians of a scan of all texts in
// memory and of the minimum: a List, which validates all files.
func BenchmarkSearch(b *testing.B) {
	l := newLibrary(b, 10_000)
	for _, run := range []struct {
		name    string
		options []toolshelf.Option
	}{
		{"validated", []toolshelf.Option{toolshelf.WithRoot(l.root)}},
		{"watched", []toolshelf.Option{toolshelf.WithRoot(l.root), toolshelf.WithWatch()}},
	} {
		b.Run(run.name, func(b *testing.B) {
			c := catalogtest.Open(b, run.options...)
			firstSearch(b, c)
			queries := l.queries(500)
			times := map[string][]time.Duration{}
			measure := func(name string, do func()) {
				begin := time.Now()
				do()
				times[name] = append(times[name], time.Since(begin))
			}
			found := 0
			for i := 0; b.Loop(); i++ {
				query := queries[i%len(queries)]
				measure("search", func() {
					results := must.Get(c.Search(b.Context(), query, 10))(b)
					found += results.TotalFound
				})
				measure("list", func() {
					must.Get(c.List(b.Context(), toolshelf.Page{}))(b)
				})
				if i%10 == 0 {
					measure("scan", func() { found += l.scan(query) })
				}
			}
			if found == 0 {
				b.Error("nothing was found")
			}
			at := func(name string, q float64) float64 {
				slices.Sort(times[name])
				return float64(times[name][int(q*float64(len(times[name])-1))].Nanoseconds())
			}
			b.ReportMetric(at("search", 0.5), "ns/p50")
			b.ReportMetric(at("search", 0.95), "ns/p95")
			b.ReportMetric(at("list", 0.5), "ns/list")
			b.ReportMetric(at("scan", 0.5), "ns/scan")
			b.ReportMetric(at("search", 0.95)/at("scan", 0.95), "search/scan")
			b.ReportMetric(at("search", 0.5)/at("list", 0.5), "search/list")
		})
	}
}

// hashing is an embedder with vectors of 384 dimensions that depend on the text.
type hashing struct{}

func (hashing) ID() string { return "hashing" }

func (hashing) Embed(_ context.Context, texts []string, _ bool) (all [][]float32, err error) {
	for _, text := range texts {
		h := fnv.New64()
		h.Write([]byte(text))
		random := rand.New(rand.NewPCG(h.Sum64(), 0))
		v := make([]float32, 384)
		for i := range v {
			v[i] = float32(random.NormFloat64())
		}
		all = append(all, v)
	}
	return all, nil
}

// BenchmarkSearchByMeaning compares a search over 10,000 watched commands with vectors of 384
// dimensions, a search without vectors, and a plain loop over the same number of vectors of 8 bits.
// The metric added/loop is the additional time of the meaning, divided by the time of the loop.
func BenchmarkSearchByMeaning(b *testing.B) {
	l := newLibrary(b, 10_000)
	words := catalogtest.Open(b, toolshelf.WithRoot(l.root), toolshelf.WithWatch())
	meaning := catalogtest.Open(b, toolshelf.WithRoot(l.root), toolshelf.WithWatch(), toolshelf.WithEmbedder(hashing{}))
	firstSearch(b, words)
	firstSearch(b, meaning)
	for {
		found := must.Get(meaning.Search(b.Context(), "nothing", 10))(b)
		if found.Semantic {
			break
		}
	}
	random := rand.New(rand.NewPCG(5, 6))
	vectors := make([]int8, len(l.names)*384)
	for i := range vectors {
		vectors[i] = int8(random.IntN(255) - 127)
	}
	times := map[string][]time.Duration{}
	measure := func(name string, do func()) {
		begin := time.Now()
		do()
		times[name] = append(times[name], time.Since(begin))
	}
	search := func(c *toolshelf.Catalog, query string, semantic bool) {
		must.Equal(b, "semantic", semantic, must.Get(c.Search(b.Context(), query, 10))(b).Semantic)
	}
	queries, sum := l.queries(200), int32(0)
	for i := 0; b.Loop(); i++ {
		query := queries[i%len(queries)]
		measure("words", func() { search(words, query, false) })
		measure("meaning", func() { search(meaning, query, true) })
		measure("loop", func() {
			for at := 0; at < len(vectors); at += 384 {
				product := int32(0)
				for j, v := range vectors[at : at+384] {
					product += int32(v) * int32(vectors[j])
				}
				sum = max(sum, product)
			}
		})
	}
	at := func(name string, q float64) float64 {
		slices.Sort(times[name])
		return float64(times[name][int(q*float64(len(times[name])-1))].Nanoseconds())
	}
	for name := range times {
		b.ReportMetric(at(name, 0.5), "ns/"+name)
	}
	b.ReportMetric((at("meaning", 0.5)-at("words", 0.5))/at("loop", 0.5), "added/loop")
	b.ReportMetric((at("meaning", 0.95)-at("words", 0.95))/at("loop", 0.95), "added/loop-p95")
}

// BenchmarkSearchFirst compares the first search over 10,000 commands with reading all
// files on one core, and with a program that reads all files and looks for a word. The
// search follows a List ("first", and "names" for the partial result), or begins with a new
// catalog ("cold"). B/command is the memory of the index for each command, without the memory of
// the List.
func BenchmarkSearchFirst(b *testing.B) {
	const n = 10_000
	for _, mix := range HeaderMixes(PublicCommandHeaders) {
		b.Run(mix.Name, func(b *testing.B) {
			d := PublicCommands(b, n, mix.Classes, PublicCommandSizes)
			searchFirst(b, d)
			d.ReportShares(b)
		})
	}
}

func searchFirst(b *testing.B, d *PublicDir) {
	times, processor := map[string][]float64{}, map[string]float64{}
	measure := func(name string, do func()) {
		begin, before := time.Now(), processorTime(b)
		do()
		times[name] = append(times[name], float64(time.Since(begin).Nanoseconds()))
		processor[name] += processorTime(b) - before
	}
	var kept int64
	// firstSearch asks again and again until all texts are indexed. Scans of 10,000 files by the
	// questions would take the processor from the index.
	unscanned := toolshelf.WithCacheTTL(time.Hour)
	for b.Loop() {
		c := catalogtest.Open(b, toolshelf.WithRoot(d.Root))
		must.Get(c.List(b.Context(), toolshelf.Page{}))(b)
		measure("names", func() { searchNames(b, c) })
		c.Close()
		c = catalogtest.Open(b, toolshelf.WithRoot(d.Root), unscanned)
		must.Get(c.List(b.Context(), toolshelf.Page{}))(b)
		before := catalogtest.Heap()
		measure("first", func() { firstSearch(b, c) })
		kept = catalogtest.Heap() - before
		c.Close()

		measure("cold", func() {
			c := catalogtest.Open(b, toolshelf.WithRoot(d.Root), unscanned)
			firstSearch(b, c)
			c.Close()
		})
		measure("read", func() { readWhole(b, d.Files) })
		measure("naive", func() {
			for _, file := range d.Files {
				data := must.Get(os.ReadFile(file))(b)
				bytes.Contains(bytes.ToLower(data), []byte("nothing"))
			}
		})
	}
	median := func(name string) float64 {
		slices.Sort(times[name])
		return times[name][len(times[name])/2]
	}
	for name := range times {
		b.ReportMetric(median(name), "ns/"+name)
	}
	b.ReportMetric(median("names")/median("read"), "names/read")
	b.ReportMetric(median("first")/median("read"), "first/read")
	b.ReportMetric(median("cold")/median("read"), "cold/read")
	b.ReportMetric(median("first")/median("naive"), "first/naive")
	b.ReportMetric(processor["first"]/processor["read"], "first/read-cpu")
	b.ReportMetric(float64(kept)/float64(len(d.Files)), "B/command")
}

// processorTime returns the time that all processors have spent on this process. A busy machine
// changes this time less than the time of the clock.
func processorTime(b *testing.B) float64 {
	var u unix.Rusage
	must.Do(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

// firstSearch repeats the search until all files are read.
func firstSearch(b *testing.B, c *toolshelf.Catalog) {
	for searchNames(b, c) {
		time.Sleep(time.Millisecond)
	}
}

// searchNames searches once, and reports whether texts are missing.
func searchNames(b *testing.B, c *toolshelf.Catalog) (partial bool) {
	for {
		found, err := c.Search(b.Context(), "nothing", 0)
		if err == nil {
			return found.Partial
		}
		if !errors.Is(err, toolshelf.ErrSearchTimeout) {
			b.Fatal(err)
		}
	}
}
