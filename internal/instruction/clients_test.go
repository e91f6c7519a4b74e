package instruction_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

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
	must.Match(t, "rules of the root", []string{"z/AGENTS.md:1:2 INVISIBLE_CHARACTER"},
		linted(t, memory(t, files, toolshelf.WithInstructions(client.Cursor()))))
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
