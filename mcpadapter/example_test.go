package mcpadapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// sample is the project of the examples: a command and a skill, in memory.
func sample() *toolshelf.Catalog {
	fsys := afero.NewMemMapFs()
	for name, text := range map[string]string{
		"commands/commit.md":    "---\ndescription: Commit what is staged\nargument-hint: \"[scope]\"\n---\nWrite one line about $1.\n",
		"skills/paint/SKILL.md": "---\nname: paint\ndescription: Paints.\n---\n",
	} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	catalog, err := toolshelf.New(toolshelf.WithFs(fsys))
	if err != nil {
		log.Fatal(err)
	}
	return catalog
}

func Example() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	// What a model wrote: a tool's name, and its arguments as JSON.
	result, err := adapter.Call(context.Background(), "list_skills", json.RawMessage(`{}`))
	fmt.Println(result.Text, result.IsError, err)
	result, err = adapter.Call(context.Background(), "get_command", json.RawMessage(`{"command_name":"comit"}`))
	fmt.Println(result.Text, result.IsError, err)
	// Output:
	// {"skills":["paint"]} false <nil>
	// {"error":{"code":"COMMAND_NOT_FOUND","message":"there is no command \"comit\"; list the commands for the names"}} true <nil>
}

func ExampleNew() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog,
		mcpadapter.WithNamespace("shelf"),
		mcpadapter.WithTools("list_skills"),
		mcpadapter.WithExtraTools(mcpadapter.Tool{
			Name:        "roll_dice",
			Description: "Roll one die.",
			Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) {
				return mcpadapter.Result{Text: "4"}, nil
			},
		}),
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range adapter.Tools() {
		fmt.Println(tool.Name)
	}
	// Output:
	// shelf.list_skills
	// roll_dice
}

func ExampleSession_Handle() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithTools(), mcpadapter.WithServerInfo("paintbox", "1.0.0"))
	if err != nil {
		log.Fatal(err)
	}
	session := adapter.NewSession() // one for each client
	defer session.Close()
	ctx := context.Background()
	for _, message := range []struct{ method, params string }{
		{"tools/list", `{}`},
		{"initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"me","version":"1"}}`},
		{"notifications/initialized", `{}`},
		{"tools/list", `{}`},
	} {
		result, err := session.Handle(ctx, message.method, json.RawMessage(message.params))
		fmt.Println(string(result), err)
	}
	// Output:
	//  Server not initialized; send initialize first (-32600)
	// {"protocolVersion":"2025-11-25","serverInfo":{"name":"paintbox","version":"1.0.0"},"capabilities":{"tools":{},"prompts":{},"completions":{}}} <nil>
	//  <nil>
	// {"tools":[]} <nil>
}
