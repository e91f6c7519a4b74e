// Package openai connects a catalog to openai-go.
package openai

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// The adapter has the option WithDialect(mcpadapter.OpenAIStrict), because the tools are strict.
func chatTools(adapter *mcpadapter.Adapter) (all []openai.ChatCompletionToolUnionParam) {
	for _, t := range adapter.Tools() {
		all = append(all, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: t.Name, Description: openai.String(t.Description), Parameters: t.Schema(), Strict: openai.Bool(true)}))
	}
	return all
}

func chatAnswers(ctx context.Context, adapter *mcpadapter.Adapter, m openai.ChatCompletionMessage) (all []openai.ChatCompletionMessageParamUnion) {
	for _, call := range m.ToolCalls {
		text, _ := adapter.Answer(ctx, call.Function.Name, json.RawMessage(call.Function.Arguments))
		all = append(all, openai.ToolMessage(text, call.ID))
	}
	return all
}

// AskChat returns the model's answer to a question. The instructions are the text of
// Catalog.SkillsPrompt.
func AskChat(ctx context.Context, client openai.Client, adapter *mcpadapter.Adapter, instructions, question string) (string, error) {
	params := openai.ChatCompletionNewParams{
		Model:    openai.ChatModelGPT5_4,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(instructions), openai.UserMessage(question)},
		Tools:    chatTools(adapter),
	}
	for range 20 {
		r, err := client.Chat.Completions.New(ctx, params)
		if err != nil {
			return "", err
		}
		m := r.Choices[0].Message
		if len(m.ToolCalls) == 0 {
			return m.Content, nil
		}
		params.Messages = append(append(params.Messages, m.ToParam()), chatAnswers(ctx, adapter, m)...)
	}
	return "", errors.New("no answer in 20 turns")
}
