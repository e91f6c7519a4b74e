package instruction_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
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
	list := must.Get(c.Instructions(t.Context(), path, opts...))(t)
	return list
}
