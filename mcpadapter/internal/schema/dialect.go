package schema

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A Dialect has the rules of a subset of JSON Schema.
type Dialect struct {
	keywords         []string // that the API accepts
	formats          []string // that the API accepts
	closed           bool     // "additionalProperties" is false for all objects
	allRequired      bool     // "required" lists all properties; an optional value may be null
	defaultsRequired bool     // "required" lists the properties with a default
	patterns         bool     // "pattern" without lookaround, \b and back references
	nullable         bool     // "nullable" instead of the type "null", and only strings in "enum"
	NoDots           bool     // in names of tools
}

// Dialects are the dialects of the APIs, by the names that package mcpadapter declares.
var Dialects = map[string]Dialect{
	"openai-strict": {
		keywords: []string{"type", "title", "description", "enum", "const", "properties",
			"required", "additionalProperties", "items", "anyOf"},
		closed: true, allRequired: true, NoDots: true,
	},
	"anthropic-strict": {
		keywords: []string{"type", "title", "description", "enum", "const", "properties",
			"required", "additionalProperties", "items", "anyOf", "format", "pattern"},
		formats: []string{"date-time", "time", "date", "duration", "email", "hostname", "uri",
			"ipv4", "ipv6", "uuid"},
		closed: true, defaultsRequired: true, patterns: true, NoDots: true,
	},
	"gemini": {
		keywords: []string{"type", "title", "description", "enum", "properties", "required",
			"items", "anyOf", "format", "pattern", "default", "nullable",
			"minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"},
		formats:  []string{"date-time", "enum", "float", "double", "int32", "int64"},
		nullable: true,
	},
}

// Convert returns a schema in the dialect, or the reason and the correction if the dialect cannot
// express the schema. withoutNulls removes the nulls from arguments that only the new schema
// accepts; nil for none.
func (r Dialect) Convert(
	schema map[string]any,
) (converted json.RawMessage, withoutNulls func(json.RawMessage) json.RawMessage, reason string) {
	plain, reason := plainSchema(schema)
	if reason == "" && r.allRequired {
		original, _ := plainSchema(schema) // convert changes the other
		withoutNulls = func(arguments json.RawMessage) json.RawMessage {
			return stripNulls(original, arguments)
		}
	}
	if reason == "" {
		reason = r.convert(plain, true)
	}
	if reason == "" {
		converted, _ = escape.Marshal(plain) // the schema comes from JSON
	}
	return converted, withoutNulls, reason
}

// The texts of several reasons.
const (
	openObject = `an object has arbitrary properties; declare "properties", and omit "additionalProperties" or set false`
	noType     = `a value has no type; add "type"`
)

// convert changes a plain schema to the dialect. It returns the reason and the
// correction if the dialect cannot express the schema, and "" otherwise.
func (r Dialect) convert(schema map[string]any, root bool) (reason string) {
	if root && schema["anyOf"] != nil {
		return "the root has a union; declare all properties in one object"
	}
	if value, ok := schema["const"]; ok && !r.accepts("const") {
		schema["enum"] = []any{value}
	}
	if r.nullable {
		if reason := useNullable(schema); reason != "" {
			return reason
		}
	}
	reason = r.checkObject(schema, root)
	r.removeKeywords(schema)
	if reason == "" {
		reason = r.convertUnion(schema)
	}
	switch {
	case reason != "":
		return reason
	case schema["type"] == nil && schema["anyOf"] == nil:
		return noType
	case hasType(schema, "array") && schema["items"] == nil:
		return `an array has no items; add "items"`
	case r.closed && hasType(schema, "object"):
		schema["additionalProperties"] = false
	}
	if r.defaultsRequired {
		requireDefaults(schema)
	}
	for name, value := range subschemas(schema) {
		object, ok := value.(map[string]any)
		if !ok {
			return name + " is not an object; use a schema with a type"
		}
		if reason := r.convert(object, false); reason != "" {
			return name + ": " + reason
		}
	}
	filterRequired(schema)
	if r.allRequired {
		r.requireAll(schema)
	}
	return ""
}

func (r Dialect) accepts(keyword string) bool { return slices.Contains(r.keywords, keyword) }

// checkObject returns a reason if an object has arbitrary properties.
func (r Dialect) checkObject(schema map[string]any, root bool) (reason string) {
	properties, isObject := schema["properties"].(map[string]any)
	patterns, _ := schema["patternProperties"].(map[string]any)
	additional, given := schema["additionalProperties"]
	switch {
	case schema["properties"] != nil && !isObject:
		return "properties is not an object; use an object of schemas"
	case !hasType(schema, "object"):
		return ""
	case !r.closed && !root && len(properties) == 0,
		r.closed && (len(patterns) > 0 || given && additional != false || !isObject && !given):
		return openObject
	case r.closed && !isObject:
		schema["properties"] = map[string]any{}
	}
	return ""
}

// convertUnion checks a union, and replaces several types by a union for Gemini.
func (r Dialect) convertUnion(schema map[string]any) (reason string) {
	if kinds, several := schema["type"].([]any); several && r.nullable && schema["anyOf"] == nil {
		splitTypes(schema, kinds)
	}
	variants, isUnion := schema["anyOf"].([]any)
	switch {
	case schema["anyOf"] == nil:
		return ""
	case !isUnion || len(variants) == 0:
		return `anyOf has no schemas; add one or remove "anyOf"`
	}
	for _, keyword := range slices.Sorted(maps.Keys(schema)) {
		value := schema[keyword]
		switch {
		case keyword == "anyOf" || keyword == "nullable" || slices.Contains(annotations, keyword):
		case keyword == "type" && slices.IndexFunc(variants,
			func(v any) bool { return !typedAs(v, value) }) < 0:
			delete(schema, "type")
		default:
			return fmt.Sprintf(`%q stands beside a union; move the keyword into the variants`, keyword)
		}
	}
	if r.allRequired && ambiguousNulls(variants) {
		return `a union has several objects with optional properties; list all properties in "required"`
	}
	return ""
}

// typedAs reports whether a schema has a type. A schema without a type receives it.
func typedAs(value, kind any) bool {
	schema, ok := value.(map[string]any)
	if ok && schema["type"] == nil && schema["anyOf"] == nil {
		schema["type"] = kind
	}
	single, isSingle := kind.(string)
	return ok && isSingle && schema["type"] == single
}

// filterRequired removes the names without a property from "required".
func filterRequired(schema map[string]any) {
	if schema["required"] == nil {
		return
	}
	properties, _ := schema["properties"].(map[string]any)
	names, _ := schema["required"].([]any)
	known := []any{}
	for _, name := range names {
		text, isText := name.(string)
		if _, ok := properties[text]; ok && isText && !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	schema["required"] = known
}

// requireDefaults adds the properties with a default to "required".
func requireDefaults(schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[name].(map[string]any)
		if _, ok := property["default"]; ok {
			required, _ := schema["required"].([]any)
			schema["required"] = append(required, name) // filterRequired removes duplicates
		}
	}
}

// requireAll lists all properties in "required" and permits null for the properties
// that were optional.
func (r Dialect) requireAll(schema map[string]any) {
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
	if acceptsNull(schema) {
		return schema
	}
	if _, isConst := schema["const"]; isConst {
		wrapped := map[string]any{"anyOf": []any{schema, map[string]any{"type": "null"}}}
		if description, ok := schema["description"]; ok {
			wrapped["description"] = description
			delete(schema, "description")
		}
		return wrapped
	}
	if variants, ok := schema["anyOf"].([]any); ok {
		schema["anyOf"] = append(variants, map[string]any{"type": "null"})
	}
	if kinds := typesOf(schema); kinds != nil && !slices.Contains(kinds, "null") {
		schema["type"] = append(kinds, "null")
	}
	if values, ok := schema["enum"].([]any); ok && !slices.Contains(values, nil) {
		schema["enum"] = append(values, nil)
	}
	return schema
}

// notes are the keywords whose value a description states if a dialect removes them.
var notes = []struct{ keyword, format string }{
	{"minimum", "%v or more"}, {"maximum", "at most %v"}, {"exclusiveMinimum",
		"more than %v"}, {"exclusiveMaximum", "less than %v"},
	{"multipleOf", "a multiple of %v"}, {"minLength", "%v or more characters"}, {"maxLength",
		"at most %v characters"},
	{"minItems", "%v or more items"}, {"maxItems", "at most %v items"}, {"pattern",
		"matches %v"}, {"format", "format %v"},
	{"contentEncoding", "encoded as %v"}, {"enum", "one of %v"}, {"default", "default %v"},
}

// unusualPattern matches lookaround, a word boundary and a back reference.
var unusualPattern = regexp.MustCompile(`\(\?<?[=!]|\\[bBk1-9]`)

// removeKeywords removes the keywords that the API rejects, and adds their values to
// the description.
func (r Dialect) removeKeywords(schema map[string]any) {
	removed := make(map[string]any)
	for keyword, value := range schema {
		switch {
		case !r.accepts(keyword),
			keyword == "format" && !slices.Contains(r.formats, fmt.Sprint(value)),
			keyword == "pattern" && r.patterns && unusualPattern.MatchString(fmt.Sprint(value)),
			keyword == "enum" && r.nullable && (schema["type"] != "string" || !onlyStrings(value)):
			removed[keyword] = value
			delete(schema, keyword)
		}
	}
	description, _ := schema["description"].(string)
	var added []string
	least, most := removed["minimum"], removed["maximum"]
	if least != nil && most != nil {
		added = append(added, asJSON(least)+" to "+asJSON(most))
		delete(removed, "minimum")
		delete(removed, "maximum")
	}
	for _, note := range notes {
		value, ok := removed[note.keyword]
		if !ok || note.keyword == "default" && statesDefault(description, value) {
			continue
		}
		stated, isText := value.(string)
		if !isText || note.keyword == "default" {
			stated = asJSON(value)
		}
		added = append(added, fmt.Sprintf(note.format, stated))
	}
	switch {
	case added == nil:
	case description == "":
		schema["description"] = strings.Join(added, ", ")
	case strings.HasSuffix(description, ")"):
		schema["description"] = strings.TrimSuffix(description, ")") + ", " +
			strings.Join(added, ", ") + ")"
	default:
		schema["description"] = description + " (" + strings.Join(added, ", ") + ")"
	}
}

// asJSON returns a value as JSON.
func asJSON(value any) string {
	raw, _ := escape.Marshal(value)
	return string(raw)
}

// statesDefault reports whether a description has the word "default" and then the value.
func statesDefault(description string, value any) bool {
	_, after, _ := strings.Cut(strings.ToLower(description), "default")
	word := asJSON(value)
	if plain, ok := value.(string); ok && plain != "" {
		word = plain
	}
	return regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(strings.ToLower(word)) +
		`(\W|$)`).MatchString(after)
}

// onlyStrings reports whether all values are strings with characters.
func onlyStrings(enum any) bool {
	values, ok := enum.([]any)
	return ok && !slices.ContainsFunc(values, func(v any) bool {
		s,
			_ := v.(string)
		return s == ""
	})
}

// useNullable replaces the type "null" and the value null by the keyword "nullable".
func useNullable(schema map[string]any) (reason string) {
	isNull := func(v any) bool {
		object, ok := v.(map[string]any)
		return v == nil || v == "null" || ok && slices.Equal(typesOf(object), []any{"null"})
	}
	delete(schema, "nullable")
	if kinds := typesOf(schema); (kinds != nil || schema["anyOf"] != nil) && acceptsNull(schema) {
		schema["nullable"] = true
	}
	for _, keyword := range []string{"type", "anyOf", "enum"} {
		all, isList := schema[keyword].([]any)
		if keyword == "type" {
			all, isList = typesOf(schema), schema["type"] != nil
		}
		if !isList {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(all), isNull)
		if len(rest) == 0 && len(all) > 0 {
			return "a value can only be null; use another type or remove the value"
		}
		schema[keyword] = rest
		if keyword == "type" && len(rest) == 1 {
			schema["type"] = rest[0]
		}
	}
	return ""
}

// kindKeywords are the keywords of Gemini for the values of one type.
var kindKeywords = map[string][]string{
	"object":  {"properties", "required", "minProperties", "maxProperties"},
	"array":   {"items", "minItems", "maxItems"},
	"string":  {"minLength", "maxLength", "pattern", "format"},
	"number":  {"minimum", "maximum"},
	"integer": {"minimum", "maximum"},
}

// splitTypes replaces several types by a union with one variant per type.
func splitTypes(schema map[string]any, kinds []any) {
	var variants []any
	for _, kind := range kinds {
		variant := map[string]any{"type": kind}
		for _, keyword := range kindKeywords[kind.(string)] {
			if value, ok := schema[keyword]; ok {
				variant[keyword] = value
			}
		}
		variants = append(variants, variant)
	}
	for _, keywords := range kindKeywords {
		for _, keyword := range keywords {
			delete(schema, keyword)
		}
	}
	delete(schema, "type")
	schema["anyOf"] = variants
}

// subschemas returns the schemas directly below a plain schema, with a name for
// messages.
func subschemas(schema map[string]any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		properties, _ := schema["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if !yield(name, properties[name]) {
				return
			}
		}
		variants, _ := schema["anyOf"].([]any)
		for _, variant := range variants {
			if !yield("anyOf", variant) {
				return
			}
		}
		if items := schema["items"]; items != nil {
			yield("items", items)
		}
	}
}
