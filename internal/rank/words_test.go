package rank

import (
	_ "embed"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/words"
)

//go:embed testdata/texts.txt
var texts string

// TestTexts asks the questions of testdata/texts.txt, which describes the questions.
func TestTexts(t *testing.T) {
	must.Answer(t, texts, map[string]func(t *testing.T, a ...string) string{
		"search": func(t *testing.T, a ...string) string { return keys(searched(t, a[0], a[1]).Hits) },
		"reason": func(t *testing.T, a ...string) string {
			hits := searched(t, a[0], a[1]).Hits
			must.Equal(t, "the number of hits", 1, len(hits))
			return hits[0].Reason
		},
		"offer": func(t *testing.T, a ...string) string {
			found := searched(t, a[0], a[1])
			must.Equal(t, "weak", len(found.Words) > 0, found.Weak)
			return strings.Join(found.Words, " ")
		},
	})
}

func TestHeadingsAgreeWithCommonMark(t *testing.T) {
	text := strings.Join([]string{
		"# One", "#No", "###### Six", "####### No", "   ## Indented", "    # No", "text # No",
		"```sh", "# No", "~~~", "# No", "```", "##", "# Two",
		"~~~~", "```", "# No", "~~~", "# No", "~~~~", "# Three",
		"``` a`b", "# Four",
		"- ```sh", "  # No", "  ```", "# Five",
	}, "\n")
	var headings []string
	sections(text, func(begin, end int, heading bool) {
		if heading {
			headings = append(headings, strings.TrimSpace(text[begin:end]))
		}
	})
	must.Match(t, "result", []string{"# One", "###### Six", "## Indented", "##", "# Two", "# Three", "# Four", "# Five"}, headings)
}

// analyzed describes the counts of the last document of an Analyzer by stem.
func analyzed(a *Analyzer) map[string]counts {
	all := map[string]counts{}
	for _, t := range a.found {
		all[a.lexicon.stems[t]] = a.counts[t]
	}
	return all
}

// split describes the counts of a text without a lexicon.
func split(f field, text string) (all map[string]counts, length uint32) {
	var s words.Splitter
	all = map[string]counts{}
	s.Split(text, func(_ string, folded []byte, part bool) {
		if !part {
			length++
		}
		word := string(words.Stem([]byte(string(folded))))
		if all[word] != 0 || len(all) < maxTerms {
			all[word] = all[word].plusOne(f)
		}
	})
	return all, length
}

func checkAnalyzed(t interface{ Errorf(string, ...any) }, a *Analyzer, text string) {
	a.Analyze(Document{Description: text})
	want, length := split(inDescription, text)
	if diff := cmp.Diff(want, analyzed(a)); diff != "" || a.lengths[inDescription] != length {
		t.Errorf("%q: %d words, want %d; -want +got:\n%s", text, a.lengths[inDescription], length, diff)
	}
}

// An Analyzer counts the words that a splitter finds, whatever the Analyzer has read
// before.
func TestAnalyzerCountsTheWordsOfTheSplitter(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom(strings.Fields("log Logs LOGGING parseHTTPHeader2 sha256 aB1cD2eF3g4 café CAFÉ Straße ﬁle 会議録 GPT4で ﾃﾞｰﾀ ー \u0301 — “x” a\xffb exactly8 ninebytes ExactlySixteen16 seventeenLetters7 "+
			strings.Repeat("x", 64)+" "+strings.Repeat("X", 65)+" "+strings.Repeat("ﷺ", 4))),
		rapid.StringMatching(`[a-zA-Z0-9]{1,20}`), rapid.String(), rapid.Just(" "))
	var a Analyzer
	rapid.Check(t, func(t *rapid.T) {
		checkAnalyzed(t, &a, strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " ", "\n"}).Draw(t, "separator")))
	})
}

// Words that agree in their first or last bytes are different words.
func TestAnalyzerKeepsManyWordsApart(t *testing.T) {
	var (
		a     Analyzer
		words []string
		seen  = rand.New(rand.NewPCG(1, 2)).Perm(4000)
	)
	for _, i := range seen {
		words = append(words, []string{"w%d", "%dlonger", "verylongword%d", "%dverylongword", "averyveryverylongword%d"}[i%5])
		words[len(words)-1] = fmt.Sprintf(words[len(words)-1], i)
	}
	for part := range 40 {
		checkAnalyzed(t, &a, strings.Join(words[100*part:][:100], " "))
	}
	checkAnalyzed(t, &a, strings.Join(words, " "))
	must.Equal(t, "len(a.found)", maxTerms, len(a.found))
}

func TestAnalyzerForgetsWordsBeyondItsBound(t *testing.T) {
	var a Analyzer
	for i := 0; a.lexicon.len <= maxLexemes; i++ {
		var text strings.Builder
		for j := range 30_000 {
			fmt.Fprintf(&text, "%x ", 30_000*i+j)
		}
		a.Analyze(Document{Description: text.String()})
	}
	checkAnalyzed(t, &a, "log logs GitHub")
	must.Equal(t, "a.lexicon.len", 3, a.lexicon.len)
}

func TestSectionsAreTheTextAndTheHeadings(t *testing.T) {
	text := "before\n# One\ntext # no\n\n```\n# code\n```\n   ## Two ##\n    # indented\n#hash\n- # in a list\nend"
	var got []string
	sections(text, func(begin, end int, heading bool) { got = append(got, fmt.Sprintf("%v %q", heading, text[begin:end])) })
	want := []string{
		`false "before\n"`, `true "# One\n"`, "false \"text # no\\n\\n```\\n# code\\n```\\n\"", `true "   ## Two ##\n"`,
		`false "    # indented\n#hash\n- # in a list\nend"`,
	}
	must.Match(t, "result", want, got)
}

// Postings are a map from documents to counts, sorted by document.
func TestPostingsAreASortedMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p postings
		want := map[uint32]counts{}
		for range rapid.IntRange(0, 100).Draw(t, "changes") {
			doc := rapid.Uint32Range(0, 30).Draw(t, "document")
			if c := counts(rapid.Uint32Range(0, 9).Draw(t, "counts")); c > 0 {
				p.put(posting{doc, c})
				want[doc] = c
			} else {
				p.remove(doc)
				delete(want, doc)
			}
		}
		var all postings
		for _, doc := range slices.Sorted(maps.Keys(want)) {
			all = append(all, posting{doc, want[doc]})
		}
		if diff := cmp.Diff(all, p, cmp.AllowUnexported(posting{})); diff != "" && len(p) > 0 {
			t.Errorf("-want +got:\n%s", diff)
		}
		for doc := range uint32(32) {
			must.Equal(t, fmt.Sprintf("document %d", doc), want[doc], p.of(doc))
		}
	})
}
