package toolshelf_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// agentNames returns the names of ListAgents, with "!" after the name of an agent that cannot be
// loaded, and checks that GetAgent and Agents return each listed agent.
func agentNames(t *testing.T, c *toolshelf.Catalog) (all []string) {
	t.Helper()
	list := must.Get(c.ListAgents(t.Context()))(t)
	ranged := collected(t, c.Agents(t.Context()))
	must.Len(t, "Agents has agents", len(list), ranged)
	for i, info := range list {
		must.Match(t, "ListAgents and Agents", info, ranged[i].AgentInfo)
		if !info.Loadable {
			all = append(all, info.Name+"!")
			continue
		}
		all = append(all, info.Name)
		for range 2 { // first read from the file, then cached
			agent, err := c.GetAgent(t.Context(), info.Name)
			if err != nil || !strings.HasSuffix(string(agent.Raw), agent.Content) {
				t.Errorf("GetAgent(%q): %+v, %v", info.Name, agent, err)
			}
			must.Equal(t, "agent.Content", ranged[i].Content, agent.Content)
			must.Match(t, "agent.Raw", ranged[i].Raw, agent.Raw)
			must.Match(t, "ListAgents and GetAgent", info, agent.AgentInfo)
		}
	}
	return all
}

// onMemoryAndDisk runs a test over the same files in memory and on the disk.
func onMemoryAndDisk(t *testing.T, files map[string]string, test func(t *testing.T, at toolshelf.Option)) {
	t.Run("memory", func(t *testing.T) { test(t, toolshelf.WithFs(memoryOf(t, files))) })
	t.Run("disk", func(t *testing.T) { test(t, toolshelf.WithRoot(diskOf(t, files))) })
}

func TestAgentsHaveTheNameOfTheirHeaderOrOfTheirFile(t *testing.T) {
	files := map[string]string{
		"agents/a.md":               "---\nname: reviewer\ndescription: Reviews\n---\nReview.\n",
		"agents/team/plan/lead.md":  "Lead.\n",
		"agents/team/B.MD":          "---\nname: \"\"\n---\n",
		"agents/c.md":               "---\nname: x/y\n---\n",
		"agents/README.md":          "---\nname: readme\n---\n",
		"agents/.hidden.md":         "---\nname: hidden\n---\n",
		"agents/.dir/d.md":          "",
		"agents/notes.txt":          "",
		"agents/pdf/SKILL.md":       "---\nname: pdf\ndescription: d\n---\n",
		"agents/pdf/reference.md":   "",
		"agents/e.md":               "---\nname: Two Words\n---\n",
		"more/z.md":                 "---\nname: reviewer\n---\n",
		"more/other.md":             "---\nname: plugin:other\n---\n",
		"commands/review.md":        "",
		".claude/agents/claude.md":  "---\nname: claude\n---\n",
		".claude/agents/nameless.m": "",
	}
	onMemoryAndDisk(t, files, func(t *testing.T, at toolshelf.Option) {
		c := catalog(t, at, toolshelf.WithAgentsDir("agents", "missing"), toolshelf.WithAgentsDir("more"))
		must.Match(t, "agentNames(t, c)",
			[]string{"B", "c", "lead", "plugin:other", "reviewer", "Two Words"}, agentNames(t, c))
		agent, err := c.GetAgent(t.Context(), "reviewer")
		if err != nil || agent.Layer != "agents" || !slices.Equal(agent.Shadows, []string{"more/z.md"}) || agent.Content != "Review.\n" || agent.Description != "Reviews" {
			t.Errorf("got %+v, %v", agent, err)
		}
	})
}

func TestTheNameOfAnAgentFollowsTheRuleOfItsPlace(t *testing.T) {
	for rule, want := range map[client.NameRule][]string{
		client.OnlyHeader: {"declared"},
		client.FromHeader: {"declared", "plain"},
		client.FromPath:   {"sub:named", "sub:plain"},
	} {
		files := map[string]string{"p/sub/named.md": "---\nname: declared\n---\n", "p/sub/plain.md": "Text.\n"}
		onMemoryAndDisk(t, files, func(t *testing.T, at toolshelf.Option) {
			row := client.Client{Name: "mine", Agents: []client.Place{{Dir: "p", Pattern: "**/*.md", Name: rule}}}
			c := catalog(t, at, toolshelf.WithClient(row))
			must.Match(t, rule, want, agentNames(t, c))
			must.Equal(t, rule, rule == client.OnlyHeader,
				slices.Contains(problems(t, c), "FRONTMATTER_REQUIRED p/sub/plain.md"))
		})
	}
}

func TestWithClientReadsThePlacesOfAgents(t *testing.T) {
	files := map[string]string{
		"/r/p/.git/x": "", "/r/p/.claude/agents/own.md": "---\nname: own\n---\n", "/r/p/.claude/agents/nameless.md": "",
		"/r/.claude/agents/above.md": "---\nname: above\n---\n", "/r/p/q/x": "",
		"/h/.claude/agents/home.md": "---\nname: home\n---\n", "/h/.claude/agents/own.md": "---\nname: own\n---\n",
		"/r/p/.github/agents/check.agent.md": "---\ndescription: Checks\n---\n", "/r/p/.github/agents/other.md": "",
		"/r/p/.opencode/agents/deep/a.md": "---\nname: other\n---\n",
	}
	fsys := toolshelf.WithFs(memoryOf(t, files))
	for name, tt := range map[string]struct {
		options []toolshelf.Option
		want    []string
	}{
		"the project":        {[]toolshelf.Option{toolshelf.WithRoot("/r/p"), toolshelf.WithClient(client.Claude())}, []string{"own"}},
		"the home directory": {[]toolshelf.Option{toolshelf.WithRoot("/r/p"), toolshelf.WithHome("/h"), toolshelf.WithClient(client.Claude())}, []string{"home", "own"}},
		"the parents":        {[]toolshelf.Option{toolshelf.WithRoot("/r/p/q"), toolshelf.WithParents(""), toolshelf.WithClient(client.Claude())}, []string{"own"}},
		"an ending":          {[]toolshelf.Option{toolshelf.WithRoot("/r/p"), toolshelf.WithClient(client.VSCode())}, []string{"check", "nameless", "own"}},
		"directories":        {[]toolshelf.Option{toolshelf.WithRoot("/r/p"), toolshelf.WithClient(client.OpenCode())}, []string{"other"}},
		"and directories":    {[]toolshelf.Option{toolshelf.WithRoot("/r/p"), toolshelf.WithClient(client.Claude()), toolshelf.WithAgentsDir(".opencode/agents")}, []string{"other", "own"}},
		"a client without":   {[]toolshelf.Option{toolshelf.WithRoot("/r/p"), toolshelf.WithClient(client.Crush())}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			must.Match(t, "agentNames", tt.want, agentNames(t, catalog(t, append(tt.options, fsys)...)))
		})
	}
}

func TestACatalogWithoutAgents(t *testing.T) {
	for name, options := range map[string][]toolshelf.Option{
		"without options":             nil,
		"with a directory of nothing": {toolshelf.WithAgentsDir()},
		"with a client":               {toolshelf.WithClient(client.Crush())},
	} {
		t.Run(name, func(t *testing.T) {
			c := catalog(t, append(options, toolshelf.WithFs(memoryOf(t, map[string]string{"agents/a.md": ""})))...)
			if list, err := c.ListAgents(t.Context()); err != nil || list == nil || len(list) > 0 {
				t.Errorf("ListAgents: %v, %v", list, err)
			}
			must.Equal(t, "AgentsPrompt", "", must.Get(c.AgentsPrompt(t.Context()))(t).Text)
			must.Fail(c.GetAgent(t.Context(), "a"))(t, "GetAgent", toolshelf.ErrAgentNotFound,
				"add WithAgentsDir")
		})
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, nil)), toolshelf.WithAgentsDir("agents"))
	must.Fail(c.ListAgents(t.Context()))(t, "ListAgents of a missing directory", toolshelf.ErrDirectoryNotFound)
	if _, err := c.GetAgent(t.Context(), "a"); !errors.Is(err, toolshelf.ErrAgentNotFound) || !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
		t.Errorf("GetAgent of a missing directory: %v", err)
	}
}

func TestErrorsOfGetAgent(t *testing.T) {
	files := map[string]string{"agents/a.md": "---\nname: reviewer\n---\n", "agents/large.md": strings.Repeat("x", 200)}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithAgentsDir("agents"), toolshelf.WithMaxFileSize(100))
	for name, want := range map[string]string{
		"../a":               `invalid agent name "../a"; use a listed name, without separators, control characters and leading dot (INVALID_AGENT_NAME)`,
		"agents/reviewer.md": `invalid agent name "agents/reviewer.md"; write "reviewer" (INVALID_AGENT_NAME)`,
		"":                   `invalid agent name ""; use a listed name, without separators, control characters and leading dot (INVALID_AGENT_NAME)`,
		"reviwer":            `there is no agent "reviwer"; did you mean "reviewer"? (AGENT_NOT_FOUND)`,
		"something":          `there is no agent "something"; list the agents for the names (AGENT_NOT_FOUND)`,
		"large":              `the file of agent "large" is larger than allowed; shorten the file, or raise the limit with WithMaxFileSize (FILE_TOO_LARGE)`,
	} {
		if _, err := c.GetAgent(t.Context(), name); err == nil || err.Error() != "toolshelf: GetAgent: "+want {
			t.Errorf("GetAgent(%q): %v", name, err)
		}
	}
	must.Match(t, "agentNames", []string{"large!", "reviewer"}, agentNames(t, c))
}

func TestToolsOfAnAgentAreAllToolsOnlyWithoutTheField(t *testing.T) {
	for header, want := range map[string][]string{
		"name: a":                               nil,
		"tools: Read, Bash(git diff:*)":         {"Read", "Bash(git diff:*)"},
		"tools: [Read, 'mcp__github__*']":       {"Read", "mcp__github__*"},
		"tools: []":                             {},
		"tools: Read, Bash(git":                 {"Read", "Bash(git"}, // no program can read the rule
		"tools:\n  read: true\n  write: false":  {"read"},
		"tools: Read\nallowed-tools: Bash(git(": {"Read"},
	} {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"agents/x.md": "---\n" + header + "\n---\n"})), toolshelf.WithAgentsDir("agents"))
		list := must.Get(c.ListAgents(t.Context()))(t)
		must.Len(t, "list", 1, list)
		must.Match(t, header, want, list[0].Tools)
	}
}

// A list that omits part of a large frontmatter still has the tools.
func TestToolsOfAnAgentAreListedWithoutRoomForItsFrontmatter(t *testing.T) {
	files := manyHeaders(700, "agents/a%d.md", "---\ndescription: "+strings.Repeat("y", 60_000)+"\ntools:\n  - Read\n  - Grep\nmodel: opus\n---\n")
	c := catalog(t, toolshelf.WithFs(afero.FromIOFS{FS: files}), toolshelf.WithAgentsDir("agents"))
	list := must.Get(c.ListAgents(t.Context()))(t)
	cut := 0
	for _, a := range list {
		must.Match(t, a.Name, []string{"Read", "Grep"}, a.Tools)
		must.Equal(t, a.Name, "opus", a.Model)
		if slices.ContainsFunc(a.Diagnostics, notKept) {
			cut++
		}
	}
	if cut == 0 {
		t.Error("all frontmatters are whole; the test shows nothing")
	}
}

func TestAgentsPromptHasTheAgentsForAModel(t *testing.T) {
	files := map[string]string{
		"agents/a.md": "---\ndescription: Reviews <code>\n---\n", "agents/b.md": "No description.\n", "agents/c.md": "---\ndescription: For a user\ndisable-model-invocation: true\n---\n",
		"agents/d.md": "---\ndescription: Deploys\n---\n", "agents/large.md": "---\ndescription: Large\n---\n" + strings.Repeat("x", 100),
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithAgentsDir("agents"), toolshelf.WithMaxFileSize(100))
	prompt, err := c.AgentsPrompt(t.Context(), toolshelf.PromptLocations())
	want := "<available_agents>\n  <agent>\n    <name>a</name>\n    <description>Reviews &lt;code&gt;</description>\n    <location>agents/a.md</location>\n  </agent>\n" +
		"  <agent>\n    <name>d</name>\n    <description>Deploys</description>\n    <location>agents/d.md</location>\n  </agent>\n</available_agents>"
	if err != nil || strings.TrimSpace(prompt.Text) != want || !slices.Equal(prompt.Included, []string{"a", "d"}) {
		t.Errorf("got %+v, %v, want %q", prompt, err, want)
	}
	first, err := c.AgentsPrompt(t.Context(), toolshelf.Budget(160), toolshelf.PromptFor("deploy"))
	if err != nil || !slices.Equal(first.Included, []string{"d", "a"}) || !slices.Equal(first.Named, []string{"a"}) {
		t.Errorf("got %+v, %v", first, err)
	}
}

func TestJSONOfAnAgent(t *testing.T) {
	files := map[string]string{"agents/x.md": "---\nname: a\ndescription: Reviews\ntools: [Read]\nmodel: opus\ncolor: red\n---\nReview <this>.\n"}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithAgentsDir("agents"))
	agent := must.Get(c.GetAgent(t.Context(), "a"))(t)
	const info = `{"name":"a","declared_name":"a","description":"Reviews","model":"opus","tools":["Read"],"user_invocable":true,"loadable":true,"path":"agents/x.md","layer":"agents"`
	for _, tt := range []struct {
		value any
		want  string
	}{
		{agent.AgentInfo, info + "}"},
		{agent, info + `,"frontmatter":{"name":"a","description":"Reviews","tools":["Read"],"model":"opus","color":"red"},"content":"Review \u003cthis\u003e.\n"}`},
	} {
		must.Equal(t, "Marshal", tt.want, string(must.Get(json.Marshal(tt.value))(t)))
	}
}

func TestAResultOfGetAgentBelongsToTheCaller(t *testing.T) {
	root := diskOf(t, map[string]string{"agents/a.md": "---\nname: a\nname: a\ntools: [Read]\n---\nText.\n"})
	at := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(filepath.Join(root, "agents", "a.md"), at, at))
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithAgentsDir("agents"))
	for range 3 {
		agent, err := c.GetAgent(t.Context(), "a")
		if err != nil || string(agent.Raw) != "---\nname: a\nname: a\ntools: [Read]\n---\nText.\n" || agent.Tools[0] != "Read" || agent.Diagnostics[0].Code != agentmd.DiagDuplicateKey {
			t.Fatalf("got %+v, %v", agent, err)
		}
		agent.Raw[0], agent.Tools[0], agent.Diagnostics[0].Code = 'x', "x", "x"
	}
}

func TestStrictCatalogsRejectAgentsThatAClientRejects(t *testing.T) {
	files := map[string]string{"agents/a.md": "---\nname: a\n---\n", "agents/b.md": "---\nname: b\ndescription: d\n---\n"}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithAgentsDir("agents"), toolshelf.WithStrict(client.Claude()))
	must.Match(t, "agentNames", []string{"a!", "b"}, agentNames(t, c))
	must.Fail(c.GetAgent(t.Context(), "a"))(t, "GetAgent", toolshelf.ErrFileRead,
		"Claude Code requires the field description")
}

func TestOnChangeReportsAgents(t *testing.T) {
	fsys := afero.NewMemMapFs()
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithAgentsDir("agents"))
	changes := make(chan toolshelf.Change, 1)
	defer c.OnChange(func(change toolshelf.Change) { changes <- change })()
	for i, want := range []toolshelf.Names{{}, {Added: []string{"two"}}, {Added: []string{"three"}, Removed: []string{"two"}}} {
		if i > 0 {
			must.Do(t, afero.WriteFile(fsys, "agents/b.md", []byte("---\nname: "+[]string{"", "two", "three"}[i]+"\n---\n"), 0o644))
		} else if err := afero.WriteFile(fsys, "agents/a.md", []byte("---\nname: one\n---\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		must.Get(c.ListAgents(t.Context()))(t)
		if i > 0 {
			must.Match(t, "result", toolshelf.Change{Agents: want}, <-changes)
		}
	}
}

func TestAWatchedCatalogReportsANewAgent(t *testing.T) {
	root := diskOf(t, map[string]string{"agents/a.md": "---\nname: a\n---\n", "agents/team/x.txt": ""})
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithAgentsDir("agents"), toolshelf.WithWatch())
	added := make(chan []string, 10)
	defer c.OnChange(func(change toolshelf.Change) { added <- change.Agents.Added })()
	write(t, "---\nname: lead\n---\n", root, "agents", "team", "b.md")
	for end := time.After(patience); ; {
		select {
		case names := <-added:
			if slices.Contains(names, "lead") {
				return
			}
		case <-end:
			t.Fatal("no change")
		}
	}
}

// Lint reports the defects of agents by the rules of the client.
func TestLintOfAgents(t *testing.T) {
	files := map[string]string{
		"agents/good.md": "---\nname: good\ndescription: Reviews\ntools: Read, Bash(git:*)\n---\n", "agents/bare.md": "Text.\n", "agents/slash.md": "---\nname: a/b\ndescription: d\n---\n",
		"agents/key.md": "---\ndescription: d\nmodle: opus\npermisionMode: plan\n---\n", "agents/rule.md": "---\ndescription: d\ntools: [Read, 'Bash()']\n---\n",
		"agents/hidden.md": "---\ndescription: d\n---\nReview\u2062.\n", "agents/capitals.md": "---\nname: GOOD\ndescription: d\n---\n", "agents/good2.md": "---\nname: good\ndescription: d\n---\n",
		"agents/old.markdown": "---\nname: old\n---\n",
	}
	onMemoryAndDisk(t, files, func(t *testing.T, at toolshelf.Option) {
		want := []string{"NAME_DIFFERS_IN_CASE agents/good.md", "NO_DESCRIPTION agents/bare.md", "INVISIBLE_CHARACTER agents/hidden.md", "FIELD_MISSPELLED agents/key.md", "FIELD_MISSPELLED agents/key.md",
			"EXTENSION_NOT_READ agents/old.markdown", "TOOL_RULE_INVALID agents/rule.md", "INVALID_AGENT_NAME agents/slash.md", "SHADOWED agents/good2.md"}
		c := catalog(t, at, toolshelf.WithAgentsDir("agents"), toolshelf.WithSkillsDir(), toolshelf.WithCommandsDir())
		got := problems(t, c)
		slices.Sort(got)
		slices.Sort(want)
		must.Match(t, "got", want, got)
		diagnostics := must.Get(c.Lint(t.Context(), toolshelf.LintFor(client.Claude())))(t)
		missing := 0
		for _, d := range diagnostics {
			if d.Code == agentmd.DiagFieldMissing && d.Severity == toolshelf.SeverityError {
				missing++
			}
		}
		if missing != 5 { // the name and the description of bare.md, and the names of key.md, rule.md and hidden.md
			t.Errorf("%d missing fields of Claude Code: %+v", missing, diagnostics)
		}
	})
}

func TestLintJudgesTheNameOfAnAgentByItsPlace(t *testing.T) {
	claude := toolshelf.LintFor(client.Claude())
	for _, tt := range []struct {
		rule, file, text string
		options          []toolshelf.Option
		lint             []toolshelf.LintOption
		want, listed     []string
	}{
		{rule: "Claude Code reads no agent of a project without a name", file: ".claude/agents/a.md", text: "---\ndescription: d\n---\n",
			lint: []toolshelf.LintOption{claude}, want: []string{"FRONTMATTER_REQUIRED .claude/agents/a.md"}},
		{rule: "an agent of a plugin needs no name", file: "p/agents/a.md", text: "---\ndescription: d\n---\n", lint: []toolshelf.LintOption{claude}, listed: []string{"p:a"}},
		{rule: "an agent of a plugin needs no name with WithStrict", file: "p/agents/a.md", text: "---\ndescription: d\n---\n",
			options: []toolshelf.Option{toolshelf.WithStrict(client.Claude())}, listed: []string{"p:a"}},
		{rule: "an unsafe name has the code of a name, if the file is not listed", file: ".claude/agents/a.md", text: "---\nname: a/b\ndescription: d\n---\n",
			lint: []toolshelf.LintOption{claude}, want: []string{"INVALID_AGENT_NAME .claude/agents/a.md"}},
		{rule: "an unsafe name has the code of a name, if the file is listed", file: "p/agents/a.md", text: "---\nname: a/b\ndescription: d\n---\n",
			lint: []toolshelf.LintOption{claude}, want: []string{"INVALID_AGENT_NAME p/agents/a.md"}, listed: []string{"p:a"}},
		{rule: "a missing description is one diagnostic", file: "p/agents/a.md", text: "---\nname: a\n---\n",
			options: []toolshelf.Option{toolshelf.WithStrict(client.Claude())}, want: []string{"FIELD_MISSING p/agents/a.md"}, listed: []string{"p:a!"}},
		{rule: "a missing description is one diagnostic of LintFor", file: "p/agents/a.md", text: "---\nname: a\n---\n",
			options: []toolshelf.Option{toolshelf.WithStrict(client.Claude())}, lint: []toolshelf.LintOption{claude}, want: []string{"FIELD_MISSING p/agents/a.md"}, listed: []string{"p:a!"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			options := append(tt.options, toolshelf.WithFs(memoryOf(t, map[string]string{tt.file: tt.text})), toolshelf.WithClient(client.Claude()))
			if strings.HasPrefix(tt.file, "p/") {
				options = append(options, toolshelf.WithPlugins("p"))
			}
			c := catalog(t, options...)
			must.Match(t, "problems", tt.want, problems(t, c, tt.lint...))
			must.Match(t, "agentNames", tt.listed, agentNames(t, c))
		})
	}
}

func TestHostileHeadersOfAgentsAffectNoOtherAgent(t *testing.T) {
	headers := map[string]string{
		"list": "name: [a, b]\ntools: {a: {b: [c]}}\nmodel: {x: y}", "number": "name: 12\ntools: 12\nmodel: 1.50", "null": "name:\ntools:\nmodel:\ndescription:", "deep": "tools: " + strings.Repeat("[", 10_000),
		"long": "name: " + strings.Repeat("x", 70_000), "zero": "name: a\x00b", "broken": "name: \"a\ntools: [", "tools": "tools: " + strings.Repeat("(", 1000), "line": "name: \"a\\nb\"", "dots": "name: ..",
		"alias": "a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]\ntools: *c", "anchor": "<<: *none\nname: *none", "tag": "name: !!binary aGk=", "utf8": "name: \xff\xfe",
	}
	files := map[string]string{"agents/good.md": "---\nname: good\ndescription: d\n---\nText.\n"}
	for name, header := range headers {
		files["agents/"+name+".md"] = "---\n" + header + "\n---\nText.\n"
	}
	onMemoryAndDisk(t, files, func(t *testing.T, at toolshelf.Option) {
		c := catalog(t, at, toolshelf.WithAgentsDir("agents"))
		got := agentNames(t, c)
		if len(got) != len(files) || !slices.Contains(got, "good") || slices.ContainsFunc(got, func(name string) bool { return strings.HasSuffix(name, "!") || strings.ContainsAny(name, "/\n\x00") }) {
			t.Errorf("%d agents of %d files: %.2000q", len(got), len(files), got)
		}
		diagnostics, err := c.Lint(t.Context())
		if err != nil || slices.ContainsFunc(diagnostics, func(d toolshelf.Diagnostic) bool {
			return d.Path == "agents/good.md" || strings.Contains(d.String(), "\n")
		}) {
			t.Errorf("Lint: %v, %v", diagnostics, err)
		}
	})
}

// Every public file in a directory of agents is an agent with its whole text.
func TestEveryPublicAgentIsLoaded(t *testing.T) {
	files, agents := 0, 0
	for _, dir := range agentDirectories(t, corpus(t)) {
		c := catalog(t, toolshelf.WithRoot(dir), toolshelf.WithAgentsDir("."))
		list, err := c.ListAgents(t.Context())
		if err != nil {
			t.Fatal(dir, err)
		}
		for _, info := range list {
			agents += 1 + len(info.Shadows)
			agent, err := c.GetAgent(t.Context(), info.Name)
			if err != nil || !info.Loadable {
				t.Errorf("%s: %v, %v", info.Path, info.Diagnostics, err)
				continue
			}
			checkUnaltered(t, info.Path, agent.Raw, agent.Content)
		}
		must.Do(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			_, statErr := os.Stat(filepath.Join(path, "SKILL.md"))
			switch base := d.Name(); {
			case path != dir && (base[0] == '.' || d.IsDir() && statErr == nil):
				if d.IsDir() {
					return filepath.SkipDir
				}
			case d.Type().IsRegular() && strings.EqualFold(filepath.Ext(base), ".md") && !strings.EqualFold(base, "README.md") && base != "SKILL.md":
				files++
			}
			return err
		}))
		c.Close()
	}
	t.Logf("%d agents of %d files", agents, files)
	must.Equal(t, "files", agents, files)
}

// agentDirectories returns the directories with the name agents below a directory, or skips the
// test.
func agentDirectories(t *testing.T, top string) (dirs []string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "agents" && path != filepath.Join(top, "agents") {
			dirs = append(dirs, path)
			return filepath.SkipDir
		}
		return err
	}))
	if dirs == nil {
		t.Skip("the corpus has no agents")
	}
	return dirs
}

func ExampleCatalog_ListAgents() {
	catalog := open(toolshelf.WithAgentsDir("agents"), toolshelf.WithFs(project(map[string]string{
		"agents/review.md":    "---\nname: reviewer\ndescription: Reviews a change.\ntools: Read, Grep\nmodel: opus\n---\nReview the change.\n",
		"agents/team/lead.md": "---\ndescription: Plans the work.\n---\nPlan the work.\n",
	})))
	defer catalog.Close()
	agents, err := catalog.ListAgents(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range agents {
		fmt.Printf("%s: %q, model %q, all tools: %t %q\n", a.Name, a.Description, a.Model, a.Tools == nil, a.Tools)
	}
	// Output:
	// lead: "Plans the work.", model "", all tools: true []
	// reviewer: "Reviews a change.", model "opus", all tools: false ["Read" "Grep"]
}

func ExampleCatalog_GetAgent() {
	catalog := open(toolshelf.WithAgentsDir("agents"), toolshelf.WithFs(project(map[string]string{
		"agents/review.md": "---\nname: reviewer\ndescription: Reviews a change.\nmaxTurns: 5\ncolor: red\n---\nReview the change.\n",
	})))
	defer catalog.Close()
	agent, err := catalog.GetAgent(context.Background(), "reviewer")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(agent.Content)
	fmt.Println(agent.Frontmatter.Fields().MaxTurns, agent.Frontmatter.Text("color"))
	_, err = catalog.GetAgent(context.Background(), "revewer")
	fmt.Println(err)
	// Output:
	// Review the change.
	// 5 red
	// toolshelf: GetAgent: there is no agent "revewer"; did you mean "reviewer"? (AGENT_NOT_FOUND)
}

func ExampleCatalog_Agents() {
	catalog := open(toolshelf.WithAgentsDir("agents"), toolshelf.WithFs(project(map[string]string{
		"agents/lead.md":   "---\ndescription: Plans the work.\n---\nPlan the work.\n",
		"agents/review.md": "---\nname: reviewer\ntools: Read, Bash(git diff:*)\n---\nReview the change.\n",
	})))
	defer catalog.Close()
	for agent, err := range catalog.Agents(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %v: %s", agent.Name, agent.Frontmatter.Fields().Tools, agent.Content)
	}
	// Output:
	// lead []: Plan the work.
	// reviewer [Read Bash(git diff:*)]: Review the change.
}

func ExampleCatalog_AgentsPrompt() {
	catalog := open(toolshelf.WithAgentsDir("agents"), toolshelf.WithFs(project(map[string]string{
		"agents/review.md": "---\nname: reviewer\ndescription: Reviews a change.\n---\nReview the change.\n",
	})))
	defer catalog.Close()
	prompt, err := catalog.AgentsPrompt(context.Background(), toolshelf.Budget(4000))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(prompt.Text)
	// Output:
	// <available_agents>
	//   <agent>
	//     <name>reviewer</name>
	//     <description>Reviews a change.</description>
	//   </agent>
	// </available_agents>
}

func ExampleWithAgentsDir() {
	catalog := open(toolshelf.WithAgentsDir(".claude/agents", "agents"), toolshelf.WithFs(project(map[string]string{
		".claude/agents/review.md": "---\nname: reviewer\ndescription: Reviews a change of this project.\n---\n",
		"agents/review.md":         "---\nname: reviewer\ndescription: Reviews a change.\n---\n",
	})))
	defer catalog.Close()
	agent, err := catalog.GetAgent(context.Background(), "reviewer")
	fmt.Println(agent.Layer, agent.Shadows, err)
	// Output:
	// .claude/agents [agents/review.md] <nil>
}

func ExampleWithAgentFilter() {
	catalog := open(toolshelf.WithAgentsDir("agents"), toolshelf.WithFs(project(map[string]string{
		"agents/deploy.md": "---\ndescription: Deploys.\ntools: Bash\n---\n",
		"agents/review.md": "---\ndescription: Reviews.\ntools: Read\n---\n",
	})))
	defer catalog.Close()
	readers, err := catalog.View(toolshelf.WithAgentFilter(func(a toolshelf.AgentInfo) bool {
		return a.Tools != nil && !strings.Contains(strings.Join(a.Tools, " "), "Bash")
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer readers.Close()
	agents, err := readers.ListAgents(context.Background())
	fmt.Println(len(agents), agents[0].Name, err)
	// Output:
	// 1 review <nil>
}
