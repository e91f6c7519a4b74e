package genai

import (
	"context"
	"testing"

	"github.com/toolshelf-go/toolshelf/examples/agents/internal/fakeapi"
	"google.golang.org/genai"
)

func TestRecipeRunsTheScenario(t *testing.T) {
	fakeapi.Scenario{
		Wire: fakeapi.Gemini,
		Ask: func(ctx context.Context, shelf fakeapi.Shelf, question string) (string, error) {
			client, err := genai.NewClient(ctx, &genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI,
				HTTPOptions: genai.HTTPOptions{BaseURL: shelf.URL}})
			if err != nil {
				return "", err
			}
			return Ask(ctx, client, shelf.Adapter, shelf.Instructions, question)
		},
		Answer: fakeapi.Shelf.MapText,
	}.Run(t)
}
