package rank

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// indexOf holds documents under their names.
func indexOf(documents ...Document) *Corpus {
	x := new(Corpus)
	for _, d := range documents {
		x.Put(d.Name, d)
	}
	return x
}

func find(t testing.TB, x *Corpus, text string) []Hit {
	t.Helper()
	found := must.Get(x.Search(t.Context(), text, 100, nil, nil))(t)
	if found.Total != len(found.Hits) && found.Total <= 100 {
		t.Errorf("%d hits, but a total of %d", len(found.Hits), found.Total)
	}
	return found.Hits
}

// keys are the keys of hits, each with its tier.
func keys(hits []Hit) string {
	var all []string
	for _, h := range hits {
		all = append(all, fmt.Sprintf("%s/%d", h.Key, h.Tier))
	}
	return strings.Join(all, " ")
}

// corpora are the corpora of testdata/texts.txt.
var corpora = map[string]*Corpus{
	"meetings": indexOf(
		Document{Name: "analyze-slow-meeting", Description: "Find out what delays a standup", Tags: "team", Body: "# Timeline\n\nWrite down who spoke.\n"},
		Document{Name: "meeting-notes", Description: "Take notes", Tags: "minutes, team", Body: "Slow down and listen. The proxies are next.\n"},
		Document{Name: "parseHTTPHeader2", Description: "Read a request of the proxy", Body: "## Caching\n\nGitHub\n"},
		Document{Name: "analyzeZoomSpeechSdkLogFileNow", Description: "データ 1"},
		Document{Name: "代码审查"},
		Document{Name: "übersetzen", Description: "Texte für 会議録 übertragen", Body: "ok\n"},
	),
	"meeting": indexOf(
		Document{Name: "slow-meeting", Description: "A log of delays", Tags: "team", Body: "# Timeline\n\nproxy sockets\n"},
	),
	"certificates": indexOf(
		Document{Name: "a", Description: "Certificates", Body: strings.Repeat("More text. ", 50) + "Rotate what has expired.\n\n# Rotate\n\n# Expired\n\n# Certificate\n"},
		Document{Name: "b", Description: "Operations", Body: "Text.\n\n## Rotate the expired certificate\n\n" + strings.Repeat("More text. ", 50)},
		Document{Name: "c", Description: "Operations", Body: "Text.\n\n## Rotate keys of a host before the certificate of its cluster and other secrets\n\n" + strings.Repeat("More text. ", 50)},
	),
	"beginnings": indexOf(
		Document{Name: "review-pr", Description: "Look at a change"},
		Document{Name: "rebase", Body: "Use git rev-parse"},
		Document{Name: "notes", Description: "A revolution"},
		Document{Name: "secret-revenue"},
		Document{Name: "organization"},
		Document{Name: "sha-256"},
		Document{Name: "sha256sum"},
		Document{Name: "проверка"},
		Document{Name: "प्रवाह"},
	),
	"deployments": indexOf(
		Document{Name: "deploy-service", Description: "Ship it"},
		Document{Name: "deploy-docs", Description: "Publish the pages"},
		Document{Name: "review-2", Description: "Look at a change"},
		Document{Name: "secret-plan"},
	),
	"alike": indexOf(
		Document{Name: "amber"},
		Document{Name: "проверка"},
		Document{Name: "просмотр"},
	),
}

// searched returns the result of a query. No name with "secret" is kept.
func searched(t *testing.T, corpus, query string) Result {
	kept := func(key string) bool { return !strings.Contains(key, "secret") }
	found := must.Get(corpora[corpus].Search(t.Context(), query, 100, kept, nil))(t)
	must.Equal(t, "the total", len(found.Hits), found.Total)
	return found
}

func TestANameWithATypingErrorFindsTheDocument(t *testing.T) {
	x := indexOf(
		Document{Name: "data:pipeline", Description: "Pipelines", Body: "More text."},
		Document{Name: "data:export", Description: "The export of data from a pipeline", Body: "# Pipeline\n\nThe data of a pipeline.\n"},
		Document{Name: "engineering:pipeline", Description: "Pipelines of data", Body: "# Data\n\nData.\n"},
	)
	must.Match(t, "result", "data:pipeline/2", keys(find(t, x, "data:pipelne")[:1]))
}

func TestTheReasonOfABeginningSaysNearly(t *testing.T) {
	must.Equal(t, "revi", `name matches "revi" nearly`, searched(t, "beginnings", "revi").Hits[0].Reason)
}

func TestTheOpeningOfABodyOutweighsTheRest(t *testing.T) {
	const filler = "filler words of no interest "
	x := indexOf(
		Document{Name: "a", Body: strings.Repeat(filler, 20) + "needle"},
		Document{Name: "b", Body: "needle " + strings.Repeat(filler, 20)},
	)
	must.Match(t, "result", "b/2 a/2", keys(find(t, x, "needle")))
	must.Equal(t, `find(t, x, "needle")[0].Reason`, `body matches "needle"`,
		find(t, x, "needle")[0].Reason)
}

func TestScoreOfTheNameItselfIsOne(t *testing.T) {
	x := indexOf(Document{Name: "review-pr"}, Document{Name: "review-pr-fast"}, Document{Name: "sha256"}, Document{Name: "OpenAPI"}, Document{Name: strings.Repeat("x", 70)})
	for _, query := range []string{"review-pr", "PR review", "sha256", "openapi", "OpenAPI", strings.Repeat("X", 70)} {
		if hits := find(t, x, query); len(hits) == 0 || hits[0].Score != 1 || len(hits) > 1 && hits[1].Score >= 1 {
			t.Errorf("%q: %+v", query, hits)
		}
	}
}

func TestEqualScoresAreSortedByName(t *testing.T) {
	x := indexOf(Document{Name: "c", Body: "same"}, Document{Name: "B", Body: "same"}, Document{Name: "a", Body: "same"})
	must.Match(t, "result", "B/2 a/2 c/2", keys(find(t, x, "same")))
}

func TestLimitCutsAfterTheBest(t *testing.T) {
	x := new(Corpus)
	for i := range 1000 {
		name := fmt.Sprintf("n%03d", i)
		x.Put(name, Document{Name: name, Body: strings.Repeat("filler ", 1000-i) + "needle"})
	}
	all, err := x.Search(t.Context(), "needle", 1000, nil, nil)
	if err != nil || all.Total != 1000 || len(all.Hits) != 1000 {
		t.Fatal(len(all.Hits), all.Total, err)
	}
	some, err := x.Search(t.Context(), "needle", 3, nil, nil)
	if err != nil || some.Total != 1000 {
		t.Fatal(some.Total, err)
	}
	must.Match(t, "result", all.Hits[:3], some.Hits)
}

// A heading also lifts a document over the limit.
func TestTheLimitDoesNotChangeTheBestHits(t *testing.T) {
	x := new(Corpus)
	for i := range 300 {
		name := fmt.Sprintf("n%03d", i)
		x.Put(name, Document{Name: name, Description: strings.Repeat("rotate the certificate ", i%7), Body: strings.Repeat("## Rotate a certificate\n\n", i%2) + strings.Repeat("More text. ", i%11)})
	}
	all := must.Get(x.Search(t.Context(), "rotate certificate", 300, nil, nil))(t)
	for _, limit := range []int{1, 7, 100} {
		some, err := x.Search(t.Context(), "rotate certificate", limit, nil, nil)
		if diff := cmp.Diff(all.Hits[:limit], some.Hits); diff != "" || err != nil {
			t.Errorf("limit %d: %v, -want +got:\n%s", limit, err, diff)
		}
	}
}

func TestReportsCountOnlyForTheirDocument(t *testing.T) {
	x := indexOf(Document{Name: "analyze-logs", Description: "Read logs"}, Document{Name: "other", Body: "latency"})
	for key, d := range map[string]Document{
		"r/1": {Name: "analyze-logs", Report: true, Body: "latency of the gateway"},
		"r/2": {Name: "analyze-logs", Report: true, Body: "latency, latency; and much else that is of no interest to anybody"},
		"r/3": {Name: "removed", Report: true, Body: "gateway"},
	} {
		x.Put(key, d)
	}
	for query, want := range map[string]string{
		"latency":      "other/2 analyze-logs/3",
		"gateway":      "analyze-logs/3",
		"logs gateway": "analyze-logs/2", // listed once, in its best tier
	} {
		must.Match(t, query, want, keys(find(t, x, query)))
	}
	must.Equal(t, "the reason", `report matches "gateway"`, find(t, x, "gateway")[0].Reason)
	x.RemoveReport("r/1")
	if hits := find(t, x, "gateway"); len(hits) > 0 {
		t.Errorf("found by a report that was removed: %+v", hits)
	}
}

func TestHostileTextsAreIndexedInPart(t *testing.T) {
	var many strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&many, "w%x ", i)
	}
	x := indexOf(
		Document{Name: "many", Body: many.String()},
		Document{Name: "long", Body: "begin " + strings.Repeat("x", 1<<20) + " end"},
		Document{Name: "large", Body: "begin " + strings.Repeat("y ", 5<<20) + " end"},
		Document{Name: "dense", Body: strings.Repeat("会", 1<<20)},
	)
	if n := len(x.documents.terms); n > 2*maxTerms {
		t.Errorf("%d terms", n)
	}
	must.Match(t, "result", "long/2 large/2", keys(find(t, x, "begin")))
	if hits := find(t, x, "end"); len(hits) > 0 {
		t.Errorf("found beyond what is indexed: %+v", hits)
	}
}

func TestSearchOmitsDocumentsThatAreNotKept(t *testing.T) {
	x := indexOf(Document{Name: "shown", Body: "review"}, Document{Name: "secret", Body: "reveiw secret"})
	x.Put("r/1", Document{Name: "secret", Report: true, Body: "latency"})
	x.Put("r/2", Document{Name: "shown", Report: true, Body: "latency"})
	for query, want := range map[string]string{
		"secret":  "",
		"latency": "shown/3",
		"reveiw":  "shown/2", // a typing error, since nobody else has the word
	} {
		found, err := x.Search(t.Context(), query, 10, func(key string) bool { return key != "secret" }, nil)
		if err != nil || found.Total != len(found.Hits) {
			t.Error(found.Total, err)
		}
		must.Match(t, query, want, keys(found.Hits))
	}
}

// Both hidden documents have the same words in the same fields, but only one of the documents has
// the query as a heading.
func TestTheHeadingOfAHiddenDocumentChangesNoScore(t *testing.T) {
	const words = "deploy service"
	search := func(body string) []Hit {
		x := indexOf(Document{Name: "shown", Body: words}, Document{Name: "hidden", Description: words, Tags: words, Body: body})
		found := must.Get(x.Search(t.Context(), words, 10, func(key string) bool { return key == "shown" }, nil))(t)
		return found.Hits
	}
	must.Match(t, "result", search("# deploy\n\n# service\n"), search("# deploy service\n"))
}

func TestSearchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(indexOf(Document{Name: "a"}).Search(ctx, "a", 1, nil, nil))(t, "indexOf", context.Canceled)
}

// What is found does not depend on how the documents came to be there.
func TestAnUpdatedIndexEqualsANewIndex(t *testing.T) {
	word := rapid.SampledFrom(strings.Fields("log logs proxy meeting slow GitHub git hub café 会議 v2 review reviewing the"))
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), " ") })
	document := rapid.Custom(func(t *rapid.T) Document {
		return Document{Description: text.Draw(t, "description"), Tags: text.Draw(t, "tags"), Body: "# " + text.Draw(t, "heading") + "\n" + text.Draw(t, "body")}
	})
	name := rapid.SampledFrom([]string{"slow-meeting", "review", "gitHub", "a", "B"})
	rapid.Check(t, func(t *rapid.T) {
		updated, now := new(Corpus), map[string]Document{}
		var a Analyzer
		for range rapid.IntRange(0, 15).Draw(t, "updates") {
			d := document.Draw(t, "document")
			d.Name = name.Draw(t, "name")
			key := d.Name
			if d.Report = rapid.Bool().Draw(t, "report"); d.Report {
				key = "report " + rapid.SampledFrom([]string{"1", "2"}).Draw(t, "report")
			}
			switch gone := rapid.Bool().Draw(t, "remove"); {
			case gone && d.Report:
				updated.RemoveReport(key)
				delete(now, key)
			case gone:
				updated.Remove(key)
				delete(now, key)
			case !d.Report && rapid.Bool().Draw(t, "analyzed"):
				a.Analyze(d)
				updated.PutAnalyzed(key, &a)
				now[key] = d
			default:
				updated.Put(key, d)
				now[key] = d
			}
		}
		updated.Flush()
		fresh := new(Corpus)
		for key, d := range now {
			fresh.Put(key, d)
		}
		query := text.Draw(t, "query")
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		got, err := updated.Search(context.Background(), query, limit, nil, nil)
		want, err2 := fresh.Search(context.Background(), query, limit, nil, nil)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		must.Match(t, fmt.Sprintf("%q, -fresh +updated", query), want, got)
		for key := range now {
			updated.Remove(key)
			updated.RemoveReport(key)
		}
		for _, c := range []*corpus{&updated.documents, &updated.reports} {
			if len(c.byKey)+len(c.byStem) > 0 || c.total != [fields]int64{} || len(c.freeTerms) != len(c.terms) || len(c.freeDocs) != len(c.docs) {
				t.Errorf("something remains of removed documents: %+v", c)
			}
		}
	})
}

// "make" is a stop word, and "making" is another word with the same stem.
func TestTheHeadingsOfADocumentDependOnNoOtherDocument(t *testing.T) {
	plans, other := Document{Name: "a", Body: "# Making plans\n"}, Document{Name: "b", Body: "Make haste.\n"}
	var want []Hit
	for _, order := range [][]Document{{plans, other}, {other, plans}} {
		var x Corpus
		var a Analyzer
		for _, d := range order {
			a.Analyze(d)
			x.PutAnalyzed(d.Name, &a)
		}
		x.Flush()
		hits := find(t, &x, "making plans")
		if want == nil {
			want = hits
		}
		must.Match(t, "-the heading first +the stop word first", want, hits)
	}
}

// The words of the documents exceed maxPending.
func TestFlushOfManyDocuments(t *testing.T) {
	const documents = maxPending/maxTerms + 5
	var (
		x    Corpus
		a    Analyzer
		body strings.Builder
	)
	for i := range maxTerms {
		fmt.Fprintf(&body, "w%d ", i)
	}
	for i := range documents {
		name := fmt.Sprint("n", i)
		a.Analyze(Document{Name: name, Body: body.String()})
		x.PutAnalyzed(name, &a)
	}
	x.Flush()
	if hits := find(t, &x, "w17"); len(hits) != documents {
		t.Errorf("%d hits, want %d", len(hits), documents)
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("slow-meeting", "a log", "team", "# Heading\nproxy", "slwo proxies")
	f.Add("v1.2", "会議録", "", "```\n# x", "会 議録")
	f.Fuzz(func(t *testing.T, name, description, tags, body, query string) {
		if len(query) > 2000 {
			return
		}
		d := Document{Name: name, Description: description, Tags: tags, Body: body}
		x := indexOf(d, Document{Name: "other", Body: query})
		x.Put("report", Document{Name: name, Report: true, Body: query})
		hits := find(t, x, query)
		must.Match(t, "two searches differ", hits, find(t, x, query))
		if !slices.IsSortedFunc(hits, func(a, b Hit) int { return int(a.Tier) - int(b.Tier) }) {
			t.Errorf("tiers are mixed: %s", keys(hits))
		}
		for i, h := range hits {
			if !(0 < h.Score && h.Score <= 1) || i > 0 && h.Score > hits[i-1].Score || h.Reason == "" {
				t.Errorf("%+v", h)
			}
		}
	})
}

var update = flag.Bool("update", false, "write the results to testdata/results.txt")

// TestResultsStayTheSame compares the results of queries over generated documents with
// testdata/results.txt. A change of the index alone must not change the results.
func TestResultsStayTheSame(t *testing.T) {
	const file = "testdata/results.txt"
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.2, 8, 1999)
	var vocabulary []string
	for len(vocabulary) < 2000 {
		word := make([]byte, 2+random.IntN(10))
		for i := range word {
			word[i] = "etaoinshrdlucmfwyp"[min(random.IntN(18), random.IntN(18))]
		}
		w := string(word)
		switch random.IntN(20) {
		case 0:
			w = strings.ToUpper(w)
		case 1:
			w = strings.ToUpper(w[:1]) + w[1:] + "Name"
		case 2:
			w += fmt.Sprint(random.IntN(100))
		case 3:
			w = strings.ReplaceAll(w, "e", "é")
		case 4:
			w = string([]rune("会議録翻訳審査データ")[random.IntN(9):][:1]) + "録" + w
		case 5, 6, 7:
			w += []string{"s", "ed", "ing", "es"}[random.IntN(4)]
		}
		vocabulary = append(vocabulary, w)
	}
	text := func(n int, separator string) string {
		var words []string
		for range n {
			words = append(words, vocabulary[zipf.Uint64()])
		}
		return strings.Join(words, separator)
	}
	x := new(Corpus)
	var names []string
	for i := range 400 {
		d := Document{Name: fmt.Sprintf("%s-%d", text(1+random.IntN(3), "-"), i), Description: text(random.IntN(12), " "), Tags: text(random.IntN(3), ", ")}
		for range random.IntN(6) {
			d.Body += "# " + text(2, " ") + "\n\n" + text(random.IntN(80), " ") + "\n```\n# " + text(5, "=") + "\n```\n" + text(3, "\r\n") + "\n"
		}
		names = append(names, d.Name)
		x.Put(d.Name, d)
		if i%7 == 3 {
			x.Put(fmt.Sprint("report ", i), Document{Name: names[random.IntN(len(names))], Report: true, Body: text(30, " ") + fmt.Sprint(" evidence", i)})
		}
		if i%11 == 5 {
			d.Name = names[random.IntN(len(names))]
			x.Put(d.Name, d) // another text for a known name
		}
		if i%13 == 6 {
			x.Remove(names[random.IntN(len(names))])
		}
	}
	var got strings.Builder
	for i := range 250 {
		query := text(1+random.IntN(5), " ")
		if r := []rune(query); i%4 == 0 && len(r) > 2 {
			at := random.IntN(len(r) - 1)
			query = string(r[:at]) + string(r[at+1:])
		}
		if i%10 == 9 {
			query = fmt.Sprint("evidence", i)
		}
		found := must.Get(x.Search(t.Context(), query, 3, nil, nil))(t)
		fmt.Fprintf(&got, "%q: %d\n", query, found.Total)
		for _, h := range found.Hits {
			fmt.Fprintf(&got, "  %s/%d %.3f %s\n", h.Name, h.Tier, h.Score, h.Reason)
		}
	}
	if *update {
		must.Do(t, os.WriteFile(file, []byte(got.String()), 0o644))
	}
	want := must.Get(os.ReadFile(file))(t)
	must.Match(t, "result", strings.Split(string(want), "\n"), strings.Split(got.String(), "\n"))
}
