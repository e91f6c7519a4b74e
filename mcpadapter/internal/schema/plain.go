package schema

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// annotations are the keywords that accept all values.
var annotations = []string{"title", "description", "default", "examples", "deprecated", "readOnly",
	"writeOnly", "$comment", "$schema", "$id"}

// maxPlainSchemas is the number of schemas after the references are replaced.
const maxPlainSchemas = 2000

// plainSchema returns an equivalent schema for all dialects: without references, "oneOf"
// and "allOf", and with the types of "enum" and "const". It returns the reason and the
// correction for a schema without a plain form.
func plainSchema(root map[string]any) (plain map[string]any, reason string) {
	p := plainer{root: root}
	return p.schema(root, []string{"#"})
}

// A plainer makes the schemas of a root plain.
type plainer struct {
	root    map[string]any
	schemas int // copied
}

// schema returns a plain copy of a schema below the given references.
func (p *plainer) schema(
	source map[string]any, references []string,
) (schema map[string]any, reason string) {
	if p.schemas++; p.schemas > maxPlainSchemas {
		return nil, fmt.Sprintf("the schema has more than %d schemas with the targets of its references; use fewer", maxPlainSchemas)
	}
	schema = maps.Clone(source)
	delete(schema, "$defs")
	delete(schema, "definitions")
	for _, keyword := range []string{"$dynamicRef", "$recursiveRef"} {
		if schema[keyword] != nil {
			return nil, fmt.Sprintf(`the keyword %q is not accepted; use "$ref"`, keyword)
		}
	}
	if reference, ok := schema["$ref"]; ok {
		delete(schema, "$ref")
		return p.target(schema, reference, references)
	}
	if schema["oneOf"] != nil {
		if schema["anyOf"] != nil {
			return nil, "anyOf and oneOf stand side by side; use one union"
		}
		schema["anyOf"] = schema["oneOf"]
	}
	delete(schema, "oneOf")
	for _, keyword := range []string{"allOf", "anyOf"} {
		variants, _ := schema[keyword].([]any)
		if len(variants) != 1 {
			continue
		}
		if single, ok := variants[0].(map[string]any); ok {
			delete(schema, keyword)
			return p.merged(schema, single, references, keyword)
		}
	}
	if schema["allOf"] != nil {
		return nil, `the keyword "allOf" is not accepted; merge the schemas`
	}
	if reason := addType(schema); reason != "" {
		return nil, reason
	}
	return schema, p.below(schema, references)
}

// target returns the target of a reference with the annotations of a schema.
func (p *plainer) target(
	schema map[string]any, reference any, references []string,
) (plain map[string]any, reason string) {
	pointer, _ := reference.(string)
	target, ok := p.lookup(pointer)
	switch {
	case slices.Contains(references, pointer):
		return nil, fmt.Sprintf("the reference %q is recursive; use a schema with a fixed depth", pointer)
	case !ok:
		return nil, fmt.Sprintf(`the reference %s has no target; use "#/$defs/NAME"`,
			asJSON(reference))
	}
	return p.merged(schema, target, append(slices.Clone(references), pointer), "$ref")
}

// lookup returns the schema at a JSON Pointer such as "#/$defs/x".
func (p *plainer) lookup(pointer string) (target map[string]any, ok bool) {
	fragment, isFragment := strings.CutPrefix(pointer, "#")
	path, err := url.PathUnescape(fragment)
	if !isFragment || err != nil || path != "" && path[0] != '/' {
		return nil, false
	}
	var value any = p.root
	for _, name := range strings.Split(path, "/")[1:] {
		switch v := value.(type) {
		case map[string]any:
			value = v[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	target, ok = value.(map[string]any)
	return target, ok
}

// merged returns a plain copy of a source with the annotations of a schema.
func (p *plainer) merged(
	schema, source map[string]any, references []string, keyword string,
) (plain map[string]any, reason string) {
	plain, reason = p.schema(source, references)
	if reason != "" {
		return nil, keyword + ": " + reason
	}
	for _, name := range slices.Sorted(maps.Keys(schema)) {
		if !slices.Contains(annotations, name) && !reflect.DeepEqual(schema[name], plain[name]) {
			return nil, fmt.Sprintf("%q stands beside %q; use one schema with all keywords",
				name, keyword)
		}
		plain[name] = schema[name]
	}
	return plain, ""
}

// below makes the schemas below a schema plain.
func (p *plainer) below(schema map[string]any, references []string) (reason string) {
	plain := func(name string, value any) any {
		object, ok := value.(map[string]any)
		if !ok || reason != "" {
			return value
		}
		if object, reason = p.schema(object, references); reason != "" {
			reason = name + ": " + reason
		}
		return object
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		properties = maps.Clone(properties)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			properties[name] = plain(name, properties[name])
		}
		schema["properties"] = properties
	}
	if variants, ok := schema["anyOf"].([]any); ok {
		variants = slices.Clone(variants)
		for i := range variants {
			variants[i] = plain("anyOf", variants[i])
		}
		schema["anyOf"] = variants
	}
	if items := schema["items"]; items != nil {
		schema["items"] = plain("items", items)
	}
	return reason
}

// addType adds the types of the values in "enum" and "const", and checks a given type.
func addType(schema map[string]any) (reason string) {
	values, isEnum := schema["enum"].([]any)
	if _, given := schema["enum"]; given && (!isEnum || len(values) == 0) {
		return `enum has no values; add one or remove "enum"`
	}
	if value, ok := schema["const"]; ok {
		values = []any{value}
	}
	kinds := typesOf(schema)
	if schema["type"] == nil {
		for _, value := range values {
			if kind := any(typeOf(value)); !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
		if slices.Contains(kinds, any("number")) {
			kinds = slices.DeleteFunc(kinds, func(kind any) bool { return kind == "integer" })
		}
	}
	known := []any{"string", "number", "integer", "boolean", "array", "object", "null"}
	_, given := schema["type"]
	switch {
	case given && len(kinds) == 0, slices.ContainsFunc(kinds,
		func(kind any) bool { return !isText(kind) || !slices.Contains(known, kind) }):
		return fmt.Sprintf("the type %s is unknown; use a type of JSON Schema",
			asJSON(schema["type"]))
	case len(kinds) == 1:
		schema["type"] = kinds[0]
	case len(kinds) > 1:
		schema["type"] = kinds
	}
	return ""
}

func isText(value any) bool {
	_, ok := value.(string)
	return ok
}

// typeOf returns the type of a decoded value.
func typeOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case float64:
		if v != math.Trunc(v) {
			return "number"
		}
	}
	return "integer"
}

// typesOf returns the types in the keyword "type".
func typesOf(schema map[string]any) []any {
	if kind, ok := schema["type"].(string); ok {
		return []any{kind}
	}
	kinds, _ := schema["type"].([]any)
	return kinds
}

// hasType reports whether the keyword "type" contains a type.
func hasType(schema map[string]any, kind string) bool {
	return slices.ContainsFunc(typesOf(schema), func(k any) bool { return k == kind })
}
