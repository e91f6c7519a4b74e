package fakeapi

import (
	"encoding/json"
	"fmt"
)

// OpenAIChat is the Chat Completions API.
var OpenAIChat = Wire{
	path:          "/chat/completions",
	textArguments: true,
	decode:        decodeOpenAIChat,
	encode:        encodeOpenAIChat,
	check:         checkOpenAI,
}

// A chatContent is a text, or a list of texts.
type chatContent string

func (c *chatContent) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] != '[' {
		return json.Unmarshal(raw, (*string)(c))
	}
	var parts []struct{ Text string }
	err := json.Unmarshal(raw, &parts)
	for _, part := range parts {
		*c += chatContent(part.Text)
	}
	return err
}

func decodeOpenAIChat(body []byte) (request Request, err error) {
	var in struct {
		Tools []struct {
			Type     string
			Function struct {
				Name, Description string
				Parameters        map[string]any
				Strict            bool
			}
		}
		Messages []struct {
			Role       string
			Content    chatContent
			ToolCallID string `json:"tool_call_id"`
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return request, err
	}
	for _, tool := range in.Tools {
		f := tool.Function
		request.Tools = append(request.Tools, Tool{f.Name, f.Description, f.Parameters, f.Strict})
	}
	for _, message := range in.Messages {
		switch message.Role {
		case "system":
			request.Instructions += string(message.Content)
		case "assistant":
			request.Answers = nil
		case "tool":
			request.Answers = append(request.Answers, Answer{CallID: message.ToolCallID, Text: string(message.Content)})
		}
	}
	return request, nil
}

func encodeOpenAIChat(turn Turn) any {
	message, reason := map[string]any{"role": "assistant", "content": turn.Text}, "stop"
	if len(turn.Calls) > 0 {
		var calls []any
		for _, call := range turn.Calls {
			function := map[string]string{"name": call.Name, "arguments": call.Arguments}
			calls = append(calls, map[string]any{"id": call.ID, "type": "function", "function": function})
		}
		message, reason = map[string]any{"role": "assistant", "content": nil, "tool_calls": calls}, "tool_calls"
	}
	return map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt",
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": reason}},
		"usage":   map[string]int{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	}
}

// checkOpenAI applies the rules of tools, and of tools with strict.
func checkOpenAI(tools []Tool) error {
	if err := names(`^[a-zA-Z0-9_-]{1,64}$`)(tools); err != nil {
		return err
	}
	for _, tool := range tools {
		if !tool.Strict {
			continue
		}
		if err := objects(tool.Schema, func(schema map[string]any) error {
			if all := optional(schema); len(all) > 0 {
				return fmt.Errorf("required must have %q", all)
			}
			if err := without(schema, "default", "examples", "allOf", "not", "dependentRequired", "if"); err != nil {
				return err
			}
			return closed(schema)
		}); err != nil {
			return fmt.Errorf("strict tool %s: %w", tool.Name, err)
		}
	}
	return nil
}
