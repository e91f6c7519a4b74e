package mcpadapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func ExampleTool_Schema() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithTools("get_skill"))
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range adapter.Tools() {
		schema := tool.Schema() // for an API that takes a map
		fmt.Println(schema["type"], schema["required"], schema["additionalProperties"])
	}
	// Output: object [skill_name] false
}

func ExampleAdapter_Answer() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithTools("list_skills", "get_skill"))
	if err != nil {
		log.Fatal(err)
	}
	for _, call := range []struct{ name, arguments string }{ // written by a model
		{"list_skills", `{}`},
		{"get_skill", `{"skill_name":"pant"}`},
		{"read_skill", `{"skill_name":"paint"}`},
	} {
		text, isError := adapter.Answer(context.Background(), call.name, json.RawMessage(call.arguments))
		fmt.Println(text, isError)
	}
	// Output:
	// {"skills":["paint"],"descriptions":{"paint":"Paints."}} false
	// {"error":{"code":"SKILL_NOT_FOUND","message":"there is no skill \"pant\"; did you mean \"paint\"?"}} true
	// Unknown tool: "read_skill"; the tools are list_skills, get_skill true
}

func ExampleAdapter_AnswerErr() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	_, err = adapter.AnswerErr(context.Background(), "list_directory", json.RawMessage(`{"path":"/etc"}`))
	fmt.Println(err, errors.Is(err, toolshelf.ErrOutsideRoot))
	// Output: Error: Path '/etc' is outside project root true
}

func ExampleAdapter_AnswerMap() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	fmt.Println(adapter.AnswerMap(ctx, "list_skills", nil))
	fmt.Println(adapter.AnswerMap(ctx, "list_skills", map[string]any{"page": 2}))
	// Output:
	// map[descriptions:map[paint:Paints.] skills:[paint]]
	// map[error:the tool has no argument "page"; accepted arguments: path]
}
