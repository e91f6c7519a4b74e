package names

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

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
