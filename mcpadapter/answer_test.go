package mcpadapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// extra returns a tool that returns a result and an error.
func extra(name string, result mcpadapter.Result, err error) mcpadapter.Tool {
	return mcpadapter.Tool{Name: name, Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) { return result, err }}
}

// Each row is a call and its three answers. An empty map means the decoded text.
func TestAnswers(t *testing.T) {
	a := adapter(t, mcpadapter.WithExtraTools(
		extra("text", mcpadapter.Result{Text: "4"}, nil),
		extra("structured", mcpadapter.Result{Text: "four", Structured: json.RawMessage(`{"n":4,"big":9007199254740993}`)}, nil),
		extra("silent", mcpadapter.Result{}, errors.New("")),
		extra("fails", mcpadapter.Result{}, errors.New("no paper")),
		extra("refuses", mcpadapter.Result{Text: "not now", Structured: json.RawMessage(`{"later":true}`), IsError: true}, nil),
		mcpadapter.Tool{Name: "panics", Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) { panic("no ink") }},
	))
	tests := []struct {
		tool, arguments, text string
		isError               bool
		object                map[string]any
	}{
		{"list_skills", ``, `{"skills":["calculator","weather"],"descriptions":{"calculator":"Adds and multiplies.","weather":"Tells the weather."}}`, false, nil},
		{"list_skills", `{"page":1}`, `{"error":"the tool has no argument \"page\"; accepted arguments: path"}`, true, nil},
		{"get_command", `{}`, `{"error":{"code":"INVALID_COMMAND_NAME","message":"command_name is missing; send a string"}}`, true, nil},
		{"get_file_info", `{"path":"nothing"}`, `Error: File 'nothing' not found`, true,
			map[string]any{"error": map[string]any{"code": "NOT_FOUND", "message": "File 'nothing' not found"}}},
		{"text", `{}`, "4", false, map[string]any{"output": "4"}},
		{"structured", `{}`, "four", false, map[string]any{"n": 4.0, "big": json.Number("9007199254740993")}},
		{"silent", `{}`, "the tool failed without an error text", true, map[string]any{"error": "the tool failed without an error text"}},
		{"fails", `{}`, "no paper", true, map[string]any{"error": "no paper"}},
		{"refuses", `{}`, "not now", true, map[string]any{"error": "not now"}},
		{"panics", `{}`, `the tool "panics" panicked: no ink`, true, map[string]any{"error": `the tool "panics" panicked: no ink`}},
	}
	for _, tt := range tests {
		t.Run(tt.tool, func(t *testing.T) {
			text, isError := a.Answer(ctx, tt.tool, json.RawMessage(tt.arguments))
			must.Equal(t, "text", tt.text, text)
			must.Equal(t, "isError", tt.isError, isError)
			text, err := a.AnswerErr(ctx, tt.tool, json.RawMessage(tt.arguments))
			if tt.isError && (text != "" || err == nil || err.Error() != tt.text) || !tt.isError && (text != tt.text || err != nil) {
				t.Errorf("AnswerErr = %q, %v; want the text %q and an error: %t", text, err, tt.text, tt.isError)
			}
			var arguments map[string]any
			if tt.arguments != "" {
				arguments = decoded(t, []byte(tt.arguments)).(map[string]any)
			}
			want := tt.object
			if want == nil {
				want = decoded(t, []byte(tt.text)).(map[string]any)
			}
			must.Match(t, "AnswerMap", want, a.AnswerMap(ctx, tt.tool, arguments))
		})
	}
}

func TestAnswersToAnUnknownToolNameTheTools(t *testing.T) {
	a := adapter(t, mcpadapter.WithTools("get_skill", "list_skills"))
	const want = `Unknown tool: "read"; the tools are list_skills, get_skill`
	if text, isError := a.Answer(ctx, "read", nil); text != want || !isError {
		t.Errorf("Answer = %q, %t; want %q", text, isError, want)
	}
	_, err := a.AnswerErr(ctx, "read", nil)
	must.Equal(t, "Error", want, err.Error())
	must.Equal(t, "Code", mcpadapter.CodeInvalidParams, rpcError(t, err).Code)
	must.Match(t, "AnswerMap", map[string]any{"error": want}, a.AnswerMap(ctx, "read", nil))
}

func TestAnswersAfterTheEndOfTheContextAreTexts(t *testing.T) {
	a := adapter(t)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	const want = "the call was not finished: context canceled"
	if text, isError := a.Answer(ended, "list_skills", nil); text != want || !isError {
		t.Errorf("Answer = %q, %t; want %q", text, isError, want)
	}
	if _, err := a.AnswerErr(ended, "list_skills", nil); !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("AnswerErr = %v; want %q and context.Canceled", err, want)
	}
	must.Match(t, "AnswerMap", map[string]any{"error": want}, a.AnswerMap(ended, "list_skills", nil))
}

func TestAnswerErrMatchesSentinels(t *testing.T) {
	a := adapter(t)
	for _, tt := range []struct {
		tool, arguments string
		want            error
	}{
		{"get_command", `{"command_name":"nothing"}`, toolshelf.ErrCommandNotFound},
		{"list_directory", `{"path":".."}`, toolshelf.ErrOutsideRoot},
		{"search_files", `{"pattern":"["}`, toolshelf.ErrInvalidPattern},
	} {
		must.Fail(a.AnswerErr(ctx, tt.tool, json.RawMessage(tt.arguments)))(t, tt.tool, tt.want)
	}
	_, err := a.AnswerErr(ctx, "list_skills", json.RawMessage(`{"page":1}`))
	if code := toolshelf.CodeOf(err); err == nil || code != "" {
		t.Errorf("list_skills = %v with the code %q; want an error without a code", err, code)
	}
}

func TestAnswerErrMatchesTheErrorOfAnExtraTool(t *testing.T) {
	mine := errors.New("no paper")
	inner := typed(t, func(context.Context, noArguments) (string, error) { return "", errors.New("jammed") })
	named := func(name string, f func(context.Context, noArguments) (string, error)) mcpadapter.Tool {
		return must.Get(mcpadapter.ToolFor(name, "", f))(t)
	}
	a := adapter(t, mcpadapter.WithExtraTools(
		extra("extra", mcpadapter.Result{}, mine),
		named("function", func(context.Context, noArguments) (string, error) { return "", mine }),
		named("wrapped", func(context.Context, noArguments) (string, error) {
			return "", errors.Join(mine, toolshelf.ErrNotFound)
		}),
		named("fault", func(context.Context, noArguments) (string, error) { panic(mine) }),
		named("nested", func(ctx context.Context, _ noArguments) (string, error) {
			inner.Call(ctx, nil)
			return "", mine
		}),
		named("recovers", func(ctx context.Context, _ noArguments) (string, error) {
			inner.Call(ctx, nil)
			return "printed", nil
		}),
	))
	for _, name := range []string{"extra", "function", "wrapped", "fault", "nested"} {
		if text, err := a.AnswerErr(ctx, name, nil); !errors.Is(err, mine) || text != "" {
			t.Errorf("%s: AnswerErr = %q, %v; want the error of the tool in the chain", name, text, err)
		}
		if name == "fault" {
			var failed *mcpadapter.RPCError
			if _, err := a.Call(ctx, name, nil); !errors.As(err, &failed) || failed.Code != mcpadapter.CodeInternalError || !errors.Is(err, mine) {
				t.Errorf("%s: Call = %v; want -32603 with the value of the panic", name, err)
			}
			continue
		}
		must.Equal(t, name, true, must.Get(a.Call(ctx, name, nil))(t).IsError)
	}
	must.Fail(a.AnswerErr(ctx, "wrapped", nil))(t, "AnswerErr", toolshelf.ErrNotFound)
	must.Equal(t, "text", "printed", must.Get(a.AnswerErr(ctx, "recovers", nil))(t))
}

func TestAnswersPanicForANilContext(t *testing.T) {
	defer func() {
		if fault := recover(); fault == nil {
			t.Error("Answer accepts a nil context")
		}
	}()
	var none context.Context
	adapter(t).Answer(none, "list_skills", nil)
}

func TestAnswerMapReportsArgumentsThatAreNotJSON(t *testing.T) {
	got := adapter(t).AnswerMap(ctx, "list_commands", map[string]any{"page": math.NaN()})
	if text, _ := got["error"].(string); !strings.HasPrefix(text, "the arguments are not JSON: ") {
		t.Errorf("got %v; want an error", got)
	}
}
