package instruction_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
)

// refusing is a gate that refuses everything.
type refusing struct{ toolshelf.Gate }

func (refusing) Allowed(context.Context, toolshelf.Item) bool { return false }

// costsOf returns the costs of the calls that read instructions. The number of the reads of a file
// does not depend on the other files.
func costsOf(t *testing.T, files map[string]string) map[string]catalogtest.Cost {
	t.Helper()
	costs := map[string]catalogtest.Cost{}
	for _, name := range []string{"Instructions", "InstructionsPrompt", "Pending", "Lint"} {
		reads := &catalogtest.Reads{Fs: catalogtest.Memory(t, files)}
		opts := []toolshelf.Option{toolshelf.WithFs(reads), toolshelf.WithRoot("/repo"), toolshelf.WithHome(""), toolshelf.WithInstructions(client.Claude())}
		if name == "Pending" {
			opts = append(opts, toolshelf.WithGate(refusing{}))
		}
		c := catalogtest.Open(t, opts...)
		if _, err := c.Instructions(t.Context(), "none"); err != nil && name != "Pending" { // the scan
			t.Fatal(err)
		}
		returned := 0
		add := func(texts ...string) {
			for _, text := range texts {
				returned += len(text)
			}
		}
		found := func(all []toolshelf.Diagnostic) {
			for _, d := range all {
				add(d.Path, d.Message, d.Suggestion)
			}
		}
		reads.Take()
		var err error
		cost := catalogtest.CostOf(func() {
			switch name {
			case "Instructions":
				var all []toolshelf.Instruction
				all, err = c.Instructions(t.Context(), "x", toolshelf.Imports(0))
				for _, i := range all {
					add(i.Text)
					found(i.Diagnostics)
				}
			case "InstructionsPrompt":
				var prompt toolshelf.PromptList
				prompt, err = c.InstructionsPrompt(t.Context(), "x", toolshelf.Imports(0), toolshelf.Budget(1000))
				add(prompt.Text)
			case "Pending":
				var all []toolshelf.Pending
				all, err = c.Pending(t.Context())
				for _, p := range all {
					found(p.Findings)
				}
			default:
				var all []toolshelf.Diagnostic
				all, err = c.Lint(t.Context())
				found(all)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for file, n := range reads.Take() {
			if read += min(n, len(files[file])); n > 3*len(files[file]) { // a scan, the text, and an import
				t.Errorf("%s: %d bytes are read from %s with %d bytes", name, n, file, len(files[file]))
			}
		}
		t.Run(name, func(t *testing.T) { cost.Bounded(t, read+returned) })
		costs[name] = cost
	}
	return costs
}

func TestHostileImportsHaveBounds(t *testing.T) {
	shared := strings.Repeat("Text.\n", 1<<20/6)
	for name, files := range map[string]func(n int) map[string]string{
		"imports of the home directory": func(n int) map[string]string { return map[string]string{"CLAUDE.md": strings.Repeat("@~/x\n", n/5)} },
		"absolute imports":              func(n int) map[string]string { return map[string]string{"CLAUDE.md": strings.Repeat("@/e/x\n", n/6)} },
		"imports that lead outside":     func(n int) map[string]string { return map[string]string{"CLAUDE.md": strings.Repeat("@../x\n", n/6)} },
		"a cycle": func(n int) map[string]string {
			return map[string]string{"CLAUDE.md": strings.Repeat("@CLAUDE.md ", n/11)}
		},
		"missing files": func(n int) map[string]string { return map[string]string{"CLAUDE.md": strings.Repeat("@none.md ", n/9)} },
		"a file that exists": func(n int) map[string]string {
			return map[string]string{"CLAUDE.md": strings.Repeat("@a.md ", n/6), "a.md": "a"}
		},
		"long paths": func(n int) map[string]string {
			return map[string]string{"CLAUDE.md": strings.Repeat("@~/"+strings.Repeat("x\x7f", 500)+" ", n/1004)}
		},
		"code": func(n int) map[string]string {
			return map[string]string{"CLAUDE.md": strings.Repeat("`@a.md` ", n/8), "a.md": "a"}
		},
		"a long chain with a cycle": func(n int) map[string]string {
			files := map[string]string{"CLAUDE.md": "@0.md"}
			for i := range n >> 12 {
				files[fmt.Sprint(i, ".md")] = fmt.Sprintf("@%d.md @CLAUDE.md %s", i+1, strings.Repeat("x", 4000))
			}
			return files
		},
		"rules that import a file": func(n int) map[string]string {
			files := map[string]string{"big.md": shared}
			for i := range n / 1000 {
				files[fmt.Sprintf(".claude/rules/%d.md", i)] = "@../../big.md     "
			}
			return files
		},
	} {
		t.Run(name, func(t *testing.T) {
			var costs [2]map[string]catalogtest.Cost
			for i := range costs {
				all := files(1 << 18 << (2 * i))
				costs[i] = costsOf(t, catalogtest.Below("/repo", all))
			}
			for _, call := range slices.Sorted(maps.Keys(costs[0])) {
				t.Run(call, func(t *testing.T) { costs[0][call].Linear(t, costs[1][call]) })
			}
		})
	}
}

// ruleOf returns a rule with globs.
func ruleOf(globs int, glob func(i int) string) string {
	var b strings.Builder
	b.WriteString("---\npaths:\n")
	for i := range globs {
		fmt.Fprintf(&b, "  - %q\n", glob(i))
	}
	return b.String() + "---\nText.\n"
}

func TestTheGlobsOfRulesAreCompiledOnce(t *testing.T) {
	costOf := func(globs int) (cold, warm catalogtest.Cost) {
		files := map[string]string{"/repo/main.go": ""}
		for n := range 50 {
			files[fmt.Sprintf("/repo/.claude/rules/%d.md", n)] = ruleOf(globs, func(i int) string { return fmt.Sprintf("dir%d/**/*.{go,mod}", i) })
		}
		c := memory(t, files, toolshelf.WithInstructions(client.Claude()))
		call := func() {
			if got := instructions(t, c, "main.go"); len(got) != 0 {
				t.Errorf("%d rules", len(got))
			}
		}
		cold = catalogtest.CostOf(call)
		return cold, catalogtest.CostOf(call)
	}
	cold, warm := costOf(1000)
	if _, few := costOf(10); warm.Allocations > 2*few.Allocations || 100*warm.Allocations > cold.Allocations {
		t.Errorf("%+v with 1,000 globs a rule, and first %+v; %+v with 10 globs a rule", warm, cold, few)
	}
}

func TestTheGlobsOfACallHaveALimit(t *testing.T) {
	files := map[string]string{}
	for n := range 40 {
		files[fmt.Sprintf("/repo/.claude/rules/%02d.md", n)] = ruleOf(60, func(i int) string { return fmt.Sprintf("a/**/%s%d*.go", strings.Repeat("*a", 100), i) })
	}
	files["/repo/.claude/rules/00.md"] = ruleOf(1, func(int) string { return "a/**/*.go" })
	name := strings.Repeat("a/", 200) + "main.go"
	got := instructions(t, memory(t, files, toolshelf.WithInstructions(client.Claude())), name)
	if len(got) != 2 || got[0].Text != "Text.\n" || got[1].Text != "" || got[1].Digest != "" || len(got[1].Diagnostics) != 1 {
		t.Fatalf("%d rules, %+v", len(got), got)
	}
	if d := got[1].Diagnostics[0]; d.Code != agentmd.DiagRuleGlobInvalid || !strings.HasSuffix(d.Message, "are not compared with the path: the globs of all rules take too many steps") {
		t.Errorf("got %+v", d)
	}
}
