package main

import (
	"fmt"
	"log"

	"github.com/mark3labs/mcp-go/server"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/mcpgo"
)

func main() {
	catalog, err := toolshelf.New()
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithTools("list_commands"))
	if err != nil {
		log.Fatal(err)
	}
	s := server.NewMCPServer("example", "1")
	if err := mcpgo.Register(s, adapter); err != nil {
		log.Fatal(err)
	}
	for name := range s.ListTools() {
		fmt.Println(name)
	}
}

// Output: list_commands
