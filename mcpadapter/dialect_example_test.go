package mcpadapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func ExampleWithDialect() {
	catalog := sample()
	defer catalog.Close()
	for _, dialect := range []mcpadapter.Dialect{"", mcpadapter.OpenAIStrict} {
		adapter, err := mcpadapter.New(catalog, mcpadapter.WithDialect(dialect), mcpadapter.WithNamespace("shelf"), mcpadapter.WithTools("list_commands"))
		if err != nil {
			log.Fatal(err)
		}
		for _, tool := range adapter.Tools() {
			property := tool.Schema()["properties"].(map[string]any)["page_size"]
			raw, err := json.Marshal(property)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(tool.Name, string(raw))
		}
		_, isError := adapter.Answer(context.Background(), "shelf_list_commands", json.RawMessage(`{"page":null,"page_size":null}`))
		fmt.Println("null is an error:", isError)
	}
	// Output:
	// shelf.list_commands {"default":50,"description":"Number of items per page","maximum":100,"minimum":1,"type":"integer"}
	// null is an error: false
	// shelf_list_commands {"description":"Number of items per page (1 to 100, default 50)","type":["integer","null"]}
	// null is an error: false
}
