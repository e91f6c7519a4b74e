package agents_test

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

// A shelf is what an agent receives in a test.
type shelf struct {
	url          string // of the fake
	catalog      *toolshelf.Catalog
	adapter      *mcpadapter.Adapter
	instructions string // the skills of the catalog
}

// newShelf returns a catalog in memory with an adapter. The URL is empty.
func newShelf(t *testing.T, opts ...mcpadapter.Option) (s shelf) {
	t.Helper()
	s.catalog = catalogtest.Open(t, toolshelf.WithFs(catalogtest.Memory(t, files)))
	s.adapter = must.Get(mcpadapter.New(s.catalog, opts...))(t)
	s.instructions = must.Get(s.catalog.SkillsPrompt(t.Context()))(t).Text
	return s
}

// answer returns the text of Adapter.Answer.
func (s shelf) answer(call toolCall) (text string, isError bool) {
	return s.adapter.Answer(context.Background(), call.Name, json.RawMessage(call.Arguments))
}

// answerMap returns the result of Adapter.AnswerMap.
func (s shelf) answerMap(call toolCall) map[string]any {
	var arguments map[string]any
	must.Do(must.Program, json.Unmarshal([]byte(call.Arguments), &arguments))
	return s.adapter.AnswerMap(context.Background(), call.Name, arguments)
}

// mapText returns the result of Adapter.AnswerMap as JSON.
func (s shelf) mapText(call toolCall) string { return jsonOf(s.answerMap(call)) }

// noArguments returns the arguments of a model that omits all arguments: null for each required
// property.
func (s shelf) noArguments(name string) string {
	tool, _ := s.adapter.Lookup(name)
	arguments := map[string]any{}
	required, _ := tool.Schema()["required"].([]any)
	for _, property := range required {
		arguments[property.(string)] = nil
	}
	return jsonOf(arguments)
}

func jsonOf(m map[string]any) string { return string(must.Get(json.Marshal(m))(must.Program)) }

// A scenario runs an agent against a fake: the model lists the commands, gets a command, makes
// mistakes and ends.
type scenario struct {
	api     fakeAPI
	options []mcpadapter.Option
	ask     func(ctx context.Context, s shelf, question string) (string, error)

	// answer returns the text that reaches the model. The default is the text of Adapter.Answer. A
	// text that ends with "…" is the beginning.
	answer func(s shelf, call toolCall) string
	// strict is set if the agent requests strict tools.
	strict bool
	// noErrorFlag is set if the wire format or the framework has no flag for a failed call.
	noErrorFlag bool
}

func (s scenario) run(t *testing.T) {
	given := newShelf(t, s.options...)
	turns := []turn{
		{Calls: []toolCall{{"call_1", "list_commands", given.noArguments("list_commands")}}},
		{Calls: []toolCall{{"call_2", "get_command", `{"command_name":"review"}`}}},
		{Calls: []toolCall{
			{"call_3", "get_command", `{"command_name":"reviw"}`},  // no such command
			{"call_4", "list_commands", `{"page_size":"many"}`},    // an argument of the wrong type
			{"call_5", "send_mail", `{"to":"customer"}`},           // no such tool
			{"call_6", "get_command", `{"command_name":"review"}`}, // still answered
		}},
		{Text: "Read the diff."},
	}
	if s.api.textArguments {
		turns[2].Calls = append(turns[2].Calls, toolCall{"call_7", "list_commands", ``}, toolCall{"call_8", "get_command", `{"command_name":`})
	}
	url, end := s.api.serve(t, turns)
	given.url = url
	said, err := s.ask(t.Context(), given, "How do I review?")
	requests := end()
	if err != nil || said != "Read the diff." {
		t.Errorf("the agent returned %q, %v", said, err)
	}
	must.Len(t, "requests", len(turns), requests)
	for i, request := range requests {
		must.Contain(t, i, request.instructions, given.instructions)
		s.checkTools(t, given, request.tools)
		for j, answer := range request.answers {
			s.checkAnswer(t, given, turns[i-1].Calls[j], answer)
		}
	}
}

func (s scenario) checkTools(t *testing.T, given shelf, tools []toolSchema) {
	t.Helper()
	var all []toolSchema
	for _, tool := range given.adapter.Tools() {
		all = append(all, toolSchema{tool.Name, tool.Description, tool.Schema(), s.strict})
	}
	if diff := cmp.Diff(comparable(all), comparable(tools)); diff != "" {
		t.Errorf("tools, -adapter +request:\n%s", diff)
	}
}

// comparable returns tools with their required properties in one order.
func comparable(tools []toolSchema) map[string]toolSchema {
	all := map[string]toolSchema{}
	for _, tool := range tools {
		tool.Schema = maps.Clone(tool.Schema)
		required, _ := tool.Schema["required"].([]any)
		slices.SortFunc(required, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		if len(required) == 0 {
			delete(tool.Schema, "required")
		}
		all[tool.Name] = tool
	}
	return all
}

func (s scenario) checkAnswer(t *testing.T, given shelf, call toolCall, got answer) {
	t.Helper()
	want, isError := given.answer(call)
	if s.answer != nil {
		want = s.answer(given, call)
	}
	if begin, cut := strings.CutSuffix(want, "…"); cut && strings.HasPrefix(got.text, begin) {
		want = got.text
	}
	must.Match(t, call, want, got.text)
	must.Equal(t, call, isError && !s.noErrorFlag, got.isError)
}
