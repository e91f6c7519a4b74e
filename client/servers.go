package client

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// ServerRules are the rules of a client for MCP servers: its files, and the meaning of an entry.
// The zero value is a client without such files.
type ServerRules struct {
	Files []ServerFile // a file has precedence over all later files
	Lists []ServerList // the enabled, disabled, allowed and denied servers

	// Plugins begins the names of the servers of plugins in the lists, as in "plugin:deploy:github".
	Plugins string

	Comments bool // the client reads JSON with comments
	Commas   bool // the client reads JSON with a comma before a closing bracket
	Joined   bool // an entry has the fields of the entries with its name in later files too
	Closed   bool // the client rejects an entry with an unknown field

	// Types are the transports by the values of the field with the role "type": "stdio", "http",
	// "sse" or "ws". URL is the transport of an entry with a URL and without a type; "" means that
	// the client rejects the entry.
	Types map[string]string
	URL   string

	Fields map[string]ServerRole // by the keys of an entry

	// Variables is a regular expression of package regexp that matches a variable in a text. The
	// first unnamed group that takes part is the name. The group "default" is the text for a variable
	// that is not set, and the group "otherwise" also for an empty variable. A match of the group
	// "command" is a command of a shell. "" means that the client has no variables.
	Variables string
	Dirs      map[string]ServerDir // the variables whose values are directories, as "workspaceFolder"
}

// A ServerFile is a file with MCP servers, in JSON, or in TOML if the path ends in ".toml".
type ServerFile struct {
	Base  Base
	Path  string // below Base, with slashes
	Table string // the keys that lead to the servers, separated by dots; [ProjectKey] is the project

	Parents   bool // the client also looks in the parent directories of the project
	Fallback  bool // read only if the file before in the list does not exist
	Exclusive bool // if the file exists, the client reads no other file and no plugin
}

// ProjectKey stands in a Table for the full path of the directory of the project, with slashes.
const ProjectKey = "${project}"

// A ServerList is a value that enables or disables servers: a list, or the value true for all
// servers. An item is a name, or an object with one of the keys serverName, serverCommand (the
// command with all arguments) and serverUrl (in which "*" stands for any text).
type ServerList struct {
	Base   Base
	Path   string
	Table  string
	Effect ListEffect
	Shared bool // concerns only the servers of files in the project and its parents
}

// A ListEffect is the effect of a [ServerList].
type ListEffect int

const (
	Disables ListEffect = iota // the client does not start the servers
	Approves                   // the user has approved the servers; in the project only with Trusts
	Only                       // the client starts no server that is in no list with this effect
	Trusts                     // with the value true, later lists of the project count for Approves
	Locks                      // with the value true, no later list of another Base is Only
)

// A ServerRole is the meaning of a field of an entry:
//
//   - "" for a field that only the client knows;
//   - "type", a key of ServerRules.Types;
//   - "command", a text, or a list of the command and its arguments, and "args", a list;
//   - "env", an object, and "env_names", a list of variables with the values of the same names;
//   - "env_file" and "cwd", the paths of a file with variables and of the working directory;
//   - "url", and "http_url" with the transport "http";
//   - "headers", an object, and "header_names", an object of headers with the names of variables;
//   - "bearer", the name of the variable with the token of the header Authorization;
//   - "disabled" and "enabled", true or false;
//   - "allowed" and "denied", lists of tools;
//   - "start_s", "start_ms", "call_s" and "call_ms", the time limits of the start and of a call.
type ServerRole string

// A ServerDir is a directory, or a part of a path, that a variable stands for.
type ServerDir int

const (
	PluginDir  ServerDir = iota // the plugin with the entry
	ProjectDir                  // the project
	ProjectName
	HomeDir
	Separator // the separator of paths
	Given     // the value is the value of a variable with the name
)

// serverRoles are the roles except "".
const serverRoles = "type command args env env_names env_file cwd url http_url headers " +
	"header_names bearer disabled enabled allowed denied start_s start_ms call_s call_ms"

// check returns an error if a rule for MCP servers is not valid.
func (r ServerRules) check() error {
	for _, f := range r.Files {
		name := strings.TrimPrefix(f.Path, "/")
		switch {
		case f.Base < Project || f.Base > System || (f.Base == System) != (name != f.Path):
			return fmt.Errorf("the file %q: use a relative path, or an absolute path of System", f.Path)
		case name == "" || path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../"):
			return fmt.Errorf(`invalid path %q; use a path such as ".cursor/mcp.json"`, f.Path)
		case f.Table == "" || f.Parents && f.Base != Project && !strings.Contains(f.Table, ProjectKey):
			return fmt.Errorf("the file %q: add a Table, and Parents only for the project", f.Path)
		}
	}
	for _, t := range append(slices.Collect(maps.Values(r.Types)), r.URL) {
		if !slices.Contains([]string{"", "stdio", "http", "sse", "ws"}, t) {
			return fmt.Errorf(`unknown transport %q; use "stdio", "http", "sse" or "ws"`, t)
		}
	}
	for key, role := range r.Fields {
		if role != "" && !slices.Contains(strings.Fields(serverRoles), string(role)) {
			return fmt.Errorf("unknown role %q of the field %q", role, key)
		}
	}
	if len(r.Files) > 0 && len(r.Fields) == 0 {
		return errors.New("files of MCP servers need Fields")
	}
	_, err := regexp.Compile(r.Variables)
	return err
}

// roles returns the fields of a text such as "command url timeout=call_ms oauth=".
func roles(text string) map[string]ServerRole { return words[ServerRole](text) }

// types returns the types that most clients have, and the types of a text such as "local=stdio".
func types(others string) map[string]string {
	return words[string]("stdio http streamable-http=http sse " + others)
}

// words returns the words of a text before and after "=". A word without "=" is the same on both
// sides.
func words[T ~string](text string) map[string]T {
	all := map[string]T{}
	for word := range strings.FieldsSeq(text) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			value = key
		}
		all[key] = T(value)
	}
	return all
}

// usual are the fields that most clients have.
const usual = "type command args env cwd url headers "

// serverFiles returns files with a table, from paths as for Place.at.
func serverFiles(table, paths string) (all []ServerFile) {
	for _, p := range places(paths) {
		all = append(all, ServerFile{
			Base: p.Base, Path: path.Join(p.Dir, p.Pattern), Table: table, Parents: p.Parents})
	}
	return all
}

// The syntaxes of variables.
const (
	braces    = `\$\{([^}]+)\}`                           // ${NAME}
	defaulted = `\$\{([^}]+?)(?::-(?P<default>[^}]*))?\}` // ${NAME} and ${NAME:-text}
	dollar    = `|\$([A-Za-z_][0-9A-Za-z_]*)`             // $NAME
	editor    = `\$\{(?:env:([^}]+)|([^}:]*:[^}]+|/|userHome|pathSeparator|` +
		`workspaceFolder(?:Basename)?))\}`
	shell = `\$\{([^}]+?)(?::-(?P<otherwise>[^}]*))?\}` + dollar + "|(?P<command>\\$\\(|`)"
)

// editorDirs returns the directories of the variables of Visual Studio Code.
func editorDirs() map[string]ServerDir {
	return map[string]ServerDir{"workspaceFolder": ProjectDir, "workspaceFolderBasename": ProjectName,
		"userHome": HomeDir, "pathSeparator": Separator, "/": Separator}
}

// AgentPluginServers returns the rules of the file mcp.json of Agent Plugins.
func AgentPluginServers() ServerRules { // agentplugins/agent-plugins-spec 1.0.0, 7.2, 2026-08
	return ServerRules{Closed: true, Fields: roles(usual),
		Variables: `\$\{(PLUGIN_ROOT|PLUGIN_DATA)\}`,
		Types:     words[string]("stdio streamable-http=http sse"),
		Dirs:      map[string]ServerDir{"PLUGIN_ROOT": PluginDir, "PLUGIN_DATA": Given}}
}

// npm @anthropic-ai/claude-code 2.1.332, claude mcp list, 2026-11-27; the lists of allowed and
// denied servers by code.claude.com/docs/en/managed-mcp, 2026-08-31
func claudeServers() ServerRules {
	const user, managed = "~/.claude.json", "/etc/claude-code/managed-"
	const own = "projects." + ProjectKey + "."
	r := ServerRules{Types: types("ws"), Variables: defaulted, Plugins: "plugin:",
		Dirs: map[string]ServerDir{"CLAUDE_PLUGIN_ROOT": PluginDir, "CLAUDE_PROJECT_DIR": ProjectDir},
		Files: slices.Concat(serverFiles("mcpServers", managed+"mcp.json"),
			serverFiles(own+"mcpServers", user), serverFiles("mcpServers", "^.mcp.json "+user)),
		Fields: roles(usual + "timeout=call_ms headersHelper= oauth= alwaysLoad= description=")}
	r.Files[0].Exclusive, r.Files[1].Parents = true, true
	add := func(table string, effect ListEffect, shared bool, files string) {
		for _, f := range serverFiles(table, files) {
			r.Lists = append(r.Lists, ServerList{f.Base, f.Path, table, effect, shared})
		}
	}
	const all = ".claude/settings.json .claude/settings.local.json ~/.claude/settings.json " +
		managed + "settings.json"
	add(own+"hasTrustDialogAccepted", Trusts, false, user)
	add(own+"disabledMcpServers", Disables, false, user)
	add(own+"disabledMcpjsonServers", Disables, true, user)
	add(own+"enabledMcpjsonServers", Approves, true, user)
	add("disabledMcpjsonServers", Disables, true, all)
	add("enabledMcpjsonServers", Approves, true, all)
	add("enableAllProjectMcpServers", Approves, true, all)
	add("deniedMcpServers", Disables, false, all)
	add("allowManagedMcpServersOnly", Locks, false, managed+"settings.json")
	add("allowedMcpServers", Only, false, all)
	return r
}

// npm @openai/codex 0.171.0, codex mcp list --json, 2026-11-27
func codexServers() ServerRules {
	const file = ".codex/config.toml"
	return ServerRules{Files: serverFiles("mcp_servers", "^"+file+" ~/"+file), URL: "http",
		Joined: true, Fields: roles(`command args env env_vars=env_names cwd url
			http_headers=headers env_http_headers=header_names bearer_token_env_var=bearer enabled
			enabled_tools=allowed disabled_tools=denied startup_timeout_sec=start_s
			startup_timeout_ms=start_ms tool_timeout_sec=call_s required= scopes= tools= oauth=
			http_headers_helper=`)}
}

// npm @github/copilot 1.0.102, copilot mcp list --json, 2026-11-27
func copilotServers() ServerRules {
	files := serverFiles("mcpServers", ".mcp.json .github/mcp.json ~/.copilot/mcp-config.json")
	files[1].Fallback = true
	return ServerRules{Files: files, URL: "http", Types: types("local=stdio"),
		Variables: defaulted, Fields: roles(usual + "tools=allowed timeout=call_ms oauth=")}
}

// github.com/charmbracelet/crush 37f36e93, internal/config/config.go, load.go and resolve.go, 2026
func crushServers() ServerRules {
	return ServerRules{Joined: true, Types: types(""), Variables: shell,
		Files: serverFiles("mcp", "^.crush.json ^crush.json ~/.config/crush/crush.json"),
		Fields: roles(usual + `disabled enabled_tools=allowed disabled_tools=denied timeout=start_s oauth=
			oauth_client_id= oauth_client_secret= oauth_callback_port=`)}
}

// cursor.com/docs/mcp, 2026-11
func cursorServers() ServerRules {
	return ServerRules{Files: serverFiles("mcpServers", ".cursor/mcp.json ~/.cursor/mcp.json"),
		Comments: true, Commas: true, URL: "http", Types: types(""), Variables: editor,
		Dirs: editorDirs(), Fields: roles(usual + "envFile=env_file disabled auth=")}
}

// npm @google/gemini-cli 0.61.0, gemini mcp list, 2026-11-27
func geminiServers() ServerRules { return geminiLike("gemini") }

// geminiLike returns the rules of Gemini CLI with the directory of a program.
func geminiLike(program string) ServerRules {
	settings := "." + program + "/settings.json"
	r := ServerRules{Files: serverFiles("mcpServers", settings+" ~/"+settings), Comments: true,
		URL: "http", Types: types(""), Variables: defaulted + dollar,
		Dirs: map[string]ServerDir{"extensionPath": PluginDir, "workspacePath": ProjectDir,
			"/": Separator, "pathSeparator": Separator},
		Fields: roles(usual + `httpUrl=http_url timeout=call_ms includeTools=allowed excludeTools=denied
			trust= description= oauth= authProviderType= targetAudience= targetServiceAccount= tcp=`)}
	for _, f := range r.Files {
		r.Lists = append(r.Lists, ServerList{Base: f.Base, Path: f.Path, Table: "mcp.excluded"},
			ServerList{Base: f.Base, Path: f.Path, Table: "mcp.allowed", Effect: Only})
	}
	return r
}

// kiro.dev/docs/mcp/configuration, 2026-11
func kiroServers() ServerRules {
	return ServerRules{URL: "http", Types: types(""), Variables: braces,
		Files:  serverFiles("mcpServers", ".kiro/settings/mcp.json ~/.kiro/settings/mcp.json"),
		Fields: roles(usual + "disabled disabledTools=denied timeout=call_ms autoApprove=")}
}

// npm opencode-ai 1.18.33, opencode mcp list, 2026-11-27
func openCodeServers() ServerRules {
	return ServerRules{Comments: true, Commas: true, Joined: true,
		Variables: `\{env:([^{}]+)\}|\{(file:[^{}]+)\}`,
		Types:     words[string]("local=stdio remote=http"),
		Files: serverFiles("mcp", `^.opencode/opencode.jsonc ^.opencode/opencode.json ^opencode.jsonc
			^opencode.json ~/.config/opencode/opencode.jsonc ~/.config/opencode/opencode.json
			~/.config/opencode/config.json`),
		Fields: roles("type command environment=env cwd url headers enabled timeout=call_ms oauth=")}
}

// npm @qwen-code/qwen-code 0.24.4, qwen mcp list, 2026-11-27
func qwenServers() ServerRules {
	r := geminiLike("qwen")
	r.Files = append(serverFiles("mcpServers", ".mcp.json"), r.Files...)
	r.URL, r.Variables = "sse", braces+dollar
	return r
}

// github.com/RooCodeInc/Roo-Code cb836567, src/services/mcp/McpHub.ts, 2026; without the global
// file
func rooServers() ServerRules {
	return ServerRules{Files: serverFiles("mcpServers", ".roo/mcp.json"), Types: types(""),
		Variables: editor, Dirs: editorDirs(),
		Fields: roles(usual + "disabled disabledTools=denied timeout=call_s alwaysAllow= watchPaths=")}
}

// code.visualstudio.com/docs/agents/reference/mcp-configuration, 2026-11; without the profile of
// the user
func vscodeServers() ServerRules {
	return ServerRules{Files: serverFiles("servers", ".vscode/mcp.json"), Comments: true, Commas: true,
		URL: "http", Types: types(""), Variables: editor, Dirs: editorDirs(), Fields: roles(usual +
			"envFile=env_file dev= gallery= version= sandboxEnabled= sandbox= oauth=")}
}

// zed.dev/docs/ai/mcp, 2026-11
func zedServers() ServerRules {
	return ServerRules{URL: "http", Comments: true, Commas: true, Joined: true,
		Files:  serverFiles("context_servers", ".zed/settings.json ~/.config/zed/settings.json"),
		Fields: roles(usual + "enabled timeout=start_ms source= settings= remote= oauth=")}
}
