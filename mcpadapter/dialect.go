package mcpadapter

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

// A Dialect is the subset of JSON Schema that the API of a model accepts in the
// definition of a tool. The zero Dialect is JSON Schema 2020-12.
type Dialect string

// The dialects of the APIs.
const (
	// OpenAIStrict is for functions with "strict": true, in Chat Completions and
	// Responses. Each object is closed, and each property is required. An optional
	// argument has the additional type "null", which means its default.
	OpenAIStrict Dialect = "openai-strict"

	// AnthropicStrict is for tools with "strict": true in the Messages API. Each
	// object is closed. An optional argument with a default is required: the model
	// sends the default, which the description states. Other optional arguments stay
	// optional. One request may have 20 strict tools with 24 optional arguments; the
	// library's tools are within both limits.
	AnthropicStrict Dialect = "anthropic-strict"

	// Gemini is for the member parameters of a function declaration, which accepts
	// a part of OpenAPI 3.0. Leave parameters unset for a tool without arguments. The
	// newer member parametersJsonSchema needs no dialect.
	Gemini Dialect = "gemini"
)

// WithDialect makes the input schemas of all tools, including extra tools, acceptable for the API
// of a model. The default is the schemas of the tool contracts, which all APIs accept without
// "strict". WithDialect changes no output schema.
//
// A dialect removes the keywords that the API rejects, and the description of a property then ends
// with its bounds and its default. The calls of tools do not change: a tool still rejects a value
// outside the bounds. With OpenAIStrict, all tools accept null for an optional argument. With
// OpenAIStrict and AnthropicStrict, the default separator of a namespace is "_".
//
// New returns toolshelf.ErrInvalidOption if the dialect is unknown, if the dialect permits no dot
// and a name has one, or if the schema of an extra tool cannot be expressed. The error states the
// path of the part and the correction. The document docs/methods.md has the details.
func WithDialect(d Dialect) Option {
	return func(c *config) error {
		if _, known := schema.Dialects[string(d)]; !known && d != "" {
			return invalidOption(fmt.Sprintf("WithDialect: unknown dialect %q; use OpenAIStrict, AnthropicStrict or Gemini", d))
		}
		c.dialect = d
		return nil
	}
}

// separator returns the default separator of a namespace.
func (d Dialect) separator() string {
	if schema.Dialects[string(d)].NoDots {
		return "_"
	}
	return "."
}

// translate replaces the input schema of a tool by a schema of the dialect. For an
// extra tool, Call removes each null that only the new schema accepts.
func (d Dialect) translate(t *Tool, extra bool) error {
	rules, ok := schema.Dialects[string(d)]
	if !ok {
		return nil
	}
	if rules.NoDots && strings.Contains(t.Name, ".") {
		return invalidOption(fmt.Sprintf(`WithDialect: the tool name %q contains a dot, which %s does not permit; use "_"`, t.Name, d))
	}
	converted, withoutNulls, reason := rules.Convert(t.Schema())
	if reason != "" {
		return invalidOption(fmt.Sprintf("WithDialect: %s cannot express the schema of the tool %q: %s", d, t.Name, reason))
	}
	if call := t.Call; extra && withoutNulls != nil {
		t.Call = func(ctx context.Context, arguments json.RawMessage) (Result, error) {
			return call(ctx, withoutNulls(arguments))
		}
	}
	t.InputSchema = converted
	return nil
}
