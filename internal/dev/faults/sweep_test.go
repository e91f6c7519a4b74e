// Package faults_test fails each call of a filesystem, one after the other, and checks the results of a catalog: after a
// fault, a result is complete, or is an error with a code, or names the loss. docs/methods.md has the rule.
package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
)

// files are the files of each world.
func files() map[string]string {
	all := map[string]string{
		"AGENTS.md":                "Run the tests. @docs/style.md\n",
		"docs/style.md":            "Write short sentences.\n",
		"src/AGENTS.md":            "Return errors.\n",
		"src/CLAUDE.md":            "Return errors, too.\n",
		"src/main.go":              "package main\n\nfunc main() {}\n",
		"src/lib/lib.go":           "package lib\n",
		"src/lib/debug.log":        "ignored\n",
		"src/.gitignore":           "*.tmp\n",
		"src/a.tmp":                "ignored\n",
		".gitignore":               "*.log\n",
		".cursor/rules/go.mdc":     "---\nglobs: **/*.go\n---\nUse gofmt.\n",
		".cursor/rules/always.mdc": "---\nalwaysApply: true\n---\nAlways.\n",
		"reports/c1/c1_report_20260101_000000_v1.md": "Report.\n",
	}
	for i := range 5 {
		all[fmt.Sprintf("commands/c%d.md", i)] = fmt.Sprintf("---\ndescription: Command %d\n---\nDo %d with $1.\n", i, i)
		all[fmt.Sprintf("agents/a%d.md", i)] = fmt.Sprintf("---\nname: a%d\ndescription: Agent %d\ntools: Read\n---\nBe %d.\n", i, i, i)
		if i < 4 {
			all[fmt.Sprintf("skills/s%d/SKILL.md", i)] = fmt.Sprintf("---\nname: s%d\ndescription: Skill %d\n---\nKnow %d.\n", i, i, i)
			all[fmt.Sprintf("skills/s%d/scripts/run.py", i)] = "print()\n"
		}
	}
	for _, plugin := range []string{"one", "two"} {
		all["plugins/"+plugin+"/.claude-plugin/plugin.json"] = `{"name": "` + plugin + `", "version": "1.0.0"}`
		all["plugins/"+plugin+"/commands/go.md"] = "---\ndescription: Goes\n---\nGo.\n"
		all["plugins/"+plugin+"/skills/k-"+plugin+"/SKILL.md"] = "---\nname: k-" + plugin + "\ndescription: Knows\n---\nKnow.\n"
		all["plugins/"+plugin+"/agents/g-"+plugin+".md"] = "---\nname: g-" + plugin + "\ndescription: Guards\n---\nGuard.\n"
	}
	return all
}

// A gate allows everything but the entries with these names.
type gate []string

func (g gate) Allowed(_ context.Context, i toolshelf.Item) bool { return !slices.Contains(g, i.Name) }

// A world makes catalogs over the files, whose calls fail as the fault says.
type world struct {
	name string
	open func(f *fault) (*toolshelf.Catalog, error)
}

func memory(all map[string]string) afero.Fs {
	fsys := afero.NewMemMapFs()
	for name, text := range all {
		if err := afero.WriteFile(fsys, "/p/"+name, []byte(text), 0o644); err != nil {
			panic(err)
		}
	}
	return fsys
}

// below returns the files below a directory.
func below(dir string) map[string]string {
	all := map[string]string{}
	for name, text := range files() {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			all[rest] = text
		}
	}
	return all
}

func worlds() []world {
	project := func(f *fault, more ...toolshelf.Option) (*toolshelf.Catalog, error) {
		return toolshelf.New(append([]toolshelf.Option{toolshelf.WithFs(faultyFs{memory(files()), f}), toolshelf.WithRoot("/p"), toolshelf.WithAgentsDir("agents"),
			toolshelf.WithPlugins("plugins"), toolshelf.WithInstructions(client.Claude(), client.Cursor(), client.Codex()), toolshelf.WithHome(""), toolshelf.WithReports("reports", "")}, more...)...)
	}
	stores := func(versioned, untyped bool, more ...toolshelf.Option) func(f *fault) (*toolshelf.Catalog, error) {
		return func(f *fault) (*toolshelf.Catalog, error) {
			of := func(dir string) fs.FS { return store{below(dir), versioned, untyped, f} }
			return toolshelf.New(append([]toolshelf.Option{toolshelf.WithFs(memory(nil)), toolshelf.WithRoot("/"), toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(),
				toolshelf.WithCommandsFS("commands", of("commands")), toolshelf.WithSkillsFS("skills", of("skills")), toolshelf.WithPluginsFS("plugins", of("plugins"))}, more...)...)
		}
	}
	refusing := toolshelf.WithGate(gate{"c2", "s2", "two:go", "AGENTS.md"})
	return []world{
		{"memory", func(f *fault) (*toolshelf.Catalog, error) { return project(f) }},
		{"memory with a gate", func(f *fault) (*toolshelf.Catalog, error) { return project(f, refusing) }},
		{"store", stores(false, false)},
		{"store without types", stores(false, true)},
		{"store with versions", stores(true, false)},
		{"store with versions and a gate", stores(true, false, toolshelf.WithGate(gate{"c2", "s2"}, "commands", "skills", "plugins"))},
	}
}

// A way is a call of the API. The results of a list omit what Lint reports.
type way struct {
	name  string
	omits bool
	call  func(ctx context.Context, c *toolshelf.Catalog) (any, error)
}

// collect returns the values of an iterator.
func collect[T any](seq func(func(T, error) bool)) (all []T, err error) {
	for v, failed := range seq {
		if err = failed; err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

var ways = []way{
	{"List", true, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.List(ctx, toolshelf.Page{}) }},
	{"All", true, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return collect(c.All(ctx)) }},
	{"Commands", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return collect(c.Commands(ctx)) }},
	{"Get", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Get(ctx, "c1") }},
	{"Get of a plugin", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Get(ctx, "one:go") }},
	{"Search", true, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return searched(c.Search(ctx, "command", 0))
	}},
	{"CommandsPrompt", true, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.CommandsPrompt(ctx) }},
	{"CompleteName", true, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.CompleteName(ctx, "", 50) }},
	{"Expand", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Expand(ctx, "/c1 x") }},
	{"Expand of a skill", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Expand(ctx, "/s1 x") }},
	{"ListSkills", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.ListSkills(ctx) }},
	{"Skills", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return collect(c.Skills(ctx)) }},
	{"GetSkill", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.GetSkill(ctx, "s1") }},
	{"GetSkill with digests", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.GetSkill(ctx, "s1", toolshelf.Digests())
	}},
	{"GetSkill of a plugin", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.GetSkill(ctx, "one:k-one") }},
	{"ReadSkillFile", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.ReadSkillFile(ctx, "s1", "scripts/run.py")
	}},
	{"SearchSkills", true, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return searched(c.SearchSkills(ctx, "skill", 0))
	}},
	{"SkillsPrompt", true, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.SkillsPrompt(ctx) }},
	{"ListAgents", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.ListAgents(ctx) }},
	{"Agents", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return collect(c.Agents(ctx)) }},
	{"GetAgent", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.GetAgent(ctx, "one:g-one") }},
	{"AgentsPrompt", true, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.AgentsPrompt(ctx) }},
	{"Plugins", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Plugins(ctx) }},
	{"Instructions", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.Instructions(ctx, "src/main.go")
	}},
	{"Instructions with imports", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.Instructions(ctx, "src/main.go", toolshelf.Imports(0))
	}},
	{"InstructionsPrompt", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.InstructionsPrompt(ctx, "src/main.go")
	}},
	{"ListDir", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.ListDir(ctx, "src") }},
	{"ListDir by size", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.ListDir(ctx, ".", toolshelf.SortedBy(toolshelf.BySize), toolshelf.Limit(3), toolshelf.Gitignore())
	}},
	{"Tree", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.Tree(ctx, ".", toolshelf.Gitignore())
	}},
	{"Tree with a limit", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.Tree(ctx, ".", toolshelf.Gitignore(), toolshelf.Limit(20))
	}},
	{"FindFiles", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.FindFiles(ctx, ".", "**/*.md", toolshelf.Gitignore())
	}},
	{"FindFiles with a limit", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.FindFiles(ctx, ".", "**", toolshelf.Limit(5), toolshelf.SortedBy(toolshelf.BySize), toolshelf.Gitignore())
	}},
	{"Grep", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.Grep(ctx, ".", "e", toolshelf.Gitignore(), toolshelf.Limit(4))
	}},
	{"Stat", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Stat(ctx, "src/main.go") }},
	{"ReadFile", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.ReadFile(ctx, "src/main.go") }},
	{"Reports", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Reports(ctx, "c1") }},
	{"Lint", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Lint(ctx) }},
	{"Pending", false, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Pending(ctx) }},
}

func searched(r toolshelf.SearchResults, err error) (any, error) { r.SearchTime = 0; return r, err }

// A result is a value of a way as text, with its marks.
type result struct {
	text  string
	marks int
}

func shown(t *testing.T, v any) result {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return result{times.ReplaceAllString(string(text), "T"), marks(reflect.ValueOf(v))}
}

var times = regexp.MustCompile(`20\d\d-\d\d-\d\dT[\d:.]+Z`)

// marks counts what names a loss in a result: diagnostics, warnings, unknown sizes and digests, counters, and entries that
// cannot be loaded.
func marks(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return marks(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if v.Type() == reflect.TypeFor[[]toolshelf.Diagnostic]() {
			return v.Len()
		}
		for i := range v.Len() {
			n += marks(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() {
				continue
			}
			f := v.Field(i)
			switch field.Name {
			case "Loadable":
				n += btoi(!f.Bool())
			case "Changed":
				n += btoi(f.Bool())
			case "Skipped", "Vanished":
				n += int(f.Int())
			case "Size":
				n += btoi(f.Int() < 0)
			case "Digest":
				n += btoi(f.String() == "")
			case "Error":
				n += btoi(f.String() != "")
			case "Warnings", "Diagnostics", "Dropped", "Problems", "Findings":
				n += f.Len()
			case "Readable":
				n += btoi(f.IsNil() || !f.Elem().Bool())
			default:
				n += marks(f)
			}
		}
	}
	return n
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A violation is a result that loses something silently.
func violation(base, got result, err error, w way, gated bool, f *fault, failed []string) string {
	switch {
	case err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) && toolshelf.CodeOf(err) == "":
		return ""
	case err != nil && toolshelf.CodeOf(err) == "":
		return fmt.Sprintf("an error without a code: %v", err)
	case err != nil && !gated && !slices.ContainsFunc(failed, ofPlugin) && strings.HasSuffix(string(toolshelf.CodeOf(err)), "NOT_FOUND") && !errors.Is(f.err, fs.ErrNotExist):
		return fmt.Sprintf("not found, although the filesystem did not say so: %v", err)
	case err != nil && strings.Contains(err.Error(), "/p/"):
		return fmt.Sprintf("the text of the error has a path of the host: %v", err)
	case err != nil, got.text == base.text, errors.Is(f.err, fs.ErrNotExist), got.marks > base.marks, w.name == "Lint" && got.marks > 0:
		return ""
	case gated:
		return "" // the gate refuses an entry that cannot be read: docs/trust.md
	case slices.ContainsFunc(failed, ofPlugin):
		return "" // Lint reports a plugin that cannot be read: docs/plugins.md
	case w.omits && !slices.ContainsFunc(failed, ofLayer):
		return "" // Lint reports the file or the skill
	}
	return fmt.Sprintf("another result without an error\n  %.1500s\nin place of\n  %.1500s", got.text, base.text)
}

// ofPlugin reports whether a failed call concerns a plugin, or the directory of the plugins.
func ofPlugin(call string) bool {
	_, name, _ := strings.Cut(call, " ")
	name = strings.TrimPrefix(name, "p/")
	return slices.ContainsFunc([]string{"plugins", "one", "two"}, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") })
}

// ofLayer reports whether a failed call reads the directory of a layer.
func ofLayer(call string) bool {
	op, name, _ := strings.Cut(call, " ")
	return op != "stat" && slices.Contains([]string{"commands", "skills", "agents", "."}, strings.TrimPrefix(name, "p/"))
}

// TestNothingIsLostSilently fails each n-th call of each way, once and from that call on, cold and warm.
func TestNothingIsLostSilently(t *testing.T) {
	stride := 61
	if os.Getenv("TOOLSHELF_NIGHTLY") != "" {
		stride = 1
	}
	faults, seen := 0, map[string]bool{}
	turn := 0
	for _, w := range worlds() {
		for _, way := range ways {
			for _, warm := range []bool{false, true} {
				for _, cause := range []error{syscall.EIO, fs.ErrPermission, fs.ErrNotExist, os.ErrDeadlineExceeded} {
					for _, lasting := range []bool{false, true} {
						f := &fault{}
						c, err := w.open(f)
						if err != nil {
							t.Fatal(err)
						}
						if warm {
							way.call(t.Context(), c)
						}
						f.start(0, false, nil)
						v, baseErr := way.call(t.Context(), c)
						calls, _ := f.stop()
						base := shown(t, v)
						c.Close()
						for n := 1; n <= calls; n++ {
							if turn++; turn%stride != 0 {
								continue
							}
							faults++
							f := &fault{}
							c, err := w.open(f)
							if err != nil {
								t.Fatal(err)
							}
							if warm {
								way.call(t.Context(), c)
							}
							f.start(n, lasting, cause)
							ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
							v, err := way.call(ctx, c)
							_, failed := f.stop()
							id := fmt.Sprintf("%s, %s, warm=%t, lasting=%t, %v", w.name, way.name, warm, lasting, cause)
							if len(failed) > 0 && baseErr == nil {
								if problem := violation(base, shown(t, v), err, way, strings.HasSuffix(w.name, "gate"), f, failed); problem != "" && !seen[id+failed[0]] {
									seen[id+failed[0]] = true
									t.Errorf("%s, call %d (%s): %s", id, n, failed[0], problem)
								}
							}
							v, err = way.call(ctx, c)
							// A gated skill whose list has a file that the next call denies keeps changing, until the list changes.
							denied := strings.HasSuffix(w.name, "gate") && cause == fs.ErrNotExist
							if got := shown(t, v); !denied && (got.text != base.text || (err == nil) != (baseErr == nil)) {
								t.Errorf("%s, call %d (%s): after the fault, the result is\n  %.1500s %v\nin place of\n  %.1500s", id, n, failed, got.text, err, base.text)
							}
							cancel()
							c.Close()
						}
					}
				}
			}
		}
	}
	t.Logf("%d faults", faults)
	if faults < 100 {
		t.Error("the sweep made only", faults, "faults")
	}
}
