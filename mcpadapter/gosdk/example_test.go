package gosdk_test

import (
	"context"
	"fmt"
	"log"

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
