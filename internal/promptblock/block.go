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

// minDescription is the number of characters that Fit keeps of a description, unless Fit omits the
// description. With fewer characters, a model cannot recognize the purpose of a skill.
const minDescription = 60

// A Block is a list of items: skills or commands.
type Block struct {
	// Of an item, such as "skill"; the tag of the block is then "available_skills".
	Tag      string
	Elements bool // the budget drops an item instead of the description alone
	// Names that precede all others in the order of precedence; unknown and repeated names have no
	// effect.
	Preferred []string
	items     []item
}

// A Result is the text of a block and the names of its items.
type Result struct {
	Text      string   // "" if no item is included
	Included  []string // in the order of the text
	Shortened []string // the included items with a cut description
	Dropped   []string // the other items, in the order of Add
	Named     []string // the included items without their description; nil without such an item
}

// A choice selects the content of a text: the first kept items in the order of precedence. The
// first described items have an element with a description of at most limit characters, and the
// others only a line with the name.
type choice struct{ kept, described, limit int }

type item struct {
	layer       int
	rank        int // in the order of precedence, from 0
	name        string
	escapedName string
	description string // escaped
	location    string // escaped; "" omits the location
	named       bool   // see AddName
	fixed       int    // number of characters of the element without the description
	line        int    // number of characters of the line with the name
	length      int    // number of characters of the description
}

// Add appends an item. The items of a lower layer number precede the items of a
// higher layer number in the order of precedence. Within a layer, the order of the
// calls decides.
func (b *Block) Add(layer int, name, description, location string) {
	b.add(item{layer: layer, name: name, description: xmltext.XML(description), location: xmltext.XMLLine(location)})
}

// AddName is Add for an item whose description the block omits.
func (b *Block) AddName(layer int, name, location string) {
	b.add(item{layer: layer, name: name, location: xmltext.XMLLine(location), named: true})
}

func (b *Block) add(i item) {
	i.escapedName = xmltext.XMLLine(i.name)
	i.length = utf8.RuneCountInString(i.description)
	i.line = utf8.RuneCountInString(i.escapedName) + len("\n")
	i.fixed = 2*len(b.Tag) + len("  <>\n    <name></name>\n  </>\n") + i.line - len("\n")
	if !i.named {
		i.fixed += len("    <description></description>\n")
	}
	if i.location != "" {
		i.fixed += len("    <location></location>\n") + utf8.RuneCountInString(i.location)
	}
	b.items = append(b.items, i)
}

// Fit returns the text of the block within the budget. To fit the budget, Fit first cuts the
// longest descriptions to one common length, at least minDescription. If the text is still too
// long, Fit omits descriptions, and at last drops items, both from the end of the order of
// precedence, and gives the rest of the budget to the other descriptions. If ctx ends during the
// search, Fit returns its error.
func (b *Block) Fit(ctx context.Context, limit budget.Budget) (Result, error) {
	b.rank()

	chosen, text, err := b.fit(ctx, limit)
	if err != nil {
		return Result{}, err
	}
	p, names := Result{Text: text, Included: []string{}, Shortened: []string{}, Dropped: []string{}}, []string(nil)
	for _, i := range b.items {
		switch {
		case i.rank >= chosen.kept:
			p.Dropped = append(p.Dropped, i.name)
			continue
		case i.rank >= chosen.described:
			names = append(names, i.name)
			continue
		case i.length > chosen.limit:
			p.Shortened = append(p.Shortened, i.name)
		case i.named:
			p.Named = append(p.Named, i.name)
		}
		p.Included = append(p.Included, i.name)
	}
	p.Included, p.Named = append(p.Included, names...), append(p.Named, names...)
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

// fit returns the best choice within the budget, and its text. The text in which all items have an
// element can be shorter than a text with names only, because of the frame of the names, so fit
// decides first between the two.
func (b *Block) fit(ctx context.Context, limit budget.Budget) (choice, string, error) {
	n, last := 2*len(b.items), 2*len(b.items)+b.excess(len(b.items))
	whole := b.at(last)
	if !limit.Limited {
		return whole, b.text(whole), nil
	}
	elements := b.measure(limit, b.at(n))
	if ctx.Err() != nil {
		return choice{}, "", ctx.Err()
	}
	if elements.Size <= limit.Max {
		longer := sequence{last - n, func(i int) choice { return b.at(n + i) }}
		chosen, best := b.search(ctx, limit, longer, elements)
		return chosen, best.Text, ctx.Err()
	}
	chosen, best := b.search(ctx, limit, sequence{max(n-1, 0), b.at}, budget.Text{})
	if kept, described := chosen.kept, chosen.described; described > 0 && ctx.Err() == nil {
		longer := sequence{b.excess(described), func(i int) choice { return choice{kept, described, minDescription + i} }}
		chosen, best = b.search(ctx, limit, longer, best)
	}
	return chosen, best.Text, ctx.Err()
}

// measure returns the text of a choice with its size, or without a counter only the size.
func (b *Block) measure(limit budget.Budget, c choice) budget.Text {
	if limit.Count == nil || limit.Max < 0 {
		return budget.Text{Size: b.size(c)}
	}
	return limit.Measure(0, b.text(c))
}

// A sequence is a sequence of choices, from index 0 to last. Each choice has more
// content than the previous choice, in a longer text.
type sequence struct {
	last int
	at   func(int) choice
}

// at returns a choice of the sequence that adds the names of the items, then the elements with
// descriptions of minDescription characters, and then lengthens all descriptions.
func (b *Block) at(i int) choice {
	n := len(b.items)
	c := choice{min(i, n), min(max(i-n, 0), n), minDescription + max(0, i-2*n)}
	if b.Elements {
		c.kept = c.described
	}
	return c
}

// excess returns the number of characters by which the longest description of the
// first described items exceeds minDescription.
func (b *Block) excess(described int) int {
	longest := minDescription
	for _, i := range b.items {
		if i.rank < described {
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
	n := 2*len(b.Tag) + len("<available_s>\n</available_s>") + len(b.omission(c))
	if c.described < len(b.items) {
		n += len(namesEnd)
	}
	for j := range b.items {
		switch i := &b.items[j]; {
		case i.rank < c.described:
			n += i.fixed + min(i.length, c.limit)
		case i.rank < c.kept:
			n += i.line
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
		if i.rank >= c.described {
			continue
		}
		description := i.description
		if i.length > c.limit {
			description = xmltext.ShortenXML(description, c.limit)
		}
		write(&t, "  <", b.Tag, ">\n    <name>", i.escapedName, "</name>\n")
		if !i.named {
			write(&t, "    <description>", description, "</description>\n")
		}
		if i.location != "" {
			write(&t, "    <location>", i.location, "</location>\n")
		}
		write(&t, "  </", b.Tag, ">\n")
	}
	t.WriteString(b.omission(c))
	for j := range b.items {
		if i := &b.items[j]; i.rank >= c.described && i.rank < c.kept {
			write(&t, i.escapedName, "\n")
		}
	}
	if c.described < len(b.items) {
		t.WriteString(namesEnd)
	}
	t.WriteString("</available_" + b.Tag + "s>")
	return t.String()
}

// write writes the parts of a text without another copy.
func write(t *strings.Builder, parts ...string) {
	for _, part := range parts {
		t.WriteString(part)
	}
}

const namesEnd = "  </names>\n"

// omission returns the begin of the names of the items without an element, with the number of
// dropped items.
func (b *Block) omission(c choice) string {
	if n := len(b.items); c.described < n {
		return fmt.Sprintf("  <names not_listed=\"%d\">\n", n-c.kept)
	}
	return ""
}

// search returns the last choice of a sequence within a budget, and its text. The text of the first
// choice is first, which is within the budget.
func (b *Block) search(ctx context.Context, limit budget.Budget, choices sequence,
	first budget.Text) (choice, budget.Text) {
	size := func(i int) int { return b.size(choices.at(i)) }
	text := func(i int) string { return b.text(choices.at(i)) }
	if limit.Count == nil {
		last := max(0, sort.Search(choices.last+1, func(i int) bool { return size(i) > limit.Max })-1)
		return choices.at(last), budget.Text{Text: text(last)}
	}
	first.Entries = 0
	if choices.last == 0 || limit.Max < 0 {
		return choices.at(0), first
	}
	found := limit.Longest(ctx, first, choices.last, size, text)
	return choices.at(found.Entries), found
}
