// Package genkit connects a catalog to Genkit.
package genkit

import (
	"context"
	"errors"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func tools(adapter *mcpadapter.Adapter) (all []ai.ToolRef) {
	for _, t := range adapter.Tools() {
		all = append(all, ai.NewTool(t.Name, t.Description, func(ctx *ai.ToolContext, input any) (map[string]any, error) {
			arguments, _ := input.(map[string]any)
			return adapter.AnswerMap(ctx, t.Name, arguments), nil // an error would end Generate
		}, ai.WithInputSchema(t.Schema())))
	}
	return all
}

func answers(ctx context.Context, adapter *mcpadapter.Adapter, r *ai.ModelResponse) (all []*ai.Part) {
	for _, call := range r.ToolRequests() {
		arguments, _ := call.Input.(map[string]any)
		all = append(all, ai.NewToolResponsePart(&ai.ToolResponse{Name: call.Name, Ref: call.Ref, Output: adapter.AnswerMap(ctx, call.Name, arguments)}))
	}
	return all
}

// Ask returns the model's answer to a question. The instructions are the text of
// Catalog.SkillsPrompt.
func Ask(ctx context.Context, g *genkit.Genkit, adapter *mcpadapter.Adapter, instructions, question string) (string, error) {
	messages := []*ai.Message{ai.NewUserTextMessage(question)}
	for range 20 {
		r, err := genkit.Generate(ctx, g, ai.WithSystem("%s", instructions), ai.WithMessages(messages...), ai.WithTools(tools(adapter)...),
			ai.WithReturnToolRequests(true)) // Generate would end on an unknown tool or an argument of the wrong type
		if err != nil {
			return "", err
		}
		parts := answers(ctx, adapter, r)
		if len(parts) == 0 {
			return r.Text(), nil
		}
		messages = append(messages, r.Message, ai.NewMessage(ai.RoleTool, nil, parts...))
	}
	return "", errors.New("no answer in 20 turns")
}
