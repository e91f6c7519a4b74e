package fakeapi

import (
	"encoding/json"
	"fmt"
)

// Anthropic is the Messages API.
var Anthropic = Wire{
	path:   "/v1/messages",
	decode: decodeAnthropic,
	encode: encodeAnthropic,
	check:  checkAnthropic,
}

func decodeAnthropic(body []byte) (request Request, err error) {
	var in struct {
		System []struct{ Text string }
		Tools  []struct {
			Name, Description string
			InputSchema       map[string]any `json:"input_schema"`
			Strict            bool
		}
		Messages []struct {
			Role    string
			Content []struct {
				Type      string
				ToolUseID string `json:"tool_use_id"`
				IsError   bool   `json:"is_error"`
				Content   []struct{ Type, Text string }
			}
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return request, err
	}
	for _, block := range in.System {
		request.Instructions += block.Text
	}
	for _, tool := range in.Tools {
		request.Tools = append(request.Tools, Tool{tool.Name, tool.Description, tool.InputSchema, tool.Strict})
	}
	for _, block := range in.Messages[len(in.Messages)-1].Content {
		if block.Type == "tool_result" && len(block.Content) == 1 {
			request.Answers = append(request.Answers, Answer{CallID: block.ToolUseID, Text: block.Content[0].Text, IsError: block.IsError})
		}
	}
	return request, nil
}

func encodeAnthropic(turn Turn) any {
	content, reason := []map[string]any{}, "end_turn"
	if turn.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": turn.Text})
	}
	if len(turn.Calls) > 0 {
		reason = "tool_use"
	}
	for _, call := range turn.Calls {
		input := json.RawMessage(call.Arguments)
		content = append(content, map[string]any{"type": "tool_use", "id": call.ID, "name": call.Name, "input": input})
	}
	return map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": content,
		"stop_reason": reason, "stop_sequence": nil, "usage": map[string]int{"input_tokens": 1, "output_tokens": 1},
	}
}

// checkAnthropic applies the rules of tools, and of tools with strict, including the limits of the
// tools together.
func checkAnthropic(tools []Tool) error {
	if err := names(`^[a-zA-Z0-9_-]{1,128}$`)(tools); err != nil {
		return err
	}
	strict, omitted, unions := 0, 0, 0
	for _, tool := range tools {
		if !tool.Strict {
			continue
		}
		strict++
		if err := objects(tool.Schema, func(schema map[string]any) error {
			omitted += len(optional(schema))
			if union(schema) {
				unions++
			}
			if n, ok := schema["minItems"].(float64); ok && n > 1 {
				return fmt.Errorf("minItems is %v", n)
			}
			if err := without(schema, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
				"minLength", "maxLength", "maxItems", "uniqueItems", "minProperties", "maxProperties"); err != nil {
				return err
			}
			return closed(schema)
		}); err != nil {
			return fmt.Errorf("strict tool %s: %w", tool.Name, err)
		}
	}
	if strict > 20 || omitted > 24 || unions > 16 {
		return fmt.Errorf("%d strict tools with %d optional parameters and %d unions; the limits are 20, 24 and 16", strict, omitted, unions)
	}
	return nil
}
