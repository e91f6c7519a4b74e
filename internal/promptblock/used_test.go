package promptblock

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/budget"
)

// The text never exceeds the budget, no text exceeds its own limit, and a use is dropped only with
// all earlier uses.
func TestUsedTextsStayWithinTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var u Used
		var names []string
		for n := range rapid.IntRange(0, 8).Draw(t, "uses") {
			name := fmt.Sprint("use", n)
			text := strings.Repeat("wörd ", rapid.IntRange(0, 60).Draw(t, "words"))
			changed := rapid.Bool().Draw(t, "changed")
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				u.AddForm("skill", name, text, changed, Skill{Name: name, Dir: "/skills/" + name}.With)
			case 1:
				u.Add("command", name, text, changed)
			case 2:
				u.Add("instruction", name, text, changed)
			default:
				u.AddMissing("skill", name)
			}
			names = append(names, name)
		}
		count := rapid.SampledFrom([]func(string) int{nil, words, func(s string) int { return len(s) / 4 }}).Draw(t, "counter")
		b := budget.Budget{Limited: rapid.Bool().Draw(t, "limited"), Max: rapid.IntRange(-1, 3000).Draw(t, "budget"), Count: count}
		each := rapid.IntRange(0, 200).Draw(t, "each")
		r := u.Fit(b, each)
		if size := b.Measure(0, r.Text).Size; b.Limited && r.Text != "" && size > b.Max {
			t.Fatalf("%d, over the budget of %d:\n%s", size, b.Max, r.Text)
		}
		if !slices.Equal(slices.Concat(r.Included, r.Dropped), names) {
			t.Errorf("included %q, dropped %q", r.Included, r.Dropped)
		}
		if !b.Limited && len(r.Dropped) > 0 || !b.Limited && each == 0 && len(r.Shortened) > 0 {
			t.Errorf("dropped %q, shortened %q without a limit", r.Dropped, r.Shortened)
		}
		for _, name := range r.Included {
			if !strings.Contains(r.Text, name) {
				t.Errorf("%q is not in the text", name)
			}
		}
	})
}

func TestEachUsedTextIsCut(t *testing.T) {
	var u Used
	u.Add("command", "a", strings.Repeat("x", 500), false)
	u.Add("command", "b", "</used_texts> --> short", false)
	r := u.Fit(budget.Budget{}, 100)
	want := "<used_texts>\n<command_content name=\"a\">\n" + strings.Repeat("x", 99) + "…\n</command_content>\n<command_content name=\"b\">\n&lt;/used_texts> --> short\n</command_content>\n</used_texts>"
	if r.Text != want || !slices.Equal(r.Shortened, []string{"a"}) || utf8.RuneCountInString(r.Text) > 300 {
		t.Errorf("%+v", r)
	}
}
