package toolshelf

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// minDescription is how short a description is made before skills are
// dropped: with less, a model cannot tell what a skill is for.
const minDescription = 60

// A promptBlock is what a prompt may list. How much of it a text tells is a
// level: level k up to the number of items is the first k items in precedence,
// with descriptions of at most minDescription characters; every level above
// lists all of them and allows descriptions one more character. So each level
// tells more than the one below, in a longer text, and to fit a budget is to
// search for the highest level within it.
type promptBlock struct {
	tag     string // of an item; the block's is made of it
	items   []promptItem
	longest int // characters of the longest description
}

// A promptItem has its texts as they are in the block: escaped.
type promptItem struct {
	layer       int
	rank        int // its place in precedence
	name        string
	escapedName string
	description string
	location    string // "" for none
	fixed       int    // characters of all but the description
	length      int    // characters of the description
}

func (b *promptBlock) add(layer int, name, description, location string) {
	i := promptItem{
		layer: layer, name: name, escapedName: escapeXMLLine(name),
		description: escapeXML(description), location: escapeXMLLine(location),
	}
	i.length = utf8.RuneCountInString(i.description)
	i.fixed = 2*len(b.tag) + len("  <>\n    <name></name>\n    <description></description>\n  </>\n") + utf8.RuneCountInString(i.escapedName)
	if location != "" {
		i.fixed += len("    <location></location>\n") + utf8.RuneCountInString(i.location)
	}
	b.longest = max(b.longest, i.length)
	b.items = append(b.items, i)
}

// prompt is the block as far as the options have room for it.
func (b *promptBlock) prompt(ctx context.Context, o promptOptions) (SkillsPrompt, error) {
	ranked := make([]*promptItem, len(b.items))
	for i := range b.items {
		ranked[i] = &b.items[i]
	}
	slices.SortStableFunc(ranked, func(x, y *promptItem) int { return cmp.Compare(x.layer, y.layer) })
	for rank, i := range ranked {
		i.rank = rank
	}

	level := b.top()
	var text string
	switch {
	case o.count != nil:
		var err error
		if level, text, err = b.fit(ctx, o.budget, o.count); err != nil {
			return SkillsPrompt{}, err
		}
	default:
		if o.limited {
			level = max(0, b.within(o.budget))
		}
		text = b.text(level)
	}

	p := SkillsPrompt{Text: text, Included: []string{}, Shortened: []string{}, Dropped: []string{}}
	kept, limit := b.cut(level)
	for _, i := range b.items {
		switch {
		case i.rank >= kept:
			p.Dropped = append(p.Dropped, i.name)
			continue
		case i.length > limit:
			p.Shortened = append(p.Shortened, i.name)
		}
		p.Included = append(p.Included, i.name)
	}
	return p, nil
}

// top is the level of the whole block.
func (b *promptBlock) top() int { return len(b.items) + max(0, b.longest-minDescription) }

// cut is what a level means: how many items it lists, and how many characters
// a description may have.
func (b *promptBlock) cut(level int) (kept, limit int) {
	return min(level, len(b.items)), minDescription + max(0, level-len(b.items))
}

// size is the number of characters of a level's text: at most, and exactly
// where no description is cut.
func (b *promptBlock) size(level int) int {
	kept, limit := b.cut(level)
	if kept == 0 {
		return 0
	}
	n := 2*len(b.tag) + len("<available_s>\n</available_s>") + len(b.omission(kept))
	for j := range b.items {
		if i := &b.items[j]; i.rank < kept {
			n += i.fixed + min(i.length, limit)
		}
	}
	return n
}

// within is the highest level of at most that size, -1 if there is none.
func (b *promptBlock) within(size int) int {
	return sort.Search(b.top()+1, func(level int) bool { return b.size(level) > size }) - 1
}

// text is what a level tells; "" for level 0, not a block that is empty.
func (b *promptBlock) text(level int) string {
	kept, limit := b.cut(level)
	if kept == 0 {
		return ""
	}
	var t strings.Builder
	t.Grow(b.size(level))
	t.WriteString("<available_" + b.tag + "s>\n")
	for j := range b.items {
		i := &b.items[j]
		if i.rank >= kept {
			continue
		}
		description := i.description
		if i.length > limit {
			description = shortened(description, limit)
		}
		t.WriteString("  <")
		t.WriteString(b.tag)
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
		t.WriteString(b.tag)
		t.WriteString(">\n")
	}
	t.WriteString(b.omission(kept))
	t.WriteString("</available_" + b.tag + "s>")
	return t.String()
}

// omission is the line that says how many items are dropped.
func (b *promptBlock) omission(kept int) string {
	switch n := len(b.items) - kept; n {
	case 0:
		return ""
	case 1:
		return "  <!-- 1 more " + b.tag + " not listed -->\n"
	default:
		return fmt.Sprintf("  <!-- %d more %ss not listed -->\n", n, b.tag)
	}
}

// fit is the highest level whose text has a count within the budget, and that
// text. A guess by the sizes of what is known to fit and of what is known not
// to is near in most cases; every other guess is the middle, so that no
// counter makes the search long.
func (b *promptBlock) fit(ctx context.Context, budget int, count func(string) int) (level int, text string, err error) {
	if len(b.items) == 0 || budget < 0 {
		return 0, "", nil
	}
	low, high := 0, b.top()
	whole := b.text(high)
	lowCount, highCount := 0, count(whole)
	if highCount <= budget {
		return high, whole, nil
	}
	for middle := false; low+1 < high; middle = !middle {
		if err := ctx.Err(); err != nil {
			return 0, "", err
		}
		share := 0.5
		if !middle {
			share = float64(budget-lowCount) / float64(highCount-lowCount)
		}
		from, to := b.size(low), b.size(high)
		guess := min(max(b.within(from+int(share*float64(to-from))), low+1), high-1)
		t := b.text(guess)
		if n := count(t); n <= budget {
			low, lowCount, text = guess, n, t
		} else {
			high, highCount = guess, n
		}
	}
	return low, text, nil
}
