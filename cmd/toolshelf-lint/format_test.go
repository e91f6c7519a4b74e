package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestJSONIsAnArrayOfDiagnostics(t *testing.T) {
	project(t, map[string]string{"x/commands/a.md": warning, "y/commands/a.md": fine})
	out, _ := printed(t, 0, "-format", "json", "x")
	var got []toolshelf.Diagnostic
	must.Do(t, json.Unmarshal([]byte(out), &got))
	want := []toolshelf.Diagnostic{{Code: "FRONTMATTER_RECOVERED", Severity: "warning", Path: "x/commands/a.md", Line: 2, Column: 1,
		Key: "description", Message: "the value is not valid YAML and is read as text", Suggestion: `write description: "a: b"`}}
	must.Match(t, "diagnostics", want, got)
	prints(t, "[]\n", 0, "-format", "json", "y")
}

func TestGitHubEscapesMessagesAndProperties(t *testing.T) {
	for _, tt := range []struct {
		diagnostic toolshelf.Diagnostic
		want       string
	}{
		{toolshelf.Diagnostic{Code: "A", Severity: "error", Path: "a.md", Line: 2, Column: 3, Message: "m", Suggestion: "write b: c, d"},
			"::error file=a.md,line=2,col=3,title=A::m; write b: c, d\n"},
		{toolshelf.Diagnostic{Code: "A", Severity: "warning", Path: "50%,a:b\r\n.md", Message: "50%\r\n::error::x"},
			"::warning file=50%25%2Ca%3Ab%0D%0A.md,line=1,col=1,title=A::50%25%0D%0A::error::x\n"},
		{toolshelf.Diagnostic{Code: "A", Severity: "error", Path: `a\\b\n.md`, Message: "m"}, `::error file=a\b%0A.md,line=1,col=1,title=A::m` + "\n"},
	} {
		var out bytes.Buffer
		if err := writeGitHub(&out, []toolshelf.Diagnostic{tt.diagnostic}); err != nil || out.String() != tt.want {
			t.Errorf("got  %q, %v\nwant %q", out.String(), err, tt.want)
		}
	}
}

// sarif writes diagnostics as SARIF and reads the result without the types of the writer.
func sarif(t *testing.T, diagnostics ...toolshelf.Diagnostic) (log map[string]any) {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, writeSARIF(&out, diagnostics))
	must.Do(t, json.Unmarshal(out.Bytes(), &log))
	return log
}

// at returns the value at a path of keys and indexes.
func at(t *testing.T, value any, path ...any) any {
	t.Helper()
	for i, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[step]
		case int:
			array, _ := value.([]any)
			if step >= len(array) {
				t.Fatalf("%v is missing", path[:i+1])
			}
			value = array[step]
		}
	}
	return value
}

// Code scanning of GitHub requires these properties with a value that is not empty. See
// "Supported SARIF output file properties" in the documentation of GitHub. The action
// upload-sarif adds partialFingerprints.
func TestSARIFHasTheRequiredProperties(t *testing.T) {
	log := sarif(t, toolshelf.Diagnostic{Code: "SKILL_NAME_MISMATCH", Severity: "error", Path: "skills/é b/SKILL.md", Line: 2, Column: 7, Message: "m", Suggestion: "write c"})
	run := []any{"runs", 0}
	result := append(slices.Clip(run), "results", 0)
	place := append(slices.Clip(result), "locations", 0, "physicalLocation")
	for _, tt := range []struct {
		path []any
		want any
	}{
		{[]any{"$schema"}, "https://json.schemastore.org/sarif-2.1.0.json"},
		{[]any{"version"}, "2.1.0"},
		{append(slices.Clip(run), "tool", "driver", "name"), "toolshelf-lint"},
		{append(slices.Clip(run), "columnKind"), "unicodeCodePoints"},
		{append(slices.Clip(result), "ruleId"), "SKILL_NAME_MISMATCH"},
		{append(slices.Clip(result), "level"), "error"},
		{append(slices.Clip(result), "message", "text"), "m; write c"},
		{append(slices.Clip(place), "artifactLocation", "uri"), "skills/%C3%A9%20b/SKILL.md"},
		{append(slices.Clip(place), "artifactLocation", "uriBaseId"), "%SRCROOT%"},
		{append(slices.Clip(place), "region"), map[string]any{"startLine": 2.0, "startColumn": 7.0, "endLine": 2.0, "endColumn": 8.0}},
	} {
		must.Match(t, tt.path, tt.want, at(t, log, tt.path...))
	}
	driver := at(t, log, "runs", 0, "tool", "driver")
	for i, r := range rules {
		for _, key := range []string{"shortDescription", "fullDescription", "help"} {
			if text, _ := at(t, driver, "rules", i, key, "text").(string); text == "" || len(text) > 1024 {
				t.Errorf("%s of %s is %q", key, r.code, text)
			}
		}
		level := at(t, driver, "rules", i, "defaultConfiguration", "level")
		if id := at(t, driver, "rules", i, "id"); id != r.code || level != "error" && level != "warning" {
			t.Errorf("rule %d is %v, %v; want %s", i, id, level, r.code)
		}
	}
	index := int(at(t, log, append(result, "ruleIndex")...).(float64))
	if id := at(t, driver, "rules", index, "id"); id != "SKILL_NAME_MISMATCH" {
		t.Errorf("ruleIndex %d is the rule %v", index, id)
	}
}

func TestSARIFHelpNamesTheSeverityOfCommandsAndSkills(t *testing.T) {
	help := map[any]string{}
	driver := at(t, sarif(t), "runs", 0, "tool", "driver")
	for i := range rules {
		help[at(t, driver, "rules", i, "id")], _ = at(t, driver, "rules", i, "help", "text").(string)
	}
	for id, want := range map[string]string{
		"NOT_UTF8":       "warning for a command, error for a SKILL.md: the file contains bytes that are not UTF-8. ",
		"TOO_DEEP":       "warning: a directory is nested too deeply and is not scanned. ",
		"FILE_TOO_LARGE": "error: the file is larger than the program allows. ",
	} {
		if !strings.HasPrefix(help[id], want) {
			t.Errorf("%s: got %q, want %q", id, help[id], want)
		}
	}
}

func TestSARIFWithoutDiagnosticsHasAnEmptyList(t *testing.T) {
	if results, ok := at(t, sarif(t), "runs", 0, "results").([]any); !ok || len(results) > 0 {
		t.Errorf("results are %v", results)
	}
}

func TestSARIFLocations(t *testing.T) {
	local := "%SRCROOT%"
	if !filepath.IsLocal("a:b") {
		local = "" // Windows has no directory a:b
	}
	for _, tt := range []struct{ path, uri, base string }{
		{"commands/a.md", "commands/a.md", "%SRCROOT%"},
		{"a:b/commands/100%.md", "./a:b/commands/100%25.md", local}, // not the scheme a
		{`commands/a\\b.md`, "commands/a%5Cb.md", "%SRCROOT%"},
		{`commands/a\nb\x20.md`, "commands/a%0Ab%20.md", "%SRCROOT%"},
		{"../x/commands/a.md", "../x/commands/a.md", ""},
		{"/x/commands/a b.md", "file:///x/commands/a%20b.md", ""},
	} {
		artifact := object{"uri": tt.uri, "uriBaseId": tt.base}
		if tt.base == "" {
			delete(artifact, "uriBaseId")
		}
		wholeFile := object{"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2}
		want := object{"artifactLocation": artifact, "region": wholeFile}
		must.Match(t, tt.path, want, sarifLocation(toolshelf.Diagnostic{Path: tt.path}))
	}
}

// The columns of diagnostics count code points, as columnKind says.
func TestColumnsCountCodePoints(t *testing.T) {
	project(t, map[string]string{"commands/a.md": "---\ndescription: d\n---\n𝔘é [x](missing.md)\n"})
	if got, _ := printed(t, 0); !strings.HasPrefix(got, "commands/a.md:4:8: ") {
		t.Errorf("got %q", got)
	}
}

var update = flag.Bool("update", false, "write the rules to rules.txt")

func TestRulesAreTheDiagnosticCodes(t *testing.T) {
	constant := regexp.MustCompile(`(?m)^\t[Dd]iag\w+ +(?:\w+\.)?DiagnosticCode = "(\w+)" +// (.*)$`)
	want := ""
	for _, file := range []string{"../../agentmd/diagnostic_codes.go", "triggers.go", "../../mcpadapter/internal/publish/publication.go"} {
		source := must.Get(os.ReadFile(file))(t)
		for _, match := range constant.FindAllStringSubmatch(string(source), -1) {
			want += match[1] + " " + match[2] + "\n"
		}
	}
	if *update {
		must.Do(t, os.WriteFile("rules.txt", []byte(want), 0o644))
	} else if diff := cmp.Diff(want, strings.ReplaceAll(ruleLines, "\r\n", "\n")); diff != "" || want == "" {
		t.Errorf("run go test -update ./cmd/toolshelf-lint; rules (-constants +rules.txt):\n%s", diff)
	}
}
