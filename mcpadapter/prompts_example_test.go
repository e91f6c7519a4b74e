package mcpadapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func ExampleWithSeparator() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithNamespace("shelf"), mcpadapter.WithSeparator("_"))
	if err != nil {
		log.Fatal(err)
	}
	tool, ok := adapter.Lookup("shelf.list_skills") // another accepted spelling
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
	// commit - Commit what is staged [{scope [scope] false}]
	// paint - Paints. []
	// <nil>
	// false <nil>
}

// Contains reports whether any page has a prompt.
func ExampleAdapter_ListPrompts() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	page, err := adapter.ListPrompts(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range page.Prompts {
		fmt.Println(p.Name)
	}
	fmt.Println(page.Contains(page.Prompts[0].Name), page.Contains("no-such-prompt"))
	// Output:
	// commit
	// paint
	// true false
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

// A server without an SDK: messages come in, one a line, and what Handle
// returns goes out, with the id of the request. A notification has no answer.
func ExampleWithListChanged() {
	project := afero.NewMemMapFs()
	catalog, err := toolshelf.New(toolshelf.WithFs(project))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithServerInfo("shelf", "1.0.0"), mcpadapter.WithListChanged())
	if err != nil {
		log.Fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	session := adapter.NewSession()
	defer session.Close()
	serve := func(line string) {
		var in struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal([]byte(line), &in); err != nil {
			log.Fatal(err)
		}
		result, err := session.Handle(context.Background(), in.Method, in.Params)
		var failure *mcpadapter.RPCError
		errors.As(err, &failure)
		if in.ID == nil {
			return
		}
		out.Encode(struct {
			Version string               `json:"jsonrpc"`
			ID      json.RawMessage      `json:"id"`
			Result  json.RawMessage      `json:"result,omitempty"`
			Error   *mcpadapter.RPCError `json:"error,omitempty"`
		}{"2.0", in.ID, result, failure})
	}
	afero.WriteFile(project, "commands/commit.md", []byte("Commit.\n"), 0o644)
	serve(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"me","version":"1"}}}`)
	serve(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	serve(`{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`)

	changed := make(chan []string, 1)
	stop := adapter.OnPromptsChange(func(names []string) { changed <- names })
	defer stop()
	afero.WriteFile(project, "commands/review.md", []byte("Review.\n"), 0o644)
	serve(`{"jsonrpc":"2.0","id":3,"method":"prompts/list"}`) // without WithWatch, a request detects the change
	fmt.Println(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`, <-changed)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"shelf","version":"1.0.0"},"capabilities":{"tools":{},"prompts":{"listChanged":true},"completions":{}}}}
	// {"jsonrpc":"2.0","id":2,"result":{"prompts":[{"name":"commit","description":"Commit."}]}}
	// {"jsonrpc":"2.0","id":3,"result":{"prompts":[{"name":"commit","description":"Commit."},{"name":"review","description":"Review."}]}}
	// {"jsonrpc":"2.0","method":"notifications/prompts/list_changed"} [review]
}
