package plugin

import (
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// marketplaces are the paths of marketplaces below a directory. The first existing file counts.
var marketplaces = []struct {
	path     string
	manifest string // of the client of the marketplace; the entries of plugins without a manifest have the fields of its format
	first    bool   // the manifest precedes all others, because the client reads no other format
}{
	{".claude-plugin/marketplace.json", ".claude-plugin/plugin.json", true},  // code.claude.com/docs/en/plugin-marketplaces, 2026-08, and Claude Code 2.1.330
	{".agents/plugins/marketplace.json", "", false},                          // github.com/openai/codex 0.147.0, core-plugins/src/marketplace.rs, 2026-10
	{".github/plugin/marketplace.json", ".github/plugin/plugin.json", false}, // github.com/github/docs 0afe69c8, cli-plugin-reference.md, 2026
	{".cursor-plugin/marketplace.json", ".cursor-plugin/plugin.json", false}, // github.com/openai/codex 0.147.0, core-plugins/src/marketplace.rs, 2026-10
}

// A format is the rules of a client for the plugins with a manifest.
type format struct {
	manifest string            // the path of the manifest below the plugin
	schema   bool              // the manifest has a $schema of Agent Plugins
	fields   [][]string        // the only fields of the manifest, by the minor version that adds them; nil accepts every field, and makes wrong values warnings
	valid    func(string) bool // the names of plugins
	places   []place
	hooks    string // the file of the hooks; "" without hooks
	servers  string // the file of the MCP servers
}

// A place is a directory of a plugin with files of one kind.
type place struct {
	kind    client.Files
	dir     string // the default directory, and the field with other paths
	fixed   bool   // no field has other paths
	adds    bool   // the paths of the field add to the default directory, and otherwise replace the directory
	single  bool   // a SKILL.md of the plugin is a skill, if the plugin has no default directory and no field
	pattern string
	names   client.NameRule
	rules   client.Rules
}

// schemas begins each $schema of Agent Plugins.
const schemas = "https://agent-plugins.org/schemas/"

// formats are in the default order of precedence.
var formats = func() []*format {
	claude, gemini, qwen, cursor := client.Claude(), client.Gemini(), client.Qwen(), client.Cursor()
	commands := func(pattern string, rules client.Rules) place {
		return place{kind: client.Commands, dir: "commands", pattern: pattern, rules: rules}
	}
	skills := func(rules client.Rules) place {
		return place{kind: client.Skills, dir: "skills", pattern: "*/SKILL.md", names: client.FromHeader, rules: rules}
	}
	agents := func(pattern string) place {
		return place{kind: client.Agents, dir: "agents", pattern: pattern, names: client.FromHeader}
	}
	fixed := func(p place) place { p.fixed = true; return p }
	nested := func(p place) place { p.pattern = "**/SKILL.md"; return p }
	added := func(p place) place { p.adds, p.single = true, true; return p }
	return []*format{
		// github.com/agentplugins/agent-plugins-spec, 1.0.0, sections 5 to 7, 2026-08, and for
		// displayName and icon the draft of 1.1.0, 2026-08. Codex 0.171.0 reads 1.0.0 and no
		// component of extensions["com.openai"]; method plugin/read of codex app-server, 2026-11.
		{manifest: "plugin.json", schema: true, valid: agentPluginName,
			fields: [][]string{{"$schema", "name", "version", "description", "author", "homepage", "repository", "license", "keywords", "extensions"}, {"displayName", "icon"}},
			places: []place{fixed(skills(client.Rules{}))}, servers: "mcp.json"},
		// npm @openai/codex 0.171.0, method plugin/read of codex app-server, 2026-11. Codex lists
		// commands as skills of its own.
		{manifest: ".codex-plugin/plugin.json", valid: name, places: []place{nested(skills(client.Rules{}))}, hooks: "hooks/hooks.json", servers: ".mcp.json"},
		// code.claude.com/docs/en/plugins-reference, 2026-08, and Claude Code 2.1.330
		{manifest: ".claude-plugin/plugin.json", valid: name, places: []place{commands("**/*.md", claude.Rules), added(skills(claude.SkillRules)), agents("**/*.md")},
			hooks: "hooks/hooks.json", servers: ".mcp.json"},
		// cursor.com/docs/plugins/building, 2026-11
		{manifest: ".cursor-plugin/plugin.json", valid: name, places: []place{commands("**/*.md", cursor.Rules), skills(cursor.SkillRules), agents("**/*.md")},
			hooks: "hooks/hooks.json", servers: "mcp.json"},
		// github.com/github/docs 0afe69c8, cli-plugin-reference.md, 2026
		{manifest: ".github/plugin/plugin.json", valid: name, places: []place{commands("**/*.md", client.Rules{}), skills(client.Rules{}), agents("**/*.agent.md")},
			hooks: "hooks.json", servers: ".mcp.json"},
		// github.com/google-gemini/gemini-cli 5411f113,
		// packages/cli/src/config/extension-manager.ts, 2026-08
		{manifest: "gemini-extension.json", valid: name, places: []place{fixed(commands("**/*.toml", gemini.Rules)), fixed(skills(gemini.SkillRules)), fixed(agents("*.md"))},
			hooks: "hooks/hooks.json"},
		// npm @qwen-code/qwen-code 0.24.4, loadExtension, and FileCommandLoader for TOML, 2026-11
		{manifest: "qwen-extension.json", valid: name, places: []place{fixed(commands("**/*.md", qwen.Rules)), fixed(commands("**/*.toml", qwen.Rules)),
			fixed(skills(qwen.SkillRules)), fixed(agents("*.md"))}, hooks: "hooks/hooks.json"},
	}
}()

// claudeFormat is the format of plugins without a manifest: Claude Code needs none.
var claudeFormat = find(".claude-plugin/plugin.json")

func find(manifest string) *format {
	for _, f := range formats {
		if f.manifest == manifest {
			return f
		}
	}
	return nil
}

// ordered returns the formats of the manifests, then a preferred format, and then the other
// formats.
func ordered(manifests []string, preferred *format) []*format {
	var all []*format
	add := func(f *format) {
		if f != nil && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	for _, m := range manifests {
		add(find(m))
	}
	add(preferred)
	for _, f := range formats {
		add(f)
	}
	return all
}

// maxName bounds the name of a plugin, in bytes, like the name of a directory.
const maxName = 255

// name reports whether a plugin may have the name. Names of commands begin with the name of the
// plugin and ":".
func name(s string) bool { return len(s) <= maxName && names.Loose(s) && !strings.Contains(s, ":") }

// agentPluginName reports whether a name follows section 5.5 of Agent Plugins 1.0.0.
func agentPluginName(s string) bool {
	if s == "" || len(s) > 64 || strings.Contains(s, "--") || strings.Contains(s, "..") {
		return false
	}
	for i := 0; i < len(s); i++ {
		letter := 'a' <= s[i] && s[i] <= 'z' || '0' <= s[i] && s[i] <= '9'
		if !letter && (s[i] != '-' && s[i] != '.' || i == 0 || i == len(s)-1) {
			return false
		}
	}
	return true
}
