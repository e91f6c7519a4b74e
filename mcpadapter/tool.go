package mcpadapter

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A Tool is what a model can call: its description, in the terms of the Model
// Context Protocol, and the function behind it.
type Tool struct {
	Name        string // as it is called; with the namespace, if there is one
	Title       string // for people; may be empty
	Description string // for the model

	// InputSchema and OutputSchema are JSON Schemas (2020-12) whose root has
	// type "object". Of an extra tool, either may be missing: an InputSchema
	// then admits any object, and results have no structured content, or any.
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage

	Annotations Annotations

	// Call runs the tool. The arguments are one JSON object; nothing at all
	// and null stand for an empty one. What is wrong with the arguments or
	// happens in the tool is a Result with IsError, which the model can react
	// to. The error is for the caller: of the tools of this package only the
	// context's.
	Call func(ctx context.Context, arguments json.RawMessage) (Result, error)
}

// Annotations tell a client how a tool behaves. The zero value says nothing,
// which a client takes for the worst: a tool that destroys.
type Annotations struct {
	ReadOnlyHint    bool  `json:"readOnlyHint"`              // it changes nothing
	DestructiveHint *bool `json:"destructiveHint,omitempty"` // it may delete or overwrite; nil is true
	IdempotentHint  bool  `json:"idempotentHint"`            // calling it again changes nothing more
	OpenWorldHint   *bool `json:"openWorldHint,omitempty"`   // it deals with a world without borders, as a web search does; nil is true
}

// A Result is what a tool returns.
type Result struct {
	Text       string          // for the model
	Structured json.RawMessage // the same as a JSON object, as the tool's OutputSchema has it; nil for none
	IsError    bool            // the call failed, and the text says why
}

// MarshalJSON returns the tool as tools/list has it.
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
	return encode(wire)
}

// MarshalJSON returns the result as tools/call has it: the text as the one
// block of content.
func (r Result) MarshalJSON() ([]byte, error) { return r.appendJSON([]byte{'{'}), nil }

// appendJSON adds the members of the result's object, and closes it.
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

// encode is json.Marshal without the escapes that are for HTML: a model is to
// read "<", not "\u003c".
func encode(v any) (json.RawMessage, error) {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.Clone(bytes.TrimSuffix(b.Bytes(), []byte{'\n'})), nil
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
