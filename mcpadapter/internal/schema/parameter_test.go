package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// kinds has a parameter of each kind.
var kinds = func() (all []Parameter) {
	if err := json.Unmarshal([]byte(`[
		{"name": "path", "required": true, "hint": "\".\" for the root",
			"schema": {"type": "string", "description": "Path"}},
		{"name": "order", "code": "INVALID_SORT",
			"schema": {"type": "string", "description": "Order", "default": "name", "enum": ["name", "size"]}},
		{"name": "line", "schema": {"type": "integer", "description": "Line"}},
		{"name": "limit", "schema": {"type": "integer", "description": "Limit", "minimum": 1, "maximum": 5}},
		{"name": "all", "schema": {"type": "boolean", "description": "All"}},
		{"name": "globs", "schema": {"type": "array", "items": {"type": "string"}, "maxItems": 1,
			"description": "Globs", "examples": ["*.go"]}}
	]`), &all); err != nil {
		panic(err)
	}
	return all
}()

func TestDecode(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"path":"a"}`: "map[order:name path:a]",
		`{"path":"a","order":null,"line":"-2","limit":5.0,"all":false,"globs":["*"]}`: "map[all:false globs:[*] limit:5 line:-2 order:name path:a]",
		``:                           `INVALID_ARGUMENTS path is missing; send a string, "." for the root`,
		`[]`:                         `INVALID_ARGUMENTS the arguments are not an object; send a JSON object, such as {"path": "…"}`,
		`{`:                          `INVALID_ARGUMENTS the arguments are not valid JSON; send a JSON object, such as {"path": "…"}`,
		`{"path":"a","x":1,"y":2}`:   `INVALID_ARGUMENTS the tool has no arguments "x", "y"; accepted arguments: path, order, line, limit, all, globs`,
		`{"path":"a","order":"age"}`: `INVALID_SORT order is "age"; send one of name, size`,
		`{"path":"a","line":0.5}`:    "INVALID_ARGUMENTS line is 0.5; send a whole number",
		`{"path":"a","limit":6}`:     "INVALID_ARGUMENTS limit is 6; send a whole number from 1 to 5",
		`{"path":"a","limit":0}`:     "INVALID_ARGUMENTS limit is 0; send a whole number from 1 to 5",
		`{"path":"a","all":1}`:       "INVALID_ARGUMENTS all is 1; send true or false",
		`{"path":"a","globs":["a","b"]}`: `INVALID_ARGUMENTS globs is an array; send an array of at most 1 strings, ` +
			`such as ["node_modules", "*.log"]`,
	} {
		args, err := Decode(json.RawMessage(arguments), kinds)
		got := fmt.Sprint(args)
		if err != nil {
			got = string(err.Code) + " " + err.Message
		}
		must.Equal(t, arguments, want, got)
	}
}

func TestInput(t *testing.T) {
	must.Equal(t, "schema", `{"type":"object","properties":{"path":{"type":"string","description":"Path"},`+
		`"order":{"type":"string","description":"Order","default":"name","enum":["name","size"]},`+
		`"line":{"type":"integer","description":"Line"},`+
		`"limit":{"type":"integer","description":"Limit","minimum":1,"maximum":5},`+
		`"all":{"type":"boolean","description":"All"},`+
		`"globs":{"type":"array","items":{"type":"string"},"maxItems":1,"description":"Globs","examples":["*.go"]}},`+
		`"required":["path"],"additionalProperties":false}`, string(Input(kinds)))
}

func TestCompactLimitsTheLevels(t *testing.T) {
	for _, levels := range []int{MaxNesting, MaxNesting + 1} {
		raw := strings.Repeat(`{"[\"":`, levels-1) + "{ }" + strings.Repeat("}", levels-1)
		_, ok := Compact(json.RawMessage(raw))
		must.Equal(t, levels, levels == MaxNesting, ok)
	}
	for _, raw := range []string{"", "[]", "{", "{\"a\":\"\xff\"}"} {
		if _, ok := Compact(json.RawMessage(raw)); ok {
			t.Errorf("%q is accepted", raw)
		}
	}
}

func TestUnknownCountsTheNamesThatItOmits(t *testing.T) {
	names := strings.Split(strings.Repeat("a", 21), "")
	for _, tt := range []struct {
		unknown, known int
		want           string
	}{
		{1, 0, `it has no argument "a"; accepted arguments: none`},
		{3, 1, `it has no arguments "a", "a", "a"; accepted arguments: a`},
		{4, 1, `it has no arguments "a", "a", "a" and 1 more; accepted arguments: a`},
		{1, 20, `it has no argument "a"; accepted arguments: a` + strings.Repeat(", a", 19)},
		{1, 21, `it has no argument "a"; accepted arguments: a` + strings.Repeat(", a", 19) + " and 1 more"},
	} {
		must.Equal(t, tt.known, tt.want, Unknown("it", names[:tt.unknown], names[:tt.known]))
	}
}
