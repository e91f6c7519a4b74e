package api

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// api returns the features of a package p with the given declarations.
func api(t *testing.T, declarations string) []string {
	t.Helper()
	lines := features(check(t, declarations))
	slices.Sort(lines)
	return lines
}

func check(t *testing.T, declarations string) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	file := must.Get(parser.ParseFile(fset, "p.go", "package p\n"+declarations, 0))(t)
	config := types.Config{Importer: importer.Default()}
	return must.Get(config.Check("example.com/p", fset, []*ast.File{file}, nil))(t)
}

func TestAFieldThatShadowsAFieldOfAnEmbeddedStructIsFound(t *testing.T) {
	for declarations, want := range map[string]string{
		"type A struct{ X int }\ntype B struct{ *A }\ntype C struct { B; X int }": "C.X",
		"type A struct{ x int }\ntype C struct { A; x, Y int }":                   "",
		"type A int\nfunc (A) X() {}\ntype C struct { A; Y int }":                 "",
	} {
		must.Equal(t, declarations, want, shadowing(check(t, declarations)))
	}
}

func TestIncompatibleChangesNeedALineInTheChangelog(t *testing.T) {
	for _, tt := range []struct{ name, before, after, identifier string }{
		{"a removed function", "func F() {}", "", "p.F"},
		{"another parameter", "func F(int) {}", "func F(int, string) {}", "p.F"},
		{"a variadic parameter", "func F(int) {}", "func F(int, ...string) {}", "p.F"},
		{"another result", "func F() int { return 0 }", "func F() int64 { return 0 }", "p.F"},
		{"another constraint", "func F[T any](T) {}", "func F[T comparable](T) {}", "p.F"},
		{"a removed type", "type T int", "", "p.T"},
		{"another type", "type T int", "type T string", "p.T"},
		{"an alias of another type", "type T = int", "type T = string", "p.T"},
		{"a removed field", "type T struct{ A, B int }", "type T struct{ A int }", "p.T.B"},
		{"another field type", "type T struct{ A int }", "type T struct{ A string }", "p.T.A"},
		{"another field tag", "type T struct{ A int `json:\"a\"` }", "type T struct{ A int `json:\"b\"` }", "p.T.A"},
		{"a struct that == no longer compares", "type T struct{ A int }", "type T struct{ A int; b []int }", "p.T"},
		{"a removed method", "type T int\nfunc (T) M() {}", "type T int", "p.T.M"},
		{"a method of the pointer only", "type T int\nfunc (T) M() {}", "type T int\nfunc (*T) M() {}", "p.T.M"},
		{"an additional method of an interface", "type T interface{ M() }", "type T interface{ M(); N() }", "p.T"},
		{"a removed method of a sealed interface", "type T interface{ M(); n() }", "type T interface{ n() }", "p.T.M"},
		{"another value of a constant", `const C = "A"`, `const C = "B"`, "p.C"},
		{"another type of a variable", "var V int", "var V error", "p.V"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, after := api(t, tt.before), api(t, tt.after)
			var out bytes.Buffer
			err := compare(&out, before, after, "")
			if err == nil || !strings.Contains(err.Error(), "`"+tt.identifier+"`") || !strings.Contains(out.String(), "- "+tt.identifier+": ") {
				t.Errorf("got %v and %q, want an error that names %s", err, out.String(), tt.identifier)
			}
			changelog := "## [Unreleased]\n\n### Breaking\n\n- `" + tt.identifier + "` has changed.\n"
			if err := compare(&out, before, after, changelog); err != nil {
				t.Errorf("with a line in the changelog: %v", err)
			}
		})
	}
}

func TestCompatibleChangesNeedNoLineInTheChangelog(t *testing.T) {
	for _, tt := range []struct{ name, before, after string }{
		{"an additional function", "func F() {}", "func F() {}\nfunc G() {}"},
		{"another name of a parameter", "func F(a int) {}", "func F(b int) {}"},
		{"another name of a parameter of a callback", "func F(func(a int)) {}", "func F(func(b int)) {}"},
		{"an additional field", "type T struct{ A int }", "type T struct{ A int; B string }"},
		{"an additional method", "type T int", "type T int\nfunc (T) M() {}"},
		{"a promoted method", "type T struct{}\nfunc (T) M() {}", "type T struct{ u }\ntype u struct{}\nfunc (u) M() {}"},
		{"an additional method of a sealed interface", "type T interface{ m() }", "type T interface{ m(); N() }"},
		{"an unexported identifier", "var v int", "var v string"},
		{"a struct that == now compares", "type T struct{ a []int }", "type T struct{}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := compare(&out, api(t, tt.before), api(t, tt.after), ""); err != nil || out.Len() > 0 {
				t.Errorf("got %v and %q, want no error and no output", err, out.String())
			}
		})
	}
}

// toolAPI returns the features of a tool t with two schemas.
func toolAPI(t *testing.T, input, output string) []string {
	t.Helper()
	return toolFeatures(t, mcpadapter.Tool{Name: "t", InputSchema: []byte(input), OutputSchema: []byte(output)})
}

func TestIncompatibleChangesOfToolsNeedALineInTheChangelog(t *testing.T) {
	const input = `{"required":["a"],"properties":{"a":{"type":"string"},"s":{"type":"string","enum":["x","y"],"default":"x"}}}`
	const output = `{"properties":{"rows":{"type":"array","items":{"properties":{"name":{"type":"string"}}}}}}`
	before := toolAPI(t, input, output)
	for _, tt := range []struct{ name, in, out, replacedIn, replacedOut string }{
		{"a renamed argument", `"s":{`, "", `"r":{`, ""},
		{"a required argument", `["a"]`, "", `["a","s"]`, ""},
		{"another type", `"a":{"type":"string"}`, "", `"a":{"type":"integer"}`, ""},
		{"a removed value", `"x","y"`, "", `"x"`, ""},
		{"another default", `"default":"x"`, "", `"default":"y"`, ""},
		{"a removed property of the result", "", `"name":`, "", `"title":`},
		{"another type of the result", "", `"type":"array"`, "", `"type":"object"`},
	} {
		after := toolAPI(t, strings.Replace(input, tt.in, tt.replacedIn, 1), strings.Replace(output, tt.out, tt.replacedOut, 1))
		if err := compare(&bytes.Buffer{}, before, after, ""); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
		if err := compare(&bytes.Buffer{}, before, after, "## [Unreleased]\n### Breaking\n- `t` has changed."); err != nil {
			t.Errorf("%s, with a line in the changelog: %v", tt.name, err)
		}
	}
	if err := compare(&bytes.Buffer{}, before, nil, ""); err == nil {
		t.Error("a removed tool: no error")
	}
	added := toolAPI(t, strings.Replace(input, `"s":{`, `"new":{"type":"boolean","description":"d"},"s":{"description":"e",`, 1),
		strings.Replace(output, `"name":`, `"size":{"type":"integer"},"name":`, 1))
	if err := compare(&bytes.Buffer{}, before, append(added, "tool.u: tool {}"), ""); err != nil {
		t.Errorf("an additional tool, argument, description and property: %v", err)
	}
}

// TestPrintedChangeHasBothVersions shows the output for a changed function.
func TestPrintedChangeHasBothVersions(t *testing.T) {
	var out bytes.Buffer
	compare(&out, api(t, "func F(int) {}\nfunc G() {}"), api(t, "func F(string) {}\nfunc G() {}"), "")
	must.Match(t, "result", "- p.F: func(int)\n+ p.F: func(string)\n", out.String())
}

func TestOnlyTheSectionsBreakingNameChanges(t *testing.T) {
	before, after := api(t, "type T struct{ A int }"), api(t, "type T struct{}")
	for _, tt := range []struct {
		name, changelog string
		want            bool
	}{
		{"the field", "## [Unreleased]\n### Breaking\n- `p.T.A` is gone.", true},
		{"its type", "## [Unreleased]\n### Breaking\n- The fields of `p.T` are gone.", true},
		{"a code span with more", "## [Unreleased]\n### Breaking\n- `p.T.A = 1` sets nothing.", true},
		{"the second line of an entry", "## [Unreleased]\n### Breaking\n- A field is gone:\n  `p.T.A`.", true},
		{"no code span", "## [Unreleased]\n### Breaking\n- p.T.A is gone.", false},
		{"another field", "## [Unreleased]\n### Breaking\n- `p.T.B` is gone.", false},
		{"a longer name", "## [Unreleased]\n### Breaking\n- `p.T.AB` is gone.", false},
		{"another section", "## [Unreleased]\n### Changed\n- `p.T.A` is gone.", false},
		{"a later section", "## [Unreleased]\n### Breaking\n### Fixed\n- `p.T.A` is gone.", false},
		{"the section of a release", "## [Unreleased]\n## [0.2.0]\n### Breaking\n- `p.T.A` is gone.", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := compare(&bytes.Buffer{}, before, after, tt.changelog); (err == nil) != tt.want {
				t.Errorf("got %v, want success %v", err, tt.want)
			}
		})
	}
	if !breaking("## [Unreleased]\n### Breaking\n- `Catalog.List`")["toolshelf.Catalog.List"] {
		t.Error("an identifier without a package is not in the package toolshelf")
	}
}
