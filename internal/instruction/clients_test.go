package instruction_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// monorepo has the instructions of six clients in twelve directories of a project, and of the user.
var monorepo = map[string]string{
	"/repo/.git/HEAD": "ref: refs/heads/main\n",

	"/repo/AGENTS.md": "Root.\n", "/repo/CLAUDE.md": "Root for Claude.\n", "/repo/CLAUDE.local.md": "Mine.\n", "/repo/GEMINI.md": "Root for Gemini.\n",
	"/repo/main.go": "package main\n", "/repo/README.md": "# Repo\n",

	"/repo/.claude/CLAUDE.md":          "Hidden.\n",
	"/repo/.claude/rules/always.md":    "Always.\n",
	"/repo/.claude/rules/README.md":    "---\npaths: [\"docs/**\"]\n---\nA rule too.\n",
	"/repo/.claude/rules/go.md":        "---\npaths:\n  - \"**/*.go\"\n---\nGo.\n",
	"/repo/.claude/rules/web/react.md": "---\npaths: web/**/*.{ts,tsx}, *.md\n---\nReact.\n",

	"/repo/.cursor/rules/always.mdc": "---\ndescription:\nglobs:\nalwaysApply: true\n---\nAlways.\n",
	"/repo/.cursor/rules/ask.mdc":    "---\ndescription: Migrations of the database\nglobs:\nalwaysApply: false\n---\nMigrate.\n",
	"/repo/.cursor/rules/go.mdc":     "---\nglobs: **/*.go\nalwaysApply: false\n---\nGo.\n",
	"/repo/.cursor/rules/manual.mdc": "By hand.\n",
	"/repo/.cursor/rules/top.mdc":    "---\nglobs: *.md, *.txt\n---\nTexts.\n",

	"/repo/.github/copilot-instructions.md":                       "Copilot.\n",
	"/repo/.github/instructions/api/api.instructions.md":          "---\napplyTo: \"services/api/**,docs/*.md\"\n---\nAPI.\n",
	"/repo/.github/instructions/ask.instructions.md":              "---\ndescription: Releases\n---\nRelease.\n",
	"/repo/.github/instructions/go.instructions.md":               "---\napplyTo: '**/*.go'\n---\nGo.\n",
	"/repo/.github/instructions/notes.md":                         "Not an instruction.\n",
	"/repo/docs/AGENTS.md":                                        "Docs.\n",
	"/repo/docs/AGENTS.override.md":                               " \n",
	"/repo/docs/guide.md":                                         "# Guide\n",
	"/repo/empty/x.md":                                            "x\n",
	"/repo/services/AGENTS.md":                                    "Services.\n",
	"/repo/services/AGENTS.override.md":                           "Services, mine.\n",
	"/repo/services/run.go":                                       "package services\n",
	"/repo/services/api/AGENTS.md":                                "API.\n",
	"/repo/services/api/CLAUDE.md":                                "API for Claude.\n",
	"/repo/services/api/main.go":                                  "package main\n",
	"/repo/services/api/.claude/rules/api.md":                     "API rules.\n",
	"/repo/services/api/.claude/rules/handlers.md":                "---\npaths: handlers/**\n---\nHandlers.\n",
	"/repo/services/api/.cursor/rules/api.mdc":                    "---\nglobs: *.go\n---\nAPI.\n",
	"/repo/services/api/.github/instructions/api.instructions.md": "---\napplyTo: '**'\n---\nRead by nobody.\n",
	"/repo/services/api/handlers/GEMINI.md":                       "Handlers.\n",
	"/repo/services/api/handlers/.github/copilot-instructions.md": "Handlers for Copilot.\n",
	"/repo/services/api/handlers/user.go":                         "package handlers\n",
	"/repo/web/CLAUDE.md":                                         "Web.\n",
	"/repo/web/index.html":                                        "<html>\n",
	"/repo/web/.cursor/rules/always.mdc":                          "---\nalwaysApply: true\n---\nWeb.\n",
	"/repo/web/.cursor/rules/ask.mdc":                             "---\ndescription: Styles\n---\nStyles.\n",
	"/repo/web/src/AGENTS.md":                                     "Sources.\n",
	"/repo/web/src/app.tsx":                                       "export {}\n",

	"/home/me/.claude/CLAUDE.md":                "Of the user.\n",
	"/home/me/.claude/rules/ts.md":              "---\npaths: \"**/*.ts\"\n---\nTypeScript.\n",
	"/home/me/.codex/AGENTS.md":                 "Of the user.\n",
	"/home/me/.copilot/copilot-instructions.md": "Of the user.\n",
	"/home/me/.gemini/GEMINI.md":                "Of the user.\n",
	"/home/me/.config/opencode/AGENTS.md":       "Of the user.\n",
	"/home/me/AGENTS.md":                        "Read by nobody.\n",
}

// TestInstructionsOfSixClients compares the lists of Instructions with lists that the documentation
// of each client gives; the sources are beside the rows of package client. Each list begins with
// the files of the first lines, and each path adds the files of its line, in which "+" separates
// the files on the way, the rules that match, and rules on request.
func TestInstructionsOfSixClients(t *testing.T) {
	type clientLists struct {
		first, last string // of all paths: before the files on the way, and the rules on request
		on          map[string]string
	}
	const goRule, tsRule = " + .claude/rules/go.md", " + .claude/rules/web/react.md"
	const api, handlers = "services/api/CLAUDE.md services/api/.claude/rules/api.md", " services/api/.claude/rules/handlers.md"
	const web, webAsk = "web/.cursor/rules/always.mdc", " + + web/.cursor/rules/ask.mdc"
	for name, want := range map[string]clientLists{
		"claude": {"~/.claude/CLAUDE.md CLAUDE.md .claude/CLAUDE.md CLAUDE.local.md .claude/rules/always.md", "", map[string]string{
			".": "", "README.md": tsRule, "main.go": goRule, "AGENTS.md": tsRule,
			"docs": " + .claude/rules/README.md", "docs/guide.md": " + .claude/rules/README.md .claude/rules/web/react.md", "docs/api/x.go": " + .claude/rules/README.md .claude/rules/go.md",
			"services": "", "services/run.go": goRule, "services/web/app.tsx": "",
			"services/api/main.go": api + goRule, "services/api/handlers": api + " +" + handlers, "services/api/handlers/user.go": api + goRule + handlers,
			"services/api/handlers/new/deep.go": api + goRule + handlers,
			"web":                               "web/CLAUDE.md", "web/index.html": "web/CLAUDE.md", "web/src/app.tsx": "web/CLAUDE.md" + tsRule, "web/src/lib/x.ts": "web/CLAUDE.md + ~/.claude/rules/ts.md .claude/rules/web/react.md",
			"web/README.md": "web/CLAUDE.md" + tsRule, "empty/x.md": tsRule}},
		"codex": {"~/.codex/AGENTS.md AGENTS.md", "", map[string]string{
			".": "", "README.md": "", "main.go": "", "AGENTS.md": "", "docs": "docs/AGENTS.md", "docs/guide.md": "docs/AGENTS.md", "docs/api/x.go": "docs/AGENTS.md",
			"services": "services/AGENTS.override.md", "services/run.go": "services/AGENTS.override.md", "services/web/app.tsx": "services/AGENTS.override.md",
			"services/api/main.go": "services/AGENTS.override.md services/api/AGENTS.md", "services/api/handlers": "services/AGENTS.override.md services/api/AGENTS.md",
			"services/api/handlers/user.go": "services/AGENTS.override.md services/api/AGENTS.md", "services/api/handlers/new/deep.go": "services/AGENTS.override.md services/api/AGENTS.md",
			"web": "", "web/index.html": "", "web/src/app.tsx": "web/src/AGENTS.md", "web/src/lib/x.ts": "web/src/AGENTS.md", "web/README.md": "", "empty/x.md": ""}},
		"copilot": {"~/.copilot/copilot-instructions.md .github/copilot-instructions.md AGENTS.md CLAUDE.md GEMINI.md", ".github/instructions/ask.instructions.md", map[string]string{
			".": "", "README.md": "", "main.go": " + .github/instructions/go.instructions.md", "AGENTS.md": "", "docs": "docs/AGENTS.md",
			"docs/guide.md": "docs/AGENTS.md + .github/instructions/api/api.instructions.md", "docs/api/x.go": "docs/AGENTS.md + .github/instructions/go.instructions.md",
			"services": "services/AGENTS.md", "services/run.go": "services/AGENTS.md + .github/instructions/go.instructions.md", "services/web/app.tsx": "services/AGENTS.md",
			"services/api/main.go":              "services/AGENTS.md services/api/AGENTS.md + .github/instructions/api/api.instructions.md .github/instructions/go.instructions.md",
			"services/api/handlers":             "services/AGENTS.md services/api/AGENTS.md services/api/handlers/.github/copilot-instructions.md + .github/instructions/api/api.instructions.md",
			"services/api/handlers/user.go":     "services/AGENTS.md services/api/AGENTS.md services/api/handlers/.github/copilot-instructions.md + .github/instructions/api/api.instructions.md .github/instructions/go.instructions.md",
			"services/api/handlers/new/deep.go": "services/AGENTS.md services/api/AGENTS.md services/api/handlers/.github/copilot-instructions.md + .github/instructions/api/api.instructions.md .github/instructions/go.instructions.md",
			"web":                               "", "web/index.html": "", "web/src/app.tsx": "web/src/AGENTS.md", "web/src/lib/x.ts": "web/src/AGENTS.md", "web/README.md": "", "empty/x.md": ""}},
		"cursor": {"AGENTS.md .cursor/rules/always.mdc", ".cursor/rules/ask.mdc .cursor/rules/manual.mdc", map[string]string{
			".": "", "README.md": " + .cursor/rules/top.mdc", "main.go": " + .cursor/rules/go.mdc", "AGENTS.md": " + .cursor/rules/top.mdc",
			"docs": "docs/AGENTS.md", "docs/guide.md": "docs/AGENTS.md", "docs/api/x.go": "docs/AGENTS.md + .cursor/rules/go.mdc",
			"services": "services/AGENTS.md", "services/run.go": "services/AGENTS.md + .cursor/rules/go.mdc", "services/web/app.tsx": "services/AGENTS.md",
			"services/api/main.go": "services/AGENTS.md services/api/AGENTS.md + .cursor/rules/go.mdc services/api/.cursor/rules/api.mdc", "services/api/handlers": "services/AGENTS.md services/api/AGENTS.md",
			"services/api/handlers/user.go": "services/AGENTS.md services/api/AGENTS.md + .cursor/rules/go.mdc", "services/api/handlers/new/deep.go": "services/AGENTS.md services/api/AGENTS.md + .cursor/rules/go.mdc",
			"web": web + webAsk, "web/index.html": web + webAsk, "web/src/app.tsx": web + " web/src/AGENTS.md" + webAsk, "web/src/lib/x.ts": web + " web/src/AGENTS.md" + webAsk, "web/README.md": web + webAsk, "empty/x.md": ""}},
		"gemini": {"~/.gemini/GEMINI.md GEMINI.md", "", map[string]string{
			".": "", "README.md": "", "main.go": "", "AGENTS.md": "", "docs": "", "docs/guide.md": "", "docs/api/x.go": "", "services": "", "services/run.go": "", "services/web/app.tsx": "",
			"services/api/main.go": "", "services/api/handlers": "services/api/handlers/GEMINI.md", "services/api/handlers/user.go": "services/api/handlers/GEMINI.md",
			"services/api/handlers/new/deep.go": "services/api/handlers/GEMINI.md",
			"web":                               "", "web/index.html": "", "web/src/app.tsx": "", "web/src/lib/x.ts": "", "web/README.md": "", "empty/x.md": ""}},
		"opencode": {"~/.config/opencode/AGENTS.md AGENTS.md", "", map[string]string{
			".": "", "README.md": "", "main.go": "", "AGENTS.md": "", "docs": "docs/AGENTS.md", "docs/guide.md": "docs/AGENTS.md", "docs/api/x.go": "docs/AGENTS.md",
			"services": "services/AGENTS.md", "services/run.go": "services/AGENTS.md", "services/web/app.tsx": "services/AGENTS.md",
			"services/api/main.go": "services/AGENTS.md services/api/AGENTS.md", "services/api/handlers": "services/AGENTS.md services/api/AGENTS.md",
			"services/api/handlers/user.go": "services/AGENTS.md services/api/AGENTS.md", "services/api/handlers/new/deep.go": "services/AGENTS.md services/api/AGENTS.md",
			"web": "web/CLAUDE.md", "web/index.html": "web/CLAUDE.md", "web/src/app.tsx": "web/CLAUDE.md web/src/AGENTS.md", "web/src/lib/x.ts": "web/CLAUDE.md web/src/AGENTS.md",
			"web/README.md": "web/CLAUDE.md", "empty/x.md": ""}},
	} {
		row := must.Get(client.Lookup(name))(t)
		if len(want.on) != 20 {
			t.Fatalf("%s: %d paths", name, len(want.on))
		}
		c := catalogtest.Open(t, toolshelf.WithFs(catalogtest.Memory(t, monorepo)), toolshelf.WithRoot("/repo"), toolshelf.WithHome("/home/me"), toolshelf.WithInstructions(row))
		for _, path := range slices.Sorted(maps.Keys(want.on)) {
			way, rules, _ := strings.Cut(want.on[path], "+")
			matched, requested, _ := strings.Cut(rules, "+")
			all := strings.Fields(want.first + " " + way + " " + matched + " " + want.last + " " + requested)
			if diff := cmp.Diff(all, pathsOf(t, c, path)); diff != "" {
				t.Errorf("%s, %s: -want +got\n%s", name, path, diff)
			}
		}
	}
}

// pathsOf returns the paths of the instructions for a path.
func pathsOf(t testing.TB, c *toolshelf.Catalog, path string, opts ...toolshelf.InstructionOption) []string {
	t.Helper()
	var all []string
	for _, i := range instructions(t, c, path, opts...) {
		all = append(all, i.Path)
	}
	return all
}

func instructions(t testing.TB, c *toolshelf.Catalog, path string, opts ...toolshelf.InstructionOption) []toolshelf.Instruction {
	t.Helper()
	return must.Get(c.Instructions(t.Context(), path, opts...))(t)
}

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
	must.Fail(c.Lint(ctx))(t, "error", context.Canceled)
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
