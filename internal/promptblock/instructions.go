package promptblock

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/budget"
	"github.com/toolshelf-go/toolshelf/internal/xmltext"
)

// Instructions are the texts that apply to a file of a project, the most general first.
type Instructions struct{ parts []part }

// A part is a text, or the description of a text that the model may request.
type part struct {
	path, text string
	open, end  string // the lines before and after the text
	length     int    // number of characters of the text
}

// Add appends a text with its source. Of a text on request, the block has only the description.
// Added is false without a text, and on request without a description.
func (b *Instructions) Add(path, text, description string, onRequest bool) (added bool) {
	switch {
	case text == "" || onRequest && description == "":
		return false
	case onRequest:
		b.add("instruction_on_request", path, description)
	default:
		b.add("instruction_file", path, text)
	}
	return true
}

func (b *Instructions) add(tag, path, text string) {
	text = strings.Trim(text, "\r\n")
	b.parts = append(b.parts, part{path, text, "<" + tag + ` path="` + xmltext.XMLLine(path) + "\">\n", "\n</" + tag + ">\n", utf8.RuneCountInString(text)})
}

// Fit returns the block within the budget. To fit the budget, Fit cuts the most general text first, and drops a text
// of which fewer than minDescription characters would stay. A comment at the beginning says so. The dropped texts
// precede all others, and only the first text after them can be cut; cut is this text in the block. If ctx ends during
// the search, Fit returns its error.
func (b *Instructions) Fit(ctx context.Context,
	limit budget.Budget) (r Result, cut string, err error) {
	total := 0
	for _, p := range b.parts {
		total += p.length
	}
	n := total
	text := func(n int) string { return b.text(b.kept(n)) }
	switch {
	case !limit.Limited || len(b.parts) == 0:
	case limit.Max <= 0:
		n = -1
	case limit.Count == nil && total <= limit.Max && limit.Measure(total, text(total)).Size <= limit.Max:
	// The block has more characters than the texts, so the work does not depend on longer texts.
	case limit.Count == nil:
		n = sort.Search(min(total, limit.Max)+1, func(i int) bool { return limit.Measure(i, text(i)).Size > limit.Max }) - 1
	default:
		n = limit.Longest(ctx, budget.Text{Entries: -1}, total, func(i int) int { return i }, text).Entries
	}
	if err := ctx.Err(); err != nil {
		return Result{}, "", err
	}
	kept := b.kept(n)
	r = Result{Text: b.text(kept), Included: []string{}, Shortened: []string{}, Dropped: []string{}}
	for i, p := range b.parts {
		switch {
		case kept[i] < 0:
			r.Dropped = append(r.Dropped, p.path)
			continue
		case kept[i] < p.length:
			r.Shortened, cut = append(r.Shortened, p.path), p.cut(kept[i])
		}
		r.Included = append(r.Included, p.path)
	}
	return r, cut, nil
}

// kept returns the number of characters of each text, if n characters of all texts stay: of a text that is dropped,
// -1.
func (b *Instructions) kept(n int) []int {
	kept := make([]int, len(b.parts))
	for i, p := range slices.Backward(b.parts) {
		kept[i] = min(p.length, max(n, 0))
		n -= p.length
		if kept[i] < p.length && kept[i] < minDescription {
			kept[i], n = -1, -1
		}
	}
	return kept
}

// text returns the block. Without a text, the block is "".
func (b *Instructions) text(kept []int) string {
	dropped, shortened := 0, 0
	for i, p := range b.parts {
		switch {
		case kept[i] < 0:
			dropped++
		case kept[i] < p.length:
			shortened++
		}
	}
	if dropped == len(b.parts) {
		return ""
	}
	var t strings.Builder
	t.WriteString("<project_instructions>\n")
	if dropped+shortened > 0 {
		fmt.Fprintf(&t, "<!-- the budget omits %d of the more general files and shortens %d -->\n", dropped, shortened)
	}
	for i, p := range b.parts {
		if kept[i] < 0 {
			continue
		}
		text := p.text
		if kept[i] < p.length {
			text = p.cut(kept[i])
		}
		write(&t, p.open, xmltext.BlockTags(text), p.end)
	}
	t.WriteString("</project_instructions>")
	return t.String()
}

// cut returns the text in n characters, of which "…" is the last.
func (p part) cut(n int) string {
	for i := range p.text {
		if n--; n <= 0 {
			return p.text[:i] + "…"
		}
	}
	return p.text
}
