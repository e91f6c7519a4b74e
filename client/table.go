package client

import "slices"

// AgentSkills returns the Agent Skills specification as a row without places: the fields of a
// SKILL.md and their limits.
func AgentSkills() Client {
	return Client{Name: "agentskills", Title: "Agent Skills", Strict: true,
		Fields: []Field{ // https://agentskills.io/specification, 2026-10
			{Name: "name", Files: Skills, Required: true, Slug: true, Directory: true, Limit: 64},
			{Name: "description", Files: Skills, Required: true, Limit: 1024},
			{Name: "license", Files: Skills},
			{Name: "compatibility", Files: Skills, Limit: 500},
			{Name: "metadata", Files: Skills, Kind: Mapping},
			{Name: "allowed-tools", Files: Skills, Kind: List},
		}}
}

// Amp returns the row of Amp.
func Amp() Client {
	return Client{Name: "amp", Title: "Amp",
		Skills: []Place{ // syllago.dev, Amp: Skills, and decodeclaude.com, Amp: Skills, 2026-11; third parties
			{Dir: ".agents/skills", Pattern: "*/SKILL.md"},
			{Dir: ".claude/skills", Pattern: "*/SKILL.md"},
			{Base: Config, Dir: "agents/skills", Pattern: "*/SKILL.md"},
			{Base: Config, Dir: "amp/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".claude/skills", Pattern: "*/SKILL.md"},
		},
		Instructions: []Place{ // syllago.dev, Amp, 2026-11; third party
			{Dir: ".", Pattern: "AGENTS.md"},
			{Base: Config, Dir: "amp", Pattern: "AGENTS.md"},
		}}
}

// Claude returns the row of Claude Code. Claude Code itself reads the personal skills before the
// skills of the project; the table has the order of the other clients.
func Claude() Client {
	return Client{Name: "claude", Title: "Claude Code", Servers: claudeServers(),
		Commands: []Place{ // code.claude.com/docs/en/skills and …/slash-commands, 2026-10
			{Dir: ".claude/commands", Pattern: "**/*.md", Parents: true},
			{Base: Home, Dir: ".claude/commands", Pattern: "**/*.md"},
		},
		Skills: []Place{ // code.claude.com/docs/en/skills, 2026-10, and for the parents 2026-08; npm @anthropic-ai/claude-code 2.1.332, run with a project, for the directories below, 2026-11
			{Dir: ".claude/skills", Pattern: "*/SKILL.md", Parents: true, Below: true},
			{Base: Home, Dir: ".claude/skills", Pattern: "*/SKILL.md"},
		},
		Agents: []Place{ // code.claude.com/docs/en/sub-agents, 2026-10, and for the parents 2026-08
			{Dir: ".claude/agents", Pattern: "**/*.md", Name: OnlyHeader, Parents: true},
			{Base: Home, Dir: ".claude/agents", Pattern: "**/*.md", Name: OnlyHeader},
		},
		Instructions: []Place{ // code.claude.com/docs/en/memory, 2026-10; for AGENTS.md github.com/anthropics/claude-code v2.1.277, mods/agents-md; npm @anthropic-ai/claude-code 2.1.330, run with a project, for rules below the project and for "*.go"
			onTheWay("CLAUDE.md", NoFallback), {Dir: ".claude", Pattern: "CLAUDE.md", Parents: true, Below: true},
			onTheWay("CLAUDE.local.md", NoFallback), onTheWay("AGENTS.md", InProject),
			{Dir: ".claude/rules", Pattern: "**/*.md", Parents: true, Below: true, Globs: "paths", AnyDepth: true},
			{Base: Home, Dir: ".claude", Pattern: "CLAUDE.md"}, {Base: Home, Dir: ".claude/rules", Pattern: "**/*.md", Globs: "paths", AnyDepth: true},
		},
		Rules: claudeRules, SkillRules: claudeRules, Switches: claudeSwitches(), ImportHops: 4, Mention: "@agent-", // code.claude.com/docs/en/memory, imports, 2026-10; for the mention npm @anthropic-ai/claude-code 2.1.332, 2026-11
		Manifests: []string{".claude-plugin/plugin.json"}, Plugins: []Place{{Dir: ".claude/skills", Pattern: "*/.claude-plugin/plugin.json"}, {Base: Home, Dir: ".claude/skills", Pattern: "*/.claude-plugin/plugin.json"}}, // code.claude.com/docs/en/plugins-reference, 2026-10; npm @anthropic-ai/claude-code 2.1.332, plugin list, 2026-11, since 2.1.157
		Fields: slices.Concat( // code.claude.com/docs/en/skills and …/sub-agents, 2026-08, and Claude Code 2.1.330
			[]Field{{Name: "name"}, {Name: "description", Cut: 1536}, {Name: "when_to_use"}, {Name: "argument-hint"}, {Name: "arguments", Kind: List}},
			fields(0, Flag, "disable-model-invocation", "user-invocable", "background"), fields(0, List, "allowed-tools", "disallowed-tools", "paths"), fields(0, Mapping, "metadata"),
			fields(0, Text, "model", "effort", "context", "agent", "shell", "version", "license", "compatibility"), fields(0, Mapping, "hooks"), fields(Commands, Flag, "hide-from-slash-command-tool"),
			[]Field{{Name: "name", Files: Agents, Required: true}, {Name: "description", Files: Agents, Required: true}}, fields(Agents, List, "tools", "disallowedTools", "skills", "mcpServers"),
			fields(Agents, Mapping, "hooks"), fields(Agents, Flag, "background"), fields(Agents, Text, "model", "permissionMode", "maxTurns", "memory", "effort", "isolation", "color", "initialPrompt"),
		)}
}

// claudeRules are the rules of code.claude.com/docs/en/skills, available string substitutions,
// 2026-10. Commands count from 0 too: github.com/anthropics/claude-plugins-official/issues/6246,
// version 2.1.273.
var claudeRules = Rules{Forms: Arguments | Indexed | Numbered | Declared | Value | ShellQuote | FilePath,
	Count: CountFromZero, Number: OutsideWords, NoName: Empty, Code: CodeWithPlaceholders, Escape: Backslash}

// claudeSwitches returns the settings of npm @anthropic-ai/claude-code 2.1.332, run with a project,
// 2026-11-27.
func claudeSwitches() []Switch {
	local := Switch{File: ".claude/settings.local.json", Key: "skillOverrides", Words: [...]string{"on", "name-only", "user-invocable-only", "off"}}
	shared, user := local, local
	shared.File, user.File, user.Base = ".claude/settings.json", ".claude/settings.json", Home
	return []Switch{local, shared, user}
}

// Cline returns the row of Cline. Cline calls its commands workflows.
func Cline() Client {
	return Client{Name: "cline", Title: "Cline",
		Commands: []Place{ // docs.cline.bot/features/slash-commands/workflows/best-practices, 2026-11
			{Dir: ".clinerules/workflows", Pattern: "*.md"},
			{Base: Home, Dir: "Documents/Cline/Workflows", Pattern: "*.md"},
		},
		Skills: []Place{ // docs.cline.bot/customization/skills, 2026-11
			{Dir: ".cline/skills", Pattern: "*/SKILL.md"},
			{Dir: ".clinerules/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".cline/skills", Pattern: "*/SKILL.md"},
		},
		Instructions: []Place{ // docs.cline.bot/features/cline-rules/overview and …/conditional-rules, 2026-11
			{Dir: ".clinerules", Pattern: "*.md", Globs: "paths"},
			{Dir: ".", Pattern: "AGENTS.md", Below: true},
			{Base: Home, Dir: "Documents/Cline/Rules", Pattern: "*.md", Globs: "paths"},
		},
		Rules: Rules{Forms: NoForms, Append: AppendLine}} // github.com/cline/cline 023acebf, src/core/slash-commands/index.ts
}

// Codex returns the row of Codex CLI. The variable CODEX_HOME replaces ~/.codex, often by the
// directory .codex of a project. The table has both.
func Codex() Client {
	return Client{Name: "codex", Title: "Codex CLI", Servers: codexServers(),
		Commands: []Place{ // github.com/openai/codex docs/prompts.md, 2026-02; deprecated in favor of skills
			{Dir: ".codex/prompts", Pattern: "*.md", Prefix: "prompts:"},
			{Base: Home, Dir: ".codex/prompts", Pattern: "*.md", Prefix: "prompts:"},
		},
		Skills: []Place{ // developers.openai.com/codex/skills, and codex-rs/ext/skills/src/host_roots.rs for .codex/skills, 2026-11
			{Dir: ".agents/skills", Pattern: "**/SKILL.md", Parents: true},
			{Dir: ".codex/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".agents/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".codex/skills", Pattern: "**/SKILL.md"},
		},
		Instructions: []Place{ // developers.openai.com/codex/guides/agents-md, 2026-10, and codex-rs/core/src/agents_md.rs 0cf644af, 2026; without the names of the configuration
			onTheWay("AGENTS.override.md", NoFallback), onTheWay("AGENTS.md", InDirectory),
			{Base: Home, Dir: ".codex", Pattern: "AGENTS.override.md"}, {Base: Home, Dir: ".codex", Pattern: "AGENTS.md", Fallback: InDirectory},
		}, InstructionBytes: 32 << 10, // project_doc_max_bytes
		Switches: []Switch{{Base: Home, File: ".codex/config.toml", Key: "skills.config", Name: FromHeader}}, // npm @openai/codex 0.171.0, run with a project, 2026-11-27; the file of the project has no effect
		Rules: Rules{Forms: Arguments | Numbered | Capital, Count: CountFromOne, Number: OneDigit, NoNumber: Empty, NoName: Fails, Joined: true,
			Code: NoCode, Escape: Dollars, Append: Drop}, // codex-rs/tui/src/bottom_pane/prompt_args.rs, the last version with prompts, 2026-02
		Manifests: []string{"plugin.json", ".codex-plugin/plugin.json", ".claude-plugin/plugin.json", ".cursor-plugin/plugin.json"}, // core-plugins/manifest.rs, 2026-11
		Fields: []Field{ // github.com/openai/codex docs/prompts.md, 2026-02; codex-rs/core/src/skills/loader.rs f793618e, 2026-03
			{Name: "description", Files: Commands}, {Name: "argument-hint", Files: Commands},
			{Name: "name", Files: Skills, Required: true, Limit: 64}, {Name: "description", Files: Skills, Required: true, Limit: 1024},
			{Name: "metadata", Files: Skills, Kind: Mapping},
		}}
}

// Copilot returns the row of GitHub Copilot CLI.
func Copilot() Client {
	return Client{Name: "copilot", Title: "GitHub Copilot CLI", Servers: copilotServers(),
		Skills: []Place{ // docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-skills, 2026-11
			{Dir: ".github/skills", Pattern: "*/SKILL.md"},
			{Dir: ".claude/skills", Pattern: "*/SKILL.md"},
			{Dir: ".agents/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".copilot/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".agents/skills", Pattern: "*/SKILL.md"},
		},
		Agents: []Place{ // code.visualstudio.com/docs/agent-customization/custom-agents, 2026-11
			{Dir: ".github/agents", Pattern: "*.agent.md", Name: FromHeader},
			{Base: Home, Dir: ".copilot/agents", Pattern: "*.agent.md", Name: FromHeader}, // docs.github.com/en/copilot/how-tos/copilot-cli, custom agents, 2026-11
		},
		Instructions: []Place{ // docs.github.com/en/enterprise-cloud@latest/copilot/how-tos/copilot-cli/customize-copilot/add-custom-instructions, 2026-11
			{Dir: ".github", Pattern: "copilot-instructions.md", Parents: true, Below: true}, onTheWay("AGENTS.md", NoFallback),
			{Dir: ".", Pattern: "CLAUDE.md"}, {Dir: ".", Pattern: "GEMINI.md"},
			{Dir: ".github/instructions", Pattern: "**/*.instructions.md", Parents: true, Globs: "applyTo", OnRequest: true},
			{Base: Home, Dir: ".copilot", Pattern: "copilot-instructions.md"},
			{Base: Home, Dir: ".copilot/instructions", Pattern: "**/*.instructions.md", Globs: "applyTo", OnRequest: true},
		},
		Manifests: []string{"plugin.json"}, // github.com/agentplugins/agent-plugins-spec, readers, 2026-08
		Fields: []Field{ // docs.github.com/en/copilot/reference/custom-agents-configuration, 2026-11
			{Name: "name", Files: Skills}, {Name: "description", Files: Skills}, {Name: "license", Files: Skills}, {Name: "allowed-tools", Files: Skills, Kind: List},
			{Name: "name", Files: Agents}, {Name: "description", Files: Agents, Required: true}, {Name: "tools", Files: Agents, Kind: List}, {Name: "model", Files: Agents},
			{Name: "target", Files: Agents}, {Name: "infer", Files: Agents, Kind: Flag}, {Name: "disable-model-invocation", Files: Agents, Kind: Flag},
			{Name: "user-invocable", Files: Agents, Kind: Flag}, {Name: "mcp-servers", Files: Agents, Kind: Mapping}, {Name: "metadata", Files: Agents, Kind: Mapping},
		}}
}

// Crush returns the row of Crush. Of the parents, Crush reads only the root of the repository.
func Crush() Client {
	return Client{Name: "crush", Title: "Crush", Servers: crushServers(),
		Commands: []Place{ // github.com/charmbracelet/crush 37f36e93, internal/commands, 2026-11
			{Dir: ".crush/commands", Pattern: "**/*.md", Prefix: "project:"},
			{Base: Config, Dir: "crush/commands", Pattern: "**/*.md", Prefix: "user:"},
			{Base: Home, Dir: ".crush/commands", Pattern: "**/*.md", Prefix: "user:"},
		},
		Skills: []Place{ // github.com/charmbracelet/crush 37f36e93, internal/config/load.go, 2026-08
			{Dir: ".agents/skills", Pattern: "**/SKILL.md", Parents: true},
			{Dir: ".crush/skills", Pattern: "**/SKILL.md", Parents: true},
			{Dir: ".claude/skills", Pattern: "**/SKILL.md", Parents: true},
			{Dir: ".cursor/skills", Pattern: "**/SKILL.md", Parents: true},
			{Base: Config, Dir: "crush/skills", Pattern: "**/SKILL.md"},
			{Base: Config, Dir: "agents/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".agents/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".claude/skills", Pattern: "**/SKILL.md"},
		},
		Rules: Rules{Forms: Capital, NoName: Fails, Code: NoCode, Escape: NoEscape, Append: Drop}, // …, internal/commands, and internal/ui/model/ui.go
		Fields: []Field{ // github.com/charmbracelet/crush 37f36e93, internal/skills/skills.go, 2026-11; also a directory with another name, except for letter case
			{Name: "name", Files: Skills, Required: true, Limit: 64}, {Name: "description", Files: Skills, Required: true, Limit: 1024},
			{Name: "user-invocable", Files: Skills, Kind: Flag}, {Name: "disable-model-invocation", Files: Skills, Kind: Flag}, {Name: "license", Files: Skills},
			{Name: "compatibility", Files: Skills, Limit: 500}, {Name: "metadata", Files: Skills, Kind: Mapping},
		}}
}

// Cursor returns the row of Cursor.
func Cursor() Client {
	return Client{Name: "cursor", Title: "Cursor", Servers: cursorServers(),
		Commands: []Place{ // cursor.com/docs/plugins/building, 2026-11
			{Dir: ".cursor/commands", Pattern: "*.md"},
			{Base: Home, Dir: ".cursor/commands", Pattern: "*.md"},
		},
		Skills: []Place{ // cursor.com/docs/skills, 2026-11
			{Dir: ".agents/skills", Pattern: "**/SKILL.md"},
			{Dir: ".cursor/skills", Pattern: "**/SKILL.md"},
			{Dir: ".claude/skills", Pattern: "**/SKILL.md"},
			{Dir: ".codex/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".agents/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".cursor/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".claude/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".codex/skills", Pattern: "**/SKILL.md"},
		},
		Agents: []Place{ // cursor.com/docs/subagents, 2026-11
			{Dir: ".cursor/agents", Pattern: "*.md", Name: FromHeader}, {Dir: ".claude/agents", Pattern: "*.md", Name: FromHeader}, {Dir: ".codex/agents", Pattern: "*.md", Name: FromHeader},
			{Base: Home, Dir: ".cursor/agents", Pattern: "*.md", Name: FromHeader}, {Base: Home, Dir: ".claude/agents", Pattern: "*.md", Name: FromHeader},
			{Base: Home, Dir: ".codex/agents", Pattern: "*.md", Name: FromHeader},
		},
		Instructions: []Place{ // cursor.com/docs/rules, 2026-11; "*.ts" matches in the root only; docs.cursor.com/context/rules for rules below the project, 2025-07
			{Dir: ".", Pattern: "AGENTS.md", Below: true},
			{Dir: ".cursor/rules", Pattern: "**/*.mdc", Below: true, Globs: "globs", When: "alwaysApply", OnRequest: true},
		},
		Rules:     Rules{Forms: NoForms, Append: AppendLine},                                                                              // cursor.com/docs/plugins/building, 2026-11
		Manifests: []string{"plugin.json", ".cursor-plugin/plugin.json"},                                                                  // cursor.com/docs/plugins/building, 2026-11
		Fields:    slices.Concat(fields(Agents, Text, "name", "description", "model"), fields(Agents, Flag, "readonly", "is_background"))} // cursor.com/docs/subagents, 2026-11
}

// Factory returns the row of Factory's Droid. Droid also turns the name of a file into lower case
// and replaces other characters by "-".
func Factory() Client {
	return Client{Name: "factory", Title: "Factory Droid",
		Commands: []Place{ // docs.factory.ai/harness/custom-slash-commands, and npm @factory/cli-linux-x64 0.225.2 for the parents, 2026-11
			{Dir: ".factory/commands", Pattern: "**/*.md", Parents: true},
			{Base: Home, Dir: ".factory/commands", Pattern: "**/*.md"},
		},
		Skills: []Place{ // docs.factory.ai/harness/skills, and npm @factory/cli-linux-x64 0.225.2 for .agents and the parents, 2026-11
			{Dir: ".factory/skills", Pattern: "*/SKILL.md", Parents: true},
			{Dir: ".agents/skills", Pattern: "*/SKILL.md", Parents: true},
			{Base: Home, Dir: ".factory/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".agents/skills", Pattern: "*/SKILL.md"},
		},
		Agents: []Place{ // docs.factory.ai/cli/configuration/custom-droids, 2026
			{Dir: ".factory/droids", Pattern: "*.md", Name: OnlyHeader}, {Base: Home, Dir: ".factory/droids", Pattern: "*.md", Name: OnlyHeader},
		},
		Rules: Rules{Forms: Arguments, Number: Anywhere, Code: NoCode, Escape: NoEscape, Append: Drop}, // docs.factory.ai/cli/configuration/custom-slash-commands, 2026
		Fields: slices.Concat([]Field{{Name: "name", Files: Agents, Required: true}}, // docs.factory.ai/cli/configuration/custom-droids, 2026
			fields(Agents, Text, "description", "model", "reasoningEffort"), fields(Agents, List, "tools"))}
}

// Gemini returns the row of Gemini CLI. Gemini CLI also replaces other characters of a name by
// "_" and cuts a name after 50 characters.
func Gemini() Client {
	return Client{Name: "gemini", Title: "Gemini CLI", Servers: geminiServers(),
		Commands: []Place{ // geminicli.com/docs/cli/custom-commands, 2026-11
			{Dir: ".gemini/commands", Pattern: "**/*.toml"},
			{Base: Home, Dir: ".gemini/commands", Pattern: "**/*.toml"},
		},
		Skills: []Place{ // geminicli.com/docs/cli/skills, 2026-11
			{Dir: ".agents/skills", Pattern: "*/SKILL.md"},
			{Dir: ".gemini/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".agents/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".gemini/skills", Pattern: "*/SKILL.md"},
		},
		Agents: []Place{ // github.com/google-gemini/gemini-cli 03c6714c, agents/agentLoader.ts and config/storage.ts, 2026; without files that begin with "_"
			{Dir: ".gemini/agents", Pattern: "*.md", Name: OnlyHeader}, {Base: Home, Dir: ".gemini/agents", Pattern: "*.md", Name: OnlyHeader},
		},
		Instructions: []Place{ // geminicli.com/docs/cli/gemini-md, 2026-11
			onTheWay("GEMINI.md", NoFallback), {Base: Home, Dir: ".gemini", Pattern: "GEMINI.md"},
		}, ImportHops: 5, Mention: "@", // github.com/google-gemini/gemini-cli 04fbf507, packages/core/src/utils/memoryImportProcessor.ts, 2026; for the mention geminicli.com/docs/core/subagents, 2026-11
		Rules:     Rules{Forms: Args | ShellBraces | FileBraces, Code: NoCode, Escape: NoEscape, Append: AppendCommand}, // github.com/google-gemini/gemini-cli 5411f113, packages/cli/src/services/prompt-processors, 2026-08
		Manifests: []string{"gemini-extension.json"},                                                                    // geminicli.com/docs/extensions, 2026-11
		Fields: []Field{ // github.com/google-gemini/gemini-cli 5411f113, FileCommandLoader.ts, skillLoader.ts and agentLoader.ts, 2026-08
			{Name: "prompt", Files: Commands, Required: true}, {Name: "description", Files: Commands},
			{Name: "name", Files: Skills, Required: true}, {Name: "description", Files: Skills, Required: true},
			{Name: "name", Files: Agents, Required: true}, {Name: "description", Files: Agents, Required: true}, {Name: "kind", Files: Agents},
			{Name: "display_name", Files: Agents}, {Name: "tools", Files: Agents, Kind: List}, {Name: "mcp_servers", Files: Agents, Kind: Mapping}, {Name: "model", Files: Agents},
			{Name: "temperature", Files: Agents}, {Name: "max_turns", Files: Agents}, {Name: "timeout_mins", Files: Agents}, {Name: "policy", Files: Agents, Kind: Mapping},
			{Name: "agent_card_url", Files: Agents}, {Name: "auth", Files: Agents, Kind: Mapping},
		}}
}

// Goose returns the row of goose. The recipes of goose are YAML with another template language.
func Goose() Client {
	return Client{Name: "goose", Title: "goose",
		Skills: []Place{ // github.com/block/goose 013ab848, crates/goose/src/skills/mod.rs, 2026
			{Dir: ".agents/skills", Pattern: "**/SKILL.md"},
			{Dir: ".goose/skills", Pattern: "**/SKILL.md"},
			{Dir: ".claude/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".agents/skills", Pattern: "**/SKILL.md"},
			{Base: Config, Dir: "goose/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".claude/skills", Pattern: "**/SKILL.md"},
			{Base: Config, Dir: "agents/skills", Pattern: "**/SKILL.md"},
		},
		Manifests: []string{"plugin.json"}} // …/context-engineering/plugins.md, 2026-10
}

// Kilo returns the row of Kilo Code. Older versions call their commands workflows.
func Kilo() Client {
	return Client{Name: "kilo", Title: "Kilo Code",
		Commands: []Place{ // factoryengineering.dev/ides/kilo-code and github.com/Kilo-Org/kilocode, 2026-11; third party
			{Dir: ".kilo/commands", Pattern: "**/*.md"},
			{Dir: ".kilocode/workflows", Pattern: "*.md"},
			{Base: Config, Dir: "kilo/commands", Pattern: "**/*.md"},
			{Base: Home, Dir: ".kilocode/workflows", Pattern: "*.md"},
		},
		Skills: []Place{ // kilo.ai/docs/features/skills, 2026-11
			{Dir: ".kilocode/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".kilocode/skills", Pattern: "*/SKILL.md"},
		},
		Rules: openCodeRules, SkillRules: openCodeRules} // npm @kilocode/cli-linux-x64 7.7.9, a fork of OpenCode, 2026-11
}

// Kiro returns the row of Kiro.
func Kiro() Client {
	return Client{Name: "kiro", Title: "Kiro", Servers: kiroServers(),
		Skills: []Place{ // kiro.dev/docs/skills, 2026-11
			{Dir: ".kiro/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".kiro/skills", Pattern: "*/SKILL.md"},
		},
		Instructions: []Place{ // kiro.dev/docs/steering, 2026-11
			{Dir: ".", Pattern: "AGENTS.md"},
			{Dir: ".kiro/steering", Pattern: "*.md", Globs: "fileMatchPattern", When: "inclusion", AnyDepth: true},
			{Base: Home, Dir: ".kiro/steering", Pattern: "*.md", Globs: "fileMatchPattern", When: "inclusion", AnyDepth: true},
		},
		Manifests: []string{"plugin.json"}} // github.com/agentplugins/agent-plugins-spec, readers, 2026-08
}

// Kit returns the row of kit. Kit itself reads the prompts of the user before the prompts of the
// project; the table has the order of the other clients. Kit also reads skills in *.txt files.
func Kit() Client {
	return Client{Name: "kit", Title: "kit",
		Commands: []Place{ // github.com/mark3labs/kit a3743877, 2026-11
			{Dir: ".kit/prompts", Pattern: "*.md"},
			{Base: Home, Dir: ".kit/prompts", Pattern: "*.md"},
			{Base: Config, Dir: "kit/prompts", Pattern: "*.md"},
		},
		Skills: []Place{ // github.com/mark3labs/kit a3743877, internal/skills/skills.go, 2026-08
			{Dir: ".agents/skills", Pattern: "*/SKILL.md"},
			{Dir: ".agents/skills", Pattern: "*.md", Name: FromHeader},
			{Dir: ".kit/skills", Pattern: "*/SKILL.md"},
			{Dir: ".kit/skills", Pattern: "*.md", Name: FromHeader},
			{Base: Home, Dir: ".agents/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".agents/skills", Pattern: "*.md", Name: FromHeader},
			{Base: Config, Dir: "kit/skills", Pattern: "*/SKILL.md"},
			{Base: Config, Dir: "kit/skills", Pattern: "*.md", Name: FromHeader},
		},
		Rules: Rules{Forms: Arguments | Numbered | At | Plus | BracedArguments | BracedNumber | Slice | NumberSlice, Count: CountFromOne, Number: Anywhere,
			NoNumber: Fails, Joined: true, Code: CodeStays, Escape: NoEscape, Append: Drop}} // github.com/mark3labs/kit a3743877, internal/prompts/template.go, and internal/ui/model.go for missing arguments, 2026-08
}

// OpenCode returns the row of OpenCode. OpenCode itself separates the directories of a command
// name by "/", and turns every skill into a command.
func OpenCode() Client {
	return Client{Name: "opencode", Title: "OpenCode", Servers: openCodeServers(),
		Commands: []Place{ // opencode.ai/docs/commands, and config/command.ts for the pattern, 2026-11
			{Dir: ".opencode/commands", Pattern: "**/*.md", Parents: true}, {Dir: ".opencode/command", Pattern: "**/*.md", Parents: true},
			{Base: Config, Dir: "opencode/commands", Pattern: "**/*.md"}, {Base: Config, Dir: "opencode/command", Pattern: "**/*.md"},
		},
		Skills: []Place{ // opencode.ai/docs/skills, and skill/index.ts for the pattern, 2026-11
			{Dir: ".opencode/skills", Pattern: "**/SKILL.md", Parents: true},
			{Dir: ".claude/skills", Pattern: "**/SKILL.md", Parents: true},
			{Dir: ".agents/skills", Pattern: "**/SKILL.md", Parents: true},
			{Base: Config, Dir: "opencode/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".claude/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".agents/skills", Pattern: "**/SKILL.md"},
		},
		Agents: []Place{ // opencode.ai/docs/agents, and config/agent.ts for the pattern and the name, 2026-11
			{Dir: ".opencode/agents", Pattern: "**/*.md", Name: FromHeader, Parents: true}, {Dir: ".opencode/agent", Pattern: "**/*.md", Name: FromHeader, Parents: true},
			{Base: Config, Dir: "opencode/agents", Pattern: "**/*.md", Name: FromHeader}, {Base: Config, Dir: "opencode/agent", Pattern: "**/*.md", Name: FromHeader},
		},
		Instructions: []Place{ // opencode.ai/docs/rules, 2026-11, and session/instruction.ts 00b964bd; without the deprecated CONTEXT.md and the files *.local.md
			onTheWay("AGENTS.md", NoFallback), onTheWay("CLAUDE.md", InDirectory), {Base: Config, Dir: "opencode", Pattern: "AGENTS.md"}, {Base: Home, Dir: ".claude", Pattern: "CLAUDE.md", Fallback: InDirectory},
		},
		Rules: openCodeRules, SkillRules: openCodeRules, Mention: "@", // for the mention npm opencode-ai 1.18.33, SessionPrompt, 2026-11
		Fields: slices.Concat( // github.com/anomalyco/opencode config/command.ts and skill/index.ts, and opencode.ai/docs/agents, 2026-11
			fields(Commands, Text, "description", "agent", "model"), fields(Commands, Flag, "subtask"),
			[]Field{{Name: "name", Files: Skills, Required: true}, {Name: "description", Files: Skills, Required: true}},
			fields(Skills, Text, "license", "compatibility"), fields(Skills, Mapping, "metadata"),
			fields(Agents, Text, "name", "description", "mode", "model", "temperature", "top_p", "maxSteps"), fields(Agents, Mapping, "tools", "permission"),
			fields(Agents, Text, "prompt"), fields(Agents, Flag, "hidden", "disable"), fields(Agents, Text, "color"),
		)}
}

// openCodeRules are the rules of packages/opencode/src/session/prompt.ts and config/markdown.ts,
// 2026-11. Every skill is a command too.
var openCodeRules = Rules{Forms: Arguments | Numbered | ShellQuote | FilePath, Count: CountFromOne, Number: Anywhere, NoNumber: Empty, Rest: true,
	Code: NoCode, Escape: NoEscape, Append: AppendLine}

// Pi returns the row of pi. Without a .git, pi itself reads the parents up to the top of the
// filesystem. A skill in a file without a name has the name of its directory in pi, and of its file
// here.
func Pi() Client {
	return Client{Name: "pi", Title: "pi",
		Commands: []Place{ // github.com/badlogic/pi-mono 83378aad, docs/prompt-templates.md, 2026-11
			{Dir: ".pi/prompts", Pattern: "*.md"},
			{Base: Home, Dir: ".pi/agent/prompts", Pattern: "*.md"},
		},
		Skills: []Place{ // github.com/badlogic/pi-mono 83378aad, docs/skills.md and src/core/package-manager.ts: only .agents looks up, 2026-03
			{Dir: ".pi/skills", Pattern: "**/SKILL.md"},
			{Dir: ".pi/skills", Pattern: "*.md", Name: FromHeader},
			{Dir: ".agents/skills", Pattern: "**/SKILL.md", Parents: true},
			{Dir: ".agents/skills", Pattern: "*.md", Name: FromHeader, Parents: true},
			{Base: Home, Dir: ".pi/agent/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".pi/agent/skills", Pattern: "*.md", Name: FromHeader},
			{Base: Home, Dir: ".agents/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".agents/skills", Pattern: "*.md", Name: FromHeader},
		},
		Instructions: []Place{ // github.com/badlogic/pi-mono 0507789f, packages/coding-agent/src/core/resource-loader.ts, 2026
			onTheWay("AGENTS.md", NoFallback), onTheWay("CLAUDE.md", InDirectory),
			{Base: Home, Dir: ".pi/agent", Pattern: "AGENTS.md"}, {Base: Home, Dir: ".pi/agent", Pattern: "CLAUDE.md", Fallback: InDirectory},
		},
		Rules: Rules{Forms: Arguments | Numbered | At | Slice | Default, Count: CountFromOne, Number: Anywhere, NoNumber: Empty, Joined: true,
			Code: NoCode, Escape: NoEscape, Append: Drop}, // npm @earendil-works/pi-coding-agent 1.5.2, core/prompt-templates.js, 2026-11
		SkillRules: Rules{Forms: NoForms, Append: AppendLine}, // …, core/agent-session.js
		Fields: []Field{ // github.com/badlogic/pi-mono 83378aad, core/skills.ts and core/prompt-templates.ts, 2026-11
			{Name: "description", Files: Commands}, {Name: "argument-hint", Files: Commands},
			{Name: "name", Files: Skills}, {Name: "description", Files: Skills, Required: true}, {Name: "disable-model-invocation", Files: Skills, Kind: Flag},
		}}
}

// Qwen returns the row of Qwen Code.
func Qwen() Client {
	return Client{Name: "qwen", Title: "Qwen Code", Servers: qwenServers(),
		Commands: []Place{ // qwenlm.github.io/qwen-code-docs, custom commands; FileCommandLoader.ts for TOML, 2026-11
			{Dir: ".qwen/commands", Pattern: "**/*.md"},
			{Dir: ".qwen/commands", Pattern: "**/*.toml"},
			{Base: Home, Dir: ".qwen/commands", Pattern: "**/*.md"},
			{Base: Home, Dir: ".qwen/commands", Pattern: "**/*.toml"},
		},
		Skills: []Place{ // github.com/QwenLM/qwen-code docs/users/features/skills.md, 2026-10, and packages/core/src/skills/skill-manager.ts, 2026
			{Dir: ".qwen/skills", Pattern: "*/SKILL.md"},
			{Dir: ".agents/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".qwen/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".agents/skills", Pattern: "*/SKILL.md"},
		},
		Agents: []Place{ // github.com/QwenLM/qwen-code 075d6f37, packages/core/src/subagents/subagent-manager.ts, 2026
			{Dir: ".qwen/agents", Pattern: "*.md", Name: OnlyHeader}, {Base: Home, Dir: ".qwen/agents", Pattern: "*.md", Name: OnlyHeader},
		},
		Instructions: []Place{ // github.com/QwenLM/qwen-code 0f8ce082, packages/core/src/utils/memoryDiscovery.ts and rulesDiscovery.ts, 2026
			onTheWay("QWEN.md", NoFallback), onTheWay("AGENTS.md", NoFallback), {Dir: ".qwen", Pattern: "QWEN.local.md"}, {Dir: ".qwen/rules", Pattern: "**/*.md", Globs: "paths"}, {Base: Home, Dir: ".qwen/rules", Pattern: "**/*.md", Globs: "paths"},
			{Base: Home, Dir: ".qwen", Pattern: "QWEN.md"}, {Base: Home, Dir: ".qwen", Pattern: "AGENTS.md"},
		}, ImportHops: 5,
		Rules:      Rules{Forms: Args | ShellBraces | FileBraces, Code: NoCode, Escape: NoEscape, Append: AppendCommand}, // github.com/QwenLM/qwen-code packages/cli/src/services/command-factory.ts, 2026-10
		SkillRules: Rules{Forms: NoForms, Append: AppendCommand},                                                         // npm @qwen-code/qwen-code 0.24.4, SkillCommandLoader, 2026-11
		Manifests:  []string{"qwen-extension.json", "plugin.json"},                                                       // github.com/QwenLM/qwen-code docs, extensions, 2026-10
		Fields: slices.Concat( // …, subagent-manager.ts
			[]Field{{Name: "name", Files: Agents, Required: true}, {Name: "description", Files: Agents, Required: true}}, fields(Agents, List, "tools", "disallowedTools"),
			fields(Agents, Text, "model", "color", "approvalMode", "permissionMode", "maxTurns"), fields(Agents, Flag, "background"),
			fields(Agents, Mapping, "mcpServers", "hooks", "executor", "runConfig", "modelConfig"),
		)}
}

// Roo returns the row of Roo Code, without the skills of single modes.
func Roo() Client {
	return Client{Name: "roo", Title: "Roo Code", Servers: rooServers(),
		Commands: []Place{ // docs.roocode.com/advanced-usage/available-tools/run-slash-command, 2026-11
			{Dir: ".roo/commands", Pattern: "*.md"},
			{Base: Home, Dir: ".roo/commands", Pattern: "*.md"},
		},
		Skills: []Place{ // github.com/RooCodeInc/Roo-Code-Docs docs/features/skills.mdx, 2026-11
			{Dir: ".roo/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".roo/skills", Pattern: "*/SKILL.md"},
		},
		Rules: Rules{Forms: NoForms, Append: AppendLine}} // github.com/RooCodeInc/Roo-Code src/core/mentions, 2025-11
}

// VSCode returns the row of GitHub Copilot in VS Code.
func VSCode() Client {
	return Client{Name: "vscode", Title: "VS Code", Servers: vscodeServers(),
		Commands: []Place{ // code.visualstudio.com/docs/agent-customization/prompt-files, 2026-11
			{Dir: ".github/prompts", Pattern: "*.prompt.md", Name: FromHeader},
		},
		Skills: []Place{ // code.visualstudio.com/docs/agent-customization/agent-skills, 2026-11
			{Dir: ".github/skills", Pattern: "**/SKILL.md"}, {Dir: ".claude/skills", Pattern: "**/SKILL.md"}, {Dir: ".agents/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".copilot/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".claude/skills", Pattern: "**/SKILL.md"},
			{Base: Home, Dir: ".agents/skills", Pattern: "**/SKILL.md"},
		},
		Agents: []Place{ // code.visualstudio.com/docs/agent-customization/custom-agents, 2026-11, and github.com/microsoft/vscode/issues/305642
			{Dir: ".github/agents", Pattern: "*.agent.md", Name: FromHeader}, {Dir: ".claude/agents", Pattern: "*.md", Name: FromHeader}, {Base: Home, Dir: ".copilot/agents", Pattern: "*.agent.md", Name: FromHeader},
		},
		Instructions: []Place{ // code.visualstudio.com/docs/agent-customization/custom-instructions, 2026-11; github.com/microsoft/vscode 0155379d, computeAutomaticInstructions.ts, for "*.go"
			{Dir: ".github", Pattern: "copilot-instructions.md"}, {Dir: ".", Pattern: "AGENTS.md"}, {Dir: ".", Pattern: "CLAUDE.md"}, {Dir: ".claude", Pattern: "CLAUDE.md"}, {Dir: ".", Pattern: "CLAUDE.local.md"}, {Dir: ".github/instructions", Pattern: "**/*.instructions.md", Globs: "applyTo", OnRequest: true, AnyDepth: true}, {Dir: ".claude/rules", Pattern: "**/*.md", Globs: "paths", AnyDepth: true},
			{Base: Home, Dir: ".claude", Pattern: "CLAUDE.md"}, {Base: Home, Dir: ".copilot/instructions", Pattern: "**/*.instructions.md", Globs: "applyTo", OnRequest: true, AnyDepth: true}, {Base: Home, Dir: ".claude/rules", Pattern: "**/*.md", Globs: "paths", AnyDepth: true},
		},
		Rules:     Rules{Forms: Input | Value, Pairs: true, Code: NoCode, Escape: NoEscape, Append: AppendLine}, // …/prompt-files, variables
		Manifests: []string{"plugin.json"},                                                                      // github.com/agentplugins/agent-plugins-spec, readers, 2026-08
		Fields: slices.Concat( // code.visualstudio.com/docs/agent-customization, and promptsServiceImpl.ts of github.com/microsoft/vscode, 2026-11
			fields(Commands, Text, "name", "description", "argument-hint", "agent", "mode", "model"), fields(Commands, List, "tools"),
			[]Field{{Name: "name", Files: Skills, Required: true, Directory: true}, {Name: "description", Files: Skills, Required: true, Cut: 1024}},
			fields(Skills, Text, "argument-hint"), fields(Skills, Flag, "user-invocable", "disable-model-invocation"), fields(Skills, Text, "license", "compatibility"),
			fields(Skills, Mapping, "metadata"), fields(Skills, List, "allowed-tools"),
			fields(Agents, Text, "name", "description", "argument-hint"), fields(Agents, List, "tools", "agents", "model"),
			fields(Agents, Flag, "user-invocable", "user-invokable", "disable-model-invocation", "infer"),
			fields(Agents, Text, "target"), fields(Agents, Mapping, "mcp-servers"), fields(Agents, List, "handoffs"),
		)}
}

// Windsurf returns the row of Windsurf. Windsurf calls its commands workflows.
func Windsurf() Client {
	return Client{Name: "windsurf", Title: "Windsurf",
		Commands: []Place{ // mintlify.com/EveryInc/compound-engineering-plugin, Windsurf, 2026-11; third party
			{Dir: ".windsurf/workflows", Pattern: "*.md"},
			{Base: Home, Dir: ".codeium/windsurf/global_workflows", Pattern: "*.md"},
		},
		Skills: []Place{ // docs.windsurf.com/windsurf/cascade/skills, as quoted in github.com/microsoft/apm/issues/1520, 2026-11
			{Dir: ".windsurf/skills", Pattern: "*/SKILL.md"},
			{Dir: ".agents/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".codeium/windsurf/skills", Pattern: "*/SKILL.md"},
			{Base: Home, Dir: ".agents/skills", Pattern: "*/SKILL.md"},
		},
		Instructions: []Place{ // docs.windsurf.com/windsurf/cascade/memories and …/agents-md, 2026-11; github.com/github/spec-kit/issues/1201 for a rule without trigger
			onTheWay("AGENTS.md", NoFallback),
			{Dir: ".windsurf/rules", Pattern: "*.md", Parents: true, Below: true, Globs: "globs", When: "trigger", OnRequest: true, AnyDepth: true},
			{Base: Home, Dir: ".codeium/windsurf/memories", Pattern: "global_rules.md"},
		},
		Rules: Rules{Forms: NoForms, Append: AppendLine}} // docs.windsurf.com/windsurf/cascade/workflows, 2026-11; third party
}

// Zed returns the row of Zed, which has MCP servers only.
func Zed() Client {
	return Client{Name: "zed", Title: "Zed", Servers: zedServers()}
}

// fields returns fields without rules. The zero Files are commands and skills.
func fields(files Files, kind Kind, names ...string) []Field {
	all := make([]Field, len(names))
	for i, name := range names {
		all[i] = Field{Name: name, Kind: kind, Files: files}
	}
	return all
}

// onTheWay returns the place of a file in each directory on the way to another file, from the
// parents of the project down.
func onTheWay(name string, fallback Fallback) Place {
	return Place{Dir: ".", Pattern: name, Parents: true, Below: true, Fallback: fallback}
}
