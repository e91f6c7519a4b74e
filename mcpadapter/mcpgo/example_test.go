package mcpgo_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/mcpgo"
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
	s := server.NewMCPServer("shelf", "1.0.0")
	if err := mcpgo.Register(s, adapter); err != nil {
		log.Fatal(err)
	}
	// A program would now call server.ServeStdio. Here a client in the same program
	// asks.
	ctx := context.Background()
	c, err := client.NewInProcessClient(s)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		log.Fatal(err)
	}
	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range list.Tools {
		fmt.Println("tool", tool.Name)
	}
	prompt, err := c.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "commit"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %s", prompt.Description, prompt.Messages[0].Content.(mcp.TextContent).Text)
	// Output:
	// tool get_command
	// tool list_commands
	// Commit what is staged: Write one line.
}

func ExampleRegisterUntil() {
	catalog, err := toolshelf.New(toolshelf.WithFs(afero.NewMemMapFs()))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithTools("list_commands"))
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := server.NewMCPServer("shelf", "1.0.0")
	if err := mcpgo.RegisterUntil(ctx, s, adapter); err != nil {
		log.Fatal(err)
	}
	cancel() // the server answers requests, and follows no more changes
	fmt.Println(len(s.ListTools()))
	// Output: 1
}
