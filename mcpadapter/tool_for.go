package mcpadapter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

// ToolFor returns a Tool, for WithExtraTools, that decodes its arguments into a struct and calls
// f. The input schema comes from In, and the output schema from Out.
//
// In is a struct or a pointer to a struct. Each field that encoding/json decodes is an argument,
// and is optional if the field is a pointer or has omitempty or omitzero. The tag jsonschema is
// the description of the argument. The tool rejects invalid arguments with the code
// INVALID_ARGUMENTS.
//
// If Out is a struct, a map, or a pointer to either, the result of f is the structured content,
// and its JSON is the text. A string is the text, and the JSON of every other type is the text. If
// f returns a toolshelf.Error, the result has its code and message. Any other error is a result
// with IsError. If the context ends, Call returns the context's error.
//
// ToolFor returns toolshelf.ErrInvalidOption if f is nil, or if In or Out has a type that a schema
// cannot express. The document docs/methods.md has the rules for types and tags.
func ToolFor[In, Out any](name, description string, f func(context.Context, In) (Out, error)) (Tool, error) {
	fail := func(err error) (Tool, error) {
		return Tool{}, &toolshelf.Error{Code: toolshelf.CodeInvalidOption, Op: "mcpadapter.ToolFor", Message: fmt.Sprintf("the tool %q: %v", name, err)}
	}
	if f == nil {
		return fail(errors.New("the function is nil"))
	}
	input, err := schema.ArgumentsOf(reflect.TypeFor[In]())
	if err != nil {
		return fail(fmt.Errorf("the arguments: %w", err))
	}
	switch in := reflect.TypeFor[In](); {
	case input.HasFields:
	case in.Kind() == reflect.Struct, in.Kind() == reflect.Pointer && in.Elem().Kind() == reflect.Struct:
		return fail(fmt.Errorf("the arguments are of type %v, which has UnmarshalJSON or UnmarshalText, perhaps of an embedded type; use a struct without these methods", in))
	default:
		return fail(fmt.Errorf("the arguments are of type %v; use a struct", in))
	}
	output, err := schema.ResultOf(reflect.TypeFor[Out]())
	if err != nil {
		return fail(fmt.Errorf("the result: %w", err))
	}
	if output.Has("error") {
		return fail(errors.New(`the result has a property "error", which reports the error of a failed call; rename the property`))
	}
	return Tool{
		Name:         name,
		Description:  description,
		InputSchema:  json.RawMessage(input.Schema("")),
		OutputSchema: outputOf(output),
		Call: func(ctx context.Context, raw json.RawMessage) (Result, error) {
			if err := ctx.Err(); err != nil {
				return Result{}, err
			}
			var in In
			if invalid := input.Decode(raw, &in); invalid != nil {
				return errorObject.failure(invalid.Code, invalid.Message), nil
			}
			within, cause := withoutCause(ctx)
			out, err := f(within, in)
			if cause != nil {
				*cause = err
			}
			var ours *toolshelf.Error
			switch {
			case err == nil:
				return typedResult(out, output)
			case ctx.Err() != nil:
				return Result{}, ctx.Err()
			case errors.As(err, &ours):
				return errorObject.failure(ours.Code, cmp.Or(ours.Message, err.Error())), nil
			default:
				return failedResult(err), nil
			}
		},
	}, nil
}

// outputOf returns the schema of a tool's results, or nil for results without
// structured content.
func outputOf(t schema.Type) json.RawMessage {
	members, required := t.Properties()
	switch {
	case members != "":
		names, _ := escape.Marshal(required)
		return outputSchema(errorObject, `{"properties":{`+members+`},"required":`+string(names)+`}`)
	case t.IsObject():
		return json.RawMessage(`{"type":"object"}`)
	}
	return nil
}

// typedResult converts the result of a function to a Result.
func typedResult(out any, t schema.Type) (Result, error) {
	if text, ok := out.(string); ok {
		return Result{Text: text}, nil
	}
	result, err := jsonResult(out)
	if err != nil {
		return Result{Text: "the result cannot be encoded: " + err.Error(), IsError: true}, nil
	}
	switch {
	case !t.IsObject():
		result.Structured = nil
	case string(result.Structured) == "null":
		return Result{Text: "the tool returned no result", IsError: true}, nil
	case !t.HasFields:
		var members map[string]json.RawMessage
		if json.Unmarshal(result.Structured, &members) == nil && members["error"] != nil {
			return Result{Text: `the result has a member "error", which reports the error of a failed call; rename the member`, IsError: true}, nil
		}
	}
	return result, nil
}
