package agents_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	einoopenai "github.com/cloudwego/eino-ext/components/model/openai"
	einomodel "github.com/cloudwego/eino/components/model"
	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	openaisdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	langchainopenai "github.com/tmc/langchaingo/llms/openai"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/model/gemini"
	adktool "google.golang.org/adk/v2/tool"
	genaisdk "google.golang.org/genai"

	"github.com/toolshelf-go/toolshelf/examples/agents/adk"
	"github.com/toolshelf-go/toolshelf/examples/agents/anthropic"
	"github.com/toolshelf-go/toolshelf/examples/agents/eino"
	"github.com/toolshelf-go/toolshelf/examples/agents/genai"
	"github.com/toolshelf-go/toolshelf/examples/agents/langchaingo"
	"github.com/toolshelf-go/toolshelf/examples/agents/openai"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// missingTool is the beginning of ADK's answer to the call of a missing tool. The answer lists the
// tools.
const missingTool = `{"error":"tool 'send_mail' not found.\nAvailable tools: …`

func TestRecipesRunTheScenario(t *testing.T) {
	strict := func(d mcpadapter.Dialect) []mcpadapter.Option {
		return []mcpadapter.Option{mcpadapter.WithDialect(d)}
	}
	for name, s := range map[string]scenario{
		"anthropic, loop": {api: messages, options: strict(mcpadapter.AnthropicStrict), strict: true,
			ask: func(ctx context.Context, s shelf, question string) (string, error) {
				return anthropic.Ask(ctx, anthropicClient(s.url), s.adapter, s.instructions, question)
			}},
		"anthropic, runner": {api: messages,
			ask: func(ctx context.Context, s shelf, question string) (string, error) {
				return anthropic.AskRunner(ctx, anthropicClient(s.url), s.adapter, s.instructions, question)
			},
			answer: func(s shelf, call toolCall) string {
				text, isError := s.answer(call)
				switch {
				case call.Name == "send_mail":
					return "Error: Tool 'send_mail' not found" // written by the runner
				case isError:
					return "Error: " + text // the runner adds the prefix
				}
				return text
			}},
		"openai, chat": {api: completions, options: strict(mcpadapter.OpenAIStrict), strict: true, noErrorFlag: true,
			ask: func(ctx context.Context, s shelf, question string) (string, error) {
				return openai.AskChat(ctx, openAIClient(s.url), s.adapter, s.instructions, question)
			}},
		"openai, responses": {api: responsesAPI, options: strict(mcpadapter.OpenAIStrict), strict: true, noErrorFlag: true,
			ask: func(ctx context.Context, s shelf, question string) (string, error) {
				return openai.AskResponses(ctx, openAIClient(s.url), s.adapter, s.instructions, question)
			}},
		"langchaingo": {api: completions, noErrorFlag: true,
			ask: func(ctx context.Context, s shelf, question string) (string, error) {
				model, err := langchainopenai.New(langchainopenai.WithBaseURL(s.url), langchainopenai.WithToken("key"), langchainopenai.WithModel("gpt-4o"))
				if err != nil {
					return "", err
				}
				return langchaingo.Ask(ctx, model, s.adapter, s.instructions, question)
			}},
		"eino": {api: completions, noErrorFlag: true,
			ask: func(ctx context.Context, s shelf, question string) (string, error) {
				return eino.Ask(ctx, einoModel(ctx, t, s.url), s.adapter, s.instructions, question)
			}},
		"genai": {api: geminiAPI, answer: shelf.mapText,
			ask: func(ctx context.Context, s shelf, question string) (string, error) {
				client, err := genaisdk.NewClient(ctx, geminiConfig(s.url))
				if err != nil {
					return "", err
				}
				return genai.Ask(ctx, client, s.adapter, s.instructions, question)
			}},
		"ADK, MCP": {api: geminiAPI,
			ask: func(ctx context.Context, s shelf, question string) (string, error) {
				toolset, err := adk.MCPTools(ctx, s.adapter)
				if err != nil {
					return "", err
				}
				config := llmagent.Config{Model: adkModel(ctx, t, s.url), Toolsets: []adktool.Toolset{toolset}}
				return adk.Ask(ctx, config, s.instructions, question)
			},
			answer: func(s shelf, call toolCall) string {
				if call.Name == "send_mail" {
					return missingTool
				}
				if text, failed := s.answer(call); failed {
					return jsonOf(map[string]any{"error": "Tool execution failed. Details: " + text})
				}
				return jsonOf(map[string]any{"output": s.answerMap(call)}) // the structured content
			}},
		"ADK, functions": {api: geminiAPI,
			ask: func(ctx context.Context, s shelf, question string) (string, error) {
				tools, err := adk.FunctionTools(s.adapter)
				if err != nil {
					return "", err
				}
				return adk.Ask(ctx, llmagent.Config{Model: adkModel(ctx, t, s.url), Tools: tools}, s.instructions, question)
			},
			answer: func(s shelf, call toolCall) string {
				switch call.ID {
				case "call_4": // ADK checks the types before the function
					return jsonOf(map[string]any{"error": `validating root: validating /properties/page_size: type: many has type "string", want "integer"`})
				case "call_5":
					return missingTool
				}
				return s.mapText(call)
			}},
	} {
		t.Run(name, s.run)
	}
}

func anthropicClient(url string) anthropicsdk.Client {
	return anthropicsdk.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("key"), anthropicoption.WithMaxRetries(0))
}

func openAIClient(url string) openaisdk.Client {
	return openaisdk.NewClient(option.WithBaseURL(url), option.WithAPIKey("key"), option.WithMaxRetries(0))
}

func geminiConfig(url string) *genaisdk.ClientConfig {
	return &genaisdk.ClientConfig{APIKey: "key", Backend: genaisdk.BackendGeminiAPI,
		HTTPOptions: genaisdk.HTTPOptions{BaseURL: url}}
}

// adkModel returns ADK's client of the Gemini API at the URL.
func adkModel(ctx context.Context, t *testing.T, url string) model.LLM {
	t.Helper()
	return must.Get(gemini.NewModel(ctx, "gemini", geminiConfig(url)))(t)
}

// einoModel returns Eino's client of the Chat Completions API at the URL.
func einoModel(ctx context.Context, t *testing.T, url string) einomodel.ToolCallingChatModel {
	t.Helper()
	return must.Get(einoopenai.NewChatModel(ctx, &einoopenai.ChatModelConfig{APIKey: "key", BaseURL: url, Model: "gpt"}))(t)
}

func TestAnswerWithoutTextIsEmpty(t *testing.T) {
	strict := newShelf(t, mcpadapter.WithDialect(mcpadapter.AnthropicStrict))
	functions := must.Get(adk.FunctionTools(newShelf(t).adapter))(t)
	for name, of := range map[string]struct {
		api fakeAPI
		ask func(ctx context.Context, url string) (string, error)
	}{
		"Ask": {messages, func(ctx context.Context, url string) (string, error) {
			return anthropic.Ask(ctx, anthropicClient(url), strict.adapter, "", "How do I review?")
		}},
		"AskRunner": {messages, func(ctx context.Context, url string) (string, error) {
			return anthropic.AskRunner(ctx, anthropicClient(url), strict.adapter, "", "How do I review?")
		}},
		"ADK": {geminiAPI, func(ctx context.Context, url string) (string, error) {
			return adk.Ask(ctx, llmagent.Config{Model: adkModel(ctx, t, url), Tools: functions}, "", "How do I review?")
		}},
	} {
		url, end := of.api.serve(t, []turn{{}})
		text, err := of.ask(t.Context(), url)
		if text != "" || err != nil || len(end()) != 1 {
			t.Errorf("%s = %q, %v; want an empty text", name, text, err)
		}
	}
}

// TestInstructionWouldExpandBraces shows why adk.Ask has an InstructionProvider.
func TestInstructionWouldExpandBraces(t *testing.T) {
	s := newShelf(t)
	url, end := geminiAPI.serve(t, []turn{{Text: "Done."}})
	config := llmagent.Config{Name: "shelf", Model: adkModel(t.Context(), t, url), Instruction: s.instructions}
	_, err := adk.Run(t.Context(), must.Get(llmagent.New(config))(t), "How do I review?")
	if err == nil || !strings.Contains(err.Error(), "state key does not exist") || len(end()) > 0 {
		t.Errorf("got %v; if ADK no longer expands {customer}, the recipe needs no InstructionProvider", err)
	}
}

func TestSkillToolsetServesTheCatalog(t *testing.T) {
	s := newShelf(t)
	url, end := geminiAPI.serve(t, []turn{
		{Calls: []toolCall{
			{"call_1", "load_skill", `{"name":"letter"}`},
			{"call_2", "load_skill_resource", `{"skill_name":"letter","resource_path":"text.md"}`},
			{"call_3", "load_skill", `{"name":"leter"}`},
			{"call_4", "load_skill_resource", `{"skill_name":"letter","resource_path":"../../commands/review.md"}`},
		}},
		{Text: "Done."},
	})
	config := llmagent.Config{Model: adkModel(t.Context(), t, url)}
	must.Get(adk.AskSkills(t.Context(), config, s.catalog, "How do I write a letter?"))(t)
	requests := end()
	must.Contain(t, "instructions", requests[0].instructions, "Fills {customer} and {{date}} into letters, 100%s of them.")
	want := []string{"Ask for the customer.", "Dear {customer},", "SKILL_NOT_FOUND", "OUTSIDE_ROOT"}
	for i, answer := range requests[1].answers {
		if !strings.Contains(answer.text, want[i]) || answer.isError != (i >= 2) {
			t.Errorf("answer %d is %s, want %q", i+1, answer.text, want[i])
		}
	}
}

// A failing tool of Eino has a name and returns an error.
type failing struct{}

func (failing) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "failing", Desc: "Fails."}, nil
}

func (failing) InvokableRun(context.Context, string, ...einotool.Option) (string, error) {
	return "", errors.New("the tool failed")
}

// TestErrorOfAToolEndsTheRun shows why the tools of Eino return no error, and why the recipe sets an
// UnknownToolsHandler.
func TestErrorOfAToolEndsTheRun(t *testing.T) {
	config := compose.ToolsNodeConfig{Tools: []einotool.BaseTool{failing{}}}
	for _, name := range []string{"failing", "send_mail"} {
		url, end := completions.serve(t, []turn{{Calls: []toolCall{{"call_1", name, `{}`}}}, {Text: "Done."}})
		agent := must.Get(react.NewAgent(t.Context(), &react.AgentConfig{ToolCallingModel: einoModel(t.Context(), t, url), ToolsConfig: config}))(t)
		if _, err := agent.Generate(t.Context(), []*schema.Message{schema.UserMessage("Hello")}); err == nil || len(end()) != 1 {
			t.Errorf("%s: got %v; if the model receives the error, the recipe may return errors", name, err)
		}
	}
}
