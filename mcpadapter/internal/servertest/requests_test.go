package servertest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

var (
	//go:embed testdata/calls.txt
	calls string
	//go:embed testdata/lists.txt
	lists string
	//go:embed testdata/skills.txt
	skills string
)

// answers answer the questions of a text for [must.Answer], by the word of the question.
type answers = map[string]func(t *testing.T, words ...string) string

func TestCallsReturnTheResultsOfCall(t *testing.T) { each(t, testCalls) }

// testCalls compares tools/call with [mcpadapter.Adapter.Call].
func testCalls(t *testing.T, b binding) {
	called, direct, ask := map[string]bool{}, adapters(t), answers{}
	for project, a := range direct {
		reached := ways(t, b.connect, a)
		ask[project] = func(t *testing.T, words ...string) string {
			tool, arguments := words[0], strings.Join(words[1:], " ")
			called[tool] = true
			result, err := a.Call(t.Context(), tool, json.RawMessage(arguments))
			code := codeOf(t, err)
			var want any
			if err == nil {
				want = comparable(t, must.Get(result.MarshalJSON())(t))
			}
			members := fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments)
			reached.compare(t, "tools/call", members, want, code)
			return notation(t, result, code)
		}
	}
	must.Answer(t, calls, ask)
	for _, tool := range direct["project"].Tools() {
		if !called[tool.Name] {
			t.Errorf("%s is never called", tool.Name)
		}
	}
}

// notation returns the error code of a result in the notation of testdata/calls.txt.
func notation(t testing.TB, r mcpadapter.Result, rpc int) string {
	t.Helper()
	var body struct{ Error json.RawMessage }
	var failure struct{ Code string }
	switch {
	case rpc != 0:
		return fmt.Sprint(rpc)
	case !r.IsError:
		return ""
	case json.Unmarshal(r.Structured, &body) != nil:
		t.Fatalf("a failure without structured content: %+v", r)
	case json.Unmarshal(body.Error, &failure) != nil:
		return "-"
	}
	return failure.Code
}

// The lists, prompts and completions are compared with the responses of a session.
func TestListsPromptsAndCompletionsAreThoseOfASession(t *testing.T) {
	each(t, func(t *testing.T, b binding) {
		ask := requests(t, b.connect, mcpadapter.CodeInvalidParams)
		ask["handler"] = requests(t, b.connect, b.invalid)["project"]
		must.Answer(t, lists, ask)
	})
}

func TestSkillsAreThoseOfASession(t *testing.T) {
	each(t, func(t *testing.T, b binding) {
		if b.methods {
			must.Answer(t, skills, requests(t, b.connect, mcpadapter.CodeInvalidParams))
		}
	})
}

// requests compares the responses of the servers of connect with the responses of a session, whose
// code is the answer. The servers have the code invalid in place of CodeInvalidParams.
func requests(t *testing.T, connect connect, invalid int) answers {
	ask := answers{}
	for project, a := range adapters(t) {
		direct, reached := ways(t, session, a)[0], ways(t, connect, a)
		ask[project] = func(t *testing.T, words ...string) string {
			params := strings.Join(words[1:], " ")
			members := strings.TrimSuffix(strings.TrimPrefix(params, "{"), "}")
			raw, code := direct.request(t, words[0], members)
			want := code
			if code == mcpadapter.CodeInvalidParams {
				want = invalid
			}
			reached.compare(t, words[0], members, comparable(t, raw), want)
			if code == 0 {
				return ""
			}
			return fmt.Sprint(code)
		}
	}
	return ask
}

// compare compares the responses to a request with a result and a code.
func (w eras) compare(t *testing.T, method, members string, want any, wantCode int) {
	t.Helper()
	for _, way := range w {
		got, code := way.request(t, method, members)
		must.Equal(t, way.name+": code", wantCode, code)
		must.Match(t, way.name, want, comparable(t, got))
	}
}
