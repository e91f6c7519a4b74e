package bench

import (
	"fmt"
	"html"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// promptCatalog returns a catalog of n skills that does not read the files again,
// and the skills of ListSkills.
func promptCatalog(b *testing.B, n int, describe func(i int) string) (*toolshelf.Catalog, []toolshelf.SkillInfo) {
	b.Helper()
	files := fstest.MapFS{}
	for i := range n {
		files[fmt.Sprintf("skill-%06d/SKILL.md", i)] = &fstest.MapFile{
			Data: []byte(fmt.Sprintf("---\nname: skill-%06d\ndescription: %s\nlicense: MIT\nmetadata:\n  author: tests\n---\n", i, describe(i)))}
	}
	c := catalogtest.Open(b, toolshelf.WithSkillsFS("skills", files), toolshelf.WithCacheTTL(time.Hour))
	list := must.Get(c.ListSkills(b.Context()))(b)
	return c, list
}

func inEnglish(i int) string {
	return strings.TrimSpace(strings.Repeat("Read, fill & merge PDF forms. Use when the user mentions a form. ", 1+i%10))
}

func inChinese(i int) string {
	return strings.Repeat("读取、填写和合并表单。当用户提到表单时使用。", 1+i%10)
}

// BenchmarkSkillsPrompt compares SkillsPrompt with ListSkills alone ("list"), with
// ListSkills and a template ("naive"), and with a copy of the parts of the text,
// without escapes, from an existing list ("floor"). The other measurements have a
// budget.
func BenchmarkSkillsPrompt(b *testing.B) {
	for _, skills := range []struct {
		name     string
		n        int
		describe func(int) string
	}{{"500", 500, inEnglish}, {"5000", 5000, inEnglish}, {"5000 in Chinese", 5000, inChinese}} {
		c, list := promptCatalog(b, skills.n, skills.describe)
		prompt := func(opts ...toolshelf.PromptOption) func() {
			return func() {
				p, err := c.SkillsPrompt(b.Context(), opts...)
				if err != nil || p.Text == "" {
					b.Fatal(p, err)
				}
			}
		}
		b.Run(skills.name, func(b *testing.B) {
			catalogtest.Compare(b, []string{"ours", "list", "naive", "floor", "dropped", "shortened", "tokens"}, map[string]func(){
				"ours":      prompt(),
				"dropped":   prompt(toolshelf.Budget(32_000)),                                               // skills are dropped
				"shortened": prompt(toolshelf.Budget(250 * skills.n)),                                       // descriptions are shortened
				"tokens":    prompt(toolshelf.Tokens(8000, func(s string) int { return 4 + len(s)*10/38 })), // at no cost of its own
				"list": func() {
					must.Get(c.ListSkills(b.Context()))(b)
				},
				"naive": func() {
					list := must.Get(c.ListSkills(b.Context()))(b)
					var t strings.Builder
					t.WriteString("<available_skills>\n")
					for _, s := range list {
						fmt.Fprintf(&t, "  <skill>\n    <name>%s</name>\n    <description>%s</description>\n  </skill>\n",
							html.EscapeString(s.Name), html.EscapeString(s.Description))
					}
					t.WriteString("</available_skills>")
				},
				"floor": func() {
					size := 0
					for _, s := range list {
						size += len(s.Name) + len(s.Description) + 80
					}
					var t strings.Builder
					t.Grow(size)
					for _, s := range list {
						t.WriteString("  <skill>\n    <name>")
						t.WriteString(s.Name)
						t.WriteString("</name>\n    <description>")
						t.WriteString(s.Description)
						t.WriteString("</description>\n  </skill>\n")
					}
				},
			})
		})
	}
}
