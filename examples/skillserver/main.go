// Command skillserver publishes the skills of a directory to MCP clients (SEP-2640), over
// stdin and stdout or, with -http, over streamable HTTP at /mcp and as files below
// /.well-known/agent-skills/, without authentication:
//
//	go run ./examples/skillserver [-http ADDR] DIR
package main

import (
	"context"
	"flag"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
	"github.com/toolshelf-go/toolshelf/stores/wellknown"
)

func main() {
	log.SetFlags(0) // logs go to stderr; stdout is for the protocol
	log.SetPrefix("skillserver: ")
	address := flag.String("http", "", "serve HTTP at `address`, such as 127.0.0.1:8080")
	if flag.Parse(); flag.NArg() != 1 {
		log.Fatal("usage: skillserver [-http ADDR] DIR")
	}
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	catalog := must(toolshelf.New(toolshelf.WithSkillsDir(flag.Arg(0)), toolshelf.WithSkillDepth(5), toolshelf.WithCommandsDir(), toolshelf.WithWatch()))
	must(catalog.ListSkills(ctx)) // report a missing directory now, not in the first request
	adapter := must(mcpadapter.New(catalog, mcpadapter.WithTools(), mcpadapter.WithPrompts()))
	for _, omitted := range must(adapter.SkillDiagnostics(ctx)) {
		log.Print(omitted)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "skillserver", Version: "1.0.0"}, nil)
	must(server, gosdk.Register(server, adapter))
	if *address == "" {
		if err := server.Run(ctx, &mcp.StdioTransport{}); ctx.Err() == nil && err != nil {
			log.Fatal(err)
		}
		return
	}
	listener := must(net.Listen("tcp", *address))
	log.Printf("serving http://%s/mcp", listener.Addr())
	if !listener.Addr().(*net.TCPAddr).IP.IsLoopback() {
		log.Print("warning: every program that reaches this address reads the skills, without authentication")
	}
	handler := gosdk.NewHTTPHandler(server, &gosdk.HTTPOptions{Logger: slog.Default()})
	http.Handle("/mcp", handler)
	http.Handle("/.well-known/agent-skills/", wellknown.NewHandler(catalog))
	web := &http.Server{ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	context.AfterFunc(ctx, func() { listener.Close() })
	if err := web.Serve(listener); ctx.Err() == nil {
		log.Fatal(err)
	}
	grace, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	handler.Shutdown(grace) // answers running calls
	last, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	web.Shutdown(last) // sends the last answers
}

// must returns a value, or ends the program with an error.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
