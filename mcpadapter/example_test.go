package mcpadapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
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
	// The name of a tool and its arguments, as written by a model.
	result, err := adapter.Call(context.Background(), "list_skills", json.RawMessage(`{}`))
	fmt.Println(result.Text, result.IsError, err)
	result, err = adapter.Call(context.Background(), "get_command", json.RawMessage(`{"command_name":"comit"}`))
	fmt.Println(result.Text, result.IsError, err)
	// Output:
	// {"skills":["paint"],"descriptions":{"paint":"Paints."}} false <nil>
	// {"error":{"code":"COMMAND_NOT_FOUND","message":"there is no command \"comit\"; did you mean \"commit\"?"}} true <nil>
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
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithTools(), mcpadapter.WithPrompts(), mcpadapter.WithServerInfo("paintbox", "1.0.0"))
	if err != nil {
		log.Fatal(err)
	}
	session := adapter.NewSession() // each client has its own session
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
	//  mcpadapter: Server not initialized; send initialize first (-32600)
	// {"protocolVersion":"2025-11-25","serverInfo":{"name":"paintbox","version":"1.0.0"},"capabilities":{"tools":{},"prompts":{},"completions":{},"resources":{},"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true}}}} <nil>
	//  <nil>
	// {"tools":[]} <nil>
}

func ExampleAdapter_Call() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	_, err = adapter.Call(context.Background(), "delete_everything", nil)
	var rpc *mcpadapter.RPCError
	if errors.As(err, &rpc) { // the model invented the name: return the message to the model
		fmt.Println(rpc.Code, strings.HasPrefix(rpc.Message, `Unknown tool: "delete_everything"; the tools are list_commands,`))
	}
	// Output: -32602 true
}

func ExampleAdapter_GetPrompt() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	prompts, err := adapter.Prompts(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, prompt := range prompts {
		fmt.Println(prompt.Name, "-", prompt.Description, "-", prompt.Arguments)
	}
	prompt, err := adapter.GetPrompt(ctx, "commit", map[string]string{"scope": "the parser"})
	fmt.Print(prompt.Text, err)
	// Output:
	// commit - Commit what is staged - [{scope [scope] false}]
	// paint - Paints. - []
	// Write one line about the parser.
	// <nil>
}

func ExampleAdapter_Complete() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	completion, err := adapter.Complete(context.Background(), "get_command", "command_name", "co")
	fmt.Println(completion.Values, err)
	// Output: [commit] <nil>
}

func ExampleAdapter_ToolsPage() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithPageSize(8))
	if err != nil {
		log.Fatal(err)
	}
	var cursor *string
	for {
		tools, next, err := adapter.ToolsPage(cursor)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(tools), next != "")
		if next == "" {
			break
		}
		cursor = &next
	}
	// Output:
	// 8 true
	// 5 false
}

func ExampleWithRenderer() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithRenderer(toolshelf.Renderer{Rules: client.Claude().Rules}))
	if err != nil {
		log.Fatal(err)
	}
	prompt, err := adapter.GetPrompt(context.Background(), "commit", nil)
	fmt.Print(prompt.Text, err)
	// Output:
	// Write one line about $1.
	// <nil>
}

func ExampleWithRelativePaths() {
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "/srv/app/commands/commit.md", []byte("Write one line.\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithFs(fsys), toolshelf.WithRoot("/srv/app"))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	for _, options := range [][]mcpadapter.Option{nil, {mcpadapter.WithRelativePaths()}} {
		adapter, err := mcpadapter.New(catalog, options...)
		if err != nil {
			log.Fatal(err)
		}
		result, err := adapter.Call(context.Background(), "get_command", json.RawMessage(`{"command_name":"commit"}`))
		if err != nil {
			log.Fatal(err)
		}
		var command toolshelf.Command
		if err := json.Unmarshal(result.Structured, &command); err != nil {
			log.Fatal(err)
		}
		fmt.Println(filepath.ToSlash(command.Metadata.Path))
	}
	// Output:
	// /srv/app/commands/commit.md
	// commands/commit.md
}
