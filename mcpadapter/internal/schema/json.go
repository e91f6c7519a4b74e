package schema

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// DecodeObject decodes a JSON object, with the types of Tool.Schema. ok is false for all other
// input.
func DecodeObject(raw json.RawMessage) (object map[string]any, ok bool) {
	if object, ok = decodeNumbers(raw); !ok {
		return nil, false
	}
	return withFloats(object).(map[string]any), true
}

// decodeNumbers is DecodeObject with a json.Number for each number.
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

// MaxNesting is the maximum nesting depth of a tool's JSON. Some JSON decoders accept
// at most 1,000 levels for a whole message.
const MaxNesting = 500

// Compact returns a JSON object without white space. ok is false for other input, for text
// that is not UTF-8, and for more than MaxNesting levels.
func Compact(raw json.RawMessage) (compact json.RawMessage, ok bool) {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil || b.Bytes()[0] != '{' || !utf8.Valid(raw) {
		return nil, false
	}
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxNesting {
				return nil, false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return b.Bytes(), true
}

// textJSON returns a JSON string.
func textJSON(s string) string { return string(escape.AppendJSON(nil, s)) }
