package instruction_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// linted returns the diagnostics of Lint as "path:line:column CODE".
func linted(t *testing.T, c *toolshelf.Catalog) (all []string) {
	t.Helper()
	found := must.Get(c.Lint(t.Context()))(t)
	for _, d := range found {
		if (d.Severity == toolshelf.SeverityError) != (d.Code == agentmd.DiagInvalidRuleName) || d.Message == "" || strings.ContainsAny(d.Message+d.Suggestion, "\n") {
			t.Errorf("got %+v", d)
		}
		all = append(all, fmt.Sprintf("%s:%d:%d %s", d.Path, d.Line, d.Column, d.Code))
	}
	return all
}

func TestLintOfInstructions(t *testing.T) {
	kib := func(n int) string { return strings.Repeat("x", n<<10) }
	for _, tt := range []struct {
		behavior string
		rows     []client.Client // nil: the default
		files    map[string]string
		want     []string
	}{
		{"no instructions", nil, map[string]string{"/repo/main.go": ""}, nil},
		{"text without defects", nil, map[string]string{"/repo/AGENTS.md": "# Rules\n\nMail @somebody.\n", "/repo/x/CLAUDE.md": "---\nNo header.\n"}, nil},
		{"no client", []client.Client{}, map[string]string{"/repo/AGENTS.md": "a\u202eb", "/repo/CLAUDE.md": "x"}, nil},

		{"an override beside another text", []client.Client{client.Codex()}, map[string]string{"/repo/AGENTS.md": "a", "/repo/x/AGENTS.override.md": "b", "/repo/x/AGENTS.md": "c", "/repo/x/y/AGENTS.md": "d"},
			[]string{"x/AGENTS.md:0:0 SHADOWED"}},
		{"a fallback beside another text", nil, map[string]string{"/repo/AGENTS.md": "a", "/repo/CLAUDE.md": "b", "/repo/x/CLAUDE.md": "c"}, []string{"CLAUDE.md:0:0 SHADOWED"}},
		{"a fallback with the same text", nil, map[string]string{"/repo/AGENTS.md": "a", "/repo/CLAUDE.md": "a"}, nil},
		{"a fallback that names the other file", nil, map[string]string{"/repo/AGENTS.md": "a", "/repo/CLAUDE.md": "@AGENTS.md\nMore.\n"}, nil},
		{"an empty file beside a fallback", nil, map[string]string{"/repo/AGENTS.md": " \n", "/repo/CLAUDE.md": "b"}, nil},
		{"a fallback that another client reads", []client.Client{client.OpenCode(), client.Claude()}, map[string]string{"/repo/AGENTS.md": "a", "/repo/CLAUDE.md": "b"}, nil},
		{"files of the user in different directories", []client.Client{client.OpenCode()}, map[string]string{"/repo/main.go": "", "/home/me/.config/opencode/AGENTS.md": "a", "/home/me/.claude/CLAUDE.md": "b"}, nil},
		{"files of the user in a directory", []client.Client{client.Codex()}, map[string]string{"/repo/main.go": "", "/home/me/.codex/AGENTS.override.md": "a", "/home/me/.codex/AGENTS.md": "b"}, []string{"~/.codex/AGENTS.md:0:0 SHADOWED"}},

		{"32 KiB of text", []client.Client{client.Codex()}, map[string]string{"/repo/AGENTS.md": kib(30), "/repo/a/AGENTS.md": kib(2), "/repo/b/AGENTS.md": kib(2)}, nil},
		{"text beyond 32 KiB on one way", []client.Client{client.Codex()}, map[string]string{"/repo/AGENTS.md": kib(30), "/repo/a/AGENTS.md": kib(3), "/repo/a/b/AGENTS.md": "b", "/repo/c/AGENTS.md": kib(1)},
			[]string{"a/AGENTS.md:0:0 INSTRUCTION_CUT", "a/b/AGENTS.md:0:0 INSTRUCTION_CUT"}},
		{"text beyond the limit of another client", []client.Client{client.Codex(), client.Cursor()}, map[string]string{"/repo/AGENTS.md": kib(40), "/repo/x/AGENTS.md": "x"}, nil},

		{"imports", []client.Client{client.Claude()}, map[string]string{
			"/repo/CLAUDE.md": "# Rules\n\nSee @none.md, @../secret.md and @docs/a.md.\n", "/repo/docs/a.md": "\n\n@b.md", "/repo/docs/b.md": "@a.md",
			"/repo/x/CLAUDE.md": "`@none.md`, @../docs/c.md, @types/node, @app.route, @/etc/passwd", "/repo/docs/c.md": "C"},
			[]string{"CLAUDE.md:3:0 IMPORT_NOT_FOLLOWED", "CLAUDE.md:3:0 IMPORT_NOT_FOLLOWED", "docs/b.md:1:0 IMPORT_CYCLE", "x/CLAUDE.md:1:0 IMPORT_NOT_FOLLOWED"}},
		{"an import of a rule whose globs match nothing", []client.Client{client.Claude()}, map[string]string{"/repo/.claude/rules/r.md": "---\npaths: x/**\n---\n\n@./none"}, []string{".claude/rules/r.md:5:0 IMPORT_NOT_FOLLOWED"}},
		{"an import for a client without imports", []client.Client{client.Codex()}, map[string]string{"/repo/AGENTS.md": "@none.md"}, nil},

		{"hidden characters", nil, map[string]string{"/repo/x/AGENTS.md": "---\na: b\n---\nx\u200bx", "/repo/AGENTS.md": "👨‍👩‍👧 ok"}, []string{"x/AGENTS.md:4:2 INVISIBLE_CHARACTER"}},
		{"hidden characters in a rule", []client.Client{client.Cursor()}, map[string]string{"/repo/.cursor/rules/a.mdc": "---\ndescription: a\u202eb\n---\nx"}, []string{".cursor/rules/a.mdc:2:15 INVISIBLE_CHARACTER"}},
		{"text like a header in a single file", nil, map[string]string{"/repo/AGENTS.md": "---\na: 1\na: 2\nb: c: d\n---\nText.\n", "/repo/x/AGENTS.md": "---\nNo end.\n", "/repo/y/AGENTS.md": "---\nNo fields.\n---\n"}, nil},
		{"a broken header of a rule", []client.Client{client.Claude()}, map[string]string{"/repo/.claude/rules/a.md": "---\npaths: x\npaths: y\n---\nText.\n"}, []string{".claude/rules/a.md:3:1 DUPLICATE_KEY"}},
		{"bytes that are not UTF-8", nil, map[string]string{"/repo/AGENTS.md": "a\n\xff"}, []string{"AGENTS.md:2:1 NOT_UTF8"}},

		{"globs without quotes", []client.Client{client.Cursor()}, map[string]string{"/repo/.cursor/rules/a.mdc": "---\ndescription:\nglobs: **/*.go,*.{ts,tsx}\nalwaysApply: false\n---\nx", "/repo/.cursor/rules/b.mdc": "---\nglobs: *.go\n---\nx"}, nil},
		{"globs that match nothing", []client.Client{client.Claude()}, map[string]string{"/repo/.claude/rules/a.md": "---\npaths: [\"src/{a,b\", \"../x/**\", \"ok/**\"]\n---\nx"},
			[]string{".claude/rules/a.md:2:1 RULE_GLOB_INVALID", ".claude/rules/a.md:2:1 RULE_GLOB_INVALID"}},
		{"a rule for files without globs", []client.Client{client.Kiro()}, map[string]string{"/repo/.kiro/steering/a.md": "---\ninclusion: fileMatch\n---\nx", "/repo/.kiro/steering/b.md": "---\ninclusion: manual\nfileMatchPattern: \"{\"\n---\nx"},
			[]string{".kiro/steering/a.md:1:0 RULE_GLOB_INVALID"}},
		{"names of routes", []client.Client{client.Copilot()}, map[string]string{"/repo/.github/instructions/a.instructions.md": "---\napplyTo: 'app/[...slug]/**,(group)/[id]/*.tsx'\n---\nx"}, nil},

		{"names that no client reads", []client.Client{client.Cursor(), client.Copilot(), client.Claude()}, map[string]string{
			"/repo/.cursor/rules/a.md": "x", "/repo/.cursor/rules/b/c.md": "x", "/repo/.cursor/rules/README.md": "x", "/repo/.github/instructions/d.md": "x", "/repo/.claude/rules/e.mdc": "x", "/repo/.claude/rules/f/g.md": "x"},
			[]string{".claude/rules/e.mdc:0:0 EXTENSION_NOT_READ", ".cursor/rules/a.md:0:0 EXTENSION_NOT_READ", ".cursor/rules/b/c.md:0:0 EXTENSION_NOT_READ", ".github/instructions/d.md:0:0 EXTENSION_NOT_READ"}},
		{"a name of a rule that is not safe", []client.Client{client.Claude()}, map[string]string{"/repo/.claude/rules/a..b.md": "x"}, []string{".claude/rules/a..b.md:0:0 INVALID_RULE_NAME"}},
		{"a subdirectory of rules with other files of the client", []client.Client{client.Cline()}, map[string]string{"/repo/.clinerules/a.md": "x", "/repo/.clinerules/workflows/b.md": "x"}, nil},
		{"rules with the same name", []client.Client{client.Claude(), client.Cursor()}, map[string]string{"/repo/.claude/rules/a.md": "x", "/home/me/.claude/rules/a.md": "y", "/repo/.cursor/rules/A.mdc": "z"}, nil},

		{"rules below the root", []client.Client{client.Claude(), client.Cursor(), client.Copilot()}, map[string]string{
			"/repo/.claude/rules/a.md": "x\u202e", "/repo/x/.claude/rules/b.md": "---\npaths: \"{\"\n---\nx\u202e @./none", "/repo/x/y/.cursor/rules/c.md": "x", "/repo/x/y/.cursor/rules/sub/d.mdc": "---\nglobs: ../z/**\n---\nx", "/repo/x/y/.cursor/rules/e..f.mdc": "x",
			"/repo/x/.github/instructions/g.instructions.md": "x\u202e", "/repo/x/.claude/h.md": "x\u202e"},
			[]string{".claude/rules/a.md:1:2 INVISIBLE_CHARACTER", "x/.claude/rules/b.md:2:1 RULE_GLOB_INVALID", "x/.claude/rules/b.md:4:0 IMPORT_NOT_FOLLOWED", "x/.claude/rules/b.md:4:2 INVISIBLE_CHARACTER",
				"x/y/.cursor/rules/c.md:0:0 EXTENSION_NOT_READ", "x/y/.cursor/rules/e..f.mdc:0:0 INVALID_RULE_NAME", "x/y/.cursor/rules/sub/d.mdc:2:1 RULE_GLOB_INVALID"}},
		{"rules of directories that belong to others", []client.Client{client.Cursor()}, map[string]string{"/repo/.gitignore": "build/\n", "/repo/build/.cursor/rules/a.mdc": "a\u202e", "/repo/node_modules/x/.cursor/rules/a.mdc": "a\u202e", "/repo/x/.cursor/rules/a.mdc": "a\u202e"},
			[]string{"x/.cursor/rules/a.mdc:1:2 INVISIBLE_CHARACTER"}},
		{"directories that belong to others", nil, map[string]string{"/repo/.gitignore": "build/\n", "/repo/build/AGENTS.md": "a\u202e", "/repo/node_modules/x/AGENTS.md": "a\u202e", "/repo/.git/AGENTS.md": "a\u202e", "/repo/.hidden/AGENTS.md": "a\u202e"},
			[]string{".hidden/AGENTS.md:1:2 INVISIBLE_CHARACTER"}},
	} {
		t.Run(tt.behavior, func(t *testing.T) {
			opts := []toolshelf.Option{toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir()}
			if tt.rows != nil {
				opts = append(opts, toolshelf.WithInstructions(tt.rows...))
			}
			c := memory(t, tt.files, opts...)
			view := must.Get(c.View(toolshelf.WithCommandFilter(func(toolshelf.CommandInfo) bool { return false })))(t)
			for _, c := range []*toolshelf.Catalog{c, view} {
				must.Match(t, "result", tt.want, linted(t, c))
			}
		})
	}
}

func TestLintChecksInstructionsAboveTheRoot(t *testing.T) {
	files := map[string]string{"/team/.git/HEAD": "", "/team/AGENTS.md": "a", "/team/CLAUDE.md": "b", "/team/repo/AGENTS.md": "c", "/team/other/AGENTS.md": "d\u202e"}
	open := func(opts ...toolshelf.Option) *toolshelf.Catalog {
		return catalogtest.Open(t, append(opts, toolshelf.WithFs(catalogtest.Memory(t, files)), toolshelf.WithRoot("/team/repo"), toolshelf.WithHome(""), toolshelf.WithInstructions(client.OpenCode()))...)
	}
	if got := linted(t, open()); got != nil {
		t.Errorf("got %q", got)
	}
	if got := linted(t, open(toolshelf.WithParents(""))); !slices.Equal(got, []string{"../CLAUDE.md:0:0 SHADOWED"}) {
		t.Errorf("with parents: got %q", got)
	}
}

func TestLintOfInstructionsThatCannotBeRead(t *testing.T) {
	dir := catalogtest.Disk(t, map[string]string{"secret.md": "a\u202e", "root/x/y.md": "", "root/AGENTS.md": strings.Repeat("x", 2000), "root/ok/CLAUDE.md": "a\u202e"})
	for link, target := range map[string]string{"root/x/AGENTS.md": "../../secret.md", "root/ok/AGENTS.md": "CLAUDE.md"} {
		hosttest.Symlink(t, filepath.FromSlash(target), filepath.Join(dir, filepath.FromSlash(link)))
	}
	c := catalogtest.Open(t, toolshelf.WithRoot(filepath.Join(dir, "root")), toolshelf.WithHome(""), toolshelf.WithMaxFileSize(1000))
	found := must.Get(c.Lint(t.Context()))(t)
	var got []string
	for _, d := range found {
		got = append(got, string(d.Severity)+" "+d.Path+" "+string(d.Code))
	}
	// The walk finds no link that leads out; a call for a file in the directory reports the link.
	must.Match(t, "result", []string{"error AGENTS.md FILE_TOO_LARGE", "warning ok/AGENTS.md INVISIBLE_CHARACTER"}, got)
}

func TestLintOfManyInstructions(t *testing.T) {
	files := map[string]string{}
	for i := range 2100 {
		files[fmt.Sprintf("/repo/d%04d/AGENTS.md", i)] = "x\u202e"
	}
	c := memory(t, files)
	got := linted(t, c)
	if len(got) != 2001 || got[0] != ".:0:0 TOO_MANY_FILES" || got[2000] != "d1999/AGENTS.md:1:2 INVISIBLE_CHARACTER" {
		t.Errorf("%d diagnostics, %q", len(got), got[:1])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Lint(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestLintOfManyRules(t *testing.T) {
	files := map[string]string{"/repo/z/AGENTS.md": "x\u202e"}
	for i := range 2100 {
		files[fmt.Sprintf("/repo/.cursor/rules/%04d.mdc", i)] = "x"
	}
	if got := linted(t, memory(t, files, toolshelf.WithInstructions(client.Cursor()))); !slices.Equal(got, []string{"z/AGENTS.md:1:2 INVISIBLE_CHARACTER"}) {
		t.Errorf("rules of the root: %d diagnostics, %q", len(got), got[:min(1, len(got))])
	}
	for i := range 2100 {
		files[fmt.Sprintf("/repo/d%04d/.cursor/rules/r.mdc", i)] = "x\u202e"
	}
	if got := linted(t, memory(t, files, toolshelf.WithInstructions(client.Cursor()))); len(got) != 2001 || got[0] != ".:0:0 TOO_MANY_FILES" {
		t.Errorf("rules below the root: %d diagnostics, %q", len(got), got[:min(1, len(got))])
	}
}

func TestLintOfHostileInstructions(t *testing.T) {
	files := map[string]string{
		"/repo/CLAUDE.md": strings.Repeat("@none.md ", 5000), "/repo/x/CLAUDE.md": strings.Repeat("@../CLAUDE.md ", 2000),
		"/repo/.claude/rules/a.md": "---\npaths: " + strings.Repeat("../x, ", 5000) + "x\n---\n" + strings.Repeat("@none.md ", 5000),
	}
	got := linted(t, memory(t, files, toolshelf.WithInstructions(client.Claude())))
	if len(got) == 0 || len(got) > 300 {
		t.Errorf("%d diagnostics", len(got))
	}
}
