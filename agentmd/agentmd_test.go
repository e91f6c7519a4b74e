package agentmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func ExampleParse() {
	doc := agentmd.Parse([]byte("---\nname: review\ndescription: Reviews a: change\n---\nRead the diff.\n"))
	fmt.Printf("%s: %s\n", doc.Frontmatter.Text("name"), doc.Frontmatter.Text("description"))
	fmt.Printf("%s", doc.Body)
	for _, d := range doc.Diagnostics {
		fmt.Println(d.Code, d.Severity, "in line", d.Line)
	}
	// Output:
	// review: Reviews a: change
	// Read the diff.
	// FRONTMATTER_RECOVERED warning in line 3
}

func ExampleFrontmatter() {
	header := agentmd.Parse([]byte("---\nversion: 1.10\nhidden: yes\ntools: [Read, Grep]\n---\n")).Frontmatter
	hidden, _ := header.Bool("hidden")
	fmt.Println(header.Format, header.Keys(), hidden)
	fmt.Println(header.Text("version"), header.List("tools"))
	text, _ := json.Marshal(header)
	fmt.Println(string(text))
	// Output:
	// yaml [version hidden tools] true
	// 1.10 [Read Grep]
	// {"version":1.10,"hidden":"yes","tools":["Read","Grep"]}
}

func ExampleDocument_Set() {
	doc := agentmd.Parse([]byte("---\nname: review # the command\nversion: 1\n---\nRead the diff.\n"))
	changed, err := doc.Set("description", "Reviews a: change")
	if err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%s", changed)
	// Output:
	// ---
	// name: review # the command
	// version: 1
	// description: "Reviews a: change"
	// ---
	// Read the diff.
}

func TestABlockThatKeepsLineBreaksKeepsThemInEveryFieldExceptTheDescription(t *testing.T) {
	for _, tt := range []struct{ sign, want string }{
		{"|+", "one\ntwo\n\n"}, {">+", "one two\n\n"}, {"|", "one\ntwo\n"}, {">", "one two\n"}, {"|-", "one\ntwo"},
	} {
		block := tt.sign + "\n  one\n  two\n\n"
		for _, last := range []string{"", "x: y\n"} { // the last field, or a field before another
			skill := agentmd.ParseSkill("a", []byte("---\nname: a\ndescription: "+block+"license: "+block+"metadata:\n  k: v\ncompatibility: "+block+last+"---\nText.\n"))
			got := []string{skill.Fields.License, skill.Fields.Compatibility, skill.Frontmatter.Text("license"), skill.Frontmatter.Text("description"), skill.Description}
			must.Match(t, tt.sign, []string{tt.want, tt.want, tt.want, tt.want, strings.TrimSpace(tt.want)}, got)
		}
	}
}

func TestParseAllocatesNothingForTheBody(t *testing.T) {
	const header = "---\nname: review\ndescription: Reviews a change\n---\n"
	data := []byte(header + strings.Repeat("Read the diff.\n", 100_000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	doc := agentmd.Parse(data)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<10 {
		t.Errorf("Parse allocates %d bytes for a body of %d bytes", n, len(data))
	}
	if &doc.Body[0] != &data[len(header)] || cap(doc.Body) != len(doc.Body) {
		t.Error("the body is a copy, or has room for more bytes of the file")
	}
}

func TestABodyIsPartOfTheDataAndDoesNotGrowIntoIt(t *testing.T) {
	data := append(make([]byte, 0, 100), "---\na: b\n---\nText.\n"...)
	body := agentmd.Parse(data).Body
	if &body[0] != &data[len(data)-len(body)] || cap(body) != len(body) {
		t.Errorf("the body of %d bytes with the capacity %d is no part of the data", len(body), cap(body))
	}
}

func TestDiagnosticsWithoutAPathBeginWithTheLine(t *testing.T) {
	for want, d := range map[string]agentmd.Diagnostic{
		"3:7: warning: x [Y]": {Code: "Y", Severity: agentmd.SeverityWarning, Line: 3, Column: 7, Message: "x"},
		"error: x [Y]":        {Code: "Y", Severity: agentmd.SeverityError, Message: "x"},
	} {
		must.Equal(t, "d.String()", want, d.String())
	}
}

func FuzzParse(f *testing.F) {
	for _, data := range []string{"", "---\na: b\n---\nText.\n", "+++\na = 1\n+++\n", "{\"a\": [1, 2]}\n", "\n\n---\na: b: c\n- d\n---\n", "---\na: &x [*x]\n---\n", "---yaml\n\xff: 1\n---"} {
		f.Add([]byte(data))
	}
	known := map[agentmd.DiagnosticCode]bool{}
	for _, code := range []agentmd.DiagnosticCode{agentmd.DiagNotUTF8, agentmd.DiagControlCharacter, agentmd.DiagDuplicateKey, agentmd.DiagFrontmatterRecovered,
		agentmd.DiagFrontmatterNotAMapping, agentmd.DiagFrontmatterUnterminated, agentmd.DiagFrontmatterRefused, agentmd.DiagFrontmatterInvalid,
		agentmd.DiagFrontmatterAfterBlankLines, agentmd.DiagFrontmatterUnknownFence, agentmd.DiagFrontmatterValueCut, agentmd.DiagAllowedToolsUnbalanced} {
		known[code] = true
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		doc := agentmd.Parse(data)
		if !bytes.Equal(data, before) || !bytes.HasSuffix(data, doc.Body) {
			t.Errorf("the data changed, or the body %q is not the end of the data", doc.Body)
		}
		if !strings.Contains(string(data), doc.Frontmatter.Raw) || doc.Frontmatter.Format == "" && len(doc.Frontmatter.Keys()) > 0 {
			t.Errorf("the header %q is no part of the data", doc.Frontmatter.Raw)
		}
		raw, err := json.Marshal(doc.Frontmatter)
		if err != nil || !json.Valid(raw) {
			t.Errorf("JSON %q, %v", raw, err)
		}
		if len(doc.Diagnostics) > 50 {
			t.Errorf("%d diagnostics", len(doc.Diagnostics))
		}
		for _, d := range doc.Diagnostics {
			if !known[d.Code] || strings.ContainsAny(d.String(), "\r\n") {
				t.Errorf("a code that agentmd has no constant for, or more than a line: %q", d)
			}
		}
		must.Match(t, "a second parse differs", doc, agentmd.Parse(data))
	})
}

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
