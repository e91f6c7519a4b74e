// Command skillserver publishes the skills of a directory to MCP clients (SEP-2640), over
// stdin and stdout or, with -http, over streamable HTTP at /mcp without authentication:
//
//	go run ./examples/skillserver [-http ADDR] DIR
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

func main() {
	log.SetFlags(0) // logs go to stderr; stdout is for the protocol
	log.SetPrefix("skillserver: ")
	address := flag.String("http", "", "serve HTTP at `address`, such as 127.0.0.1:8080")
	if flag.Parse(); flag.NArg() != 1 {
		log.Fatal("usage: skillserver [-http ADDR] DIR")
	}
	ctx := context.Background()
	catalog := must(toolshelf.New(toolshelf.WithSkillsDir(flag.Arg(0)), toolshelf.WithSkillDepth(5), toolshelf.WithCommandsDir(), toolshelf.WithWatch()))
	must(catalog.ListSkills(ctx)) // report a missing directory now, not in the first request
	adapter := must(mcpadapter.New(catalog, mcpadapter.WithTools()))
	for _, omitted := range must(adapter.SkillDiagnostics(ctx)) {
		log.Print(omitted)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "skillserver", Version: "1.0.0"}, nil)
	must(server, gosdk.Register(server, adapter))
	if *address == "" {
		must(server, server.Run(ctx, &mcp.StdioTransport{}))
		return
	}
	listener := must(net.Listen("tcp", *address))
	log.Printf("serving http://%s/mcp", listener.Addr())
	sdk := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	http.Handle("/mcp", http.NewCrossOriginProtection().Handler(sdk)) // the SDK rejects DNS rebinding, net/http rejects requests of other sites
	log.Fatal(http.Serve(listener, nil))
}

// must returns a value, or ends the program with an error.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
