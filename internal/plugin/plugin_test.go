package plugin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	diff "github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// memory returns a filesystem with the files.
func memory(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

var kindNames = map[client.Files]string{client.Commands: "commands", client.Skills: "skills", client.Agents: "agents"}

// shown writes the plugins, their parts and all problems, one a line.
func shown(t Table) (lines []string) {
	list := func(problems []problem.Problem) {
		for _, p := range problems {
			lines = append(lines, fmt.Sprintf("%s %s: %s", p.Code, p.Path, p.Message))
		}
	}
	list(t.Problems)
	for _, p := range t.Plugins {
		line := p.Name + " in " + cmp.Or(p.Dir, "nowhere")
		if p.Source.Kind != "" {
			line += " from " + p.Source.Kind
		}
		lines = append(lines, line)
		for _, part := range p.Parts {
			line := "  " + kindNames[part.Kind] + " " + part.Path
			if part.Pattern != "" {
				line += "/" + part.Pattern
			}
			if part.File {
				line += ", a file"
			}
			if part.Declared {
				line += ", declared"
			}
			lines = append(lines, line)
		}
		list(p.Problems)
	}
	return lines
}

// find returns the table of a directory.
func findIn(t *testing.T, files map[string]string, dir string, o Options) Table {
	t.Helper()
	return must.Get(Find(t.Context(), limited{memory(files), cmp.Or(o.MaxSize, MaxSize)}, dir, o))(t)
}

// A limited filesystem reads files of at most size bytes.
type limited struct {
	fs.FS
	size int64
}

func (l limited) ReadFile(name string) ([]byte, error) {
	data, err := fs.ReadFile(l.FS, name)
	if int64(len(data)) > l.size {
		return nil, access.ErrTooLarge
	}
	return data, err
}

func (l limited) Sub(dir string) (fs.FS, error) {
	below, err := fs.Sub(l.FS, dir)
	return limited{below, l.size}, err
}

const (
	schema = `"$schema":"https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"`
	agent  = "x/plugin.json"
	claude = "x/.claude-plugin/plugin.json"
	market = ".claude-plugin/marketplace.json"
)

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string // the lines of shown
	}{
		{"a directory without plugins is empty", map[string]string{"x/notes.md": ""}, ``},
		{"the default directories of a plugin of Claude Code", map[string]string{claude: `{"name":"p"}`, "x/commands/a.md": "", "x/skills/s/SKILL.md": "", "x/agents/b.md": ""}, `
			p in x
			  commands x/commands/**/*.md
			  skills x/skills/*/SKILL.md
			  agents x/agents/**/*.md`},
		{"commands and agents replace the default directory, and skills add", map[string]string{
			claude: `{"name":"p","commands":"./more","agents":["./agents/b.md","lone.md"],"skills":["./extra/","./lone/one"]}`, "x/commands/a.md": "", "x/agents/c.md": "",
			"x/skills/s/SKILL.md": "", "x/extra/one/SKILL.md": "", "x/lone/one/SKILL.md": ""}, `
			p in x
			  commands x/more/**/*.md, declared
			  skills x/skills/*/SKILL.md
			  skills x/extra/*/SKILL.md, declared
			  skills x/lone/one/SKILL.md, declared
			  agents x/agents/b.md, a file, declared
			  agents x/lone.md, a file, declared`},
		{"a SKILL.md at the top is one skill", map[string]string{claude: `{"name":"p"}`, "x/SKILL.md": ""}, `
			p in x
			  skills x/SKILL.md`},
		{"a SKILL.md at the top beside skills is no skill", map[string]string{claude: `{"name":"p"}`, "x/SKILL.md": "", "x/skills/s/SKILL.md": ""}, `
			p in x
			  skills x/skills/*/SKILL.md`},
		{"a directory of skills at the top is declared", map[string]string{claude: `{"name":"p","skills":"."}`, "x/SKILL.md": ""}, `
			p in x
			  skills x/SKILL.md, declared`},
		{"a plugin without a manifest has the name of the directory", map[string]string{"x/commands/a.md": "", "y/agents/b.md": "", "z/SKILL.md": ""}, `
			x in x
			  commands x/commands/**/*.md
			y in y
			  agents y/agents/**/*.md`},
		{"a manifest without a name has the name of the directory", map[string]string{claude: `{"description":"d"}`}, `
			x in x
			PLUGIN_FIELD_IGNORED x/.claude-plugin/plugin.json: the manifest has no name; the name of the plugin is "x"`},
		{"plugins are in the order of names", map[string]string{"b/commands/a.md": "", "A/commands/a.md": "", "c/commands/a.md": "", ".h/commands/a.md": ""}, `
			A in A
			  commands A/commands/**/*.md
			b in b
			  commands b/commands/**/*.md
			c in c
			  commands c/commands/**/*.md`},
		{"a plugin of Agent Plugins has only skills", map[string]string{agent: `{` + schema + `,"name":"p"}`, "x/commands/a.md": "", "x/agents/b.md": "", "x/skills/s/SKILL.md": "", "x/SKILL.md": ""}, `
			p in x
			  skills x/skills/*/SKILL.md`},
		{"Agent Plugins precede Codex, and Codex precedes Claude Code", map[string]string{
			agent: `{` + schema + `,"name":"one"}`, claude: `{"name":"two"}`,
			"y/.codex-plugin/plugin.json": `{"name":"codex"}`, "y/.claude-plugin/plugin.json": `{"name":"claude"}`, "y/skills/s/SKILL.md": ""}, `
			one in x
			codex in y
			  skills y/skills/**/SKILL.md`},
		{"a plugin.json without the schema does not count beside another manifest", map[string]string{agent: `{"name":"one"}`, claude: `{"name":"two"}`}, `
			two in x`},
		{"another version of Agent Plugins rejects a plugin", map[string]string{
			"x/plugin.json": `{"$schema":"https://agent-plugins.org/schemas/9.0.0/plugin.schema.json","name":"p"}`, "x/.codex-plugin/plugin.json": `{"name":"p"}`}, `
			PLUGIN_INVALID x/plugin.json: the plugin is not listed: the $schema is not of version 1 of Agent Plugins`},
		{"a marketplace of Claude Code ignores another version of Agent Plugins", map[string]string{market: `{"plugins":[{"name":"e","source":"./x"}]}`,
			"x/plugin.json": `{"$schema":"https://agent-plugins.org/schemas/9.0.0/plugin.schema.json","name":"p"}`, "x/commands/a.md": ""}, `
			e in x from relative
			  commands x/commands/**/*.md
			PLUGIN_FIELD_IGNORED x/plugin.json: the manifest is ignored: the $schema is not of version 1 of Agent Plugins`},
		{"a later minor version of Agent Plugins is read", map[string]string{
			agent: `{"$schema":"https://agent-plugins.org/schemas/1.1.0/plugin.schema.json","name":"p","displayName":"P","icon":"./i.png","x":1}`, "x/skills/s/SKILL.md": "",
			"y/plugin.json": `{"$schema":"https://agent-plugins.org/schemas/1.12.3/plugin.schema.json","name":"q","x":1}`}, `
			p in x
			  skills x/skills/*/SKILL.md
			PLUGIN_FIELD_IGNORED x/plugin.json: the field "x" is ignored: the format has no such field
			q in y`},
		{"a field of a later version has no effect in an earlier version", map[string]string{agent: `{` + schema + `,"name":"p","displayName":3}`}, `
			p in x
			PLUGIN_FIELD_IGNORED x/plugin.json: the field "displayName" is ignored: the format has no such field`},
		{"a field of a later version has a type", map[string]string{agent: `{"$schema":"https://agent-plugins.org/schemas/1.1.0/plugin.schema.json","name":"p","displayName":3}`}, `
			PLUGIN_INVALID x/plugin.json: the plugin is not listed: the field "displayName" is not a text`},
		{"a text that resembles a version is no version", map[string]string{agent: `{"$schema":"https://agent-plugins.org/schemas/1.01.0/plugin.schema.json","name":"p"}`,
			"y/plugin.json": `{"$schema":"https://agent-plugins.org/schemas/1.1.0/mcp.schema.json","name":"p"}`}, `
			PLUGIN_INVALID x/plugin.json: the plugin is not listed: the $schema is not of version 1 of Agent Plugins
			PLUGIN_INVALID y/plugin.json: the plugin is not listed: the $schema is not of version 1 of Agent Plugins`},
		// Codex 0.171.0, 2026-11: the first plugin has the skill of the default directory, and no
		// hook. The second plugin is that of Codex.
		{"the portable manifest precedes Codex, unless another program has written plugin.json", map[string]string{
			agent: `{` + schema + `,"name":"p","extensions":{"com.openai":{"skills":"./other","hooks":"./h.json"}}}`, "x/.codex-plugin/plugin.json": `{"name":"c"}`, "x/skills/s/SKILL.md": "",
			"y/plugin.json": `{"$schema":"https://example.com/plugin.json","name":"p"}`, "y/.codex-plugin/plugin.json": `{"name":"c"}`}, `
			p in x
			  skills x/skills/*/SKILL.md
			c in y`},
		{"a marketplace without an entry for its directory can be a plugin", map[string]string{market: `{"name":"m","plugins":[{"name":"tool","source":{"source":"github","repo":"o/tool"}},{"name":"a","source":"./x"}]}`,
			".claude-plugin/plugin.json": `{"name":"tool"}`, "commands/a.md": "", "x/commands/b.md": ""}, `
			tool in nowhere from github
			a in x from relative
			  commands x/commands/**/*.md
			tool in .
			  commands commands/**/*.md`},
		{"a marketplace that is not valid can be a plugin", map[string]string{market: `{}`, ".claude-plugin/plugin.json": `{"name":"tool"}`, "commands/a.md": ""}, `
			PLUGIN_INVALID .claude-plugin/marketplace.json: the marketplace is not listed: the field "plugins" is not a list
			tool in .
			  commands commands/**/*.md`},
		{"a marketplace with an entry for its directory has one plugin", map[string]string{market: `{"name":"m","plugins":[{"name":"tool","source":"./"}]}`,
			".claude-plugin/plugin.json": `{"name":"tool"}`, "commands/a.md": ""}, `
			tool in . from relative
			  commands commands/**/*.md`},
		{"a marketplace without a manifest is no plugin", map[string]string{market: `{"name":"m","plugins":[]}`, "commands/a.md": ""}, ``},
		{"extensions of Gemini CLI and Qwen Code", map[string]string{"g/gemini-extension.json": `{"name":"g","commands":"x"}`, "g/commands/a.toml": "", "g/skills/s/SKILL.md": "",
			"q/qwen-extension.json": `{"name":"q","commands":"one.md"}`, "q/commands/a.toml": "", "q/agents/b.md": ""}, `
			g in g
			  commands g/commands/**/*.toml
			  skills g/skills/*/SKILL.md
			q in q
			  commands q/commands/**/*.md
			  commands q/commands/**/*.toml
			  agents q/agents/*.md`},
		{"entries of a marketplace are in their order", map[string]string{market: `{"name":"m","plugins":[{"name":"b","source":"./x"},{"name":"a","source":"./y/z"}]}`, "x/commands/a.md": "", "y/z/agents/b.md": ""}, `
			b in x from relative
			  commands x/commands/**/*.md
			a in y/z from relative
			  agents y/z/agents/**/*.md`},
		{"remote sources are data", map[string]string{market: `{"plugins":[{"name":"a","source":{"source":"github","repo":"o/r"}},{"name":"b","source":{"source":"npm","package":"@o/p"}},{"name":"c","source":{"source":"other"}}]}`}, `
			a in nowhere from github
			b in nowhere from npm
			c in nowhere from other`},
		{"a bare source is below pluginRoot", map[string]string{market: `{"metadata":{"pluginRoot":"./plugins"},"plugins":[{"name":"a","source":"one"},{"name":"b","source":"./x"}]}`, "plugins/one/commands/a.md": "", "x/commands/a.md": ""}, `
			a in plugins/one from relative
			  commands plugins/one/commands/**/*.md
			b in x from relative
			  commands x/commands/**/*.md`},
		{"a local source of Codex is a path", map[string]string{".agents/plugins/marketplace.json": `{"plugins":[{"name":"a","source":{"source":"local","path":"./x"}}]}`, "x/skills/s/SKILL.md": ""}, `
			a in x from local
			  skills x/skills/*/SKILL.md`},
		{"an entry with the whole marketplace lists all of its skills", map[string]string{market: `{"plugins":[
			{"name":"a","source":"./","skills":["./skills/one"]},{"name":"b","source":"./","skills":["./skills/two","./skills"]},{"name":"c","source":"./","skills":["./none"]}]}`,
			"skills/one/SKILL.md": "", "skills/two/SKILL.md": ""}, `
			a in . from relative
			  skills skills/one/SKILL.md, declared
			b in . from relative
			  skills skills/*/SKILL.md
			c in . from relative
			  skills skills/*/SKILL.md
			  skills none/*/SKILL.md, declared`},
		{"paths below another declared path are not read twice", map[string]string{claude: `{"name":"p","commands":["./a/b/c.md","./a","./a/b","./d.md","./d.md"],"skills":["./skills/s","./skills"]}`, "x/skills/s/SKILL.md": ""}, `
			p in x
			  commands x/a/**/*.md, declared
			  commands x/d.md, a file, declared
			  skills x/skills/*/SKILL.md`},
		{"an entry that is not strict and has no components leaves the manifest", map[string]string{market: `{"plugins":[{"name":"e","source":"./x","strict":false}]}`, claude: `{"name":"p","commands":"./own"}`, "x/commands/a.md": ""}, `
			p in x from relative
			  commands x/own/**/*.md, declared`},
		{"an entry does not change a plugin of Agent Plugins", map[string]string{market: `{"plugins":[{"name":"e","source":"./x","commands":"./more","description":"d"}]}`, agent: `{` + schema + `,"name":"p"}`}, `
			p in x from relative`},
		{"in a marketplace of Claude Code, its manifest precedes the others", map[string]string{market: `{"plugins":[{"name":"e","source":"./x"}]}`, "x/.codex-plugin/plugin.json": `{"name":"codex"}`, claude: `{"name":"claude"}`, agent: `{` + schema + `,"name":"one"}`}, `
			claude in x from relative`},
		{"the paths of Codex replace the default directory", map[string]string{"x/.codex-plugin/plugin.json": `{"name":"p","skills":["./more"],"commands":"./c"}`, "x/skills/s/SKILL.md": "", "x/commands/a.md": ""}, `
			p in x
			  skills x/more/**/SKILL.md, declared`},
		{"a marketplace of Copilot", map[string]string{".github/plugin/marketplace.json": `{"plugins":[{"name":"a","source":"plugins/a"}]}`, "plugins/a/.github/plugin/plugin.json": `{"name":"a"}`, "plugins/a/agents/b.agent.md": ""}, `
			a in plugins/a from relative
			  agents plugins/a/agents/**/*.agent.md`},
		{"the first marketplace counts", map[string]string{market: `{"plugins":[]}`, ".agents/plugins/marketplace.json": `{"plugins":[{"name":"a","source":"./x"}]}`, "x/commands/a.md": ""}, ``},
		{"an entry adds components to the manifest", map[string]string{market: `{"plugins":[{"name":"e","source":"./x","commands":"./more","skills":"./extra"}]}`, claude: `{"name":"p","commands":"./own"}`, "x/skills/s/SKILL.md": ""}, `
			p in x from relative
			  commands x/own/**/*.md, declared
			  commands x/more/**/*.md, declared
			  skills x/skills/*/SKILL.md
			  skills x/extra/*/SKILL.md, declared`},
		{"commands and agents of an entry do not replace the default directory", map[string]string{market: `{"plugins":[{"name":"e","source":"./x","strict":false,"commands":"./more","agents":["./b.md"]}]}`,
			"x/commands/a.md": "", "x/agents/a.md": ""}, `
			e in x from relative
			  commands x/commands/**/*.md
			  commands x/more/**/*.md, declared
			  agents x/agents/**/*.md
			  agents x/b.md, a file, declared`},
		{"skills of an entry replace a SKILL.md at the top without a manifest", map[string]string{
			market: `{"plugins":[{"name":"e","source":"./x","skills":"./more"},{"name":"f","source":"./y","skills":"./more"}]}`, "x/SKILL.md": "", "x/more/s/SKILL.md": "",
			"y/.claude-plugin/plugin.json": `{"name":"f"}`, "y/SKILL.md": "", "y/more/s/SKILL.md": ""}, `
			e in x from relative
			  skills x/more/*/SKILL.md, declared
			f in y from relative
			  skills y/more/*/SKILL.md, declared
			  skills y/SKILL.md`},
		{"an entry with strict false and a manifest that both name components are in conflict", map[string]string{
			market: `{"plugins":[{"name":"e","source":"./x","strict":false,"skills":"./s"},{"name":"same","source":"./x"},{"name":"f","source":"./y","strict":false}]}`, claude: `{"name":"p","commands":"./c"}`,
			"y/.claude-plugin/plugin.json": `{"name":"q","commands":"./c"}`}, `
			PLUGIN_INVALID x/.claude-plugin/plugin.json: the plugin "e" is not listed: the manifest and the entry with "strict": false both name components
			p in x from relative
			  commands x/c/**/*.md, declared
			q in y from relative
			  commands y/c/**/*.md, declared`},
		{"a marketplace inside itself is a plugin", map[string]string{market: `{"plugins":[{"name":"a","source":"./"},{"name":"b","source":"./x"}]}`, "commands/a.md": "", "x/" + market: `{"plugins":[{"name":"c","source":"./"}]}`, "x/commands/a.md": ""}, `
			a in . from relative
			  commands commands/**/*.md
			b in x from relative
			  commands x/commands/**/*.md`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must.Equal(t, "diff.Diff", "",
				diff.Diff(wantLines(tt.want), shown(findIn(t, tt.files, ".", Options{}))))
		})
	}
}

// wantLines returns the lines without the indentation of the test.
func wantLines(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimPrefix(line, "\t\t\t"); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// The argument is a plugin, and its directory has no name.
func TestFindsThePluginOfTheDirectory(t *testing.T) {
	for _, tt := range []struct {
		name, dir string
		files     map[string]string
		want      string
	}{
		{"with a manifest", "x", map[string]string{claude: `{"name":"p"}`, "x/a/commands/a.md": ""}, `
			p in x`},
		{"without a manifest", "x", map[string]string{"x/commands/a.md": ""}, `
			x in x
			  commands x/commands/**/*.md`},
		{"at the top of a filesystem", ".", map[string]string{"agents/a.md": ""}, `
			top in .
			  agents agents/**/*.md`},
		{"of one skill", ".", map[string]string{"SKILL.md": "", "references/a.md": ""}, `
			top in .
			  skills ./SKILL.md`},
		{"but a plugin with the name of a component is a plugin", ".", map[string]string{"skills/" + ".claude-plugin/plugin.json": `{"name":"skills"}`, "skills/commands/a.md": "", "b/commands/a.md": ""}, `
			b in b
			  commands b/commands/**/*.md
			skills in skills
			  commands skills/commands/**/*.md`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := diff.Diff(wantLines(tt.want), shown(findIn(t, tt.files, tt.dir, Options{Name: "top"}))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFindReadsTheManifestsOfTheOptions(t *testing.T) {
	files := map[string]string{claude: `{"name":"claude"}`, "x/.codex-plugin/plugin.json": `{"name":"codex"}`, agent: `{` + schema + `,"name":"open"}`, "x/commands/a.md": ""}
	for _, tt := range []struct {
		manifests []string
		want      string
	}{
		{nil, "open"},
		{[]string{"unknown.json", ".codex-plugin/plugin.json", "plugin.json"}, "codex"},
		{[]string{".cursor-plugin/plugin.json"}, "open"},
		{[]string{".claude-plugin/plugin.json"}, "claude"},
	} {
		table := findIn(t, files, ".", Options{Manifests: tt.manifests})
		if len(table.Plugins) != 1 || table.Plugins[0].Name != tt.want {
			t.Errorf("%q: got %q, want %s", tt.manifests, shown(table), tt.want)
		}
	}
	listed := map[string]string{market: `{"plugins":[{"name":"e","source":"./x"}]}`}
	maps.Copy(listed, files)
	for want, manifests := range map[string][]string{"claude": {".cursor-plugin/plugin.json"}, "codex": {".codex-plugin/plugin.json"}} {
		if table := findIn(t, listed, ".", Options{Manifests: manifests}); len(table.Plugins) != 1 || table.Plugins[0].Name != want {
			t.Errorf("a marketplace, %q: got %q, want %s", manifests, shown(table), want)
		}
	}
}

func TestTheTextsOfAPlugin(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  Plugin // without Parts
	}{
		{"of a manifest", map[string]string{claude: `{"name":"p","version":"1","description":"d","homepage":"h","repository":"r","license":"MIT","keywords":["a","b"],"author":{"name":"n","email":"e","url":"u"}}`},
			Plugin{About: About{Name: "p", Version: "1", Description: "d", Homepage: "h", Repository: "r", License: "MIT", Keywords: []string{"a", "b"}, Author: Person{"n", "e", "u"}}, Dir: "x", Manifest: claude}},
		{"in the forms of package.json", map[string]string{claude: `{"name":"p","author":"n <e>","repository":{"type":"git","url":"r"},"keywords":"a"}`},
			Plugin{About: About{Name: "p", Repository: "r", Keywords: []string{"a"}, Author: Person{Name: "n <e>"}}, Dir: "x", Manifest: claude}},
		{"of an entry precede the manifest, except for the name and the version", map[string]string{market: `{"name":"m","plugins":[{"name":"e","version":"2","description":"of e","author":{"name":"e"},"source":"./x"}]}`,
			claude: `{"name":"p","version":"1","description":"of p","license":"MIT","author":{"name":"p","url":"u"}}`},
			Plugin{About: About{Name: "p", Version: "1", Description: "of e", License: "MIT", Author: Person{Name: "e"}}, Dir: "x", Manifest: claude, Marketplace: "m", Source: Source{Kind: "relative", Path: "./x"}}},
		{"of a remote entry", map[string]string{market: `{"name":"m","plugins":[{"name":"e","description":"d","commands":"./c","mcpServers":{"s":{}},"source":{"source":"git-subdir","url":"u","path":"p","ref":"v1","sha":"f00"}}]}`},
			Plugin{About: About{Name: "e", Description: "d"}, Marketplace: "m", MCPServers: []json.RawMessage{json.RawMessage(`{"s":{}}`)}, Source: Source{Kind: "git-subdir", URL: "u", Path: "p", Ref: "v1", SHA: "f00"}}},
		{"with hooks and servers", map[string]string{claude: `{"name":"p","hooks":["./h.json",{"Stop":[]},"./hooks/hooks.json"],"mcpServers":"./m.json"}`, "x/hooks/hooks.json": `{}`, "x/.mcp.json": `{}`},
			Plugin{About: About{Name: "p"}, Dir: "x", Manifest: claude, Hooks: []json.RawMessage{json.RawMessage(`{"Stop":[]}`)}, HookFiles: []string{"x/hooks/hooks.json", "x/h.json"}, MCPServerFiles: []string{"x/.mcp.json", "x/m.json"}}},
		{"of Agent Plugins with the file of the format", map[string]string{agent: `{` + schema + `,"name":"p","version":"1"}`, "x/hooks/hooks.json": `{}`, "x/mcp.json": `{}`, "x/.mcp.json": `{}`},
			Plugin{About: About{Name: "p", Version: "1"}, Dir: "x", Manifest: agent, MCPServerFiles: []string{"x/mcp.json"}}},
		{"of Agent Plugins 1.1", map[string]string{agent: `{"$schema":"https://agent-plugins.org/schemas/1.1.0/plugin.schema.json","name":"p","displayName":"The P","icon":"./i.png"}`},
			Plugin{About: About{Name: "p", DisplayName: "The P"}, Dir: "x", Manifest: agent}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table := findIn(t, tt.files, ".", Options{})
			if len(table.Plugins) != 1 {
				t.Fatal(shown(table))
			}
			got := *table.Plugins[0]
			got.Parts, tt.want.Format = nil, got.Format
			must.Equal(t, "diff.Diff(tt.want, got)", "", diff.Diff(tt.want, got))
		})
	}
}

func TestSourcesHaveTheirFields(t *testing.T) {
	for source, want := range map[string]Source{
		`"./x"`: {Kind: "relative", Path: "./x"},
		`{"source":"github","repo":"o/r","ref":"v1","sha":"f00"}`:                               {Kind: "github", Repo: "o/r", Ref: "v1", SHA: "f00"},
		`{"source":"url","url":"https://example.com/a.git"}`:                                    {Kind: "url", URL: "https://example.com/a.git"},
		`{"source":"npm","package":"@o/p","version":"^2","registry":"https://npm.example.com"}`: {Kind: "npm", Package: "@o/p", Version: "^2", Registry: "https://npm.example.com"},
		`{"source":"archive","url":"https://example.com/a.zip","sha256":"f00"}`:                 {Kind: "archive", URL: "https://example.com/a.zip", SHA256: "f00"},
		`{"source":"command","command":"tool path","mode":"link","timeout":5}`:                  {Kind: "command", Command: "tool path", Mode: "link"},
		`{"source":"local","path":"./x"}`:                                                       {Kind: "local", Path: "./x"},
		`{"source":"other","url":1,"x":{}}`:                                                     {Kind: "other"},
	} {
		table := findIn(t, map[string]string{market: `{"plugins":[{"name":"a","source":` + source + `}]}`, "x/commands/a.md": ""}, ".", Options{})
		if len(table.Plugins) != 1 || table.Plugins[0].Source != want {
			t.Errorf("%s: got %q, want %+v", source, shown(table), want)
		}
	}
}

// The same files give the same table.
func TestFindIsDeterministic(t *testing.T) {
	files := map[string]string{}
	for i := range 50 {
		dir := fmt.Sprintf("p%d", i)
		files[dir+"/.claude-plugin/plugin.json"] = `{"name":"` + dir + `","x":1,"skills":["./a","./b","../c"],"keywords":2,"agents":7}`
		files[dir+"/commands/a.md"] = ""
	}
	first := findIn(t, files, ".", Options{})
	for range 10 {
		if again := findIn(t, files, ".", Options{}); !reflect.DeepEqual(first, again) {
			t.Fatal(diff.Diff(shown(first), shown(again)))
		}
	}
}

func TestAMessageHasTheBeginningOfALongText(t *testing.T) {
	long := strings.Repeat("x", 199)
	for text, want := range map[string]string{
		"short": "short", long + "y": long + "y", long + "yz": long + "y…",
		long + "é": long + "…", // no part of a character
	} {
		must.Equal(t, text, want, shortened(text))
	}
}

// FuzzValues compares the values of a text with encoding/json.
func FuzzValues(f *testing.F) {
	for _, seed := range []string{`{}`, ` { "a" : [ 1 , "x\"}]" , { "b" : null } ] , "a\u0041":-1.5e3,"c":true}`, `{"a":1,"a":{"a":"\\"}}`, `{"":[[],{},""]}`, "\ufeff{\"a\":1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var problems []problem.Problem
		o, failed := parse("a.json", data, &problems)
		var want map[string]json.RawMessage
		if failed != nil {
			if utf8.Valid(data) && json.Unmarshal(data, &want) == nil && want != nil {
				t.Fatalf("%+v", failed)
			}
			return
		}
		must.Do(t, json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &want))
		if len(want) != len(o.members) || len(want) != len(o.keys) {
			t.Fatalf("%d members, want %d", len(o.members), len(want))
		}
		for key, value := range want {
			must.Equal(t, key, string(value), string(o.members[key]))
			var wantText string
			isText := value[0] == '"' && json.Unmarshal(value, &wantText) == nil
			if s, ok := Text(o.members[key]); s != wantText || ok != isText {
				t.Errorf("%q: got %q, want %q", key, s, wantText)
			}
			var wantItems []json.RawMessage
			isList := value[0] == '[' && json.Unmarshal(value, &wantItems) == nil
			items, ok := list(o.members[key])
			if ok != isList || len(items) != len(wantItems) {
				t.Fatalf("%q: got %q, want %q", key, items, wantItems)
			}
			for i := range items {
				must.Equal(t, key, string(wantItems[i]), string(items[i]))
			}
		}
	})
}
