package toolshelf_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
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
			must.Equal(t, tt.err, tt.want, errors.Is(tt.err, tt.target))
		})
	}
}

// Each Code constant has a sentinel, and each sentinel has a constant.
func TestErrorCodes(t *testing.T) {
	source := must.Get(os.ReadFile("errors.go"))(t)
	for code := range constants(t, "errors.go", "Code") {
		name := regexp.MustCompile(`\t(Code\w+) +Code += "` + code + `"`).FindSubmatch(source)
		must.Equal(t, code, true,
			regexp.MustCompile(`\tErr\w+ += &Error\{Code: `+string(name[1])+`\}`).Match(source))
	}
	must.Equal(t, "a sentinel without a constant", false, bytes.Contains(source, []byte(`Error{Code: "`)))
	must.Equal(t, "the code of ErrInvalidPage", toolshelf.CodeInvalidPage, toolshelf.ErrInvalidPage.Code)
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
			must.Equal(t, tt.err, tt.want, toolshelf.CodeOf(tt.err))
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
			must.Do(t, e.Encode(tt.err))
			must.Equal(t, "String", tt.want+"\n", got.String())
			var decoded toolshelf.Error
			must.Do(t, json.Unmarshal(got.Bytes(), &decoded))
			must.Is(t, "decodes to", &toolshelf.Error{Code: decoded.Code}, tt.err)
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
			must.Equal(t, "Error()", tt.want, tt.err.Error())
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
		fsys := catalogtest.Faulty{
			Fs: memoryOf(t, map[string]string{"commands/a.md": header, "commands/below/b.md": header, "skills/good/SKILL.md": header,
				"skills/good/notes.txt": "", "skills/good/deep/x": "", "skills/bad/SKILL.md": header}),
			Opens: map[string]error{failing: cause},
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
		must.Equal(t, failing, true, found)
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
	documented := constants(t, "agentmd/diagnostic_codes.go", "DiagnosticCode")
	used := constants(t, "internal/problem/diagnostic_codes.go", "Code")
	must.Match(t, "codes of internal/problem and of DiagnosticCode", slices.Sorted(maps.Keys(used)),
		slices.Sorted(maps.Keys(documented)))
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
		must.Contain(t, d.Code, comments[string(d.Code)], string(d.Severity))
		checkForAuthors(t, d.String())
	}
}

// checkForAuthors verifies that a text names no option of Go: the author of a Markdown
// file may know neither Go nor the program. Only the program can search deeper directories, so
// the report of nested skills also names its option.
func checkForAuthors(t testing.TB, text string) {
	t.Helper()
	text = strings.ReplaceAll(text, "let the program search two levels (WithSkillDepth(2))", "")
	must.Equal(t, text, "", goOption.FindString(text))
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
	documentedOnce.Do(func() { documented = constants(t, "agentmd/diagnostic_codes.go", "DiagnosticCode") })
	return documented
}

func TestDiagnosticStringHasTheFormatOfCompilers(t *testing.T) {
	for want, d := range map[string]toolshelf.Diagnostic{
		"a.md: error: x [Y]":             {Code: "Y", Severity: toolshelf.SeverityError, Path: "a.md", Message: "x"},
		"a.md:3: warning: x; do z [Y]":   {Code: "Y", Severity: toolshelf.SeverityWarning, Path: "a.md", Line: 3, Message: "x", Suggestion: "do z"},
		"a.md:3:7: warning: x; do z [Y]": {Code: "Y", Severity: toolshelf.SeverityWarning, Path: "a.md", Line: 3, Column: 7, Message: "x", Suggestion: "do z"},
	} {
		must.Equal(t, "d.String()", want, d.String())
	}
}

// A tripwire is a filesystem that counts the calls of its methods and of the methods of its
// files. The call with the number stop calls the function at, once.
type tripwire struct {
	afero.Fs
	calls atomic.Int64
	stop  int64
	at    func()
}

func (c *tripwire) count() {
	if n := c.calls.Add(1); n == c.stop {
		c.at()
	}
}

func (c *tripwire) file(f afero.File, err error) (afero.File, error) {
	if err != nil {
		return nil, err
	}
	return countedFile{f, c}, nil
}

func (c *tripwire) Open(name string) (afero.File, error) { c.count(); return c.file(c.Fs.Open(name)) }
func (c *tripwire) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	c.count()
	return c.file(c.Fs.OpenFile(name, flag, perm))
}
func (c *tripwire) Stat(name string) (os.FileInfo, error) { c.count(); return c.Fs.Stat(name) }
func (c *tripwire) Mkdir(name string, perm os.FileMode) error {
	c.count()
	return c.Fs.Mkdir(name, perm)
}
func (c *tripwire) MkdirAll(name string, perm os.FileMode) error {
	c.count()
	return c.Fs.MkdirAll(name, perm)
}
func (c *tripwire) Remove(name string) error        { c.count(); return c.Fs.Remove(name) }
func (c *tripwire) Rename(before, now string) error { c.count(); return c.Fs.Rename(before, now) }

type countedFile struct {
	afero.File
	c *tripwire
}

func (f countedFile) Close() error                         { f.c.count(); return f.File.Close() }
func (f countedFile) Read(p []byte) (int, error)           { f.c.count(); return f.File.Read(p) }
func (f countedFile) Readdir(n int) ([]fs.FileInfo, error) { f.c.count(); return f.File.Readdir(n) }
func (f countedFile) Stat() (os.FileInfo, error)           { f.c.count(); return f.File.Stat() }
func (f countedFile) Write(p []byte) (int, error)          { f.c.count(); return f.File.Write(p) }

// busyProject is a project with n files of each kind for every method.
func busyProject(n int) map[string]string {
	files := map[string]string{"AGENTS.md": "@tree/d00/e/f.txt\n", "tree/d00/CLAUDE.md": "Some words.\n"}
	for i := range n {
		files[fmt.Sprintf("commands/c%02d.md", i)] = "---\ndescription: d\n---\nSome words.\n"
		files[fmt.Sprintf("skills/s%02d/SKILL.md", i)] = fmt.Sprintf("---\nname: s%02d\ndescription: d\n---\n", i)
		files[fmt.Sprintf("agents/a%02d.md", i)] = fmt.Sprintf("---\nname: a%02d\ndescription: d\n---\nSome words.\n", i)
		files[fmt.Sprintf("skills/s00/files/f%02d", i)] = "x"
		files[fmt.Sprintf("tree/d%02d/e/f.txt", i)] = "x"
		files[fmt.Sprintf("reports/c00/c00-202601%02d00%02d00-r.md", 1+i/60, i%60)] = "x"
	}
	return files
}

func lastError[T any](all iter.Seq2[T, error]) (last error) {
	for _, err := range all {
		last = err
	}
	return last
}

// errorOf returns the error of a call.
func errorOf[V any](_ V, err error) error { return err }

// everyMethod calls each method of a catalog that uses the filesystem.
func everyMethod(ctx context.Context, c *toolshelf.Catalog) map[string]func() error {
	return map[string]func() error{
		"List":          func() error { return errorOf(c.List(ctx, toolshelf.Page{})) },
		"All":           func() error { return lastError(c.All(ctx)) },
		"Invocable":     func() error { return errorOf(bridgeOf(c).Invocable(ctx)) },
		"Invoked":       func() error { return errorOf(bridgeOf(c).Invoked(ctx, "c00")) },
		"Expand":        func() error { return errorOf(c.Expand(ctx, "/c00 x")) },
		"CompleteName":  func() error { return errorOf(c.CompleteName(ctx, "", 0)) },
		"Skills":        func() error { return lastError(c.Skills(ctx)) },
		"Commands":      func() error { return lastError(c.Commands(ctx)) },
		"Agents":        func() error { return lastError(c.Agents(ctx)) },
		"ListUsage":     func() error { return errorOf(bridgeOf(c).ListUsage(ctx, 0, "", nil)) },
		"Get":           func() error { return errorOf(c.Get(ctx, "c01")) },
		"Search":        func() error { return errorOf(c.Search(ctx, "words", 0)) },
		"SearchSkills":  func() error { return errorOf(c.SearchSkills(ctx, "words", 0)) },
		"ListSkills":    func() error { return errorOf(c.ListSkills(ctx)) },
		"ListSkillsFor": func() error { return errorOf(c.ListSkillsFor(ctx, "tree/d00")) },
		"ListAgents":    func() error { return errorOf(c.ListAgents(ctx)) },
		"GetAgent":      func() error { return errorOf(c.GetAgent(ctx, "a00")) },
		"Instructions": func() error {
			return errorOf(c.Instructions(ctx, "tree/d00/e/f.txt", toolshelf.Imports(1)))
		},
		"InstructionsPrompt": func() error {
			return errorOf(c.InstructionsPrompt(ctx, "tree/d00", toolshelf.Budget(1000)))
		},
		"AgentsPrompt": func() error {
			return errorOf(c.AgentsPrompt(ctx, toolshelf.Budget(1000), toolshelf.PromptFor("words")))
		},
		"GetSkill":      func() error { return errorOf(c.GetSkill(ctx, "s00", toolshelf.Digests())) },
		"ReadSkillFile": func() error { return errorOf(c.ReadSkillFile(ctx, "s00", "files/f01")) },
		"SkillsPrompt": func() error {
			return errorOf(c.SkillsPrompt(ctx, toolshelf.Budget(1000), toolshelf.PromptFor("words")))
		},
		"CommandsPrompt": func() error { return errorOf(c.CommandsPrompt(ctx)) },
		"ListDir":        func() error { return errorOf(c.ListDir(ctx, "commands")) },
		"ListDir, missing": func() error {
			_, err := c.ListDir(ctx, "commandz")
			if errors.Is(err, toolshelf.ErrDirectoryNotFound) {
				return nil
			}
			return err
		},
		"Tree": func() error { return errorOf(c.Tree(ctx, ".", toolshelf.Gitignore())) },
		"Tree, WithProgress": func() error {
			return errorOf(c.Tree(ctx, ".", toolshelf.WithProgress(func(toolshelf.Progress) {})))
		},
		"FindFiles": func() error { return errorOf(c.FindFiles(ctx, ".", "*.txt")) },
		"Grep":      func() error { return errorOf(c.Grep(ctx, ".", "words")) },
		"ReadFile":  func() error { return errorOf(c.ReadFile(ctx, "commands/c00.md")) },
		"Stat":      func() error { return errorOf(c.Stat(ctx, "commands/c00.md")) },
		"Lint":      func() error { return errorOf(c.Lint(ctx)) },
		"Lint, WithProgress": func() error {
			return errorOf(c.Lint(ctx, toolshelf.WithProgress(func(toolshelf.Progress) {})))
		},
		"SaveReport": func() error {
			return errorOf(c.SaveReport(ctx, toolshelf.Report{Command: "c00", Content: "x"}))
		},
		"Reports": func() error { return errorOf(c.Reports(ctx, "c00")) },
		"RestorePrompt": func() error {
			return errorOf(c.RestorePrompt(ctx, []toolshelf.Item{
				{Kind: toolshelf.KindCommand, Name: "c00"}, {Kind: toolshelf.KindSkill, Name: "s00"},
			}))
		},
	}
}

var contexts = map[string]func(*testing.T) context.Context{
	"a context without an end": func(*testing.T) context.Context { return context.Background() },
	"a context with an end":    func(t *testing.T) context.Context { return t.Context() },
}

// Close waits for the running call of the filesystem and for the calls that close files.
// Afterwards no method uses the filesystem.
func TestNothingTouchesTheFilesystemAfterClose(t *testing.T) {
	files := busyProject(200)
	methods := slices.Collect(maps.Keys(everyMethod(context.Background(), nil)))
	for _, op := range append(methods, "SkillLayers", "SkillManifests", "Skill.FS") {
		call := func(ctx context.Context, c *toolshelf.Catalog) error {
			if other := otherMethods(ctx, c)[op]; other != nil {
				return other()
			}
			return everyMethod(ctx, c)[op]()
		}
		for kind, with := range contexts {
			t.Run(op+", "+kind, func(t *testing.T) {
				t.Parallel()
				fsys := &tripwire{Fs: memoryOf(t, files), stop: -1}
				options := []toolshelf.Option{toolshelf.WithFs(fsys), toolshelf.WithAgentsDir("agents"), toolshelf.WithReports("", "reports")}
				whole := catalog(t, options...)
				must.Do(t, call(with(t), whole))
				whole.Close()
				all := fsys.calls.Load()
				for _, part := range []int64{1, 2, 3} {
					c := catalog(t, options...)
					closed := make(chan struct{})
					reached := make(chan int64, 1)
					var begun int64
					fsys.at = func() {
						go func() {
							defer close(closed)
							c.Close()
							reached <- fsys.calls.Load()
						}()
						for _, err := c.View(); err == nil; _, err = c.View() {
							runtime.Gosched()
						}
						begun = fsys.calls.Load() // other goroutines may have continued until now
					}
					fsys.calls.Store(0)
					fsys.stop = max(1, all*part/4)
					err := call(with(t), c)
					<-closed
					if !errors.Is(err, toolshelf.ErrClosed) && err != nil {
						t.Errorf("stopped at call %d of %d: %v", fsys.stop, all, err)
					}
					after := <-reached
					// On a slow machine 64 goroutines read files, each with up to eight calls:
					// Lstat for the three elements of the path of a SKILL.md, open, stat, two reads
					// and close.
					if extra := after - begun; extra > 8*64 {
						t.Errorf("%d calls after Close began at call %d of %d", extra, begun, all)
					}
					must.Equal(t, "calls after Close returned", after, fsys.calls.Load())
				}
			})
		}
	}
}

// On the disk, Close closes the open directories of a catalog, and ends a Tree without a
// context.
func TestCloseEndsATreeOnDisk(t *testing.T) {
	root := t.TempDir()
	for i := range catalogtest.Rounds(100, 100) {
		must.Do(t, os.MkdirAll(filepath.Join(root, fmt.Sprintf("d%d/e/f/g/h", i)), 0o755))
	}
	for kind, with := range contexts {
		t.Run(kind, func(t *testing.T) {
			c := catalog(t, toolshelf.WithRoot(root))
			var calls sync.WaitGroup
			var begun, ended atomic.Int64
			for range 4 {
				calls.Go(func() {
					for {
						begun.Add(1)
						if _, err := c.Tree(with(t), "."); err != nil {
							must.Is(t, "err", toolshelf.ErrClosed, err)
							return
						}
						ended.Add(1)
					}
				})
			}
			for ended.Load() < 4 {
				runtime.Gosched()
			}
			c.Close()
			if open, err := os.ReadDir("/proc/self/fd"); err == nil {
				for _, fd := range open {
					if target, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.HasPrefix(target, root) {
						t.Errorf("%s is open after Close", target)
					}
				}
			}
			calls.Wait()
		})
	}
}

// A beginning calls a method of a new catalog, which calls closes from a function of the
// caller.
type beginning func(ctx context.Context, t *testing.T, fsys afero.Fs, closes func(*toolshelf.Catalog)) *toolshelf.Catalog

// inSkillFilter calls a method whose filter calls closes after the first list.
func inSkillFilter(call func(context.Context, *toolshelf.Catalog)) beginning {
	return func(ctx context.Context, t *testing.T, fsys afero.Fs, closes func(*toolshelf.Catalog)) *toolshelf.Catalog {
		var c *toolshelf.Catalog
		armed := false
		c = catalog(t, toolshelf.WithFs(fsys), toolshelf.WithSkillFilter(func(toolshelf.SkillInfo) bool {
			if armed {
				closes(c)
			}
			return true
		}))
		must.Get(c.ListSkills(ctx))(t)
		armed = true
		call(ctx, c)
		return c
	}
}

// A function of the caller may close the catalog, and Close does not wait for
// the function.
func TestCloseWithinAFunctionOfTheCaller(t *testing.T) {
	files := map[string]string{"commands/a.md": "a", "skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\n"}
	for kind, with := range contexts {
		for name, begin := range map[string]beginning{
			"OnChange": func(ctx context.Context, t *testing.T, fsys afero.Fs, closes func(*toolshelf.Catalog)) *toolshelf.Catalog {
				c := catalog(t, toolshelf.WithFs(fsys))
				names(t, c)
				c.OnChange(func(toolshelf.Change) { closes(c) })
				must.Do(t, afero.WriteFile(fsys, "commands/b.md", nil, 0o644))
				names(t, c)
				return c
			},
			"WithNextSteps": func(ctx context.Context, t *testing.T, fsys afero.Fs, closes func(*toolshelf.Catalog)) *toolshelf.Catalog {
				var c *toolshelf.Catalog
				c = catalog(t, toolshelf.WithFs(fsys), toolshelf.WithNextSteps(func(toolshelf.Command) string { closes(c); return "" }))
				_, _ = c.Get(ctx, "a")
				return c
			},
			"WithCommandFilter": func(ctx context.Context, t *testing.T, fsys afero.Fs, closes func(*toolshelf.Catalog)) *toolshelf.Catalog {
				var c *toolshelf.Catalog
				c = catalog(t, toolshelf.WithFs(fsys), toolshelf.WithCommandFilter(func(toolshelf.CommandInfo) bool { closes(c); return true }))
				_, _ = c.Get(ctx, "a")
				return c
			},
			"WithSkillFilter in GetSkill": inSkillFilter(func(ctx context.Context, c *toolshelf.Catalog) { _, _ = c.GetSkill(ctx, "s") }),
			"WithSkillFilter in ReadSkillFile": inSkillFilter(func(ctx context.Context, c *toolshelf.Catalog) {
				_, _ = c.ReadSkillFile(ctx, "s", "SKILL.md")
			}),
			"WithProgress": func(ctx context.Context, t *testing.T, fsys afero.Fs, closes func(*toolshelf.Catalog)) *toolshelf.Catalog {
				hang := make(chan struct{})
				c := catalog(t, toolshelf.WithFs(catalogtest.Faulty{Fs: fsys, Hang: hang}))
				var once sync.Once
				_, _ = c.Tree(ctx, ".", toolshelf.WithProgress(func(toolshelf.Progress) {
					once.Do(func() {
						close(hang)
						closes(c)
					})
				}))
				return c
			},
			"Tokens": func(ctx context.Context, t *testing.T, fsys afero.Fs, closes func(*toolshelf.Catalog)) *toolshelf.Catalog {
				c := catalog(t, toolshelf.WithFs(fsys))
				_, _ = c.SkillsPrompt(ctx, toolshelf.Tokens(1, func(string) int { closes(c); return 9 }))
				return c
			},
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				closed := make(chan bool, 1000)
				c := begin(with(t), t, memoryOf(t, files), func(c *toolshelf.Catalog) {
					c.Close()
					closed <- true
				})
				select {
				case <-closed:
				case <-time.After(patience):
					t.Fatal("Close waits for the function that called it")
				}
				must.Fail(c.List(t.Context(), toolshelf.Page{}))(t, "List", toolshelf.ErrClosed)
			})
		}
	}
}

// A runtime.Goexit or a panic in a function of the caller ends the goroutine of the caller, even if
// the function runs on another goroutine. A call leaves a slow read of arguments behind, and the
// result of this read is not the result of the call. Therefore the test runs in the time of
// synctest, in which no read is slow.
func TestAGoexitOfTheCallersFilesystemIsNotAResult(t *testing.T) {
	files := busyProject(20)
	for op := range everyMethod(context.Background(), nil) {
		for kind, with := range contexts {
			for way, exit := range map[string]func(){"Goexit": runtime.Goexit, "panic": func() { panic("the filesystem's") }} {
				t.Run(op+", "+kind+", "+way, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						fsys := &tripwire{Fs: memoryOf(t, files), stop: -1}
						c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithAgentsDir("agents"), toolshelf.WithReports("", "reports"))
						must.Do(t, everyMethod(with(t), c)[op]())
						all := fsys.calls.Load()
						c.Close() // ends the reads of the background
						for _, at := range []int64{1, all / 2} {
							c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithAgentsDir("agents"), toolshelf.WithReports("", "reports"))
							fsys.calls.Store(0)
							fsys.stop, fsys.at = max(1, at), exit
							var err error
							returned := false
							var caller sync.WaitGroup
							caller.Go(func() {
								defer func() { _ = recover() }()
								err = everyMethod(with(t), c)[op]()
								returned = true
							})
							caller.Wait()
							if returned && err == nil && fsys.calls.Load() >= fsys.stop {
								t.Errorf("exit at call %d of %d: no error", fsys.stop, all)
							}
							c.Close()
							fsys.stop = -1
						}
					})
				})
			}
		}
	}
}
