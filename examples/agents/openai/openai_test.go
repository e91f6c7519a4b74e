package openai

import (
	"context"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/toolshelf-go/toolshelf/examples/agents/internal/fakeapi"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

type ask func(context.Context, openai.Client, *mcpadapter.Adapter, string, string) (string, error)

func scenario(wire fakeapi.Wire, f ask) fakeapi.Scenario {
	return fakeapi.Scenario{
		Wire:    wire,
		Options: []mcpadapter.Option{mcpadapter.WithDialect(mcpadapter.OpenAIStrict)},
		Ask: func(ctx context.Context, shelf fakeapi.Shelf, question string) (string, error) {
			client := openai.NewClient(option.WithBaseURL(shelf.URL), option.WithAPIKey("key"), option.WithMaxRetries(0))
			return f(ctx, client, shelf.Adapter, shelf.Instructions, question)
		},
		Strict:      true,
		NoErrorFlag: true,
	}
}

func TestChatRunsTheScenario(t *testing.T) { scenario(fakeapi.OpenAIChat, AskChat).Run(t) }

func TestResponsesRunTheScenario(t *testing.T) {
	scenario(fakeapi.OpenAIResponses, AskResponses).Run(t)
}
