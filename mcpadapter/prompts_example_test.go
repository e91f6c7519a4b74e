package mcpadapter_test

import (
	"context"
	"fmt"
	"log"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func ExampleWithSeparator() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithNamespace("shelf"), mcpadapter.WithSeparator("_"))
	if err != nil {
		log.Fatal(err)
	}
	tool, ok := adapter.Lookup("shelf.list_skills") // as another client may spell it
	fmt.Println(tool.Name, ok)
	// Output:
	// shelf_list_skills true
}

func ExampleAdapter_Prompts() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	prompts, err := adapter.Prompts(context.Background())
	for _, p := range prompts {
		fmt.Println(p.Name, "-", p.Description, p.Arguments)
	}
	fmt.Println(err)
	_, ok, err := adapter.Prompt(context.Background(), "push")
	fmt.Println(ok, err)
	// Output:
	// commit - Commit what is staged [{scope [scope]}]
	// <nil>
	// false <nil>
}

func ExampleSession_State() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithInstructions("Look for a command before you begin."))
	if err != nil {
		log.Fatal(err)
	}
	session := adapter.NewSession()
	fmt.Println(session.State(), mcpadapter.ProtocolVersions())
	params := []byte(`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"client","version":"1"}}`)
	if _, err := session.Handle(context.Background(), "initialize", params); err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.State())
	// Output:
	// uninitialized [2026-07-28 2025-11-25 2025-06-18 2025-03-26 2024-11-05]
	// initializing
}
