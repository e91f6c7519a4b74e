package adk

import (
	"encoding/json"
	"errors"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
)

// FunctionTools returns the tools as functions.
func FunctionTools(adapter *mcpadapter.Adapter) (all []tool.Tool, err error) {
	for _, t := range adapter.Tools() {
		schema := new(jsonschema.Schema)
		invalid := json.Unmarshal(t.InputSchema, schema)
		function, failed := functiontool.New(functiontool.Config{Name: t.Name, Description: t.Description, InputSchema: schema},
			func(ctx agent.Context, arguments map[string]any) (map[string]any, error) {
				return adapter.AnswerMap(ctx, t.Name, arguments), nil
			})
		all, err = append(all, function), errors.Join(err, invalid, failed)
	}
	return all, err
}
