package instruction_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// without refuses the instructions that contain a text.
func without(text string) toolshelf.Filter {
	return toolshelf.WithInstructionFilter(func(i toolshelf.Instruction) bool { return !strings.Contains(i.Text, text) })
}

func TestAViewShowsTheInstructionsThatItsFilterKeeps(t *testing.T) {
	fsys := catalogtest.Memory(t, map[string]string{"/repo/AGENTS.md": "Root.", "/repo/x/AGENTS.md": "Secret.", "/repo/.cursor/rules/a.mdc": "---\nalwaysApply: true\n---\nSecret.", "/repo/.cursor/rules/b.mdc": "---\ndescription: d\n---\nOpen."})
	c := catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithInstructions(client.Cursor()))
	view := must.Get(c.View(without("Secret")))(t)
	want := []string{"AGENTS.md", ".cursor/rules/b.mdc"}
	must.Match(t, "the view", want, pathsOf(t, view, "x"))
	if p := promptOf(t, view, "x", toolshelf.Budget(150)); strings.Contains(p.Text, "ecret") || slices.Contains(p.Dropped, "x/AGENTS.md") {
		t.Errorf("the prompt of the view: %+v", p)
	}
	must.Equal(t, "the catalog", 4, len(pathsOf(t, c, "x")))
	inner := must.Get(view.View(toolshelf.WithInstructionFilter(func(i toolshelf.Instruction) bool { return i.Mode == toolshelf.Always })))(t)
	must.Match(t, "a view of the view", want[:1], pathsOf(t, inner, "x"))
	if got := pathsOf(t, catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithInstructions(client.Cursor()), without("Secret")), "x"); !slices.Equal(got, want) {
		t.Errorf("a catalog with a filter has %q", got)
	}
	// The returned content decides.
	for file, text := range map[string]string{"/repo/x/AGENTS.md": "Open.", "/repo/AGENTS.md": "Secret."} {
		must.Do(t, afero.WriteFile(fsys, file, []byte(text), 0o644))
	}
	must.Match(t, "after a change, the view", []string{"x/AGENTS.md", ".cursor/rules/b.mdc"},
		pathsOf(t, view, "x"))
	must.Fail(c.View(toolshelf.WithInstructionFilter(nil)))(t, "a nil function", toolshelf.ErrInvalidOption)
}

// On a filesystem that ignores letter case, both paths name one file.
func TestARefusedInstructionIsNoImportInAnotherLetterCase(t *testing.T) {
	root := catalogtest.Disk(t, map[string]string{"CLAUDE.md": "@X/Claude.md", "x/CLAUDE.md": "Secret.", "X/Claude.md": "Secret.", "x/y/CLAUDE.md": "Near."})
	c := catalogtest.Open(t, toolshelf.WithRoot(root), toolshelf.WithHome(""), toolshelf.WithInstructions(client.Claude()),
		toolshelf.WithInstructionFilter(func(i toolshelf.Instruction) bool { return i.Path != "x/CLAUDE.md" }))
	list := instructions(t, c, "x/y", toolshelf.Imports(0))
	if len(list) != 2 || list[0].Text != "@X/Claude.md" || list[0].Imports != nil || list[0].Diagnostics != nil {
		t.Errorf("got %+v", list)
	}
}

// On a filesystem that ignores letter case, the path of a call selects the instructions of the
// directories, by their listed names.
func TestTheLetterCaseOfACallSelectsNoOtherInstruction(t *testing.T) {
	files := map[string]string{"/repo/CLAUDE.md": "Top.", "/repo/src/CLAUDE.md": "Secret.", "/repo/src/ΔIR/CLAUDE.md": "Near.", "/repo/src/ΔIR/a.go": "", "/repo/.claude/rules/r.md": "---\npaths: src/ΔIR/a.go\n---\nRule."}
	c := catalogtest.Open(t, toolshelf.WithFs(catalogtest.Folding{Fs: catalogtest.Memory(t, files)}), toolshelf.WithRoot("/repo"), toolshelf.WithHome(""), toolshelf.WithInstructions(client.Claude()))
	view := must.Get(c.View(toolshelf.WithInstructionFilter(func(i toolshelf.Instruction) bool { return i.Path != "src/CLAUDE.md" })))(t)
	all := []string{"CLAUDE.md", "src/CLAUDE.md", "src/ΔIR/CLAUDE.md", ".claude/rules/r.md"}
	for _, path := range []string{"src/ΔIR/a.go", "SRC/δir/A.go", "Src/ΔIr/A.GO"} {
		must.Match(t, fmt.Sprintf("%s: paths", path), all, pathsOf(t, c, path))
		must.Match(t, fmt.Sprintf("%s: paths with the filter", path),
			slices.Delete(slices.Clone(all), 1, 2), pathsOf(t, view, path))
	}
	must.Match(t, "a new file: paths", all[:3], pathsOf(t, c, "SRC/δir/NEW.go"))
}

func TestOnChangeReportsRules(t *testing.T) {
	fsys := catalogtest.Memory(t, map[string]string{"/repo/AGENTS.md": "a", "/repo/.cursor/rules/a.mdc": "a", "/repo/.cursor/rules/b.mdc": "b", "/repo/.claude/rules/a.md": "a", "/repo/.claude/rules/s.md": "Secret.", "/home/me/.claude/rules/h.md": "h"})
	c := catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithHome("/home/me"), toolshelf.WithInstructions(client.Cursor(), client.Claude()))
	view := must.Get(c.View(without("Secret")))(t)
	pathsOf(t, c, ".")
	type heard struct {
		from   string
		change toolshelf.Change
	}
	changes := make(chan heard, 10)
	for name, from := range map[string]*toolshelf.Catalog{"catalog": c, "view": view} {
		defer from.OnChange(func(change toolshelf.Change) { changes <- heard{name, change} })()
	}
	for file, text := range map[string]string{"/repo/.cursor/rules/b.mdc": "changed", "/repo/.cursor/rules/sub/a.mdc": "new", "/repo/.cursor/rules/s.mdc": "Secret.", "/repo/AGENTS.md": "changed", "/home/me/.claude/rules/h.md": ""} {
		must.Do(t, afero.WriteFile(fsys, file, []byte(text), 0o644))
	}
	for _, file := range []string{"/repo/.claude/rules/a.md", "/repo/.claude/rules/s.md"} {
		must.Do(t, fsys.Remove(file))
	}
	pathsOf(t, c, ".")
	got := map[string]toolshelf.Change{}
	for range 2 {
		h := <-changes
		got[h.from] = h.change
	}
	want := map[string]toolshelf.Change{
		"catalog": {Instructions: toolshelf.Names{Added: []string{".cursor/rules/s.mdc", ".cursor/rules/sub/a.mdc"}, Removed: []string{".claude/rules/a.md", ".claude/rules/s.md"}, Changed: []string{".cursor/rules/b.mdc", "~/.claude/rules/h.md"}}},
		"view":    {Instructions: toolshelf.Names{Added: []string{".cursor/rules/sub/a.mdc"}, Removed: []string{".claude/rules/a.md", "~/.claude/rules/h.md"}, Changed: []string{".cursor/rules/b.mdc"}}},
	}
	must.Match(t, "result", want, got)
}

func TestAWatchReportsAChangedRuleWithoutACall(t *testing.T) {
	dir := catalogtest.Disk(t, map[string]string{".cursor/rules/a.mdc": "a"})
	c := catalogtest.Open(t, toolshelf.WithRoot(dir), toolshelf.WithHome(""), toolshelf.WithInstructions(client.Cursor()), toolshelf.WithWatch())
	view := must.Get(c.View(without("Secret")))(t)
	changes := make(chan toolshelf.Change, 10)
	defer view.OnChange(func(change toolshelf.Change) { changes <- change })()
	must.Do(t, os.Remove(filepath.Join(dir, ".cursor", "rules", "a.mdc")))
	must.Match(t, "result", toolshelf.Change{Instructions: toolshelf.Names{Removed: []string{".cursor/rules/a.mdc"}}}, <-changes)
}

// A call asks for a directory, and the watch reports the single files of the directory and above to
// the catalog or the view of the call.
func TestAWatchReportsSingleFilesOfDirectoriesThatACallHasAskedFor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux watches single files")
	}
	dir := must.Get(filepath.EvalSymlinks(catalogtest.Disk(t, map[string]string{"AGENTS.md": "a", "x/AGENTS.md": "b", "y/AGENTS.md": "c", "z/AGENTS.md": "d", "v/f.go": ""})))(t)
	c := catalogtest.Open(t, toolshelf.WithRoot(dir), toolshelf.WithHome(""), toolshelf.WithInstructions(client.Cursor()), toolshelf.WithWatch())
	view := must.Get(c.View(without("Secret")))(t)
	pathsOf(t, c, "x/f.go")
	pathsOf(t, c, "x/f.go", toolshelf.Imports(0))
	pathsOf(t, view, "x/g.go")
	pathsOf(t, view, "y")
	told := map[string]chan toolshelf.Names{"catalog": make(chan toolshelf.Names, 10), "view": make(chan toolshelf.Names, 10)}
	for name, from := range map[string]*toolshelf.Catalog{"catalog": c, "view": view} {
		defer from.OnChange(func(change toolshelf.Change) { told[name] <- change.Instructions })()
	}
	pathsOf(t, c, "v/f.go")
	put := func(text, file string) func() error {
		return func() error { // a file that is complete from the beginning
			other := filepath.Join(dir, "new")
			return errors.Join(os.WriteFile(other, []byte(text), 0o644), os.Rename(other, filepath.Join(dir, file)))
		}
	}
	for _, step := range []struct {
		name          string
		change        func() error
		catalog, view toolshelf.Names
	}{
		{"changed", put("new", "x/AGENTS.md"), toolshelf.Names{Changed: []string{"x/AGENTS.md"}}, toolshelf.Names{Changed: []string{"x/AGENTS.md"}}},
		{"refused by the view", put("Secret.", "x/AGENTS.md"), toolshelf.Names{Changed: []string{"x/AGENTS.md"}}, toolshelf.Names{Removed: []string{"x/AGENTS.md"}}},
		{"refused again", put("Secret too.", "x/AGENTS.md"), toolshelf.Names{Changed: []string{"x/AGENTS.md"}}, toolshelf.Names{}},
		{"kept again", put("open", "x/AGENTS.md"), toolshelf.Names{Changed: []string{"x/AGENTS.md"}}, toolshelf.Names{Added: []string{"x/AGENTS.md"}}},
		{"asked for by the view", put("new", "y/AGENTS.md"), toolshelf.Names{}, toolshelf.Names{Changed: []string{"y/AGENTS.md"}}},
		{"asked for by no call", put("new", "z/AGENTS.md"), toolshelf.Names{}, toolshelf.Names{}},
		{"above the directory", func() error { return os.Remove(filepath.Join(dir, "AGENTS.md")) }, toolshelf.Names{Removed: []string{"AGENTS.md"}}, toolshelf.Names{Removed: []string{"AGENTS.md"}}},
		{"asked for after OnChange", put("e", "v/AGENTS.md"), toolshelf.Names{Added: []string{"v/AGENTS.md"}}, toolshelf.Names{}},
		{"the directory", func() error { return os.RemoveAll(filepath.Join(dir, "x")) }, toolshelf.Names{Removed: []string{"x/AGENTS.md"}}, toolshelf.Names{Removed: []string{"x/AGENTS.md"}}},
	} {
		must.Do(t, step.change())
		for name, want := range map[string]toolshelf.Names{"catalog": step.catalog, "view": step.view} {
			if cmp.Equal(want, toolshelf.Names{}) {
				continue // a report would be the report of a later step
			}
			select {
			case got := <-told[name]:
				must.Match(t, fmt.Sprintf("%s, %s", step.name, name), want, got)
			case <-time.After(catalogtest.Patience):
				t.Fatalf("%s: no report to the %s", step.name, name)
			}
		}
	}
}

// A gate allows the items of its map.
type gate struct{ items sync.Map }

func (g *gate) Allowed(_ context.Context, i toolshelf.Item) bool {
	_, ok := g.items.Load(i)
	return ok
}

// approve allows all pending instructions, and returns their names.
func (g *gate) approve(t *testing.T, c *toolshelf.Catalog) (names []string) {
	t.Helper()
	pending := must.Get(c.Pending(t.Context()))(t)
	for _, p := range pending {
		if p.Kind != toolshelf.KindInstruction || p.Digest == "" {
			t.Errorf("pending: %+v", p.Item)
		}
		g.items.Store(p.Item, true)
		names = append(names, p.Name)
	}
	return names
}

const gatedRule = "---\nalwaysApply: true\n---\nRule."

func TestARefusedInstructionIsNowhere(t *testing.T) {
	for _, tt := range []struct {
		name   string
		layers []string
		before []string // the instructions before the approval
	}{
		{"all layers", nil, []string{}},
		{"single files", []string{"."}, []string{".cursor/rules/a.mdc", "x/.cursor/rules/b.mdc"}},
		{"rules", []string{".cursor/rules"}, []string{"../AGENTS.md", "AGENTS.md", "x/AGENTS.md"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := catalogtest.Memory(t, map[string]string{"/w/.git/HEAD": "", "/w/AGENTS.md": "Above.", "/w/repo/AGENTS.md": "Root.", "/w/repo/x/AGENTS.md": "Below.", "/w/repo/.cursor/rules/a.mdc": gatedRule, "/w/repo/x/.cursor/rules/b.mdc": gatedRule})
			g := new(gate)
			c := catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/w/repo"), toolshelf.WithInstructions(client.Cursor(), client.Codex()), toolshelf.WithParents(""), toolshelf.WithGate(g, tt.layers...))
			must.Match(t, "before the approval", tt.before, pathsOf(t, c, "x"), cmpopts.EquateEmpty())
			must.Match(t, "the prompt before the approval", tt.before, promptOf(t, c, "x").Included,
				cmpopts.EquateEmpty())
			g.approve(t, c)
			must.Equal(t, "after the approval", 5, len(pathsOf(t, c, "x")))
		})
	}
}

func TestAFileOfTheUserHasNoGate(t *testing.T) {
	fsys := catalogtest.Memory(t, map[string]string{"/home/.claude/CLAUDE.md": "User.", "/repo/CLAUDE.md": "Project."})
	c := catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithHome("/home"), toolshelf.WithInstructions(client.Claude()), toolshelf.WithGate(new(gate)))
	must.Match(t, `pathsOf(t, c, ".")`, []string{"~/.claude/CLAUDE.md"}, pathsOf(t, c, "."))
}

func TestAChangedInstructionOrImportNeedsAnotherApproval(t *testing.T) {
	files := map[string]string{"/repo/CLAUDE.md": "See @docs/a.md", "/repo/docs/a.md": "A @b.md", "/repo/docs/b.md": "B.", "/repo/.claude/rules/r.md": "Rule."}
	for file, name := range map[string]string{"/repo/CLAUDE.md": "CLAUDE.md", "/repo/docs/a.md": "CLAUDE.md", "/repo/docs/b.md": "CLAUDE.md", "/repo/.claude/rules/r.md": ".claude/rules/r.md"} {
		for _, hops := range []int{0, 1, 2} {
			t.Run(fmt.Sprint(file, hops), func(t *testing.T) {
				fsys, g := catalogtest.Memory(t, files), new(gate)
				c := catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithInstructions(client.Claude()), toolshelf.WithGate(g))
				g.approve(t, c)
				var opts []toolshelf.InstructionOption
				if hops > 0 {
					opts = append(opts, toolshelf.Imports(hops))
				}
				list := func() (names []string) {
					all := must.Get(c.Instructions(t.Context(), ".", opts...))(t)
					for _, i := range all {
						if names = append(names, i.Path); strings.Contains(i.Text, "Evil") {
							t.Errorf("got %q", i.Text)
						}
					}
					return names
				}
				if got := list(); len(got) != 2 {
					t.Fatalf("after the approval: %q", got)
				}
				must.Do(t, afero.WriteFile(fsys, file, []byte("Evil."), 0o644))
				if got := list(); len(got) != 1 || slices.Contains(got, name) {
					t.Errorf("after the change: %q", got)
				}
				must.Match(t, "pending", []string{name}, g.approve(t, c))
			})
		}
	}
}

func TestPendingHasTheFilesThatAnInstructionImports(t *testing.T) {
	fsys := catalogtest.Memory(t, map[string]string{"/repo/CLAUDE.md": "See @docs/a.md", "/repo/docs/a.md": "A.\n"})
	c := catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithInstructions(client.Claude()), toolshelf.WithGate(new(gate)))
	pending := must.Get(c.Pending(t.Context()))(t)
	list := fmt.Sprintf("instruction\n%x 9 CLAUDE.md\n%x 9 docs/a.md\n", sha256.Sum256([]byte("See @docs/a.md")), sha256.Sum256([]byte("A.\n")))
	want := []toolshelf.Pending{{Item: toolshelf.Item{Kind: toolshelf.KindInstruction, Name: "CLAUDE.md", Layer: "/repo", Rules: "claude", Digest: fmt.Sprintf("instruction-sha256:%x", sha256.Sum256([]byte(list)))},
		Path: "/repo/CLAUDE.md", New: map[string]string{"CLAUDE.md": "See @docs/a.md", "docs/a.md": "A.\n"}}}
	for i := range pending {
		pending[i].Findings = nil
	}
	must.Match(t, "result", want, pending)
}

// The limit of a client cuts the path of an import, so the text has an import of a file that the
// gate has not seen.
func TestACutThatNamesAnotherFileHasNoApproval(t *testing.T) {
	row := client.Client{Name: "short", ImportHops: 2, InstructionBytes: 10, Instructions: []client.Place{{Dir: ".", Pattern: "A.md"}}}
	fsys, g := catalogtest.Memory(t, map[string]string{"/repo/A.md": "See @a.md.txt", "/repo/a.md.txt": "Good.", "/repo/a.md": "Evil."}), new(gate)
	c := catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithInstructions(row), toolshelf.WithGate(g))
	g.approve(t, c)
	all, err := c.Instructions(t.Context(), ".", toolshelf.Imports(0))
	if err != nil || len(all) != 0 {
		t.Errorf("got %+v, %v", all, err)
	}
}

func TestARefusedRuleCausesNoChange(t *testing.T) {
	fsys, g := catalogtest.Memory(t, map[string]string{"/repo/.cursor/rules/a.mdc": gatedRule}), new(gate)
	c := catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithInstructions(client.Cursor()), toolshelf.WithGate(g))
	g.approve(t, c)
	pathsOf(t, c, ".")
	changes := make(chan toolshelf.Change, 10)
	defer c.OnChange(func(change toolshelf.Change) { changes <- change })()
	must.Do(t, afero.WriteFile(fsys, "/repo/.cursor/rules/b.mdc", []byte(gatedRule), 0o644))
	pathsOf(t, c, ".")
	must.Do(t, fsys.Remove("/repo/.cursor/rules/a.mdc"))
	pathsOf(t, c, ".")
	if got := <-changes; !slices.Equal(got.Instructions.Removed, []string{".cursor/rules/a.mdc"}) || len(got.Instructions.Added) > 0 {
		t.Errorf("got %+v", got.Instructions)
	}
}
