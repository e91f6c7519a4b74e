package agents_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/template"

	"github.com/tidwall/gjson"
)

// A toolCall is a tool call that the model makes.
type toolCall struct {
	ID        string
	Name      string
	Arguments string // JSON, unless the model makes a mistake
}

// A turn is one response of the model: calls of tools, or a text.
type turn struct {
	Calls []toolCall
	Text  string
}

// A request is the content of one HTTP request, independent of the wire format.
type request struct {
	instructions string       // of the system
	tools        []toolSchema // in the order of the request
	answers      []answer     // to the calls of the preceding turn
}

// A toolSchema is the definition of a tool.
type toolSchema struct {
	Name, Description string
	Schema            map[string]any
	Strict            bool
}

// An answer is the result of a call that reaches the model.
type answer struct {
	callID  string // "" if the wire format needs no ID
	name    string // "" if the wire format names no tool
	text    string // JSON if the wire format has answers in the form of objects
	isError bool
}

// A fakeAPI is a fake of the HTTP API of a provider of models. A fake plays scripted turns of a
// model, and refuses a request without an answer to each call. The paths to the values of a request
// have the syntax of GJSON.
type fakeAPI struct {
	path          string // the end of the URL's path
	response      string // the template of testdata
	textArguments bool   // the arguments of a call are a text, which may be malformed

	instructions string
	tools        string
	schema       string // of a tool
	items        string // of the conversation
	answers      string // from the items after the last items of the model
	id, text     string // of an answer
	failed       string // of an answer; "" if the API has no flag
	previous     string // the ID of the stored conversation, to which a request with answers refers
}

var (
	// messages is the Messages API of Anthropic.
	messages = fakeAPI{
		path: "/v1/messages", response: "anthropic.json",
		instructions: "system", tools: "tools", schema: "input_schema",
		items: "messages", answers: `#.content.#(type=="tool_result")#|@flatten`,
		id: "tool_use_id", text: "content", failed: "is_error",
	}

	// completions is the Chat Completions API of OpenAI.
	completions = fakeAPI{
		path: "/chat/completions", response: "openai-chat.json", textArguments: true,
		instructions: `messages.#(role=="system")#.content`,
		tools:        "tools.#.function", schema: "parameters",
		items: "messages", answers: `#(role=="tool")#`, id: "tool_call_id", text: "content",
	}

	// responsesAPI is the Responses API of OpenAI. The API stores the conversation: a request has
	// only new items.
	responsesAPI = fakeAPI{
		path: "/responses", response: "openai-responses.json", textArguments: true,
		instructions: "instructions", tools: "tools", schema: "parameters",
		items: "input", answers: `#(type=="function_call_output")#`, id: "call_id", text: "output",
		previous: "previous_response_id",
	}

	// geminiAPI is the method generateContent of the Gemini API. The text of an answer is a JSON
	// object.
	geminiAPI = fakeAPI{
		path: ":generateContent", response: "gemini.json",
		instructions: "systemInstruction.parts",
		tools:        "tools.#.functionDeclarations|@flatten", schema: "parametersJsonSchema",
		items: "contents", answers: "#.parts.#.functionResponse|@flatten",
		id: "id", text: "response", failed: "response.error",
	}
)

// serve returns the URL of a fake that plays the turns in order. The returned function ends the
// fake and returns the accepted requests.
func (f fakeAPI) serve(t *testing.T, turns []turn) (url string, end func() []request) {
	var mu sync.Mutex
	var accepted []request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		body, err := io.ReadAll(r.Body)
		var received request
		if err == nil {
			received, err = f.accept(r.URL.Path, body, turns, len(accepted))
		}
		var response bytes.Buffer
		if err == nil {
			err = responses.ExecuteTemplate(&response, f.response, turns[len(accepted)])
		}
		if err != nil {
			t.Errorf("the API refuses request %d: %v", len(accepted)+1, err)
			w.WriteHeader(http.StatusBadRequest)
			refusal := map[string]any{"type": "invalid_request_error", "status": "INVALID_ARGUMENT", "message": err.Error()}
			json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": refusal})
			return
		}
		accepted = append(accepted, received)
		w.Write(response.Bytes())
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []request {
		server.Close()
		return accepted
	}
}

// accept returns the content of a request after n accepted requests, or the reason for a refusal.
func (f fakeAPI) accept(path string, body []byte, turns []turn, n int) (request, error) {
	if !strings.HasSuffix(path, f.path) {
		return request{}, fmt.Errorf("the path is %s, not …%s", path, f.path)
	}
	if n >= len(turns) {
		return request{}, fmt.Errorf("the script has only %d turns", len(turns))
	}
	if !gjson.ValidBytes(body) {
		return request{}, fmt.Errorf("no JSON: %.1000s", body)
	}
	in := gjson.ParseBytes(body)
	received := f.decode(in)
	if f.previous != "" && len(received.answers) > 0 && in.Get(f.previous).String() != "resp_1" {
		return request{}, fmt.Errorf("answers without the ID of their response")
	}
	if n == 0 {
		return received, nil
	}
	return received, pair(turns[n-1].Calls, received.answers)
}

// decode returns the content of a request.
func (f fakeAPI) decode(in gjson.Result) (received request) {
	received.instructions = text(in.Get(f.instructions))
	for _, tool := range in.Get(f.tools).Array() {
		schema, _ := tool.Get(f.schema).Value().(map[string]any)
		received.tools = append(received.tools, toolSchema{tool.Get("name").String(),
			tool.Get("description").String(), schema, tool.Get("strict").Bool()})
	}
	var after []string // the last items of the model
	for _, item := range in.Get(f.items).Array() {
		after = append(after, item.Raw)
		if role := item.Get("role").String(); role == "assistant" || role == "model" {
			after = nil
		}
	}
	for _, a := range gjson.Get("["+strings.Join(after, ",")+"]", f.answers).Array() {
		failed := a.Get(f.failed)
		received.answers = append(received.answers, answer{
			callID: a.Get(f.id).String(), name: a.Get("name").String(),
			text: text(a.Get(f.text)), isError: failed.Exists() && failed.Type != gjson.False,
		})
	}
	return received
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

// pair puts the answers into the order of the calls. Each call must have exactly one answer.
func pair(calls []toolCall, answers []answer) error {
	if len(answers) != len(calls) {
		return fmt.Errorf("%d answers to %d calls: %+v", len(answers), len(calls), answers)
	}
	for i, call := range calls {
		at := slices.IndexFunc(answers[i:], func(a answer) bool {
			return (a.callID == call.ID || a.callID == "") && (a.name == call.Name || a.name == "")
		})
		if at < 0 {
			return fmt.Errorf("no answer to the call %s of %s: %+v", call.ID, call.Name, answers)
		}
		answers[i], answers[i+at] = answers[i+at], answers[i]
	}
	return nil
}

var responses = template.Must(template.New("").Funcs(template.FuncMap{
	"json": func(text string) (string, error) {
		raw, err := json.Marshal(text)
		return string(raw), err
	},
}).ParseGlob("testdata/*.json"))

func TestEachCallNeedsItsAnswer(t *testing.T) {
	calls := []toolCall{{ID: "a", Name: "list"}, {ID: "b", Name: "get"}}
	if err := pair(calls, []answer{{callID: "b", name: "get"}, {callID: "a", name: "list"}}); err != nil {
		t.Error(err)
	}
	for _, answers := range [][]answer{nil, {{callID: "a"}}, {{callID: "a"}, {callID: "a"}}, {{name: "get"}, {name: "get"}}} {
		if pair(calls, answers) == nil {
			t.Errorf("%+v answer the calls %+v", answers, calls)
		}
	}
}
