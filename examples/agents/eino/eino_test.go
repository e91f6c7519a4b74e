package eino

import (
	"context"
	"errors"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/toolshelf-go/toolshelf/examples/agents/internal/fakeapi"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// newModel returns Eino's client of the Chat Completions API at the URL.
func newModel(ctx context.Context, t *testing.T, url string) model.ToolCallingChatModel {
	t.Helper()
	llm := must.Get(openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: "key", BaseURL: url, Model: "gpt"}))(t)
	return llm
}

func TestRecipeRunsTheScenario(t *testing.T) {
	fakeapi.Scenario{
		Wire: fakeapi.OpenAIChat,
		Ask: func(ctx context.Context, shelf fakeapi.Shelf, question string) (string, error) {
			return Ask(ctx, newModel(ctx, t, shelf.URL), shelf.Adapter, shelf.Instructions, question)
		},
		NoErrorFlag: true,
	}.Run(t)
}

type failing struct{ shelfTool }

func (failing) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "", errors.New("the tool failed")
}

// TestErrorOfAToolEndsTheRun shows why InvokableRun returns no error and why tools sets an
// UnknownToolsHandler.
func TestErrorOfAToolEndsTheRun(t *testing.T) {
	shelf := fakeapi.NewShelf(t)
	listSkills, _ := shelf.Adapter.Lookup("list_skills")
	config := compose.ToolsNodeConfig{Tools: []tool.BaseTool{failing{shelfTool{shelf.Adapter, listSkills}}}}
	for _, name := range []string{"list_skills", "send_mail"} {
		call := fakeapi.Call{ID: "call_1", Name: name, Arguments: `{}`}
		url, end := fakeapi.OpenAIChat.Serve(t, []fakeapi.Turn{{Calls: []fakeapi.Call{call}}, {Text: "Done."}})
		agent := must.Get(react.NewAgent(t.Context(), &react.AgentConfig{ToolCallingModel: newModel(t.Context(), t, url), ToolsConfig: config}))(t)
		if _, err := agent.Generate(t.Context(), []*schema.Message{schema.UserMessage("Hello")}); err == nil || len(end()) != 1 {
			t.Errorf("%s: got %v; if the model receives the error, the recipe may return errors", name, err)
		}
	}
}
