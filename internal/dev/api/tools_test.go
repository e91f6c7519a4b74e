package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// offered returns the features of all tools of an adapter.
func offered(t *testing.T) (all []string) {
	t.Helper()
	catalog := catalogtest.Open(t, toolshelf.WithRoot(t.TempDir()), toolshelf.WithAgentsDir("agents"),
		toolshelf.WithInstructions(client.Codex()), toolshelf.WithReports("reports", "local"))
	adapter := must.Get(mcpadapter.New(catalog, mcpadapter.WithStructuredContent()))(t)
	for _, tool := range adapter.Tools() {
		all = append(all, toolFeatures(t, tool)...)
	}
	return all
}

// toolFeatures returns a line for the tool, each argument, each accepted value of an
// argument and each property of the result. A change that can break a caller changes or
// removes a line. Descriptions and examples have no line.
func toolFeatures(t *testing.T, tool mcpadapter.Tool) (lines []string) {
	t.Helper()
	var input, output schema
	must.Do(t, json.Unmarshal(tool.InputSchema, &input))
	must.Do(t, json.Unmarshal(tool.OutputSchema, &output))
	add := func(name, rule string, value any) {
		lines = append(lines, fmt.Sprintf("%s: %s %s", name, rule, must.Get(json.Marshal(value))(t)))
	}
	name := "tool." + tool.Name
	add(name, "tool", tool.Annotations)
	add(name, "requires", input["required"])
	input.properties(name, func(name string, s schema) {
		values, _ := s["enum"].([]any)
		for _, value := range values {
			lines = append(lines, fmt.Sprintf("%s: accepts %v", name, value))
		}
		rules := maps.Clone(s)
		for _, key := range []string{"title", "description", "examples", "enum", "properties", "items"} {
			delete(rules, key)
		}
		add(name, "argument", rules)
	})
	output.properties(name+".result", func(name string, s schema) { add(name, "result", s["type"]) })
	slices.Sort(lines)
	return slices.Compact(lines)
}

// A schema is a decoded JSON Schema.
type schema map[string]any

// properties calls visit for each property of a schema and of the schemas below.
func (s schema) properties(name string, visit func(name string, s schema)) {
	below := func(name string, value any) {
		if value, ok := value.(map[string]any); ok {
			schema(value).properties(name, visit)
		}
	}
	for key, value := range s {
		switch key {
		case "properties":
			for property, of := range value.(map[string]any) {
				if of, ok := of.(map[string]any); ok {
					visit(name+"."+property, of)
					below(name+"."+property, of)
				}
			}
		case "items", "additionalProperties":
			below(name, value)
		case "anyOf", "oneOf", "allOf":
			for _, part := range value.([]any) {
				below(name, part)
			}
		case "$defs":
			for definition, of := range value.(map[string]any) {
				below(name+"."+definition, of)
			}
		}
	}
}
