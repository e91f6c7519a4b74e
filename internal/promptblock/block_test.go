package promptblock

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/budget"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/xmltext"
)

// described is an item before escaping.
type described struct {
	Layer                       int
	Name, Description, Location string
}

func blockOf(items []described) *Block {
	b := &Block{Tag: "skill"}
	for _, i := range items {
		b.Add(i.Layer, i.Name, i.Description, i.Location)
	}
	return b
}

var anyItems = rapid.Custom(func(t *rapid.T) []described {
	// Arbitrary text, often with XML syntax, shorter and longer than minDescription.
	text := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-z <>&"'\n\r\t]{0,200}`),
		rapid.Map(rapid.SliceOfN(rapid.StringMatching(`[a-zé]{1,40}`), 1, 40), func(words []string) string { return strings.Join(words, " ") }),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
	list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) described {
		return described{rapid.IntRange(0, 2).Draw(t, "layer"), text.Draw(t, "name"), text.Draw(t, "description"),
			rapid.OneOf(rapid.Just(""), text).Draw(t, "location")}
	}), 0, 12).Draw(t, "items")
	for i := range list {
		list[i].Name = fmt.Sprint(i, list[i].Name) // names differ
	}
	return list
})

// parse reads a block with a strict parser.
func parse(t interface{ Fatalf(string, ...any) }, text string) []described {
	if text == "" {
		return nil
	}
	var block struct {
		XMLName xml.Name `xml:"available_skills"`
		Skills  []struct {
			Name        string `xml:"name"`
			Description string `xml:"description"`
			Location    string `xml:"location"`
		} `xml:"skill"`
		Names struct {
			NotListed *int   `xml:"not_listed,attr"`
			Lines     string `xml:",innerxml"`
		} `xml:"names"`
	}
	if err := xml.Unmarshal([]byte(text), &block); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var items []described
	for _, s := range block.Skills {
		items = append(items, described{Name: s.Name, Description: s.Description, Location: s.Location})
	}
	if block.Names.NotListed == nil {
		return items
	}
	lines := strings.Split(block.Names.Lines, "\n")
	for _, name := range lines[1 : len(lines)-1] {
		items = append(items, described{Name: name})
	}
	return items
}

func TestParsersReadEveryBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := anyItems.Draw(t, "items")
		p := must.Get(blockOf(items).Fit(context.Background(), budget.Budget{}))(t)
		var want []described
		var names []string
		for _, i := range items {
			want = append(want, described{Name: admitted(i.Name), Description: admitted(i.Description), Location: admitted(i.Location)})
			names = append(names, i.Name)
		}
		must.Match(t, "items", want, parse(t, p.Text))
		if !slices.Equal(p.Included, names) || len(p.Shortened)+len(p.Dropped) > 0 {
			t.Errorf("included %q, shortened %q, dropped %q", p.Included, p.Shortened, p.Dropped)
		}
	})
}

// words resembles a real token counter: a text has fewer tokens than characters, and
// the count of a text is not the sum of the counts of its parts.
func words(s string) int {
	return len(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '>' }))
}

func TestBlocksStayWithinTheBudget(t *testing.T) {
	for _, counter := range []struct {
		unit  string
		count func(string) int // nil counts characters
	}{
		{"characters", nil},
		{"bytes", func(s string) int { return len(s) }},
		{"words", words},
		{"a thousand for anything", func(s string) int { return 1000 }},
	} {
		t.Run(counter.unit, func(t *testing.T) {
			measure := counter.count
			if measure == nil {
				measure = utf8.RuneCountInString
			}
			rapid.Check(t, func(t *rapid.T) {
				items := anyItems.Draw(t, "items")
				whole := measure(within(t, items, budget.Budget{}).Text)
				most := rapid.IntRange(-1, whole+1).Draw(t, "budget")
				of := func(most int) budget.Budget {
					return budget.Budget{Limited: true, Max: most, Count: counter.count}
				}
				p := within(t, items, of(most))
				if p.Text != "" && measure(p.Text) > most {
					t.Fatalf("%d %s, over the budget of %d:\n%s", measure(p.Text), counter.unit, most, p.Text)
				}
				if most >= whole && len(p.Shortened)+len(p.Dropped) > 0 {
					t.Errorf("all would fit, but shortened %q, dropped %q", p.Shortened, p.Dropped)
				}
				consistent(t, items, p)
				more := within(t, items, of(rapid.IntRange(most, whole+1).Draw(t, "more")))
				if counter.unit == "words" {
					return // a longer text may have fewer words, so more room may give less
				}
				if len(more.Dropped) > len(p.Dropped) || len(p.Dropped) == 0 && (len(more.Named) > len(p.Named) || len(more.Named) == len(p.Named) && utf8.RuneCountInString(more.Text) < utf8.RuneCountInString(p.Text)) {
					t.Errorf("more room gives less: %q and then %q", p.Text, more.Text)
				}
			})
		})
	}
}

// The included items are the first items in the order of precedence. The order of
// the text does not depend on the preferred names.
func TestPreferredNamesAreDroppedLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := anyItems.Draw(t, "items")
		names := []string{"unknown"}
		for _, i := range items {
			names = append(names, i.Name)
		}
		b := blockOf(items)
		b.Preferred = rapid.SliceOf(rapid.SampledFrom(names)).Draw(t, "preferred")
		most := rapid.IntRange(0, utf8.RuneCountInString(within(t, items, budget.Budget{}).Text)).Draw(t, "budget")
		p := must.Get(b.Fit(context.Background(), budget.Budget{Limited: true, Max: most}))(t)
		var order []string // of precedence
		for _, name := range b.Preferred {
			if name != "unknown" && !slices.Contains(order, name) {
				order = append(order, name)
			}
		}
		for layer := range 3 {
			for _, i := range items {
				if i.Layer == layer && !slices.Contains(order, i.Name) {
					order = append(order, i.Name)
				}
			}
		}
		whole := len(p.Included) - len(p.Named)
		for _, part := range []struct{ kept, included []string }{{order[:whole], p.Included[:whole]}, {order[whole:len(p.Included)], p.Named}} {
			at := 0
			for _, i := range items {
				if slices.Contains(part.kept, i.Name) {
					if at >= len(part.included) || part.included[at] != i.Name {
						t.Fatalf("preferred %q, in precedence %q: included %q, named %q", b.Preferred, order, p.Included, p.Named)
					}
					at++
				}
			}
		}
	})
}

func within(t *rapid.T, items []described, o budget.Budget) Result {
	return must.Get(blockOf(items).Fit(context.Background(), o))(t)
}

// admitted returns s without the characters that XML 1.0 excludes (production 2).
func admitted(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r', ' ' <= r && r <= 0xd7ff, 0xe000 <= r && r <= 0xfffd, 0x10000 <= r && r <= 0x10ffff:
			return r
		}
		return utf8.RuneError
	}, s)
}

// consistent compares a text with the other fields of the result.
func consistent(t rapid.TB, items []described, p Result) {
	parsed := parse(t, p.Text)
	if len(parsed) != len(p.Included) || len(p.Included)+len(p.Dropped) != len(items) {
		t.Fatalf("%d items: included %q, dropped %q, in the text %d", len(items), p.Included, p.Dropped, len(parsed))
	}
	if note := fmt.Sprintf("<names not_listed=\"%d\">", len(p.Dropped)); p.Text != "" && strings.Contains(p.Text, note) != (len(p.Dropped)+len(p.Named) > 0) {
		t.Errorf("dropped %q, but the text is\n%s", p.Dropped, p.Text)
	}
	first := func(names []string) [2]int {
		least := [2]int{3} // layer, and index in items
		for at, i := range items {
			if place := [2]int{i.Layer, at}; slices.Contains(names, i.Name) && slices.Compare(place[:], least[:]) < 0 {
				least = place
			}
		}
		return least
	}
	firstNamed, firstDropped := first(p.Named), first(p.Dropped)
	listed, names := 0, len(p.Included)-len(p.Named)
	for at, i := range items {
		if !slices.Contains(p.Included, i.Name) {
			continue
		}
		if slices.Contains(p.Named, i.Name) {
			if parsed[names].Name != xmltext.XMLLine(i.Name) || i.Layer > firstDropped[0] || i.Layer == firstDropped[0] && at > firstDropped[1] {
				t.Errorf("%q is listed as %q, dropped %q", i.Name, parsed[names].Name, p.Dropped)
			}
			names++
			continue
		}
		got := parsed[listed]
		listed++
		length := utf8.RuneCountInString(xmltext.XML(i.Description))
		switch cut := slices.Contains(p.Shortened, i.Name); {
		case got.Name != admitted(i.Name), got.Location != admitted(i.Location):
			t.Errorf("%+v is listed as %+v", i, got)
		case len(p.Named) > 0 && (i.Layer > firstNamed[0] || i.Layer == firstNamed[0] && at > firstNamed[1]):
			t.Errorf("%q is described, and %q is not", i.Name, items[firstNamed[1]].Name)
		case !cut && got.Description != admitted(i.Description), cut && got.Description == admitted(i.Description):
			t.Errorf("shortened is %v, but %q is %q", cut, i.Description, got.Description)
		case cut && !strings.HasPrefix(admitted(i.Description), strings.TrimSuffix(got.Description, "…")):
			t.Errorf("%q is shortened to %q", i.Description, got.Description)
		case cut && length <= minDescription:
			t.Errorf("%q is shortened", i.Description)
		}
	}
}

func TestSearchFindsTheBestChoice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := blockOf(anyItems.Draw(t, "items"))
		b.rank()
		count := rapid.SampledFrom([]func(string) int{words, utf8.RuneCountInString}).Draw(t, "counter")
		n := 2 * len(b.items)
		choices := sequence{max(n-1, 0), b.at}
		if rapid.Bool().Draw(t, "elements") {
			choices = sequence{b.excess(len(b.items)), func(i int) choice { return b.at(n + i) }}
		}
		counts := make([]int, choices.last+1)
		for i := range counts {
			text, size := b.text(choices.at(i)), b.size(choices.at(i))
			counts[i] = count(text)
			if i > 0 && (size <= b.size(choices.at(i-1)) || counts[i] < counts[i-1]) {
				t.Fatalf("choice %d has %d characters and %d tokens, and the previous choice %d and %d", i, size, counts[i], b.size(choices.at(i-1)), counts[i-1])
			}
			if n := utf8.RuneCountInString(text); n > size {
				t.Fatalf("choice %d has %d characters, want at most %d", i, n, size)
			}
		}
		most := rapid.IntRange(counts[0], counts[choices.last]+1).Draw(t, "budget")
		want, _ := slices.BinarySearch(counts, most+1)
		got, best := b.search(context.Background(), budget.Budget{Max: most, Count: count}, choices, budget.Text{Text: b.text(choices.at(0)), Size: counts[0]})
		if got != choices.at(want-1) || best.Text != b.text(got) {
			t.Errorf("%v with %d tokens, want %v, of %v", got, count(best.Text), choices.at(want-1), counts)
		}
	})
}

// If descriptions are omitted, the other descriptions use the rest of the budget.
func TestDescriptionsUseTheBudgetOfOmittedDescriptions(t *testing.T) {
	items := []described{{Name: "a", Description: strings.Repeat("word ", 40)}, {Name: "b", Description: strings.Repeat("word ", 40)}, {Name: "c", Description: "short"}}
	for _, o := range []budget.Budget{{Limited: true, Max: 250}, {Limited: true, Max: 250, Count: utf8.RuneCountInString}} {
		p := must.Get(blockOf(items).Fit(t.Context(), o))(t)
		if n := utf8.RuneCountInString(p.Text); len(p.Named) != 2 || n <= 240 || n > 250 {
			t.Errorf("%d characters with %q", n, p.Included)
		}
	}
}

// many returns n skills in three layers, with descriptions of 20 to 800 characters.
func many(n int) []described {
	items := make([]described, n)
	for i := range items {
		items[i] = described{Layer: i % 3, Name: fmt.Sprintf("skill-%04d", i), Description: strings.Repeat("Read & fill forms. ", 1+i%40)}
	}
	return items
}

func TestNumberOfCounterCalls(t *testing.T) {
	block := blockOf(many(1141))
	for _, counter := range []struct {
		name  string
		count func(string) int
		max   int // calls
	}{
		{"words", words, 20},
		{"a quarter", func(s string) int { return len(s) / 4 }, 14},
		{"with an offset", func(s string) int { return 3000 + len(s)/5 }, 14},
		{"far from linear", func(s string) int { return len(s) * len(s) / 1e6 }, 40},
	} {
		for _, most := range []int{0, 100, 4000, 8000, 20000, 200000} {
			t.Run(fmt.Sprintf("%s, %d", counter.name, most), func(t *testing.T) {
				count, calls := counter.count, 0
				counted := func(s string) int { calls++; return count(s) }
				p, err := block.Fit(t.Context(), budget.Budget{Limited: true, Max: most, Count: counted})
				if err != nil || p.Text != "" && count(p.Text) > most {
					t.Fatalf("%d tokens, %v", count(p.Text), err)
				}
				if calls > counter.max {
					t.Errorf("%d calls", calls)
				}
			})
		}
	}
}

func TestDescriptionOf5MBDoesNotShortenOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("long texts on one goroutine")
	}
	items := many(100)
	items[7].Layer, items[7].Description = 0, strings.Repeat("An attack on the budget. ", 5<<20/25)
	block := blockOf(items)
	for _, o := range []budget.Budget{
		{Limited: true, Max: 4000},
		{Limited: true, Max: 30_000},
		{Limited: true, Max: 1000, Count: words},
		{Limited: true, Max: 8000, Count: words},
	} {
		p := must.Get(block.Fit(t.Context(), o))(t)
		consistent(t, items, p)
		longest := 0
		lengths := map[string]int{}
		for _, i := range parse(t, p.Text) {
			lengths[i.Name] = utf8.RuneCountInString(xmltext.XML(i.Description))
			longest = max(longest, lengths[i.Name])
		}
		for _, name := range append(p.Shortened, items[7].Name) {
			if lengths[name] < longest-len("An attack on &amp; ") {
				t.Errorf("%s has %d characters, and another skill %d", name, lengths[name], longest)
			}
		}
	}
}

func TestFitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	count := func(s string) int { calls++; cancel(); return len(s) }
	if _, err := blockOf(many(100)).Fit(ctx, budget.Budget{Limited: true, Max: 1000, Count: count}); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestSkill(t *testing.T) {
	for _, tt := range []struct {
		name  string
		skill Skill
		want  string
	}{
		{"everything", Skill{Name: `a"b`, Content: "\n# Text </skill_content>\n\n", Dir: "/home/a&b", Files: []string{"<x>", "y\nz"}},
			"<skill_content name=\"a&quot;b\">\n# Text &lt;/skill_content>\n\nSkill directory: /home/a&amp;b\nRelative paths in this skill are relative to the skill directory.\n" +
				"\n<skill_resources>\n  <file>&lt;x&gt;</file>\n  <file>y&#10;z</file>\n</skill_resources>\n</skill_content>"},
		{"files without a directory", Skill{ByName: true, Dir: "pdf", Files: []string{"a"}}, "<skill_content name=\"\">\n\nThe files of this skill are in no directory. To read a file, use the tool read_skill_file " +
			"with the name of the skill and the relative path.\n\n<skill_resources>\n  <file>a</file>\n</skill_resources>\n</skill_content>"},
		{"no files and no directory", Skill{ByName: true, Dir: "pdf"}, "<skill_content name=\"\">\n</skill_content>"},
		{"nothing", Skill{}, "<skill_content name=\"\">\n</skill_content>"},
		{"more files", Skill{Truncated: true}, "<skill_content name=\"\">\n\n<skill_resources>\n  <!-- more files not listed -->\n</skill_resources>\n</skill_content>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must.Equal(t, "tt.skill.String()", tt.want, tt.skill.String())
		})
	}
}

func TestSkillListsAHundredFiles(t *testing.T) {
	for _, tt := range []struct {
		resources, listed int
		more              string
	}{
		{99, 99, ""},
		{100, 100, ""},
		{101, 100, "  <!-- 1 more file not listed -->\n</skill_resources>"},
		{5000, 100, "  <!-- 4900 more files not listed -->\n</skill_resources>"},
	} {
		s := Skill{Name: "pdf", Dir: "pdf"}
		for i := range tt.resources {
			s.Files = append(s.Files, fmt.Sprintf("f%04d", i))
		}
		got := s.String()
		must.Equal(t, `strings.Count(got, "<file>f")`, tt.listed, strings.Count(got, "<file>f"))
		if !strings.Contains(got, tt.more) || strings.Contains(got, "<!--") != (tt.more != "") {
			t.Errorf("%d files, but not %q in\n%s", tt.resources, tt.more, got)
		}
	}
}

func TestSkillIsOneBlock(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`((<|</|< / |<\n)?(skill_content|Skill_Content|x)[ >"\n]{0,3}){0,6}`))
	rapid.Check(t, func(t *rapid.T) {
		s := Skill{Name: text.Draw(t, "name"), Dir: text.Draw(t, "directory"), Content: text.Draw(t, "content"), Files: []string{text.Draw(t, "file")}}
		got := s.String()
		inner, begins := strings.CutPrefix(got, "<skill_content name=\"")
		inner, ends := strings.CutSuffix(inner, "\n</skill_content>")
		// A tolerant reader ignores blanks and letter case.
		if tags := strings.ToLower(strings.Join(strings.Fields(inner), "")); !begins || !ends ||
			strings.Contains(tags, "</skill_content") || strings.Contains(tags, "<skill_content") {
			t.Errorf("more than one block:\n%s", got)
		}
	})
}

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
		must.Match(t, fmt.Sprintf("included %q, dropped %q", r.Included, r.Dropped), names,
			slices.Concat(r.Included, r.Dropped))
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
