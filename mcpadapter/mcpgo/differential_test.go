package mcpgo_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/adaptertest"
	"github.com/toolshelf-go/toolshelf/mcpadapter/mcpgo"
)

func TestServersServeWhatTheToolsPermit(t *testing.T) { adaptertest.TestWithTools(t, bound(), false) }

func TestCallsReturnTheResultsOfCall(t *testing.T) { adaptertest.TestCalls(t, bound()) }

func TestListsPromptsAndCompletionsAreThoseOfASession(t *testing.T) {
	adaptertest.TestLists(t, bound(), mcpadapter.CodeInternalError)
}

func TestSeveralAdaptersOfAServer(t *testing.T) {
	adaptertest.TestSeveralAdapters(t, func(t testing.TB, adapters []*mcpadapter.Adapter, hello json.RawMessage) adaptertest.Client {
		s := server.NewMCPServer("test", "1")
		for _, a := range adapters {
			must.Do(t, mcpgo.Register(s, a))
		}
		return clientOf(t, s, hello)
	})
}

func BenchmarkToolsList(b *testing.B) {
	adaptertest.BenchmarkToolsList(b, bound(server.WithPaginationLimit(50)), alone)
}

func BenchmarkCallGetCommand(b *testing.B) { adaptertest.BenchmarkGetCommand(b, bound()) }

// bound connects a client to a server with the binding.
func bound(opts ...server.ServerOption) adaptertest.Connect {
	return func(t testing.TB, a *mcpadapter.Adapter, hello json.RawMessage) adaptertest.Client {
		t.Helper()
		return clientOf(t, serverOf(t, a, opts...), hello)
	}
}

// alone connects a client to a server with the tools of the adapter, without the binding.
func alone(t testing.TB, a *mcpadapter.Adapter, hello json.RawMessage) adaptertest.Client {
	t.Helper()
	s := server.NewMCPServer("test", "1", server.WithPaginationLimit(50))
	yes, no := true, false
	for _, tool := range a.Tools() {
		s.AddTool(mcp.Tool{Name: tool.Name, Title: tool.Title, Description: tool.Description, RawInputSchema: tool.InputSchema, RawOutputSchema: tool.OutputSchema,
			Annotations: mcp.ToolAnnotation{ReadOnlyHint: &yes, IdempotentHint: &yes, DestructiveHint: &no, OpenWorldHint: &no}},
			func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	}
	return clientOf(t, s, hello)
}

// clientOf returns a client that sends params unchanged.
func clientOf(t testing.TB, s *server.MCPServer, hello json.RawMessage) adaptertest.Client {
	t.Helper()
	c := transport.NewInProcessTransport(s)
	must.Do(t, c.Start(ctx))
	t.Cleanup(func() { c.Close() })
	request := func(t testing.TB, method string, params json.RawMessage) (json.RawMessage, int) {
		t.Helper()
		r := must.Get(c.SendRequest(ctx, transport.JSONRPCRequest{JSONRPC: "2.0", ID: mcp.NewRequestId(int64(1)), Method: method, Params: params}))(t)
		if r.Error != nil {
			return nil, r.Error.Code
		}
		return r.Result, 0
	}
	if hello != nil {
		request(t, "initialize", hello)
	}
	return request
}
