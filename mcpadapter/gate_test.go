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
		"CLAUDE.md":            secret + "\n", "x/CLAUDE.md": secret + " " + "below\n", ".claude/rules/r.md": secret + "\n", "x/main.go": "package main\n",
	}), toolshelf.WithInstructions(client.Claude()), toolshelf.WithGate(g))
	a := adapterOf(t, c, mcpadapter.WithStructuredContent(), mcpadapter.WithInstructionHints())
	for way, got := range served(t, a) {
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
	for _, way := range []string{"tool list_commands", "tool get_command", "tool search_commands", "tool list_skills", "tool get_skill", "tool get_instructions", "prompts", "prompt"} {
		if !strings.Contains(after[way], secret) {
			t.Errorf("after the approval, %s: %s", way, after[way])
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
