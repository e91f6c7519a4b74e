package toolshelf_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
)

// constants returns the values of a file's constants of a type, with the comment
// of each.
func constants(t testing.TB, file, typ string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); !ok || name.Name != typ {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		found[value] = strings.TrimSpace(spec.Comment.Text())
		return true
	})
	return found
}

func TestEveryDiagnosticCodeIsDocumented(t *testing.T) {
	documented := constants(t, "agentmd/codes.go", "DiagnosticCode")
	used := constants(t, "internal/problem/codes.go", "Code")
	if diff := cmp.Diff(slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(documented))); diff != "" {
		t.Errorf("codes of internal/problem and of DiagnosticCode differ (-problem +DiagnosticCode):\n%s", diff)
	}
	for code, comment := range documented {
		if severity, condition, ok := strings.Cut(comment, ": "); !ok || condition == "" ||
			!slices.Contains([]string{"error", "warning", "warning (error)"}, severity) {
			t.Errorf("%s: the comment does not state a severity and a condition: %q", code, comment)
		}
	}
}

// checkCodes verifies that the comments of the constants state the severities of
// the diagnostics.
func checkCodes(t testing.TB, diagnostics []toolshelf.Diagnostic) {
	t.Helper()
	comments := documentedCodes(t)
	for _, d := range diagnostics {
		if comment := comments[string(d.Code)]; !strings.Contains(comment, string(d.Severity)) {
			t.Errorf("%s has the severity %q; the documentation is %q", d.Code, d.Severity, comment)
		}
		checkForAuthors(t, d.String())
	}
}

// checkForAuthors verifies that a text names no option of Go: the author of a Markdown
// file may know neither Go nor the program. Only the program can search deeper directories, so
// the report of nested skills also names its option.
func checkForAuthors(t testing.TB, text string) {
	t.Helper()
	text = strings.ReplaceAll(text, "let the program search two levels (WithSkillDepth(2))", "")
	if option := goOption.FindString(text); option != "" {
		t.Errorf("%q names the Go option %s", text, option)
	}
}

var goOption = regexp.MustCompile(`\bWith[A-Z]\w*`)

func TestDiagnosticCodesAreDescribedForAuthors(t *testing.T) {
	for _, comment := range documentedCodes(t) {
		checkForAuthors(t, comment)
	}
}

// TestLintNamesNoGoOption checks the texts that name a limit or a policy of the program.
func TestLintNamesNoGoOption(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a b.md": "", "commands/large.md": "more than ten", "skills/pdf/SKILL.md": ""})
	for _, link := range []string{"commands/link.md", "skills/pdf/link"} {
		hosttest.Symlink(t, "none", filepath.Join(root, filepath.FromSlash(link)))
	}
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithMaxFileSize(10), toolshelf.WithSymlinks(toolshelf.SymlinksDeny))
	diagnostics, err := c.Lint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkCodes(t, diagnostics)
	for _, code := range []toolshelf.DiagnosticCode{"INVALID_COMMAND_NAME", "FILE_TOO_LARGE", "LINK_NOT_FOLLOWED"} {
		if !slices.ContainsFunc(diagnostics, func(d toolshelf.Diagnostic) bool { return d.Code == code }) {
			t.Errorf("no %s: %v", code, diagnostics)
		}
	}
}

var (
	documentedOnce sync.Once
	documented     map[string]string
)

func documentedCodes(t testing.TB) map[string]string {
	documentedOnce.Do(func() { documented = constants(t, "agentmd/codes.go", "DiagnosticCode") })
	return documented
}

func TestDiagnosticStringHasTheFormatOfCompilers(t *testing.T) {
	for want, d := range map[string]toolshelf.Diagnostic{
		"a.md: error: x [Y]":             {Code: "Y", Severity: toolshelf.SeverityError, Path: "a.md", Message: "x"},
		"a.md:3: warning: x; do z [Y]":   {Code: "Y", Severity: toolshelf.SeverityWarning, Path: "a.md", Line: 3, Message: "x", Suggestion: "do z"},
		"a.md:3:7: warning: x; do z [Y]": {Code: "Y", Severity: toolshelf.SeverityWarning, Path: "a.md", Line: 3, Column: 7, Message: "x", Suggestion: "do z"},
	} {
		if got := d.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
