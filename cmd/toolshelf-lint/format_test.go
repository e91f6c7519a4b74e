package main

import (
	"bytes"
	"encoding/json"
	"testing"

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
	if out, _ := printed(t, 0, "-format", "json", "y"); out != "[]\n" {
		t.Errorf("nothing wrong is %q", out)
	}
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
