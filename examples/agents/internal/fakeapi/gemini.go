package fakeapi

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Gemini is the method generateContent of the Gemini API. The text of an answer is a JSON object.
var Gemini = Wire{
	path:   ":generateContent",
	decode: decodeGemini,
	encode: encodeGemini,
	check:  names(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`),
}

// A geminiSchema is the OpenAPI schema of parameters. The API refuses other fields.
type geminiSchema struct {
	Type             string                   `json:"type,omitempty"`
	Format           string                   `json:"format,omitempty"`
	Title            string                   `json:"title,omitempty"`
	Description      string                   `json:"description,omitempty"`
	Nullable         bool                     `json:"nullable,omitempty"`
	Enum             []string                 `json:"enum,omitempty"`
	Default          any                      `json:"default,omitempty"`
	Example          any                      `json:"example,omitempty"`
	Items            *geminiSchema            `json:"items,omitempty"`
	AnyOf            []*geminiSchema          `json:"anyOf,omitempty"`
	Properties       map[string]*geminiSchema `json:"properties,omitempty"`
	PropertyOrdering []string                 `json:"propertyOrdering,omitempty"`
	Required         []string                 `json:"required,omitempty"`
	Minimum          *float64                 `json:"minimum,omitempty"`
	Maximum          *float64                 `json:"maximum,omitempty"`
	Pattern          string                   `json:"pattern,omitempty"`
	// The API has these integers as texts.
	MinItems, MaxItems, MinLength, MaxLength, MinProperties, MaxProperties *json.Number
}

// asJSON returns a schema of parameters as JSON Schema, with types in small letters.
func (s *geminiSchema) asJSON() (schema map[string]any, err error) {
	raw, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(raw, &schema)
	}
	return schema, err
}

func (s *geminiSchema) lower() {
	if s == nil {
		return
	}
	s.Type = strings.ToLower(s.Type)
	s.Items.lower()
	for _, property := range s.Properties {
		property.lower()
	}
	for _, alternative := range s.AnyOf {
		alternative.lower()
	}
}

func decodeGemini(body []byte) (request Request, err error) {
	type content struct {
		Role  string
		Parts []struct {
			Text             string
			FunctionResponse *struct {
				ID, Name string
				Response map[string]any
			}
		}
	}
	var in struct {
		SystemInstruction content
		Contents          []content
		Tools             []struct {
			FunctionDeclarations []struct {
				Name, Description    string
				ParametersJSONSchema map[string]any
				Parameters           json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return request, err
	}
	for _, part := range in.SystemInstruction.Parts {
		request.Instructions += part.Text
	}
	for _, tool := range in.Tools {
		for _, f := range tool.FunctionDeclarations {
			schema := f.ParametersJSONSchema
			if f.Parameters != nil {
				var old geminiSchema
				strict := json.NewDecoder(strings.NewReader(string(f.Parameters)))
				strict.DisallowUnknownFields()
				if err := strict.Decode(&old); err != nil {
					return request, fmt.Errorf("parameters of %s: %w", f.Name, err)
				}
				old.lower()
				if schema, err = old.asJSON(); err != nil {
					return request, err
				}
			}
			request.Tools = append(request.Tools, Tool{Name: f.Name, Description: f.Description, Schema: schema})
		}
	}
	for _, content := range in.Contents {
		if content.Role == "model" {
			request.Answers = nil
		}
		for _, part := range content.Parts {
			if r := part.FunctionResponse; r != nil {
				text, err := json.Marshal(r.Response)
				if err != nil {
					return request, err
				}
				_, failed := r.Response["error"]
				request.Answers = append(request.Answers, Answer{r.ID, r.Name, string(text), failed})
			}
		}
	}
	return request, nil
}

func encodeGemini(turn Turn) any {
	parts := []any{}
	if turn.Text != "" {
		parts = append(parts, map[string]any{"text": turn.Text})
	}
	for _, call := range turn.Calls {
		function := map[string]any{"id": call.ID, "name": call.Name, "args": json.RawMessage(call.Arguments)}
		parts = append(parts, map[string]any{"functionCall": function})
	}
	candidate := map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
	return map[string]any{"candidates": []any{candidate}, "modelVersion": "gemini"}
}
