package servertest

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

func withGoSDK(t testing.TB, hello json.RawMessage, adapters ...*mcpadapter.Adapter) caller {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	for _, a := range adapters {
		must.Do(t, gosdk.Register(s, a))
	}
	return goSDKClient(t, s, hello)
}

func startGoSDK(
	t testing.TB, ctx context.Context, a *mcpadapter.Adapter, freed *atomic.Int32,
) (any, func() caller) {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	runtime.AddCleanup(s, func(int) { freed.Add(1) }, 0)
	if ctx == nil {
		must.Do(t, gosdk.Register(s, a))
	} else {
		must.Do(t, gosdk.RegisterUntil(ctx, s, a))
	}
	return s, func() caller { return goSDKClient(t, s, hello) }
}

func ownOfGoSDK(s any) {
	s.(*mcp.Server).AddPrompt(&mcp.Prompt{Name: "own"},
		func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{}, nil
		})
}

func goSDKHandler(newServer func() any) http.Handler {
	get := func(*http.Request) *mcp.Server { return newServer().(*mcp.Server) }
	return mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true})
}

// goSDKClient returns a client that sends params unchanged.
func goSDKClient(t testing.TB, s *mcp.Server, hello json.RawMessage) caller {
	t.Helper()
	ctx := context.Background()
	near, far := mcp.NewInMemoryTransports()
	server := must.Get(s.Connect(ctx, far, nil))(t)
	conn := must.Get(near.Connect(ctx))(t)
	t.Cleanup(func() { conn.Close(); server.Wait() })
	last := 0.0
	request := func(t testing.TB, method string, params json.RawMessage) (json.RawMessage, int) {
		t.Helper()
		last++
		id := must.Get(jsonrpc.MakeID(last))(t)
		must.Do(t, conn.Write(ctx, &jsonrpc.Request{ID: id, Method: method, Params: params}))
		for {
			r, ok := must.Get(conn.Read(ctx))(t).(*jsonrpc.Response)
			if !ok { // a notification
				continue
			}
			if failed, ok := r.Error.(*jsonrpc.Error); ok {
				return nil, int(failed.Code)
			}
			return r.Result, 0
		}
	}
	if hello != nil {
		request(t, "initialize", hello)
		must.Do(t, conn.Write(ctx, &jsonrpc.Request{Method: "notifications/initialized"}))
	}
	return request
}

var goSDKReports = map[string]connectReports{
	"2025-11-25": goSDKReportsIn("2025-11-25"),
	"2026-07-28": goSDKReportsIn("2026-07-28"),
}

func goSDKReportsIn(revision string) connectReports {
	return func(
		t testing.TB, a *mcpadapter.Adapter, add func(report),
	) func(context.Context, string, any) error {
		s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		must.Do(t, gosdk.Register(s, a))
		near, far := mcp.NewInMemoryTransports()
		ctx := context.Background()
		server := must.Get(s.Connect(ctx, far, nil))(t)
		options := &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				p := r.Params
				add(report{p.ProgressToken, p.Progress, p.Total, p.Message})
			},
		}
		c := must.Get(mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, options).
			Connect(ctx, near, &mcp.ClientSessionOptions{ProtocolVersion: revision}))(t)
		t.Cleanup(func() { c.Close(); server.Wait() })
		return func(ctx context.Context, tool string, token any) error {
			params := &mcp.CallToolParams{Name: tool}
			if token != nil {
				params.SetProgressToken(token)
			}
			_, err := c.CallTool(ctx, params)
			return err
		}
	}
}
