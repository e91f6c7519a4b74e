// Package eino connects a catalog to Eino.
package eino

import (
	"context"
	"encoding/json"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

type shelfTool struct {
	*mcpadapter.Adapter
	mcpadapter.Tool
}

func (t shelfTool) Info(context.Context) (*schema.ToolInfo, error) {
	parameters := new(jsonschema.Schema)
	err := json.Unmarshal(t.InputSchema, parameters)
	return &schema.ToolInfo{Name: t.Name, Desc: t.Description, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(parameters)}, err
}

func (t shelfTool) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	text, _ := t.Answer(ctx, t.Name, json.RawMessage(arguments))
	return text, nil // an error would end the run
}

func tools(adapter *mcpadapter.Adapter) (config compose.ToolsNodeConfig) {
	for _, t := range adapter.Tools() {
		config.Tools = append(config.Tools, shelfTool{adapter, t})
	}
	config.UnknownToolsHandler = func(ctx context.Context, name, arguments string) (string, error) {
		return shelfTool{adapter, mcpadapter.Tool{Name: name}}.InvokableRun(ctx, arguments)
	}
	return config
}

// Ask returns the model's answer to a question. The instructions are the text of
// Catalog.SkillsPrompt.
func Ask(ctx context.Context, model model.ToolCallingChatModel, adapter *mcpadapter.Adapter, instructions, question string) (string, error) {
	agent, err := react.NewAgent(ctx, &react.AgentConfig{ToolCallingModel: model, ToolsConfig: tools(adapter), MaxStep: 40})
	if err != nil {
		return "", err
	}
	m, err := agent.Generate(ctx, []*schema.Message{schema.SystemMessage(instructions), schema.UserMessage(question)})
	if err != nil {
		return "", err
	}
	return m.Content, nil
}
