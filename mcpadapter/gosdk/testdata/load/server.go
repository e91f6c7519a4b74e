package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof" // at /debug/pprof, to find the cost of a call
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

// usage is the use of resources of the server's process.
type usage struct {
	CPU                     time.Duration // of the process since its start
	Goroutines, Descriptors int
}

// serve serves a directory and the tool "wait" at /mcp, a trivial tool of the SDK alone at /trivial, and
// the usage at /usage. The first line of the standard output is the address.
func serve(dir string) error {
	adapter := must(mcpadapter.New(must(toolshelf.New(toolshelf.WithRoot(dir)))))
	shelf := mcp.NewServer(&mcp.Implementation{Name: "load", Version: "1.0.0"}, nil)
	check(gosdk.Register(shelf, adapter))
	shelf.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) { // a long call
			<-ctx.Done()
			return &mcp.CallToolResult{}, nil
		})
	trivial := mcp.NewServer(&mcp.Implementation{Name: "load", Version: "1.0.0"}, nil)
	trivial.AddTool(&mcp.Tool{Name: "trivial", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "trivial"}}}, nil
		})
	alone := func(server *mcp.Server) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	}
	if *sdk {
		http.Handle("/mcp", alone(shelf))
	} else {
		http.Handle("/mcp", gosdk.NewHTTPHandler(shelf, nil))
	}
	http.Handle("/trivial", alone(trivial))
	http.HandleFunc("/usage", func(w http.ResponseWriter, _ *http.Request) {
		runtime.GC() // ends the goroutines of unused timers and finalizers
		var times syscall.Rusage
		failed := syscall.Getrusage(syscall.RUSAGE_SELF, &times)
		descriptors, err := os.ReadDir("/proc/self/fd")
		if err := errors.Join(failed, err); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		json.NewEncoder(w).Encode(usage{time.Duration(times.Utime.Nano() + times.Stime.Nano()), runtime.NumGoroutine(), len(descriptors)})
	})
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	fmt.Println("http://" + listener.Addr().String())
	return (&http.Server{ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}).Serve(listener)
}
