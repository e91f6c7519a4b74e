package mcpadapter_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// The headers of a skill. "dmi" is disable-model-invocation, and "noui" is user-invocable: false.
var exposureHeaders = map[string]string{"plain": "", "dmi": "disable-model-invocation: true\n", "noui": "user-invocable: false\n",
	"both": "disable-model-invocation: true\nuser-invocable: false\n"}

// observedStates are what Claude Code 2.1.332 and Codex 0.171.0 do with a skill, observed on
// 2026-11-27 with a scripted model: the entry of the list in the request, the Skill tool (Codex has
// no such tool), the list of completions (slash_commands of Claude Code), and the line /name of
// Claude Code or $name of Codex. A client has no search for skills and no prompt of MCP for a
// skill; these surfaces follow the tool and the line.
var observedStates = []struct {
	client, header, state string
	listed                string // "full", "name" or ""
	tool, completed, line bool
}{
	{"claude", "plain", "", "full", true, true, true},
	{"claude", "plain", "on", "full", true, true, true},
	{"claude", "plain", "name-only", "name", true, true, true},
	{"claude", "plain", "user-invocable-only", "", false, true, true},
	{"claude", "plain", "off", "", false, false, false},
	{"claude", "dmi", "", "", false, true, true},
	{"claude", "dmi", "on", "", false, true, true},
	{"claude", "dmi", "name-only", "", false, true, true},
	{"claude", "dmi", "user-invocable-only", "", false, true, true},
	{"claude", "dmi", "off", "", false, false, false},
	{"claude", "noui", "", "full", true, false, false},
	{"claude", "noui", "on", "full", true, false, false},
	{"claude", "noui", "name-only", "name", true, false, false},
	{"claude", "noui", "user-invocable-only", "", false, false, false},
	{"claude", "noui", "off", "", false, false, false},
	{"claude", "both", "", "", false, false, false},
	{"claude", "both", "on", "", false, false, false},
	{"claude", "both", "name-only", "", false, false, false},
	{"claude", "both", "user-invocable-only", "", false, false, false},
	{"claude", "both", "off", "", false, false, false},
	{"codex", "plain", "", "full", true, true, true},
	{"codex", "plain", "true", "full", true, true, true},
	{"codex", "plain", "false", "", false, false, false},
}

func put(t *testing.T, file, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, os.WriteFile(file, []byte(text), 0o644))
}

func TestSurfacesFollowTheStatesOfClients(t *testing.T) {
	for _, row := range observedStates {
		t.Run(strings.Join([]string{row.client, row.header, row.state}, " "), func(t *testing.T) {
			root, home := t.TempDir(), t.TempDir()
			dir := map[string]string{"claude": ".claude/skills", "codex": ".agents/skills"}[row.client]
			put(t, filepath.Join(root, dir, "deploy/SKILL.md"), "---\nname: deploy\ndescription: Ships releases.\n"+exposureHeaders[row.header]+"---\nRun it.\n")
			put(t, filepath.Join(root, dir, "other/SKILL.md"), "---\nname: other\ndescription: Something else.\n---\nText.\n")
			switch {
			case row.state == "":
			case row.client == "codex":
				put(t, filepath.Join(home, ".codex/config.toml"), "model = \"x\"\n[[skills.config]]\nname = \"deploy\"\nenabled = "+row.state+"\n")
			default:
				put(t, filepath.Join(root, ".claude/settings.json"), `{"model": "x", "skillOverrides": {"deploy": "`+row.state+`"}}`)
			}
			c := must.Get(toolshelf.New(toolshelf.WithRoot(root), toolshelf.WithHome(home), toolshelf.WithClient(map[string]client.Client{"claude": client.Claude(), "codex": client.Codex()}[row.client])))(t)
			defer c.Close()
			if got := surfacesOf(t, c, "deploy"); got != fmt.Sprintf("%s tool=%v search=%v resource=%v completed=%v line=%v prompt=%v", row.listed, row.tool, row.tool, row.tool, row.completed, row.line, row.line) {
				t.Errorf("%+v: %s", row, got)
			}
		})
	}
}

// surfacesOf describes what each surface shows of a skill, and checks that the methods of Go keep
// the skill.
func surfacesOf(t *testing.T, c *toolshelf.Catalog, name string) string {
	t.Helper()
	ctx := t.Context()
	a := adapterOf(t, c)
	skills, err := c.ListSkills(ctx)
	if err != nil || !slices.ContainsFunc(skills, func(s toolshelf.SkillInfo) bool { return s.Name == name }) {
		t.Fatalf("ListSkills: %v, %v", skills, err)
	}
	if found, err := c.SearchSkills(ctx, name, 1); err != nil || len(found.Results) != 1 || found.Results[0].Description == "" {
		t.Errorf("SearchSkills: %+v, %v", found, err)
	}
	if _, err := c.GetSkill(ctx, name); err != nil {
		t.Error(err)
	}
	prompt := must.Get(c.SkillsPrompt(ctx))(t)
	listed := ""
	if slices.Contains(prompt.Included, name) {
		listed = "full"
		if slices.Contains(prompt.Named, name) {
			listed = "name"
		}
	}
	if (listed == "full") != strings.Contains(prompt.Text, "Ships") {
		t.Errorf("%q in %s", listed, prompt.Text)
	}
	text := func(tool, arguments string) (string, bool) {
		r := must.Get(a.Call(ctx, tool, json.RawMessage(arguments)))(t)
		return r.Text, !r.IsError
	}
	list, _ := text("list_skills", "{}")
	if strings.Contains(list, `"`+name+`"`) != (listed != "") || strings.Contains(list, "Ships") != (listed == "full") {
		t.Errorf("%q in %s", listed, list)
	}
	_, tool := text("get_skill", `{"skill_name":"`+name+`"}`)
	if _, read := text("read_skill_file", `{"skill_name":"`+name+`","path":"SKILL.md"}`); read != tool {
		t.Errorf("get_skill %v, read_skill_file %v", tool, read)
	}
	results, _ := text("search_skills", `{"query":"`+name+` ships releases"}`)
	if strings.Contains(results, "Ships") != (listed == "full") {
		t.Errorf("%q in %s", listed, results)
	}
	entries := must.Get(a.NewSession().ListSkills(ctx, nil))(t)
	resource := slices.ContainsFunc(entries.Skills, func(e mcpadapter.SkillEntry) bool {
		return strings.Contains(e.URI, "/"+name+"/") || strings.HasPrefix(e.URI, "skill://"+name+"/")
	})
	if _, err := a.NewSession().ReadResource(ctx, "skill://"+name+"/SKILL.md"); (err == nil) != resource {
		t.Errorf("resource %v, read %v", resource, err)
	}
	completions := must.Get(c.CompleteName(ctx, name, 0))(t)
	_, lineErr := c.Expand(ctx, "/"+name)
	prompts := must.Get(a.Prompts(ctx))(t)
	offered := slices.ContainsFunc(prompts, func(p mcpadapter.Prompt) bool { return p.Name == name })
	return fmt.Sprintf("%s tool=%v search=%v resource=%v completed=%v line=%v prompt=%v", listed, tool, strings.Contains(results, `"`+name+`"`), resource, len(completions) == 1, lineErr == nil, offered)
}
