package adk

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/model/gemini"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/toolshelf-go/toolshelf/examples/agents/internal/fakeapi"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// missingTool is the beginning of ADK's answer to the call of a missing tool. The answer lists the
// tools.
const missingTool = `{"error":"tool 'send_mail' not found.\nAvailable tools: …`

// newModel returns ADK's client of the Gemini API at the URL.
func newModel(ctx context.Context, t *testing.T, url string) model.LLM {
	t.Helper()
	llm, err := gemini.NewModel(ctx, "gemini", &genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	if err != nil {
		t.Fatal(err)
	}
	return llm
}

func TestMCPToolsetRunsTheScenario(t *testing.T) {
	fakeapi.Scenario{
		Wire: fakeapi.Gemini,
		Ask: func(ctx context.Context, shelf fakeapi.Shelf, question string) (string, error) {
			toolset, err := mcpTools(ctx, shelf.Adapter)
			if err != nil {
				return "", err
			}
			config := llmagent.Config{Model: newModel(ctx, t, shelf.URL), Toolsets: []tool.Toolset{toolset}}
			return Ask(ctx, config, shelf.Instructions, question)
		},
		Answer: func(shelf fakeapi.Shelf, call fakeapi.Call) string {
			if call.Name == "send_mail" {
				return missingTool
			}
			if text, failed := shelf.Answer(call); failed {
				return fakeapi.Text(map[string]any{"error": "Tool execution failed. Details: " + text})
			}
			return fakeapi.Text(map[string]any{"output": shelf.Map(call)}) // the structured content
		},
	}.Run(t)
}

func TestFunctionToolsRunTheScenario(t *testing.T) {
	fakeapi.Scenario{
		Wire: fakeapi.Gemini,
		Ask: func(ctx context.Context, shelf fakeapi.Shelf, question string) (string, error) {
			tools, err := functionTools(shelf.Adapter)
			if err != nil {
				return "", err
			}
			return Ask(ctx, llmagent.Config{Model: newModel(ctx, t, shelf.URL), Tools: tools}, shelf.Instructions, question)
		},
		Answer: func(shelf fakeapi.Shelf, call fakeapi.Call) string {
			switch call.ID {
			case "call_4": // ADK checks the types before the function
				return fakeapi.Text(map[string]any{"error": `validating root: validating /properties/page_size: type: many has type "string", want "integer"`})
			case "call_5":
				return missingTool
			}
			return shelf.MapText(call)
		},
	}.Run(t)
}

// TestInstructionWouldExpandBraces shows why Ask has an InstructionProvider.
func TestInstructionWouldExpandBraces(t *testing.T) {
	shelf := fakeapi.NewShelf(t)
	url, end := fakeapi.Gemini.Serve(t, []fakeapi.Turn{{Text: "Done."}})
	config := llmagent.Config{Name: "shelf", Model: newModel(t.Context(), t, url), Instruction: shelf.Instructions}
	shelfAgent := must.Get(llmagent.New(config))(t)
	_, err := Run(t.Context(), shelfAgent, "How do I review?")
	if err == nil || !strings.Contains(err.Error(), "state key does not exist") || len(end()) > 0 {
		t.Errorf("got %v; if ADK no longer expands {customer}, the recipe needs no InstructionProvider", err)
	}
}

func TestAnswerWithoutTextIsEmpty(t *testing.T) {
	tools := must.Get(functionTools(fakeapi.NewShelf(t).Adapter))(t)
	url, end := fakeapi.Gemini.Serve(t, []fakeapi.Turn{{}})
	text, err := Ask(t.Context(), llmagent.Config{Model: newModel(t.Context(), t, url), Tools: tools}, "", "How do I review?")
	if text != "" || err != nil || len(end()) != 1 {
		t.Errorf("Ask = %q, %v; want an empty text", text, err)
	}
}

func TestSkillToolsetServesTheCatalog(t *testing.T) {
	shelf := fakeapi.NewShelf(t)
	url, end := fakeapi.Gemini.Serve(t, []fakeapi.Turn{
		{Calls: []fakeapi.Call{
			{ID: "call_1", Name: "load_skill", Arguments: `{"name":"letter"}`},
			{ID: "call_2", Name: "load_skill_resource", Arguments: `{"skill_name":"letter","resource_path":"text.md"}`},
			{ID: "call_3", Name: "load_skill", Arguments: `{"name":"leter"}`},
			{ID: "call_4", Name: "load_skill_resource", Arguments: `{"skill_name":"letter","resource_path":"../../commands/review.md"}`},
		}},
		{Text: "Done."},
	})
	config := llmagent.Config{Model: newModel(t.Context(), t, url)}
	must.Get(AskSkills(t.Context(), config, shelf.Catalog, "How do I write a letter?"))(t)
	requests := end()
	const listed = "Fills {customer} and {{date}} into letters, 100%s of them."
	if !strings.Contains(requests[0].Instructions, listed) {
		t.Errorf("the instructions have no skill:\n%s", requests[0].Instructions)
	}
	want := []string{"Ask for the customer.", "Dear {customer},", "SKILL_NOT_FOUND", "OUTSIDE_ROOT"}
	for i, answer := range requests[1].Answers {
		if !strings.Contains(answer.Text, want[i]) || answer.IsError != (i >= 2) {
			t.Errorf("answer %d is %s, want %q", i+1, answer.Text, want[i])
		}
	}
}
