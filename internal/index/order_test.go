package index

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestCompareIgnoresCaseFirst(t *testing.T) {
	names := []string{"b", "A", "Zeta", "a", "ÄRGER", "zebra", "ärger", "K", "\u212a", "ſ", "S", "_x", "B", "b\xff", "b\x80", "b\U0010ffff", "bé", "ba"}
	slices.SortFunc(names, Compare)
	want := []string{"_x", "A", "a", "B", "b", "ba", "bé", "b\U0010ffff", "b\x80", "b\xff", "K", "\u212a", "S", "ſ", "zebra", "Zeta", "ÄRGER", "ärger"}
	if !slices.Equal(names, want) {
		t.Errorf("got  %q\nwant %q", names, want)
	}
}

// variants are letters with several lower or upper cases, and others.
var variants = []rune("aAkK\u212asSſäÄßẞσςΣ-_")

func TestCompareIsOfTheFoldedNamesAndThenOfTheNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringOf(rapid.RuneFrom(variants)), rapid.String())
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		want := cmp.Or(strings.Compare(strings.Map(fold, a), strings.Map(fold, b)), strings.Compare(a, b))
		for _, got := range []int{Compare(a, b), Compare([]byte(a), b), Compare(a, []byte(b)), -Compare(b, a)} {
			if got != want {
				t.Fatalf("Compare(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	})
}

func TestCompareAllocatesNothing(t *testing.T) {
	a, b := strings.Repeat("Maß und Ziel ", 100)+"a", []byte(strings.Repeat("MAß UND ZIEL ", 100)+"b")
	if n := testing.AllocsPerRun(10, func() { Compare(b, a) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestLettersFoldAlikeWhereEqualFoldSaysSo(t *testing.T) {
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
