package agentmd_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func ExampleFrontmatter_Fields() {
	doc := agentmd.Parse([]byte(`---
description: Deploy the project
arguments:
  - name: target
    default: staging
    choices: [staging, production]
allowed-tools: Bash(make deploy:*) Read
user-invocable: no
---
Deploy to $target.
`))
	fields := doc.Frontmatter.Fields()
	if fields.Err != nil {
		fmt.Println(fields.Err)
		return
	}
	argument := fields.Arguments[0]
	fmt.Println(argument.Name, argument.Default, argument.Choices, fields.UserInvocable)
	for _, rule := range fields.AllowedTools {
		fmt.Println(rule, rule.Match("Bash", "make deploy TARGET=staging"))
	}
	// Output:
	// target staging [staging production] false
	// Bash(make deploy:*) true
	// Read false
}

func TestFields(t *testing.T) {
	rule := func(tool string) agentmd.ToolRule { return agentmd.ToolRule{Tool: tool} }
	for _, tt := range []struct {
		name, header string
		want         agentmd.Fields
	}{
		{"no field", "x: y\n", agentmd.Fields{}},
		{"a skill of Claude Code", "name: pdf\ndescription: '  d '\nwhen_to_use: w\nargument-hint: [a] [b]\narguments: a b\ndisable-model-invocation: yes\nuser-invocable: OFF\nbackground: 0\n" +
			"allowed-tools: Read, Bash(git add:*)\ndisallowed-tools: [AskUserQuestion]\nmodel: opus\neffort: high\ncontext: fork\nagent: Explore\nshell: bash\npaths: src/*.{ts,js}, docs/**\nversion: 1.10\n" +
			"metadata: {a: 007, b: [1]}\nhooks:\n  Stop: []\nlicense: MIT\ncompatibility: c\n",
			agentmd.Fields{Name: "pdf", Description: "d", WhenToUse: "w", ArgumentHint: "[a] [b]", Arguments: []agentmd.Argument{{Name: "a"}, {Name: "b"}}, DisableModelInvocation: true, UserInvocable: false,
				AllowedTools: []agentmd.ToolRule{rule("Read"), {Tool: "Bash", Specifier: "git add:*"}}, DisallowedTools: []agentmd.ToolRule{rule("AskUserQuestion")}, Model: "opus", Effort: "high", Context: "fork",
				Agent: "Explore", Shell: "bash", Paths: []string{"src/*.{ts,js}", "docs/**"}, Version: "1.10", Metadata: map[string]string{"a": "007", "b": "[1]"}, Hooks: json.RawMessage(`{"Stop":[]}`),
				License: "MIT", Compatibility: "c"}},
		{"arguments as mappings", "arguments:\n  - name: $target\n    description: where\n    hint: <target>\n    required: on\n    default: 1.0\n    options: [a, b]\n  - other\n",
			agentmd.Fields{UserInvocable: true, Arguments: []agentmd.Argument{{Name: "target", Description: "where", Hint: "<target>", Required: true, Default: "1.0", Choices: []string{"a", "b"}}, {Name: "other"}}}},
		{"an agent of Claude Code", "name: a\ntools: Read, Grep\ndisallowedTools: Write\nskills: [a, b]\nmaxTurns: 5\npermissionMode: plan\nmemory: user\nisolation: worktree\ncolor: red\ninitialPrompt: Go\n",
			agentmd.Fields{Name: "a", UserInvocable: true, Tools: []agentmd.ToolRule{rule("Read"), rule("Grep")}, DisallowedTools: []agentmd.ToolRule{rule("Write")}, Skills: []string{"a", "b"}, MaxTurns: 5,
				PermissionMode: "plan", Memory: "user", Isolation: "worktree", Color: "red", InitialPrompt: "Go"}},
		{"an agent of OpenCode", "mode: subagent\ntools:\n  read: true\n  write: false\n  x: maybe\nmaxSteps: 7\n",
			agentmd.Fields{UserInvocable: true, Mode: "subagent", Tools: []agentmd.ToolRule{rule("read")}, DisallowedTools: []agentmd.ToolRule{rule("write")}, MaxTurns: 7}},
		{"an agent with all tools", "tools: '*'\n", agentmd.Fields{UserInvocable: true}},
		{"an agent with a list of all tools", "tools: ['*', read]\ndisallowedTools: Write\n", agentmd.Fields{UserInvocable: true, DisallowedTools: []agentmd.ToolRule{rule("Write")}}},
		{"an agent that gives all tools, except one", "tools: {'*': true, bash: false}\n", agentmd.Fields{UserInvocable: true, DisallowedTools: []agentmd.ToolRule{rule("bash")}}},
		{"an agent that takes all tools", "tools: {'*': false}\n", agentmd.Fields{UserInvocable: true, Tools: []agentmd.ToolRule{}, DisallowedTools: []agentmd.ToolRule{rule("*")}}},
		{"an agent without tools", "tools: []\n", agentmd.Fields{UserInvocable: true, Tools: []agentmd.ToolRule{}}},
		{"an agent with an empty field for tools", "tools:\n", agentmd.Fields{UserInvocable: true, Tools: []agentmd.ToolRule{}}},
		{"an agent with tools that are no text", "tools: [{read: true}]\n", agentmd.Fields{UserInvocable: true, Tools: []agentmd.ToolRule{}}},
		{"an agent that only loses a tool", "tools: {bash: false}\n", agentmd.Fields{UserInvocable: true, DisallowedTools: []agentmd.ToolRule{rule("bash")}}},
		{"a command of OpenCode", "agent: plan\nsubtask: true\nmodel: a/b\n", agentmd.Fields{UserInvocable: true, Agent: "plan", Subtask: true, Model: "a/b"}},
		{"a prompt of VS Code", "tools: ['search/codebase', 'github/*']\nmodel: ['Claude Opus 4.5', 'GPT-5']\n",
			agentmd.Fields{UserInvocable: true, Tools: []agentmd.ToolRule{rule("search/codebase"), rule("github/*")}, Model: "Claude Opus 4.5"}},
		{"values of other kinds", "name:\n  a: b\nmodel: {a: b}\nuser-invocable: maybe\nmetadata: text\nmaxTurns: -1\npaths:\nhooks:\nallowed-tools: {a: b}\narguments: {a: b}\n", agentmd.Fields{UserInvocable: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "no field" {
				tt.want.UserInvocable = true
			}
			got := agentmd.Parse([]byte("---\n" + tt.header + "---\n")).Frontmatter.Fields()
			must.Match(t, "result", tt.want, got, cmpopts.EquateErrors())
		})
	}
}

func TestSummaryIsCutWhereTheClientCuts(t *testing.T) {
	of := func(description, more int) agentmd.Fields {
		return agentmd.Fields{Description: strings.Repeat("é", description), WhenToUse: strings.Repeat("x", more)}
	}
	for _, tt := range []struct {
		client client.Client
		files  client.Files
		fields agentmd.Fields
		length int
		end    string
	}{
		{client.Claude(), client.Skills, of(1533, 0), 1533, "é"},
		{client.Claude(), client.Skills, of(1000, 533), 1536, "x"}, // with " - ", as in Claude Code 2.1.330
		{client.Claude(), client.Commands, of(1000, 534), 1536, "x…"},
		{client.Claude(), client.Agents, of(5000, 0), 5000, "é"},
		{client.VSCode(), client.Skills, of(1024, 99), 1024, "é"},
		{client.VSCode(), client.Skills, of(1025, 0), 1024, "é…"},
		{client.AgentSkills(), client.Skills, of(5000, 9), 5000, "é"},
		{client.Client{}, client.Skills, of(0, 9), 0, ""},
	} {
		got := tt.fields.Summary(tt.client, tt.files)
		if n := utf8.RuneCountInString(got); n != tt.length || !strings.HasSuffix(got, tt.end) {
			t.Errorf("%s: %d characters, want %d", tt.client.Name, n, tt.length)
		}
	}
}

func TestFieldsWithInvalidToolRulesHaveAnError(t *testing.T) {
	for header, want := range map[string]string{
		"allowed-tools: Read Bash(git\n":                       `field allowed-tools: tool rule "Bash(git" at character 6`,
		"allowed-tools:\n  - Read\n  - '[Bash'\n":              `field allowed-tools: tool rule "[Bash" at character 1`,
		"disallowedTools: 'Bash)'\nallowed-tools: Read\n":      `field disallowedTools: tool rule "Bash)" at character 1`,
		"tools:\n  'Bash(': false\n":                           `field tools: tool rule "Bash(" at character 1`,
		"tools: A(\nallowed-tools: B(\ndisallowed-tools: C(\n": "field tools",
	} {
		fields := agentmd.Parse([]byte("---\n" + header + "---\n")).Frontmatter.Fields()
		if fields.Err == nil || !strings.Contains(fields.Err.Error(), want) || fields.Tools != nil || fields.DisallowedTools != nil {
			t.Errorf("%q: %v, %+v", header, fields.Err, fields)
		}
		if strings.ContainsAny(fields.Err.Error(), "\n") {
			t.Errorf("%q: the error has several lines", header)
		}
		if strings.Contains(header, "allowed-tools: Read\n") != (fields.AllowedTools != nil) {
			t.Errorf("%q allows %v", header, fields.AllowedTools)
		}
	}
}

// TestTheFieldsOfTheClientsHaveATypedView compares the fields of package client with the typed
// view.
func TestTheFieldsOfTheClientsHaveATypedView(t *testing.T) {
	// lossless are the fields of single clients that only Frontmatter has.
	lossless := " hide-from-slash-command-tool mcpServers mcp-servers mcp_servers prompt kind display_name temperature timeout_mins top_p permission hidden disable infer target handoffs agents readonly policy agent_card_url auth executor runConfig modelConfig "
	for _, c := range append(client.All(), client.AgentSkills()) {
		for _, f := range c.Fields {
			value := map[client.Kind]string{client.Text: "text", client.Flag: "yes", client.List: "[text]", client.Mapping: "{text: true}"}[f.Kind]
			switch f.Name {
			case "user-invocable", "user-invokable":
				value = "no"
			case "maxTurns", "max_turns", "maxSteps":
				value = "3"
			}
			fields := agentmd.Parse([]byte("---\n" + f.Name + ": " + value + "\n---\n")).Frontmatter.Fields()
			missing := cmp.Equal(fields, agentmd.Fields{UserInvocable: true}, cmpopts.EquateErrors())
			if missing != strings.Contains(lossless, " "+f.Name+" ") {
				t.Errorf("%s: the field %s has a typed view: %t", c.Name, f.Name, !missing)
			}
		}
	}
}
