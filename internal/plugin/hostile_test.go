package plugin

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// codes returns the codes of all problems of a table.
func codes(t Table) (all []problem.Code) {
	add := func(problems []problem.Problem) {
		for _, p := range problems {
			all = append(all, p.Code)
		}
	}
	add(t.Problems)
	for _, p := range t.Plugins {
		add(p.Problems)
	}
	return all
}

//go:embed testdata/defects.txt
var defects string

// TestADefectOfAPluginAffectsNoOtherPlugin has the cases of testdata/defects.txt, which describes the
// cases.
func TestADefectOfAPluginAffectsNoOtherPlugin(t *testing.T) {
	plugins := func(want ...string) func(t *testing.T, a ...string) string {
		return func(t *testing.T, a ...string) string {
			files := map[string]string{"a/commands/a.md": "", "z/.claude-plugin/plugin.json": `{"name":"z"}`, "z/commands/a.md": ""}
			for i := 1; i < len(a); i += 2 {
				files[a[i]] = a[i+1]
			}
			table := findIn(t, files, ".", Options{MaxSize: 1 << 20})
			var names []string
			for _, p := range table.Plugins {
				names = append(names, p.Name)
			}
			must.Match(t, "names", want, names)
			must.Has(t, "codes", codes(table), problem.Code(a[0]))
			checkTable(t, table)
			return ""
		}
	}
	must.Answer(t, strings.ReplaceAll(defects, "SCHEMA", schema), map[string]func(t *testing.T, a ...string) string{
		"lost": plugins("a", "z"), "kept": plugins("a", "bad", "z"),
	})
}

//go:embed testdata/entries.txt
var entries string

// TestADefectOfAnEntryAffectsNoOtherEntry has the cases of testdata/entries.txt, which describes the
// cases.
func TestADefectOfAnEntryAffectsNoOtherEntry(t *testing.T) {
	must.Answer(t, entries, map[string]func(t *testing.T, a ...string) string{
		"entry": func(t *testing.T, a ...string) string {
			table := findIn(t, map[string]string{market: `{"plugins":[{"name":"a","source":"./x"},` + a[1] + `,{"name":"z","source":"./y"}]}`, "x/commands/a.md": "", "y/agents/a.md": "", "file.md": ""}, ".", Options{})
			must.Len(t, "plugins", 2, table.Plugins)
			must.Equal(t, "the plugins", "a z", table.Plugins[0].Name+" "+table.Plugins[1].Name)
			must.Has(t, "codes", codes(table), problem.Code(a[0]))
			checkTable(t, table)
			return ""
		},
	})
}

func TestAMarketplaceThatIsNotValidHasNoPlugins(t *testing.T) {
	for _, text := range []string{``, `[]`, `null`, `{}`, `{"plugins":{}}`, `{"plugins":1}`, `{"plugins":[}`, "\xff\xfe{\x00", `{"plugins":[],"x":"` + strings.Repeat("x", 1<<20) + `"}`} {
		table := findIn(t, map[string]string{market: text, "x/commands/a.md": ""}, ".", Options{MaxSize: 1 << 20})
		if len(table.Plugins) != 0 || len(table.Problems) != 1 || table.Problems[0].Severity != problem.Error {
			t.Errorf("%.40q: got %q", text, shown(table))
		}
		checkTable(t, table)
	}
}

func TestAMarketplaceWithoutAValidNameHasItsPlugins(t *testing.T) {
	for _, name := range []string{`"a\nb"`, `"../a"`, `1`, `null`} {
		table := findIn(t, map[string]string{market: `{"name":` + name + `,"plugins":[{"name":"a","source":"./x"}]}`, "x/commands/a.md": ""}, ".", Options{})
		if len(table.Plugins) != 1 || table.Plugins[0].Marketplace != "" || len(table.Problems) > 1 {
			t.Errorf("%s: got %q", name, shown(table))
		}
		checkTable(t, table)
	}
}

// checkTable verifies the promises of a table for every input.
func checkTable(t *testing.T, table Table) {
	t.Helper()
	check := func(problems []problem.Problem) {
		for _, p := range problems {
			for _, text := range []string{p.Path, p.Key, p.Message, p.Suggestion} {
				if strings.ContainsAny(text, "\n\r\x00\u2028") || len(text) > 5000 {
					t.Errorf("the problem is no line of text: %.200q", text)
				}
			}
			if p.Code == "" || p.Severity == "" || p.Message == "" {
				t.Errorf("incomplete problem %+v", p)
			}
		}
		if len(problems) > problem.Max {
			t.Errorf("%d problems", len(problems))
		}
	}
	check(table.Problems)
	for _, p := range table.Plugins {
		check(p.Problems)
		if !name(p.Name) {
			t.Errorf("the name %q", p.Name)
		}
		if p.Dir == "" && len(p.Parts) > 0 || p.Dir != "" && !fs.ValidPath(p.Dir) {
			t.Errorf("the directory %q of %q", p.Dir, p.Name)
		}
		var paths []string
		for _, part := range p.Parts {
			paths = append(paths, part.Path)
			must.Equal(t, fmt.Sprintf("a file with a pattern, or a directory without: %+v", part),
				part.Pattern == "", part.File)
		}
		for _, path := range slices.Concat(paths, p.HookFiles, p.MCPServerFiles) {
			if !fs.ValidPath(path) || p.Dir != "." && path != p.Dir && !strings.HasPrefix(path, p.Dir+"/") {
				t.Errorf("%q is not below %q", path, p.Dir)
			}
		}
	}
}

func TestLinksDoNotLeadOutOfAPlugin(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"secret/plugin.json": `{` + schema + `,"name":"secret"}`, "secret/skills/s/SKILL.md": "", "secret/" + market: `{"plugins":[{"name":"secret","source":"./"}]}`,
		"one/.claude-plugin/plugin.json": `{"name":"one","skills":["./linked","./own"]}`, "one/own/SKILL.md": "", "two/.claude-plugin/x": "",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	}
	for link, target := range map[string]string{"one/linked": "../secret/skills/s", "two/plugin.json": "../secret/plugin.json", "two/commands": "../one", "three": filepath.Dir(dir)} {
		hosttest.Symlink(t, filepath.FromSlash(target), filepath.Join(dir, filepath.FromSlash(link)))
	}
	recorder, _ := reader(t, afero.NewOsFs(), dir, MaxSize)
	table := must.Get(Find(t.Context(), recorder, ".", Options{}))(t)
	want := wantLines(`
			FILE_READ_ERROR two/plugin.json: the plugin is not listed: cannot read the file: path leads outside the root
			one in one
			  skills one/linked/*/SKILL.md, declared
			  skills one/own/SKILL.md, declared
			secret in secret
			  skills secret/skills/*/SKILL.md`)
	got := shown(table)
	must.Equal(t, "diff.Diff(want, got)", "", diff.Diff(want, got))
}

// count returns the number of accesses.
func count(reads *access.Reads) (n int) {
	for range reads.All {
		n++
	}
	return n
}

func TestFindReadsEachDirectoryAndManifestOnce(t *testing.T) {
	var entries []string
	files := map[string]string{"shared/.claude-plugin/plugin.json": `{"name":"shared","skills":["./more"]}`, "shared/commands/a.md": "", "shared/more/s/SKILL.md": ""}
	for i := range 100 {
		dir := fmt.Sprintf("plugins/p%d", i)
		files[dir+"/.claude-plugin/plugin.json"] = fmt.Sprintf(`{"name":"p%d"}`, i)
		files[dir+"/commands/a.md"], files[dir+"/skills/s/SKILL.md"], files[dir+"/hooks/hooks.json"], files[dir+"/.mcp.json"] = "", "", "{}", "{}"
		entries = append(entries, fmt.Sprintf(`{"name":"p%d","source":"./%s"}`, i, dir), fmt.Sprintf(`{"name":"s%d","source":"./shared","skills":["./more"]}`, i))
	}
	files[market] = `{"plugins":[` + strings.Join(entries, ",") + `]}`
	recorder, reads := memory(t, files, MaxSize)
	table, err := Find(t.Context(), recorder, ".", Options{})
	if err != nil || len(table.Plugins) != 200 {
		t.Fatal(err, len(table.Plugins))
	}
	// A marketplace, a manifest that is missing beside the marketplace, and 101 manifests; the top,
	// 101 plugins and one declared directory of skills.
	must.Equal(t, "the files and directories", 103+103, count(reads))
	checkTable(t, table)
}

// Entries that share a manifest share its fields, so a small marketplace does not repeat a large
// manifest.
func TestSharedManifestsDoNotMultiply(t *testing.T) {
	paths := make([]string, 2000)
	for i := range paths {
		paths[i] = fmt.Sprintf(`"./c%d.md"`, i)
	}
	entries := make([]string, 2000)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"name":"p%d","source":"./x"}`, i)
	}
	files := map[string]string{market: `{"plugins":[` + strings.Join(entries, ",") + `]}`, claude: `{"name":"p","description":"` + strings.Repeat("d", 1<<20) + `","commands":[` + strings.Join(paths, ",") + `]}`}
	table := findIn(t, files, ".", Options{})
	parts := 0
	for _, p := range table.Plugins {
		parts += len(p.Parts)
	}
	if len(table.Plugins) != 2000 || parts < maxParts || parts > maxParts+2000 || !slices.Contains(codes(table), problem.PluginInvalid) {
		t.Errorf("%d plugins, %d parts, %q", len(table.Plugins), parts, codes(table)[:min(3, len(codes(table)))])
	}
	if allocated := testing.AllocsPerRun(1, func() { findIn(t, files, ".", Options{}) }); allocated > 1e6 {
		t.Errorf("%.0f allocations", allocated)
	}
}

// A marketplace inside itself lists each file for each entry, so the entries that share a directory
// are limited. Single skills have no limit.
func TestEntriesThatShareADirectoryAreLimited(t *testing.T) {
	entries := make([]string, 300)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"name":"p%d","source":"./","strict":false,"skills":["./skills/one"]}`, i)
	}
	table := findIn(t, map[string]string{market: `{"plugins":[` + strings.Join(entries, ",") + `]}`, "commands/a.md": "", "skills/one/SKILL.md": ""}, ".", Options{})
	count := map[client.Files]int{}
	for _, p := range table.Plugins {
		for _, part := range p.Parts {
			count[part.Kind]++
		}
	}
	if len(table.Plugins) != 300 || count[client.Commands] != maxSharing || count[client.Skills] != 300 || !slices.Contains(codes(table), problem.PluginPathInvalid) {
		t.Errorf("%d plugins, parts %v, %q", len(table.Plugins), count, codes(table)[:min(3, len(codes(table)))])
	}
}

func TestFindReturnsTheErrorOfTheDirectory(t *testing.T) {
	recorder, _ := memory(t, map[string]string{"x/commands/a.md": ""}, MaxSize)
	must.Fail(Find(t.Context(), recorder, "missing", Options{}))(t, "Find", fs.ErrNotExist)
	must.Fail(Find(t.Context(), recorder, "../x", Options{}))(t, "Find", confine.ErrEscape)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(Find(ctx, recorder, ".", Options{}))(t, "Find", context.Canceled)
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{`{"name":"p","commands":["./a","../b","/c"],"skills":".","agents":"a.md","hooks":{},"mcpServers":["./x.json",{}]}`, `{` + schema + `,"name":"p","author":{"name":"a"},"keywords":["k"],"extensions":{}}`,
		`{"plugins":[{"name":"a","source":"./x","strict":false,"skills":["./s"]},{"name":"b","source":{"source":"url","url":"u"}},{"name":"a","source":"./"}],"metadata":{"pluginRoot":"./p"}}`, "\ufeff{}", `[`, `{"a":1,"a":2}`, "{\"name\":\"a\\u2028\\ud800\"}"} {
		f.Add([]byte(seed), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, names := range [][2]string{{market, claude}, {agent, "y/gemini-extension.json"}, {".agents/plugins/marketplace.json", "x/.codex-plugin/plugin.json"}, {claude, "y/.github/plugin/plugin.json"}} {
			files := map[string]string{names[0]: string(first), names[1]: string(second), "x/commands/a.md": "", "x/s/SKILL.md": "", "y/skills/s/SKILL.md": "", "SKILL.md": ""}
			recorder, reads := memory(t, files, MaxSize)
			table := must.Get(Find(t.Context(), recorder, ".", Options{Name: "top"}))(t)
			checkTable(t, table)
			if limit := 20 + len(first) + len(second); count(reads) > limit || len(table.Plugins) > limit {
				t.Errorf("%d files and directories and %d plugins of %d bytes", count(reads), len(table.Plugins), limit)
			}
		}
	})
}
