package genkit

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/googlegenai"
	_ "github.com/firebase/genkit/go/plugins/mcp" // builds beside the library
	"google.golang.org/genai"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// A request is a request of the Gemini API.
type request struct {
	SystemInstruction *genai.Content
	Contents          []*genai.Content
	Tools             []*genai.Tool
}

// start returns Genkit with a fake of the Gemini API, which plays the turns of a model in order. The
// returned function ends the fake and returns the requests.
func start(t *testing.T, turns ...[]*genai.Part) (*genkit.Genkit, func() []request) {
	t.Helper()
	var requests []request // Genkit sends one request at a time
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked request
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(requests) == len(turns) {
			t.Errorf("request %d: %v", len(requests)+1, err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		said := genai.NewContentFromParts(turns[len(requests)], genai.RoleModel)
		requests = append(requests, asked)
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(genai.GenerateContentResponse{
			Candidates: []*genai.Candidate{{Content: said, FinishReason: genai.FinishReasonStop}},
		})
	}))
	t.Cleanup(fake.Close)
	t.Setenv("GOOGLE_GEMINI_BASE_URL", fake.URL)
	plugin := genkit.WithPlugins(&googlegenai.GoogleAI{APIKey: "key"})
	return genkit.Init(t.Context(), plugin, genkit.WithDefaultModel("googleai/gemini-2.5-flash")), func() []request {
		fake.Close()
		return requests
	}
}

func calls(name string, arguments map[string]any) *genai.Part {
	return genai.NewPartFromFunctionCall(name, arguments)
}

func text(of string) []*genai.Part { return []*genai.Part{genai.NewPartFromText(of)} }

// shelf returns an adapter, and the text of the skills.
func shelf(t *testing.T) (*mcpadapter.Adapter, string) {
	t.Helper()
	c := catalogtest.Open(t, toolshelf.WithFs(catalogtest.Memory(t, map[string]string{
		"commands/review.md":     "---\ndescription: Review a pull request\n---\nRead the diff of $1.\n",
		"skills/letter/SKILL.md": "---\nname: letter\ndescription: Fills {customer} and {{date}} into letters, 100%s of them.\n---\n",
	})))
	adapter := must.Get(mcpadapter.New(c, mcpadapter.WithDialect(mcpadapter.Gemini)))(t)
	return adapter, must.Get(c.SkillsPrompt(t.Context()))(t).Text
}

// In the scenario, the model lists the commands, gets a command, makes mistakes and ends.
func TestRecipeRunsTheScenario(t *testing.T) {
	adapter, instructions := shelf(t)
	turns := [][]*genai.Part{
		{calls("list_commands", map[string]any{})},
		{calls("get_command", map[string]any{"command_name": "review"})},
		{
			calls("get_command", map[string]any{"command_name": "reviw"}),  // no such command
			calls("list_commands", map[string]any{"page_size": "many"}),    // an argument of the wrong type
			calls("send_mail", map[string]any{"to": "customer"}),           // no such tool
			calls("get_command", map[string]any{"command_name": "review"}), // still answered
		},
		text("Read the diff."),
	}
	g, end := start(t, turns...)
	must.Equal(t, "Ask", "Read the diff.", must.Get(Ask(t.Context(), g, adapter, instructions, "How do I review?"))(t))
	requests := end()
	must.Len(t, "requests", len(turns), requests)
	for i, r := range requests {
		must.Contain(t, i, r.SystemInstruction.Parts[0].Text, instructions)
		sent := map[string]*genai.FunctionDeclaration{}
		for _, tool := range r.Tools {
			for _, f := range tool.FunctionDeclarations {
				sent[f.Name] = f
			}
		}
		must.Equal(t, "tools", len(adapter.Tools()), len(sent))
		for _, tool := range adapter.Tools() { // Genkit sends a part of the schema
			must.Equal(t, tool.Name, tool.Description, sent[tool.Name].Description)
			required, _ := tool.Schema()["required"].([]any)
			must.Equal(t, tool.Name, len(required), len(sent[tool.Name].Parameters.Required))
			for _, name := range required {
				property := tool.Schema()["properties"].(map[string]any)[name.(string)].(map[string]any)
				got := string(sent[tool.Name].Parameters.Properties[name.(string)].Type)
				must.Equal(t, name, property["type"].(string), strings.ToLower(got))
			}
		}
		if i == 0 {
			continue
		}
		answers := r.Contents[len(r.Contents)-1].Parts
		must.Len(t, "answers", len(turns[i-1]), answers)
		for j, part := range turns[i-1] {
			call, answer := part.FunctionCall, answers[j].FunctionResponse
			must.Equal(t, "name", call.Name, answer.Name)
			want := must.Get(json.Marshal(adapter.AnswerMap(t.Context(), call.Name, call.Args)))(t)
			must.Equal(t, call.Name, string(want), string(must.Get(json.Marshal(answer.Response))(t)))
		}
	}
}

// TestWithSystemFormatsItsText shows why Ask passes the instructions as an argument of "%s".
func TestWithSystemFormatsItsText(t *testing.T) {
	adapter, instructions := shelf(t)
	g, end := start(t, text("Done."))
	must.Get(genkit.Generate(t.Context(), g, ai.WithSystem(instructions), ai.WithPrompt("Hello"), ai.WithTools(tools(adapter)...)))(t)
	if got := end()[0].SystemInstruction.Parts[0].Text; !strings.Contains(got, "100%!s(MISSING)") {
		t.Errorf("the instructions are\n%s\nIf WithSystem does not format its text, the recipe needs no %%s.", got)
	}
}

// TestGenerateEndsOnMistakesOfTheModel shows why Ask calls the tools itself, and why a tool returns
// no error.
func TestGenerateEndsOnMistakesOfTheModel(t *testing.T) {
	for name, call := range map[string]*genai.Part{
		"a missing tool":    calls("send_mail", map[string]any{}),
		"a wrong type":      calls("list_commands", map[string]any{"page_size": "many"}),
		"a tool that fails": calls("failing", map[string]any{}),
	} {
		adapter, _ := shelf(t)
		g, end := start(t, []*genai.Part{call}, text("Done."))
		failing := ai.NewTool("failing", "Fails.", func(*ai.ToolContext, any) (string, error) { return "", errors.New("failed") },
			ai.WithInputSchema(map[string]any{"type": "object"}))
		_, err := genkit.Generate(t.Context(), g, ai.WithPrompt("Hello"), ai.WithTools(append(tools(adapter), failing)...))
		if err == nil || len(end()) != 1 {
			t.Errorf("%s: got %v; if the model receives the mistake, the recipe needs no loop", name, err)
		}
	}
}

func TestTwoQuestionsShareGenkit(t *testing.T) {
	adapter, instructions := shelf(t)
	g, end := start(t, text("Done."), text("Done."))
	for range 2 {
		if said, err := Ask(t.Context(), g, adapter, instructions, "Hello"); err != nil || said != "Done." {
			t.Errorf("got %q, %v", said, err)
		}
	}
	must.Len(t, "requests", 2, end())
}
