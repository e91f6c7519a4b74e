// Package schema has the JSON Schemas of tools and the checks of their arguments: the parameters
// of the library's tools, the Go types of ToolFor, and the dialects of the APIs of models.
package schema

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

// A Parameter describes one argument of a tool. The Schema is the source of both the input schema
// and the check of the values.
type Parameter struct {
	Name     string
	Required bool
	Schema   json.RawMessage // JSON Schema of the values
	Hint     string          // an accepted value; only for error messages
	Code     toolshelf.Code  // of the error for an invalid value; "" for CodeArguments

	// Option is the toolshelf option for the value, if toolshelf can reject a value that
	// Decode accepts; only for error messages.
	Option string

	form form
}

// A form has the keywords of a Schema that Decode checks, and the default value.
type form struct {
	Type     Kind
	Default  json.RawMessage
	Minimum  *int
	Maximum  int // 0 for no limit
	MaxItems int
	Enum     []string
}

// UnmarshalJSON decodes a Parameter with its Schema.
func (p *Parameter) UnmarshalJSON(raw []byte) error {
	type plain Parameter
	if err := json.Unmarshal(raw, (*plain)(p)); err != nil {
		return err
	}
	return json.Unmarshal(p.Schema, &p.form)
}

// A Kind is the type of a value in JSON Schema. The zero Kind is any type.
type Kind string

// The kinds of the values. An array of a Parameter contains strings.
const (
	Any     Kind = ""
	String  Kind = "string"
	Integer Kind = "integer"
	Boolean Kind = "boolean"
	Array   Kind = "array"
	Number  Kind = "number"
	Object  Kind = "object"
)

// CodeArguments is the code of arguments that do not fit the input schema.
const CodeArguments toolshelf.Code = "INVALID_ARGUMENTS"

// maxSafeInteger is the largest integer that a float64 distinguishes from its neighbors.
const maxSafeInteger = 1<<53 - 1

// An Error states the problem of a call's arguments and the accepted values.
type Error struct {
	Code    toolshelf.Code
	Message string
}

func invalid(format string, args ...any) *Error {
	return &Error{CodeArguments, fmt.Sprintf(format, args...)}
}

func (p Parameter) invalid(found string) *Error {
	err := invalid("%s is %s; send %s", p.Name, found, p.expected())
	err.Code = cmp.Or(p.Code, err.Code)
	return err
}

// expected describes the accepted values.
func (p Parameter) expected() string {
	switch f := p.form; {
	case f.Type == Integer && f.Minimum == nil:
		return "a whole number"
	case f.Type == Integer && f.Maximum > 0:
		return fmt.Sprintf("a whole number from %d to %d", *f.Minimum, f.Maximum)
	case f.Type == Integer:
		return fmt.Sprintf("a whole number of %d or more", *f.Minimum)
	case f.Type == Boolean:
		return "true or false"
	case f.Type == Array:
		least := "an array of strings"
		if f.MaxItems > 0 {
			least = fmt.Sprintf("an array of at most %d strings", f.MaxItems)
		}
		return least + ", such as " + cmp.Or(p.Hint, `["node_modules", "*.log"]`)
	case f.Enum != nil:
		return "one of " + strings.Join(f.Enum, ", ")
	case p.Hint != "":
		return "a string, " + p.Hint
	default:
		return "a string"
	}
}

// Arguments are the checked arguments of a call, by name. A value is a string, int,
// bool or []string. An omitted argument without a default has no value.
type Arguments map[string]any

func (a Arguments) String(name string) string    { s, _ := a[name].(string); return s }
func (a Arguments) Integer(name string) int      { n, _ := a[name].(int); return n }
func (a Arguments) Boolean(name string) bool     { b, _ := a[name].(bool); return b }
func (a Arguments) Strings(name string) []string { l, _ := a[name].([]string); return l }

// Decode decodes and checks the arguments of a call.
//
// Decode accepts harmless deviations of models: null for an omitted argument,
// "10" and 10.0 for 10, and empty input for {}.
func Decode(raw json.RawMessage, parameters []Parameter) (Arguments, *Error) {
	given, problem := members(raw)
	if problem != "" {
		return nil, invalid("%s, such as %s", problem, exampleArguments(parameters))
	}
	known := make([]string, len(parameters))
	for i, p := range parameters {
		known[i] = p.Name
	}
	if err := checkNames("the tool", given, known); err != nil {
		return nil, err
	}
	args := make(Arguments, len(parameters))
	for _, p := range parameters {
		value, ok := given[p.Name]
		if !ok || string(value) == "null" {
			if p.Required {
				return nil, p.invalid("missing")
			}
			value = p.form.Default
		}
		if len(value) == 0 {
			continue
		}
		v, ok := p.decode(value)
		if s, isText := v.(string); isText && !ok {
			return nil, p.invalid(escape.Quote(s))
		} else if !ok {
			return nil, p.invalid(describe(value))
		}
		args[p.Name] = v
	}
	return args, nil
}

// members returns the members of the arguments of a call, or a problem.
func members(raw json.RawMessage) (given map[string]json.RawMessage, problem string) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return nil, ""
	}
	switch err := json.Unmarshal(raw, &given); {
	case err == nil:
		return given, ""
	case json.Valid(raw):
		return nil, "the arguments are not an object; send a JSON object"
	default:
		return nil, "the arguments are not valid JSON; send a JSON object"
	}
}

// checkNames rejects arguments that the tool, or an object among its arguments, does
// not take.
func checkNames[V any](of string, given map[string]V, known []string) *Error {
	var unknown []string
	for name := range given {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	if unknown == nil {
		return nil
	}
	return invalid("%s", Unknown(of, unknown, known))
}

// Unknown returns the message for unknown arguments of a prompt or tool. The message has the
// first names and the number of the others.
func Unknown(of string, unknown, known []string) string {
	const maxUnknown, maxKnown = 3, 20
	slices.Sort(unknown)
	noun, rest := "argument", len(unknown)-maxUnknown
	if len(unknown) > 1 {
		noun = "arguments"
	}
	var quoted []string
	for _, name := range unknown[:min(len(unknown), maxUnknown)] {
		quoted = append(quoted, escape.Quote(name))
	}
	list := strings.Join(quoted, ", ")
	if rest > 0 {
		list += fmt.Sprintf(" and %d more", rest)
	}
	accepted := "accepted arguments: none"
	if len(known) > 0 {
		accepted = "accepted arguments: " + strings.Join(known[:min(len(known), maxKnown)], ", ")
	}
	if rest := len(known) - maxKnown; rest > 0 {
		accepted = escape.Truncate(accepted) + fmt.Sprintf(" and %d more", rest)
	}
	return fmt.Sprintf("%s has no %s %s; %s", of, noun, list, escape.Truncate(accepted))
}

func (p Parameter) decode(value json.RawMessage) (any, bool) {
	switch p.form.Type {
	case Integer:
		return p.decodeInteger(value)
	case Boolean:
		return value[0] == 't', value[0] == 't' || value[0] == 'f'
	case Array:
		var list []*string // pointers, because null is not a string
		if json.Unmarshal(value, &list) != nil || slices.Contains(list, nil) || p.form.MaxItems > 0 &&
			len(list) > p.form.MaxItems {
			return nil, false
		}
		items := make([]string, len(list))
		for i, s := range list {
			items[i] = *s
		}
		return items, true
	default:
		var s string
		if json.Unmarshal(value, &s) != nil {
			return nil, false
		}
		return s, p.form.Enum == nil || slices.Contains(p.form.Enum, s)
	}
}

func (p Parameter) decodeInteger(value json.RawMessage) (any, bool) {
	digits := string(value)
	if value[0] == '"' && json.Unmarshal(value, &digits) != nil || !isNumber(digits) {
		return nil, false
	}
	n, err := strconv.ParseFloat(digits, 64)
	least, most := p.form.Minimum, p.form.Maximum
	if err != nil || least != nil && n < float64(*least) || most > 0 && n > float64(most) ||
		n != math.Trunc(n) {
		return nil, false
	}
	// No list has more items than the largest int of a 32-bit platform, so a number of
	// larger magnitude has the same effect.
	const largest = min(math.MaxInt, maxSafeInteger)
	return int(max(-largest, min(n, largest))), true
}

// isNumber reports whether s is a JSON number. ParseFloat accepts more, such as "0x1".
func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || '0' <= s[0] && s[0] <= '9') && json.Valid([]byte(s))
}

// describe describes a value in a few words.
func describe(value json.RawMessage) string {
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
func exampleArguments(parameters []Parameter) string {
	var members []string
	for _, p := range parameters {
		if p.Required {
			example := map[Kind]string{String: `"…"`, Boolean: "true"}[p.form.Type]
			members = append(members, textJSON(p.Name)+": "+cmp.Or(example, "1"))
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// Input returns the JSON Schema of the parameters.
func Input(parameters []Parameter) json.RawMessage {
	properties, required := make([]string, len(parameters)), []string{} // not null in the schema
	for i, p := range parameters {
		properties[i] = textJSON(p.Name) + ":" + string(p.Schema)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	raw, _ := escape.Marshal(struct {
		Type       Kind            `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
		Additional bool            `json:"additionalProperties"`
	}{Object, json.RawMessage("{" + strings.Join(properties, ",") + "}"), required, false})
	return raw
}
