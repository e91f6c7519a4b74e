// Package genai connects a catalog to genai.
package genai

import (
	"context"
	"errors"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"google.golang.org/genai"
)

func tools(adapter *mcpadapter.Adapter) (all []*genai.FunctionDeclaration) {
	for _, t := range adapter.Tools() {
		all = append(all, &genai.FunctionDeclaration{Name: t.Name, Description: t.Description, ParametersJsonSchema: t.InputSchema})
	}
	return all
}

func answers(ctx context.Context, adapter *mcpadapter.Adapter, r *genai.GenerateContentResponse) (all []*genai.Part) {
	for _, call := range r.FunctionCalls() {
		all = append(all, genai.NewPartFromFunctionResponse(call.Name, adapter.AnswerMap(ctx, call.Name, call.Args)))
		all[len(all)-1].FunctionResponse.ID = call.ID
	}
	return all
}

// Ask returns the model's answer to a question. The instructions are the text of
// Catalog.SkillsPrompt.
func Ask(ctx context.Context, client *genai.Client, adapter *mcpadapter.Adapter, instructions, question string) (string, error) {
	config := &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText(instructions, genai.RoleUser),
		Tools:             []*genai.Tool{{FunctionDeclarations: tools(adapter)}},
	}
	contents := genai.Text(question)
	for range 20 {
		r, err := client.Models.GenerateContent(ctx, "gemini-3-pro", contents, config)
		if err != nil {
			return "", err
		}
		parts := answers(ctx, adapter, r)
		if len(parts) == 0 {
			return r.Text(), nil
		}
		contents = append(contents, r.Candidates[0].Content, genai.NewContentFromParts(parts, genai.RoleUser))
	}
	return "", errors.New("no answer in 20 turns")
}
