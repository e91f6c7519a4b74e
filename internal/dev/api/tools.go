package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// offered returns the features of all tools of an adapter.
func offered() ([]string, error) {
	root, err := os.MkdirTemp("", "api")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	catalog, err := toolshelf.New(toolshelf.WithRoot(root), toolshelf.WithAgentsDir("agents"), toolshelf.WithInstructions(client.Codex()), toolshelf.WithReports("reports", "local"))
	if err != nil {
		return nil, err
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithStructuredContent())
	if err != nil {
		return nil, err
	}
	var all []string
	for _, tool := range adapter.Tools() {
		lines, err := toolFeatures(tool)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tool.Name, err)
		}
		all = append(all, lines...)
	}
	return all, nil
}

// toolFeatures returns a line for the tool, each argument, each accepted value of an
// argument and each property of the result. A change that can break a caller changes or
// removes a line. Descriptions and examples have no line.
func toolFeatures(tool mcpadapter.Tool) (lines []string, err error) {
	name := "tool." + tool.Name
	add := func(name, format string, args ...any) { lines = append(lines, name+": "+fmt.Sprintf(format, args...)) }
	annotations, err := json.Marshal(tool.Annotations)
	if err != nil {
		return nil, err
	}
	var input, output schema
	if err := json.Unmarshal(tool.InputSchema, &input); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(tool.OutputSchema, &output); err != nil {
		return nil, err
	}
	add(name, "tool %s", annotations)
	required, err := json.Marshal(input["required"])
	if err != nil {
		return nil, err
	}
	add(name, "requires %s", required)
	input.properties(name, func(name string, s schema) {
		values, _ := s["enum"].([]any)
		for _, value := range values {
			add(name, "accepts %v", value)
		}
		rules := schema{}
		for key, value := range s {
			switch key {
			case "title", "description", "examples", "enum", "properties", "items":
			default:
				rules[key] = value
			}
		}
		text, _ := json.Marshal(rules) // decoded from JSON
		add(name, "argument %s", text)
	})
	output.properties(name+".result", func(name string, s schema) {
		text, _ := json.Marshal(s["type"])
		if line := name + ": result " + string(text); !strings.Contains(strings.Join(lines, "\n")+"\n", line+"\n") {
			lines = append(lines, line)
		}
	})
	return lines, nil
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
