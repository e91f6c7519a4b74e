package mcpadapter

import (
	"context"
	"encoding/json"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

// A Tool is a function that a model can call, with its description in terms of the
// Model Context Protocol.
type Tool struct {
	Name        string // the name in calls, including the namespace
	Title       string // for people; may be empty
	Description string // for the model

	// InputSchema and OutputSchema are JSON Schemas (2020-12) whose root has the
	// type "object". An extra tool may omit both. Without an InputSchema, the tool
	// accepts any object. Without an OutputSchema, results may have any structured
	// content, or none.
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage

	Annotations Annotations

	// Call runs the tool. The arguments are a JSON object. Empty input and null
	// mean an empty object. For invalid arguments and failures of the tool, Call
	// returns a Result with IsError for the model. The error is for the caller. A
	// tool of this package returns no error except the context's error. Adapter.Call
	// returns a panic as an error.
	Call func(ctx context.Context, arguments json.RawMessage) (Result, error)
}

// Annotations describe the behavior of a tool to a client. For the zero value, a
// client assumes the worst case: a destructive tool.
type Annotations struct {
	ReadOnlyHint    bool  `json:"readOnlyHint"`              // the tool changes nothing
	DestructiveHint *bool `json:"destructiveHint,omitempty"` // the tool may delete or overwrite; nil means true
	IdempotentHint  bool  `json:"idempotentHint"`            // a repeated call has no further effect
	OpenWorldHint   *bool `json:"openWorldHint,omitempty"`   // the tool reaches external systems, as a web search does; nil means true
}

// Schema returns the InputSchema as a map, for frameworks that take a schema as a
// value. Each call returns a new map, which the caller may change. Without an
// InputSchema, and with an InputSchema that is not a JSON object, Schema returns
// {"type": "object"}.
//
// Values have the types of encoding/json: map[string]any, []any, string, float64,
// bool and nil. An integer of 2^53 or more in magnitude, which a float64 may round,
// and a number beyond the range of float64 are a json.Number.
func (t Tool) Schema() map[string]any {
	object, ok := schema.DecodeObject(t.InputSchema)
	if !ok {
		return map[string]any{"type": "object"}
	}
	return object
}

// A Result is the result of a tool call.
type Result struct {
	Text       string          // for the model
	Structured json.RawMessage // the same content, or the error, as a JSON object that fits the OutputSchema; nil for none
	IsError    bool            // the call failed, and Text states the reason
}

// MarshalJSON returns the tool in the form of tools/list.
func (t Tool) MarshalJSON() ([]byte, error) {
	wire := struct {
		Name         string          `json:"name"`
		Title        string          `json:"title,omitempty"`
		Description  string          `json:"description,omitempty"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
		Annotations  *Annotations    `json:"annotations,omitempty"`
	}{t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema, nil}
	if t.Annotations != (Annotations{}) {
		wire.Annotations = &t.Annotations
	}
	return escape.Marshal(wire)
}

// MarshalJSON returns the result in the form of tools/call, with the text as a single
// content block.
func (r Result) MarshalJSON() ([]byte, error) { return r.appendJSON([]byte{'{'}), nil }

// appendJSON appends the members of the result's object and the closing brace.
func (r Result) appendJSON(dst []byte) []byte {
	dst = append(dst, `"content":[{"type":"text","text":`...)
	dst = escape.AppendJSON(dst, r.Text)
	dst = append(dst, `}]`...)
	if r.Structured != nil {
		dst = append(dst, `,"structuredContent":`...)
		dst = append(dst, r.Structured...)
	}
	if r.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	return append(dst, '}')
}
