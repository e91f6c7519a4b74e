package servertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func TestServersServeWhatTheToolsPermit(t *testing.T) { each(t, testWithTools) }

// testWithTools tests that a server declares and serves no prompt, value or resource that the tools
// do not permit.
func testWithTools(t *testing.T, b binding) {
	value := func(name, argument string) string {
		return fmt.Sprintf(`"ref":{"type":"ref/prompt","name":%q},"argument":{"name":%q,"value":""}`, name, argument)
	}
	const uri = `"uri":"skill://calculator/SKILL.md"`
	items := []struct{ group, method, members, part string }{ // part is a part of the result
		{"prompts", "initialize", ``, `"prompts":`},
		{"prompts", "initialize", ``, `"completions":`},
		{"commands", "prompts/list", ``, `"commit"`},
		{"commands", "prompts/get", `"name":"commit"`, `one line`},
		{"commands", "completion/complete", value("release", argumentOf(t, "release", adapters(t)["project"])), `"minor"`},
		{"commands", "completion/complete", value("ask", "command"), `"commit"`},
		{"skills", "prompts/list", ``, `"calculator"`},
		{"skills", "prompts/get", `"name":"calculator"`, `# Calculator`},
		{"skills", "completion/complete", value("ask", "skill"), `"calculator"`},
		{"skills", "initialize", ``, `"resources":`},
		{"skills", "resources/list", ``, `"skill://calculator`},
		{"skills", "resources/templates/list", ``, `"skill://`},
		{"skills", "resources/read", uri, `# Calculator`},
		{"methods", "initialize", ``, mcpadapter.SkillsExtension},
		{"methods", "skills/list", ``, `"skill://calculator`},
		{"methods", "skills/get", uri, `"skill://calculator`},
		{"methods", "resources/directory/read", `"uri":"skill://calculator"`, `"skill://calculator`},
		{"agents", "completion/complete", value("ask", "agent_name"), `"planner"`},
	}
	tools := mcpadapter.WithTools
	everything := []string{"prompts", "commands", "skills", "methods", "agents"}
	for _, tt := range []struct {
		name    string
		options []mcpadapter.Option
		want    []string // groups
	}{
		{"all tools", nil, everything},
		{"tools for files", []mcpadapter.Option{tools("list_directory", "read_file")}, nil},
		{"no tool", []mcpadapter.Option{tools()}, nil},
		{"tools without texts", []mcpadapter.Option{tools("list_commands", "list_skills", "report_feedback")}, nil},
		{"get_command", []mcpadapter.Option{tools("get_command")}, []string{"prompts", "commands"}},
		{"get_skill", []mcpadapter.Option{tools("get_skill")}, []string{"prompts", "skills", "methods"}},
		{"get_agent", []mcpadapter.Option{tools("get_agent")}, nil},
		{"WithPrompts", []mcpadapter.Option{tools("read_file"), mcpadapter.WithPrompts()}, everything},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ask := mcpadapter.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object","properties":{"command":{},"skill":{},"agent_name":{}}}`),
				Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) { return mcpadapter.Result{}, nil }}
			c := catalog(t, catalogtest.Memory(t, project), toolshelf.WithAgentsDir("agents"), toolshelf.WithReports("reports", ""))
			a := adapter(t, c, append(tt.options, mcpadapter.WithExtraTools(ask))...)
			for _, way := range ways(t, b.connect, a) {
				for _, item := range items {
					want := slices.Contains(tt.want, item.group)
					var raw json.RawMessage
					switch {
					case item.group == "methods" && want && !b.methods:
						continue
					case item.method == "initialize" && way.modern:
						raw, _ = way.request(t, "server/discover", ``)
					case item.method == "initialize":
						raw, _ = b.connect(t, nil, a)(t, item.method, hello)
					default:
						raw, _ = way.request(t, item.method, item.members)
					}
					if got := strings.Contains(string(raw), item.part); got != want {
						t.Errorf("%s: %s %s: %s is %t, want %t: %s", way.name, item.method, item.members, item.part, got, want, raw)
					}
				}
			}
		})
	}
}
