package openai

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// The adapter has the option WithDialect(mcpadapter.OpenAIStrict), because the tools are strict.
func responseTools(adapter *mcpadapter.Adapter) (all []responses.ToolUnionParam) {
	for _, t := range adapter.Tools() {
		all = append(all, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
			Name: t.Name, Description: openai.String(t.Description), Parameters: t.Schema(), Strict: openai.Bool(true)}})
	}
	return all
}

func responseAnswers(ctx context.Context, adapter *mcpadapter.Adapter, r *responses.Response) (all responses.ResponseInputParam) {
	for _, item := range r.Output {
		if item.Type == "function_call" {
			text, _ := adapter.Answer(ctx, item.Name, json.RawMessage(item.Arguments.OfString))
			all = append(all, responses.ResponseInputItemParamOfFunctionCallOutput(text))
			all[len(all)-1].OfFunctionCallOutput.CallID = openai.String(item.CallID)
		}
	}
	return all
}

// AskResponses is AskChat with the Responses API, which stores the conversation.
func AskResponses(ctx context.Context, client openai.Client, adapter *mcpadapter.Adapter, instructions, question string) (string, error) {
	params := responses.ResponseNewParams{
		Model:        openai.ChatModelGPT5_4,
		Instructions: openai.String(instructions),
		Input:        responses.ResponseNewParamsInputUnion{OfString: openai.String(question)},
		Tools:        responseTools(adapter),
	}
	for range 20 {
		r, err := client.Responses.New(ctx, params)
		if err != nil {
			return "", err
		}
		answers := responseAnswers(ctx, adapter, r)
		if len(answers) == 0 {
			return r.OutputText(), nil
		}
		params.PreviousResponseID = openai.String(r.ID)
		params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: answers}
	}
	return "", errors.New("no answer in 20 turns")
}
