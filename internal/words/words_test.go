package words

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// words is what a splitter finds, the parts of each word in parentheses.
func words(text string) string {
	var (
		s     Splitter
		all   []string
		parts []string
	)
	flush := func() {
		if len(parts) > 0 {
			all[len(all)-1] += "(" + strings.Join(parts, " ") + ")"
			parts = nil
		}
	}
	s.Split(text, func(_ string, folded []byte, part bool) {
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

//go:embed testdata/texts.txt
var texts string

// TestTexts asks the questions of testdata/texts.txt, which describes the questions.
func TestTexts(t *testing.T) {
	must.Answer(t, texts, map[string]func(t *testing.T, a ...string) string{
		"words": func(t *testing.T, a ...string) string { return words(a[0]) },
		"stems": func(t *testing.T, a ...string) string {
			for i := range a {
				a[i] = string(Stem([]byte(a[i])))
			}
			return strings.Join(slices.Compact(a), " ")
		},
		"typo": func(t *testing.T, a ...string) string {
			found := false
			Typos(a[0], func(word []byte) { found = found || string(word) == a[1] })
			return strconv.FormatBool(found)
		},
	})
}

func TestStemKeepsOtherWords(t *testing.T) {
	for _, w := range strings.Fields("status class bus string bring need red bed speed thing king is as go 2024s sha256 über") {
		must.Equal(t, "string(Stem([]byte(w)))", w, string(Stem([]byte(w))))
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"parseHTTPHeader2", "Café 会議録 ﾃｽﾄ", "a\xff\u0301b", "ﷺ ½ Ⅳ", "ก็"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s Splitter
		first := true
		s.Split(text, func(typed string, folded []byte, part bool) {
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
			Stem(folded)
		})
	})
}

// The stems are those of kljensen/snowball, with which stem agrees on 34,400 words of public files.
func TestStemIsPorter2(t *testing.T) {
	for pair := range strings.SplitSeq(`caresses caress, ties tie, cries cri, gas gas, this this, gaps gap, kiwis kiwi, agreed agre, proceed proceed,
		luxuriated luxuri, hopping hop, hoping hope, hopped hop, falling fall, fished fish, buried buri, happy happi,
		enjoy enjoy, by by, say say, conditional condit, rationally ration, valenci valenc, hesitanci hesit,
		digitizer digit, formalize formal, vietnamization vietnam, predication predic, operator oper, feudalism feudal,
		decisiveness decis, hopefulness hope, callousness callous, sensitivity sensit, sensibility sensibl,
		geology geolog, usefully use, carelessly careless, conformably conform, vilely vile, triplicate triplic,
		electricity electr, electrical electr, goodness good, formative format, revival reviv, allowance allow,
		inference infer, airliner airlin, adjustable adjust, defensible defens, irritant irrit, replacement replac,
		adjustment adjust, dependent depend, adoption adopt, activate activ, homologous homolog, effective effect,
		probate probat, rate rate, cease ceas, controlling control, rolled roll, generously generous,
		communication communic, arsenal arsenal, skies sky, dying die, early earli, news news, inning inning,
		exceeds exceed, yes yes, youth youth, sky sky, flying fli, succeed succeed`, ",") {
		word, want, _ := strings.Cut(strings.TrimSpace(pair), " ")
		must.Equal(t, word, want, string(Stem([]byte(word))))
	}
}

// BenchmarkStem measures the cost of a word. A query with a typing error stems about 400 words.
func BenchmarkStem(b *testing.B) {
	words := strings.Fields("analyze meetings logged generating queries architecture the documentation sensational review optimized happily deployments")
	var buf []byte
	for i := 0; b.Loop(); i++ {
		buf = Stem(append(buf[:0], words[i%len(words)]...))
	}
}
