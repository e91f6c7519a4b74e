package mcpadapter

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

// Answer runs a tool as Call does and returns the text for the model, for frameworks
// whose tools return a string. isError reports whether the call failed. A framework
// without an error flag may ignore isError, because the text of a failed call states
// the problem.
//
// Answer always returns a text, because some frameworks end the run of an agent on a
// Go error. If no tool has the name, the text lists the names of the tools. If the
// context ends, the text contains the context's error. If a tool panics, the
// text contains the value of the panic. The text is empty only if an extra tool
// returns no text.
//
// The arguments are the JSON that the model wrote. Answer is safe for concurrent use
// if the extra tools are.
func (a *Adapter) Answer(ctx context.Context, name string, arguments json.RawMessage) (text string, isError bool) {
	text, err := a.AnswerErr(ctx, name, arguments)
	if err != nil {
		return err.Error(), true
	}
	return text, false
}

// AnswerErr is Answer for frameworks that expect a Go error for a failed call. The
// text of the error is the text for the model. The text is "" if AnswerErr returns an
// error.
//
// errors.Is matches the error of a library tool with the sentinel of its code, such as
// toolshelf.ErrCommandNotFound, except for list_skills, whose errors have no code.
// errors.Is matches the context's error, the error of an extra tool, the error of a
// function of ToolFor, and an error that is the value of a panic. errors.As finds an
// *RPCError if no tool has the name and if the tool panicked.
func (a *Adapter) AnswerErr(ctx context.Context, name string, arguments json.RawMessage) (string, error) {
	result, cause := a.answer(ctx, name, arguments)
	if result.IsError {
		return "", &failedCall{result.Text, cause}
	}
	return result.Text, nil
}

// AnswerMap is Answer for frameworks whose arguments and answers are JSON objects in
// maps. A nil map of arguments is an empty object.
//
// The answer to a successful call is the structured content of the result, or {"output": text} if
// the result is only a text (see WithStructuredContent). The answer to a failed call has the member
// "error": the error of the structured content, or else the text. The Gemini API defines both
// names. AnswerMap returns a member "error" in the structured content of a successful call
// unchanged; only a Tool without ToolFor can return this member. The caller may change the map.
// Numbers are as in Tool.Schema.
func (a *Adapter) AnswerMap(ctx context.Context, name string, arguments map[string]any) map[string]any {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return map[string]any{"error": "the arguments are not JSON: " + err.Error()}
	}
	result, _ := a.answer(ctx, name, raw)
	content, ok := schema.DecodeObject(result.Structured)
	switch _, hasError := content["error"]; {
	case result.IsError && !hasError:
		return map[string]any{"error": result.Text}
	case !ok:
		return map[string]any{"output": result.Text}
	}
	return content
}

// answer is Call with a Result for each outcome. The cause of a failed call may be nil.
func (a *Adapter) answer(ctx context.Context, name string, arguments json.RawMessage) (result Result, cause error) {
	var kept error
	ctx = context.WithValue(ctx, causeKey{}, &kept) // panics for a nil context
	result, cause, err := a.call(ctx, name, arguments)
	var refused *RPCError
	switch {
	case errors.As(err, &refused):
		return Result{Text: refused.Message, IsError: true}, err
	case err != nil:
		return Result{Text: "the call was not finished: " + err.Error(), IsError: true}, err
	case cause != nil:
		return result, cause
	case kept != nil && result.IsError:
		return result, kept
	case result.IsError:
		var content struct{ Error *toolshelf.Error }
		if json.Unmarshal(result.Structured, &content) == nil && content.Error != nil && content.Error.Code != "" {
			return result, content.Error
		}
	}
	return result, nil
}

// A causeKey is the context key of the *error in which a tool of ToolFor keeps the error
// of its function, because a Result has no error.
type causeKey struct{}

// withoutCause returns where a tool keeps the error of its function, or nil, and the
// context of the function. Tools that the function calls keep no error.
func withoutCause(ctx context.Context) (context.Context, *error) {
	kept, _ := ctx.Value(causeKey{}).(*error)
	if kept != nil {
		ctx = context.WithValue(ctx, causeKey{}, nil)
	}
	return ctx, kept
}

// A failedCall is the error of AnswerErr.
type failedCall struct {
	text  string
	cause error
}

func (e *failedCall) Error() string { return e.text }

func (e *failedCall) Unwrap() error { return e.cause }
