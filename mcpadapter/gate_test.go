package mcpadapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// approvals is a gate that allows the given items.
type approvals struct{ items sync.Map }

func (a *approvals) Allowed(_ context.Context, i toolshelf.Item) bool {
	_, ok := a.items.Load(i)
	return ok
}

// served returns all results of an adapter that can have a command, a skill or an instruction.
func served(t *testing.T, a *mcpadapter.Adapter) map[string]string {
	t.Helper()
	all := map[string]string{}
	for tool, arguments := range map[string]string{
		"list_commands": `{}`, "get_command": `{"command_name":"zdeploy"}`, "search_commands": `{"query":"zdeploy"}`, "list_skills": `{}`, "get_skill": `{"skill_name":"zpdf"}`,
		"search_skills": `{"query":"zpdf"}`, "list_agents": `{}`, "get_agent": `{"agent_name":"zguard"}`, "read_skill_file": `{"skill_name":"zpdf","path":"zrun.sh"}`,
		"get_instructions": `{"path":"x/main.go"}`, "read_file": `{"path":"x/main.go"}`,
	} {
		if _, ok := a.Lookup(tool); !ok {
			t.Errorf("there is no tool %s", tool)
			continue
		}
		got, err := a.Call(ctx, tool, json.RawMessage(arguments))
		if err != nil {
			t.Fatal(err)
		}
		all["tool "+tool] = got.Text + string(got.Structured)
	}
	list, err := a.Prompts(ctx)
	all["prompts"] = fmt.Sprint(list, err)
	prompt, err := a.GetPrompt(ctx, "zdeploy", map[string]string{})
	all["prompt"] = fmt.Sprint(prompt, err)
	for _, argument := range []string{"arguments", "1"} {
		values, err := a.Complete(ctx, "zdeploy", argument, "")
		all["completion "+argument] = fmt.Sprint(values, err)
	}
	for tool, argument := range map[string]string{"get_command": "command_name", "get_skill": "skill_name", "get_agent": "agent_name"} {
		values, err := a.Complete(ctx, tool, argument, "z")
		all["names of "+tool] = fmt.Sprint(values.Values, err)
	}
	for era, c := range skillClients(t, a) {
		all["skills "+era] = fmt.Sprint(c.list())
		data, _, err := c.read("skill://zpdf/SKILL.md")
		all["resource "+era] = fmt.Sprint(string(data), err)
	}
	return all
}

func TestARefusedEntryIsInNoResultOfMCP(t *testing.T) {
	const secret = "zsecret"
	g := new(approvals)
	c := catalog(t, memory(t, map[string]string{
		"commands/zdeploy.md":  "---\ndescription: " + secret + "\nargument-hint: <" + secret + ">\n---\nDeploy " + secret + " $1 to $2.\n",
		"skills/zpdf/SKILL.md": "---\nname: zpdf\ndescription: " + secret + "\n---\n" + secret + "\n",
		"skills/zpdf/zrun.sh":  "echo " + secret + "\n",
		"agents/zguard.md":     "---\nname: zguard\ndescription: " + secret + "\n---\n" + secret + "\n",
		"CLAUDE.md":            secret + "\n", "x/CLAUDE.md": secret + " " + "below\n", ".claude/rules/r.md": secret + "\n", "x/main.go": "package main\n",
	}), toolshelf.WithInstructions(client.Claude()), toolshelf.WithAgentsDir("agents"), toolshelf.WithGate(g))
	a := adapterOf(t, c, mcpadapter.WithStructuredContent(), mcpadapter.WithInstructionHints())
	for way, got := range served(t, a) {
		if strings.HasPrefix(way, "names of ") && got != "[] <nil>" {
			t.Errorf("before the approval, %s: %s", way, got)
		}
		if strings.Contains(got, secret) || strings.Contains(got, "CLAUDE.md") {
			t.Errorf("before the approval, %s: %s", way, got)
		}
	}
	pending, err := c.Pending(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pending {
		g.items.Store(p.Item, true)
	}
	after := served(t, a)
	for _, way := range []string{"tool list_commands", "tool get_command", "tool search_commands", "tool list_skills", "tool get_skill", "tool search_skills", "tool list_agents", "tool get_agent",
		"tool read_skill_file", "tool get_instructions", "prompts", "prompt", "completion 1"} {
		if !strings.Contains(after[way], secret) {
			t.Errorf("after the approval, %s: %s", way, after[way])
		}
	}
	for way, want := range map[string]string{"names of get_command": "[zdeploy] <nil>", "names of get_skill": "[zpdf] <nil>", "names of get_agent": "[zguard] <nil>"} {
		if after[way] != want {
			t.Errorf("after the approval, %s: %s, want %s", way, after[way], want)
		}
	}
	if !strings.Contains(after["tool read_file"], "x/CLAUDE.md") {
		t.Errorf("after the approval, read_file: %s", after["tool read_file"])
	}
	for era := range skillClients(t, a) {
		for _, way := range []string{"skills ", "resource "} {
			if !strings.Contains(after[way+era], "zpdf") {
				t.Errorf("after the approval, %s%s: %s", way, era, after[way+era])
			}
		}
	}
}
