package genkit

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/googlegenai"
	_ "github.com/firebase/genkit/go/plugins/mcp" // builds beside the library

	"github.com/toolshelf-go/toolshelf/examples/agents/internal/fakeapi"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// start returns Genkit with the Gemini API at the URL.
func start(ctx context.Context, t *testing.T, url string) *genkit.Genkit {
	t.Helper()
	t.Setenv("GOOGLE_GEMINI_BASE_URL", url)
	return genkit.Init(ctx, genkit.WithPlugins(&googlegenai.GoogleAI{APIKey: "key"}), genkit.WithDefaultModel("googleai/gemini-2.5-flash"))
}

func TestRecipeRunsTheScenario(t *testing.T) {
	fakeapi.Scenario{
		Wire:    fakeapi.Gemini,
		Options: []mcpadapter.Option{mcpadapter.WithDialect(mcpadapter.Gemini)},
		Ask: func(ctx context.Context, shelf fakeapi.Shelf, question string) (string, error) {
			return Ask(ctx, start(ctx, t, shelf.URL), shelf.Adapter, shelf.Instructions, question)
		},
		Answer:       fakeapi.Shelf.MapText,
		LossySchemas: true,
	}.Run(t)
}

// TestWithSystemFormatsItsText shows why Ask passes the instructions as an argument of "%s".
func TestWithSystemFormatsItsText(t *testing.T) {
	shelf := fakeapi.NewShelf(t)
	url, end := fakeapi.Gemini.Serve(t, []fakeapi.Turn{{Text: "Done."}})
	g := start(t.Context(), t, url)
	must.Get(genkit.Generate(t.Context(), g, ai.WithSystem(shelf.Instructions), ai.WithPrompt("Hello"), ai.WithTools(tools(shelf.Adapter)...)))(t)
	if got := end()[0].Instructions; !strings.Contains(got, "100%!s(MISSING)") {
		t.Errorf("the instructions are\n%s\nIf WithSystem does not format its text, the recipe needs no %%s.", got)
	}
}

// TestGenerateEndsOnMistakesOfTheModel shows why Ask calls the tools itself, and why a tool returns
// no error.
func TestGenerateEndsOnMistakesOfTheModel(t *testing.T) {
	for _, call := range []fakeapi.Call{
		{ID: "call_1", Name: "send_mail", Arguments: `{}`},
		{ID: "call_1", Name: "list_commands", Arguments: `{"page_size":"many"}`},
		{ID: "call_1", Name: "failing", Arguments: `{}`},
	} {
		shelf := fakeapi.NewShelf(t, mcpadapter.WithDialect(mcpadapter.Gemini))
		url, end := fakeapi.Gemini.Serve(t, []fakeapi.Turn{{Calls: []fakeapi.Call{call}}, {Text: "Done."}})
		g := start(t.Context(), t, url)
		failing := ai.NewTool("failing", "Fails.", func(*ai.ToolContext, any) (string, error) { return "", errors.New("failed") },
			ai.WithInputSchema(map[string]any{"type": "object"}))
		_, err := genkit.Generate(t.Context(), g, ai.WithPrompt("Hello"), ai.WithTools(append(tools(shelf.Adapter), failing)...))
		if err == nil || len(end()) != 1 {
			t.Errorf("%s %s: got %v; if the model receives the mistake, the recipe needs no loop", call.Name, call.Arguments, err)
		}
	}
}

func TestTwoQuestionsShareGenkit(t *testing.T) {
	shelf := fakeapi.NewShelf(t, mcpadapter.WithDialect(mcpadapter.Gemini))
	url, end := fakeapi.Gemini.Serve(t, []fakeapi.Turn{{Text: "Done."}, {Text: "Done."}})
	g := start(t.Context(), t, url)
	for range 2 {
		if said, err := Ask(t.Context(), g, shelf.Adapter, shelf.Instructions, "Hello"); err != nil || said != "Done." {
			t.Errorf("got %q, %v", said, err)
		}
	}
	if n := len(end()); n != 2 {
		t.Errorf("%d requests", n)
	}
}
