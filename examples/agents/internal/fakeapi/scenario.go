package fakeapi

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// The files of the scenario. Several template languages would change the description of the skill.
var files = map[string]string{
	"commands/review.md":     "---\ndescription: Review a pull request\n---\nRead the diff of $1.\n",
	"skills/letter/SKILL.md": "---\nname: letter\ndescription: Fills {customer} and {{date}} into letters, 100%s of them.\n---\nAsk for the customer.\n",
	"skills/letter/text.md":  "Dear {customer},\n",
}

// A Shelf is what an agent receives in a test.
type Shelf struct {
	URL          string // of the fake
	Catalog      *toolshelf.Catalog
	Adapter      *mcpadapter.Adapter
	Instructions string // the skills of the catalog
}

// Answer returns the text of Adapter.Answer.
func (s Shelf) Answer(call Call) (text string, isError bool) {
	return s.Adapter.Answer(context.Background(), call.Name, json.RawMessage(call.Arguments))
}

// Map returns the result of Adapter.AnswerMap.
func (s Shelf) Map(call Call) map[string]any {
	var arguments map[string]any
	must.Do(must.Program, json.Unmarshal([]byte(call.Arguments), &arguments))
	return s.Adapter.AnswerMap(context.Background(), call.Name, arguments)
}

// MapText returns the result of Adapter.AnswerMap as JSON.
func (s Shelf) MapText(call Call) string { return Text(s.Map(call)) }

// noArguments returns the arguments of a model that omits all arguments: null for each required
// property.
func (s Shelf) noArguments(name string) string {
	tool, _ := s.Adapter.Lookup(name)
	arguments := map[string]any{}
	required, _ := tool.Schema()["required"].([]any)
	for _, property := range required {
		arguments[property.(string)] = nil
	}
	return Text(arguments)
}

// Text returns a map as JSON.
func Text(m map[string]any) string { return string(must.Get(json.Marshal(m))(must.Program)) }

// A Scenario runs an agent against a fake: the model lists the commands, gets a command, makes
// mistakes and ends.
type Scenario struct {
	Wire    Wire
	Options []mcpadapter.Option
	Ask     func(ctx context.Context, shelf Shelf, question string) (string, error)

	// Answer returns the text that reaches the model. The default is the text of Adapter.Answer. A
	// text that ends with "…" is the beginning.
	Answer func(shelf Shelf, call Call) string
	// Strict is set if the agent requests strict tools.
	Strict bool
	// LossySchemas is set if the framework sends only a part of a schema, with the types of the
	// required properties.
	LossySchemas bool
	// NoErrorFlag is set if the wire format or the framework has no flag for a failed call.
	NoErrorFlag bool
}

// Run runs the scenario and returns the requests of the agent.
func (s Scenario) Run(t *testing.T) []Request {
	t.Helper()
	shelf := NewShelf(t, s.Options...)
	turns := []Turn{
		{Calls: []Call{{"call_1", "list_commands", shelf.noArguments("list_commands")}}},
		{Calls: []Call{{"call_2", "get_command", `{"command_name":"review"}`}}},
		{Calls: []Call{
			{"call_3", "get_command", `{"command_name":"reviw"}`},  // no such command
			{"call_4", "list_commands", `{"page_size":"many"}`},    // an argument of the wrong type
			{"call_5", "send_mail", `{"to":"customer"}`},           // no such tool
			{"call_6", "get_command", `{"command_name":"review"}`}, // still answered
		}},
		{Text: "Read the diff."},
	}
	if s.Wire.textArguments {
		turns[2].Calls = append(turns[2].Calls, Call{"call_7", "list_commands", ``}, Call{"call_8", "get_command", `{"command_name":`})
	}
	url, end := s.Wire.Serve(t, turns)
	shelf.URL = url
	said, err := s.Ask(t.Context(), shelf, "How do I review?")
	requests := end()
	if err != nil || said != "Read the diff." {
		t.Errorf("the agent returned %q, %v", said, err)
	}
	if len(requests) != len(turns) {
		t.Fatalf("%d requests, want %d", len(requests), len(turns))
	}
	for i, request := range requests {
		if !strings.Contains(request.Instructions, shelf.Instructions) {
			t.Errorf("request %d has the instructions\n%s\nwant\n%s", i+1, request.Instructions, shelf.Instructions)
		}
		s.checkTools(t, shelf, request.Tools)
		for j, answer := range request.Answers {
			s.checkAnswer(t, shelf, turns[i-1].Calls[j], answer)
		}
	}
	return requests
}

func (s Scenario) checkTools(t *testing.T, shelf Shelf, tools []Tool) {
	t.Helper()
	var all []Tool
	for _, tool := range shelf.Adapter.Tools() {
		all = append(all, Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Schema()})
	}
	for _, tool := range tools {
		if tool.Strict != s.Strict {
			t.Errorf("tool %s: strict is %t", tool.Name, tool.Strict)
		}
	}
	if diff := cmp.Diff(s.comparable(all), s.comparable(tools)); diff != "" {
		t.Errorf("tools, -adapter +request:\n%s", diff)
	}
}

// comparable returns the parts of tools that each framework sends, in one order.
func (s Scenario) comparable(tools []Tool) map[string]Tool {
	all := map[string]Tool{}
	for _, tool := range tools {
		schema := maps.Clone(tool.Schema)
		required, _ := schema["required"].([]any)
		slices.SortFunc(required, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		if delete(schema, "required"); len(required) > 0 {
			schema["required"] = required
		}
		if s.LossySchemas {
			types := map[string]any{}
			for _, name := range required {
				types[name.(string)] = tool.Schema["properties"].(map[string]any)[name.(string)].(map[string]any)["type"]
			}
			schema = types
		}
		all[tool.Name] = Tool{Name: tool.Name, Description: tool.Description, Schema: schema}
	}
	return all
}

func (s Scenario) checkAnswer(t *testing.T, shelf Shelf, call Call, answer Answer) {
	t.Helper()
	want, isError := shelf.Answer(call)
	if s.Answer != nil {
		want = s.Answer(shelf, call)
	}
	if begin, cut := strings.CutSuffix(want, "…"); cut && strings.HasPrefix(answer.Text, begin) {
		want = answer.Text
	}
	if diff := cmp.Diff(want, answer.Text); diff != "" {
		t.Errorf("the answer to %s %s, -want +got:\n%s", call.Name, call.Arguments, diff)
	}
	if answer.IsError != (isError && !s.NoErrorFlag) {
		t.Errorf("the answer to %s %s has the error flag %t", call.Name, call.Arguments, answer.IsError)
	}
}

// NewShelf returns a catalog in memory with an adapter. The URL is empty.
func NewShelf(t *testing.T, opts ...mcpadapter.Option) (shelf Shelf) {
	t.Helper()
	shelf.Catalog = catalogtest.Open(t, toolshelf.WithFs(catalogtest.Memory(t, files)))
	shelf.Adapter = must.Get(mcpadapter.New(shelf.Catalog, opts...))(t)
	shelf.Instructions = must.Get(shelf.Catalog.SkillsPrompt(t.Context()))(t).Text
	return shelf
}
