// Package faults_test fails each call of a filesystem, one after the other, and checks the results
// of a catalog: after a fault, a result is complete, or is an error with a code, or names the loss.
// docs/methods.md has the rule.
package faults_test

import (
	"cmp"
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
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
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
	all["commands/db/reset.md"] = "---\ndescription: Resets\n---\nReset.\n"
	all["more/db/reset.md"] = "---\ndescription: Other\n---\nOther.\n"
	all["plugins/one/commands/up.md"] = "---\ndescription: Goes up\n---\nUp.\n"
	for _, plugin := range []string{"one", "two"} {
		all["plugins/"+plugin+"/.claude-plugin/plugin.json"] = `{"name": "` + plugin + `", "version": "1.0.0"}`
		all["plugins/"+plugin+"/.mcp.json"] = `{"mcpServers": {"files": {"command": "files"}}}`
		all["plugins/"+plugin+"/commands/go.md"] = "---\ndescription: Goes\n---\nGo.\n"
		all["plugins/"+plugin+"/skills/k-"+plugin+"/SKILL.md"] = "---\nname: k-" + plugin + "\ndescription: Knows\n---\nKnow.\n"
		all["plugins/"+plugin+"/skills/dir/SKILL.md"] = "---\nname: declared-" + plugin + "\ndescription: Knows\n---\nKnow.\n"
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
	shared := memory(files()) // no way writes
	project := func(f *fault, more ...toolshelf.Option) (*toolshelf.Catalog, error) {
		return toolshelf.New(append([]toolshelf.Option{toolshelf.WithFs(faultyFs{shared, f}), toolshelf.WithRoot("/p"), toolshelf.WithCommandsDir("commands", "more"), toolshelf.WithNestedCommands(), toolshelf.WithAgentsDir("agents"),
			toolshelf.WithPlugins("plugins"), toolshelf.WithInstructions(client.Claude(), client.Cursor(), client.Codex()), toolshelf.WithHome(""), toolshelf.WithReports("reports", "")}, more...)...)
	}
	stores := func(versioned, untyped bool, more ...toolshelf.Option) func(f *fault) (*toolshelf.Catalog, error) {
		return func(f *fault) (*toolshelf.Catalog, error) {
			of := func(dir string) fs.FS { return store{below(dir), versioned, untyped, f} }
			return toolshelf.New(append([]toolshelf.Option{toolshelf.WithFs(memory(nil)), toolshelf.WithRoot("/"), toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(),
				toolshelf.WithCommandsFS("commands", of("commands")), toolshelf.WithCommandsFS("more", of("more")), toolshelf.WithNestedCommands(), toolshelf.WithSkillsFS("skills", of("skills")), toolshelf.WithPluginsFS("plugins", of("plugins"))}, more...)...)
		}
	}
	links := func(f *fault) (*toolshelf.Catalog, error) {
		of := func(dir string, links map[string]string) fs.FS {
			files := below(dir)
			for name, target := range links {
				files[name] = link + target
			}
			return linkedStore{store{files, false, false, f}}
		}
		return toolshelf.New(toolshelf.WithFs(memory(nil)), toolshelf.WithRoot("/"), toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(), toolshelf.WithNestedCommands(),
			toolshelf.WithCommandsFS("commands", of("commands", map[string]string{"linked": "db"})),
			toolshelf.WithSkillsFS("skills", of("skills", map[string]string{"linked": "s2", "s1/scripts/link.py": "run.py"})))
	}
	refusing := toolshelf.WithGate(gate{"c2", "s2", "two:go", "AGENTS.md"})
	return []world{
		{"memory", func(f *fault) (*toolshelf.Catalog, error) { return project(f) }},
		{"memory with a gate", func(f *fault) (*toolshelf.Catalog, error) { return project(f, refusing) }},
		{"store", stores(false, false)},
		{"store without modes", stores(false, true)},
		{"store with links", links},
		{"store with versions", stores(true, false)},
		{"store with versions and a gate", stores(true, false, toolshelf.WithGate(gate{"c2", "s2"}, "commands", "more", "skills", "plugins"))},
	}
}

// A way is a call of the API.
type way struct {
	name  string
	omits omits
	call  func(ctx context.Context, c *toolshelf.Catalog) (any, error)
}

// omits states which entries a result omits that cannot be read. Lint reports each.
type omits int

const (
	nothing omits = iota
	hidden        // those in a plugin or in a directory that cannot be read
	refused       // also those of which a gate cannot know the digest
	unread        // all
)

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
	{"List", unread, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.List(ctx, toolshelf.Page{}) }},
	{"All", unread, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return collect(c.All(ctx)) }},
	{"Commands", refused, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return collect(c.Commands(ctx)) }},
	{"Get", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Get(ctx, "c1") }},
	{"Get of a plugin", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Get(ctx, "one:go") }},
	{"Get of a bare name", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Get(ctx, "up") }},
	{"Get of a nested name", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Get(ctx, "db:reset") }},
	{"Search", unread, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return searched(c.Search(ctx, "command", 0))
	}},
	{"CommandsPrompt", unread, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.CommandsPrompt(ctx) }},
	{"CompleteName", unread, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.CompleteName(ctx, "", 50) }},
	{"Expand", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Expand(ctx, "/c1 x") }},
	{"Expand of a plugin", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Expand(ctx, "/one:up x") }},
	{"Expand of a skill", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Expand(ctx, "/s1 x") }},
	{"ListSkills", refused, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.ListSkills(ctx) }},
	{"Skills", refused, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return collect(c.Skills(ctx)) }},
	{"GetSkill", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.GetSkill(ctx, "s1") }},
	{"GetSkill with digests", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.GetSkill(ctx, "s1", toolshelf.Digests())
	}},
	{"GetSkill of a plugin", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.GetSkill(ctx, "one:k-one") }},
	{"GetSkill by the header", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.GetSkill(ctx, "declared-one") }},
	{"ReadSkillFile", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.ReadSkillFile(ctx, "s1", "scripts/run.py")
	}},
	{"SearchSkills", unread, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return searched(c.SearchSkills(ctx, "skill", 0))
	}},
	{"SkillsPrompt", unread, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.SkillsPrompt(ctx) }},
	{"ListAgents", refused, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.ListAgents(ctx) }},
	{"Agents", refused, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return collect(c.Agents(ctx)) }},
	{"GetAgent", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.GetAgent(ctx, "one:g-one") }},
	{"AgentsPrompt", unread, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.AgentsPrompt(ctx) }},
	{"Plugins", refused, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Plugins(ctx) }},
	{"Instructions", refused, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.Instructions(ctx, "src/main.go")
	}},
	{"Instructions with imports", refused, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.Instructions(ctx, "src/main.go", toolshelf.Imports(0))
	}},
	{"InstructionsPrompt", refused, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.InstructionsPrompt(ctx, "src/main.go")
	}},
	{"Get of a link", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Get(ctx, "linked:reset") }},
	{"GetSkill of a link", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.GetSkill(ctx, "linked") }},
	{"Skill.FS", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		s, err := c.GetSkill(ctx, "s1")
		if err != nil {
			return nil, err
		}
		return collect(func(yield func(string, error) bool) {
			err := fs.WalkDir(s.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
				if err == nil {
					yield(name, nil)
				}
				return err
			})
			if err != nil {
				yield("", err)
			}
		})
	}},
	{"ListDir", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.ListDir(ctx, "src") }},
	{"ListDir by size", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.ListDir(ctx, ".", toolshelf.SortedBy(toolshelf.BySize), toolshelf.Limit(3), toolshelf.Gitignore())
	}},
	{"Tree", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.Tree(ctx, ".", toolshelf.Gitignore())
	}},
	{"Tree with a limit", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.Tree(ctx, ".", toolshelf.Gitignore(), toolshelf.Limit(20))
	}},
	{"FindFiles", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.FindFiles(ctx, ".", "**/*.md", toolshelf.Gitignore())
	}},
	{"FindFiles with a limit", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.FindFiles(ctx, ".", "**", toolshelf.Limit(5), toolshelf.SortedBy(toolshelf.BySize), toolshelf.Gitignore())
	}},
	{"Grep", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		return c.Grep(ctx, ".", "e", toolshelf.Gitignore(), toolshelf.Limit(4))
	}},
	{"Stat", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Stat(ctx, "src/main.go") }},
	{"ReadFile", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.ReadFile(ctx, "src/main.go") }},
	{"Reports", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Reports(ctx, "c1") }},
	{"Lint", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Lint(ctx) }},
	{"Pending", hidden, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.Pending(ctx) }},
	{"ListSkillsFor", refused, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.ListSkillsFor(ctx, "src/a.go") }},
	{"RestorePrompt", nothing, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		list, err := c.RestorePrompt(ctx, []toolshelf.Item{{Kind: toolshelf.KindInstruction, Name: "AGENTS.md"},
			{Kind: toolshelf.KindInstruction, Name: ".cursor/rules/go.mdc"},
			{Kind: toolshelf.KindSkill, Name: "s1"}, {Kind: toolshelf.KindCommand, Name: "c1"}})
		return toolText(list.Text), err
	}},
	{"MCPServers", unread, func(ctx context.Context, c *toolshelf.Catalog) (any, error) { return c.MCPServers(ctx) }},
}

func searched(r toolshelf.SearchResults, err error) (any, error) { r.SearchTime = 0; return r, err }

// A result is a value of a way as text, with its marks.
type result struct {
	text  string
	marks int
}

func shown(t *testing.T, v any) result {
	t.Helper()
	text := must.Get(json.Marshal(v))(t)
	return result{times.ReplaceAllString(string(text), "T"), marks(reflect.ValueOf(v))}
}

var times = regexp.MustCompile(`20\d\d-\d\d-\d\dT[\d:.]+Z`)

// marks counts what names a loss in a result: diagnostics, warnings, unknown sizes and digests,
// counters, and entries that cannot be loaded.
func marks(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[toolText]() {
			return len(losses.FindAllString(v.String(), -1)) + btoi(strings.HasPrefix(v.String(), "File: ") && !strings.Contains(v.String(), "Readable: Yes"))
		}
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

// violation returns why a result loses something silently, or "". If only Lint names the loss,
// listed is false.
func violation(t *testing.T, base, got result, err error, w way, gated bool, f *fault, failed []string) (problem string, listed bool) {
	switch {
	case f.err == context.Canceled && errors.Is(err, context.Canceled):
		return "", true
	case err != nil && toolshelf.CodeOf(err) == "":
		return fmt.Sprintf("an error without a code: %v", err), true
	case err != nil && strings.HasSuffix(string(toolshelf.CodeOf(err)), "NOT_FOUND") && !errors.Is(f.err, fs.ErrNotExist):
		return fmt.Sprintf("not found, although the filesystem did not say so: %v", err), true
	case err != nil && strings.Contains(err.Error(), "/p/"):
		return fmt.Sprintf("the text of the error has a path of the host: %v", err), true
	case w.name == "Pending" && !errors.Is(f.err, fs.ErrNotExist) && slices.ContainsFunc(digests.FindAllString(got.text, -1), func(d string) bool { return !strings.Contains(base.text, d) }):
		return "a digest of files that cannot be read: " + got.text, true
	case err != nil, got.text == base.text, errors.Is(f.err, fs.ErrNotExist), got.marks > base.marks, w.name == "Lint" && further(t, base, got):
		return "", true
	case w.omits == unread && !slices.ContainsFunc(failed, ofLayer), w.omits == refused && gated, w.omits != nothing && slices.ContainsFunc(failed, ofHidden):
		return "", false
	}
	return fmt.Sprintf("another result without an error\n  %.500s\nin place of\n  %.500s", got.text, base.text), true
}

// further reports whether a result of Lint has a finding that the other has not.
func further(t *testing.T, base, got result) bool {
	var before, now []toolshelf.Diagnostic
	must.Do(t, errors.Join(json.Unmarshal([]byte(base.text), &before), json.Unmarshal([]byte(got.text), &now)))
	return slices.ContainsFunc(now, func(d toolshelf.Diagnostic) bool { return !slices.Contains(before, d) })
}

// lints reports whether Lint has further findings, or fails, while all calls for the files of the
// failed calls fail.
func (s *sweep) lints(t *testing.T, failed []string, cause error) bool {
	names := map[string]bool{}
	for _, call := range failed {
		_, name, _ := strings.Cut(call, " ")
		names[name] = true
	}
	key := fmt.Sprint(names, cause)
	if reported, known := s.linted[key]; known {
		return reported
	}
	findings := func(f *fault) ([]toolshelf.Diagnostic, error) {
		c := must.Get(s.open(f))(t)
		defer c.Close()
		return c.Lint(t.Context())
	}
	before := must.Get(findings(&fault{}))(t)
	now, err := findings(&fault{on: names, err: cause})
	s.linted[key] = err != nil || further(t, shown(t, before), shown(t, now))
	return s.linted[key]
}

// digests finds the digests of Pending.
var digests = regexp.MustCompile(`"Digest":"[^"]+"`)

// ofHidden reports whether a failed call concerns a plugin, the directory of the plugins, or the
// nested directory.
func ofHidden(call string) bool {
	_, name, _ := strings.Cut(call, " ")
	name = strings.TrimPrefix(name, "p/")
	return slices.ContainsFunc([]string{"plugins", "one", "two", "commands/db", "more/db", "db", "linked"}, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") })
}

// ofLayer reports whether a failed call reads the directory of a layer.
func ofLayer(call string) bool {
	op, name, _ := strings.Cut(call, " ")
	return op != "stat" && slices.Contains([]string{"commands", "more", "skills", "agents", "."}, strings.TrimPrefix(name, "p/"))
}

// TestNothingIsLostSilently fails each n-th call of each way, once and from that call on, cold and
// warm, and ends the context there. With TOOLSHELF_NIGHTLY, each call has one or two of these
// faults, and otherwise a sample of the calls has.
func TestNothingIsLostSilently(t *testing.T) {
	stride := 499
	if os.Getenv("TOOLSHELF_NIGHTLY") != "" {
		stride = 7 // of the nine faults of each call
	}
	var faults atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for _, w := range worlds() {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				s := sweep{world: w, stride: stride, seen: map[string]bool{}, linted: map[string]bool{}}
				for _, way := range slices.Concat(ways, tools) {
					s.way(t, way, false, "")
					s.way(t, way, true, "")
				}
				faults.Add(int64(s.faults))
			})
		}
	})
	t.Logf("%d faults", faults.Load())
	if n := faults.Load(); stride == 7 && n < 30_000 || n < 1000 {
		t.Errorf("the sweep made only %d faults", n)
	}
}

// causes are the files whose failures have had a wrong result without an error.
var causes = []struct {
	world, way string
	files      []string
}{
	{"store with versions", "GetAgent", []string{"one/agents/g-one.md"}}, // the next result had Loadable false
	{"store with versions", "Agents", []string{"one/agents/g-one.md"}},
	{"memory", "ListSkills", []string{"p/skills/s1"}}, // no skill
	{"memory", "Skills", []string{"p/skills/s1"}},
	{"memory", "GetSkill", []string{"p/skills/s1"}}, // SKILL_NOT_FOUND
	{"memory", "ReadSkillFile", []string{"p/skills/s1"}},
	{"memory", "Tree with a limit", []string{"p/docs", "p/docs/style.md", "p/.gitignore"}}, // no entry, and no counter
	{"memory", "FindFiles with a limit", []string{"p/docs", "p/docs/style.md", "p/.gitignore"}},
	{"memory", "Grep", []string{"p/docs", "p/docs/style.md", "p/.gitignore"}},
	{"memory", "FindFiles", []string{"p/.gitignore", "p/src/.gitignore"}},                                                                // ignored files
	{"memory with a gate", "Pending", []string{"p/src", "p/docs/style.md"}},                                                              // an error without a code, and a digest without the import
	{"memory with a gate", "Pending", []string{"p/commands/c2.md", "p/skills/s2/SKILL.md", "p/skills/s2/scripts/run.py", "p/AGENTS.md"}}, // no entry
	{"memory", "InstructionsPrompt", []string{"p/AGENTS.md"}},                                                                            // Dropped was empty
	{"memory", "RestorePrompt", []string{"p/AGENTS.md", "p/.cursor/rules/go.mdc"}},                                                       // an empty text
	{"memory", "Get of a plugin", []string{"p/plugins/one", "p/plugins/one/commands", "p/plugins/one/.claude-plugin/plugin.json"}},       // COMMAND_NOT_FOUND
	{"memory", "Get of a bare name", []string{"p/plugins/one", "p/plugins/one/.claude-plugin/plugin.json"}},
	{"memory", "Get of a nested name", []string{"p/commands/db"}}, // the command of the next layer
	{"memory", "GetSkill by the header", []string{"p/plugins/one/skills/dir/SKILL.md", "p/plugins/one/.claude-plugin/plugin.json"}},
	{"memory", "GetAgent", []string{"p/plugins/one/agents", "p/plugins/one/.claude-plugin/plugin.json"}},
	{"memory", "Expand of a plugin", []string{"p/plugins/one", "p/plugins/one/.claude-plugin/plugin.json"}},
	{"memory with a gate", "Get", []string{"p/commands/c1.md"}}, // COMMAND_NOT_FOUND
	{"memory with a gate", "GetSkill", []string{"p/skills/s1/scripts/run.py"}},
	{"store with links", "Get of a link", []string{"linked"}},                     // COMMAND_NOT_FOUND
	{"store with links", "GetSkill of a link", []string{"linked"}},                // SKILL_NOT_FOUND
	{"store with links", "Skill.FS", []string{"s1/scripts/link.py"}},              // no link
	{"store with versions and a gate", "ListSkills", []string{"s3"}},              // without a finding of Lint
	{"store with versions and a gate", "GetSkill", []string{"s1/scripts/run.py"}}, // the skill kept changing, also after the call
}

// TestCauses fails each call for the files.
func TestCauses(t *testing.T) {
	for _, tt := range causes {
		t.Run(tt.world+", "+tt.way, func(t *testing.T) {
			s := sweep{world: worlds()[slices.IndexFunc(worlds(), func(w world) bool { return w.name == tt.world })], stride: 1, seen: map[string]bool{}, linted: map[string]bool{}}
			way := ways[slices.IndexFunc(ways, func(w way) bool { return w.name == tt.way })]
			for _, file := range tt.files {
				s.faults = 0
				s.way(t, way, false, file)
				if s.faults == 0 {
					t.Error("no call for", file)
				}
			}
		})
	}
}

// A sweep is the calls of one world.
type sweep struct {
	world
	stride, turn, faults int
	seen                 map[string]bool // violations, of which each is reported once
	linted               map[string]bool // results of lints
}

// opened returns a catalog after the first call of a way, or cold.
func (s *sweep) opened(t *testing.T, f *fault, way way, warm bool) *toolshelf.Catalog {
	t.Helper()
	c := must.Get(s.open(f))(t)
	if warm {
		way.call(t.Context(), c)
	}
	return c
}

// way fails the calls of a way, for one file with one error, or for all.
func (s *sweep) way(t *testing.T, way way, warm bool, file string) {
	f := &fault{}
	c := s.opened(t, f, way, warm)
	f.start(0, false, nil)
	v, err := way.call(t.Context(), c)
	calls, _ := f.stop()
	c.Close()
	if err != nil {
		return // the world has no such file
	}
	base := shown(t, v)
	errs := []error{syscall.EIO, fs.ErrNotExist, fs.ErrPermission, os.ErrDeadlineExceeded, context.Canceled}
	if file != "" {
		errs = errs[:2]
	}
	for n := 1; n <= calls; n++ {
		if _, name, _ := strings.Cut(f.all[n-1], " "); file != "" && file != name {
			continue
		}
		for _, cause := range errs {
			for _, lasting := range []bool{false, true} {
				if lasting && cause == context.Canceled {
					continue
				}
				if s.turn++; s.turn%s.stride == 0 {
					s.faults++
					s.fail(t, way, warm, base, n, lasting, cause)
				}
			}
		}
	}
}

// fail fails the n-th call of a way, and compares the results of this call and of the next call.
func (s *sweep) fail(t *testing.T, way way, warm bool, base result, n int, lasting bool, cause error) {
	f := &fault{}
	c := s.opened(t, f, way, warm)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f.start(n, lasting, cause)
	if cause == context.Canceled {
		f.cancel = cancel
	}
	v, err := way.call(ctx, c)
	_, failed := f.stop()
	if len(failed) > 0 {
		problem, listed := violation(t, base, shown(t, v), err, way, strings.HasSuffix(s.name, "gate"), f, failed)
		if !listed && !s.lints(t, failed, cause) {
			problem = "Lint does not report the loss"
		}
		s.report(t, way, warm, n, lasting, cause, failed, problem)
	}
	v, err = way.call(t.Context(), c)
	if got := shown(t, v); got.text != base.text || err != nil {
		s.report(t, way, warm, n, lasting, cause, failed, fmt.Sprintf("after the fault, the result is\n  %.500s %v\nin place of\n  %.500s", got.text, err, base.text))
	}
}

// report reports a violation once.
func (s *sweep) report(t *testing.T, way way, warm bool, n int, lasting bool, cause error, failed []string, problem string) {
	t.Helper()
	first := fmt.Sprint(failed[:min(1, len(failed))])
	if key := way.name + first + problem; problem != "" && !s.seen[key] {
		s.seen[key] = true
		t.Errorf("%s, warm=%t, lasting=%t, %v, call %d %s: %s", way.name, warm, lasting, cause, n, first, problem)
	}
}

// tools are ways through the tools of package mcpadapter. report_feedback writes: see
// writes_linux_test.go.
var tools = []way{
	tool("list_commands", unread, `{}`),
	tool("search_commands", unread, `{"query": "command"}`),
	tool("get_command", nothing, `{"command_name": "c1"}`),
	tool("get_command", nothing, `{"command_name": "one:go"}`),
	tool("list_skills", unread, `{}`),
	tool("search_skills", unread, `{"query": "skill"}`),
	tool("get_skill", nothing, `{"skill_name": "s1"}`),
	tool("get_skill", nothing, `{"skill_name": "one:k-one"}`),
	tool("read_skill_file", nothing, `{"skill_name": "s1", "path": "scripts/run.py"}`),
	tool("list_agents", unread, `{}`),
	tool("get_agent", nothing, `{"agent_name": "one:g-one"}`),
	tool("get_instructions", refused, `{"path": "src/main.go"}`),
	tool("list_directory", nothing, `{"path": "src"}`),
	tool("directory_tree", nothing, `{}`),
	tool("get_file_info", nothing, `{"path": "src/main.go"}`),
	tool("search_files", nothing, `{"pattern": "**/*.md"}`),
	tool("search_text", nothing, `{"pattern": "e"}`),
	tool("read_file", nothing, `{"path": "src/main.go"}`),
	tool("read_file", nothing, `{"paths": ["src/main.go", "docs/style.md"]}`),
}

// tool returns the call of a tool as a way. The result is the text.
func tool(name string, omits omits, arguments string) way {
	return way{name + arguments, omits, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		a, err := mcpadapter.New(c)
		if err != nil {
			return nil, err
		}
		r, err := a.Call(ctx, name, json.RawMessage(arguments))
		if err == nil && r.IsError {
			var failed struct{ Error struct{ Code toolshelf.Code } }
			_ = json.Unmarshal(r.Structured, &failed) // list_skills and list_agents have a text without a code
			err = &toolshelf.Error{Code: cmp.Or(failed.Error.Code, "TEXT"), Message: r.Text}
		}
		return toolText(searchTimes.ReplaceAllString(r.Text, "")), err
	}}
}

// A toolText is the text of a tool. Its marks are the words that name a loss, and the missing line
// of get_file_info about a file that cannot be opened.
type toolText string

var (
	searchTimes = regexp.MustCompile(`"search_time[^,}]*`)
	losses      = regexp.MustCompile(`Warning:|more files not listed|cannot|could not|not read|not searched|unknown|\(\?\)|input/output error|permission denied|the filesystem failed|i/o timeout`)
)

func TestADirectoryOfSkillsThatCannotBeDescribedIsServed(t *testing.T) {
	f := &fault{}
	c := must.Get(toolshelf.New(toolshelf.WithFs(faultyFs{memory(files()), f}), toolshelf.WithRoot("/p"), toolshelf.WithHome("")))(t)
	defer c.Close()
	a := must.Get(mcpadapter.New(c))(t)
	for _, tt := range []struct {
		err  error
		want bool
	}{{syscall.EIO, true}, {fs.ErrPermission, true}, {fs.ErrNotExist, false}} {
		f.on, f.err = map[string]bool{"p/skills": true}, tt.err
		must.Equal(t, tt.err, tt.want, a.ServesSkills())
	}
}

func TestAFaultOfAParentIsAnError(t *testing.T) {
	f := &fault{err: syscall.EIO}
	c := must.Get(toolshelf.New(toolshelf.WithFs(faultyFs{memory(files()), f}), toolshelf.WithRoot("/p/src"), toolshelf.WithParents("/p"), toolshelf.WithHome(""), toolshelf.WithInstructions(client.Codex())))(t)
	defer c.Close()
	must.Len(t, "Instructions", 2, must.Get(c.Instructions(t.Context(), "main.go"))(t))
	f.on = map[string]bool{"p": true}
	if all, err := c.Instructions(t.Context(), "main.go"); toolshelf.CodeOf(err) != toolshelf.CodeFileRead {
		t.Errorf("%v, %v", all, err)
	}
}
