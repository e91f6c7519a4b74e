package instruction_test

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// importsOf returns the text and the diagnostics of the file with an import.
func importsOf(t *testing.T, c *toolshelf.Catalog, path string) (text, diagnostics string) {
	t.Helper()
	list := instructions(t, c, path, toolshelf.Imports(10))
	last := list[len(list)-1]
	for _, d := range last.Diagnostics {
		diagnostics += string(d.Code) + ": " + d.Message + "\n"
	}
	return last.Text, diagnostics
}

func TestImportsNeverLeadOutside(t *testing.T) {
	dir := catalogtest.Disk(t, map[string]string{
		"secret.md": "SECRET", "root/docs/a.md": "A", "root/inside.md": "I", "home/.claude/CLAUDE.md": "@../secret.md @../../secret.md @rules/r.md", "home/secret.md": "SECRET", "home/.claude/rules/r.md": "R",
	})
	c := catalogtest.Open(t, toolshelf.WithRoot(filepath.Join(dir, "root")), toolshelf.WithHome(filepath.Join(dir, "home")), toolshelf.WithInstructions(client.Claude()))
	dir = filepath.ToSlash(dir) // a backslash ends an import
	for _, target := range []string{"/etc/passwd", "../secret.md", "docs/../../secret.md", "~/secret.md", "~/.claude/CLAUDE.md", dir + "/secret.md", "none.md", "docs/", "./../.."} {
		text := "Import @" + target + "\n"
		catalogtest.Write(t, text, dir, "root", "CLAUDE.md")
		got, diagnostics := importsOf(t, c, ".")
		if got != text || !strings.HasPrefix(diagnostics, "IMPORT_NOT_FOLLOWED: the import ") || strings.Count(diagnostics, "\n") != 1 {
			t.Errorf("%s: %q, %s", target, got, diagnostics)
		}
		if strings.Contains(strings.ReplaceAll(diagnostics, "@"+dir, ""), filepath.Base(path.Dir(dir))) {
			t.Errorf("%s: a host path in %s", target, diagnostics)
		}
	}
	catalogtest.Write(t, "Import @inside.md and @docs/../docs/a.md\n", dir, "root", "CLAUDE.md")
	if got, diagnostics := importsOf(t, c, "."); got != "Import I and A\n" || diagnostics != "" {
		t.Errorf("inside: %q, %s", got, diagnostics)
	}
	user := instructions(t, c, ".", toolshelf.Imports(0))[0]
	if user.Path != "~/.claude/CLAUDE.md" || user.Text != "@../secret.md @../../secret.md R" || len(user.Diagnostics) != 2 || !slices.Equal(user.Imports, []string{"~/.claude/rules/r.md"}) {
		t.Errorf("of the user: %+v", user)
	}
}

// The directory of a file of the user contains the imports of the file, also if the root contains
// the home directory, or is the home directory, and a client reads the file as a file of the
// project.
func TestImportsOfTheUserStayInItsDirectoryBelowTheRoot(t *testing.T) {
	for home, dir := range map[string]string{"home": "~/.claude", ".": ".claude"} {
		root := catalogtest.Disk(t, map[string]string{
			home + "/.ssh/id_rsa": "SECRET", home + "/.claude/CLAUDE.md": "@../.ssh/id_rsa @./link.md @./linked/id_rsa @rules/r.md @rules/../a.md", home + "/.claude/a.md": "A @../.ssh/id_rsa",
			home + "/.claude/rules/r.md": "R @../a.md @../../.ssh/id_rsa",
		})
		hosttest.Symlink(t, "../.ssh/id_rsa", filepath.Join(root, home, ".claude", "link.md"))
		hosttest.Symlink(t, "../.ssh", filepath.Join(root, home, ".claude", "linked"))
		for _, of := range []string{".", home + "/x.go"} {
			all := instructions(t, catalogtest.Open(t, toolshelf.WithRoot(root), toolshelf.WithHome(filepath.Join(root, home)), toolshelf.WithInstructions(client.Claude())), of, toolshelf.Imports(0))
			want := map[string]string{
				dir + "/CLAUDE.md":  "@../.ssh/id_rsa @./link.md @./linked/id_rsa R A @../.ssh/id_rsa @../../.ssh/id_rsa A @../.ssh/id_rsa",
				dir + "/rules/r.md": "R @../a.md @../../.ssh/id_rsa",
			}
			for _, i := range all {
				if text, ok := want[i.Path]; ok && i.Text != text || strings.Contains(i.Text, "SECRET") {
					t.Errorf("%s of a home directory %s: %q", i.Path, home, i.Text)
				}
				delete(want, i.Path)
			}
			if len(want) > 0 {
				t.Errorf("missing: %v of %+v", want, all)
			}
		}
	}
}

func TestLinkedImportsNeverLeadOutside(t *testing.T) {
	dir := catalogtest.Disk(t, map[string]string{"secret.md": "SECRET", "root/inside.md": "I"})
	for link, target := range map[string]string{"link.md": "../secret.md", "to": "..", "ok.md": "inside.md", "broken.md": "none.md"} {
		hosttest.Symlink(t, target, filepath.Join(dir, "root", link))
	}
	catalogtest.Write(t, "Import @ok.md, not @link.md @to/secret.md @broken.md\n", dir, "root", "CLAUDE.md")
	c := catalogtest.Open(t, toolshelf.WithRoot(filepath.Join(dir, "root")), toolshelf.WithHome(""), toolshelf.WithInstructions(client.Claude()))
	got, diagnostics := importsOf(t, c, ".")
	if got != "Import I, not @link.md @to/secret.md @broken.md\n" || strings.Count(diagnostics, "IMPORT_NOT_FOLLOWED: the import ") != 3 || strings.Contains(diagnostics, dir) {
		t.Errorf("%q, %s", got, diagnostics)
	}
}

func TestACycleOfImportsIsNamed(t *testing.T) {
	c := memory(t, map[string]string{"/repo/AGENTS.md": "@docs/a.md", "/repo/docs/a.md": "a @b.md", "/repo/docs/b.md": "b @../docs/a.md @../AGENTS.md @b.md"})
	text, diagnostics := importsOf(t, c, ".")
	must.Equal(t, "text", "a b @../docs/a.md @../AGENTS.md @b.md", text)
	for _, want := range []string{"leads back: docs/a.md imports docs/b.md imports docs/a.md", "leads back: AGENTS.md imports docs/a.md imports docs/b.md imports AGENTS.md", "leads back: docs/b.md imports docs/b.md"} {
		if !strings.Contains(diagnostics, "IMPORT_CYCLE") || !strings.Contains(diagnostics, want) {
			t.Errorf("no %q in\n%s", want, diagnostics)
		}
	}
}

func TestImportsHaveABudget(t *testing.T) {
	files := map[string]string{
		"/repo/AGENTS.md": strings.Repeat("@a1.md ", 100), "/repo/big/AGENTS.md": "@big.md", "/repo/big/big.md": strings.Repeat("x", 1<<20+1),
		"/repo/many/AGENTS.md": strings.Repeat("@none.md ", 5000), "/repo/fit/AGENTS.md": "@fit.md", "/repo/fit/fit.md": strings.Repeat("x", 1<<20),
	}
	for i := range 8 { // without a bound, 100 to the power of 9 texts
		files[fmt.Sprintf("/repo/a%d.md", i+1)] = strings.Repeat(fmt.Sprintf("@a%d.md ", i+2), 100) + "x"
	}
	files["/repo/a9.md"] = strings.Repeat("y", 1<<10)
	c := memory(t, files)
	text, diagnostics := importsOf(t, c, ".")
	if len(text) > 2<<20 || !strings.Contains(diagnostics, "at most 1000 imports") && !strings.Contains(diagnostics, "at most 1048576 bytes") {
		t.Errorf("%d bytes, %.200s", len(text), diagnostics)
	}
	if text, diagnostics := importsOf(t, c, "big"); text != "@big.md" || !strings.Contains(diagnostics, "at most 1048576 bytes") {
		t.Errorf("%d bytes, %s", len(text), diagnostics)
	}
	if text, diagnostics := importsOf(t, c, "fit"); len(text) != 1<<20 || diagnostics != "" {
		t.Errorf("%d bytes, %s", len(text), diagnostics)
	}
	if _, diagnostics := importsOf(t, c, "many"); strings.Count(diagnostics, "leads nowhere") != 49 || !strings.HasSuffix(diagnostics, ": 952 more problems from here on\n") {
		t.Errorf("%d diagnostics", strings.Count(diagnostics, "\n"))
	}
}

func promptOf(t *testing.T, c *toolshelf.Catalog, path string, opts ...toolshelf.InstructionOption) toolshelf.PromptList {
	t.Helper()
	return must.Get(c.InstructionsPrompt(t.Context(), path, opts...))(t)
}

func TestAPromptWithoutInstructionsHasNoNilList(t *testing.T) {
	p := promptOf(t, memory(t, nil, toolshelf.WithRoot("/")), ".")
	if p.Text != "" || p.Included == nil || p.Dropped == nil {
		t.Errorf("%+v", p)
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
	must.Fail(c.InstructionsPrompt(ctx, ".", toolshelf.Tokens(100, func(s string) int { cancel(); return len(s) })))(t, "error", context.Canceled)
}
