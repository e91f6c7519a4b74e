// Package anthropic connects a catalog to anthropic-sdk-go.
package anthropic

import (
	"context"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// The adapter has the option WithDialect(mcpadapter.AnthropicStrict), because the tools are strict.
func tools(adapter *mcpadapter.Adapter) (all []anthropic.ToolUnionParam) {
	for _, t := range adapter.Tools() {
		all = append(all, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{Name: t.Name, Description: anthropic.String(t.Description),
			InputSchema: param.Override[anthropic.ToolInputSchemaParam](t.InputSchema), Strict: anthropic.Bool(true)}})
	}
	return all
}

func answers(ctx context.Context, adapter *mcpadapter.Adapter, m *anthropic.Message) (all []anthropic.ContentBlockParamUnion) {
	for _, block := range m.Content {
		if block.Type == "tool_use" {
			text, isError := adapter.Answer(ctx, block.Name, block.Input)
			all = append(all, anthropic.NewToolResultBlock(block.ID, text, isError))
		}
	}
	return all
}

// Ask returns the model's answer to a question. The instructions are the text of
// Catalog.SkillsPrompt.
func Ask(ctx context.Context, client anthropic.Client, adapter *mcpadapter.Adapter, instructions, question string) (string, error) {
	params := anthropic.MessageNewParams{
		Model: anthropic.ModelClaudeSonnet5, MaxTokens: 8192,
		System:   []anthropic.TextBlockParam{{Text: instructions}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(question))},
		Tools:    tools(adapter),
	}
	for range 20 {
		m, err := client.Messages.New(ctx, params)
		if err != nil {
			return "", err
		}
		if m.StopReason != anthropic.StopReasonToolUse {
			said := ""
			for _, block := range m.Content {
				said += block.Text
			}
			return said, nil
		}
		params.Messages = append(params.Messages, m.ToParam(), anthropic.NewUserMessage(answers(ctx, adapter, m)...))
	}
	return "", errors.New("no answer in 20 turns")
}
