package mcpadapter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/toolshelf-go/toolshelf"
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
	input, err := typeReader{decodes: true}.read(reflect.TypeFor[In]())
	if err != nil {
		return fail(fmt.Errorf("the arguments: %w", err))
	}
	input.nullable = false // null means {}
	switch in := reflect.TypeFor[In](); {
	case input.hasFields:
	case in.Kind() == reflect.Struct, in.Kind() == reflect.Pointer && in.Elem().Kind() == reflect.Struct:
		return fail(fmt.Errorf("the arguments are of type %v, which has UnmarshalJSON or UnmarshalText, perhaps of an embedded type; use a struct without these methods", in))
	default:
		return fail(fmt.Errorf("the arguments are of type %v; use a struct", in))
	}
	output, err := typeReader{}.read(reflect.TypeFor[Out]())
	if err != nil {
		return fail(fmt.Errorf("the result: %w", err))
	}
	if _, taken := output.field("error"); taken {
		return fail(errors.New(`the result has a property "error", which reports the error of a failed call; rename the property`))
	}
	return Tool{
		Name:         name,
		Description:  description,
		InputSchema:  input.appendSchema(nil, ""),
		OutputSchema: output.outputSchema(),
		Call: func(ctx context.Context, raw json.RawMessage) (Result, error) {
			if err := ctx.Err(); err != nil {
				return Result{}, err
			}
			var in In
			if invalid := decodeTyped(raw, input, &in); invalid != nil {
				return errorObject.failure(invalid.code, invalid.message), nil
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

// typedResult converts the result of a function to a Result.
func typedResult(out any, t valueType) (Result, error) {
	if text, ok := out.(string); ok {
		return Result{Text: text}, nil
	}
	result, err := jsonResult(out)
	if err != nil {
		return Result{Text: "the result cannot be encoded: " + err.Error(), IsError: true}, nil
	}
	switch {
	case t.kind != objectKind:
		result.Structured = nil
	case string(result.Structured) == "null":
		return Result{Text: "the tool returned no result", IsError: true}, nil
	case !t.hasFields:
		var members map[string]json.RawMessage
		if json.Unmarshal(result.Structured, &members) == nil && members["error"] != nil {
			return Result{Text: `the result has a member "error", which reports the error of a failed call; rename the member`, IsError: true}, nil
		}
	}
	return result, nil
}

// decodeTyped decodes the arguments of a call into the struct that in points to.
func decodeTyped(raw json.RawMessage, t valueType, in any) *argumentError {
	invalid := func(format string, args ...any) *argumentError {
		return &argumentError{codeArguments, fmt.Sprintf(format, args...)}
	}
	given := map[string]json.RawMessage{}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 {
		if !json.Valid(raw) {
			return invalid("the arguments are not valid JSON; send a JSON object")
		}
		if json.Unmarshal(raw, &given) != nil {
			return invalid("the arguments are not an object; send a JSON object")
		}
	}
	checked, err := t.checkObject("", given)
	if err != nil {
		return err
	}
	if decode(checked, in) == nil {
		return nil
	}
	for _, f := range t.fields {
		value, given := checked[f.name]
		if !given {
			continue
		}
		if err := decode(map[string]any{f.name: value}, in); err != nil {
			return invalid("%s is invalid: %s", f.name, decodeProblem(err))
		}
	}
	return invalid("the arguments are invalid; send other values")
}

func decode(object map[string]any, in any) error {
	raw, err := encode(object)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, in)
}

// decodeProblem returns the text of an error of a decoder, without Go types and of
// limited length.
func decodeProblem(err error) string {
	const maxBytes = 200
	text := strings.TrimPrefix(err.Error(), "json: ")
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		text = "the tool cannot decode the " + mismatch.Value
	}
	if len(text) > maxBytes {
		text = strings.ToValidUTF8(text[:maxBytes], "") + "…"
	}
	return text
}
