package fakeapi

import (
	"encoding/json"
	"fmt"
)

// OpenAIResponses is the Responses API. The API stores the conversation: a request has only new
// items.
var OpenAIResponses = Wire{
	path:          "/responses",
	textArguments: true,
	decode:        decodeOpenAIResponses,
	encode:        encodeOpenAIResponses,
	check:         checkOpenAI,
}

// responseItems is a list of items, or the text of a user.
type responseItems []struct {
	Type, Output string
	CallID       string `json:"call_id"`
}

func (i *responseItems) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return nil
	}
	type items responseItems
	return json.Unmarshal(raw, (*items)(i))
}

func decodeOpenAIResponses(body []byte) (request Request, err error) {
	var in struct {
		Instructions string
		Previous     string `json:"previous_response_id"`
		Tools        []struct {
			Type, Name, Description string
			Parameters              map[string]any
			Strict                  bool
		}
		Input responseItems
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return request, err
	}
	request.Instructions = in.Instructions
	for _, tool := range in.Tools {
		request.Tools = append(request.Tools, Tool{tool.Name, tool.Description, tool.Parameters, tool.Strict})
	}
	for _, item := range in.Input {
		if item.Type == "function_call_output" {
			request.Answers = append(request.Answers, Answer{CallID: item.CallID, Text: item.Output})
		}
	}
	if len(request.Answers) > 0 && in.Previous != "resp_1" {
		return request, fmt.Errorf("answers without the ID of their response")
	}
	return request, nil
}

func encodeOpenAIResponses(turn Turn) any {
	content := []any{map[string]any{"type": "output_text", "text": turn.Text, "annotations": []any{}}}
	output := []any{map[string]any{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}}
	if len(turn.Calls) > 0 {
		output = nil
	}
	for _, call := range turn.Calls {
		output = append(output, map[string]any{"type": "function_call", "id": "fc_" + call.ID, "status": "completed",
			"call_id": call.ID, "name": call.Name, "arguments": call.Arguments})
	}
	return map[string]any{"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "gpt", "output": output}
}
