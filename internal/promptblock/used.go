package promptblock

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/budget"
	"github.com/toolshelf-go/toolshelf/internal/xmltext"
)

// Changed reports whether a text with a digest differs from the used text, whose digest may be
// unknown. Without a digest, Changed computes the digest of the bytes.
func Changed(used, digest string, raw []byte) bool {
	return used != "" && used != cmp.Or(digest, fmt.Sprintf("sha256:%x", sha256.Sum256(raw)))
}

// Used are the texts that a session has used, the last use first.
type Used struct {
	parts []usedPart
	forms map[[2]string]bool // the kinds and the names of AddForm
}

type usedPart struct {
	name    string
	content string
	form    func(content string) string
}

// usedTags are the tags, with the attribute for the name, of the kinds whose text is the content of
// an element.
var usedTags = map[string][2]string{"command": {"command_content", "name"}, "instruction": {"instruction_file", "path"}}

// Add appends a text of a kind of usedTags. If changed, the text is not the text that the session
// has used.
func (u *Used) Add(kind, name, content string, changed bool) {
	tag := usedTags[kind]
	u.AddForm(kind, name, content, changed, func(content string) string {
		return "<" + tag[0] + " " + tag[1] + `="` + xmltext.XMLLine(name) + "\">\n" + xmltext.BlockTags(strings.Trim(content, "\r\n")) + "\n</" + tag[0] + ">"
	})
}

// AddMissing appends the name of an entry that does not exist any more.
func (u *Used) AddMissing(kind, name string) {
	line := fmt.Sprintf("<!-- the %s %s does not exist any more -->", kind, comment(name))
	u.parts = append(u.parts, usedPart{name: name, form: func(string) string { return line }})
}

// AddForm is Add with the form of the text. The last use of a name counts, because items can have
// the name with and without a plugin. The texts of an instruction can differ.
func (u *Used) AddForm(kind, name, content string, changed bool, form func(string) string) {
	key := [2]string{kind, name}
	if u.forms[key] && kind != "instruction" {
		return
	}
	if u.forms == nil {
		u.forms = map[[2]string]bool{}
	}
	u.forms[key] = true
	if changed {
		whole := form
		form = func(content string) string {
			return fmt.Sprintf("<!-- the %s %s has changed since its use; this is the new text -->\n", kind, comment(name)) + whole(content)
		}
	}
	u.parts = append(u.parts, usedPart{name, content, form})
}

// comment returns a name for a comment of XML.
func comment(name string) string { return strings.ReplaceAll(xmltext.XMLLine(name), "-->", "--&gt;") }

const usedBegin, usedEnd = "<used_texts>\n", "</used_texts>"

// Fit returns the texts within the budget, each with at most each characters or tokens; 0 means no limit. A text that is too long for the
// rest of the budget is cut, and all earlier texts are dropped.
func (u *Used) Fit(limit budget.Budget, each int) Result {
	r := Result{Included: []string{}, Shortened: []string{}, Dropped: []string{}}
	text := usedBegin
	fits := func(part string) bool { return !limit.Limited || limit.Measure(0, text+part+usedEnd).Size <= limit.Max }
	full := limit.Limited && limit.Max <= 0
	for _, p := range u.parts {
		content := p.content
		if each > 0 {
			content = longest(content, func(s string) bool { return limit.Measure(0, s).Size <= each })
		}
		part := p.form(content) + "\n"
		dropped := full
		if !full && !fits(part) {
			full = true
			content = longest(content, func(s string) bool { return fits(p.form(s) + "\n") })
			part = p.form(content) + "\n"
			// A counter of tokens need not grow with the text.
			dropped = utf8.RuneCountInString(content) < minDescription || !fits(part)
		}
		if dropped {
			r.Dropped = append(r.Dropped, p.name)
			continue
		}
		if content != p.content {
			r.Shortened = append(r.Shortened, p.name)
		}
		text += part
		r.Included = append(r.Included, p.name)
	}
	if len(r.Included) > 0 {
		r.Text = text + usedEnd
	}
	return r
}

// longest returns the longest beginning of a text that fits, with "…" as the last character, or the whole text.
func longest(text string, fits func(string) bool) string {
	if fits(text) {
		return text
	}
	runes := []rune(text)
	n := sort.Search(len(runes), func(n int) bool { return !fits(string(runes[:n]) + "…") })
	return string(runes[:max(n-1, 0)]) + "…"
}
