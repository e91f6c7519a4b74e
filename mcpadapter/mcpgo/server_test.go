package mcpgo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/afero"
	"go.uber.org/goleak"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/mcpgo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

func write(t testing.TB, fsys afero.Fs, name, content string) {
	t.Helper()
	must.Do(t, afero.WriteFile(fsys, name, []byte(content), 0o644))
}

// deniable is a filesystem that can deny opening one path, or every path if path is empty.
type deniable struct {
	afero.Fs
	path string

	mu     sync.Mutex
	denied bool
}

func (d *deniable) deny(denied bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.denied = denied
}

func (d *deniable) Open(name string) (afero.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.denied && (d.path == "" || path.Clean(name) == d.path) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: os.ErrPermission}
	}
	return d.Fs.Open(name)
}

// adapterOf returns an adapter of a filesystem. The end of the test closes the catalog.
func adapterOf(t testing.TB, fsys afero.Fs, opts ...mcpadapter.Option) *mcpadapter.Adapter {
	t.Helper()
	return must.Get(mcpadapter.New(catalogtest.Open(t, toolshelf.WithFs(fsys)), opts...))(t)
}

// serverOf returns a server with an adapter.
func serverOf(t testing.TB, a *mcpadapter.Adapter, opts ...server.ServerOption) *server.MCPServer {
	t.Helper()
	s := server.NewMCPServer("test", "1", opts...)
	must.Do(t, mcpgo.Register(s, a))
	return s
}

// own is the name of a tool and a prompt of the server.
func own(name string) (mcp.Tool, server.ToolHandlerFunc) {
	return mcp.NewTool(name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("the server's " + name), nil
	}
}

func ownPrompt(name string) (mcp.Prompt, server.PromptHandlerFunc) {
	return mcp.NewPrompt(name), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return mcp.NewGetPromptResult("the server's "+name, nil), nil
	}
}

// A response is a JSON-RPC response.
type response struct {
	Result json.RawMessage
	Error  struct {
		Code    int
		Message string
	}
}

// request sends a request without initialize.
func request(t testing.TB, s *server.MCPServer, method, params string) response {
	t.Helper()
	raw := must.Get(json.Marshal(s.HandleMessage(ctx, json.RawMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)))))(t)
	var r response
	must.Do(t, json.Unmarshal(raw, &r))
	return r
}

// into decodes a result, and fails the test if the request failed.
func (r response) into(t testing.TB, result any) {
	t.Helper()
	must.Equal(t, r.Error, 0, r.Error.Code)
	must.Do(t, json.Unmarshal(r.Result, result))
}

// names returns the names on a page of tools or prompts and the next cursor.
func names(t testing.TB, s *server.MCPServer, method, params string) ([]string, string) {
	t.Helper()
	var list struct {
		Tools, Prompts []struct{ Name string }
		NextCursor     string
	}
	request(t, s, method, params).into(t, &list)
	all := []string{}
	for _, item := range append(list.Tools, list.Prompts...) {
		all = append(all, item.Name)
	}
	return all, list.NextCursor
}

// connect returns a client of a server. The end of the test closes the client.
func connect(t testing.TB, s *server.MCPServer) *client.Client {
	t.Helper()
	c := must.Get(client.NewInProcessClient(s))(t)
	t.Cleanup(func() { c.Close() })
	must.Do(t, c.Start(ctx))
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = "2025-11-25"
	hello.Params.ClientInfo = mcp.Implementation{Name: "client", Version: "1"}
	must.Get(c.Initialize(ctx, hello))(t)
	return c
}
