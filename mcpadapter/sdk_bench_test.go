package mcpadapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	mcpgomcp "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
	"github.com/toolshelf-go/toolshelf/mcpadapter/mcpgo"
)

// largeTools returns an adapter with n tools as large as the library's tools.
func largeTools(b *testing.B, n int) *mcpadapter.Adapter {
	b.Helper()
	own := adapter(b).Tools()
	tools := make([]mcpadapter.Tool, n)
	for i := range tools {
		tools[i] = own[i%len(own)]
		tools[i].Name = fmt.Sprintf("%s_%03d", tools[i].Name, i)
	}
	return adapter(b, mcpadapter.WithTools(), mcpadapter.WithExtraTools(tools...))
}

// A roundTrip sends an encoded request and returns the encoded response.
type roundTrip func(method string, params json.RawMessage) error

// throughSDK returns the client's end of a pipe to a server of the go-sdk.
func throughSDK(b *testing.B, s *mcp.Server) roundTrip {
	b.Helper()
	near, far := mcp.NewInMemoryTransports()
	session, err := s.Connect(ctx, far, nil)
	if err != nil {
		b.Fatal(err)
	}
	conn, err := near.Connect(ctx)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close(); session.Wait() })
	id, err := jsonrpc.MakeID("1")
	if err != nil {
		b.Fatal(err)
	}
	request := func(method string, params json.RawMessage) error {
		if err := conn.Write(ctx, &jsonrpc.Request{ID: id, Method: method, Params: params}); err != nil {
			return err
		}
		message, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		return message.(*jsonrpc.Response).Error
	}
	if err := request("initialize", json.RawMessage(hello)); err != nil {
		b.Fatal(err)
	}
	if err := conn.Write(ctx, &jsonrpc.Request{Method: "notifications/initialized", Params: json.RawMessage(`{}`)}); err != nil {
		b.Fatal(err)
	}
	return request
}

// throughMcpGo passes messages to a server of mcp-go.
func throughMcpGo(s *server.MCPServer) roundTrip {
	return func(method string, params json.RawMessage) error {
		response, err := json.Marshal(s.HandleMessage(ctx, json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+string(params)+`}`)))
		if err == nil && strings.HasPrefix(string(response), `{"jsonrpc":"2.0","id":1,"error"`) {
			err = fmt.Errorf("%s", response)
		}
		return err
	}
}

func throughSession(s *mcpadapter.Session) roundTrip {
	return func(method string, params json.RawMessage) error {
		_, err := s.Handle(ctx, method, params)
		return err
	}
}

func gosdkServer(b *testing.B, a *mcpadapter.Adapter) *mcp.Server {
	b.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	if err := gosdk.Register(s, a); err != nil {
		b.Fatal(err)
	}
	return s
}

func mcpgoServer(b *testing.B, a *mcpadapter.Adapter) *server.MCPServer {
	b.Helper()
	s := server.NewMCPServer("bench", "1", server.WithPaginationLimit(50))
	if err := mcpgo.Register(s, a); err != nil {
		b.Fatal(err)
	}
	return s
}

// aloneSDK is a server with the same tools but without the binding.
func aloneSDK(a *mcpadapter.Adapter) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, &mcp.ServerOptions{PageSize: 50})
	for _, t := range a.Tools() {
		tool := &mcp.Tool{Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)}}
		s.AddTool(tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	}
	return s
}

func aloneMcpGo(a *mcpadapter.Adapter) *server.MCPServer {
	s := server.NewMCPServer("bench", "1", server.WithPaginationLimit(50))
	for _, t := range a.Tools() {
		tool := mcpgomcp.Tool{Name: t.Name, Title: t.Title, Description: t.Description, RawInputSchema: t.InputSchema, RawOutputSchema: t.OutputSchema,
			Annotations: mcpgomcp.ToolAnnotation{ReadOnlyHint: new(true), IdempotentHint: new(true), DestructiveHint: new(false), OpenWorldHint: new(false)}}
		s.AddTool(tool, func(context.Context, mcpgomcp.CallToolRequest) (*mcpgomcp.CallToolResult, error) { return nil, nil })
	}
	return s
}

// BenchmarkToolsListInServers compares each binding with a Session and with its SDK alone, for a page of 50 tools.
func BenchmarkToolsListInServers(b *testing.B) {
	for _, n := range []int{50, 3, 500} {
		a := largeTools(b, n)
		once := func(request roundTrip) func() {
			return func() {
				if err := request("tools/list", json.RawMessage(`{}`)); err != nil {
					b.Fatal(err)
				}
			}
		}
		session := once(throughSession(ready(b, a)))
		sdk, mark3labs := once(throughSDK(b, aloneSDK(a))), once(throughMcpGo(aloneMcpGo(a)))
		for _, way := range []struct {
			name    string
			request func()
			alone   func()
		}{
			{"session", session, nil},
			{"gosdk", once(throughSDK(b, gosdkServer(b, a))), sdk},
			{"gosdk-alone", sdk, nil},
			{"mcpgo", once(throughMcpGo(mcpgoServer(b, a))), mark3labs},
			{"mcpgo-alone", mark3labs, nil},
		} {
			b.Run(fmt.Sprintf("tools=%d/%s", n, way.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					way.request()
				}
				if way.alone == nil {
					best := quickest(session, way.request)
					b.ReportMetric(best[1]/1000, "best-µs")
					b.ReportMetric(best[1]/best[0], "x-Session")
					return
				}
				best := quickest(session, way.request, way.alone)
				b.ReportMetric(best[1]/1000, "best-µs")
				b.ReportMetric(best[1]/best[0], "x-Session")
				b.ReportMetric(best[1]/best[2], "x-SDK-alone")
			})
		}
	}
}

// quickest returns the shortest duration of a call of each function, in nanoseconds. It alternates
// the functions, so that other load of the machine affects all functions.
func quickest(fs ...func()) []float64 {
	best := make([]float64, len(fs))
	for range 40 {
		for i, f := range fs {
			if took := per(10, f); best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best
}

// BenchmarkCallGetCommandInServers compares get_command for a cached command in each way with Catalog.Get.
func BenchmarkCallGetCommandInServers(b *testing.B) {
	dir := b.TempDir()
	body := "---\ndescription: Review a change\n---\n" + strings.Repeat("Look at each line, and say \"why\" of it.\n", 80)
	err := os.Mkdir(filepath.Join(dir, "commands"), 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "commands", "review.md"), []byte(body), 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
	c := catalog(b, afero.NewOsFs(), toolshelf.WithRoot(dir))
	get := func() {
		if _, err := c.Get(ctx, "review"); err != nil {
			b.Fatal(err)
		}
	}
	for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
		get() // the catalog does not yet cache a file that was just written
	}
	a := adapterOf(b, c)
	for _, way := range []struct {
		name    string
		request roundTrip
	}{
		{"session", throughSession(ready(b, a))},
		{"gosdk", throughSDK(b, gosdkServer(b, a))},
		{"mcpgo", throughMcpGo(mcpgoServer(b, a))},
	} {
		b.Run(way.name, func(b *testing.B) {
			call := func() {
				if err := way.request("tools/call", json.RawMessage(`{"name":"get_command","arguments":{"command_name":"review"}}`)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
			best := quickest(get, call)
			b.ReportMetric((best[1]-best[0])/1000, "µs-over-Get")
			b.ReportMetric(best[1]/best[0], "x-Get")
			b.ReportMetric(best[1]/1000, "best-µs")
		})
	}
}
