package rank

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// words is what a splitter finds, the parts of each word in parentheses.
func words(text string) string {
	var (
		s     splitter
		all   []string
		parts []string
	)
	flush := func() {
		if len(parts) > 0 {
			all[len(all)-1] += "(" + strings.Join(parts, " ") + ")"
			parts = nil
		}
	}
	s.split(text, func(_ string, folded []byte, part bool) {
		if part {
			parts = append(parts, string(folded))
			return
		}
		flush()
		all = append(all, string(folded))
	})
	flush()
	return strings.Join(all, " ")
}

func TestWordsAreFoldedSequencesOfLettersAndDigits(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"punctuation", " -- ?!\x00", ""},
		{"separators", "slow-meeting_notes:today/x.md", "slow meeting notes today x md"},
		{"letter case", "Review THE Code", "review the code"},
		{"a change of case", "parseConfig", "parseconfig(parse config)"},
		{"capitals before a word", "HTTPServer", "httpserver(http server)"},
		{"a plural of capitals", "PRs APIs", "prs apis"},
		{"digits", "sha256 v2", "sha256(sha 256) v2(v 2)"},
		{"more parts than a word has", "aB1cD2eF3", "ab1cd2ef3"},
		{"accents, composed or not", "Café Cafe\u0301 ångström", "cafe cafe angstrom"},
		{"special letters", "Straße ΣΊΣΥΦΟΣ İstanbul", "strasse σισυφοσ istanbul"},
		{"compatibility characters", "ＡＢＣ ﬁle", "abc file"},
		{"Cyrillic", "Проверка КОДА", "проверка кода"},
		{"Han", "会議録", "会議(会) 議録(議 録)"},
		{"one Han character", "会", "会"},
		{"Han beside Latin", "GPT4で翻訳", "gpt4(gpt 4) で翻(で) 翻訳(翻 訳)"},
		{"half-width Katakana", "ﾃｽﾄ", "テス(テ) スト(ス ト)"},
		{"Hangul", "회의", "회의(회 의)"},
		{"no UTF-8", "a\xffb", "a b"},
		{"characters that stand for many", strings.Repeat("ﷺ", 4) + " y", "y"},
		{"encoded data", strings.Repeat("x", maxWord+1) + " y", "y"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, words(test.text)); diff != "" {
				t.Errorf("words of %q, -want +got:\n%s", test.text, diff)
			}
		})
	}
}

func TestStemsOfAWordsFormsAreEqual(t *testing.T) {
	for _, forms := range []string{
		"log logs logged logging",
		"plan plans planned planning",
		"cache caches cached caching",
		"release releases released releasing",
		"query queries queried querying",
		"branch branches branched branching",
		"index indexes indexed indexing",
		"class classes",
		"fix fixes fixed fixing",
		"deploy deploys deployed deploying",
		"pass passes passed passing",
		"call calls called calling",
		"analyze analyzes analyzed analyzing",
		"generate generates generated generating generation",
		"deploy deployment deployments",
		"optimize optimizes optimization",
	} {
		words := strings.Fields(forms)
		want := string(stem([]byte(words[0])))
		for _, w := range words[1:] {
			if got := string(stem([]byte(w))); got != want {
				t.Errorf("%s is %q, but %s %q", words[0], want, w, got)
			}
		}
	}
}

func TestStemKeepsOtherWords(t *testing.T) {
	for _, w := range strings.Fields("status class bus string bring need red bed speed thing king is as go 2024s sha256 über") {
		if got := string(stem([]byte(w))); got != w {
			t.Errorf("%s is %q", w, got)
		}
	}
}

func TestTyposVisitsAllWordsAtADistanceOfOneError(t *testing.T) {
	reached := func(from, to string) bool {
		found := false
		typos(from, func(word []byte) { found = found || string(word) == to })
		return found
	}
	for _, test := range []struct {
		name, typed, meant string
		want               bool
	}{
		{"left out", "reviw", "review", true},
		{"left out at the end", "revie", "review", true},
		{"left out at the beginning", "eview", "review", true},
		{"put in", "reviiew", "review", true},
		{"put in at the end", "reviewe", "review", true},
		{"exchanged", "revoew", "review", true},
		{"swapped", "reveiw", "review", true},
		{"in Cyrillic", "проверкв", "проверка", true},
		{"two errors", "rveiw", "review", false},
		{"a digit is no letter", "v100", "v101", false},
		{"a short word", "log", "dog", false},
		{"a word of four letters", "lgos", "logs", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := reached(test.typed, test.meant); got != test.want {
				t.Errorf("%s for %s: %v", test.typed, test.meant, got)
			}
		})
	}
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

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"parseHTTPHeader2", "Café 会議録 ﾃｽﾄ", "a\xff\u0301b", "ﷺ ½ Ⅳ", "ก็"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s splitter
		first := true
		s.split(text, func(typed string, folded []byte, part bool) {
			if part && first {
				t.Error("a part comes before its word")
			}
			first = false
			if len(folded) == 0 || !utf8.Valid(folded) {
				t.Errorf("%q has the word %q", text, folded)
			}
			if !strings.Contains(text, typed) {
				t.Errorf("%q is not in %q", typed, text)
			}
			stem(folded)
		})
	})
}
