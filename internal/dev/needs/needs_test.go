package needs

import (
	"bytes"
	"encoding/gob"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// earlier holds the scores of the ranker of commit 68efd9d, before Porter2 and the weights that follow it: nDCG@10, and
// the share of the answers at rank 1 and at ranks 1 to 5, for each half.
var earlier = map[string][2]Score{
	"commands, need":     {{164, 0.4149, 0.2439, 0.5000}, {184, 0.4652, 0.3043, 0.5489}},
	"commands, words":    {{196, 0.9568, 0.9082, 0.9847}, {207, 0.9497, 0.8937, 0.9903}},
	"commands, mistyped": {{196, 0.9519, 0.8929, 0.9847}, {207, 0.9545, 0.9034, 0.9903}},
	"commands, heading":  {{190, 0.9322, 0.8632, 0.9789}, {200, 0.9116, 0.8350, 0.9700}},
	"commands, request":  {{35, 0.6022, 0.4286, 0.7429}, {40, 0.6905, 0.4750, 0.8250}},
	"skills, request":    {{36, 0.8430, 0.7500, 0.9167}, {39, 0.7668, 0.6154, 0.8718}},
	"skills, need":       {{275, 0.5792, 0.4327, 0.6582}, {293, 0.5736, 0.4403, 0.6382}},
	"skills, words":      {{296, 0.9096, 0.8074, 0.9730}, {309, 0.9312, 0.8544, 0.9773}},
	"skills, mistyped":   {{296, 0.9063, 0.8074, 0.9662}, {309, 0.9286, 0.8511, 0.9773}},
	"skills, heading":    {{284, 0.8909, 0.7958, 0.9613}, {302, 0.8848, 0.8079, 0.9338}},
	"german, need":       {{8, 0.8914, 0.7500, 1.0000}, {7, 0.7883, 0.5714, 1.0000}},
	"russian, need":      {{8, 0.9539, 0.8750, 1.0000}, {7, 0.9473, 0.8571, 1.0000}},
	"chinese, need":      {{8, 1.0000, 1.0000, 1.0000}, {7, 0.9473, 0.8571, 1.0000}},
}

var show = flag.Bool("show", false, "show the scores in the form of the variable earlier")

// A language has 15 entries and 15 needs, in both halves.
func language(t *testing.T, name string) (entries []Entry, queries []Query) {
	data := must.Get(os.ReadFile("testdata/" + name + ".txt"))(t)
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		part := strings.Split(line, " | ")
		entries = append(entries, Entry{Name: part[0], Description: part[1], Body: part[2]})
		queries = append(queries, Query{Kind: Need, Text: part[3], Answer: part[0], Half: i % 2})
	}
	return entries, queries
}

func check(t *testing.T, set string, queries []Query, kind Kind, search func(string) []string, ok func(now, before Score) bool) {
	halves := Measure(queries, kind, search)
	name := set + ", " + string(kind)
	line := fmt.Sprintf("%q: {", name)
	for half, now := range halves {
		before := earlier[name][half]
		t.Logf("%-20s half %d: %3d queries, nDCG@10 %.3f (earlier %.3f), rank 1 %.3f (%.3f), ranks 1 to 5 %.3f (%.3f)",
			name, half, now.Queries, now.NDCG, before.NDCG, now.AtOne, before.AtOne, now.AtFive, before.AtFive)
		line += fmt.Sprintf("{%d, %.4f, %.4f, %.4f}, ", now.Queries, now.NDCG, now.AtOne, now.AtFive)
		if !ok(now, before) {
			t.Errorf("%s, half %d: below the limit", name, half)
		}
	}
	if *show {
		fmt.Println(strings.TrimSuffix(line, ", ") + "},")
	}
}

const rounding = 1e-4

func TestTheRankerAnswersNeeds(t *testing.T) {
	for _, part := range []string{"commands", "skills"} {
		t.Run(part, func(t *testing.T) {
			entries, queries := Read(t, part)
			search := Ranker(t, entries)
			check(t, part, queries, Need, search, func(now, before Score) bool { return now.NDCG >= before.NDCG-0.03 })
			check(t, part, queries, Request, search, func(now, before Score) bool { return now.NDCG >= before.NDCG-rounding })
			check(t, part, queries, Words, search, func(now, before Score) bool { return now.AtOne >= before.AtOne-0.03 })
			check(t, part, queries, Mistyped, search, func(now, before Score) bool { return now.NDCG >= before.NDCG-0.03 })
			check(t, part, queries, Heading, search, func(now, before Score) bool {
				return now.AtOne >= before.AtOne-rounding && now.AtFive >= before.AtFive-rounding
			})
		})
	}
	for _, name := range []string{"german", "russian", "chinese"} {
		t.Run(name, func(t *testing.T) {
			entries, queries := language(t, name)
			check(t, name, queries, Need, Ranker(t, entries), func(now, before Score) bool {
				return now.NDCG >= before.NDCG-rounding && now.AtOne >= before.AtOne-rounding
			})
		})
	}
}

// TestTheBuiltInSearchAnswersRequestsBetterThanBleve asks a Bleve index with the default mapping, in
// the module examples/bleve, if TOOLSHELF_COMPARE is set. The test logs all scores.
func TestTheBuiltInSearchAnswersRequestsBetterThanBleve(t *testing.T) {
	if os.Getenv("TOOLSHELF_COMPARE") == "" {
		return // TestTheRankerAnswersNeeds covers this library
	}
	for _, part := range []string{"commands", "skills"} {
		entries, queries := Read(t, part)
		found := askBleve(t, entries, queries)
		ranked := Ranker(t, entries)
		for _, kind := range []Kind{Need, Request, Words, Mistyped, Heading} {
			bleves := Measure(queries, kind, func(text string) []string { return found[text] })
			ours := Measure(queries, kind, ranked)
			for half := range ours {
				t.Logf("%s, %s, half %d: nDCG@10 %.3f, of Bleve %.3f", part, kind, half, ours[half].NDCG, bleves[half].NDCG)
				if kind == Request && ours[half].NDCG <= bleves[half].NDCG {
					t.Errorf("%s, half %d: the built-in search is not above Bleve", part, half)
				}
			}
		}
	}
}

// askBleve returns the names that Bleve finds for the text of each query.
func askBleve(t *testing.T, entries []Entry, queries []Query) (found map[string][]string) {
	t.Helper()
	asked, answered := filepath.Join(t.TempDir(), "asked"), filepath.Join(t.TempDir(), "answered")
	var question bytes.Buffer
	must.Do(t, gob.NewEncoder(&question).Encode(struct {
		Entries []Entry
		Queries []Query
	}{entries, queries}))
	must.Do(t, os.WriteFile(asked, question.Bytes(), 0o644))
	test := exec.CommandContext(t.Context(), "go", "-C", "../../../examples/bleve", "test", "-count=1", ".",
		"-asked", asked, "-answered", answered)
	if output, err := test.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	must.Do(t, gob.NewDecoder(bytes.NewReader(must.Get(os.ReadFile(answered))(t))).Decode(&found))
	return found
}
