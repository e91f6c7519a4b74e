package client

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// AgentSkills returns the Agent Skills specification as a row without places: the fields of a
// SKILL.md and their limits.
func AgentSkills() Client {
	return Client{Name: "agentskills", Title: "Agent Skills", Strict: true,
		// https://agentskills.io/specification, 2026-10
		Fields: fields(Skills, `name!<64:slug:directory description!<1024 license
			compatibility<500 metadata:map allowed-tools:list`)}
}

// Amp returns the row of Amp.
func Amp() Client {
	return Client{Name: "amp", Title: "Amp",
		// syllago.dev, Amp: Skills, and decodeclaude.com, Amp: Skills, 2026-11; third parties
		Skills: places(`.agents/skills/*/SKILL.md .claude/skills/*/SKILL.md
			~/.config/agents/skills/*/SKILL.md ~/.config/amp/skills/*/SKILL.md
			~/.claude/skills/*/SKILL.md`),
		// syllago.dev, Amp, 2026-11; third party
		Instructions: places("AGENTS.md ~/.config/amp/AGENTS.md")}
}

// Claude returns the row of Claude Code. Claude Code itself reads the personal skills before the
// skills of the project; the table has the order of the other clients.
func Claude() Client {
	return Client{Name: "claude", Title: "Claude Code", Servers: claudeServers(),
		// code.claude.com/docs/en/skills and …/slash-commands, 2026-10
		Commands: places("^.claude/commands/**/*.md ~/.claude/commands/**/*.md"),
		// code.claude.com/docs/en/skills, 2026-10, and for the parents 2026-08; npm
		// @anthropic-ai/claude-code 2.1.332, run with a project, for the directories below, 2026-11
		Skills: places("^+.claude/skills/*/SKILL.md ~/.claude/skills/*/SKILL.md"),
		// code.claude.com/docs/en/sub-agents, 2026-10, and for the parents 2026-08
		Agents: Place{Name: OnlyHeader}.at("^.claude/agents/**/*.md ~/.claude/agents/**/*.md"),
		// code.claude.com/docs/en/memory, 2026-10; for AGENTS.md github.com/anthropics/claude-code
		// v2.1.277, mods/agents-md; npm @anthropic-ai/claude-code 2.1.330, run with a project, for
		// rules below the project and for "*.go"
		Instructions: Place{Globs: "paths", AnyDepth: true}.at(`^+CLAUDE.md ^+.claude/CLAUDE.md
			^+CLAUDE.local.md ??^+AGENTS.md ^+.claude/rules/**/*.md ~/.claude/CLAUDE.md
			~/.claude/rules/**/*.md`),
		// code.claude.com/docs/en/memory, imports, 2026-10; for the mention npm
		// @anthropic-ai/claude-code 2.1.332, 2026-11
		Rules: claudeRules, SkillRules: claudeRules, Switches: claudeSwitches(), ImportHops: 4,
		Mention: "@agent-", Manifests: []string{".claude-plugin/plugin.json"},
		// code.claude.com/docs/en/plugins-reference, 2026-10; npm @anthropic-ai/claude-code
		// 2.1.332, plugin list, 2026-11, since 2.1.157
		Plugins: places(`.claude/skills/*/.claude-plugin/plugin.json
			~/.claude/skills/*/.claude-plugin/plugin.json`),
		// code.claude.com/docs/en/skills and …/sub-agents, 2026-08, and Claude Code 2.1.330
		Fields: fields(0, `name description>1536 when_to_use argument-hint arguments:list
			disable-model-invocation:flag user-invocable:flag background:flag allowed-tools:list
			disallowed-tools:list paths:list metadata:map model effort context agent shell version
			license compatibility hooks:map`).
			and(Commands, "hide-from-slash-command-tool:flag").
			and(Agents, `name! description! tools:list disallowedTools:list skills:list
				mcpServers:list hooks:map background:flag model permissionMode maxTurns memory
				effort isolation color initialPrompt`)}
}

// claudeRules are the rules of code.claude.com/docs/en/skills, available string substitutions,
// 2026-10. Commands count from 0 too: github.com/anthropics/claude-plugins-official/issues/6246,
// version 2.1.273.
var claudeRules = Rules{
	Forms: Arguments | Indexed | Numbered | Declared | Value | ShellQuote | FilePath,
	Count: CountFromZero, Number: OutsideWords, NoName: Empty, Code: CodeWithPlaceholders,
	Escape: Backslash}

// claudeSwitches returns the settings of npm @anthropic-ai/claude-code 2.1.332, run with a project,
// 2026-11-27.
func claudeSwitches() []Switch {
	local := Switch{File: ".claude/settings.local.json", Key: "skillOverrides",
		Words: [...]string{"on", "name-only", "user-invocable-only", "off"}}
	shared, user := local, local
	shared.File, user.File, user.Base = ".claude/settings.json", ".claude/settings.json", Home
	return []Switch{local, shared, user}
}

// Cline returns the row of Cline. Cline calls its commands workflows.
func Cline() Client {
	return Client{Name: "cline", Title: "Cline",
		// docs.cline.bot/features/slash-commands/workflows/best-practices, 2026-11
		Commands: places(".clinerules/workflows/*.md ~/Documents/Cline/Workflows/*.md"),
		// docs.cline.bot/customization/skills, 2026-11
		Skills: places(`.cline/skills/*/SKILL.md .clinerules/skills/*/SKILL.md
			~/.cline/skills/*/SKILL.md`),
		// docs.cline.bot/features/cline-rules/overview and …/conditional-rules, 2026-11
		Instructions: Place{Globs: "paths"}.at(
			".clinerules/*.md +AGENTS.md ~/Documents/Cline/Rules/*.md"),
		// github.com/cline/cline 023acebf, src/core/slash-commands/index.ts
		Rules: Rules{Forms: NoForms, Append: AppendLine}}
}

// Codex returns the row of Codex CLI. The variable CODEX_HOME replaces ~/.codex, often by the
// directory .codex of a project. The table has both.
func Codex() Client {
	return Client{Name: "codex", Title: "Codex CLI", Servers: codexServers(),
		// github.com/openai/codex docs/prompts.md, 2026-02; deprecated in favor of skills
		Commands: Place{Prefix: "prompts:"}.at(".codex/prompts/*.md ~/.codex/prompts/*.md"),
		// developers.openai.com/codex/skills, and codex-rs/ext/skills/src/host_roots.rs for
		// .codex/skills, 2026-11
		Skills: places(`^.agents/skills/**/SKILL.md .codex/skills/**/SKILL.md
			~/.agents/skills/**/SKILL.md ~/.codex/skills/**/SKILL.md`),
		// developers.openai.com/codex/guides/agents-md, 2026-10, and codex-rs/core/src/agents_md.rs
		// 0cf644af, 2026; without the names of the configuration
		Instructions: places(`^+AGENTS.override.md ?^+AGENTS.md ~/.codex/AGENTS.override.md
			?~/.codex/AGENTS.md`), InstructionBytes: 32 << 10, // project_doc_max_bytes
		// npm @openai/codex 0.171.0, run with a project, 2026-11-27; the file of the project has no
		// effect
		Switches: []Switch{{
			Base: Home, File: ".codex/config.toml", Key: "skills.config", Name: FromHeader}},
		// codex-rs/tui/src/bottom_pane/prompt_args.rs, the last version with prompts, 2026-02
		Rules: Rules{Forms: Arguments | Numbered | Capital, Count: CountFromOne, Number: OneDigit,
			NoNumber: Empty, NoName: Fails, Joined: true, Code: NoCode, Escape: Dollars, Append: Drop},
		// core-plugins/manifest.rs, 2026-11
		Manifests: strings.Fields(`plugin.json .codex-plugin/plugin.json
			.claude-plugin/plugin.json .cursor-plugin/plugin.json`),
		// github.com/openai/codex docs/prompts.md, 2026-02; codex-rs/core/src/skills/loader.rs
		// f793618e, 2026-03
		Fields: fields(Commands, "description argument-hint").
			and(Skills, "name!<64 description!<1024 metadata:map")}
}

// Copilot returns the row of GitHub Copilot CLI.
func Copilot() Client {
	return Client{Name: "copilot", Title: "GitHub Copilot CLI", Servers: copilotServers(),
		// docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-skills, 2026-11
		Skills: places(`.github/skills/*/SKILL.md .claude/skills/*/SKILL.md
			.agents/skills/*/SKILL.md ~/.copilot/skills/*/SKILL.md ~/.agents/skills/*/SKILL.md`),
		// code.visualstudio.com/docs/agent-customization/custom-agents, 2026-11;
		// docs.github.com/en/copilot/how-tos/copilot-cli, custom agents, 2026-11
		Agents: Place{Name: FromHeader}.at(`.github/agents/*.agent.md
			~/.copilot/agents/*.agent.md`),
		// docs.github.com/en/enterprise-cloud@latest/copilot/how-tos/copilot-cli/customize-copilot,
		// add-custom-instructions, 2026-11
		Instructions: Place{Globs: "applyTo", OnRequest: true}.at(`
			^+.github/copilot-instructions.md ^+AGENTS.md CLAUDE.md GEMINI.md
			^.github/instructions/**/*.instructions.md ~/.copilot/copilot-instructions.md
			~/.copilot/instructions/**/*.instructions.md`),
		// github.com/agentplugins/agent-plugins-spec, readers, 2026-08
		Manifests: []string{"plugin.json"},
		// docs.github.com/en/copilot/reference/custom-agents-configuration, 2026-11
		Fields: fields(Skills, "name description license allowed-tools:list").
			and(Agents, `name description! tools:list model target infer:flag
				disable-model-invocation:flag user-invocable:flag mcp-servers:map metadata:map`)}
}

// Crush returns the row of Crush. Of the parents, Crush reads only the root of the repository.
func Crush() Client {
	return Client{Name: "crush", Title: "Crush", Servers: crushServers(),
		// github.com/charmbracelet/crush 37f36e93, internal/commands, 2026-11
		Commands: slices.Concat(
			Place{Prefix: "project:"}.at(".crush/commands/**/*.md"),
			Place{Prefix: "user:"}.at("~/.config/crush/commands/**/*.md ~/.crush/commands/**/*.md"),
		),
		// github.com/charmbracelet/crush 37f36e93, internal/config/load.go, 2026-08
		Skills: places(`^.agents/skills/**/SKILL.md ^.crush/skills/**/SKILL.md
			^.claude/skills/**/SKILL.md ^.cursor/skills/**/SKILL.md
			~/.config/crush/skills/**/SKILL.md ~/.config/agents/skills/**/SKILL.md
			~/.agents/skills/**/SKILL.md ~/.claude/skills/**/SKILL.md`),
		// …, internal/commands, and internal/ui/model/ui.go
		Rules: Rules{Forms: Capital, NoName: Fails, Code: NoCode, Escape: NoEscape, Append: Drop},
		// github.com/charmbracelet/crush 37f36e93, internal/skills/skills.go, 2026-11; also a
		// directory with another name, except for letter case
		Fields: fields(Skills, `name!<64 description!<1024 user-invocable:flag
			disable-model-invocation:flag license compatibility<500 metadata:map`)}
}

// Cursor returns the row of Cursor.
func Cursor() Client {
	return Client{Name: "cursor", Title: "Cursor", Servers: cursorServers(),
		// cursor.com/docs/plugins/building, 2026-11
		Commands: places(".cursor/commands/*.md ~/.cursor/commands/*.md"),
		// cursor.com/docs/skills, 2026-11
		Skills: places(`.agents/skills/**/SKILL.md .cursor/skills/**/SKILL.md
			.claude/skills/**/SKILL.md .codex/skills/**/SKILL.md ~/.agents/skills/**/SKILL.md
			~/.cursor/skills/**/SKILL.md ~/.claude/skills/**/SKILL.md ~/.codex/skills/**/SKILL.md`),
		// cursor.com/docs/subagents, 2026-11
		Agents: Place{Name: FromHeader}.at(`.cursor/agents/*.md .claude/agents/*.md
			.codex/agents/*.md ~/.cursor/agents/*.md ~/.claude/agents/*.md ~/.codex/agents/*.md`),
		// cursor.com/docs/rules, 2026-11; "*.ts" matches in the root only;
		// docs.cursor.com/context/rules for rules below the project, 2025-07
		Instructions: Place{Globs: "globs", When: "alwaysApply", OnRequest: true}.at(
			"+AGENTS.md +.cursor/rules/**/*.mdc"),
		// cursor.com/docs/plugins/building, 2026-11
		Rules: Rules{Forms: NoForms, Append: AppendLine},
		// cursor.com/docs/plugins/building, 2026-11
		Manifests: []string{"plugin.json", ".cursor-plugin/plugin.json"},
		// cursor.com/docs/subagents, 2026-11
		Fields: fields(Agents, "name description model readonly:flag is_background:flag")}
}

// Factory returns the row of Factory's Droid. Droid also turns the name of a file into lower case
// and replaces other characters by "-".
func Factory() Client {
	return Client{Name: "factory", Title: "Factory Droid",
		// docs.factory.ai/harness/custom-slash-commands, and npm @factory/cli-linux-x64 0.225.2 for
		// the parents, 2026-11
		Commands: places("^.factory/commands/**/*.md ~/.factory/commands/**/*.md"),
		// docs.factory.ai/harness/skills, and npm @factory/cli-linux-x64 0.225.2 for .agents and
		// the parents, 2026-11
		Skills: places(`^.factory/skills/*/SKILL.md ^.agents/skills/*/SKILL.md
			~/.factory/skills/*/SKILL.md ~/.agents/skills/*/SKILL.md`),
		// docs.factory.ai/cli/configuration/custom-droids, 2026
		Agents: Place{Name: OnlyHeader}.at(".factory/droids/*.md ~/.factory/droids/*.md"),
		// docs.factory.ai/cli/configuration/custom-slash-commands, 2026
		Rules: Rules{Forms: Arguments, Number: Anywhere, Code: NoCode, Escape: NoEscape,
			Append: Drop},
		// docs.factory.ai/cli/configuration/custom-droids, 2026
		Fields: fields(Agents, "name! description model reasoningEffort tools:list")}
}

// Gemini returns the row of Gemini CLI. Gemini CLI also replaces other characters of a name by
// "_" and cuts a name after 50 characters.
func Gemini() Client {
	return Client{Name: "gemini", Title: "Gemini CLI", Servers: geminiServers(),
		// geminicli.com/docs/cli/custom-commands, 2026-11
		Commands: places(".gemini/commands/**/*.toml ~/.gemini/commands/**/*.toml"),
		// geminicli.com/docs/cli/skills, 2026-11
		Skills: places(`.agents/skills/*/SKILL.md .gemini/skills/*/SKILL.md
			~/.agents/skills/*/SKILL.md ~/.gemini/skills/*/SKILL.md`),
		// github.com/google-gemini/gemini-cli 03c6714c, agents/agentLoader.ts and
		// config/storage.ts, 2026; without files that begin with "_"
		Agents: Place{Name: OnlyHeader}.at(".gemini/agents/*.md ~/.gemini/agents/*.md"),
		// geminicli.com/docs/cli/gemini-md, 2026-11
		// github.com/google-gemini/gemini-cli 04fbf507,
		// packages/core/src/utils/memoryImportProcessor.ts, 2026; for the mention
		// geminicli.com/docs/core/subagents, 2026-11
		Instructions: places("^+GEMINI.md ~/.gemini/GEMINI.md"), ImportHops: 5, Mention: "@",
		// github.com/google-gemini/gemini-cli 5411f113,
		// packages/cli/src/services/prompt-processors, 2026-08
		Rules: geminiRules,
		// geminicli.com/docs/extensions, 2026-11
		Manifests: []string{"gemini-extension.json"},
		// github.com/google-gemini/gemini-cli 5411f113, FileCommandLoader.ts, skillLoader.ts and
		// agentLoader.ts, 2026-08
		Fields: fields(Commands, "prompt! description").
			and(Skills, "name! description!").
			and(Agents, `name! description! kind display_name tools:list mcp_servers:map model
				temperature max_turns timeout_mins policy:map agent_card_url auth:map`)}
}

// geminiRules are the rules of Gemini CLI and of its fork Qwen Code.
var geminiRules = Rules{Forms: Args | ShellBraces | FileBraces, Code: NoCode, Escape: NoEscape,
	Append: AppendCommand}

// Goose returns the row of goose. The recipes of goose are YAML with another template language.
func Goose() Client {
	return Client{Name: "goose", Title: "goose",
		// github.com/block/goose 013ab848, crates/goose/src/skills/mod.rs, 2026
		Skills: places(`.agents/skills/**/SKILL.md .goose/skills/**/SKILL.md
			.claude/skills/**/SKILL.md ~/.agents/skills/**/SKILL.md
			~/.config/goose/skills/**/SKILL.md ~/.claude/skills/**/SKILL.md
			~/.config/agents/skills/**/SKILL.md`),
		Manifests: []string{"plugin.json"}} // …/context-engineering/plugins.md, 2026-10
}

// Kilo returns the row of Kilo Code. Older versions call their commands workflows.
func Kilo() Client {
	return Client{Name: "kilo", Title: "Kilo Code",
		// factoryengineering.dev/ides/kilo-code and github.com/Kilo-Org/kilocode, 2026-11; third
		// party
		Commands: places(`.kilo/commands/**/*.md .kilocode/workflows/*.md
			~/.config/kilo/commands/**/*.md ~/.kilocode/workflows/*.md`),
		// kilo.ai/docs/features/skills, 2026-11
		Skills: places(".kilocode/skills/*/SKILL.md ~/.kilocode/skills/*/SKILL.md"),
		// npm @kilocode/cli-linux-x64 7.7.9, a fork of OpenCode, 2026-11
		Rules: openCodeRules, SkillRules: openCodeRules}
}

// Kiro returns the row of Kiro.
func Kiro() Client {
	return Client{Name: "kiro", Title: "Kiro", Servers: kiroServers(),
		// kiro.dev/docs/skills, 2026-11
		Skills: places(".kiro/skills/*/SKILL.md ~/.kiro/skills/*/SKILL.md"),
		// kiro.dev/docs/steering, 2026-11
		Instructions: Place{Globs: "fileMatchPattern", When: "inclusion", AnyDepth: true}.at(
			"AGENTS.md .kiro/steering/*.md ~/.kiro/steering/*.md"),
		// github.com/agentplugins/agent-plugins-spec, readers, 2026-08
		Manifests: []string{"plugin.json"}}
}

// Kit returns the row of kit. Kit itself reads the prompts of the user before the prompts of the
// project; the table has the order of the other clients. Kit also reads skills in *.txt files.
func Kit() Client {
	return Client{Name: "kit", Title: "kit",
		// github.com/mark3labs/kit a3743877, 2026-11
		Commands: places(".kit/prompts/*.md ~/.kit/prompts/*.md ~/.config/kit/prompts/*.md"),
		// github.com/mark3labs/kit a3743877, internal/skills/skills.go, 2026-08
		Skills: places(`.agents/skills/*/SKILL.md #.agents/skills/*.md .kit/skills/*/SKILL.md
			#.kit/skills/*.md ~/.agents/skills/*/SKILL.md #~/.agents/skills/*.md
			~/.config/kit/skills/*/SKILL.md #~/.config/kit/skills/*.md`),
		// github.com/mark3labs/kit a3743877, internal/prompts/template.go, and internal/ui/model.go
		// for missing arguments, 2026-08
		Rules: Rules{
			Forms: Arguments | Numbered | At | Plus | BracedArguments | BracedNumber | Slice | NumberSlice,
			Count: CountFromOne, Number: Anywhere, NoNumber: Fails, Joined: true, Code: CodeStays,
			Escape: NoEscape, Append: Drop}}
}

// OpenCode returns the row of OpenCode. OpenCode itself separates the directories of a command
// name by "/", and turns every skill into a command.
func OpenCode() Client {
	return Client{Name: "opencode", Title: "OpenCode", Servers: openCodeServers(),
		// opencode.ai/docs/commands, and config/command.ts for the pattern, 2026-11
		Commands: places(`^.opencode/commands/**/*.md ^.opencode/command/**/*.md
			~/.config/opencode/commands/**/*.md ~/.config/opencode/command/**/*.md`),
		// opencode.ai/docs/skills, and skill/index.ts for the pattern, 2026-11
		Skills: places(`^.opencode/skills/**/SKILL.md ^.claude/skills/**/SKILL.md
			^.agents/skills/**/SKILL.md ~/.config/opencode/skills/**/SKILL.md
			~/.claude/skills/**/SKILL.md ~/.agents/skills/**/SKILL.md`),
		// opencode.ai/docs/agents, and config/agent.ts for the pattern and the name, 2026-11
		Agents: Place{Name: FromHeader}.at(`^.opencode/agents/**/*.md ^.opencode/agent/**/*.md
			~/.config/opencode/agents/**/*.md ~/.config/opencode/agent/**/*.md`),
		// opencode.ai/docs/rules, 2026-11, and session/instruction.ts 00b964bd; without the
		// deprecated CONTEXT.md and the files *.local.md
		Instructions: places(
			"^+AGENTS.md ?^+CLAUDE.md ~/.config/opencode/AGENTS.md ?~/.claude/CLAUDE.md"),
		// for the mention npm opencode-ai 1.18.33, SessionPrompt, 2026-11
		Rules: openCodeRules, SkillRules: openCodeRules, Mention: "@",
		// github.com/anomalyco/opencode config/command.ts and skill/index.ts, and
		// opencode.ai/docs/agents, 2026-11
		Fields: fields(Commands, "description agent model subtask:flag").
			and(Skills, "name! description! license compatibility metadata:map").
			and(Agents, `name description mode model temperature top_p maxSteps tools:map
				permission:map prompt hidden:flag disable:flag color`)}
}

// openCodeRules are the rules of packages/opencode/src/session/prompt.ts and config/markdown.ts,
// 2026-11. Every skill is a command too.
var openCodeRules = Rules{Forms: Arguments | Numbered | ShellQuote | FilePath,
	Count: CountFromOne, Number: Anywhere, NoNumber: Empty, Rest: true, Code: NoCode,
	Escape: NoEscape, Append: AppendLine}

// Pi returns the row of pi. Without a .git, pi itself reads the parents up to the top of the
// filesystem. A skill in a file without a name has the name of its directory in pi, and of its file
// here.
func Pi() Client {
	return Client{Name: "pi", Title: "pi",
		// github.com/badlogic/pi-mono 83378aad, docs/prompt-templates.md, 2026-11
		Commands: places(".pi/prompts/*.md ~/.pi/agent/prompts/*.md"),
		// github.com/badlogic/pi-mono 83378aad, docs/skills.md and src/core/package-manager.ts:
		// only .agents looks up, 2026-03
		Skills: places(`.pi/skills/**/SKILL.md #.pi/skills/*.md ^.agents/skills/**/SKILL.md
			#^.agents/skills/*.md ~/.pi/agent/skills/**/SKILL.md #~/.pi/agent/skills/*.md
			~/.agents/skills/**/SKILL.md #~/.agents/skills/*.md`),
		// github.com/badlogic/pi-mono 0507789f, packages/coding-agent/src/core/resource-loader.ts,
		// 2026
		Instructions: places(
			"^+AGENTS.md ?^+CLAUDE.md ~/.pi/agent/AGENTS.md ?~/.pi/agent/CLAUDE.md"),
		// npm @earendil-works/pi-coding-agent 1.5.2, core/prompt-templates.js, 2026-11
		Rules: Rules{Forms: Arguments | Numbered | At | Slice | Default, Count: CountFromOne,
			Number: Anywhere, NoNumber: Empty, Joined: true, Code: NoCode, Escape: NoEscape, Append: Drop},
		SkillRules: Rules{Forms: NoForms, Append: AppendLine}, // …, core/agent-session.js
		// github.com/badlogic/pi-mono 83378aad, core/skills.ts and core/prompt-templates.ts,
		// 2026-11
		Fields: fields(Commands, "description argument-hint").
			and(Skills, "name description! disable-model-invocation:flag")}
}

// Qwen returns the row of Qwen Code.
func Qwen() Client {
	return Client{Name: "qwen", Title: "Qwen Code", Servers: qwenServers(),
		// qwenlm.github.io/qwen-code-docs, custom commands; FileCommandLoader.ts for TOML, 2026-11
		Commands: places(`.qwen/commands/**/*.md .qwen/commands/**/*.toml
			~/.qwen/commands/**/*.md ~/.qwen/commands/**/*.toml`),
		// github.com/QwenLM/qwen-code docs/users/features/skills.md, 2026-10, and
		// packages/core/src/skills/skill-manager.ts, 2026
		Skills: places(`.qwen/skills/*/SKILL.md .agents/skills/*/SKILL.md
			~/.qwen/skills/*/SKILL.md ~/.agents/skills/*/SKILL.md`),
		// github.com/QwenLM/qwen-code 075d6f37, packages/core/src/subagents/subagent-manager.ts,
		// 2026
		Agents: Place{Name: OnlyHeader}.at(".qwen/agents/*.md ~/.qwen/agents/*.md"),
		// github.com/QwenLM/qwen-code 0f8ce082, packages/core/src/utils/memoryDiscovery.ts and
		// rulesDiscovery.ts, 2026
		Instructions: Place{Globs: "paths"}.at(`^+QWEN.md ^+AGENTS.md .qwen/QWEN.local.md
			.qwen/rules/**/*.md ~/.qwen/rules/**/*.md ~/.qwen/QWEN.md ~/.qwen/AGENTS.md`),
		ImportHops: 5,
		// github.com/QwenLM/qwen-code packages/cli/src/services/command-factory.ts, 2026-10
		Rules: geminiRules,
		// npm @qwen-code/qwen-code 0.24.4, SkillCommandLoader, 2026-11
		SkillRules: Rules{Forms: NoForms, Append: AppendCommand},
		// github.com/QwenLM/qwen-code docs, extensions, 2026-10
		Manifests: []string{"qwen-extension.json", "plugin.json"},
		// …, subagent-manager.ts
		Fields: fields(Agents, `name! description! tools:list disallowedTools:list model color
			approvalMode permissionMode maxTurns background:flag mcpServers:map hooks:map
			executor:map runConfig:map modelConfig:map`)}
}

// Roo returns the row of Roo Code, without the skills of single modes.
func Roo() Client {
	return Client{Name: "roo", Title: "Roo Code", Servers: rooServers(),
		// docs.roocode.com/advanced-usage/available-tools/run-slash-command, 2026-11
		Commands: places(".roo/commands/*.md ~/.roo/commands/*.md"),
		// github.com/RooCodeInc/Roo-Code-Docs docs/features/skills.mdx, 2026-11
		Skills: places(".roo/skills/*/SKILL.md ~/.roo/skills/*/SKILL.md"),
		// github.com/RooCodeInc/Roo-Code src/core/mentions, 2025-11
		Rules: Rules{Forms: NoForms, Append: AppendLine}}
}

// VSCode returns the row of GitHub Copilot in VS Code.
func VSCode() Client {
	rules := Place{Globs: "applyTo", OnRequest: true, AnyDepth: true}
	claude := Place{Globs: "paths", AnyDepth: true}
	return Client{Name: "vscode", Title: "VS Code", Servers: vscodeServers(),
		// code.visualstudio.com/docs/agent-customization/prompt-files, 2026-11
		Commands: Place{Name: FromHeader}.at(".github/prompts/*.prompt.md"),
		// code.visualstudio.com/docs/agent-customization/agent-skills, 2026-11
		Skills: places(`.github/skills/**/SKILL.md .claude/skills/**/SKILL.md
			.agents/skills/**/SKILL.md ~/.copilot/skills/**/SKILL.md ~/.claude/skills/**/SKILL.md
			~/.agents/skills/**/SKILL.md`),
		// code.visualstudio.com/docs/agent-customization/custom-agents, 2026-11, and
		// github.com/microsoft/vscode/issues/305642
		Agents: Place{Name: FromHeader}.at(`.github/agents/*.agent.md .claude/agents/*.md
			~/.copilot/agents/*.agent.md`),
		// code.visualstudio.com/docs/agent-customization/custom-instructions, 2026-11;
		// github.com/microsoft/vscode 0155379d, computeAutomaticInstructions.ts, for "*.go"
		Instructions: slices.Concat(
			rules.at(`.github/copilot-instructions.md AGENTS.md CLAUDE.md .claude/CLAUDE.md
				CLAUDE.local.md .github/instructions/**/*.instructions.md`),
			claude.at(".claude/rules/**/*.md ~/.claude/CLAUDE.md"),
			rules.at("~/.copilot/instructions/**/*.instructions.md"),
			claude.at("~/.claude/rules/**/*.md"),
		),
		// …/prompt-files, variables; github.com/agentplugins/agent-plugins-spec, readers, 2026-08
		Rules: vscodeRules, Manifests: []string{"plugin.json"},
		// code.visualstudio.com/docs/agent-customization, and promptsServiceImpl.ts of
		// github.com/microsoft/vscode, 2026-11
		Fields: fields(Commands, "name description argument-hint agent mode model tools:list").
			and(Skills, `name!:directory description!>1024 argument-hint user-invocable:flag
				disable-model-invocation:flag license compatibility metadata:map
				allowed-tools:list`).
			and(Agents, `name description argument-hint tools:list agents:list model:list
				user-invocable:flag user-invokable:flag disable-model-invocation:flag infer:flag
				target mcp-servers:map handoffs:list`)}
}

var vscodeRules = Rules{Forms: Input | Value, Pairs: true, Code: NoCode, Escape: NoEscape,
	Append: AppendLine}

// Windsurf returns the row of Windsurf. Windsurf calls its commands workflows.
func Windsurf() Client {
	return Client{Name: "windsurf", Title: "Windsurf",
		// mintlify.com/EveryInc/compound-engineering-plugin, Windsurf, 2026-11; third party
		Commands: places(".windsurf/workflows/*.md ~/.codeium/windsurf/global_workflows/*.md"),
		// docs.windsurf.com/windsurf/cascade/skills, as quoted in
		// github.com/microsoft/apm/issues/1520, 2026-11
		Skills: places(`.windsurf/skills/*/SKILL.md .agents/skills/*/SKILL.md
			~/.codeium/windsurf/skills/*/SKILL.md ~/.agents/skills/*/SKILL.md`),
		// docs.windsurf.com/windsurf/cascade/memories and …/agents-md, 2026-11;
		// github.com/github/spec-kit/issues/1201 for a rule without trigger
		Instructions: Place{Globs: "globs", When: "trigger", OnRequest: true, AnyDepth: true}.at(
			"^+AGENTS.md ^+.windsurf/rules/*.md ~/.codeium/windsurf/memories/global_rules.md"),
		// docs.windsurf.com/windsurf/cascade/workflows, 2026-11; third party
		Rules: Rules{Forms: NoForms, Append: AppendLine}}
}

// Zed returns the row of Zed, which has MCP servers only.
func Zed() Client {
	return Client{Name: "zed", Title: "Zed", Servers: zedServers()}
}

// places returns places without other fields; see [Place.at].
func places(files string) []Place { return Place{}.at(files) }

// at returns the place for each of some files, as in "^.claude/skills/*/SKILL.md ~/.pi/*.md". A
// path begins with "~/", "~/.config/" or "/", or is a path of the project. Before the path, "#"
// means FromHeader, "?" InDirectory, "??" InProject, "^" the parents, and "+" the directories on the
// way to another file, in this order. The fields of rules are only those of paths with a wildcard.
func (p Place) at(files string) (all []Place) {
	for file := range strings.FieldsSeq(files) {
		place := p
		cut := func(prefix string) (ok bool) {
			file, ok = strings.CutPrefix(file, prefix)
			return ok
		}
		if cut("#") {
			place.Name = FromHeader
		}
		for cut("?") {
			place.Fallback++
		}
		place.Parents, place.Below = cut("^"), cut("+")
		switch {
		case cut(Config.String()):
			place.Base = Config
		case cut(Home.String()):
			place.Base = Home
		case file[0] == '/':
			place.Base = System
		}
		end := strings.LastIndexByte(file, '/')
		if wildcard := strings.IndexByte(file, '*'); wildcard >= 0 {
			end = wildcard - 1
		} else {
			place.Globs, place.When, place.OnRequest, place.AnyDepth = "", "", false, false
		}
		place.Dir, place.Pattern = cmp.Or(file[:max(end, 0)], "."), file[end+1:]
		all = append(all, place)
	}
	return all
}

type fieldList []Field

// fields returns fields of a text such as "name!<64 tools:list". "!" marks a required field, "<"
// begins the limit, ">" the number of characters that the client shows, and ":" a kind other than
// Text, slug or directory. The zero Files are commands and skills.
func fields(files Files, text string) fieldList { return fieldList{}.and(files, text) }

// and adds further fields.
func (all fieldList) and(files Files, text string) fieldList {
	for word := range strings.FieldsSeq(text) {
		parts := strings.Split(word, ":")
		word, shown, _ := strings.Cut(parts[0], ">")
		word, limit, _ := strings.Cut(word, "<")
		f := Field{Files: files}
		f.Cut, _ = strconv.Atoi(shown)
		f.Limit, _ = strconv.Atoi(limit)
		f.Name, f.Required = strings.CutSuffix(word, "!")
		for _, part := range parts[1:] {
			f.Slug, f.Directory = f.Slug || part == "slug", f.Directory || part == "directory"
			f.Kind = kinds[part]
		}
		all = append(all, f)
	}
	return all
}

var kinds = map[string]Kind{"flag": Flag, "list": List, "map": Mapping}
