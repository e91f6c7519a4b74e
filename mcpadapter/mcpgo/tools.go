package mcpgo

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// addTools registers the tools, or none on an error. The SDK panics on a tool that it
// rejects; addTools returns the panic as an error.
func (b *binding) addTools() (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%v", fault)
		}
	}()
	var tools []server.ServerTool
	for _, t := range b.adapter.Tools() {
		tools = append(tools, server.ServerTool{Tool: newTool(t), Handler: b.handler(t.Name)})
	}
	b.server.AddTools(tools...)
	return nil
}

func newTool(t mcpadapter.Tool) mcp.Tool {
	tool := mcp.Tool{
		Name:            t.Name,
		Title:           t.Title,
		Description:     t.Description,
		RawInputSchema:  t.InputSchema,
		RawOutputSchema: t.OutputSchema,
	}
	if t.Annotations != (mcpadapter.Annotations{}) {
		tool.Annotations = mcp.ToolAnnotation{
			ReadOnlyHint:    &t.Annotations.ReadOnlyHint,
			DestructiveHint: t.Annotations.DestructiveHint,
			IdempotentHint:  &t.Annotations.IdempotentHint,
			OpenWorldHint:   t.Annotations.OpenWorldHint,
		}
	}
	return tool
}

func (b *binding) handler(name string) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		arguments := req.Params.RawArguments
		if len(arguments) == 0 && req.Params.Arguments != nil { // a call of the program, not a message
			var err error
			if arguments, err = json.Marshal(req.Params.Arguments); err != nil {
				return nil, err
			}
		}
		r, err := b.adapter.Call(b.withProgress(ctx, req), name, arguments)
		if err != nil {
			return nil, handlerError(err)
		}
		result := &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(r.Text)}, IsError: r.IsError}
		if r.Structured != nil { // a nil RawMessage would be sent as null
			result.StructuredContent = r.Structured
		}
		return result, nil
	}
}

// rename replaces another accepted spelling of a tool by the registered name.
func (b *binding) rename(ctx context.Context, req *mcp.CallToolRequest) {
	name := req.Params.Name
	t, ok := b.adapter.Lookup(name)
	if !ok || t.Name == name || b.server.GetTool(name) != nil {
		return
	}
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithTools); ok {
		if _, ok := session.GetSessionTools()[name]; ok {
			return
		}
	}
	req.Params.Name = t.Name
}
