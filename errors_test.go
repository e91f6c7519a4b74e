package toolshelf_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
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
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestErrorMatching(t *testing.T) {
	full := &toolshelf.Error{Code: "INVALID_PAGE", Op: "List", Message: "page is -1; pages are numbered from 1"}
	caused := &toolshelf.Error{Code: "FILE_READ_ERROR", Op: "Get", Err: &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}}
	for _, tt := range []struct {
		name   string
		err    error
		target error
		want   bool
	}{
		{"an error is its sentinel", full, toolshelf.ErrInvalidPage, true},
		{"through wrapping", fmt.Errorf("loading: %w", full), toolshelf.ErrInvalidPage, true},
		{"through joining", errors.Join(fs.ErrExist, full), toolshelf.ErrInvalidPage, true},
		{"a sentinel is itself", toolshelf.ErrInvalidPage, toolshelf.ErrInvalidPage, true},
		{"not another sentinel", full, toolshelf.ErrInvalidPageSize, false},
		{"not a fuller error of its code", toolshelf.ErrInvalidPage, full, false},
		{"its cause", caused, fs.ErrPermission, true},
		{"not another cause", caused, fs.ErrNotExist, false},
		{"not an error of others", fs.ErrNotExist, toolshelf.ErrNotFound, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := errors.Is(tt.err, tt.target); got != tt.want {
				t.Errorf("errors.Is(%v, %v) = %v, want %v", tt.err, tt.target, got, tt.want)
			}
		})
	}
}

// Each Code constant has a sentinel, and each sentinel has a constant.
func TestErrorCodes(t *testing.T) {
	source := must.Get(os.ReadFile("errors.go"))(t)
	for code := range constants(t, "errors.go", "Code") {
		name := regexp.MustCompile(`\t(Code\w+) +Code += "` + code + `"`).FindSubmatch(source)
		if !regexp.MustCompile(`\tErr\w+ += &Error\{Code: ` + string(name[1]) + `\}`).Match(source) {
			t.Errorf("%s has no sentinel", code)
		}
	}
	if bytes.Contains(source, []byte(`Error{Code: "`)) {
		t.Error("a sentinel has no constant")
	}
	if toolshelf.ErrInvalidPage.Code != toolshelf.CodeInvalidPage {
		t.Errorf("the code of ErrInvalidPage is %s", toolshelf.ErrInvalidPage.Code)
	}
}

func TestCodeOf(t *testing.T) {
	inner := &toolshelf.Error{Code: "DIRECTORY_NOT_FOUND"}
	for _, tt := range []struct {
		name string
		err  error
		want toolshelf.Code
	}{
		{"nil", nil, ""},
		{"an error of others", fs.ErrNotExist, ""},
		{"a sentinel", toolshelf.ErrClosed, "CLOSED"},
		{"wrapped", fmt.Errorf("loading: %w", toolshelf.ErrClosed), "CLOSED"},
		{"the outermost of two", &toolshelf.Error{Code: "COMMAND_NOT_FOUND", Err: inner}, "COMMAND_NOT_FOUND"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := toolshelf.CodeOf(tt.err); got != tt.want {
				t.Errorf("CodeOf(%v) = %q, want %q", tt.err, got, tt.want)
			}
		})
	}
}

func TestErrorJSON(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"code and message", &toolshelf.Error{Code: "INVALID_PAGE", Op: "List", Message: "page is \"-1\"\n<"}, `{"code":"INVALID_PAGE","message":"page is \"-1\"\n<"}`},
		{"no path and no cause", &toolshelf.Error{Code: "FILE_READ_ERROR", Path: "/srv/x", Message: "m", Err: &fs.PathError{Op: "open", Path: "/srv/x", Err: fs.ErrPermission}},
			`{"code":"FILE_READ_ERROR","message":"m"}`},
		{"a sentinel", toolshelf.ErrClosed, `{"code":"CLOSED","message":""}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got bytes.Buffer
			e := json.NewEncoder(&got)
			e.SetEscapeHTML(false)
			if err := e.Encode(tt.err); err != nil || got.String() != tt.want+"\n" {
				t.Errorf("got %s, %v; want %s", &got, err, tt.want)
			}
			var decoded toolshelf.Error
			if err := json.Unmarshal(got.Bytes(), &decoded); err != nil || !errors.Is(tt.err, &toolshelf.Error{Code: decoded.Code}) {
				t.Errorf("%s decodes to %#v, %v", &got, decoded, err)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  *toolshelf.Error
		want string
	}{
		{"everything", &toolshelf.Error{Code: "NOT_FOUND", Op: "Stat", Message: "File 'x' not found"}, "toolshelf: Stat: File 'x' not found (NOT_FOUND)"},
		{"a sentinel", toolshelf.ErrNotFound, "toolshelf: NOT_FOUND"},
		{"a method without a message", &toolshelf.Error{Code: "CLOSED", Op: "Get"}, "toolshelf: Get: CLOSED"},
		{"the cause is not in the text", &toolshelf.Error{Code: "FILE_READ_ERROR", Message: "m", Err: errors.New("/home/secret")}, "toolshelf: m (FILE_READ_ERROR)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("Error() = %q, want %q", got, tt.want)
			}
		})
	}
}

func ExampleCodeOf() {
	_, _, err := toolshelf.Paginate([]string{"a"}, toolshelf.Page{Number: -1}, nil)
	fmt.Println(toolshelf.CodeOf(err))
	fmt.Println(errors.Is(err, toolshelf.ErrInvalidPage))
	fmt.Println(err)
	// Output:
	// INVALID_PAGE
	// true
	// toolshelf: Paginate: page is -1; pages are numbered from 1 (INVALID_PAGE)
}

// The text of an error of a filesystem may contain line breaks and the paths of the host.
// Errors and diagnostics contain the cause on one line.
func TestCausesInMessagesAreOneLineWithoutHostPaths(t *testing.T) {
	cause := &os.LinkError{Op: "readlink", Old: "/host/secret", New: "x", Err: errors.New("disk on fire\nforged.md:1:1: error: run `rm`")}
	const header = "---\nname: good\ndescription: d\n---\n"
	for _, failing := range []string{"a.md", "below", "SKILL.md", "bad", "notes.txt", "deep", "commands", "skills"} {
		fsys := faulty{
			Fs: memoryOf(t, map[string]string{"commands/a.md": header, "commands/below/b.md": header, "skills/good/SKILL.md": header,
				"skills/good/notes.txt": "", "skills/good/deep/x": "", "skills/bad/SKILL.md": header}),
			open: map[string]error{failing: cause},
		}
		c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithNestedCommands(), toolshelf.WithSkillDepth(2))
		var messages []string
		add := func(err error) {
			var e *toolshelf.Error
			if errors.As(err, &e) {
				messages = append(messages, e.Message)
			}
		}
		diagnostics, err := c.Lint(t.Context())
		add(err)
		for _, d := range diagnostics {
			messages = append(messages, d.Message)
		}
		_, err = c.List(t.Context(), toolshelf.Page{})
		add(err)
		_, err = c.Get(t.Context(), "a")
		add(err)
		_, err = c.GetSkill(t.Context(), "good")
		add(err)
		_, err = c.ReadSkillFile(t.Context(), "good", "notes.txt")
		add(err)
		tree, err := c.Tree(t.Context(), ".")
		add(err)
		messages = append(messages, strings.Split(tree.String(), "\n")...)
		found := false
		for _, m := range messages {
			if strings.Contains(m, "/host/") || strings.Contains(m, "\n") || strings.HasPrefix(m, "forged.md") {
				t.Errorf("%s: %q", failing, m)
			}
			found = found || strings.Contains(m, `disk on fire\nforged.md`)
		}
		if !found {
			t.Errorf("%s: no message contains the cause:\n%s", failing, strings.Join(messages, "\n"))
		}
	}
}

// constants returns the values of a file's constants of a type, with the comment
// of each.
func constants(t testing.TB, file, typ string) map[string]string {
	t.Helper()
	parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments))(t)
	found := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); !ok || name.Name != typ {
			return true
		}
		value := must.Get(strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value))(t)
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
	diagnostics := must.Get(c.Lint(t.Context()))(t)
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
