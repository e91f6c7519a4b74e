// Package promptblock writes blocks of XML for the instructions of a model: lists
// of skills or commands within a budget, and the content of a skill.
package promptblock

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/budget"
	"github.com/toolshelf-go/toolshelf/internal/xmltext"
)

// minDescription is the number of characters that Fit keeps of every description. With
// fewer characters, a model cannot recognize the purpose of a skill.
const minDescription = 60

// A Block is a list of items: skills or commands.
type Block struct {
	Tag       string   // of an item, such as "skill"; the tag of the block is then "available_skills"
	Preferred []string // names that precede all others in the order of precedence; unknown and repeated names have no effect
	items     []item
}

// A Result is the text of a block and the names of its items.
type Result struct {
	Text      string   // "" if no item is included
	Included  []string // in the order of the text
	Shortened []string // the included items with a cut description
	Dropped   []string // the other items, in the order of Add
}

// A choice selects the content of a text: the first kept items in the order of
// precedence, with descriptions of at most limit characters.
type choice struct{ kept, limit int }

type item struct {
	layer       int
	rank        int // in the order of precedence, from 0
	name        string
	escapedName string
	description string // escaped
	location    string // escaped; "" omits the location
	fixed       int    // number of characters without the description
	length      int    // number of characters of the description
}

// Add appends an item. The items of a lower layer number precede the items of a
// higher layer number in the order of precedence. Within a layer, the order of the
// calls decides.
func (b *Block) Add(layer int, name, description, location string) {
	i := item{
		layer: layer, name: name, escapedName: xmltext.XMLLine(name),
		description: xmltext.XML(description), location: xmltext.XMLLine(location),
	}
	i.length = utf8.RuneCountInString(i.description)
	i.fixed = 2*len(b.Tag) + len("  <>\n    <name></name>\n    <description></description>\n  </>\n") + utf8.RuneCountInString(i.escapedName)
	if location != "" {
		i.fixed += len("    <location></location>\n") + utf8.RuneCountInString(i.location)
	}
	b.items = append(b.items, i)
}

// Fit returns the text of the block within the budget. To fit the budget, Fit first
// cuts the longest descriptions to one common length. If the text is still too
// long, Fit drops items from the end of the order of precedence, and gives the rest
// of the budget to the descriptions of the included items. If ctx ends during the
// search, Fit returns its error.
func (b *Block) Fit(ctx context.Context, limit budget.Budget) (Result, error) {
	b.rank()

	chosen, text, err := b.fit(ctx, limit)
	if err != nil {
		return Result{}, err
	}
	p := Result{Text: text, Included: []string{}, Shortened: []string{}, Dropped: []string{}}
	for _, i := range b.items {
		switch {
		case i.rank >= chosen.kept:
			p.Dropped = append(p.Dropped, i.name)
			continue
		case i.length > chosen.limit:
			p.Shortened = append(p.Shortened, i.name)
		}
		p.Included = append(p.Included, i.name)
	}
	return p, nil
}

// rank sets the ranks of the items: first the preferred names, then layer by layer.
func (b *Block) rank() {
	places := make(map[string]int, len(b.Preferred))
	for place, name := range b.Preferred {
		if _, ok := places[name]; !ok {
			places[name] = place
		}
	}
	ranked := make([]*item, len(b.items))
	for i := range b.items {
		item := &b.items[i]
		item.rank = len(b.Preferred)
		if place, ok := places[item.name]; ok {
			item.rank = place
		}
		ranked[i] = item
	}
	slices.SortStableFunc(ranked, func(x, y *item) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.layer, y.layer))
	})
	for rank, i := range ranked {
		i.rank = rank
	}
}

// fit returns the best choice within the budget, and its text. The first search
// decides how many items to drop. If items are dropped, a second search lengthens
// the descriptions of the others.
func (b *Block) fit(ctx context.Context, limit budget.Budget) (choice, string, error) {
	choices := b.dropping()
	if !limit.Limited {
		whole := choices.at(choices.last)
		return whole, b.text(whole), nil
	}
	chosen, best, err := b.search(ctx, limit, choices, budget.Text{})
	if err == nil && chosen.kept > 0 && chosen.kept < len(b.items) {
		chosen, best, err = b.search(ctx, limit, b.shortening(chosen.kept), best)
	}
	return chosen, best.Text, err
}

// A sequence is a sequence of choices, from index 0 to last. Each choice has more
// content than the previous choice, in a longer text.
type sequence struct {
	last int
	at   func(int) choice
}

// dropping returns the sequence that adds the items with descriptions of
// minDescription characters, and then lengthens all descriptions.
func (b *Block) dropping() sequence {
	n := len(b.items)
	return sequence{n + b.excess(n), func(i int) choice { return choice{min(i, n), minDescription + max(0, i-n)} }}
}

// shortening returns the sequence that lengthens the descriptions of the first kept
// items, from minDescription characters to the whole descriptions.
func (b *Block) shortening(kept int) sequence {
	return sequence{b.excess(kept), func(i int) choice { return choice{kept, minDescription + i} }}
}

// excess returns the number of characters by which the longest description of the
// first kept items exceeds minDescription.
func (b *Block) excess(kept int) int {
	longest := minDescription
	for _, i := range b.items {
		if i.rank < kept {
			longest = max(longest, i.length)
		}
	}
	return longest - minDescription
}

// size returns the maximum number of characters of a text. If no description is
// cut, the text has exactly this number.
func (b *Block) size(c choice) int {
	if c.kept == 0 {
		return 0
	}
	n := 2*len(b.Tag) + len("<available_s>\n</available_s>") + len(b.omission(c.kept))
	for j := range b.items {
		if i := &b.items[j]; i.rank < c.kept {
			n += i.fixed + min(i.length, c.limit)
		}
	}
	return n
}

// text returns the text of a choice. Without an item, the text is "" instead of an
// empty block.
func (b *Block) text(c choice) string {
	if c.kept == 0 {
		return ""
	}
	var t strings.Builder
	t.Grow(b.size(c))
	t.WriteString("<available_" + b.Tag + "s>\n")
	for j := range b.items {
		i := &b.items[j]
		if i.rank >= c.kept {
			continue
		}
		description := i.description
		if i.length > c.limit {
			description = xmltext.ShortenXML(description, c.limit)
		}
		t.WriteString("  <")
		t.WriteString(b.Tag)
		t.WriteString(">\n    <name>")
		t.WriteString(i.escapedName)
		t.WriteString("</name>\n    <description>")
		t.WriteString(description)
		t.WriteString("</description>\n")
		if i.location != "" {
			t.WriteString("    <location>")
			t.WriteString(i.location)
			t.WriteString("</location>\n")
		}
		t.WriteString("  </")
		t.WriteString(b.Tag)
		t.WriteString(">\n")
	}
	t.WriteString(b.omission(c.kept))
	t.WriteString("</available_" + b.Tag + "s>")
	return t.String()
}

// omission returns the comment with the number of dropped items.
func (b *Block) omission(kept int) string {
	switch n := len(b.items) - kept; n {
	case 0:
		return ""
	case 1:
		return "  <!-- 1 more " + b.Tag + " not listed -->\n"
	default:
		return fmt.Sprintf("  <!-- %d more %ss not listed -->\n", n, b.Tag)
	}
}

// search returns the last choice of a sequence within a budget, and its text. The text of the first choice is first,
// which is within the budget.
func (b *Block) search(ctx context.Context, limit budget.Budget, choices sequence, first budget.Text) (choice, budget.Text, error) {
	size := func(i int) int { return b.size(choices.at(i)) }
	text := func(i int) string { return b.text(choices.at(i)) }
	if limit.Count == nil {
		last := max(0, sort.Search(choices.last+1, func(i int) bool { return size(i) > limit.Max })-1)
		return choices.at(last), budget.Text{Text: text(last)}, nil
	}
	first.Entries = 0
	if choices.last == 0 || limit.Max < 0 {
		return choices.at(0), first, nil
	}
	found := limit.Measure(choices.last, text(choices.last))
	if found.Size > limit.Max {
		var err error
		if found, err = limit.Longest(ctx, first, found, size, text); err != nil {
			return choice{}, budget.Text{}, err
		}
	}
	return choices.at(found.Entries), found, nil
}
