package mcpadapter_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/trust"
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
		must.NotContain(t, way, got, secret, "CLAUDE.md")
	}
	for _, p := range must.Get(c.Pending(ctx))(t) {
		g.items.Store(p.Item, true)
	}
	after := served(t, a)
	for _, way := range []string{"tool list_commands", "tool get_command", "tool search_commands", "tool list_skills", "tool get_skill", "tool search_skills", "tool list_agents", "tool get_agent",
		"tool read_skill_file", "tool get_instructions", "prompts", "prompt", "completion 1"} {
		must.Contain(t, way, after[way], secret)
	}
	for way, want := range map[string]string{"names of get_command": "[zdeploy] <nil>", "names of get_skill": "[zpdf] <nil>", "names of get_agent": "[zguard] <nil>"} {
		must.Equal(t, way, want, after[way])
	}
	must.Contain(t, "after the approval, read_file", after["tool read_file"], "x/CLAUDE.md")
	for era := range skillClients(t, a) {
		for _, way := range []string{"skills ", "resource "} {
			must.Contain(t, "after the approval", after[way+era], "zpdf")
		}
	}
}

// A program exchanges approved and other contents while clients use each way to the content.
func TestNoUnapprovedByteIsServedOverMCP(t *testing.T) {
	exchanges := catalogtest.Rounds(10_000, 100_000)
	dir := t.TempDir()
	write := func(name, text string) {
		full := filepath.Join(dir, name)
		must.Do(t,
			errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)))
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
	for _, p := range must.Get(c.Pending(ctx))(t) {
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
		must.NotContain(t, way, text, "evil")
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

// hashed returns a text in the form of the hashed text of a list, and in the form of sha256sum.
func hashed(kind, name, text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s\n%x %d %s\n%x  %s\n", kind, sum, len(name), name, sum, name)
}

// sweepFiles are the files of a project with each kind of entry, each with a marker such as zm07 in
// its text. Unapproved texts have zevil.
func sweepFiles() map[string]string {
	files := map[string]string{
		".claude/commands/deploy.md":        "---\ndescription: %[1]s\n---\nDeploy %[1]s !`id` $1 @x.md",
		".claude/commands/sub/deploy.md":    "---\ndescription: %[1]s\n---\nBelow %[1]s",
		".qwen/commands/plain.md":           "---\ndescription: %[1]s\n---\n" + `prompt = "%[1]s \u0021{id}"`,
		".qwen/commands/toml.toml":          "description = \"%[1]s\"\nprompt = \"Do %[1]s !{id}\"\n",
		".qwen/commands/forged.md":          hashed("list", "forged.toml", forgedCommand) + "%[1]s",
		".claude/skills/pdf/SKILL.md":       "---\nname: pdf\ndescription: %[1]s\n---\nRun %[1]s run.sh",
		".claude/skills/pdf/run.sh":         "echo %[1]s",
		".claude/skills/pdf/lib/run.sh":     "echo %[1]s",
		".claude/skills/other/SKILL.md":     "---\nname: other\ndescription: %[1]s\n---\nOther %[1]s",
		".claude/agents/guard.md":           "---\nname: guard\ndescription: %[1]s\n---\nGuard %[1]s",
		".claude/agents/second.md":          "---\nname: second\ndescription: %[1]s\n---\nSecond %[1]s",
		"CLAUDE.md":                         "Always %[1]s @x.md",
		"x.md":                              "Imported %[1]s",
		".claude/rules/r.md":                "Rule %[1]s",
		"x/CLAUDE.md":                       hashed("instruction", "x/CLAUDE.md", "zevil") + "%[1]s",
		"shop/p/.cursor-plugin/plugin.json": `{"name": "p", "description": "%[1]s"}`,
		"shop/p/commands/go.md":             "---\ndescription: %[1]s\n---\nGo %[1]s !`id`",
		"shop/p/skills/s/SKILL.md":          "---\nname: s\ndescription: %[1]s\n---\nS %[1]s !`id`",
		"shop/p/agents/a.md":                "---\nname: a\ndescription: %[1]s\n---\nA %[1]s",
		"shop/q/.claude-plugin/plugin.json": `{"name": "q", "description": "%[1]s"}`,
		"shop/q/commands/walk.md":           "---\ndescription: %[1]s\n---\nGo %[1]s",
	}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		files[name] = strings.ReplaceAll(files[name], "%[1]s", fmt.Sprintf("zm%02d", i))
	}
	return files
}

const forgedCommand = "description = \"zevil\"\nprompt = \"zevil\"\n"

var (
	marker   = regexp.MustCompile(`[^\n{},]*(?:zm\d\d|zevil)[^\n{},]*`)
	unstable = regexp.MustCompile(`"(?:score|tier|match_reason|search_time_ms|total_found)":(?:"(?:[^"\\]|\\.)*"|[0-9.e-]+),?`) // depends on the other entries
)

// A sweep collects what a catalog and its adapter serve: the method or tool with its argument, and
// each line with a marker.
type sweep map[string]bool

func (s sweep) add(way string, parts ...any) {
	for _, line := range marker.FindAllString(unstable.ReplaceAllString(fmt.Sprint(parts...), ""), -1) {
		s[way+": "+line] = true
	}
}

// serve uses each method, tool, prompt and resource that returns a text of an entry.
func serve(t *testing.T, c *toolshelf.Catalog, a *mcpadapter.Adapter, clients map[string]skillClient) sweep {
	t.Helper()
	s := sweep{}
	s.catalog(t, c)
	s.skills(t, c)
	s.adapter(t, a, clients)
	return s
}

// The names of the entries before and after a change.
var (
	sweepCommands = []string{"deploy", "sub:deploy", "plain", "toml", "forged", "p:go", "p:walk", "q:go", "q:walk", "walk", "guard", "pdf", "SKILL", "run", "CLAUDE", "x", "r", "go", "plugin", "a", "second"}
	sweepSkills   = []string{"pdf", "other", "p:s", "q:s", "s"}
	sweepAgents   = []string{"guard", "second", "p:a", "a", "pdf", "other", "s"}
	sweepFilesOf  = []string{"SKILL.md", "run.sh", "lib/run.sh"}
)

func (s sweep) catalog(t *testing.T, c *toolshelf.Catalog) {
	t.Helper()
	list, err := c.List(ctx, toolshelf.Page{})
	for _, row := range list.Commands {
		s.add("List", row.Name, " ", row.Path, " ", row.Description, err)
	}
	for row, err := range c.Commands(ctx) {
		s.add("Commands", row.Name, row.Plugin, row.Content, row.Rules, err)
	}
	for _, name := range sweepCommands {
		command, err := c.Get(ctx, name)
		s.add("Get "+name, command.Content, command.Rules, err)
		x, err := c.Expand(ctx, "/"+name+" one two")
		s.add("Expand "+name, x.Text, x.Directives, err)
	}
	for row, err := range c.Agents(ctx) {
		s.add("Agents", row.Name, row.Description, row.Content, err)
	}
	for _, name := range sweepAgents {
		agent, err := c.GetAgent(ctx, name)
		s.add("GetAgent "+name, agent.Content, agent.Description, err)
	}
	agents, err := c.ListAgents(ctx)
	for _, row := range agents {
		s.add("ListAgents", row.Name, " ", row.Path, " ", row.Description, err)
	}
	plugins, err := c.Plugins(ctx)
	for _, p := range plugins {
		s.add("Plugins", p.Name, p.Description, err)
	}
	names, err := c.CompleteName(ctx, "", 100)
	for _, row := range names {
		s.add("CompleteName", fmt.Sprintf("%+v", row), err)
	}
	for _, prompt := range []func() (toolshelf.PromptList, error){func() (toolshelf.PromptList, error) { return c.CommandsPrompt(ctx) },
		func() (toolshelf.PromptList, error) { return c.SkillsPrompt(ctx) }, func() (toolshelf.PromptList, error) { return c.AgentsPrompt(ctx) }} {
		p, err := prompt()
		s.add("prompt", p.Text, err)
	}
	for _, of := range []string{".", "x/main.go"} {
		for hops := range 3 {
			all, err := c.Instructions(ctx, of, toolshelf.Imports(hops))
			for _, i := range all {
				s.add(fmt.Sprint("Instructions ", of, hops, i.Path, i.Mode), i.Text, err)
			}
		}
		p, err := c.InstructionsPrompt(ctx, of, toolshelf.Imports(0))
		s.add("InstructionsPrompt "+of, p.Text, err)
	}
	for _, query := range []string{"deploy", "zevil", "other guard imported"} {
		commands, err := c.Search(ctx, query, 100)
		skills, errSkills := c.SearchSkills(ctx, query, 100)
		for _, hit := range slices.Concat(commands.Results, skills.Results) {
			s.add("Search", hit.Name, hit.Description, err, errSkills)
		}
	}
}

func (s sweep) skills(t *testing.T, c *toolshelf.Catalog) {
	t.Helper()
	list, err := c.ListSkills(ctx)
	for _, row := range list {
		s.add("ListSkills", row.Name, row.Description, err)
	}
	for row, err := range c.Skills(ctx) {
		s.add("Skills", row.Name, row.Description, row.Content, row.Rules, err)
	}
	for _, name := range sweepSkills {
		skill, err := c.GetSkill(ctx, name)
		s.add("GetSkill "+name, skill.Content, skill.Description, err)
		for _, file := range sweepFilesOf {
			text, err := c.ReadSkillFile(ctx, name, file)
			s.add("ReadSkillFile "+name+"/"+file, string(text), err)
		}
		if err != nil {
			continue
		}
		_ = fs.WalkDir(skill.FS(), ".", func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				text, _ := fs.ReadFile(skill.FS(), file)
				s.add("FS "+name+"/"+file, string(text))
			}
			return nil
		})
	}
}

func (s sweep) adapter(t *testing.T, a *mcpadapter.Adapter, clients map[string]skillClient) {
	t.Helper()
	call := func(tool string, arguments map[string]any) {
		raw, _ := json.Marshal(arguments)
		result := must.Get(a.Call(ctx, tool, raw))(t)
		s.add(tool+string(raw), result.Text, "\n", string(result.Structured))
	}
	for _, tool := range []string{"list_commands", "list_skills", "list_agents"} {
		call(tool, map[string]any{})
	}
	for _, name := range sweepCommands {
		call("get_command", map[string]any{"command_name": name})
		prompt, err := a.GetPrompt(ctx, name, map[string]string{})
		s.add("prompt "+name, fmt.Sprintf("%+v", prompt), err)
	}
	for _, name := range sweepSkills {
		call("get_skill", map[string]any{"skill_name": name})
		for _, file := range sweepFilesOf {
			call("read_skill_file", map[string]any{"skill_name": name, "path": file})
			for era, client := range clients {
				text, _, err := client.read("skill://" + strings.ReplaceAll(name, ":", "/") + "/" + file)
				s.add("resource "+era+name+file, string(text), err)
			}
		}
	}
	for _, name := range sweepAgents {
		call("get_agent", map[string]any{"agent_name": name})
	}
	for _, of := range []string{".", "x/main.go"} {
		call("get_instructions", map[string]any{"path": of})
	}
	call("search_commands", map[string]any{"query": "deploy zevil"})
	call("search_skills", map[string]any{"query": "other zevil"})
	prompts, err := a.Prompts(ctx)
	s.add("prompts", fmt.Sprintf("%+v", prompts), err)
	for era, client := range clients {
		s.add("skills "+era, fmt.Sprintf("%+v", client.list()))
		var list json.RawMessage
		err := client.send("resources/list", "", &list)
		s.add("resources "+era, string(list), err)
	}
}

// TestNoExchangeOfApprovedFilesServesAnUnapprovedByte replaces, removes, renames and swaps each
// approved file by each other file. What a catalog serves then, a catalog of the approved files
// serves too.
func TestNoExchangeOfApprovedFilesServesAnUnapprovedByte(t *testing.T) {
	files := sweepFiles()
	fsys := memory(t, files)
	store := must.Get(trust.Open(filepath.Join(t.TempDir(), "private", "trust")))(t)
	c := catalog(t, fsys, toolshelf.WithClient(client.Claude(), client.Qwen()), toolshelf.WithInstructions(client.Claude()), toolshelf.WithPlugins("shop"), toolshelf.WithGate(store))
	a := adapterOf(t, c, mcpadapter.WithStructuredContent())
	clients := skillClients(t, a)
	must.Equal(t, "before the approval", 0, len(serve(t, c, a, clients)))
	pending, err := c.Pending(ctx)
	must.Do(t, errors.Join(err, store.Approve(ctx, pending...)))
	approved := serve(t, c, a, clients)
	for i := range files {
		text := files[i]
		if mark := marker.FindString(text); !slices.ContainsFunc(slices.Collect(maps.Keys(approved)), func(line string) bool { return strings.Contains(line, regexp.MustCompile(`zm\d\d`).FindString(mark)) }) {
			t.Errorf("nothing serves %s", i)
		}
	}
	number, every := 0, 1600/catalogtest.Rounds(40, 1600)
	check := func(what string, change map[string]string) {
		if number++; number%every != 0 {
			return
		}
		for name, text := range change {
			if text == "" {
				_ = fsys.Remove(name)
			} else if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for line := range serve(t, c, a, clients) {
			if !approved[line] {
				t.Errorf("%s: %s", what, line)
			}
		}
		for name := range change {
			if files[name] == "" {
				_ = fsys.Remove(name)
			} else if err := afero.WriteFile(fsys, name, []byte(files[name]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	check("a forged list", map[string]string{".qwen/commands/forged.md": "", ".qwen/commands/forged.toml": forgedCommand})
	check("a forged instruction", map[string]string{"x/CLAUDE.md": "zevil"})
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		check("without "+name, map[string]string{name: ""})
		check("another "+name, map[string]string{name: strings.ReplaceAll(files[name], "zm", "zevil zm")})
		ext := filepath.Ext(name)
		for _, other := range []string{".md", ".toml", ".MD"} {
			if ext != other {
				check(name+" as "+other, map[string]string{name: "", strings.TrimSuffix(name, ext) + other: files[name]})
			}
		}
		for _, other := range names {
			if other == name {
				continue
			}
			check(name+" moved to "+other, map[string]string{other: files[name], name: ""})
			if name < other {
				check(name+" and "+other+" swapped", map[string]string{other: files[name], name: files[other]})
			}
		}
	}
	for line := range serve(t, c, a, clients) {
		if !approved[line] {
			t.Errorf("after the changes: %s", line)
		}
	}
}
