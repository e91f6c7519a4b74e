package fakeapi

import (
	"fmt"
	"regexp"
	"slices"
)

// names returns the rule that each tool has a description, an object schema, and a name that
// matches the pattern.
func names(pattern string) func([]Tool) error {
	valid := regexp.MustCompile(pattern)
	return func(tools []Tool) error {
		if len(tools) == 0 {
			return fmt.Errorf("no tools")
		}
		for _, tool := range tools {
			if !valid.MatchString(tool.Name) || tool.Description == "" || tool.Schema["type"] != "object" {
				return fmt.Errorf("invalid tool %+v: the name must match %s", tool, pattern)
			}
		}
		return nil
	}
}

// objects calls f with a schema and all schemas in the schema, and returns the first error.
func objects(schema map[string]any, f func(schema map[string]any) error) error {
	if err := f(schema); err != nil {
		return err
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		if err := objects(property.(map[string]any), f); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if below, ok := schema[key].(map[string]any); ok {
			if err := objects(below, f); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	alternatives, _ := schema["anyOf"].([]any)
	for _, alternative := range alternatives {
		if err := objects(alternative.(map[string]any), f); err != nil {
			return err
		}
	}
	return nil
}

// without returns an error if a schema has one of the keywords.
func without(schema map[string]any, keywords ...string) error {
	for _, keyword := range keywords {
		if value, ok := schema[keyword]; ok {
			return fmt.Errorf("the keyword %q is not supported: %v", keyword, value)
		}
	}
	return nil
}

// closed returns an error if a schema with properties admits further properties.
func closed(schema map[string]any) error {
	if _, ok := schema["properties"]; (ok || schema["type"] == "object") && schema["additionalProperties"] != false {
		return fmt.Errorf("additionalProperties must be false: %v", schema)
	}
	return nil
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
