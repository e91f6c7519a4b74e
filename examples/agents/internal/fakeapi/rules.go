package fakeapi

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// rules are the rules of an API for tools.
type rules struct {
	name *regexp.Regexp

	// The rules of strict tools.
	refused     []string // keywords
	requiresAll bool     // each property is required
	limits      [3]int   // of all strict tools, their optional parameters and their unions; 0 is no limit
}

// check applies the rules: each tool has a description, an object schema and a valid name.
func (r rules) check(tools []Tool) error {
	if len(tools) == 0 {
		return fmt.Errorf("no tools")
	}
	var used [3]int
	for _, tool := range tools {
		if !r.name.MatchString(tool.Name) || tool.Description == "" || tool.Schema["type"] != "object" {
			return fmt.Errorf("invalid tool %+v: the name must match %s", tool, r.name)
		}
		if !tool.Strict {
			continue
		}
		used[0]++
		for _, schema := range schemas(tool.Schema) {
			used[1] += len(optional(schema))
			if union(schema) {
				used[2]++
			}
			if err := r.strict(schema); err != nil {
				return fmt.Errorf("strict tool %s: %w", tool.Name, err)
			}
		}
	}
	for i, limit := range r.limits {
		if limit > 0 && used[i] > limit {
			return fmt.Errorf("%d strict tools, optional parameters and unions; the limits are %d", used, r.limits)
		}
	}
	return nil
}

// strict checks a schema in the schema of a strict tool.
func (r rules) strict(schema map[string]any) error {
	if omitted := optional(schema); r.requiresAll && len(omitted) > 0 {
		return fmt.Errorf("required must have %q", omitted)
	}
	for _, keyword := range r.refused {
		if value, ok := schema[keyword]; ok {
			return fmt.Errorf("the keyword %q is not supported: %v", keyword, value)
		}
	}
	if n, ok := schema["minItems"].(float64); ok && n > 1 && !r.requiresAll {
		return fmt.Errorf("minItems is %v", n)
	}
	_, object := schema["properties"]
	if (object || schema["type"] == "object") && schema["additionalProperties"] != false {
		return fmt.Errorf("additionalProperties must be false: %v", schema)
	}
	return nil
}

// openAPIKeywords are the keywords of the OpenAPI schemas of the Gemini API, which refuses others.
var openAPIKeywords = strings.Fields(`type format title description nullable enum default example items anyOf
	properties propertyOrdering required minimum maximum pattern minItems maxItems minLength maxLength
	minProperties maxProperties`)

// openAPI checks an OpenAPI schema of the Gemini API, and writes its types in small letters, as JSON
// Schema does.
func openAPI(schema map[string]any) error {
	for _, schema := range schemas(schema) {
		for keyword := range schema {
			if !slices.Contains(openAPIKeywords, keyword) {
				return fmt.Errorf("unknown field %q", keyword)
			}
		}
		values, _ := schema["enum"].([]any)
		for _, value := range values {
			if _, ok := value.(string); !ok {
				return fmt.Errorf("the value %v of enum is no text", value)
			}
		}
		if name, ok := schema["type"].(string); ok {
			schema["type"] = strings.ToLower(name)
		}
	}
	return nil
}

// schemas returns a schema and all schemas in the schema.
func schemas(schema any) (all []map[string]any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	all = append(all, s)
	properties, _ := s["properties"].(map[string]any)
	alternatives, _ := s["anyOf"].([]any)
	below := append(slices.Collect(maps.Values(properties)), alternatives...)
	for _, part := range append(below, s["items"], s["additionalProperties"]) {
		all = append(all, schemas(part)...)
	}
	return all
}

// optional returns the properties that are not required.
func optional(schema map[string]any) (all []string) {
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// union reports whether a schema has several types.
func union(schema map[string]any) bool {
	_, types := schema["type"].([]any)
	_, alternatives := schema["anyOf"]
	return types || alternatives
}
