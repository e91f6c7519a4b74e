package gosdk

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
)

const (
	listTools = "tools/list"
	callTool  = "tools/call"
)

// addTools registers the tools, or none on an error. The SDK panics on a tool that it
// rejects; addTools returns the panic as an error.
func addTools(s *mcp.Server, a *mcpadapter.Adapter) (err error) {
	var added []string
	defer func() {
		if fault := recover(); fault != nil {
			s.RemoveTools(added...)
			err = fmt.Errorf("%v", fault)
		}
	}()
	for _, t := range a.Tools() {
		s.AddTool(newTool(t), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			r, err := a.Call(withProgress(ctx, req), t.Name, req.Params.Arguments)
			if err != nil {
				return nil, protocolError(err)
			}
			return newResult(r), nil
		})
		added = append(added, t.Name)
	}
	return nil
}

func newTool(t mcpadapter.Tool) *mcp.Tool {
	tool := &mcp.Tool{Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema}
	if t.OutputSchema != nil { // a nil RawMessage would be sent as null
		tool.OutputSchema = t.OutputSchema
	}
	if t.Annotations != (mcpadapter.Annotations{}) {
		tool.Annotations = &mcp.ToolAnnotations{
			ReadOnlyHint:    t.Annotations.ReadOnlyHint,
			DestructiveHint: t.Annotations.DestructiveHint,
			IdempotentHint:  t.Annotations.IdempotentHint,
			OpenWorldHint:   t.Annotations.OpenWorldHint,
		}
	}
	return tool
}

func newResult(r mcpadapter.Result) *mcp.CallToolResult {
	result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: r.Text}}, IsError: r.IsError}
	if r.Structured != nil { // a nil RawMessage would be sent as null
		result.StructuredContent = r.Structured
	}
	return result
}

// callTool replaces another accepted spelling of a tool by the registered name.
func (b *binding) callTool(ctx context.Context, s server, req *mcp.CallToolRequest) (mcp.Result, error) {
	t, ok := b.adapter.Lookup(req.Params.Name)
	if !ok || t.Name == req.Params.Name {
		return s.forward(ctx, callTool)
	}
	tools, _, err := s.tools(ctx, &mcp.ListToolsRequest{Session: req.Session, Extra: req.Extra})
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(tools, func(t *mcp.Tool) bool { return t.Name == req.Params.Name }) {
		return s.forward(ctx, callTool)
	}
	renamed, params := *req, *req.Params
	params.Name, renamed.Params = t.Name, &params
	return s.next(ctx, callTool, &renamed)
}

// tools returns all tools of the server and the cache hints of the list.
func (s server) tools(ctx context.Context, req *mcp.ListToolsRequest) ([]*mcp.Tool, mcp.Cacheable, error) {
	params := cmp.Or(req.Params, &mcp.ListToolsParams{})
	return rowsBelow(ctx, s, listTools, req, func(cursor string) *mcp.ListToolsParams {
		return &mcp.ListToolsParams{Meta: params.Meta, Cursor: cursor}
	}, func(page *mcp.ListToolsResult) ([]*mcp.Tool, string, mcp.Cacheable) {
		return page.Tools, page.NextCursor, page.Cacheable
	})
}

// A toolList is the server's tools in the order of tools/list. A toolList never
// changes. When the server's tools change, a new toolList replaces it.
type toolList struct {
	source []*mcp.Tool // in the order of the server
	tools  []*mcp.Tool
	id     paging.Identity
}

func (b *binding) newToolList(source []*mcp.Tool) (*toolList, error) {
	place := make(map[string]int)
	for i, t := range b.adapter.Tools() {
		place[t.Name] = i
	}
	after := func(t *mcp.Tool) int {
		if i, ours := place[t.Name]; ours {
			return i
		}
		return len(place)
	}
	tools := slices.Clone(source)
	slices.SortStableFunc(tools, func(x, y *mcp.Tool) int { return after(x) - after(y) })
	id, err := identify("tools", tools)
	return &toolList{source, tools, id}, err
}

// listTools returns one page. The SDK does not report changes, so listTools lists the
// server's tools for each request, and creates a new toolList if the tools have changed.
func (b *binding) listTools(ctx context.Context, s server, req *mcp.ListToolsRequest) (*mcp.ListToolsResult, error) {
	source, cacheable, err := s.tools(ctx, req)
	if err != nil {
		return nil, err
	}
	list := b.tools.Load()
	if list == nil || !slices.Equal(list.source, source) {
		if list, err = b.newToolList(source); err != nil {
			return nil, protocolError(err)
		}
		b.tools.Store(list)
	}
	first := 0
	if req.Params != nil && req.Params.Cursor != "" {
		var ok bool
		if first, ok = list.id.Offset(req.Params.Cursor, len(list.tools)); !ok || first == 0 || first%b.size != 0 {
			return nil, invalidCursor(req.Params.Cursor)
		}
	}
	last := min(first+b.size, len(list.tools))
	page := &mcp.ListToolsResult{Cacheable: cacheable, Tools: append([]*mcp.Tool{}, list.tools[first:last]...)}
	if last < len(list.tools) {
		page.NextCursor = list.id.Cursor(last)
	}
	return page, nil
}
