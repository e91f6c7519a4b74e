package mcpadapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
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
		got := must.Get(a.Call(ctx, tool, json.RawMessage(arguments)))(t)
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
	pending := must.Get(c.Pending(ctx))(t)
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

// A program exchanges approved and other contents while clients use each way to the content.
func TestNoUnapprovedByteIsServedOverMCP(t *testing.T) {
	exchanges := catalogtest.Rounds(10_000, 100_000)
	dir := t.TempDir()
	write := func(name, text string) {
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
			t.Error(err)
		}
	}
	states := [2]string{"good", "evil"}
	put := func(state string) {
		write("commands/c.md", "---\ndescription: "+state+"\nargument-hint: <"+state+">\n---\nDo "+state+" $1.")
		write("skills/s/SKILL.md", "---\nname: s\ndescription: "+state+"\n---\n"+state)
		write("skills/s/run.sh", "echo "+state)
	}
	put("good")
	g := new(approvals)
	c := must.Get(toolshelf.New(toolshelf.WithRoot(dir), toolshelf.WithGate(g)))(t)
	defer c.Close()
	a := adapterOf(t, c)
	pending := must.Get(c.Pending(ctx))(t)
	for _, p := range pending {
		g.items.Store(p.Item, true)
	}
	clients := skillClients(t, a)
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		defer close(done)
		for i := range exchanges {
			state := states[(i+1)%2]
			switch i / 2 % 4 {
			case 0:
				write("skills/s/run.sh", "echo "+state)
			case 1:
				write("skills/s/SKILL.md", "---\nname: s\ndescription: "+state+"\n---\n"+state)
			case 2:
				write("commands/c.md", "---\ndescription: "+state+"\nargument-hint: <"+state+">\n---\nDo "+state+" $1.")
			case 3:
				put(state)
			}
		}
	})
	served := map[string]int{}
	use := func(way, text string) {
		if strings.Contains(text, "evil") {
			t.Errorf("%s: %s", way, text)
		}
		if strings.Contains(text, "good") {
			served[way]++
		}
	}
	for running := true; running && !t.Failed(); {
		select {
		case <-done:
			running = false
			put("good")
		default:
		}
		for tool, arguments := range map[string]string{"list_commands": `{}`, "get_command": `{"command_name":"c"}`, "list_skills": `{}`, "get_skill": `{"skill_name":"s"}`, "read_skill_file": `{"skill_name":"s","path":"run.sh"}`, "search_skills": `{"query":"s"}`} {
			if result, err := a.Call(ctx, tool, json.RawMessage(arguments)); err == nil {
				use(tool, result.Text)
			}
		}
		if list, err := a.Prompts(ctx); err == nil {
			use("prompts", fmt.Sprint(list))
		}
		if prompt, err := a.GetPrompt(ctx, "c", map[string]string{}); err == nil {
			use("prompt", fmt.Sprint(prompt))
		}
		if prompt, err := a.GetPrompt(ctx, "s", map[string]string{}); err == nil {
			use("prompt of a skill", fmt.Sprint(prompt))
		}
		for era, client := range clients {
			for _, file := range []string{"SKILL.md", "run.sh"} {
				if text, _, err := client.read("skill://s/" + file); err == nil {
					use("resource "+file+" "+era, string(text))
				}
			}
			var list json.RawMessage
			if err := client.send("resources/list", "", &list); err == nil {
				use("resources "+era, string(list))
			}
		}
	}
	wait.Wait()
	if len(served) < 14 {
		t.Errorf("only %v served the approved content", served)
	}
}
