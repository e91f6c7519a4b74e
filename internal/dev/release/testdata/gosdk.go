package main

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

func main() {
	commands := fstest.MapFS{"deploy.md": {Data: []byte("Deploy to $1.")}}
	catalog, err := toolshelf.New(toolshelf.WithCommandsFS("team", commands))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	if err := gosdk.Register(server, adapter); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, here, nil); err != nil {
		log.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil).Connect(ctx, there, nil)
	if err != nil {
		log.Fatal(err)
	}
	list, err := client.ListPrompts(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(list.Prompts[0].Name)
}

// Output: deploy
