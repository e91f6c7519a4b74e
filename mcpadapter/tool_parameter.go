package mcpadapter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A parameter describes one argument of a tool. The parameter is the source of both the
// input schema and the check of the values.
type parameter struct {
	name         string
	kind         argumentKind
	description  string
	required     bool
	defaultValue string   // as JSON; "" for no default
	minimum      int      // of an integer; noMinimum for none
	maximum      int      // of an integer, of the characters of a string, or of the items of an array; 0 for no limit
	enum         []string // the accepted strings; nil for any string
	examples     []string
	hint         string         // an accepted value; only for error messages
	code         toolshelf.Code // of the error for an invalid value; "" for codeArguments
	option       string         // the toolshelf option for the value, if toolshelf can reject a value that decode accepts; only for error messages
}

type argumentKind string

const (
	stringKind  argumentKind = "string"
	integerKind argumentKind = "integer"
	booleanKind argumentKind = "boolean"
	stringsKind argumentKind = "array" // of strings
)

// codeArguments is the code of arguments that do not fit the input schema.
const codeArguments toolshelf.Code = "INVALID_ARGUMENTS"

// noMinimum is the minimum of an integer that may be negative.
const noMinimum = math.MinInt

// maxSafeInteger is the largest integer that a float64 distinguishes from its neighbors.
const maxSafeInteger = 1<<53 - 1

// An argumentError states the problem of a call's arguments and the accepted values.
type argumentError struct {
	code    toolshelf.Code
	message string
}

func (p parameter) invalid(found string) *argumentError {
	code := p.code
	if code == "" {
		code = codeArguments
	}
	return &argumentError{code, fmt.Sprintf("%s is %s; send %s", p.name, found, p.expected())}
}

// expected describes the accepted values.
func (p parameter) expected() string {
	switch {
	case p.kind == integerKind && p.maximum > 0:
		return fmt.Sprintf("a whole number from %d to %d", p.minimum, p.maximum)
	case p.kind == integerKind && p.minimum == noMinimum:
		return "a whole number"
	case p.kind == integerKind:
		return fmt.Sprintf("a whole number of %d or more", p.minimum)
	case p.kind == booleanKind:
		return "true or false"
	case p.kind == stringsKind && p.maximum > 0:
		return fmt.Sprintf("an array of at most %d strings, such as %s", p.maximum, cmp.Or(p.hint, `["node_modules", "*.log"]`))
	case p.kind == stringsKind:
		return `an array of strings, such as ["node_modules", "*.log"]`
	case p.enum != nil:
		return "one of " + strings.Join(p.enum, ", ")
	case p.hint != "":
		return "a string, " + p.hint
	default:
		return "a string"
	}
}

// arguments are the checked arguments of a call, by name. A value is a string, int,
// bool or []string. An omitted argument without a default has no value.
type arguments map[string]any

func (a arguments) string(name string) string    { s, _ := a[name].(string); return s }
func (a arguments) integer(name string) int      { n, _ := a[name].(int); return n }
func (a arguments) boolean(name string) bool     { b, _ := a[name].(bool); return b }
func (a arguments) strings(name string) []string { l, _ := a[name].([]string); return l }

// decodeArguments decodes and checks the arguments of a call.
//
// decodeArguments accepts harmless deviations of models: null for an omitted argument,
// "10" and 10.0 for 10, and empty input for {}.
func decodeArguments(raw json.RawMessage, parameters []parameter) (arguments, *argumentError) {
	given := map[string]json.RawMessage{}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			found := "not an object"
			if !json.Valid(raw) {
				found = "not valid JSON"
			}
			return nil, &argumentError{codeArguments, "the arguments are " + found + "; send a JSON object, such as " + exampleArguments(parameters)}
		}
	}
	var known []string
	for _, p := range parameters {
		known = append(known, p.name)
	}
	if err := checkNames("the tool", given, known); err != nil {
		return nil, err
	}
	args := make(arguments, len(parameters))
	for _, p := range parameters {
		value, ok := given[p.name]
		if !ok || string(value) == "null" {
			if p.required {
				return nil, p.invalid("missing")
			}
			value = json.RawMessage(p.defaultValue)
		}
		if len(value) == 0 {
			continue
		}
		v, err := p.decode(value)
		if err != nil {
			return nil, err
		}
		args[p.name] = v
	}
	return args, nil
}

// checkNames rejects arguments that the tool, or an object among its arguments, does
// not take.
func checkNames[V any](of string, given map[string]V, known []string) *argumentError {
	var unknown []string
	for name := range given {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	if unknown == nil {
		return nil
	}
	return &argumentError{codeArguments, unknownArguments(of, unknown, known).Message}
}

func (p parameter) decode(value json.RawMessage) (any, *argumentError) {
	switch p.kind {
	case integerKind:
		return p.decodeInteger(value)
	case booleanKind:
		switch string(value) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
	case stringsKind:
		var list []*string // pointers, because null is not a string
		if json.Unmarshal(value, &list) == nil && !slices.Contains(list, nil) && (p.maximum == 0 || len(list) <= p.maximum) {
			items := make([]string, len(list))
			for i, s := range list {
				items[i] = *s
			}
			return items, nil
		}
	default:
		var s string
		if value[0] != '"' || json.Unmarshal(value, &s) != nil {
			break
		}
		if p.enum != nil && !slices.Contains(p.enum, s) {
			return nil, p.invalid(quote(s))
		}
		return s, nil
	}
	return nil, p.invalid(describeValue(value))
}

func (p parameter) decodeInteger(value json.RawMessage) (any, *argumentError) {
	digits := string(value)
	if value[0] == '"' {
		if json.Unmarshal(value, &digits) != nil || !isNumber(digits) {
			return nil, p.invalid(describeValue(value))
		}
	} else if !isNumber(digits) {
		return nil, p.invalid(describeValue(value))
	}
	n, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil, p.minimum != noMinimum && n < float64(p.minimum), p.maximum > 0 && n > float64(p.maximum), n != math.Trunc(n):
		return nil, p.invalid(describeValue(value))
	}
	// No list has more items than the largest int of a 32-bit platform, so a number of
	// larger magnitude has the same effect.
	const largest = min(math.MaxInt, maxSafeInteger)
	return int(max(-largest, min(n, largest))), nil
}

// isNumber reports whether s is a JSON number. ParseFloat accepts more, such as "0x1".
func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || '0' <= s[0] && s[0] <= '9') && json.Valid([]byte(s))
}

// describeValue describes a value in a few words.
func describeValue(value json.RawMessage) string {
	const maxBytes = 60
	switch {
	case value[0] == '{':
		return "an object"
	case value[0] == '[':
		return "an array"
	case len(value) <= maxBytes:
		return string(value)
	case value[0] == '"':
		return "a long string"
	default:
		return "a long number"
	}
}

// exampleArguments returns an object of valid arguments.
func exampleArguments(parameters []parameter) string {
	b := []byte{'{'}
	for _, p := range parameters {
		if !p.required {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',', ' ')
		}
		b = append(escape.AppendJSON(b, p.name), ':', ' ')
		switch p.kind {
		case stringKind:
			b = append(b, `"…"`...)
		case booleanKind:
			b = append(b, "true"...)
		default:
			b = strconv.AppendInt(b, int64(p.minimum), 10)
		}
	}
	return string(append(b, '}'))
}

// inputSchema returns the JSON Schema of the parameters.
func inputSchema(parameters []parameter) json.RawMessage {
	b := []byte(`{"type":"object","properties":{`)
	required := []byte{'['}
	for i, p := range parameters {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(escape.AppendJSON(b, p.name), ':')
		b = p.appendSchema(b)
		if p.required {
			if len(required) > 1 {
				required = append(required, ',')
			}
			required = escape.AppendJSON(required, p.name)
		}
	}
	b = append(b, `},"required":`...)
	b = append(append(b, required...), ']')
	return append(b, `,"additionalProperties":false}`...)
}

func (p parameter) appendSchema(b []byte) []byte {
	b = append(b, `{"type":`...)
	b = escape.AppendJSON(b, string(p.kind))
	if p.kind == stringsKind {
		b = append(b, `,"items":{"type":"string"}`...)
		if p.maximum > 0 {
			b = strconv.AppendInt(append(b, `,"maxItems":`...), int64(p.maximum), 10)
		}
	}
	b = append(b, `,"description":`...)
	b = escape.AppendJSON(b, p.description)
	if p.defaultValue != "" {
		b = append(append(b, `,"default":`...), p.defaultValue...)
	}
	if p.kind == integerKind {
		if p.minimum != noMinimum {
			b = strconv.AppendInt(append(b, `,"minimum":`...), int64(p.minimum), 10)
		}
		if p.maximum > 0 {
			b = strconv.AppendInt(append(b, `,"maximum":`...), int64(p.maximum), 10)
		}
	}
	if p.kind == stringKind && p.maximum > 0 {
		b = strconv.AppendInt(append(b, `,"maxLength":`...), int64(p.maximum), 10)
	}
	b = appendStrings(b, "enum", p.enum)
	b = appendStrings(b, "examples", p.examples)
	return append(b, '}')
}

func appendStrings(b []byte, key string, values []string) []byte {
	if values == nil {
		return b
	}
	b = append(append(escape.AppendJSON(append(b, ','), key), ':'), '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = escape.AppendJSON(b, v)
	}
	return append(b, ']')
}
