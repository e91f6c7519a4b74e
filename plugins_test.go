package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// marketplace is a marketplace of two plugins and a remote plugin.
func marketplace() map[string]string { return filesOf("marketplace") }

func withShop(more ...toolshelf.Option) []toolshelf.Option {
	return append([]toolshelf.Option{toolshelf.WithPlugins("shop")}, more...)
}

// pluginRows returns a line for each command and skill.
func pluginRows(t testing.TB, c *toolshelf.Catalog) (rows []string) {
	t.Helper()
	for command, err := range c.All(t.Context()) {
		must.Do(t, err)
		rows = append(rows, "command "+command.Name+" of "+command.Plugin)
	}
	skills, err := c.ListSkills(t.Context())
	if err != nil && !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
		t.Fatal(err)
	}
	for _, s := range skills {
		rows = append(rows, "skill "+s.Name+" of "+s.Plugin)
	}
	for _, a := range must.Get(c.ListAgents(t.Context()))(t) {
		rows = append(rows, "agent "+a.Name+" of "+a.Plugin)
	}
	return rows
}

func TestNamesInPluginsBeginWithThePlugin(t *testing.T) {
	want := []string{"command deploy:db:reset of deploy", "command deploy:go of deploy", "command review:go of review", "command review:only of review",
		"skill deploy:Cloud Skill of deploy", "skill review:style of review",
		"agent deploy:Guard of deploy", "agent review:db:guard of review", "agent review:go:head of review"}
	for name, c := range map[string]*toolshelf.Catalog{
		"memory": catalog(t, withShop(toolshelf.WithFs(memoryOf(t, marketplace())))...),
		"disk":   catalog(t, withShop(toolshelf.WithRoot(diskOf(t, marketplace())))...),
		"fs.FS":  catalog(t, toolshelf.WithRoot(t.TempDir()), toolshelf.WithPluginsFS("built in", mapFS(marketplace(), "shop/"))),
	} {
		must.Match(t, name, want, pluginRows(t, c))
	}
}

// mapFS returns the files below a directory.
func mapFS(files map[string]string, below string) fstest.MapFS {
	all := fstest.MapFS{}
	for name, text := range files {
		if rest, ok := strings.CutPrefix(name, below); ok {
			all[rest] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return all
}

func TestABareNameFindsTheOnlyPlugin(t *testing.T) {
	files := marketplace()
	files["commands/only.md"] = "Of the project."
	c := catalog(t, withShop(toolshelf.WithFs(memoryOf(t, files)))...)
	answer := func(name string, err error) string {
		if err == nil {
			return name
		}
		var e *toolshelf.Error
		must.Equal(t, "an error of the library", true, errors.As(err, &e))
		return strings.Join(append([]string{string(e.Code)}, e.Names...), " ")
	}
	must.Answer(t, string(must.Get(os.ReadFile("testdata/bare_names.txt"))(t)), map[string]func(t *testing.T, a ...string) string{
		"get": func(t *testing.T, a ...string) string {
			x, err := c.Get(t.Context(), a[0])
			return answer(x.Name, err)
		},
		"skill": func(t *testing.T, a ...string) string {
			x, err := c.GetSkill(t.Context(), a[0])
			return answer(x.Name, err)
		},
		"agent": func(t *testing.T, a ...string) string {
			x, err := c.GetAgent(t.Context(), a[0])
			return answer(x.Name, err)
		},
		"expand": func(t *testing.T, a ...string) string {
			x, err := c.Expand(t.Context(), "/"+a[0]+" x")
			return answer(x.Name, err)
		},
	})
}

func TestCompleteNameAlsoCompletesTheNamesWithoutThePlugin(t *testing.T) {
	files := marketplace()
	files["commands/gopher.md"] = "Of the project."
	c := catalog(t, withShop(toolshelf.WithFs(memoryOf(t, files)))...)
	const command, skill = toolshelf.KindCommand, toolshelf.KindSkill
	for _, tt := range []struct {
		rule, prefix string
		limit        int
		kinds        []toolshelf.Kind
		want         []string
	}{
		{rule: "whole names precede names without the plugin", prefix: "/go", want: []string{"gopher", "deploy:go", "review:go"}},
		{rule: "commands and skills are in one order", prefix: "c", want: []string{"deploy:Cloud Skill"}},
		{rule: "letter case does not matter", prefix: "STY", want: []string{"review:style"}},
		{rule: "a name without the plugin can have a directory", prefix: "db:", want: []string{"deploy:db:reset"}},
		{rule: "the last part of a name is no name", prefix: "reset", want: []string{}},
		{rule: "the limit counts all rows", prefix: "go", limit: 2, want: []string{"gopher", "deploy:go"}},
		{rule: "the limit can end before the names without the plugin", prefix: "go", limit: 1, want: []string{"gopher"}},
		{rule: "an entry is one row, even if both names begin with the prefix", prefix: "", limit: 100, want: []string{
			"deploy:Cloud Skill", "deploy:db:reset", "deploy:go", "gopher", "review:go", "review:only", "review:style"}},
		{rule: "a kind selects commands", prefix: "s", kinds: []toolshelf.Kind{command}, want: []string{}},
		{rule: "a kind selects skills", prefix: "s", kinds: []toolshelf.Kind{skill}, want: []string{"review:style"}},
	} {
		got := []string{}
		for _, row := range completed(t, c, tt.prefix, tt.limit, tt.kinds...) {
			got = append(got, row.Name)
		}
		must.Match(t, tt.rule, tt.want, got)
	}
	view := must.Get(c.View(toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Plugin != "deploy" })))(t)
	if rows := completed(t, view, "go", 0); len(rows) != 2 || rows[1].Name != "review:go" {
		t.Errorf("a filter: got %+v", rows)
	}
}

func TestExpandReadsANameOfSeveralWordsWithoutThePlugin(t *testing.T) {
	c := catalog(t, withShop(toolshelf.WithFs(memoryOf(t, marketplace())))...)
	for _, line := range []string{"/Cloud Skill 4", "/deploy:Cloud Skill 4"} {
		if x, err := c.Expand(t.Context(), line); err != nil || x.Name != "deploy:Cloud Skill" || x.Args.Line != "4" {
			t.Errorf("%s: got %q %q, %v", line, x.Name, x.Args.Line, err)
		}
	}
}

func TestAnUnknownNameSuggestsTheWholeNameInAPlugin(t *testing.T) {
	c := catalog(t, withShop(toolshelf.WithFs(memoryOf(t, marketplace())))...)
	for _, tt := range []struct {
		what, want string
		find       func() error
	}{
		{"a similar bare name", `did you mean "review:style"?`, func() error { _, err := c.GetSkill(t.Context(), "styl"); return err }},
		{"the last part of a name", `did you mean "deploy:db:reset"?`, func() error { _, err := c.Get(t.Context(), "reset"); return err }},
		{"a similar whole name", `did you mean "deploy:go"?`, func() error { _, err := c.Get(t.Context(), "deploy:og"); return err }},
		{"a similar typed name", `did you mean "review:style"?`, func() error { _, err := c.Expand(t.Context(), "/stlye x"); return err }},
		{"a similar agent", `did you mean "deploy:Guard"?`, func() error { _, err := c.GetAgent(t.Context(), "gaurd"); return err }},
		{"a path of an agent", `write "review:db:guard"`, func() error { _, err := c.GetAgent(t.Context(), "review/db/guard"); return err }},
		{"a path of a skill", `write "review:style"`, func() error { _, err := c.GetSkill(t.Context(), "review/style"); return err }},
	} {
		if err := tt.find(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.what, err, tt.want)
		}
	}
}

func TestADeclaredNamePrecedesTheDirectoryOfAnotherSkill(t *testing.T) {
	c := catalog(t, toolshelf.WithPlugins("p"), toolshelf.WithFs(memoryOf(t, map[string]string{
		"p/skills/cloud/SKILL.md": "---\nname: alpha\ndescription: d\n---\n",
		"p/skills/beta/SKILL.md":  "---\nname: cloud\ndescription: d\n---\n",
	})))
	for name, want := range map[string]string{"cloud": "p:cloud", "p:cloud": "p:cloud", "alpha": "p:alpha", "beta": "p:cloud"} {
		must.Equal(t, name, want, must.Get(c.GetSkill(t.Context(), name))(t).Name)
	}
}

// A catalog that lists without a scan also finds a skill by a name without the plugin.
func TestExpandFindsABareNameWithoutAScan(t *testing.T) {
	for what, c := range map[string]*toolshelf.Catalog{
		"a watch":             watching(t, withShop(toolshelf.WithRoot(diskOf(t, marketplace())))...),
		"an immutable fs.FS":  catalog(t, toolshelf.WithRoot(t.TempDir()), toolshelf.WithPluginsFS("shop", toolshelf.Immutable(mapFS(marketplace(), "shop/")))),
		"a scan of each call": catalog(t, withShop(toolshelf.WithFs(memoryOf(t, marketplace())))...),
	} {
		must.Get(c.ListSkills(t.Context()))(t)
		for name, want := range map[string]string{"style": "review:style", "cloud": "deploy:Cloud Skill", "deploy:cloud": "deploy:Cloud Skill"} {
			must.Equal(t, what, want, must.Get(c.Expand(t.Context(), "/"+name+" x"))(t).Name)
		}
	}
}

func TestASearchNamesThePlugin(t *testing.T) {
	c := catalog(t, withShop(toolshelf.WithFs(memoryOf(t, marketplace())))...)
	commands, err := c.Search(t.Context(), "resets", 0)
	if err != nil || len(commands.Results) != 1 || commands.Results[0].Name != "deploy:db:reset" || commands.Results[0].Plugin != "deploy" {
		t.Errorf("got %+v, %v", commands.Results, err)
	}
	skills, err := c.SearchSkills(t.Context(), "clouds", 0)
	if err != nil || len(skills.Results) != 1 || skills.Results[0].Name != "deploy:Cloud Skill" || skills.Results[0].Plugin != "deploy" {
		t.Errorf("got %+v, %v", skills.Results, err)
	}
}

func TestAnAmbiguousNameIsDescribedByItsKind(t *testing.T) {
	c := catalog(t, toolshelf.WithPlugins("plugins"), toolshelf.WithFs(memoryOf(t, map[string]string{
		"plugins/a/agents/x.md": "x", "plugins/b/agents/x.md": "x", "plugins/a/commands/y.md": "y", "plugins/b/commands/y.md": "y"})))
	_, err := c.GetAgent(t.Context(), "x")
	if want := `2 agents of plugins have the name "x"; write "a:x" or "b:x"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = c.Get(t.Context(), "y")
	if want := `2 commands of plugins have the name "y"; write "a:y" or "b:y"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAFilterDecidesABareName(t *testing.T) {
	c := catalog(t, withShop(toolshelf.WithFs(memoryOf(t, marketplace())))...)
	view := must.Get(c.View(toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Plugin == "review" })))(t)
	must.Equal(t, "command.Name", "review:go", must.Get(view.Get(t.Context(), "go"))(t).Name)
	must.Fail(view.Get(t.Context(), "db:reset"))(t, "the hidden command", toolshelf.ErrCommandNotFound)
}

func TestACommandOfTheWholeNamePrecedesASkillOfAPlugin(t *testing.T) {
	files := marketplace()
	files["commands/style.md"] = "Style."
	c := catalog(t, withShop(toolshelf.WithFs(memoryOf(t, files)))...)
	must.Equal(t, "Kind", toolshelf.KindCommand, must.Get(c.Expand(t.Context(), "/style"))(t).Kind)
}

func TestTheRulesOfAPluginAreThoseOfItsClient(t *testing.T) {
	c := catalog(t, withShop(toolshelf.WithFs(memoryOf(t, marketplace())))...)
	must.Equal(t, "Text", "Deploy eu.", must.Get(c.Expand(t.Context(), "/deploy:go eu us"))(t).Text)
}

// In Claude Code 2.1.330, a SKILL.md makes the directory skills one skill. In Agent Plugins 1.0.0,
// section 7.1, only subdirectories are skills.
func TestASkillFileInTheDirectoryOfTheSkillsOfAPlugin(t *testing.T) {
	files := map[string]string{"open/plugin.json": `{"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "open"}`, "claude/.claude-plugin/plugin.json": `{"name": "claude"}`}
	for _, dir := range []string{"open/skills/", "open/skills/below/", "claude/skills/", "claude/skills/below/"} {
		files["plugins/"+dir+"SKILL.md"] = "---\nname: " + filepath.Base(dir) + "\ndescription: Knows.\n---\nText."
	}
	for _, manifest := range []string{"open/plugin.json", "claude/.claude-plugin/plugin.json"} {
		files["plugins/"+manifest] = files[manifest]
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithPlugins("plugins"))
	must.Match(t, "result", []string{"skill claude:skills of claude", "skill open:below of open"}, pluginRows(t, c))
}

func TestLayersPrecedePluginsAndTheFirstPluginTheOthers(t *testing.T) {
	files := marketplace()
	files["commands/deploy/go.md"] = "Nested."
	files["more/deploy/.claude-plugin/plugin.json"] = `{"name": "deploy"}`
	files["more/deploy/commands/go.md"] = "Second."
	files["more/deploy/commands/new.md"] = "New."
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithPlugins("shop", "more"), toolshelf.WithNestedCommands())
	command := must.Get(c.Get(t.Context(), "deploy:go"))(t)
	must.Equal(t, "command.Content", "Nested.", command.Content)
	must.Equal(t, "command.Plugin", "", command.Plugin)
	must.Equal(t, "command.Layer", "more", must.Get(c.Get(t.Context(), "deploy:new"))(t).Layer)
	shadowed := slices.DeleteFunc(problems(t, c), func(p string) bool { return !strings.HasPrefix(p, "SHADOWED ") })
	must.Match(t, "shadowed", []string{"SHADOWED more/deploy/commands/go.md", "SHADOWED shop/plugins/deploy/commands/go.md"}, shadowed)
}

func TestPluginsDescribesLocalAndRemotePlugins(t *testing.T) {
	root := diskOf(t, marketplace())
	plugins := must.Get(catalog(t, withShop(toolshelf.WithRoot(root))...).Plugins(t.Context()))(t)
	var got []string
	for _, p := range plugins {
		below, _ := filepath.Rel(root, p.Path)
		got = append(got, strings.Join([]string{p.Name, p.Version, p.Description, p.Author.Name, p.Marketplace, p.Layer, filepath.ToSlash(below), p.Source.Kind, p.Source.Repo}, "|"))
	}
	want := []string{"deploy|1.2.0|Deploys.|Ada|shop|shop|shop/plugins/deploy|relative|", "review||||shop|shop|shop/plugins/review|relative|", "far||Elsewhere.||shop|shop||github|acme/far"}
	must.Match(t, "result", want, got)
}

func TestAPluginWithoutAManifestHasTheNameOfItsFilesystemOrDirectory(t *testing.T) {
	files := map[string]string{"deploy/commands/go.md": "Go.", "no..name/commands/go.md": "Go."}
	memory := toolshelf.WithFs(memoryOf(t, files))
	top := diskOf(t, files)
	deploy := filepath.Join(top, "deploy")
	for _, tt := range []struct {
		what string
		c    *toolshelf.Catalog
		want string // the only command; without a command, a part of the diagnostic
	}{
		{"an fs.FS", catalog(t, toolshelf.WithRoot(t.TempDir()), toolshelf.WithPluginsFS("built in", os.DirFS(deploy))), "built in:go"},
		{"an fs.FS with a name that no plugin can have", catalog(t, toolshelf.WithRoot(t.TempDir()), toolshelf.WithPluginsFS("built:in", os.DirFS(deploy))), `the name "built:in"`},
		{"a directory outside the root", catalog(t, toolshelf.WithRoot(t.TempDir()), toolshelf.WithPlugins(deploy)), "deploy:go"},
		{"a directory below the root", catalog(t, toolshelf.WithRoot(top), toolshelf.WithPlugins("deploy")), "deploy:go"},
		{"the root", catalog(t, toolshelf.WithRoot(deploy), toolshelf.WithCommandsDir(), toolshelf.WithPlugins(".")), "deploy:go"},
		{"a directory with a name that no plugin can have", catalog(t, memory, toolshelf.WithPlugins("no..name")), `the name "no..name"`},
	} {
		got := names(t, tt.c)
		if len(got) == 0 {
			for _, d := range must.Get(tt.c.Lint(t.Context()))(t) {
				got = append(got, d.Message)
			}
		}
		must.Len(t, tt.what, 1, got)
		must.Contain(t, tt.what, got[0], tt.want)
	}
}

func TestADeclaredPathThatDoesNotExistIsAWarningOfLint(t *testing.T) {
	for field, path := range map[string]string{"skills": "./nodir", "commands": "./nodir", "agents": "./none.md"} {
		c := catalog(t, toolshelf.WithPlugins("p"), toolshelf.WithFs(memoryOf(t, map[string]string{
			"p/.claude-plugin/plugin.json": `{"name": "p", "` + field + `": "` + path + `"}`})))
		diagnostics, err := c.Lint(t.Context())
		if err != nil || len(diagnostics) != 1 || diagnostics[0].Code != agentmd.DiagPluginPathInvalid || diagnostics[0].Severity != toolshelf.SeverityWarning {
			t.Errorf("%s: got %+v, %v", field, diagnostics, err)
		}
	}
}

func TestPluginsWithoutADirectory(t *testing.T) {
	if plugins, err := catalog(t, toolshelf.WithRoot(t.TempDir())).Plugins(t.Context()); err != nil || plugins == nil || len(plugins) > 0 {
		t.Errorf("without an option: %v, %v", plugins, err)
	}
	for _, dirs := range []toolshelf.Option{toolshelf.WithCommandsDir(), toolshelf.WithCommandsDir("none"), toolshelf.WithClient(client.Claude())} {
		c := catalog(t, withShop(toolshelf.WithRoot(t.TempDir()), dirs)...)
		must.Fail(c.Plugins(t.Context()))(t, "a missing directory", toolshelf.ErrDirectoryNotFound,
			"Plugins folder not found at path: shop")
	}
}

// A missing directory has no plugins, and changes no other list. Lint reports the directory.
func TestAMissingDirectoryOfPlugins(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, marketplace())), toolshelf.WithPlugins("shop", "none"), toolshelf.WithClient(client.Claude()))
	must.Len(t, "Plugins", 3, must.Get(c.Plugins(t.Context()))(t))
	must.Has(t, "Lint", problems(t, c), "DIRECTORY_NOT_FOUND none")
	empty := catalog(t, toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithPlugins("none"), toolshelf.WithClient(client.Claude()))
	must.Len(t, "List", 0, must.Get(empty.List(t.Context(), toolshelf.Page{}))(t).Commands)
	must.Len(t, "ListSkills", 0, must.Get(empty.ListSkills(t.Context()))(t))
}

// A removed directory of plugins has no plugins from the next call on.
func TestAnUninstalledPluginIsGone(t *testing.T) {
	root := diskOf(t, marketplace())
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithPlugins("shop", "shop/plugins/review"))
	must.Len(t, "plugins", 4, must.Get(c.Plugins(t.Context()))(t))
	must.Do(t, os.RemoveAll(filepath.Join(root, "shop", "plugins")))
	plugins := must.Get(c.Plugins(t.Context()))(t)
	must.Len(t, "plugins", 1, plugins)
	must.Equal(t, "Name", "far", plugins[0].Name)
}

func TestPluginsOmitsThePluginsOfARemovedDirectory(t *testing.T) {
	files := marketplace()
	files["more/other/commands/go.md"] = "Other."
	root := diskOf(t, files)
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithPlugins("shop", "more"))
	for want := 4; want >= 1; want -= 3 {
		must.Len(t, "plugins", want, must.Get(c.Plugins(t.Context()))(t))
		must.Do(t, os.RemoveAll(filepath.Join(root, "shop")))
	}
}

func TestAMissingPluginIsListedWhenItsEmptyDirectoryExists(t *testing.T) {
	root := diskOf(t, map[string]string{
		"shop/.claude-plugin/marketplace.json": `{"name": "shop", "plugins": [{"name": "late", "source": "./plugins/late"}]}`,
		"shop/plugins/README.md":               "The directory of the plugins does not change.",
	})
	c := catalog(t, withShop(toolshelf.WithRoot(root))...)
	for want := range 2 {
		must.Len(t, "plugins", want, must.Get(c.Plugins(t.Context()))(t))
		must.Do(t, os.MkdirAll(filepath.Join(root, "shop", "plugins", "late"), 0o777))
	}
}

func TestAManifestThatNamesTheDefaultDirectoryChangesNoCommand(t *testing.T) {
	root := diskOf(t, marketplace())
	c := catalog(t, withShop(toolshelf.WithRoot(root))...)
	changes := make(chan toolshelf.Change, 10)
	_ = names(t, c)
	c.OnChange(func(change toolshelf.Change) { changes <- change })
	for file, text := range map[string]string{
		"shop/plugins/deploy/.claude-plugin/plugin.json": `{"name": "deploy", "commands": "./commands"}`,
		"shop/plugins/review/commands/new.md":            "New.",
	} {
		must.Do(t, os.WriteFile(filepath.Join(root, filepath.FromSlash(file)), []byte(text), 0o666))
	}
	_ = names(t, c)
	must.Match(t, "result", toolshelf.Names{Added: []string{"review:new"}}, (<-changes).Commands)
}

// No link of a plugin leads to the files of another plugin or of the project.
func TestALinkLeadsOutOfNoPlugin(t *testing.T) {
	files := marketplace()
	files["secret.md"] = "Secret."
	files["shop/plugins/review/inner.md"] = "Inner."
	root := diskOf(t, files)
	for link, target := range map[string]string{
		"shop/plugins/review/commands/out.md":       "../../../../secret.md",
		"shop/plugins/review/commands/other.md":     "../../deploy/commands/go.md",
		"shop/plugins/review/commands/in.md":        "../inner.md",
		"shop/plugins/review/skills/stolen":         "../../deploy/skills/cloud",
		"shop/plugins/review/skills/style/notes.md": "../../../deploy/skills/cloud/notes.md",
	} {
		hosttest.Symlink(t, target, filepath.Join(root, filepath.FromSlash(link)))
	}
	c := catalog(t, withShop(toolshelf.WithRoot(root))...)
	var of []string
	for _, row := range pluginRows(t, c) {
		if strings.HasSuffix(row, " of review") {
			of = append(of, strings.TrimSuffix(row, " of review"))
		}
	}
	must.Match(t, "of", []string{"command review:go", "command review:in", "command review:only", "skill review:style", "agent review:db:guard", "agent review:go:head"}, of)
	must.Fail(c.ReadSkillFile(t.Context(), "review:style", "notes.md"))(t, "a file of the skill", toolshelf.ErrOutsideRoot)
}

// The answers of a catalog after any changes of the plugins are those of a new catalog.
func TestAChangeOfAPluginIsSeenByTheNextCall(t *testing.T) {
	manifest := func(name string) string { return fmt.Sprintf(`{"name": %q}`, name) }
	changes := map[string][]string{ // the contents of a file; "" removes the file
		"shop/.claude-plugin/marketplace.json": {marketplace()["shop/.claude-plugin/marketplace.json"], "", `{`,
			`{"name": "shop", "plugins": [{"name": "review", "source": "./plugins/review"}, {"name": "deploy", "source": "./plugins/deploy"}]}`,
			`{"name": "shop", "plugins": [{"name": "deploy", "source": "./plugins/deploy", "commands": "./more"}, {"name": "deploy", "source": "./plugins/review"}]}`},
		"shop/plugins/deploy/.claude-plugin/plugin.json": {manifest("deploy"), manifest("rollout"), "", "[]"},
		"shop/plugins/deploy/.codex-plugin/plugin.json":  {"", manifest("codex")},
		"shop/plugins/review/.claude-plugin/plugin.json": {"", manifest("review"), manifest("deploy")},
		"shop/plugins/deploy/commands/go.md":             {"Go.", "", "Went."},
		"shop/plugins/deploy/more/more.md":               {"", "More."},
		"shop/plugins/review/commands/go.md":             {"Go.", ""},
		"shop/plugins/review/skills/style/SKILL.md":      {"---\nname: style\ndescription: d\n---\n", "", "---\nname: other\ndescription: d\n---\n"},
		"shop/plugins/review/agents/go/Lead.md":          {"", "---\nname: Lead\n---\n", "---\nname: [x\n---\n"},
		"shop/plugins/third/commands/go.md":              {"", "Third."},
		"shop/deploy/commands/go.md":                     {"", "Below the top."},
		"commands/deploy/go.md":                          {"", "Nested."},
	}
	paths := slices.Sorted(maps.Keys(changes))
	for seed := range uint64(catalogtest.Rounds(6, 60)) {
		random := rand.New(rand.NewPCG(seed, 31))
		root := diskOf(t, marketplace())
		options := withShop(toolshelf.WithRoot(root), toolshelf.WithNestedCommands())
		if seed%2 == 1 {
			options[0] = toolshelf.WithPlugins("shop/plugins")
		}
		old := catalog(t, options...)
		for range 25 {
			file := paths[random.IntN(len(paths))]
			text := changes[file][random.IntN(len(changes[file]))]
			full := filepath.Join(root, filepath.FromSlash(file))
			if text == "" {
				_ = os.Remove(full)
			} else if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o777), os.WriteFile(full, []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
			got, want := pluginAnswers(t.Context(), old), pluginAnswers(t.Context(), catalog(t, options...))
			must.Match(t, seed, want, got)
		}
	}
}

// pluginAnswers returns the results of several methods.
func pluginAnswers(ctx context.Context, c *toolshelf.Catalog) map[string]string {
	all := map[string]string{}
	add := func(method string, value any, err error) { all[method] = fmt.Sprintf("%+v, %v", value, err) }
	for _, name := range []string{"deploy:go", "review:go", "go", "rollout:go"} {
		command, err := c.Get(ctx, name)
		add("Get "+name, command.Name+" "+command.Content, err)
	}
	for _, name := range []string{"review:style", "style", "review:other"} {
		skill, err := c.GetSkill(ctx, name)
		add("GetSkill "+name, skill.Name+" "+skill.Path, err)
	}
	list, err := c.List(ctx, toolshelf.Page{})
	add("List", list, err)
	skills, err := c.ListSkills(ctx)
	add("ListSkills", skills, err)
	agents, err := c.ListAgents(ctx)
	add("ListAgents", agents, err)
	plugins, err := c.Plugins(ctx)
	add("Plugins", plugins, err)
	diagnostics, err := c.Lint(ctx)
	add("Lint", diagnostics, err)
	return all
}

// With a watch, a call needs no scan of unchanged plugins, and sees a change of a manifest.
func TestAWatchReportsAChangeOfAManifest(t *testing.T) {
	root := diskOf(t, marketplace())
	c := watching(t, withShop(toolshelf.WithRoot(root))...)
	must.Get(c.Get(t.Context(), "deploy:go"))(t)
	for _, change := range []struct{ file, text, name string }{
		{"shop/plugins/deploy/.claude-plugin/plugin.json", `{"name": "deploy", "commands": "./more"}`, ""},
		{"shop/plugins/deploy/more/new.md", "New.", "deploy:new"},
		{"shop/.claude-plugin/marketplace.json", `{"name": "shop", "plugins": [{"name": "other", "source": "./plugins/review"}]}`, "other:only"},
	} {
		full := filepath.Join(root, filepath.FromSlash(change.file))
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(full), 0o777), os.WriteFile(full, []byte(change.text), 0o666)))
		eventually(t, func() string {
			list, err := c.List(t.Context(), toolshelf.Page{})
			if err != nil {
				return err.Error()
			}
			var all []string
			for _, row := range list.Commands {
				all = append(all, row.Name)
			}
			if change.name == "" && slices.Contains(all, "deploy:go") || change.name != "" && !slices.Contains(all, change.name) {
				return fmt.Sprint(change.file, " has no effect: ", all)
			}
			return ""
		})
	}
}

func ExampleWithPlugins() {
	fsys := afero.NewMemMapFs()
	write := func(name, text string) {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			panic(err)
		}
	}
	write("shop/.claude-plugin/marketplace.json", `{"name": "shop", "plugins": [{"name": "deploy", "source": "./deploy"}]}`)
	write("shop/deploy/commands/rollback.md", "Roll back to $ARGUMENTS.")

	catalog, err := toolshelf.New(toolshelf.WithFs(fsys), toolshelf.WithPlugins("shop"))
	if err != nil {
		panic(err)
	}
	defer catalog.Close()
	for _, name := range []string{"deploy:rollback", "rollback"} {
		command, err := catalog.Get(context.Background(), name)
		if err != nil {
			panic(err)
		}
		fmt.Println(command.Name, "of", command.Plugin)
	}
	// Output:
	// deploy:rollback of deploy
	// deploy:rollback of deploy
}

func ExampleWithPluginsFS() {
	builtIn := fstest.MapFS{ // usually an embed.FS
		"deploy/.claude-plugin/plugin.json": {Data: []byte(`{"name": "deploy"}`)},
		"deploy/skills/cloud/SKILL.md":      {Data: []byte("---\ndescription: Knows the cloud.\n---\n")},
	}
	catalog, err := toolshelf.New(toolshelf.WithRoot("testdata"), toolshelf.WithPluginsFS("built in", builtIn))
	if err != nil {
		panic(err)
	}
	defer catalog.Close()
	skill, err := catalog.GetSkill(context.Background(), "deploy:cloud")
	if err != nil {
		panic(err)
	}
	fmt.Println(skill.Name, "from", skill.Layer)
	// Output: deploy:cloud from built in
}

func ExampleCatalog_Plugins() {
	market := fstest.MapFS{".claude-plugin/marketplace.json": {Data: []byte(`{"name": "shop", "plugins": [
		{"name": "deploy", "source": "./deploy", "version": "1.2.0"},
		{"name": "review", "source": {"source": "github", "repo": "acme/review"}}]}`)}, "deploy/commands/rollback.md": {}}
	catalog, err := toolshelf.New(toolshelf.WithPluginsFS("shop", market))
	if err != nil {
		panic(err)
	}
	defer catalog.Close()
	plugins, err := catalog.Plugins(context.Background())
	if err != nil {
		panic(err)
	}
	for _, p := range plugins {
		fmt.Printf("%s: %s %s\n", p.Name, p.Source.Kind, p.Source.Path+p.Source.Repo)
	}
	// Output:
	// deploy: relative ./deploy
	// review: github acme/review
}

func TestNamesOfTwoPluginsMayDifferInCaseOnly(t *testing.T) {
	files := map[string]string{"shop/Deploy/commands/go.md": "---\ndescription: Goes.\n---\n", "shop/deploy/commands/go.md": "---\ndescription: Goes.\n---\n"}
	must.Len(t, "all", 0, problems(t, catalog(t, withShop(toolshelf.WithFs(memoryOf(t, files)))...)))
}

// Claude Code 2.1.332 lists these commands, skills and agents, 2026-11: npm @anthropic-ai/claude-code, started in the project.
func TestPluginsBelowTheSkillsOfClaude(t *testing.T) {
	files := map[string]string{
		"/p/.claude/skills/tool/.claude-plugin/plugin.json": `{"name":"tool-p"}`, "/p/.claude/skills/tool/skills/lint/SKILL.md": skillFile("lint"),
		"/p/.claude/skills/tool/commands/run.md": "Run.", "/p/.claude/skills/tool/agents/a.md": "---\nname: a\ndescription: A.\n---\nText.",
		"/p/.claude/skills/both/.claude-plugin/plugin.json": `{"name":"both"}`, "/p/.claude/skills/both/SKILL.md": skillFile("both"), "/p/.claude/skills/both/skills/inner/SKILL.md": skillFile("inner"),
		"/p/.claude/skills/alone/.claude-plugin/plugin.json": `{"name":"alone"}`, "/p/.claude/skills/alone/SKILL.md": skillFile("alone"),
		"/p/.claude/skills/bare/skills/deep/SKILL.md": skillFile("deep"), "/p/.claude/skills/plain/SKILL.md": skillFile("plain"),
		"/p/.claude/skills/broken/.claude-plugin/plugin.json": `{`, "/p/.claude/skills/group/inner/.claude-plugin/plugin.json": `{"name":"inner"}`,
		"/p/.claude/skills/market/.claude-plugin/marketplace.json": `{"name":"m","plugins":[{"name":"mp","source":"./mp"}]}`, "/p/.claude/skills/market/mp/commands/m.md": "M.",
		"/h/.claude/skills/userp/.claude-plugin/plugin.json": `{"name":"userp"}`, "/h/.claude/skills/userp/skills/u/SKILL.md": skillFile("u"),
		"/.git": "", "/.claude/skills/above/.claude-plugin/plugin.json": `{"name":"above"}`, "/.claude/skills/above/commands/x.md": "X.",
	}
	fsys := memoryOf(t, files)
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/p"), toolshelf.WithHome("/h"), toolshelf.WithClient(client.Claude()), toolshelf.WithParents(""))
	var got []string
	for command, err := range c.All(t.Context()) {
		got = append(got, fmt.Sprint("command ", command.Name, err))
	}
	skills, err := c.ListSkills(t.Context())
	for _, s := range skills {
		got = append(got, fmt.Sprint("skill ", s.Name, " ", s.Loadable))
	}
	agents, err2 := c.ListAgents(t.Context())
	for _, a := range agents {
		got = append(got, "agent "+a.Name)
	}
	plugins, err3 := c.Plugins(t.Context())
	for _, p := range plugins {
		got = append(got, "plugin "+p.Name+" in "+p.Layer)
	}
	must.Do(t, errors.Join(err, err2, err3))
	want := []string{"command tool-p:run<nil>", "skill above false", "skill alone true", "skill bare false", "skill both true", "skill both:inner true", "skill group false", "skill market false",
		"skill plain true", "skill tool-p:lint true", "skill userp:u true", "agent tool-p:a", "plugin alone in .claude/skills", "plugin both in .claude/skills", "plugin tool-p in .claude/skills", "plugin userp in ~/.claude/skills"}
	must.Match(t, "result", want, got)
	invalid := false
	for _, p := range problems(t, c) {
		if strings.HasPrefix(p, "SKILL_FILE_MISSING .claude/skills/tool") || strings.HasPrefix(p, "SKILL_FILE_MISSING .claude/skills/broken") {
			t.Errorf("a plugin has the problem %s", p)
		}
		invalid = invalid || strings.HasPrefix(p, "PLUGIN_INVALID .claude/skills/broken/.claude-plugin/plugin.json")
	}
	must.Equal(t, "invalid", true, invalid)
}

func TestAPluginBelowSkillsAppearsAndDisappearsWithItsManifest(t *testing.T) {
	for _, options := range [][]toolshelf.Option{nil, {toolshelf.WithWatch()}} {
		root := t.TempDir()
		manifest := filepath.Join(root, ".claude", "skills", "tool", ".claude-plugin", "plugin.json")
		put := func(name, text string) {
			must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)))
		}
		put(filepath.Join(root, ".claude", "skills", "tool", "commands", "run.md"), "Run.")
		must.Do(t, os.Mkdir(filepath.Dir(manifest), 0o755)) // the first scan finds no file in the directory
		c := catalog(t, append(options, toolshelf.WithRoot(root), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()))...)
		names := func() (all []string) {
			for command, err := range c.All(t.Context()) {
				must.Do(t, err)
				all = append(all, command.Name)
			}
			return all
		}
		for range 2 {
			if got := names(); got != nil {
				t.Errorf("without a manifest: %q", got)
			}
			put(manifest, `{"name":"tool"}`)
			eventually(t, func() string { return cmp.Diff([]string{"tool:run"}, names()) })
			must.Do(t, os.RemoveAll(filepath.Dir(manifest)))
			eventually(t, func() string { return cmp.Diff([]string(nil), names()) })
		}
	}
}

// With ForPath, the name of a list is not the short name of a skill of a plugin, and a plugin without
// such a skill of a directory keeps the short name.
func TestASkillForAPathPrecedesTheShortNameOfAPlugin(t *testing.T) {
	at := func(text string) string { return skill("description: " + text) }
	files := map[string]string{
		"packages/web/.claude/skills/deploy/SKILL.md": at("Ships the website"),
		"one/.claude-plugin/plugin.json":              `{"name": "one"}`, "one/skills/deploy/SKILL.md": at("Of one"), "one/skills/lint/SKILL.md": at("Of one"),
		"two/.claude-plugin/plugin.json": `{"name": "two"}`, "two/skills/deploy/SKILL.md": at("Of two"),
	}
	for _, plugins := range [][]string{{"one"}, {"one", "two"}} {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()), toolshelf.WithPlugins(plugins...))
		for name, want := range map[string]string{"deploy": "packages/web:deploy", "one:deploy": "one:deploy", "lint": "one:lint"} {
			must.Equal(t, name, want,
				must.Get(c.GetSkill(t.Context(), name, toolshelf.ForPath("packages/web/a.ts")))(t).Name)
		}
		_, err := c.GetSkill(t.Context(), "deploy", toolshelf.ForPath("docs"))
		must.Equal(t, "for another path", len(plugins) == 2, errors.Is(err, toolshelf.ErrAmbiguousName))
	}
}

func TestRestorePromptHasATextOnce(t *testing.T) {
	files := map[string]string{"one/.claude-plugin/plugin.json": `{"name": "one"}`, "one/skills/deploy/SKILL.md": skill("description: d"), "one/commands/go.md": "Go."}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithPlugins("one"))
	got := must.Get(c.RestorePrompt(t.Context(), []toolshelf.Item{{Kind: toolshelf.KindSkill, Name: "deploy"}, {Kind: toolshelf.KindSkill, Name: "one:deploy"},
		{Kind: toolshelf.KindCommand, Name: "one:go", Plugin: "one"}, {Kind: toolshelf.KindCommand, Name: "go"}}))(t)
	must.Match(t, "got.Included", []string{"one:go", "one:deploy"}, got.Included)
}
