package mcpadapter_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

type (
	noArguments struct{}

	scalars struct {
		Bool     bool        `json:"bool"`
		Int      int64       `json:"int" jsonschema:"A number"`
		Small    int8        `json:"small"`
		Byte     uint8       `json:"byte"`
		Count    uint64      `json:"count"`
		Float    float64     `json:"float"`
		Text     string      `json:"text"`
		Time     time.Time   `json:"time"`
		Bytes    []byte      `json:"bytes"`
		Number   json.Number `json:"number"`
		Any      any         `json:"any" jsonschema:"Anything"`
		Addr     netip.Addr  `json:"addr"` // has UnmarshalText
		Untagged string
		Ignored  string `json:"-"`
		_        string // unexported
	}

	optional struct {
		Empty   string  `json:"empty,omitempty"`
		Zero    int     `json:"zero,omitzero"`
		Pointer *int    `json:"pointer"`
		Nested  *common `json:"nested"`
	}

	common struct {
		Path string `json:"path" jsonschema:"A path"`
	}

	nestedTypes struct {
		common
		Tags   []string          `json:"tags"`
		Maybe  []*int            `json:"maybe,omitempty"`
		Labels map[string]string `json:"labels,omitempty"`
		List   []common          `json:"list,omitempty"`
		Inner  struct {
			Depth int `json:"depth,omitempty"`
		} `json:"inner,omitempty"`
	}
)

// words has the integer types of 32 bits.
type words struct {
	Signed   int32  `json:"signed"`
	Unsigned uint32 `json:"unsigned"`
}

func typed[In, Out any](t *testing.T, f func(context.Context, In) (Out, error)) mcpadapter.Tool {
	t.Helper()
	tool := must.Get(mcpadapter.ToolFor("typed", "A typed tool.", f))(t)
	got, _ := adapter(t, mcpadapter.WithExtraTools(tool)).Lookup("typed")
	return got
}

// echo returns its arguments.
func echo[In any](t *testing.T) mcpadapter.Tool {
	t.Helper()
	return typed(t, func(_ context.Context, in In) (In, error) { return in, nil })
}

func TestToolForDerivesTheInputSchema(t *testing.T) {
	for name, tool := range map[string]mcpadapter.Tool{
		"no_arguments":                 echo[noArguments](t),
		"scalars":                      echo[scalars](t),
		"optional_fields_of_a_pointer": echo[*optional](t),
		"nested_types":                 echo[nestedTypes](t),
	} {
		t.Run(name, func(t *testing.T) {
			sameJSON(t, tool.InputSchema, schemaOf(t, "typed/"+name))
			compiled(t, tool.InputSchema)
		})
	}
}

func TestToolForDerivesTheOutputSchema(t *testing.T) {
	getCommand, _ := adapter(t).Lookup("get_command")
	var output struct{ AnyOf []json.RawMessage }
	must.Do(t, json.Unmarshal(getCommand.OutputSchema, &output))
	failed := string(output.AnyOf[1]) // as of the library's tools
	for _, tt := range []struct {
		name string
		tool mcpadapter.Tool
		want string // "" for none
	}{
		{"a struct", echo[optional](t), `{"type":"object","anyOf":[{"properties":{
			"empty":{"type":"string"},"zero":{"type":"integer"},"pointer":{"type":["integer","null"]},
			"nested":{"type":["object","null"],"properties":{"path":{"type":"string","description":"A path"}},"required":["path"],"additionalProperties":false}},"required":["pointer","nested"]},` +
			failed + `]}`},
		{"slices and maps may be null", typed(t, func(context.Context, noArguments) (out struct {
			Tags   []string
			Labels map[string]int
			Bytes  []byte
		}, err error) {
			return out, nil
		}), `{"type":"object","anyOf":[{"properties":{
			"Tags":{"type":["array","null"],"items":{"type":"string"}},
			"Labels":{"type":["object","null"],"additionalProperties":{"type":"integer"}},
			"Bytes":{"type":["string","null"],"contentEncoding":"base64"}},"required":["Tags","Labels","Bytes"]},` + failed + `]}`},
		{"fields of an embedded pointer may be absent", typed(t, func(context.Context, noArguments) (out struct{ *common }, err error) {
			return out, nil
		}), `{"type":"object","anyOf":[{"properties":{"path":{"type":"string","description":"A path"}},"required":[]},` + failed + `]}`},
		{"no fields", echo[noArguments](t), `{"type":"object"}`},
		{"a map", typed(t, func(context.Context, noArguments) (map[string]int, error) { return nil, nil }), `{"type":"object"}`},
		{"a string", typed(t, func(context.Context, noArguments) (string, error) { return "", nil }), ``},
		{"a slice", typed(t, func(context.Context, noArguments) ([]int, error) { return nil, nil }), ``},
		{"any value", typed(t, func(context.Context, noArguments) (any, error) { return nil, nil }), ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				if tt.tool.OutputSchema != nil {
					t.Errorf("got %s; want none", tt.tool.OutputSchema)
				}
				return
			}
			sameJSON(t, tt.tool.OutputSchema, tt.want)
			compiled(t, tt.tool.OutputSchema)
		})
	}
}

// Each accepted row has the arguments that the function receives, as JSON.
func TestToolForOmitsBoundsOf32Bits(t *testing.T) {
	sameJSON(t, echo[words](t).InputSchema, `{"type":"object","properties":{"signed":{"type":"integer"},"unsigned":{"type":"integer","minimum":0}},
		"required":["signed","unsigned"],"additionalProperties":false}`)
}

//go:embed testdata/arguments.txt
var argumentsOfTools string

// TestToolForDecodesArguments asks the questions of testdata/arguments.txt, which describes the
// questions.
func TestToolForDecodesArguments(t *testing.T) {
	const full = `{"bool":true,"int":-1,"small":127,"byte":255,"count":18446744073709551615,"float":1.5,"text":"x",` +
		`"time":"2026-01-20T14:03:11Z","bytes":"AQI=","number":1,"any":[null,{"a":1}],"addr":"::1","Untagged":""}`
	tools := map[string]mcpadapter.Tool{
		"scalars": echo[scalars](t), "optional": echo[optional](t), "pointer": echo[*optional](t),
		"nested": echo[nestedTypes](t), "words": echo[words](t),
		"float": echo[struct {
			F float32 `json:"f"`
		}](t),
		"embedded": echo[struct {
			common `json:"inner"`
		}](t),
	}
	// call returns the result for the first arguments of a question, and its other arguments.
	call := func(t *testing.T, a []string) (got mcpadapter.Result, arguments string, rest []string) {
		arguments, rest = a[1], a[2:]
		if a[0] == "scalars" {
			arguments, rest = a[2], a[3:]
			if a[1] != "-" {
				must.Equal(t, a[1], 1, strings.Count(full, a[1]))
				arguments = strings.Replace(full, a[1], a[2], 1)
			}
		}
		return must.Get(tools[a[0]].Call(ctx, json.RawMessage(arguments)))(t), arguments, rest
	}
	must.Answer(t, argumentsOfTools, map[string]func(t *testing.T, a ...string) string{
		"accepts": func(t *testing.T, a ...string) string {
			got, arguments, _ := call(t, a)
			must.Equal(t, "IsError", false, got.IsError)
			switch want := decoded(t, got.Structured); {
			case a[0] == "scalars" && cmp.Equal(want, decoded(t, []byte(full))):
				return "unchanged"
			case a[0] == "scalars" && cmp.Equal(want, decoded(t, []byte(arguments))):
				return "changed"
			}
			return string(got.Structured)
		},
		"refuses": func(t *testing.T, a ...string) string {
			got, _, rest := call(t, a)
			var body struct {
				Error struct{ Code, Message string }
			}
			must.Do(t, json.Unmarshal(got.Structured, &body))
			must.Equal(t, "IsError", true, got.IsError)
			must.Equal(t, "code", "INVALID_ARGUMENTS", body.Error.Code)
			if !strings.HasPrefix(body.Error.Message, rest[0]) {
				t.Errorf("got %s; want %q", got.Text, rest[0])
			}
			must.Do(t, validate(t, compiled(t, tools[a[0]].OutputSchema), got.Structured))
			return ""
		},
	})
	type raws struct{ Raw json.RawMessage }
	raw := typed(t, func(_ context.Context, in raws) (raws, error) {
		must.Equal(t, "the function receives", `{"b":"<&>","a":1.0,"b":[]}`, string(in.Raw))
		return in, nil
	})
	got := must.Get(raw.Call(ctx, json.RawMessage(`{"Raw": {"b": "<&>", "a":1.0, "b":[]}}`)))(t)
	sameJSON(t, got.Structured, `{"Raw":{"b":"<&>","a":1.0,"b":[]}}`)
}

// A typed tool rejects all arguments that its schema rejects, and accepts all others.
func TestToolForChecksWhatTheSchemaSays(t *testing.T) {
	values := []string{`1`, `-1`, `300`, `1.5`, `2.0`, `"x"`, `true`, `null`, `[]`, `["a"]`, `[1,null]`, `{}`, `{"path":"a"}`, `{"a":"b"}`, `{"depth":1}`, `[{"path":"a"}]`}
	for _, tool := range []mcpadapter.Tool{echo[optional](t), echo[nestedTypes](t)} {
		schema := compiled(t, tool.InputSchema)
		properties := tool.Schema()["properties"].(map[string]any)
		for name := range properties {
			for _, value := range values {
				arguments := map[string]json.RawMessage{name: json.RawMessage(value)}
				if properties["tags"] != nil {
					arguments = map[string]json.RawMessage{"path": json.RawMessage(`"p"`), "tags": json.RawMessage(`[]`), name: json.RawMessage(value)}
				}
				raw := must.Get(json.Marshal(arguments))(t)
				got := must.Get(tool.Call(ctx, raw))(t)
				accepted := validate(t, schema, raw) == nil || value == "null" && name != "path" && name != "tags"
				if got.IsError == accepted {
					t.Errorf("%s: the schema accepts: %t; the tool: %s", raw, accepted, got.Text)
				}
			}
		}
	}
}

func TestToolForConvertsResultsAndErrors(t *testing.T) {
	ended, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, tt := range []struct {
		name string
		tool mcpadapter.Tool
		want mcpadapter.Result
	}{
		{"a string", typed(t, func(context.Context, noArguments) (string, error) { return "<b>", nil }), mcpadapter.Result{Text: "<b>"}},
		{"a struct", typed(t, func(context.Context, noArguments) (common, error) { return common{"<b>"}, nil }),
			mcpadapter.Result{Text: `{"path":"<b>"}`, Structured: json.RawMessage(`{"path":"<b>"}`)}},
		{"a map", typed(t, func(context.Context, noArguments) (map[string]any, error) { return map[string]any{"a": 1}, nil }),
			mcpadapter.Result{Text: `{"a":1}`, Structured: json.RawMessage(`{"a":1}`)}},
		{"a number", typed(t, func(context.Context, noArguments) (int, error) { return 4, nil }), mcpadapter.Result{Text: "4"}},
		{"a slice", typed(t, func(context.Context, noArguments) ([]int, error) { return []int{4}, nil }), mcpadapter.Result{Text: "[4]"}},
		{"a nil pointer", typed(t, func(context.Context, noArguments) (*common, error) { return nil, nil }),
			mcpadapter.Result{Text: "the tool returned no result", IsError: true}},
		{"a result that is not JSON", typed(t, func(context.Context, noArguments) (any, error) { return func() {}, nil }),
			mcpadapter.Result{Text: "the result cannot be encoded: json: unsupported type: func()", IsError: true}},
		{"an error", typed(t, func(context.Context, noArguments) (common, error) { return common{}, errors.New("no paper") }),
			mcpadapter.Result{Text: "no paper", IsError: true}},
		{"an error of the catalog", typed(t, func(context.Context, noArguments) (common, error) {
			return common{}, &toolshelf.Error{Code: toolshelf.CodeNotFound, Op: "Stat", Message: "no such file"}
		}), mcpadapter.Result{Text: `{"error":{"code":"NOT_FOUND","message":"no such file"}}`,
			Structured: json.RawMessage(`{"error":{"code":"NOT_FOUND","message":"no such file"}}`), IsError: true}},
		{"a sentinel", typed(t, func(context.Context, noArguments) (string, error) { return "", toolshelf.ErrCommandNotFound }),
			mcpadapter.Result{Text: `{"error":{"code":"COMMAND_NOT_FOUND","message":"toolshelf: COMMAND_NOT_FOUND"}}`,
				Structured: json.RawMessage(`{"error":{"code":"COMMAND_NOT_FOUND","message":"toolshelf: COMMAND_NOT_FOUND"}}`), IsError: true}},
		{"an error without a text", typed(t, func(context.Context, noArguments) (string, error) { return "", errors.New("") }),
			mcpadapter.Result{Text: "the tool failed without an error text", IsError: true}},
		{"a map with an error", typed(t, func(context.Context, noArguments) (map[string]any, error) { return map[string]any{"error": nil}, nil }),
			mcpadapter.Result{Text: `the result has a member "error", which reports the error of a failed call; rename the member`, IsError: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must.Match(t, "result", tt.want, must.Get(tt.tool.Call(ctx, nil))(t))
		})
	}
	tool := typed(t, func(ctx context.Context, _ noArguments) (string, error) {
		cancel()
		return "", errors.New("interrupted")
	})
	for _, state := range []string{"during", "before"} {
		must.Fail(tool.Call(ended, nil))(t, state, context.Canceled)
	}
}

type (
	loop    struct{ Next []loop }
	endless []endless
	pinned  struct{ Field fields }
	fields  interface{ Fields() }
)

func TestToolForRejectsTypesWithoutASchema(t *testing.T) {
	for _, tt := range []struct {
		name, message string
		err           error
	}{
		{"no function", "the function is nil", toolFor[noArguments, string](nil)},
		{"arguments that are not a struct", "the arguments are of type map[string]int; use a struct", returns[map[string]int, string]()},
		{"arguments with UnmarshalJSON", "which has UnmarshalJSON or UnmarshalText, perhaps of an embedded type", returns[struct{ time.Time }, string]()},
		{"a pointer to arguments with UnmarshalText", "which has UnmarshalJSON or UnmarshalText", returns[*netip.Addr, string]()},
		{"a name that encoding/json does not accept", `the name "it's" in the tag json has a character`, returns[struct {
			//lint:ignore SA5008 ToolFor refuses the name.
			A int `json:"it's"`
		}, string]()},
		{"a quoted number", `the tag json has the option "string"; remove the option`, returns[struct {
			A int `json:",string"`
		}, string]()},
		{"a named embedded pointer to an unexported struct", "embed the type itself", returns[struct {
			*common `json:"inner"`
		}, string]()},
		{"a recursive struct", "the arguments: mcpadapter_test.loop.Next: the type mcpadapter_test.loop is recursive", returns[loop, string]()},
		{"a recursive slice", "the result: the type mcpadapter_test.endless is recursive", returns[noArguments, endless]()},
		{"a channel", "the type chan int has no JSON form", returns[struct{ C chan int }, string]()},
		{"an array", "use a boolean, a number, a string, a struct, a slice or a map", returns[struct{ A [2]int }, string]()},
		{"keys that are not strings", "the keys of map[int]string are not strings", returns[struct{ M map[int]string }, string]()},
		{"an interface in the arguments", "JSON cannot be decoded into the interface mcpadapter_test.fields; use any", returns[pinned, string]()},
		{"an embedded pointer to an unexported struct", "embed the type itself", returns[struct{ *common }, string]()},
		{"two fields of the same name", `another field has the name "path"; rename one of them`, returns[struct {
			common
			Path string `json:"path"`
		}, string]()},
		{"an empty description", `invalid tag jsonschema:""`, returns[struct {
			A int `jsonschema:""`
		}, string]()},
		{"the tag of another library", `invalid tag jsonschema:"required,description=A number"`, returns[struct {
			A int `jsonschema:"required,description=A number"`
		}, string]()},
		{"a result with an error", `the result has a property "error"`, returns[noArguments, struct {
			Error string `json:"error"`
		}]()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must.Is(t, "tt.err", toolshelf.ErrInvalidOption, tt.err, tt.message)
		})
	}
}

func toolFor[In, Out any](f func(context.Context, In) (Out, error)) error {
	_, err := mcpadapter.ToolFor("typed", "", f)
	return err
}

// returns returns the error of ToolFor for a function with the types.
func returns[In, Out any]() error {
	return toolFor(func(context.Context, In) (out Out, err error) { return out, err })
}

func ExampleToolFor() {
	type forecast struct {
		City string `json:"city" jsonschema:"City and country"`
		Days int64  `json:"days,omitempty" jsonschema:"Number of days (default 1)"`
	}
	type weather struct {
		Summary string `json:"summary"`
	}
	tool, err := mcpadapter.ToolFor("get_forecast", "Get the weather forecast of a city.",
		func(ctx context.Context, in forecast) (weather, error) {
			return weather{fmt.Sprintf("%s: rain for %d days", in.City, max(in.Days, 1))}, nil
		})
	if err != nil {
		log.Fatal(err)
	}
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithExtraTools(tool))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(tool.InputSchema))
	for _, arguments := range []string{`{"city":"Bergen, Norway","days":3}`, `{"city":"Bergen, Norway","days":"three"}`} {
		fmt.Println(adapter.Answer(context.Background(), "get_forecast", json.RawMessage(arguments)))
	}
	// Output:
	// {"type":"object","properties":{"city":{"type":"string","description":"City and country"},"days":{"type":"integer","description":"Number of days (default 1)"}},"required":["city"],"additionalProperties":false}
	// {"summary":"Bergen, Norway: rain for 3 days"} false
	// {"error":{"code":"INVALID_ARGUMENTS","message":"days is \"three\"; send a whole number"}} true
}

//go:embed testdata/deviations.txt
var deviations string

// TestToolsRejectOtherDeviations makes the calls of testdata/deviations.txt, which describes the
// calls.
func TestToolsRejectOtherDeviations(t *testing.T) {
	a := adapter(t)
	call := func(t *testing.T, args []string, fails bool) mcpadapter.Result {
		got := must.Get(a.Call(ctx, args[0], json.RawMessage(args[1])))(t)
		must.Equal(t, "IsError", fails, got.IsError)
		return got
	}
	must.Answer(t, deviations, map[string]func(t *testing.T, args ...string) string{
		"accept": func(t *testing.T, args ...string) string {
			call(t, args, false)
			return ""
		},
		"refuse": func(t *testing.T, args ...string) string {
			got := call(t, args, true)
			var body struct {
				Error struct{ Code, Message string }
			}
			must.Do(t, json.Unmarshal(got.Structured, &body))
			must.NotContain(t, "the text", got.Text, "\n", "\x1b")
			return body.Error.Code + " " + body.Error.Message
		},
	})
}
