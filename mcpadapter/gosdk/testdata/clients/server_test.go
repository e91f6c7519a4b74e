// Package clients has the programs that .ci/clients runs with programs of other projects. The name
// of the test program is the name of the program: a link with the name server starts the server.
package clients

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

func TestMain(m *testing.M) {
	programs := map[string]func(){"server": server, "session": sessions, "skillhost": skillhost}
	if program := programs[filepath.Base(os.Args[0])]; program != nil {
		program()
		return
	}
	os.Exit(m.Run())
}

// server is an MCP server for the test programs of other projects. It has 120 tools, on three
// pages, including the tools of the conformance suite. All results have structured content. It
// serves a directory over stdio or, with an address, over HTTP:
//
//	server DIR [ADDRESS]
func server() {
	if len(os.Args) < 2 {
		log.Fatal("usage: server DIR [ADDRESS]")
	}
	server := newServer(os.Args[1])
	if len(os.Args) == 2 {
		must.Do(must.Program, server.Run(context.Background(), &mcp.StdioTransport{}))
		return
	}
	listener := must.Get(net.Listen("tcp", os.Args[2]))(must.Program)
	log.Printf("serving http://%s/mcp", listener.Addr())
	log.Fatal(http.Serve(listener, gosdk.NewHTTPHandler(server, nil)))
}

const total = 120

func newServer(dir string) *mcp.Server {
	catalog := must.Get(toolshelf.New(toolshelf.WithRoot(dir)))(must.Program)
	extra := append(suiteTools(), surveyTool())
	own := must.Get(mcpadapter.New(catalog))(must.Program).Tools()
	for n := len(own) + len(extra); n < total; n++ {
		extra = append(extra, numbered(n))
	}
	options := []mcpadapter.Option{mcpadapter.WithExtraTools(extra...), mcpadapter.WithStructuredContent()}
	server := mcp.NewServer(&mcp.Implementation{Name: "clients", Version: "1.0.0"}, nil)
	must.Do(must.Program, gosdk.Register(server, must.Get(mcpadapter.New(catalog, options...))(must.Program)))
	return server
}

// numbered returns a tool that returns its number.
func numbered(n int) mcpadapter.Tool {
	return mcpadapter.Tool{
		Name:         fmt.Sprintf("number_%03d", n),
		Description:  "Tells its number.",
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]}`),
		Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) {
			structured := fmt.Sprintf(`{"number":%d}`, n)
			return mcpadapter.Result{Text: structured, Structured: json.RawMessage(structured)}, nil
		},
	}
}

// slowFs needs a tenth of a second to open a file.
type slowFs struct{ afero.Fs }

func (s slowFs) Open(name string) (afero.File, error) {
	time.Sleep(100 * time.Millisecond)
	return s.Fs.Open(name)
}

// surveyTool returns the tool of the conformance suite that reports its progress: a
// directory_tree of five directories, one below the other.
func surveyTool() mcpadapter.Tool {
	fsys := afero.NewMemMapFs()
	must.Do(must.Program, fsys.MkdirAll("a/b/c/d/e", 0o755))
	catalog := must.Get(toolshelf.New(toolshelf.WithFs(slowFs{fsys})))(must.Program)
	adapter := must.Get(mcpadapter.New(catalog))(must.Program)
	return mcpadapter.Tool{Name: "test_tool_with_progress", Description: "Reports its progress.",
		Call: func(ctx context.Context, _ json.RawMessage) (mcpadapter.Result, error) {
			return adapter.Call(ctx, "directory_tree", nil)
		}}
}

//go:embed schema.json
var schema json.RawMessage

// suiteTools returns the tools that the conformance suite calls by name, and a tool with
// an argument in a header.
func suiteTools() []mcpadapter.Tool {
	says := func(r mcpadapter.Result) func(context.Context, json.RawMessage) (mcpadapter.Result, error) {
		return func(context.Context, json.RawMessage) (mcpadapter.Result, error) { return r, nil }
	}
	return []mcpadapter.Tool{
		{Name: "test_simple_text", Description: "Says something.",
			Call: says(mcpadapter.Result{Text: "This is a simple text response for testing."})},
		{Name: "test_error_handling", Description: "Fails.",
			Call: says(mcpadapter.Result{Text: "This tool intentionally returns an error for testing", IsError: true})},
		{Name: "json_schema_2020_12_tool", Description: "Has a schema of many words.",
			Call: says(mcpadapter.Result{}), InputSchema: schema},
		{Name: "test_header", Description: "Has an argument in a header.",
			Call: says(mcpadapter.Result{}), InputSchema: json.RawMessage(
				`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"]}`)},
	}
}
