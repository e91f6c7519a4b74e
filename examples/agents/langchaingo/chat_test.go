package langchaingo

import (
	"context"
	"testing"

	"github.com/tmc/langchaingo/llms/openai"
	"github.com/toolshelf-go/toolshelf/examples/agents/internal/fakeapi"
)

func TestRecipeRunsTheScenario(t *testing.T) {
	fakeapi.Scenario{
		Wire: fakeapi.OpenAIChat,
		Ask: func(ctx context.Context, shelf fakeapi.Shelf, question string) (string, error) {
			model, err := openai.New(openai.WithBaseURL(shelf.URL), openai.WithToken("key"), openai.WithModel("gpt-4o"))
			if err != nil {
				return "", err
			}
			return Ask(ctx, model, shelf.Adapter, shelf.Instructions, question)
		},
		NoErrorFlag: true,
	}.Run(t)
}
