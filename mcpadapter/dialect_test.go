package mcpadapter_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

var allDialects = []mcpadapter.Dialect{mcpadapter.OpenAIStrict, mcpadapter.AnthropicStrict, mcpadapter.Gemini}

// A rule is a rule of an API for each schema in the definition of a tool.
type rule struct {
	name  string
	holds func(schema map[string]any) bool
}

func has(keywords ...string) func(map[string]any) bool {
	return func(schema map[string]any) bool {
		return slices.ContainsFunc(keywords, func(k string) bool { _, ok := schema[k]; return ok })
	}
}

func lacks(keywords ...string) rule {
	return rule{"no " + strings.Join(keywords, ", "), func(s map[string]any) bool { return !has(keywords...)(s) }}
}

func isObject(s map[string]any) bool {
	kinds, _ := s["type"].([]any)
	return s["type"] == "object" || slices.Contains(kinds, any("object"))
}

var (
	closedObjects = rule{"objects are closed", func(s map[string]any) bool { return !isObject(s) || s["additionalProperties"] == false }}
	typedValues   = rule{"values have a type", has("type", "anyOf")}
	allRequired   = rule{"all properties are required", func(s map[string]any) bool {
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		return !isObject(s) || s["required"] != nil && len(required) == len(properties)
	}}
	noTypeLists = rule{"type is a string", func(s map[string]any) bool { _, ok := s["type"].(string); return ok || s["type"] == nil }}
	textEnums   = rule{"enum has strings", func(s map[string]any) bool {
		values, _ := s["enum"].([]any)
		return !slices.ContainsFunc(values, func(v any) bool { _, ok := v.(string); return !ok })
	}}
	typedItems = rule{"arrays have items", func(s map[string]any) bool { return s["type"] != "array" || s["items"] != nil }}
	loneUnions = rule{"anyOf has no siblings", func(s map[string]any) bool {
		return s["anyOf"] == nil || !has("type", "enum", "const", "properties", "items", "minimum")(s)
	}}
	fullUnions  = rule{"anyOf has variants", func(s map[string]any) bool { v, ok := s["anyOf"].([]any); return s["anyOf"] == nil || ok && len(v) > 0 }}
	enumStrings = rule{"enum is for strings", func(s map[string]any) bool { return s["enum"] == nil || s["type"] == "string" }}
	noNullType  = rule{"no type null", func(s map[string]any) bool { return s["type"] != "null" }}
	declared    = rule{"required names are properties", func(s map[string]any) bool {
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		return !slices.ContainsFunc(required, func(name any) bool { text, ok := name.(string); return !ok || properties[text] == nil })
	}}
	knownFormats = rule{"known format", func(s map[string]any) bool { return s["format"] == nil || s["format"] == "date-time" }}
)

// The rules are from the documentation and the SDKs of the APIs.
var rules = map[mcpadapter.Dialect][]rule{
	mcpadapter.OpenAIStrict: {closedObjects, typedValues, typedItems, loneUnions, fullUnions, declared, allRequired,
		lacks("default", "examples", "format", "pattern", "contentEncoding"),
		lacks("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
		lacks("minLength", "maxLength", "minItems", "maxItems", "uniqueItems"),
		lacks("oneOf", "allOf", "$ref", "$defs", "definitions", "not", "if", "then", "else", "dependentRequired", "patternProperties")},
	mcpadapter.AnthropicStrict: {closedObjects, typedValues, typedItems, loneUnions, fullUnions, declared, knownFormats,
		lacks("default", "examples", "contentEncoding"),
		lacks("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
		lacks("minLength", "maxLength", "minItems", "maxItems", "uniqueItems"),
		lacks("oneOf", "allOf", "$ref", "$defs", "definitions", "not", "if", "then", "else", "dependentRequired", "patternProperties")},
	mcpadapter.Gemini: {typedValues, typedItems, loneUnions, fullUnions, declared, noTypeLists, noNullType, enumStrings, textEnums, knownFormats,
		lacks("additionalProperties", "examples", "const", "oneOf", "allOf", "not", "$ref", "$defs"),
		lacks("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "contentEncoding")},
}

type everyType struct {
	Name   string     `json:"name"`
	Nick   *string    `json:"nick" jsonschema:"Short name (for friends)"`
	Born   *time.Time `json:"born"`
	Level  int8       `json:"level,omitempty"`
	Photo  []byte     `json:"photo,omitempty"`
	Scores []*float64 `json:"scores,omitempty"`
	Parts  []struct {
		Kind  string `json:"kind"`
		Count *int   `json:"count"`
	} `json:"parts,omitempty"`
}

// foreign is a schema with many keywords.
const foreign = `{"type":"object","title":"Foreign","properties":{
	"one":{"oneOf":[{"type":"string","minLength":2},{"type":"integer","exclusiveMinimum":3}]},
	"fixed":{"const":"yes"},
	"number":{"enum":[1,2,3]},
	"maybe":{"type":["string","integer","null"],"default":"x"},
	"list":{"type":"array","items":{"type":"string","pattern":"^a"},"minItems":1,"uniqueItems":true,"default":["a"]},
	"open":{"type":"object","properties":{"a":{"type":"string","format":"uri-template","examples":["x"]}},"required":["a"]},
	"half":{"type":"number","multipleOf":0.5,"exclusiveMaximum":9007199254740993},
	"shared":{"$ref":"#/definitions/shared"}},"definitions":{"shared":{"enum":["a","b"],"minLength":1}},
	"required":["half"],"not":{"required":["x"]}}`

// dialectTools returns the tools of the library and extra tools with a dialect. The
// extra tools return their arguments as text.
func dialectTools(t *testing.T, opts ...mcpadapter.Option) []mcpadapter.Tool {
	t.Helper()
	call := func(_ context.Context, arguments json.RawMessage) (mcpadapter.Result, error) {
		return mcpadapter.Result{Text: string(arguments)}, nil
	}
	typed := must.Get(mcpadapter.ToolFor("typed", "", func(_ context.Context, in everyType) (everyType, error) { return in, nil }))(t)
	return everyTool(t, append(opts, mcpadapter.WithExtraTools(typed, mcpadapter.Tool{Name: "plain", Call: call},
		mcpadapter.Tool{Name: "foreign", InputSchema: json.RawMessage(foreign), Call: call}))...).Tools()
}

// eachSchema calls f with a schema and all schemas in the schema.
func eachSchema(value any, f func(map[string]any)) {
	schema, ok := value.(map[string]any)
	if !ok {
		return
	}
	f(schema)
	for _, keyword := range []string{"properties", "$defs"} {
		below, _ := schema[keyword].(map[string]any)
		for _, s := range below {
			eachSchema(s, f)
		}
	}
	for _, keyword := range []string{"anyOf", "allOf", "oneOf"} {
		below, _ := schema[keyword].([]any)
		for _, s := range below {
			eachSchema(s, f)
		}
	}
	eachSchema(schema["items"], f)
}

func TestDialectsFollowTheRulesOfTheAPIs(t *testing.T) {
	for _, d := range allDialects {
		for _, tool := range dialectTools(t, mcpadapter.WithDialect(d)) {
			must.Equal(t, d, "object", tool.Schema()["type"])
			eachSchema(tool.Schema(), func(schema map[string]any) {
				for _, r := range rules[d] {
					must.Equal(t, d, true, r.holds(schema))
				}
			})
		}
	}
}

// Each rule fails for a tool without a dialect, so no rule is empty.
func TestTheRulesOfTheAPIsRejectTheSchemasWithoutADialect(t *testing.T) {
	for _, d := range allDialects {
		for _, r := range rules[d] {
			broken := false
			for _, tool := range dialectTools(t) {
				eachSchema(tool.Schema(), func(schema map[string]any) { broken = broken || !r.holds(schema) })
			}
			if always := []string{typedItems.name, loneUnions.name, fullUnions.name, noNullType.name, declared.name}; !broken && !slices.Contains(always, r.name) {
				t.Errorf("%s: every schema follows %q without the dialect", d, r.name)
			}
		}
	}
}

func TestDialectsChangeSchemas(t *testing.T) {
	for d, names := range map[mcpadapter.Dialect][]string{
		mcpadapter.OpenAIStrict:    {"plain", "typed", "foreign"},
		mcpadapter.AnthropicStrict: {"list_commands", "typed"},
		mcpadapter.Gemini:          {"foreign"},
	} {
		for _, tool := range dialectTools(t, mcpadapter.WithDialect(d)) {
			if slices.Contains(names, tool.Name) {
				t.Run(string(d)+"/"+tool.Name, func(t *testing.T) {
					sameJSON(t, tool.InputSchema, schemaOf(t, string(d)+"/"+tool.Name))
				})
			}
		}
	}
}

// TestDialectsKeepTheAcceptedValues compares each property of each tool with and
// without a dialect: the values of a schema with a dialect are the values without,
// null for an optional property, and the values beyond a removed bound.
func TestDialectsKeepTheAcceptedValues(t *testing.T) {
	values := []string{`null`, `0`, `1`, `3.5`, `101`, `300`, `"x"`, `"yes"`, `"size"`, `"2026-01-20T14:03:11Z"`, `true`, `[]`, `["a"]`, `[1]`, `[null]`, `{}`, `{"a":"b"}`, `[{"kind":"x"}]`}
	constraint := has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "pattern", "format")
	original := dialectTools(t)
	for _, d := range []mcpadapter.Dialect{mcpadapter.OpenAIStrict, mcpadapter.AnthropicStrict} {
		for i, tool := range dialectTools(t, mcpadapter.WithDialect(d)) {
			before, after := compiled(t, original[i].InputSchema), compiled(t, tool.InputSchema)
			properties, _ := original[i].Schema()["properties"].(map[string]any)
			isRequired, _ := original[i].Schema()["required"].([]any)
			for name, property := range properties {
				bounded := false
				eachSchema(property, func(s map[string]any) { bounded = bounded || constraint(s) })
				for _, value := range values {
					arguments := map[string]json.RawMessage{name: json.RawMessage(value)}
					for _, other := range isRequired {
						if other != name {
							arguments[other.(string)] = exampleFor(t, properties[other.(string)])
						}
					}
					sparse := must.Get(json.Marshal(arguments))(t)
					if d == mcpadapter.OpenAIStrict { // the model sends each argument
						for other := range properties {
							if _, ok := arguments[other]; !ok {
								arguments[other] = json.RawMessage(`null`)
							}
						}
					}
					if value == `[{"kind":"x"}]` && d == mcpadapter.OpenAIStrict {
						arguments[name] = json.RawMessage(`[{"kind":"x","count":null}]`)
					}
					if d == mcpadapter.AnthropicStrict { // the model sends the defaults
						for other, p := range properties {
							if value, ok := p.(map[string]any)["default"]; ok && other != name {
								arguments[other] = encoded(t, value)
							}
						}
					}
					full := must.Get(json.Marshal(arguments))(t)
					was, is := validate(t, before, sparse) == nil, validate(t, after, full) == nil
					wanted := was || d == mcpadapter.OpenAIStrict && value == `null` && !slices.Contains(isRequired, any(name))
					if wanted && !is || is && !wanted && !bounded {
						t.Errorf("%s, %s, %s: %s is accepted: %t; without the dialect: %t", d, tool.Name, name, value, is, was)
					}
				}
			}
		}
	}
}

func encoded(t *testing.T, value any) json.RawMessage {
	t.Helper()
	return must.Get(json.Marshal(value))(t)
}

func exampleFor(t *testing.T, property any) json.RawMessage {
	t.Helper()
	if example := exampleOf(t, encoded(t, property)); example != nil {
		return example
	}
	return json.RawMessage(`1`)
}

// elapsed matches the time in a result.
var elapsed = regexp.MustCompile(`"search_time_ms":\d+`)

// With OpenAIStrict, null for each optional argument has the result of a call without
// the argument.
func TestToolsTreatNullAsAnOmittedArgument(t *testing.T) {
	calls := map[string]string{
		"search_commands": `{"query":"log"}`, "get_command": `{"command_name":"commit"}`, "search_skills": `{"query":"weather"}`,
		"get_skill": `{"skill_name":"weather"}`, "get_agent": `{"agent_name":"plan"}`, "get_instructions": `{"path":"src"}`, "read_skill_file": `{"skill_name":"weather","path":"SKILL.md"}`, "list_directory": `{"path":"."}`,
		"get_file_info": `{"path":"src"}`, "search_files": `{"pattern":"*"}`, "search_text": `{"pattern":"a"}`, "read_file": `{"path":"src/agent.lisp"}`, "report_feedback": `{"command_name":"commit","report_content":"","user_wants_upload":false}`,
		"typed": `{"name":"x","parts":[{"kind":"y"}]}`, "foreign": `{"half":1,"maybe":null}`,
	}
	for _, tool := range dialectTools(t, mcpadapter.WithDialect(mcpadapter.OpenAIStrict)) {
		arguments := map[string]json.RawMessage{}
		if calls[tool.Name] != "" {
			must.Do(t, json.Unmarshal([]byte(calls[tool.Name]), &arguments))
		}
		sparse := must.Get(json.Marshal(arguments))(t)
		for _, name := range tool.Schema()["required"].([]any) {
			if _, ok := arguments[name.(string)]; !ok {
				arguments[name.(string)] = json.RawMessage(`null`)
			}
		}
		if tool.Name == "typed" {
			arguments["parts"] = json.RawMessage(`[{"kind":"y","count":null}]`)
		}
		full := must.Get(json.Marshal(arguments))(t)
		must.Is(t, tool.Name, nil, validate(t, compiled(t, tool.InputSchema), full))
		want := must.Get(tool.Call(ctx, sparse))(t)
		got := must.Get(tool.Call(ctx, full))(t)
		if diff := cmp.Diff(elapsed.ReplaceAllString(want.Text, ""), elapsed.ReplaceAllString(got.Text, "")); diff != "" || want.IsError != got.IsError {
			t.Errorf("%s(%s) differs from %s (-want +got):\n%s", tool.Name, full, sparse, diff)
		}
	}
}

// Anthropic accepts 20 strict tools with 24 optional arguments and 16 unions in a request.
func TestLibraryToolsFitTheLimitsOfAnthropic(t *testing.T) {
	tools := everyTool(t, mcpadapter.WithDialect(mcpadapter.AnthropicStrict)).Tools()
	optional, unions := 0, 0
	for _, tool := range tools {
		eachSchema(tool.Schema(), func(schema map[string]any) {
			properties, _ := schema["properties"].(map[string]any)
			required, _ := schema["required"].([]any)
			optional += len(properties) - len(required)
			if _, list := schema["type"].([]any); list || schema["anyOf"] != nil {
				unions++
			}
		})
	}
	if len(tools) > 20 || optional > 24 || unions > 16 {
		t.Errorf("%d tools, %d optional arguments, %d unions", len(tools), optional, unions)
	}
}

func TestDialectsSetTheSeparatorOfNames(t *testing.T) {
	for _, tt := range []struct {
		dialect mcpadapter.Dialect
		opts    []mcpadapter.Option
		want    string
	}{
		{"", nil, "a.b.list_skills"},
		{mcpadapter.Gemini, nil, "a.b.list_skills"},
		{mcpadapter.OpenAIStrict, nil, "a_b_list_skills"},
		{mcpadapter.AnthropicStrict, nil, "a_b_list_skills"},
		{mcpadapter.OpenAIStrict, []mcpadapter.Option{mcpadapter.WithSeparator("-")}, "a-b-list_skills"},
		{mcpadapter.Gemini, []mcpadapter.Option{mcpadapter.WithSeparator("_")}, "a_b_list_skills"},
	} {
		opts := append(tt.opts, mcpadapter.WithDialect(tt.dialect), mcpadapter.WithNamespace("a.b"), mcpadapter.WithTools("list_skills"))
		a := adapter(t, opts...)
		must.Equal(t, tt.dialect, tt.want, a.Tools()[0].Name)
		if _, ok := a.Lookup("a.b.list_skills"); !ok {
			t.Errorf("%q: a call with dots is not accepted", tt.dialect)
		}
	}
}

// manyReferences returns a schema whose references double eleven times.
func manyReferences() string {
	defs := `"d0":{"type":"string"}`
	for i := range 11 {
		below := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i)
		defs += fmt.Sprintf(`,"d%d":{"type":"object","properties":{"a":%s,"b":%s}}`, i+1, below, below)
	}
	return `{"type":"object","properties":{"x":{"$ref":"#/$defs/d11"}},"$defs":{` + defs + `}}`
}

func TestNewRejectsWhatADialectCannotExpress(t *testing.T) {
	dot := mcpadapter.WithExtraTools(extra("a.b", mcpadapter.Result{}, nil))
	tool := extra("extra", mcpadapter.Result{}, nil)
	tool.InputSchema = json.RawMessage(manyReferences())
	large := mcpadapter.WithExtraTools(tool)
	for _, tt := range []struct {
		dialects []mcpadapter.Dialect
		option   mcpadapter.Option
		message  string
	}{
		{[]mcpadapter.Dialect{"latin"}, nil, `unknown dialect "latin"`},
		{allDialects[:2], mcpadapter.WithSeparator("."), `use "_" or "-"`},
		{allDialects[:2], dot, `the tool name "a.b" contains a dot`},
		{allDialects, large, `more than 2000 schemas`},
	} {
		for _, d := range tt.dialects {
			_, err := mcpadapter.New(catalog(t, memory(t, project)), mcpadapter.WithDialect(d), tt.option)
			must.Is(t, d, toolshelf.ErrInvalidOption, err, tt.message)
		}
	}
}

// propertySchema returns the schema of the property "x", which follows the rules of a dialect.
func propertySchema(t *testing.T, d mcpadapter.Dialect, schema string) (converted string, err error) {
	t.Helper()
	tool := extra("extra", mcpadapter.Result{}, nil)
	tool.InputSchema = json.RawMessage(schema)
	a, err := mcpadapter.New(catalog(t, memory(t, nil)), mcpadapter.WithTools(), mcpadapter.WithDialect(d), mcpadapter.WithExtraTools(tool))
	if err != nil {
		return "", err
	}
	raw := must.Get(json.Marshal(a.Tools()[0].Schema()["properties"].(map[string]any)["x"]))(t)
	eachSchema(a.Tools()[0].Schema(), func(s map[string]any) {
		for _, r := range rules[d] {
			must.Equal(t, d, true, r.holds(s))
		}
	})
	return string(raw), nil
}

//go:embed testdata/dialects.txt
var dialects string

// TestDialectsOfSchemas asks the questions of testdata/dialects.txt, which describes the questions.
func TestDialectsOfSchemas(t *testing.T) {
	must.Answer(t, dialects, map[string]func(t *testing.T, a ...string) string{
		"rejects": func(t *testing.T, a ...string) string {
			tool := extra("extra", mcpadapter.Result{}, nil)
			tool.InputSchema = json.RawMessage(a[1])
			for d := range strings.SplitSeq(a[0], ",") {
				_, err := mcpadapter.New(catalog(t, memory(t, project)),
					mcpadapter.WithDialect(mcpadapter.Dialect(d)), mcpadapter.WithExtraTools(tool))
				must.Is(t, d, toolshelf.ErrInvalidOption, err, a[2])
			}
			return ""
		},
		"converts": func(t *testing.T, a ...string) string {
			a = append(a, "")
			schema := `{"type":"object","properties":{"x":` + a[1] + `}` + a[2] + `}`
			return must.Get(propertySchema(t, mcpadapter.Dialect(a[0]), schema))(t)
		},
	})
}

// With OpenAIStrict, a call has no null that the original schema rejects, and each null
// that the original schema accepts.
func TestCallsOfExtraToolsKeepNullsThatTheSchemaAccepts(t *testing.T) {
	node := `{"type":"object","properties":{"y":{"type":"string"},"z":{"type":["string","null"]}}}`
	for _, tt := range []struct{ name, schema, arguments, want string }{
		{"below a reference", `{"type":"object","properties":{"x":{"$ref":"#/$defs/n"}},"$defs":{"n":` + node + `}}`, `{"x":{"y":null,"z":null}}`, `{"x":{"z":null}}`},
		{"a reference that accepts null", `{"type":"object","properties":{"x":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":["string","null"]}}}`, `{"x":null}`, `{"x":null}`},
		{"below a union", `{"type":"object","properties":{"x":{"anyOf":[` + node + `,{"type":"null"}]}}}`, `{"x":{"y":null,"z":null}}`, `{"x":{"z":null}}`},
		{"below items of a union", `{"type":"object","properties":{"x":{"oneOf":[{"type":"array","items":` + node + `},{"type":"string"}]}}}`, `{"x":[{"y":null,"z":null}]}`, `{"x":[{"z":null}]}`},
		{"beside numbers", `{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"string"}}}`, `{"x":1.10,"y":null}`, `{"x":1.10}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool := mcpadapter.Tool{Name: "extra", InputSchema: json.RawMessage(tt.schema), Call: func(_ context.Context, arguments json.RawMessage) (mcpadapter.Result, error) {
				return mcpadapter.Result{Text: string(arguments)}, nil
			}}
			a := adapter(t, mcpadapter.WithTools(), mcpadapter.WithDialect(mcpadapter.OpenAIStrict), mcpadapter.WithExtraTools(tool))
			if got, isError := a.Answer(ctx, "extra", json.RawMessage(tt.arguments)); isError || got != tt.want {
				t.Errorf("got %s; want %s", got, tt.want)
			}
		})
	}
}

// For every schema, a dialect returns an error or a schema that follows the rules of the API.
func FuzzWithDialect(f *testing.F) {
	f.Add([]byte(foreign), []byte(`{"half":1,"one":null}`))
	f.Add([]byte(`{"type":"object","properties":{"x":{"$ref":"#"},"y":{"anyOf":[{"type":"null"},{"enum":[null,1]}]}},"required":["y"]}`), []byte(`{"x":null}`))
	f.Add([]byte(`{"type":"object","properties":0}`), []byte(`{}`))
	f.Add([]byte(`{"type":"object","properties":[],"required":{},"items":[{}],"anyOf":{},"description":1,"enum":1}`), []byte(`[null]`))
	f.Add([]byte(`{"type":"object","properties":{"x":{"type":["object","array"],"items":{"type":"object"}}},"$defs":{"a":{"const":null}}}`), []byte(`{"x":[{"y":null}]}`))
	f.Add([]byte(`{"type":"object","properties":{"x":{"$ref":"#/$defs/a","title":"X"}},"required":["x","y",{},{}],"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"type":["integer","string","null"],"enum":[1,"a",null],"minimum":1}}}`), []byte(`{"x":1.10,"y":null}`))
	f.Add([]byte(`{"type":"object","properties":{"x":{"oneOf":[{"type":["object"],"properties":{"y":{"const":null}}},{"enum":[1.5,2]},{"type":[{}]}]},"z":{"type":"string","anyOf":[{"const":"a"},{"pattern":"(?=a)"}]}}}`), []byte(`{"x":{"y":null}}`))
	c := catalog(f, memory(f, nil))
	f.Fuzz(func(t *testing.T, schema, arguments []byte) {
		tool := extra("extra", mcpadapter.Result{Text: "x"}, nil)
		tool.InputSchema = schema
		for _, d := range allDialects {
			a, err := mcpadapter.New(c, mcpadapter.WithTools(), mcpadapter.WithDialect(d), mcpadapter.WithExtraTools(tool))
			if err != nil {
				must.Is(t, "err", toolshelf.ErrInvalidOption, err)
				continue
			}
			eachSchema(a.Tools()[0].Schema(), func(s map[string]any) {
				for _, r := range rules[d] {
					must.Equal(t, d, true, r.holds(s))
				}
			})
			if text, isError := a.Answer(ctx, "extra", arguments); text != "x" || isError {
				t.Errorf("%s: Answer = %q, %t", d, text, isError)
			}
		}
	})
}

func ExampleWithDialect() {
	catalog := sample()
	defer catalog.Close()
	for _, dialect := range []mcpadapter.Dialect{"", mcpadapter.OpenAIStrict} {
		adapter, err := mcpadapter.New(catalog, mcpadapter.WithDialect(dialect), mcpadapter.WithNamespace("shelf"), mcpadapter.WithTools("list_commands"))
		if err != nil {
			log.Fatal(err)
		}
		for _, tool := range adapter.Tools() {
			property := tool.Schema()["properties"].(map[string]any)["page_size"]
			raw, err := json.Marshal(property)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(tool.Name, string(raw))
		}
		_, isError := adapter.Answer(context.Background(), "shelf_list_commands", json.RawMessage(`{"page":null,"page_size":null}`))
		fmt.Println("null is an error:", isError)
	}
	// Output:
	// shelf.list_commands {"default":50,"description":"Number of items per page","maximum":100,"minimum":1,"type":"integer"}
	// null is an error: false
	// shelf_list_commands {"description":"Number of items per page (1 to 100, default 50)","type":["integer","null"]}
	// null is an error: false
}
