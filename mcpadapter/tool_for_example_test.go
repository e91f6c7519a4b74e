package mcpadapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func ExampleToolFor() {
	type forecast struct {
		City string `json:"city" jsonschema:"City and country"`
		Days int64  `json:"days,omitempty" jsonschema:"Number of days (default 1)"`
	}
	type weather struct {
		Summary string `json:"summary"`
	}
	tool, err := mcpadapter.ToolFor("get_forecast", "Get the weather forecast of a city.",
		func(ctx context.Context, in forecast) (weather, error) {
			return weather{fmt.Sprintf("%s: rain for %d days", in.City, max(in.Days, 1))}, nil
		})
	if err != nil {
		log.Fatal(err)
	}
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithExtraTools(tool))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(tool.InputSchema))
	for _, arguments := range []string{`{"city":"Bergen, Norway","days":3}`, `{"city":"Bergen, Norway","days":"three"}`} {
		fmt.Println(adapter.Answer(context.Background(), "get_forecast", json.RawMessage(arguments)))
	}
	// Output:
	// {"type":"object","properties":{"city":{"type":"string","description":"City and country"},"days":{"type":"integer","description":"Number of days (default 1)"}},"required":["city"],"additionalProperties":false}
	// {"summary":"Bergen, Norway: rain for 3 days"} false
	// {"error":{"code":"INVALID_ARGUMENTS","message":"days is \"three\"; send a whole number"}} true
}
