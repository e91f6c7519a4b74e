package toolshelf_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
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
	source, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
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
