package gosdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/adaptertest"
)

func TestServersServeWhatTheToolsPermit(t *testing.T) { adaptertest.TestWithTools(t, bound, true) }

func TestCallsReturnTheResultsOfCall(t *testing.T) { adaptertest.TestCalls(t, bound) }

func TestListsPromptsAndCompletionsAreThoseOfASession(t *testing.T) {
	adaptertest.TestLists(t, bound, mcpadapter.CodeInvalidParams)
}

func TestSeveralAdaptersOfAServer(t *testing.T) {
	adaptertest.TestSeveralAdapters(t, func(t testing.TB, adapters []*mcpadapter.Adapter, hello json.RawMessage) adaptertest.Client {
		s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		for _, a := range adapters {
			must.Do(t, gosdk.Register(s, a))
		}
		return clientOf(t, s, hello)
	})
}

func BenchmarkToolsList(b *testing.B) { adaptertest.BenchmarkToolsList(b, bound, alone) }

func BenchmarkCallGetCommand(b *testing.B) { adaptertest.BenchmarkGetCommand(b, bound) }

// bound connects a client to a server with the binding.
func bound(t testing.TB, a *mcpadapter.Adapter, hello json.RawMessage) adaptertest.Client {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	must.Do(t, gosdk.Register(s, a))
	return clientOf(t, s, hello)
}

// alone connects a client to a server with the tools of the adapter, without the binding.
func alone(t testing.TB, a *mcpadapter.Adapter, hello json.RawMessage) adaptertest.Client {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{PageSize: 50})
	no := false
	for _, tool := range a.Tools() {
		s.AddTool(&mcp.Tool{Name: tool.Name, Title: tool.Title, Description: tool.Description, InputSchema: tool.InputSchema, OutputSchema: tool.OutputSchema,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	}
	return clientOf(t, s, hello)
}

// clientOf returns a client that sends params unchanged.
func clientOf(t testing.TB, s *mcp.Server, hello json.RawMessage) adaptertest.Client {
	t.Helper()
	w := open(t, s)
	if hello != nil {
		w.initialize(string(hello))
	}
	return func(t testing.TB, method string, params json.RawMessage) (json.RawMessage, int) {
		t.Helper()
		result, err := w.request(method, string(params))
		var failed *jsonrpc.Error
		if errors.As(err, &failed) {
			return nil, int(failed.Code)
		}
		return result, 0
	}
}
