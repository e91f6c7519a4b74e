package instruction_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func promptOf(t *testing.T, c *toolshelf.Catalog, path string, opts ...toolshelf.InstructionOption) toolshelf.PromptList {
	t.Helper()
	p := must.Get(c.InstructionsPrompt(t.Context(), path, opts...))(t)
	return p
}

func TestThePromptHasTheNearestTextLast(t *testing.T) {
	c := memory(t, map[string]string{"/repo/AGENTS.md": "Root.\n", "/repo/x/AGENTS.md": "\nNear <b>.\n", "/repo/.cursor/rules/ask.mdc": "---\ndescription: Migrations & <more>\n---\nMigrate.", "/repo/.cursor/rules/manual.mdc": "Manual."},
		toolshelf.WithInstructions(client.Cursor()))
	const want = `<project_instructions>
<instruction_file path="AGENTS.md">
Root.
</instruction_file>
<instruction_file path="x/AGENTS.md">
Near <b>.
</instruction_file>
<instruction_on_request path=".cursor/rules/ask.mdc">
Migrations & <more>
</instruction_on_request>
</project_instructions>`
	p := promptOf(t, c, "x")
	if p.Text != want || !slices.Equal(p.Included, []string{"AGENTS.md", "x/AGENTS.md", ".cursor/rules/ask.mdc"}) {
		t.Errorf("got %q\n%s", p.Included, p.Text)
	}
	if p := promptOf(t, memory(t, nil, toolshelf.WithRoot("/")), "."); p.Text != "" || p.Included == nil || p.Dropped == nil {
		t.Errorf("without instructions: %+v", p)
	}
}

// TestTheBudgetCutsTheMostGeneralTextFirst tries each budget.
func TestTheBudgetCutsTheMostGeneralTextFirst(t *testing.T) {
	c := memory(t, map[string]string{"/repo/AGENTS.md": strings.Repeat("é", 300), "/repo/x/AGENTS.md": strings.Repeat("b", 200), "/repo/x/y/AGENTS.md": strings.Repeat("c", 100)})
	paths := []string{"AGENTS.md", "x/AGENTS.md", "x/y/AGENTS.md"}
	whole := promptOf(t, c, "x/y")
	total := utf8.RuneCountInString(whole.Text)
	for n := range total + 2 {
		calls := 0
		for name, option := range map[string]toolshelf.InstructionOption{"characters": toolshelf.Budget(n), "tokens": toolshelf.Tokens(n, func(s string) int { calls++; return utf8.RuneCountInString(s) })} {
			p := promptOf(t, c, "x/y", option)
			size := utf8.RuneCountInString(p.Text)
			if size > n || n >= total && p.Text != whole.Text {
				t.Errorf("%d %s: a text of %d", n, name, size)
			}
			if !slices.Equal(slices.Concat(p.Dropped, p.Included), paths) {
				t.Errorf("%d %s: dropped %q, included %q", n, name, p.Dropped, p.Included)
			}
			if len(p.Shortened) > 1 || len(p.Shortened) == 1 && p.Shortened[0] != p.Included[0] {
				t.Errorf("%d %s: shortened %q of %q", n, name, p.Shortened, p.Included)
			}
			if said := strings.Contains(p.Text, "<!-- the budget omits "); said != (p.Text != "" && len(p.Dropped)+len(p.Shortened) > 0) {
				t.Errorf("%d %s: dropped %q, shortened %q, and the text says so: %t", n, name, p.Dropped, p.Shortened, said)
			}
			if n > 400 && size < n-130 && n < total {
				t.Errorf("%d %s: a text of only %d", n, name, size)
			}
		}
		if calls > 40 {
			t.Errorf("%d: the counter is called %d times", n, calls)
		}
	}
}

func TestACounterThatEndsTheContextEndsThePrompt(t *testing.T) {
	c := memory(t, map[string]string{"/repo/AGENTS.md": strings.Repeat("a", 10_000)})
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := c.InstructionsPrompt(ctx, ".", toolshelf.Tokens(100, func(s string) int { cancel(); return len(s) })); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
