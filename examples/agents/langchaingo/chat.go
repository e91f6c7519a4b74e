// Package langchaingo connects a catalog to langchaingo.
package langchaingo

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/tmc/langchaingo/llms"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func tools(adapter *mcpadapter.Adapter) (all []llms.Tool) {
	for _, t := range adapter.Tools() {
		all = append(all, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.InputSchema}})
	}
	return all
}

func answers(ctx context.Context, adapter *mcpadapter.Adapter, choice *llms.ContentChoice) (all []llms.MessageContent) {
	for _, call := range choice.ToolCalls {
		text, _ := adapter.Answer(ctx, call.FunctionCall.Name, json.RawMessage(call.FunctionCall.Arguments))
		all = append(all, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
			llms.ToolCallResponse{ToolCallID: call.ID, Name: call.FunctionCall.Name, Content: text}}})
	}
	return all
}

// Ask returns the model's answer to a question. The instructions are the text of
// Catalog.SkillsPrompt.
func Ask(ctx context.Context, model llms.Model, adapter *mcpadapter.Adapter, instructions, question string) (string, error) {
	messages := []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, instructions),
		llms.TextParts(llms.ChatMessageTypeHuman, question),
	}
	for range 20 {
		r, err := model.GenerateContent(ctx, messages, llms.WithTools(tools(adapter)))
		if err != nil {
			return "", err
		}
		choice := r.Choices[0]
		if len(choice.ToolCalls) == 0 {
			return choice.Content, nil
		}
		calls := llms.MessageContent{Role: llms.ChatMessageTypeAI}
		for _, call := range choice.ToolCalls {
			calls.Parts = append(calls.Parts, call)
		}
		messages = append(append(messages, calls), answers(ctx, adapter, choice)...)
	}
	return "", errors.New("no answer in 20 turns")
}
