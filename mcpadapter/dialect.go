package mcpadapter

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// A Dialect is the subset of JSON Schema that the API of a model accepts in the
// definition of a tool. The zero Dialect is JSON Schema 2020-12.
type Dialect string

// The dialects of the APIs.
const (
	// OpenAIStrict is for functions with "strict": true, in Chat Completions and
	// Responses. Each object is closed, and each property is required. An optional
	// argument has the additional type "null", which means its default.
	OpenAIStrict Dialect = "openai-strict"

	// AnthropicStrict is for tools with "strict": true in the Messages API. Each
	// object is closed. Optional arguments stay optional. One request may have 20
	// strict tools with 24 optional arguments; the library's tools are within both
	// limits.
	AnthropicStrict Dialect = "anthropic-strict"

	// Gemini is for the member parameters of a function declaration, which accepts
	// a part of OpenAPI 3.0. Leave parameters unset for a tool without arguments. The
	// newer member parametersJsonSchema needs no dialect.
	Gemini Dialect = "gemini"
)

// WithDialect makes the input schemas of all tools, including extra tools, acceptable
// for the API of a model. The default is the schemas of the tool contracts, which all
// APIs accept without "strict". WithDialect changes no output schema.
//
// A dialect removes the keywords that the API rejects, such as "default", "examples"
// and the bounds of a number. The description of a property then ends with its bounds
// and its default, as in "Number of items per page (1 to 100, default 50)". The calls
// of tools do not change: a tool rejects a value outside the bounds.
//
// With OpenAIStrict, a model sends null for each optional argument that it omits. All
// tools accept null for an optional argument. Before the call of an extra tool, the
// adapter removes each null that the tool's own schema rejects.
//
// OpenAIStrict and AnthropicStrict permit no dot in the name of a tool. With these
// dialects, the default separator of a namespace is "_" (see WithSeparator).
//
// New returns toolshelf.ErrInvalidOption in the following cases:
//   - The dialect is unknown.
//   - The dialect permits no dot, and WithSeparator sets "." or the name of an extra
//     tool contains a dot.
//   - The schema of an extra tool cannot be expressed. OpenAIStrict and
//     AnthropicStrict have no objects with arbitrary properties and no values without
//     a type. Gemini and OpenAIStrict have no "allOf", and Gemini has no "$ref".
func WithDialect(d Dialect) Option {
	return func(c *config) error {
		if _, known := dialects[d]; !known && d != "" {
			return invalidOption(fmt.Sprintf("WithDialect: unknown dialect %q: use OpenAIStrict, AnthropicStrict or Gemini", d))
		}
		c.dialect = d
		return nil
	}
}

// schemaRules are the rules of a Dialect.
type schemaRules struct {
	keywords    []string // that the API accepts
	formats     []string // that the API accepts
	closed      bool     // "additionalProperties" is false for all objects
	typed       bool     // each value has a type
	allRequired bool     // "required" lists all properties; an optional value may be null
	nullable    bool     // "nullable" instead of the type "null", and only strings in "enum"
	noDots      bool     // in names of tools
}

var dialects = map[Dialect]schemaRules{
	OpenAIStrict: {
		keywords: []string{"type", "title", "description", "enum", "const", "properties", "required", "additionalProperties", "items", "anyOf", "$ref", "$defs"},
		closed:   true, typed: true, allRequired: true, noDots: true,
	},
	AnthropicStrict: {
		keywords: []string{"type", "title", "description", "enum", "const", "properties", "required", "additionalProperties", "items", "anyOf", "allOf", "$ref", "$defs",
			"format", "pattern"},
		formats: []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
		closed:  true, typed: true, noDots: true,
	},
	Gemini: {
		keywords: []string{"type", "title", "description", "enum", "properties", "required", "items", "anyOf", "format", "pattern", "default", "nullable",
			"minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"},
		formats:  []string{"date-time", "enum", "float", "double", "int32", "int64"},
		nullable: true,
	},
}

// separator returns the default separator of a namespace.
func (d Dialect) separator() string {
	if dialects[d].noDots {
		return "_"
	}
	return "."
}

// translate replaces the input schema of a tool by a schema of the dialect. For an
// extra tool, Call removes each null that only the new schema accepts.
func (d Dialect) translate(t *Tool, extra bool) error {
	rules, ok := dialects[d]
	if !ok {
		return nil
	}
	if rules.noDots && strings.Contains(t.Name, ".") {
		return invalidOption(fmt.Sprintf(`WithDialect: the tool name %q contains a dot, which %s does not permit; use "_"`, t.Name, d))
	}
	schema, _ := decodeObject(t.InputSchema) // New has checked the schema
	if reason := rules.convert(schema); reason != "" {
		return invalidOption(fmt.Sprintf("WithDialect: %s cannot express the schema of the tool %q: %s", d, t.Name, reason))
	}
	converted, err := encode(schema)
	if err != nil {
		return err
	}
	if extra && rules.allRequired {
		original, call := t.Schema(), t.Call
		t.Call = func(ctx context.Context, arguments json.RawMessage) (Result, error) {
			return call(ctx, withoutNulls(original, arguments))
		}
	}
	t.InputSchema = converted
	return nil
}

// convert changes a decoded schema to the dialect. It returns the reason if the
// dialect cannot express the schema, and "" otherwise.
func (r schemaRules) convert(schema map[string]any) (reason string) {
	if schema["oneOf"] != nil && schema["anyOf"] == nil {
		schema["anyOf"] = schema["oneOf"]
	}
	if value, ok := schema["const"]; ok && !r.accepts("const") {
		schema["enum"] = []any{value}
	}
	if properties, ok := schema["properties"]; ok {
		if _, isObject := properties.(map[string]any); !isObject {
			return "properties is not an object"
		}
	}
	for _, keyword := range []string{"allOf", "$ref"} {
		if schema[keyword] != nil && !r.accepts(keyword) {
			return fmt.Sprintf("the keyword %q is not accepted", keyword)
		}
	}
	if target := schema["$ref"]; target != nil { // permits no other keyword
		clear(schema)
		schema["$ref"] = target
		return ""
	}
	r.removeKeywords(schema)
	if r.nullable {
		useNullable(schema)
	}
	if reason := r.convertObject(schema); reason != "" {
		return reason
	}
	if r.typed && !slices.ContainsFunc([]string{"type", "enum", "const", "anyOf", "allOf", "$ref"}, func(keyword string) bool { return schema[keyword] != nil }) {
		return "a value has no type"
	}
	if r.typed && hasType(schema, "array") && schema["items"] == nil {
		return "an array has no items"
	}
	for name, value := range subschemas(schema) {
		object, ok := value.(map[string]any)
		if !ok {
			return name + " is not an object"
		}
		if reason := r.convert(object); reason != "" {
			return name + ": " + reason
		}
	}
	if r.allRequired {
		r.requireAll(schema)
	}
	return ""
}

func (r schemaRules) accepts(keyword string) bool { return slices.Contains(r.keywords, keyword) }

// convertObject closes an object, or removes "additionalProperties".
func (r schemaRules) convertObject(schema map[string]any) (reason string) {
	if !r.closed || !hasType(schema, "object") {
		return ""
	}
	if _, open := schema["additionalProperties"].(map[string]any); open {
		return "an object has arbitrary properties"
	}
	schema["additionalProperties"] = false
	if schema["properties"] == nil {
		schema["properties"] = map[string]any{}
	}
	return ""
}

// requireAll lists all properties in "required" and permits null for the properties
// that were optional.
func (r schemaRules) requireAll(schema map[string]any) {
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		return
	}
	required, _ := schema["required"].([]any)
	all := []any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(required, any(name)) {
			properties[name] = orNull(properties[name].(map[string]any))
		}
		all = append(all, name)
	}
	schema["required"] = all
}

// orNull returns a schema that also accepts null.
func orNull(schema map[string]any) map[string]any {
	values, isEnum := schema["enum"].([]any)
	variants, isUnion := schema["anyOf"].([]any)
	kinds, several := schema["type"].([]any)
	kind, single := schema["type"].(string)
	switch {
	case acceptsNull(schema):
		return schema
	case isUnion && !single && !several && !isEnum:
		schema["anyOf"] = append(variants, map[string]any{"type": "null"})
		return schema
	case schema["const"] != nil, !single && !several && !isEnum:
		wrapped := map[string]any{"anyOf": []any{schema, map[string]any{"type": "null"}}}
		if description, ok := schema["description"]; ok {
			wrapped["description"] = description
			delete(schema, "description")
		}
		return wrapped
	case single:
		schema["type"] = []any{kind, "null"}
	case several:
		schema["type"] = append(kinds, "null")
	}
	if isEnum {
		schema["enum"] = append(values, nil)
	}
	return schema
}

// notes are the keywords whose value a description states if a dialect removes them.
var notes = []struct{ keyword, format string }{
	{"minimum", "%v or more"}, {"maximum", "at most %v"}, {"exclusiveMinimum", "more than %v"}, {"exclusiveMaximum", "less than %v"},
	{"multipleOf", "a multiple of %v"}, {"minLength", "%v or more characters"}, {"maxLength", "at most %v characters"},
	{"minItems", "%v or more items"}, {"maxItems", "at most %v items"}, {"pattern", "matches %v"}, {"format", "format %v"},
	{"contentEncoding", "encoded as %v"}, {"enum", "one of %v"}, {"default", "default %v"},
}

// removeKeywords removes the keywords that the API rejects, and adds their values to
// the description.
func (r schemaRules) removeKeywords(schema map[string]any) {
	removed := make(map[string]any)
	for keyword, value := range schema {
		switch {
		case !r.accepts(keyword),
			keyword == "format" && !slices.Contains(r.formats, fmt.Sprint(value)),
			keyword == "enum" && r.nullable && !onlyStrings(value):
			removed[keyword] = value
			delete(schema, keyword)
		}
	}
	description, _ := schema["description"].(string)
	var added []string
	least, most := removed["minimum"], removed["maximum"]
	if least != nil && most != nil {
		added = append(added, fmt.Sprintf("%v to %v", least, most))
		delete(removed, "minimum")
		delete(removed, "maximum")
	}
	for _, note := range notes {
		value, ok := removed[note.keyword]
		if !ok || note.keyword == "default" && strings.Contains(strings.ToLower(description), "default") {
			continue
		}
		text, isText := value.(string)
		if !isText || note.keyword == "default" {
			raw, _ := encode(value)
			text = string(raw)
		}
		added = append(added, fmt.Sprintf(note.format, text))
	}
	switch {
	case added == nil:
	case description == "":
		schema["description"] = strings.Join(added, ", ")
	case strings.HasSuffix(description, ")"):
		schema["description"] = strings.TrimSuffix(description, ")") + ", " + strings.Join(added, ", ") + ")"
	default:
		schema["description"] = description + " (" + strings.Join(added, ", ") + ")"
	}
}

func onlyStrings(enum any) bool {
	values, ok := enum.([]any)
	return ok && !slices.ContainsFunc(values, func(v any) bool { _, ok := v.(string); return !ok })
}

// useNullable replaces the type "null" by the keyword "nullable", and several types by
// "anyOf".
func useNullable(schema map[string]any) {
	isNull := func(v any) bool {
		object, ok := v.(map[string]any)
		return v == "null" || ok && object["type"] == "null"
	}
	for _, keyword := range []string{"type", "anyOf"} {
		if all, ok := schema[keyword].([]any); ok && slices.ContainsFunc(all, isNull) {
			schema[keyword] = slices.DeleteFunc(slices.Clone(all), isNull)
			schema["nullable"] = true
		}
	}
	if kinds, ok := schema["type"].([]any); ok {
		delete(schema, "type")
		if len(kinds) == 1 {
			schema["type"] = kinds[0]
			return
		}
		var variants []any
		for _, kind := range kinds {
			variants = append(variants, map[string]any{"type": kind})
		}
		schema["anyOf"] = variants
	}
}

// hasType reports whether a schema accepts values of a type.
func hasType(schema map[string]any, kind string) bool {
	kinds, _ := schema["type"].([]any)
	return schema["type"] == kind || slices.Contains(kinds, any(kind))
}

// acceptsNull reports whether a schema without references accepts null.
func acceptsNull(schema map[string]any) bool {
	if schema["const"] != nil || schema["$ref"] != nil || schema["type"] != nil && !hasType(schema, "null") {
		return false
	}
	if values, ok := schema["enum"].([]any); ok && !slices.Contains(values, nil) {
		return false
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		variants, ok := schema[keyword].([]any)
		if ok && !slices.ContainsFunc(variants, func(v any) bool {
			object, ok := v.(map[string]any)
			return ok && acceptsNull(object)
		}) {
			return false
		}
	}
	return true
}

// subschemas returns the schemas directly below a schema, with a name for messages.
func subschemas(schema map[string]any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, keyword := range []string{"properties", "$defs"} {
			object, _ := schema[keyword].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(object)) {
				if !yield(name, object[name]) {
					return
				}
			}
		}
		for _, keyword := range []string{"anyOf", "allOf"} {
			variants, _ := schema[keyword].([]any)
			for _, variant := range variants {
				if !yield(keyword, variant) {
					return
				}
			}
		}
		if items := schema["items"]; items != nil {
			yield("items", items)
		}
	}
}

// withoutNulls removes each null of an optional property that the schema rejects.
func withoutNulls(schema map[string]any, arguments json.RawMessage) json.RawMessage {
	object, ok := decodeObject(arguments)
	if !ok || !removeNulls(schema, object) {
		return arguments
	}
	changed, err := encode(object)
	if err != nil {
		return arguments
	}
	return changed
}

// removeNulls is withoutNulls for a decoded value. It reports whether it has removed a
// null.
func removeNulls(schema map[string]any, value any) (removed bool) {
	switch v := value.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for name, property := range properties {
			property, ok := property.(map[string]any)
			below, given := v[name]
			switch {
			case !ok || !given:
			case below != nil:
				removed = removeNulls(property, below) || removed
			case !slices.Contains(required, any(name)) && !acceptsNull(property):
				delete(v, name)
				removed = true
			}
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		for _, item := range v {
			removed = removeNulls(items, item) || removed
		}
	}
	return removed
}
