package gosdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"
	"go.uber.org/goleak"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// The protocol revisions of the test clients, one legacy and one modern.
var revisions = []string{"2025-11-25", "2026-07-28"}

func write(t testing.TB, fsys afero.Fs, name, content string) {
	t.Helper()
	must.Do(t, afero.WriteFile(fsys, name, []byte(content), 0o644))
}

// adapterOf returns an adapter of a filesystem. The end of the test closes the catalog.
func adapterOf(t testing.TB, fsys afero.Fs, opts ...mcpadapter.Option) (*mcpadapter.Adapter, *toolshelf.Catalog) {
	t.Helper()
	c := catalogtest.Open(t, toolshelf.WithFs(fsys))
	return must.Get(mcpadapter.New(c, opts...))(t), c
}

// tools returns tools with names of the pattern. A tool returns its name.
func tools(pattern string, n int) []mcpadapter.Tool {
	all := make([]mcpadapter.Tool, n)
	for i := range all {
		name := fmt.Sprintf(pattern, i)
		all[i] = mcpadapter.Tool{Name: name, Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) {
			return mcpadapter.Result{Text: name}, nil
		}}
	}
	return all
}

// manyTools returns an adapter with n tools and no commands.
func manyTools(t testing.TB, n int, opts ...mcpadapter.Option) *mcpadapter.Adapter {
	t.Helper()
	a, _ := adapterOf(t, afero.NewMemMapFs(),
		append([]mcpadapter.Option{mcpadapter.WithTools(), mcpadapter.WithExtraTools(tools("tool_%03d", n)...)}, opts...)...)
	return a
}

// serverOf returns a server with the adapters.
func serverOf(t testing.TB, opts *mcp.ServerOptions, adapters ...*mcpadapter.Adapter) *mcp.Server {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, opts)
	for _, a := range adapters {
		must.Do(t, gosdk.Register(s, a))
	}
	return s
}

// addTool adds a tool to the server. The tool returns its name.
func addTool(s *mcp.Server, name string) {
	s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "the server's " + name}}}, nil
		})
}

// addPrompt adds a prompt to the server.
func addPrompt(s *mcp.Server, name string) {
	s.AddPrompt(&mcp.Prompt{Name: name}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: "the server's " + name}, nil
	})
}

// connect returns a client of a server. The end of the test closes the client.
func connect(t testing.TB, s *mcp.Server, revision string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	server := must.Get(s.Connect(ctx, far, nil))(t)
	client := must.Get(mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, opts).
		Connect(ctx, near, &mcp.ClientSessionOptions{ProtocolVersion: revision}))(t)
	t.Cleanup(func() {
		client.Close()
		if err := server.Wait(); err != nil {
			t.Log(err)
		}
	})
	return client
}

// A wire is a client for messages of any form, including invalid messages.
type wire struct {
	t    testing.TB
	conn mcp.Connection
	last int
}

// dial opens a wire to a server and initializes the session.
func dial(t testing.TB, s *mcp.Server) *wire {
	t.Helper()
	w := open(t, s)
	w.initialize(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"wire","version":"1"}}`)
	return w
}

// open opens a wire to a server. The end of the test closes the wire.
func open(t testing.TB, s *mcp.Server) *wire {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	server := must.Get(s.Connect(ctx, far, nil))(t)
	conn := must.Get(near.Connect(ctx))(t)
	t.Cleanup(func() { conn.Close(); server.Wait() })
	return &wire{t: t, conn: conn}
}

// initialize initializes the session.
func (w *wire) initialize(params string) {
	w.t.Helper()
	if _, err := w.request("initialize", params); err != nil {
		w.t.Fatal(err)
	}
	if err := w.conn.Write(ctx, &jsonrpc.Request{Method: "notifications/initialized"}); err != nil {
		w.t.Fatal(err)
	}
}

// request sends a request and returns the result or a *jsonrpc.Error.
func (w *wire) request(method, params string) (json.RawMessage, error) {
	w.t.Helper()
	w.last++
	id, err := jsonrpc.MakeID(float64(w.last))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.conn.Write(ctx, &jsonrpc.Request{ID: id, Method: method, Params: json.RawMessage(params)}); err != nil {
		w.t.Fatal(err)
	}
	for {
		message, err := w.conn.Read(ctx)
		if err != nil {
			w.t.Fatal(err)
		}
		if r, ok := message.(*jsonrpc.Response); ok {
			return r.Result, r.Error
		}
	}
}

// code returns the code of a JSON-RPC error, or 0.
func code(err error) int64 {
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}
