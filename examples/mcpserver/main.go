// Command mcpserver offers the commands, skills and files of a directory to an MCP client
// over stdin and stdout. The program toolshelf-mcp has more options, such as HTTP.
//
//	go run ./examples/mcpserver [DIR]
package main

import (
	"context"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

func main() {
	log.SetFlags(0) // logs go to stderr; stdout is for the protocol
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := run(context.Background(), dir, &mcp.StdioTransport{}); err != nil {
		log.Fatal("mcpserver: ", err)
	}
}

// run serves one client until the client closes the transport.
func run(ctx context.Context, dir string, transport mcp.Transport) error {
	catalog, err := toolshelf.New(toolshelf.WithRoot(dir), toolshelf.WithNestedCommands())
	if err != nil {
		return err
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		return err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "mcpserver", Version: "0.1.0"}, nil)
	if err := gosdk.RegisterUntil(ctx, server, adapter); err != nil {
		return err
	}
	return server.Run(ctx, transport)
}
