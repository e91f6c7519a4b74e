package schema

import (
	"encoding/json"
	"slices"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// stripNulls removes each null of an optional property that the schema rejects.
func stripNulls(schema map[string]any, arguments json.RawMessage) json.RawMessage {
	object, ok := decodeNumbers(arguments)
	if !ok || !removeNulls(schema, object) {
		return arguments
	}
	changed, err := escape.Marshal(object)
	if err != nil {
		return arguments
	}
	return changed
}

// removeNulls is stripNulls for a decoded value. It reports whether it has removed a
// null.
func removeNulls(schema map[string]any, value any) (removed bool) {
	variants, _ := schema["anyOf"].([]any)
	for _, variant := range variants {
		variant, _ := variant.(map[string]any)
		removed = removeNulls(variant, value) || removed
	}
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

// acceptsNull reports whether a plain schema accepts null.
func acceptsNull(schema map[string]any) bool {
	if schema["const"] != nil || schema["type"] != nil && !hasType(schema, "null") {
		return false
	}
	if values, ok := schema["enum"].([]any); ok && !slices.Contains(values, nil) {
		return false
	}
	variants, isUnion := schema["anyOf"].([]any)
	return !isUnion || slices.ContainsFunc(variants, func(v any) bool {
		variant, ok := v.(map[string]any)
		return ok && acceptsNull(variant)
	})
}

// ambiguousNulls reports whether removeNulls depends on the variant of a union that
// accepts a value.
func ambiguousNulls(variants []any) bool {
	for _, kind := range []string{"object", "array"} {
		accepting, optional := 0, false
		for _, v := range variants {
			if variant, ok := v.(map[string]any); ok && acceptsType(variant, kind) {
				accepting++
				optional = optional || hasOptional(variant)
			}
		}
		if accepting > 1 && optional {
			return true
		}
	}
	return false
}

// acceptsType reports whether a plain schema accepts values of a type.
func acceptsType(schema map[string]any, kind string) bool {
	variants, _ := schema["anyOf"].([]any)
	return hasType(schema, kind) || slices.ContainsFunc(variants, func(v any) bool {
		variant, ok := v.(map[string]any)
		return ok && acceptsType(variant, kind)
	})
}

// hasOptional reports whether removeNulls may remove a null in a value of the schema.
func hasOptional(schema map[string]any) bool {
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for name, value := range properties {
		property, ok := value.(map[string]any)
		if ok && !slices.Contains(required, any(name)) && !acceptsNull(property) {
			return true
		}
	}
	for _, value := range subschemas(schema) {
		if below, ok := value.(map[string]any); ok && hasOptional(below) {
			return true
		}
	}
	return false
}
