package fakeapi

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/tidwall/gjson"
)

// A Wire is the format of one API. The paths to the values of a request have the syntax of GJSON.
type Wire struct {
	path          string // the end of the URL's path
	response      string // the template of testdata
	textArguments bool   // the arguments of a call are a text, which may be malformed

	instructions string
	tools        string
	schema       string // of a tool, as JSON Schema
	openAPI      string // of a tool, in place of schema
	items        string // of the conversation
	answers      string // from the items after the last items of the model
	id, text     string // of an answer
	failed       string // of an answer; "" if the API has no flag
	previous     string // the ID of the stored conversation, to which a request with answers refers

	rules
}

var openAI = rules{
	name:        regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
	refused:     []string{"default", "examples", "allOf", "not", "dependentRequired", "if"},
	requiresAll: true,
}

var (
	// Anthropic is the Messages API.
	Anthropic = Wire{
		path: "/v1/messages", response: "anthropic.json",
		instructions: "system", tools: "tools", schema: "input_schema",
		items: "messages", answers: `#.content.#(type=="tool_result")#|@flatten`,
		id: "tool_use_id", text: "content", failed: "is_error",
		rules: rules{
			name: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`),
			refused: []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
				"maxLength", "maxItems", "uniqueItems", "minProperties", "maxProperties"},
			limits: [3]int{20, 24, 16},
		},
	}

	// OpenAIChat is the Chat Completions API.
	OpenAIChat = Wire{
		path: "/chat/completions", response: "openai-chat.json", rules: openAI, textArguments: true,
		instructions: `messages.#(role=="system")#.content`,
		tools:        "tools.#.function", schema: "parameters",
		items: "messages", answers: `#(role=="tool")#`, id: "tool_call_id", text: "content",
	}

	// OpenAIResponses is the Responses API. The API stores the conversation: a request has only new
	// items.
	OpenAIResponses = Wire{
		path: "/responses", response: "openai-responses.json", rules: openAI, textArguments: true,
		instructions: "instructions", tools: "tools", schema: "parameters",
		items: "input", answers: `#(type=="function_call_output")#`, id: "call_id", text: "output",
		previous: "previous_response_id",
	}

	// Gemini is the method generateContent of the Gemini API. The text of an answer is a JSON object.
	Gemini = Wire{
		path: ":generateContent", response: "gemini.json",
		rules:        rules{name: regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`)},
		instructions: "systemInstruction.parts",
		tools:        "tools.#.functionDeclarations|@flatten",
		schema:       "parametersJsonSchema", openAPI: "parameters",
		items: "contents", answers: "#.parts.#.functionResponse|@flatten",
		id: "id", text: "response", failed: "response.error",
	}
)

// decode returns the content of a request.
func (w Wire) decode(body []byte) (request Request, err error) {
	if !gjson.ValidBytes(body) {
		return request, fmt.Errorf("no JSON")
	}
	in := gjson.ParseBytes(body)
	request.Instructions = text(in.Get(w.instructions))
	for _, tool := range in.Get(w.tools).Array() {
		name, description := tool.Get("name").String(), tool.Get("description").String()
		schema, _ := tool.Get(w.schema).Value().(map[string]any)
		if old, ok := tool.Get(w.openAPI).Value().(map[string]any); ok {
			if err := openAPI(old); err != nil {
				return request, fmt.Errorf("parameters of %s: %w", name, err)
			}
			schema = old
		}
		request.Tools = append(request.Tools, Tool{name, description, schema, tool.Get("strict").Bool()})
	}
	var after []string // the last items of the model
	for _, item := range in.Get(w.items).Array() {
		after = append(after, item.Raw)
		if role := item.Get("role").String(); role == "assistant" || role == "model" {
			after = nil
		}
	}
	for _, answer := range gjson.Get("["+strings.Join(after, ",")+"]", w.answers).Array() {
		failed := answer.Get(w.failed)
		request.Answers = append(request.Answers, Answer{
			CallID: answer.Get(w.id).String(), Name: answer.Get("name").String(),
			Text: text(answer.Get(w.text)), IsError: failed.Exists() && failed.Type != gjson.False,
		})
	}
	if w.previous != "" && len(request.Answers) > 0 && in.Get(w.previous).String() != "resp_1" {
		return request, fmt.Errorf("answers without the ID of their response")
	}
	return request, nil
}

// text returns a text, the texts of a list, or the JSON of an object.
func text(value gjson.Result) (all string) {
	if !value.IsArray() {
		return value.String()
	}
	for _, part := range value.Array() {
		if part.IsObject() {
			part = part.Get("text")
		}
		all += text(part)
	}
	return all
}

//go:embed testdata
var testdata embed.FS

var responses = template.Must(template.New("").Funcs(template.FuncMap{
	"json": func(text string) (string, error) {
		raw, err := json.Marshal(text)
		return string(raw), err
	},
}).ParseFS(testdata, "testdata/*.json"))

// encode returns the response with a turn.
func (w Wire) encode(turn Turn) ([]byte, error) {
	var response bytes.Buffer
	err := responses.ExecuteTemplate(&response, w.response, turn)
	return response.Bytes(), err
}
