package mcpadapter

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Schema returns the InputSchema as a map, for frameworks that take a schema as a
// value. Each call returns a new map, which the caller may change. Without an
// InputSchema, and with an InputSchema that is not a JSON object, Schema returns
// {"type": "object"}.
//
// Values have the types of encoding/json: map[string]any, []any, string, float64,
// bool and nil. An integer of 2^53 or more in magnitude, which a float64 may round,
// and a number beyond the range of float64 are a json.Number.
func (t Tool) Schema() map[string]any {
	schema, ok := decodeObject(t.InputSchema)
	if !ok {
		return map[string]any{"type": "object"}
	}
	return schema
}

// decodeObject decodes a JSON object. ok is false for all other input.
func decodeObject(raw json.RawMessage) (object map[string]any, ok bool) {
	if object, ok = decodeNumbers(raw); !ok {
		return nil, false
	}
	return withFloats(object).(map[string]any), true
}

// decodeNumbers is decodeObject with a json.Number for each number.
func decodeNumbers(raw json.RawMessage) (object map[string]any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if !json.Valid(raw) || d.Decode(&object) != nil || object == nil {
		return nil, false
	}
	return object, true
}

// withFloats replaces each json.Number in a decoded value by a float64, unless the
// number is an integer that a float64 may round or is beyond the range of float64.
func withFloats(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = withFloats(v[name])
		}
	case []any:
		for i := range v {
			v[i] = withFloats(v[i])
		}
	case json.Number:
		f, err := v.Float64()
		isInteger := !strings.ContainsAny(v.String(), ".eE")
		if err == nil && (!isInteger || -maxSafeInteger <= f && f <= maxSafeInteger) {
			return f
		}
	}
	return value
}
