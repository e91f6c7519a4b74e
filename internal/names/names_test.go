package names

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

//go:embed testdata/texts.txt
var texts string

var ruleNames = []string{"plain", "colons", "loose", "plugins", "loose+colons"}

var rules = map[string]Rule{"plain": {}, "colons": {Colons: true}, "loose": {Loose: true},
	"plugins": {Plugins: true}, "loose+colons": {Colons: true, Loose: true}}

// TestTexts asks the questions of testdata/texts.txt, which describes the questions.
func TestTexts(t *testing.T) {
	must.Answer(t, texts, map[string]func(t *testing.T, a ...string) string{
		"name": func(t *testing.T, a ...string) string {
			var is []string
			if Plain(a[0]) {
				is = append(is, "plain")
			}
			if Loose(a[0]) {
				is = append(is, "loose")
			}
			return strings.Join(is, " ")
		},
		"trim": func(t *testing.T, a ...string) string {
			stem, ok := TrimMarkdown(a[0])
			return fmt.Sprintf("%q %t", stem, ok)
		},
		"spelling": func(t *testing.T, a ...string) string { return PlainSpelling(a[0]) },
		"valid": func(t *testing.T, a ...string) string {
			valid := slices.DeleteFunc(slices.Clone(ruleNames), func(name string) bool {
				return !rules[name].Valid(a[0])
			})
			return strings.Join(valid, " ")
		},
		"correct": func(t *testing.T, a ...string) string {
			return rules[a[0]].Correction(Meant(a[1], nil))
		},
		"nearest": func(t *testing.T, a ...string) string {
			limit := must.Get(strconv.Atoi(a[0]))(t)
			return Nearest(a[1], slices.Values(a[2:]), limit, nil)
		},
		"similar": func(t *testing.T, a ...string) string { return Similar(a[0], slices.Values(a[1:])) },
		"distance": func(t *testing.T, a ...string) string {
			return strconv.Itoa(distance([]rune(a[0]), []rune(a[1])))
		},
	})
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
