package servertest

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/mcpgo"
)

func mcpGoServer(t testing.TB, adapters []*mcpadapter.Adapter) *server.MCPServer {
	t.Helper()
	s := server.NewMCPServer("test", "1")
	for _, a := range adapters {
		must.Do(t, mcpgo.Register(s, a))
	}
	return s
}

func withMCPGo(t testing.TB, hello json.RawMessage, adapters ...*mcpadapter.Adapter) caller {
	t.Helper()
	return mcpGoClient(t, mcpGoServer(t, adapters), hello)
}

var sharedHooks server.Hooks // as for metrics

func startMCPGo(
	t testing.TB, ctx context.Context, a *mcpadapter.Adapter, freed *atomic.Int32,
) (any, func() caller) {
	t.Helper()
	s := server.NewMCPServer("test", "1", server.WithHooks(&sharedHooks))
	runtime.AddCleanup(s, func(int) { freed.Add(1) }, 0)
	if ctx == nil {
		must.Do(t, mcpgo.Register(s, a))
	} else {
		must.Do(t, mcpgo.RegisterUntil(ctx, s, a))
	}
	h := &sharedHooks
	must.Equal(t, "hooks that the server adds to shared hooks", 0,
		len(h.OnBeforeListPrompts)+len(h.OnBeforeGetPrompt)+len(h.OnBeforeCallTool))
	return s, func() caller { return mcpGoClient(t, s, hello) }
}

func ownOfMCPGo(s any) {
	s.(*server.MCPServer).AddPrompt(mcp.NewPrompt("own"),
		func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult("", nil), nil
		})
}

func mcpGoHandler(newServer func() any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := newServer().(*server.MCPServer)
		server.NewStreamableHTTPServer(s, server.WithStateLess(true)).ServeHTTP(w, r)
	})
}

// mcpGoClient returns a client that sends params unchanged.
func mcpGoClient(t testing.TB, s *server.MCPServer, hello json.RawMessage) caller {
	t.Helper()
	ctx := context.Background()
	c := transport.NewInProcessTransport(s)
	must.Do(t, c.Start(ctx))
	t.Cleanup(func() { c.Close() })
	request := func(t testing.TB, method string, params json.RawMessage) (json.RawMessage, int) {
		t.Helper()
		r := must.Get(c.SendRequest(ctx, transport.JSONRPCRequest{
			JSONRPC: "2.0", ID: mcp.NewRequestId(int64(1)), Method: method, Params: params,
		}))(t)
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

var mcpGoReports = map[string]connectReports{"2025-11-25": func(
	t testing.TB, a *mcpadapter.Adapter, add func(report),
) func(context.Context, string, any) error {
	c := must.Get(mcpclient.NewInProcessClient(mcpGoServer(t, []*mcpadapter.Adapter{a})))(t)
	t.Cleanup(func() { c.Close() })
	must.Do(t, c.Start(context.Background()))
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = "2025-11-25"
	hello.Params.ClientInfo = mcp.Implementation{Name: "client", Version: "1"}
	must.Get(c.Initialize(context.Background(), hello))(t)
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method != "notifications/progress" {
			return
		}
		p := n.Params.AdditionalFields
		total, _ := p["total"].(float64)
		add(report{p["progressToken"], float64(p["progress"].(int)), total, p["message"].(string)})
	})
	return func(ctx context.Context, tool string, token any) error {
		var request mcp.CallToolRequest
		request.Params.Name = tool
		if token != nil {
			request.Params.Meta = &mcp.Meta{ProgressToken: token}
		}
		_, err := c.CallTool(ctx, request)
		return err
	}
}}
