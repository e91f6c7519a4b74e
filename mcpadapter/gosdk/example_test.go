package gosdk_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

func ExampleRegister() {
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "commands/commit.md", []byte("---\ndescription: Commit what is staged\n---\nWrite one line.\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithFs(fsys))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithTools("list_commands", "get_command"))
	if err != nil {
		log.Fatal(err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "shelf", Version: "1.0.0"}, nil)
	if err := gosdk.Register(server, adapter); err != nil {
		log.Fatal(err)
	}
	// A program would now call server.Run with an mcp.StdioTransport. Here a client
	// in the same program asks.
	ctx := context.Background()
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, far, nil); err != nil {
		log.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "me", Version: "1"}, nil).Connect(ctx, near, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	for tool, err := range client.Tools(ctx, nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("tool", tool.Name)
	}
	prompt, err := client.GetPrompt(ctx, &mcp.GetPromptParams{Name: "commit"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %s", prompt.Description, prompt.Messages[0].Content.(*mcp.TextContent).Text)
	// Output:
	// tool list_commands
	// tool get_command
	// Commit what is staged: Write one line.
}

// A program may make a server for each HTTP request, for example with tools of
// the user who asks. The adapter is made once. The garbage collector frees a server
// after its request.
func ExampleRegister_perRequest() {
	catalog, err := toolshelf.New(toolshelf.WithFs(afero.NewMemMapFs()))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		server := mcp.NewServer(&mcp.Implementation{Name: "shelf", Version: "1.0.0"}, nil)
		if err := gosdk.Register(server, adapter); err != nil {
			log.Print(err)
			return nil
		}
		return server
	}, &mcp.StreamableHTTPOptions{Stateless: true})
	request := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, request)
	fmt.Println(response.Code)
	// Output: 200
}

func ExampleNewHTTPHandler() {
	catalog, err := toolshelf.New(toolshelf.WithFs(afero.NewMemMapFs()))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithTools("list_commands", "get_command"))
	if err != nil {
		log.Fatal(err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "shelf", Version: "1.0.0"}, nil)
	if err := gosdk.Register(server, adapter); err != nil {
		log.Fatal(err)
	}
	handler := gosdk.NewHTTPHandler(server, &gosdk.HTTPOptions{Hosts: []string{"mcp.example.com"}, CallTimeout: 20 * time.Second})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	go web.Serve(listener)

	ctx := context.Background()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "me", Version: "1"}, nil).
		Connect(ctx, &mcp.StreamableClientTransport{Endpoint: "http://" + listener.Addr().String() + "/mcp"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for tool, err := range client.Tools(ctx, nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("tool", tool.Name)
	}
	client.Close()

	grace, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	fmt.Println(handler.Shutdown(grace), web.Shutdown(grace))
	// Output:
	// tool list_commands
	// tool get_command
	// <nil> <nil>
}

func ExampleRegisterUntil() {
	catalog, err := toolshelf.New(toolshelf.WithFs(afero.NewMemMapFs()))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := mcp.NewServer(&mcp.Implementation{Name: "shelf", Version: "1.0.0"}, nil)
	if err := gosdk.RegisterUntil(ctx, server, adapter); err != nil {
		log.Fatal(err)
	}
	cancel() // the server answers requests, and announces no more changes
	fmt.Println(adapter.PageSize())
	// Output: 50
}
