package fakeapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestAPIsRefuseInvalidRequests(t *testing.T) {
	const open = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`
	const closed = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`
	for _, test := range []struct {
		name   string
		wire   Wire
		tool   string // the name of the tool
		schema string
		strict bool
		want   string // "" if the API accepts the tool
	}{
		{"Anthropic, any schema", Anthropic, "docs_list", open, false, ""},
		{"Anthropic, dot", Anthropic, "docs.list", open, false, "the name must match"},
		{"Anthropic, strict", Anthropic, "list", closed, true, ""},
		{"Anthropic, strict and open", Anthropic, "list", open, true, "additionalProperties"},
		{"Anthropic, strict with a bound", Anthropic, "list", strings.Replace(closed, `"integer"`, `"integer","minimum":1`, 1), true, "minimum"},
		{"OpenAI, any schema", OpenAIChat, "list", open, false, ""},
		{"OpenAI, dot", OpenAIResponses, "docs.list", open, false, "the name must match"},
		{"OpenAI, strict", OpenAIResponses, "list", closed, true, ""},
		{"OpenAI, strict and open", OpenAIChat, "list", open, true, "additionalProperties"},
		{"OpenAI, strict with an optional property", OpenAIChat, "list", strings.Replace(closed, `["n"]`, `[]`, 1), true, `required must have ["n"]`},
		{"OpenAI, strict with a default", OpenAIChat, "list", strings.Replace(closed, `"integer"`, `"integer","default":1`, 1), true, "default"},
		{"Gemini, dot", Gemini, "docs.list", open, false, ""},
		{"Gemini, slash", Gemini, "docs/list", open, false, "the name must match"},
	} {
		tool := Tool{Name: test.tool, Description: "Lists.", Strict: test.strict}
		must.Do(t, json.Unmarshal([]byte(test.schema), &tool.Schema))
		if err := test.wire.check([]Tool{tool}); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}

func TestGeminiParametersRefuseOtherKeywords(t *testing.T) {
	const body = `{"tools":[{"functionDeclarations":[{"name":"list","description":"Lists.","parameters":{"type":"OBJECT","additionalProperties":false}}]}]}`
	if _, err := Gemini.decode([]byte(body)); err == nil || !strings.Contains(err.Error(), "additionalProperties") {
		t.Errorf("got %v", err)
	}
	request, err := Gemini.decode([]byte(strings.Replace(body, `,"additionalProperties":false`, ``, 1)))
	if err != nil || request.Tools[0].Schema["type"] != "object" {
		t.Errorf("got %+v, %v", request, err)
	}
}

func TestEachCallNeedsItsAnswer(t *testing.T) {
	calls := []Call{{ID: "a", Name: "list"}, {ID: "b", Name: "get"}}
	if err := pair(calls, []Answer{{CallID: "b", Name: "get"}, {CallID: "a", Name: "list"}}); err != nil {
		t.Error(err)
	}
	for _, answers := range [][]Answer{nil, {{CallID: "a"}}, {{CallID: "a"}, {CallID: "a"}}, {{Name: "get"}, {Name: "get"}}} {
		if pair(calls, answers) == nil {
			t.Errorf("%+v answer the calls %+v", answers, calls)
		}
	}
}
