package trust

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// summary returns the decisions of a book in order, and the texts of each.
func summary(b *book) (all []decision) {
	for _, r := range b.records {
		i := r.key()
		if i.File, i.Digest = r.File.string, r.Digest; r.Rules != nil {
			i.Rules = r.Rules.string
		}
		all = append(all, decision{i, b.texts(i)})
	}
	return all
}

var compareDecisions = cmp.AllowUnexported(decision{})

// TestABookAgreesWithAMap draws decisions and compares the book of the file with a map.
func TestABookAgreesWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 0, 1, -1),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		b, want := &book{}, map[toolshelf.Item]decision{}
		for range rapid.IntRange(1, 8).Draw(t, "updates") {
			var decisions []decision
			for range rapid.IntRange(0, 4).Draw(t, "decisions") {
				d := decision{item: toolshelf.Item{
					Kind: "skill", Name: text.Draw(t, "name"), Layer: text.Draw(t, "layer"), Plugin: text.Draw(t, "plugin"),
				}}
				if rapid.Bool().Draw(t, "approve") {
					d.item.Rules, d.item.File = text.Draw(t, "rules"), text.Draw(t, "file")
					kind := rapid.SampledFrom([]string{"", "skill-"}).Draw(t, "kind")
					d.item.Digest = kind + digest(text.Draw(t, "content"))
					d.texts = rapid.MapOfN(text, text, 0, 3).Draw(t, "texts")
				}
				decisions = append(decisions, d)
				for key := range want { // a later decision about a known item
					if rapid.Bool().Draw(t, "known") {
						decisions = append(decisions, decision{item: key})
					}
					break
				}
			}
			before := b
			b = b.with(decisions)
			for _, d := range decisions {
				want[keyOf(d.item)] = d
			}
			read := must.Get(parse(b.encode(), &book{}))(t)
			if diff := cmp.Diff(summary(b), summary(read), compareDecisions); diff != "" {
				t.Fatalf("the file differs from the book: %s", diff)
			}
			if again, err := parse(read.encode(), before); err != nil || cmp.Diff(summary(read), summary(again), compareDecisions) != "" {
				t.Fatalf("the file differs with an earlier book: %v", err)
			}
			b = read
		}
		if len(b.records) != len(want) {
			t.Fatalf("the book has %d decisions, want %d", len(b.records), len(want))
		}
		for key, d := range want {
			if r := b.find(key); !r.is(d.item) {
				t.Fatalf("the decision about %q is %v, want %v", key, r, d.item)
			}
		}
	})
}

// FuzzParse checks that a file is refused, or is a book that a file keeps.
func FuzzParse(f *testing.F) {
	texts := map[string]string{"a.md": "text", "b": digest("x"), "\xff": ""}
	b := (&book{}).with([]decision{{entry("a", "1").Item, texts}, {item: keyOf(entry("b", "").Item)}})
	body, _, _ := strings.Cut(strings.TrimPrefix(b.encode(), firstLine), `{"end"`)
	f.Add(b.encode(), false)
	f.Add(body, true)
	f.Add("", true)
	f.Add(`{"sha256":"`, true)
	f.Fuzz(func(t *testing.T, text string, seal bool) {
		if seal {
			text = firstLine + text
			text += lastLine(text)
		}
		b, err := parse(text, &book{})
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has a line break: %q", err)
			}
			return
		}
		again := must.Get(parse(b.encode(), &book{}))(t)
		must.Match(t, "result", summary(b), summary(again), compareDecisions)
	})
}

func TestEachCutOfTheFileIsBroken(t *testing.T) {
	text := (&book{}).with([]decision{{entry("a", "1").Item, map[string]string{"a.md": "text"}}}).encode()
	for n := range len(text) {
		if _, err := parse(text[:n], &book{}); err == nil {
			t.Errorf("the first %d of %d bytes are a store", n, len(text))
		}
	}
}

func TestATextIsInTheFileOnce(t *testing.T) {
	b := &book{}
	for _, layer := range []string{"/one", "/two"} {
		p := entry("a", "the same text")
		p.Layer = layer
		b = b.with([]decision{{p.Item, p.New}})
	}
	must.Equal(t, "the file has the text", 1, strings.Count(b.encode(), "the same text"))
}
