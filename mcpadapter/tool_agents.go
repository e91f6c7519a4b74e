package mcpadapter

import (
	"context"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

var listAgents = definition{
	name:  "list_agents",
	title: "List agents",
	description: []sentence{
		{text: "List all available agents: agents is the array of the names, and descriptions explains the names."},
	},
	errors: errorString,
	output: outputSchema(errorString, `"agents":{"type":"array","items":{"type":"string"}},`+
		`"descriptions":{"type":"object","additionalProperties":{"type":"string"}},`+
		`"not_loadable":{"type":"array","items":{"type":"string"}}`,
		"agents"),
	run: func(ctx context.Context, t toolset, _ schema.Arguments) (Result, error) {
		agents, err := t.ListAgents(ctx)
		if err != nil {
			return Result{}, err
		}
		rows := make([]listRow, len(agents))
		for i, agent := range agents {
			rows[i] = listRow{agent.Name, agent.Description, agent.Loadable}
		}
		names, descriptions, notLoadable, err := described(ctx, rows, t.AgentsPrompt)
		if err != nil {
			return Result{}, err
		}
		return jsonResult(struct {
			Agents       []string          `json:"agents"`
			Descriptions map[string]string `json:"descriptions,omitempty"`
			NotLoadable  []string          `json:"not_loadable,omitempty"`
		}{names, descriptions, notLoadable})
	},
}

var getAgent = definition{
	name:  "get_agent",
	title: "Get an agent",
	description: []sentence{
		{text: "Get the definition of an agent by its name: its tools, model and instructions."},
		{text: "Use a name that ", tools: []string{"list_agents"}, after: " has returned."},
	},
	parameters: []schema.Parameter{{Name: "agent_name", Kind: schema.String, Required: true,
		Description: "Name of the agent", Code: toolshelf.CodeInvalidAgentName}},
	errors:   errorObject,
	text:     true,
	output:   agentOutput("Full path of the agent's file"),
	relative: agentOutput("Path of the agent's file" + relativeNote),
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		agent, err := t.GetAgent(ctx, args.String("agent_name"))
		if err != nil {
			return Result{}, err
		}
		if t.relativePaths {
			agent.Path = t.RelativePath(agent.Layer, agent.Path)
			agent.Layer, agent.Shadows = t.hider.text(agent.Layer), t.hider.texts(agent.Shadows)
			t.hider.diagnostics(agent.Diagnostics)
		}
		var b strings.Builder
		b.WriteString("Agent: " + escape.Name(agent.Name) + "\nPath: " + escape.Path(agent.Path) + "\n\n")
		writeAuthored(&b, agent.Frontmatter, agent.Content)
		writeWarnings(&b, agent.Diagnostics)
		return t.textResult(b.String(), agent)
	},
}

// agentOutput returns the output schema of get_agent with a description of the path.
func agentOutput(path string) string {
	return outputSchema(errorObject, `"name":{"type":"string","description":"Name of the agent"},`+
		`"declared_name":{"type":"string","description":"Name in the frontmatter"},`+
		`"description":{"type":"string","description":"What the agent does and when to use it"},`+
		`"model":{"type":"string","description":"Model of the agent"},`+
		`"tools":{"type":"array","items":{"type":"string"},"description":"Tools of the agent; without the member usually all tools"},`+
		`"content":{"type":"string","description":"The instructions, in Markdown"},`+
		`"frontmatter":{"type":"object","description":"All fields of the frontmatter"},`+
		`"path":{"type":"string","description":"`+path+`"},`+
		`"layer":{"type":"string","description":"Directory of agents that contains the agent"},`+
		`"plugin":{"type":"string"},`+
		`"disable_model_invocation":{"type":"boolean","description":"Only the user may choose the agent"},`+
		`"user_invocable":{"type":"boolean","description":"The user may choose the agent"},`+
		`"loadable":{"type":"boolean","description":"Always true"},`+
		`"shadows":{"type":"array","items":{"type":"string"},"description":"Agents of the same name that are not served"},`+
		`"diagnostics":{"type":"array","items":{"type":"object"},"description":"Problems in the agent's file"}`,
		"name", "description", "content", "frontmatter", "path")
}
