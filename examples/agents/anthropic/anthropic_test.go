package anthropic

import (
	"context"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/toolshelf-go/toolshelf/examples/agents/internal/fakeapi"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

type ask func(context.Context, anthropic.Client, *mcpadapter.Adapter, string, string) (string, error)

func scenario(f ask) fakeapi.Scenario {
	return fakeapi.Scenario{
		Wire: fakeapi.Anthropic,
		Ask: func(ctx context.Context, shelf fakeapi.Shelf, question string) (string, error) {
			client := anthropic.NewClient(option.WithBaseURL(shelf.URL), option.WithAPIKey("key"), option.WithMaxRetries(0))
			return f(ctx, client, shelf.Adapter, shelf.Instructions, question)
		},
	}
}

func TestLoopRunsTheScenario(t *testing.T) {
	s := scenario(Ask)
	s.Options = []mcpadapter.Option{mcpadapter.WithDialect(mcpadapter.AnthropicStrict)}
	s.Strict = true
	s.Run(t)
}

func TestRunnerRunsTheScenario(t *testing.T) {
	s := scenario(AskRunner)
	s.Answer = func(shelf fakeapi.Shelf, call fakeapi.Call) string {
		text, isError := shelf.Answer(call)
		switch {
		case call.Name == "send_mail":
			return "Error: Tool 'send_mail' not found" // written by the runner
		case isError:
			return "Error: " + text // the runner adds the prefix
		}
		return text
	}
	s.Run(t)
}

func TestAnswerWithoutTextIsEmpty(t *testing.T) {
	shelf := fakeapi.NewShelf(t, mcpadapter.WithDialect(mcpadapter.AnthropicStrict))
	for name, f := range map[string]ask{"Ask": Ask, "AskRunner": AskRunner} {
		url, end := fakeapi.Anthropic.Serve(t, []fakeapi.Turn{{}})
		client := anthropic.NewClient(option.WithBaseURL(url), option.WithAPIKey("key"), option.WithMaxRetries(0))
		text, err := f(t.Context(), client, shelf.Adapter, "", "How do I review?")
		if text != "" || err != nil || len(end()) != 1 {
			t.Errorf("%s = %q, %v; want an empty text", name, text, err)
		}
	}
}
