package client

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// ServerRules are the rules of a client for MCP servers: its files, and the meaning of an entry.
// The zero value is a client without such files.
type ServerRules struct {
	Files []ServerFile // a file has precedence over all later files
	Lists []ServerList // the names of enabled and disabled servers

	Comments bool // the client reads JSON with comments
	Commas   bool // the client reads JSON with a comma before a closing bracket
	Joined   bool // an entry has the fields of the entries with its name in later files too
	Closed   bool // the client rejects an entry with an unknown field

	// Types are the transports by the values of the field with the role ServerType: "stdio",
	// "http", "sse" or "ws". URL is the transport of an entry with a URL and without a type; ""
	// means that the client rejects the entry.
	Types map[string]string
	URL   string

	Fields map[string]ServerRole // by the keys of an entry
	Forms  VarForms
	Dirs   map[string]ServerDir // the variables whose values are directories, such as "workspaceFolder"
}

// A ServerFile is a file with MCP servers, in JSON, or in TOML if the path ends in ".toml".
type ServerFile struct {
	Base  Base
	Path  string   // below Base, with slashes
	Table []string // the keys that lead to the servers; [ProjectKey] is the path of the project

	Parents   bool // the client also looks in the parent directories of the project
	Fallback  bool // read only if the file before in the list does not exist
	Exclusive bool // if the file exists, the client reads no other file and no plugin
}

// ProjectKey stands in a table for the full path of the directory of the project, with slashes.
const ProjectKey = "${project}"

// A ServerList is a value that enables or disables servers: a list of names, a list of objects with
// a serverName, or the value true for all servers.
type ServerList struct {
	Base   Base
	Path   string
	Table  []string
	Effect ListEffect
	Shared bool // concerns only the servers of files in the project and its parents
}

// A ListEffect is the effect of a [ServerList].
type ListEffect int

const (
	Disables ListEffect = iota // the client does not start the servers
	Approves                   // the user has approved the servers in the client
	Only                       // the client starts no other server
)

// A ServerRole is the meaning of a field of an entry.
type ServerRole int

const (
	ServerOther        ServerRole = iota // known to the client only
	ServerType                           // a key of ServerRules.Types
	ServerCommand                        // a text, or a list of the command and its arguments
	ServerArgs                           // a list
	ServerEnv                            // an object
	ServerEnvNames                       // a list of variables with the values of the same names
	ServerEnvFile                        // the path of a file with variables
	ServerCwd                            // the path of the working directory
	ServerURL                            // of a server over HTTP
	ServerHTTPURL                        // like ServerURL, with the transport "http"
	ServerHeaders                        // an object
	ServerHeaderNames                    // an object of headers with the names of variables
	ServerBearer                         // the name of the variable with the token of the header Authorization
	ServerDisabled                       // true or false
	ServerEnabled                        // true or false
	ServerAllowed                        // a list of the only tools
	ServerDenied                         // a list of refused tools
	ServerStartSeconds                   // the time limit of the start
	ServerStartMillis
	ServerCallSeconds // the time limit of a call
	ServerCallMillis
)

// VarForms is a set of forms of variables in the texts of an entry.
type VarForms int

const (
	VarBraces   VarForms = 1 << iota // ${NAME}
	VarDefault                       // ${NAME:-text}, also with an empty text
	VarDollar                        // $NAME
	VarPrefixed                      // ${env:NAME}, ${input:ID}, and ${NAME} for the names of Dirs
	VarCurly                         // {env:NAME} and {file:PATH}
	VarShell                         // as in a shell: the text of VarDefault also replaces an empty value, and $(command) exists
)

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

// check returns an error if a rule for MCP servers is not valid.
func (r ServerRules) check() error {
	for _, f := range r.Files {
		name := strings.TrimPrefix(f.Path, "/")
		switch {
		case f.Base < Project || f.Base > System || (f.Base == System) != (name != f.Path):
			return fmt.Errorf("the file %q: use a relative path, or an absolute path of System", f.Path)
		case name == "" || path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../"):
			return fmt.Errorf(`invalid path %q; use a path such as ".cursor/mcp.json"`, f.Path)
		case len(f.Table) == 0 || f.Parents && f.Base != Project && !slices.Contains(f.Table, ProjectKey):
			return fmt.Errorf("the file %q: add a Table, and Parents only for the project", f.Path)
		}
	}
	for _, t := range append(slices.Collect(maps.Values(r.Types)), r.URL) {
		if !slices.Contains([]string{"", "stdio", "http", "sse", "ws"}, t) {
			return fmt.Errorf(`unknown transport %q; use "stdio", "http", "sse" or "ws"`, t)
		}
	}
	if len(r.Files) > 0 && len(r.Fields) == 0 {
		return errors.New("files of MCP servers need Fields")
	}
	return nil
}

// serverFields returns the fields that most clients share, and further fields.
func serverFields(more map[string]ServerRole, other ...string) map[string]ServerRole {
	all := map[string]ServerRole{"type": ServerType, "command": ServerCommand, "args": ServerArgs,
		"env": ServerEnv, "cwd": ServerCwd, "url": ServerURL, "headers": ServerHeaders}
	maps.Copy(all, more)
	for _, name := range other {
		all[name] = ServerOther
	}
	return all
}

// serverFiles returns the same file of the project and of the user.
func serverFiles(file string, table ...string) []ServerFile {
	return []ServerFile{{Path: file, Table: table}, {Base: Home, Path: file, Table: table}}
}

// transports returns the usual transports, and the transport of another type.
func transports(other, transport string) map[string]string {
	all := map[string]string{"stdio": "stdio", "http": "http", "streamable-http": "http", "sse": "sse"}
	if other != "" {
		all[other] = transport
	}
	return all
}

// AgentPluginServers returns the rules of the file mcp.json of Agent Plugins.
func AgentPluginServers() ServerRules { // agentplugins/agent-plugins-spec 1.0.0, 7.2, 2026-08
	return ServerRules{Closed: true, Fields: serverFields(nil), Forms: VarPrefixed,
		Types: map[string]string{"stdio": "stdio", "streamable-http": "http", "sse": "sse"},
		Dirs:  map[string]ServerDir{"PLUGIN_ROOT": PluginDir, "PLUGIN_DATA": Given}}
}

// npm @anthropic-ai/claude-code 2.1.332, claude mcp list, 2026-11-27
func claudeServers() ServerRules {
	const user, managed = ".claude.json", "/etc/claude-code/managed-"
	own := func(key string) []string { return []string{"projects", ProjectKey, key} }
	table := []string{"mcpServers"}
	r := ServerRules{Types: transports("ws", "ws"), Forms: VarBraces | VarDefault,
		Dirs: map[string]ServerDir{"CLAUDE_PLUGIN_ROOT": PluginDir, "CLAUDE_PROJECT_DIR": ProjectDir},
		Files: []ServerFile{{Base: System, Path: managed + "mcp.json", Table: table, Exclusive: true},
			{Base: Home, Path: user, Table: own("mcpServers"), Parents: true},
			{Path: ".mcp.json", Table: table, Parents: true}, {Base: Home, Path: user, Table: table}},
		Lists: []ServerList{{Base: Home, Path: user, Table: own("disabledMcpServers")},
			{Base: Home, Path: user, Table: own("disabledMcpjsonServers"), Shared: true},
			{Base: Home, Path: user, Table: own("enabledMcpjsonServers"), Effect: Approves, Shared: true}},
		Fields: serverFields(map[string]ServerRole{"timeout": ServerCallMillis},
			"headersHelper", "oauth", "alwaysLoad", "description")}
	for _, file := range []ServerFile{{Path: ".claude/settings.json"}, {Path: ".claude/settings.local.json"},
		{Base: Home, Path: ".claude/settings.json"}, {Base: System, Path: managed + "settings.json"}} {
		add := func(key string, effect ListEffect, shared bool) {
			r.Lists = append(r.Lists, ServerList{file.Base, file.Path, []string{key}, effect, shared})
		}
		add("deniedMcpServers", Disables, false)
		add("disabledMcpjsonServers", Disables, true)
		add("enabledMcpjsonServers", Approves, true)
		add("enableAllProjectMcpServers", Approves, true)
	}
	return r
}

// npm @openai/codex 0.171.0, codex mcp list --json, 2026-11-27
func codexServers() ServerRules {
	files := serverFiles(".codex/config.toml", "mcp_servers")
	files[0].Parents = true
	return ServerRules{Files: files, URL: "http", Joined: true, Fields: map[string]ServerRole{
		"command": ServerCommand, "args": ServerArgs, "env": ServerEnv, "env_vars": ServerEnvNames,
		"cwd": ServerCwd, "url": ServerURL, "http_headers": ServerHeaders,
		"env_http_headers": ServerHeaderNames, "bearer_token_env_var": ServerBearer,
		"enabled": ServerEnabled, "enabled_tools": ServerAllowed, "disabled_tools": ServerDenied,
		"startup_timeout_sec": ServerStartSeconds, "startup_timeout_ms": ServerStartMillis,
		"tool_timeout_sec": ServerCallSeconds, "required": ServerOther, "scopes": ServerOther,
		"tools": ServerOther, "oauth": ServerOther, "http_headers_helper": ServerOther}}
}

// npm @github/copilot 1.0.102, copilot mcp list --json, 2026-11-27
func copilotServers() ServerRules {
	table := []string{"mcpServers"}
	return ServerRules{URL: "http", Types: transports("local", "stdio"), Forms: VarBraces | VarDefault,
		Files: []ServerFile{{Path: ".mcp.json", Table: table}, {Path: ".github/mcp.json", Table: table, Fallback: true},
			{Base: Home, Path: ".copilot/mcp-config.json", Table: table}},
		Fields: serverFields(map[string]ServerRole{"tools": ServerAllowed, "timeout": ServerCallMillis}, "oauth")}
}

// github.com/charmbracelet/crush 37f36e93, internal/config/config.go, load.go and resolve.go, 2026
func crushServers() ServerRules {
	table := []string{"mcp"}
	return ServerRules{Joined: true, Types: transports("", ""), Forms: VarBraces | VarDefault | VarDollar | VarShell,
		Files: []ServerFile{{Path: ".crush.json", Table: table, Parents: true},
			{Path: "crush.json", Table: table, Parents: true}, {Base: Config, Path: "crush/crush.json", Table: table}},
		Fields: serverFields(map[string]ServerRole{"disabled": ServerDisabled, "enabled_tools": ServerAllowed,
			"disabled_tools": ServerDenied, "timeout": ServerStartSeconds}, "oauth", "oauth_client_id",
			"oauth_client_secret", "oauth_callback_port")}
}

// editorDirs returns the directories of the variables of Visual Studio Code.
func editorDirs() map[string]ServerDir {
	return map[string]ServerDir{"workspaceFolder": ProjectDir, "workspaceFolderBasename": ProjectName,
		"userHome": HomeDir, "pathSeparator": Separator, "/": Separator}
}

// cursor.com/docs/mcp, 2026-11
func cursorServers() ServerRules {
	return ServerRules{Files: serverFiles(".cursor/mcp.json", "mcpServers"), Comments: true, Commas: true,
		URL: "http", Types: transports("", ""), Forms: VarPrefixed, Dirs: editorDirs(),
		Fields: serverFields(map[string]ServerRole{"envFile": ServerEnvFile, "disabled": ServerDisabled}, "auth")}
}

// npm @google/gemini-cli 0.61.0, gemini mcp list, 2026-11-27
func geminiServers() ServerRules {
	r := ServerRules{Files: serverFiles(".gemini/settings.json", "mcpServers"), Comments: true,
		URL: "http", Types: transports("", ""), Forms: VarBraces | VarDefault | VarDollar,
		Dirs: map[string]ServerDir{"extensionPath": PluginDir, "workspacePath": ProjectDir,
			"/": Separator, "pathSeparator": Separator},
		Fields: serverFields(map[string]ServerRole{"httpUrl": ServerHTTPURL, "timeout": ServerCallMillis,
			"includeTools": ServerAllowed, "excludeTools": ServerDenied}, "trust", "description", "oauth",
			"authProviderType", "targetAudience", "targetServiceAccount", "tcp")}
	for _, f := range r.Files {
		r.Lists = append(r.Lists, ServerList{Base: f.Base, Path: f.Path, Table: []string{"mcp", "excluded"}},
			ServerList{Base: f.Base, Path: f.Path, Table: []string{"mcp", "allowed"}, Effect: Only})
	}
	return r
}

// kiro.dev/docs/mcp/configuration, 2026-11
func kiroServers() ServerRules {
	return ServerRules{Files: serverFiles(".kiro/settings/mcp.json", "mcpServers"), URL: "http",
		Types: transports("", ""), Forms: VarBraces, Fields: serverFields(map[string]ServerRole{
			"disabled": ServerDisabled, "disabledTools": ServerDenied, "timeout": ServerCallMillis}, "autoApprove")}
}

// npm opencode-ai 1.18.33, opencode mcp list, 2026-11-27
func openCodeServers() ServerRules {
	r := ServerRules{Comments: true, Commas: true, Joined: true, Forms: VarCurly,
		Types: map[string]string{"local": "stdio", "remote": "http"}, Fields: map[string]ServerRole{
			"type": ServerType, "command": ServerCommand, "environment": ServerEnv, "cwd": ServerCwd,
			"url": ServerURL, "headers": ServerHeaders, "enabled": ServerEnabled,
			"timeout": ServerCallMillis, "oauth": ServerOther}}
	for _, file := range []string{".opencode/opencode.jsonc", ".opencode/opencode.json", "opencode.jsonc", "opencode.json"} {
		r.Files = append(r.Files, ServerFile{Path: file, Table: []string{"mcp"}, Parents: true})
	}
	for _, file := range []string{"opencode/opencode.jsonc", "opencode/opencode.json", "opencode/config.json"} {
		r.Files = append(r.Files, ServerFile{Base: Config, Path: file, Table: []string{"mcp"}})
	}
	return r
}

// npm @qwen-code/qwen-code 0.24.4, qwen mcp list, 2026-11-27
func qwenServers() ServerRules {
	r := geminiServers()
	for i := range r.Files {
		r.Files[i].Path = ".qwen/settings.json"
	}
	for i := range r.Lists {
		r.Lists[i].Path = ".qwen/settings.json"
	}
	r.Files = append([]ServerFile{{Path: ".mcp.json", Table: []string{"mcpServers"}}}, r.Files...)
	r.URL, r.Forms = "sse", VarBraces|VarDollar
	return r
}

// github.com/RooCodeInc/Roo-Code cb836567, src/services/mcp/McpHub.ts, 2026; without the global
// file
func rooServers() ServerRules {
	return ServerRules{Files: serverFiles(".roo/mcp.json", "mcpServers")[:1], Types: transports("", ""),
		Forms: VarPrefixed, Dirs: editorDirs(), Fields: serverFields(map[string]ServerRole{"disabled": ServerDisabled,
			"disabledTools": ServerDenied, "timeout": ServerCallSeconds}, "alwaysAllow", "watchPaths")}
}

// code.visualstudio.com/docs/agents/reference/mcp-configuration, 2026-11; without the profile of
// the user
func vscodeServers() ServerRules {
	return ServerRules{Files: serverFiles(".vscode/mcp.json", "servers")[:1], Comments: true, Commas: true,
		URL: "http", Types: transports("", ""), Forms: VarPrefixed, Dirs: editorDirs(),
		Fields: serverFields(map[string]ServerRole{"envFile": ServerEnvFile}, "dev", "gallery", "version",
			"sandboxEnabled", "sandbox", "oauth")}
}
