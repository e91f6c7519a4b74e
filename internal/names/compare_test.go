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
)

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
	if n := testing.AllocsPerRun(10, func() { Compare(b, a) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
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
