package names

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name         string
		plain, loose bool
	}{
		{"fix-bug_2", true, true},
		{"A", true, true},
		{"", false, false},
		{"my command", false, true},
		{"v1.2", false, true},
		{"a:b", false, true},
		{"übersicht", false, true},
		{"命令", false, true},
		{".hidden", false, false},
		{"..", false, false},
		{"a..b", false, false},
		{"a/b", false, false},
		{`a\b`, false, false},
		{"a\x00b", false, false},
		{"a\nb", false, false},
		{"a\x1b[31mb", false, false},
		{"a\u202eb", false, false},
		{"a\u2028b", false, false},
		{"a\xffb", false, false},
		{" a", false, false},
		{"a ", false, false},
	} {
		if got := Plain(tt.name); got != tt.plain {
			t.Errorf("Plain(%q) = %v", tt.name, got)
		}
		if got := Loose(tt.name); got != tt.loose {
			t.Errorf("Loose(%q) = %v", tt.name, got)
		}
	}
}

func TestTrimMarkdown(t *testing.T) {
	for _, tt := range []struct {
		name, stem string
		ok         bool
	}{
		{"a.md", "a", true},
		{"a.MD", "a", true},
		{"a.md.md", "a.md", true},
		{".md", "", true},
		{"md", "md", false},
		{"a.mdx", "a.mdx", false},
		{"a.markdown", "a.markdown", false},
	} {
		if stem, ok := TrimMarkdown(tt.name); stem != tt.stem || ok != tt.ok {
			t.Errorf("TrimMarkdown(%q) = %q, %v", tt.name, stem, ok)
		}
	}
}

func TestPlainSpelling(t *testing.T) {
	for name, want := range map[string]string{
		"my command": "my-command", "svelte:component": "svelte-component", "v1.2": "v1-2",
		"(draft)": "draft", "命令": "command", "été": "t",
	} {
		if got := PlainSpelling(name); got != want {
			t.Errorf("PlainSpelling(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, name := range []string{"a", "a/b", "..", "\x00", "é", "a.md"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if Plain(name) && !Loose(name) {
			t.Fatalf("%q is plain and not loose", name)
		}
		if Loose(name) && (strings.ContainsAny(name, "/\\\x00\n\r") || name == "." || strings.Contains(name, "..")) {
			t.Fatalf("%q is not one safe path element", name)
		}
		if !Plain(PlainSpelling(name)) {
			t.Fatalf("PlainSpelling(%q) = %q, which is not plain", name, PlainSpelling(name))
		}
	})
}

func TestCommandsHaveTheNamesOfTheirRule(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		plain, colons, loose bool
		plugins, looseColons bool
	}{
		{name: "review", plain: true, colons: true, loose: true, plugins: true, looseColons: true},
		{name: "a:b", colons: true, loose: true, plugins: true, looseColons: true},
		{name: "a b", loose: true, plugins: true, looseColons: true},
		{name: "a::b", loose: true, plugins: true, looseColons: true},
		{name: "a/b"},
		{name: "..:b"},
		{name: ""},
	} {
		for _, rule := range []struct {
			rule Commands
			want bool
		}{
			{Commands{}, tt.plain}, {Commands{Colons: true}, tt.colons}, {Commands{Loose: true}, tt.loose},
			{Commands{Plugins: true}, tt.plugins}, {Commands{Colons: true, Loose: true}, tt.looseColons},
		} {
			if got := rule.rule.Valid(tt.name); got != rule.want {
				t.Errorf("%+v: Valid(%q) is %t", rule.rule, tt.name, got)
			}
		}
	}
}

func TestCorrectionIsTheNameThatTheCallerMeans(t *testing.T) {
	const rule = `use letters, digits, "_" and "-"`
	for _, tt := range []struct {
		given string
		rule  Commands
		want  string
	}{
		{"/review", Commands{}, `write "review"`},
		{"/review 417", Commands{}, `write "review", and fill in the arguments with Render`},
		{"review 417", Commands{}, rule + `; if arguments follow the name, write "review", and fill in the arguments with Render`},
		{"a/b", Commands{Colons: true}, `write "a:b"`},
		{"a/b", Commands{}, rule + "; the catalog reads no subdirectories without WithNestedCommands"},
		{"a?b", Commands{}, rule},
		{"a?b", Commands{Colons: true}, rule + `; separate directories with ":"`},
		{"a\x00b", Commands{Loose: true}, "use one path element without separators, control characters and leading dot"},
	} {
		if got := tt.rule.Correction(Meant(tt.given, nil)); got != tt.want {
			t.Errorf("%q, %+v: %s; want %s", tt.given, tt.rule, got, tt.want)
		}
	}
}

func TestCompareIgnoresCaseFirst(t *testing.T) {
	names := []string{"b", "A", "Zeta", "a", "ÄRGER", "zebra", "ärger", "K", "\u212a", "ſ", "S", "_x", "B", "b\xff", "b\x80", "b\U0010ffff", "bé", "ba"}
	slices.SortFunc(names, Compare)
	want := []string{"_x", "A", "a", "B", "b", "ba", "bé", "b\U0010ffff", "b\x80", "b\xff", "K", "\u212a", "S", "ſ", "zebra", "Zeta", "ÄRGER", "ärger"}
	if !slices.Equal(names, want) {
		t.Errorf("got  %q\nwant %q", names, want)
	}
}

// variants holds letters with several lower or upper cases, and other characters.
var variants = []rune("aAkK\u212asSſäÄßẞσςΣ-_")

func TestCompareOrdersByFoldedNamesThenByBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringOf(rapid.RuneFrom(variants)), rapid.StringOf(rapid.RuneFrom([]rune("中丮一éê😀😁"))), rapid.String())
		begin := name.Draw(t, "begin")
		a, b := begin+name.Draw(t, "a"), begin+name.Draw(t, "b")
		want := cmp.Or(strings.Compare(strings.Map(fold, a), strings.Map(fold, b)), strings.Compare(a, b))
		for _, got := range []int{Compare(a, b), Compare([]byte(a), b), Compare(a, []byte(b)), -Compare(b, a)} {
			if got != want {
				t.Fatalf("Compare(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	})
}

func TestComparePrefixIsTheOrderOfNamesThatDoNotBeginWithThePrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringOf(rapid.RuneFrom(variants)), rapid.StringOf(rapid.RuneFrom([]rune("中丮一éê😀😁"))), rapid.String())
		name, prefix := text.Draw(t, "name"), text.Draw(t, "prefix")
		want := cmp.Compare(Compare(name, prefix), 0)
		if strings.HasPrefix(strings.Map(fold, name), strings.Map(fold, prefix)) {
			want = 0
		}
		if got := cmp.Compare(ComparePrefix(name, prefix), 0); got != want {
			t.Fatalf("ComparePrefix(%q, %q) = %d, want %d", name, prefix, got, want)
		}
	})
}

func TestCompareAllocatesNothing(t *testing.T) {
	a, b := strings.Repeat("Maß und Ziel ", 100)+"a", []byte(strings.Repeat("MAß UND ZIEL ", 100)+"b")
	must.Equal(t, "result", 0, testing.AllocsPerRun(10, func() { Compare(b, a) }))
}

func TestFoldAgreesWithEqualFold(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
			if fold(v) != fold(r) {
				t.Fatalf("%U and %U fold to %U and %U", r, v, fold(r), fold(v))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOf(rapid.RuneFrom(variants))
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		if (strings.Map(fold, a) == strings.Map(fold, b)) != strings.EqualFold(a, b) {
			t.Fatalf("%q and %q: EqualFold %v", a, b, strings.EqualFold(a, b))
		}
	})
}

// Compare decodes both names from the start. The bytes before a difference do not
// change the character that a byte belongs to.
func TestCompareTreatsEachInvalidByteAsACharacter(t *testing.T) {
	characters := func(s string) (all []rune) {
		for i := 0; i < len(s); {
			r, n := folded(s, i)
			all, i = append(all, r), i+n
		}
		return all
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOfN(rapid.SampledFrom([]byte{0x80, 0xad, 0xb8, 0xe4, 0xf0, 0x9f, 0x98, 0xc3, 'a', 'A', 0xff}), 0, 8).Draw(t, "bytes"))
		})
		begin := name.Draw(t, "begin")
		a, b := begin+name.Draw(t, "a"), begin+name.Draw(t, "b")
		want := cmp.Or(slices.Compare(characters(a), characters(b)), strings.Compare(a, b))
		if got := Compare(a, b); got != want {
			t.Fatalf("Compare(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}

// BenchmarkSort compares Compare with the order of bytes in a sort of 10,000 names.
func BenchmarkSort(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, kind := range []struct{ what, format string }{{"ASCII", "Review-%06d"}, {"CJK", "会议记录分析%06d"}, {"Cyrillic", "%06dобзор"}} {
		b.Run(kind.what, func(b *testing.B) {
			names := make([]string, 10_000)
			for i := range names {
				names[i] = fmt.Sprintf(kind.format, random.IntN(1_000_000))
			}
			var floor time.Duration
			for b.Loop() {
				begin := time.Now()
				slices.Sort(slices.Clone(names))
				floor += time.Since(begin)
				slices.SortFunc(slices.Clone(names), Compare)
			}
			b.ReportMetric(float64(b.Elapsed()-floor)/float64(floor), "ours/bytes")
		})
	}
}

func TestNearest(t *testing.T) {
	for _, tt := range []struct {
		name       string
		candidates []string
		limit      int
		want       string
	}{
		{"review", nil, 3, ""},
		{"reviw", []string{"deploy", "review", "preview"}, 2, "review"},
		{"reviw", []string{"deploy", "preview"}, 1, ""},
		{"review", []string{"Review"}, 0, "Review"},
		{"REVIEW", []string{"review"}, 0, "review"},
		{"Ärger", []string{"arger", "ärger"}, 1, "ärger"},
		{"fox", []string{"fix", "FAX", "fux"}, 1, "FAX"},
		{"fox", []string{"fux", "fix", "FAX"}, 1, "FAX"},
		{"ab", []string{"ba"}, 1, "ba"},
		{"a", []string{"aaaa"}, 2, ""},
		{"", []string{"a"}, 1, "a"},
	} {
		if got := Nearest(tt.name, slices.Values(tt.candidates), tt.limit, nil); got != tt.want {
			t.Errorf("Nearest(%q, %q, %d) = %q, want %q", tt.name, tt.candidates, tt.limit, got, tt.want)
		}
	}
}

func TestSimilarFindsANameWithoutItsPrefix(t *testing.T) {
	for _, tt := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"open", []string{"prompts:open"}, "prompts:open"},
		{"Open the file", []string{"prompts:open"}, "prompts:open"},
		{"page", []string{"web:ui:page", "app:page", "pages"}, "app:page"},
		{"open", []string{"prompts:open", "Open"}, "Open"},
		{"opn", []string{"prompts:open"}, ""},
		{"prompts", []string{"prompts:open"}, ""},
		{"", []string{"prompts:open"}, ""},
	} {
		if got := Similar(tt.name, slices.Values(tt.candidates)); got != tt.want {
			t.Errorf("Similar(%q, %q) = %q, want %q", tt.name, tt.candidates, got, tt.want)
		}
	}
}

func TestNearestCallsAcceptForNearerCandidatesOnly(t *testing.T) {
	var asked []string
	accept := func(candidate string) bool {
		asked = append(asked, candidate)
		return candidate != "review"
	}
	got := Nearest("reviw", slices.Values([]string{"far-away", "reviews", "review", "revi", "reviww"}), 2, accept)
	if want := []string{"reviews", "review", "revi"}; got != "revi" || !slices.Equal(asked, want) {
		t.Errorf("got %q and asked for %q, want %q and %q", got, asked, "revi", want)
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "ab", 1},
		{"abc", "xabc", 1},
		{"abc", "acb", 1},
		{"ca", "abc", 3}, // no letter is edited twice
		{"kitten", "sitting", 3},
	} {
		if got := distance([]rune(tt.a), []rune(tt.b)); got != tt.want {
			t.Errorf("the distance of %q and %q is %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// recursiveDistance follows the definition of the distance.
func recursiveDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	m, n := len(a)-1, len(b)-1
	cost := 1
	if a[m] == b[n] {
		cost = 0
	}
	d := min(recursiveDistance(a[:m], b)+1, recursiveDistance(a, b[:n])+1, recursiveDistance(a[:m], b[:n])+cost)
	if m > 0 && n > 0 && a[m] == b[n-1] && a[m-1] == b[n] {
		d = min(d, recursiveDistance(a[:m-1], b[:n-1])+1)
	}
	return d
}

func TestDistanceEqualsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringMatching(`[abc]{0,6}`)
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		if got, want := distance([]rune(a), []rune(b)), recursiveDistance(a, b); got != want {
			t.Fatalf("the distance of %q and %q is %d, want %d", a, b, got, want)
		}
	})
}
