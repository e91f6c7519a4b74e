package toolshelf_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// commandOf returns the command of a file with this text.
func commandOf(t testing.TB, file string) toolshelf.Command {
	t.Helper()
	fsys := afero.NewMemMapFs()
	must.Do(t, afero.WriteFile(fsys, "commands/c.md", []byte(file), 0o644))
	return must.Get(catalog(t, toolshelf.WithFs(fsys)).Get(t.Context(), "c"))(t)
}

// Package internal/template tests the rules. TestRenderer tests the conversions to
// the types of this package.
func TestRenderer(t *testing.T) {
	command := commandOf(t, "---\narguments:\n  - name: a\n    description: d\n    required: true\n    hint: h\n---\n$0 $a `$1` !`x $1` @y/z")
	for _, tt := range []struct {
		with toolshelf.Renderer
		want toolshelf.Rendering
	}{
		{toolshelf.Renderer{}, toolshelf.Rendering{Text: "v v `$1` !`x $1` @y/z", Directives: []toolshelf.Directive{
			{Kind: toolshelf.DirectiveShell, Start: 9, End: 16, Text: "x $1"},
			{Kind: toolshelf.DirectiveFile, Start: 17, End: 21, Text: "y/z"},
		}}},
		{toolshelf.Renderer{Rules: client.Rules{Count: client.CountFromOne}}, toolshelf.Rendering{Text: "$0 v `$1` !`x v` @y/z", Directives: []toolshelf.Directive{
			{Kind: toolshelf.DirectiveShell, Start: 10, End: 16, Text: "x v", FromArguments: true},
			{Kind: toolshelf.DirectiveFile, Start: 17, End: 21, Text: "y/z"},
		}}},
		{toolshelf.Renderer{Rules: client.Rules{Count: client.CountFromOne, Code: client.CodeWithPlaceholders}}, toolshelf.Rendering{Text: "$0 v `v` !`x v` @y/z", Directives: []toolshelf.Directive{
			{Kind: toolshelf.DirectiveShell, Start: 9, End: 15, Text: "x v", FromArguments: true},
			{Kind: toolshelf.DirectiveFile, Start: 16, End: 20, Text: "y/z"},
		}}},
	} {
		byPosition, err := tt.with.Render(t.Context(), command, toolshelf.Args{List: []string{"v"}})
		if diff := cmp.Diff(tt.want, byPosition); diff != "" || err != nil {
			t.Errorf("%+v.Render: %v (-want +got):\n%s", tt.with, err, diff)
		}
		byName, err := tt.with.Render(t.Context(), command, toolshelf.Args{Named: map[string]string{"a": "v"}})
		if diff := cmp.Diff(tt.want, byName); diff != "" || err != nil {
			t.Errorf("%+v.Render by name: %v (-want +got):\n%s", tt.with, err, diff)
		}
	}
	for rules, want := range map[client.Rules]string{{}: "x\n\nARGUMENTS: v", {Append: client.Drop}: "x", {Append: client.AppendCommand}: "x\n\n/c v"} {
		got, err := toolshelf.Renderer{Rules: rules}.Render(t.Context(), toolshelf.Command{Name: "c", Content: "x"}, toolshelf.ParseArgs("v"))
		if got.Text != want || err != nil {
			t.Errorf("%+v gives %q, %v; want %q", rules, got.Text, err, want)
		}
	}
	want := []toolshelf.Argument{{Name: "a", Position: 1, Description: "d", Hint: "h", Required: true}, {Name: "1", Position: 2}}
	must.Match(t, "Arguments", want, argumentsOf(t, command))
}

func TestCommandsRenderWithTheirRules(t *testing.T) {
	command := commandOf(t, "---\narguments: [a]\n---\n$1 $a `$1` $b")
	must.Equal(t, "Render", "v v `$1` $b", must.Get(command.Render("v"))(t))
	got, err := toolshelf.Renderer{}.Render(t.Context(), command, toolshelf.Args{Named: map[string]string{"a": "v", "b": "w"}})
	if got.Text != "v v `$1` w" || err != nil {
		t.Errorf("Renderer.Render = %q, %v", got.Text, err)
	}
	command.Rules = client.Claude().Rules
	must.Equal(t, "Render", "w v `w` $b", must.Get(command.Render("v", "w"))(t))
	got, err = toolshelf.Renderer{}.Render(t.Context(), command, toolshelf.Args{List: []string{"v", "w"}})
	if got.Text != "v v `$1` $b" || err != nil {
		t.Errorf("the zero Renderer gives %q, %v", got.Text, err)
	}
}

func TestLayersHaveTheRulesOfTheirClients(t *testing.T) {
	root := diskOf(t, map[string]string{
		".claude/commands/c.md": "$1", ".claude/skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\n$1 ${CLAUDE_SKILL_DIR}", ".opencode/commands/o.md": "$1",
		".agents/skills/a/SKILL.md": "---\nname: a\ndescription: d\n---\n$HOME $1", "commands/own.md": "$1",
	})
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithHome(""), toolshelf.WithCommandsDir("commands"),
		toolshelf.WithClient(client.Claude(), client.OpenCode(), client.Codex()))
	for name, want := range map[string]string{"c": "y", "o": "x y", "own": "x"} {
		command := must.Get(c.Get(t.Context(), name))(t)
		must.Equal(t, name, want, must.Get(command.Render("x", "y"))(t))
	}
	for name, want := range map[string]string{"s": "y " + filepath.Join(root, ".claude", "skills", "s"), "a": "$HOME x y"} {
		skill := must.Get(c.GetSkill(t.Context(), name))(t)
		must.Equal(t, name, want, must.Get(skill.Render("x", "y"))(t))
	}
}

func TestErrorsOfRender(t *testing.T) {
	for _, tt := range []struct {
		rules      client.Rules
		text, args string
		want       string
	}{
		{client.Codex().Rules, "$FILE $FILE $TO", "TO=x", "toolshelf: Render: \"c\" needs the argument \"FILE\"; give a value as KEY=value (INVALID_ARGUMENTS)"},
		{client.Codex().Rules, "$" + strings.Repeat("F", 70), "", "toolshelf: Render: \"c\" needs the argument \"" + strings.Repeat("F", 64) + "…\"; give a value as KEY=value (INVALID_ARGUMENTS)"},
		{client.Codex().Rules, "$FILE $DIR", "", "toolshelf: Render: \"c\" needs the arguments \"FILE\", \"DIR\"; give a value as KEY=value (INVALID_ARGUMENTS)"},
		{client.Kit().Rules, "$3 $3", "a b", "toolshelf: Render: \"c\" needs argument 3; 2 are given (INVALID_ARGUMENTS)"},
		{client.Kit().Rules, "$1 $2 ${3}", "a", "toolshelf: Render: \"c\" needs arguments 2, 3; 1 is given (INVALID_ARGUMENTS)"},
		{client.Kit().Rules, "${2:3}", "", "toolshelf: Render: \"c\" needs argument 2; 0 are given (INVALID_ARGUMENTS)"},
		{client.Rules{Count: client.CountFromZero, NoNumber: client.Fails}, "$2 $ARGUMENTS[3]", "a", "toolshelf: Render: \"c\" needs arguments 3, 4; 1 is given (INVALID_ARGUMENTS)"},
		{client.Codex().Rules, "$FILE", "a b", "toolshelf: Render: the argument \"a\" of \"c\" has no name; give each argument as KEY=value (INVALID_ARGUMENTS)"},
		{client.Gemini().Rules, "Run !{git diff", "a", "toolshelf: Render: the directive !{ at byte 4 of the text of \"c\" has no end; add the closing brace (INVALID_DIRECTIVE)"},
	} {
		_, err := toolshelf.Renderer{Rules: tt.rules}.Render(t.Context(), toolshelf.Command{Name: "c", Content: tt.text}, toolshelf.ParseArgs(tt.args))
		must.Equal(t, tt.text, tt.want, fmt.Sprint(err))
	}
}

// Package internal/template tests the words of a line.
func TestArgsOfALine(t *testing.T) {
	for _, tt := range []struct {
		rule, line string
		list       []string
	}{
		{"Line is the line as typed", ` 417 "a b" `, []string{"417", "a b"}},
		{"KEY=value stays in List", "issue=417", []string{"issue=417"}},
		{"a line of blanks has no arguments", " \t", nil},
		{"an open quote is a letter", "don't fix", []string{"don't", "fix"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			must.Match(t, "result", toolshelf.Args{Line: tt.line, List: tt.list}, toolshelf.ParseArgs(tt.line))
		})
	}
}

func TestRenderLimitsTheText(t *testing.T) {
	argument := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		what string
		n    int
		code toolshelf.Code
	}{
		{"64 times a megabyte", 64, ""},
		{"65 times a megabyte", 65, toolshelf.CodeSizeLimitExceeded},
		{"a million times a megabyte", 1 << 20, toolshelf.CodeSizeLimitExceeded},
	} {
		t.Run(tt.what, func(t *testing.T) {
			command := toolshelf.Command{Name: "bomb", Content: strings.Repeat("$x ", tt.n)}
			got, err := toolshelf.Renderer{}.Render(t.Context(), command, toolshelf.Args{Named: map[string]string{"x": argument}})
			if toolshelf.CodeOf(err) != tt.code || (err == nil) == (got.Text == "") {
				t.Errorf("got %d bytes, %v", len(got.Text), err)
			}
			var e *toolshelf.Error
			if errors.As(err, &e) && (e.Op != "Render" || e.Path != "bomb") {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// argumentsOf returns the arguments of a command by the rules of the zero Renderer.
func argumentsOf(t *testing.T, c toolshelf.Command) []toolshelf.Argument {
	t.Helper()
	return must.Get(toolshelf.Renderer{}.Arguments(t.Context(), c))(t)
}

func TestArgumentsInJSON(t *testing.T) {
	got, err := json.Marshal(argumentsOf(t, commandOf(t, "---\nargument-hint: <issue>\n---\n$1 $2")))
	want := `[{"name":"issue","position":1,"hint":"\u003cissue\u003e","required":true},{"name":"2","position":2,"required":false}]`
	must.Do(t, err)
	must.Equal(t, "result", want, string(got))
}

// An ended context is an error even if the text is empty.
func TestEndedContexts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail((toolshelf.Renderer{}).Arguments(ctx, toolshelf.Command{}))(t, "Arguments", context.Canceled)
	must.Fail((toolshelf.Renderer{}).Render(ctx, toolshelf.Command{}, toolshelf.Args{}))(t, "Render", context.Canceled)
	must.Fail((toolshelf.Renderer{}).Render(ctx, toolshelf.Skill{}, toolshelf.Args{Line: "x"}))(t, "Render of a skill", context.Canceled)
}

// readsFs counts the bytes read of each file, and holds the reads of the files
// that have a gate until the gate is closed.
type readsFs struct {
	afero.Fs

	mu    sync.Mutex
	read  map[string]int
	gates map[string]chan struct{}
}

func (f *readsFs) Open(name string) (afero.File, error) {
	file, err := f.Fs.Open(name)
	if err != nil {
		return nil, err
	}
	return readsFile{file, f, path.Base(name)}, nil
}

func (f *readsFs) gate(name string, gate chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gates = map[string]chan struct{}{name: gate}
}

// total returns the number of bytes read since the last call.
func (f *readsFs) total() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, bytes := range f.read {
		n += bytes
	}
	f.read = nil
	return n
}

type readsFile struct {
	afero.File
	fs   *readsFs
	name string
}

func (f readsFile) Read(p []byte) (int, error) {
	f.fs.mu.Lock()
	gate := f.fs.gates[f.name]
	f.fs.mu.Unlock()
	if gate != nil {
		<-gate
	}
	n, err := f.File.Read(p)
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.fs.read == nil {
		f.fs.read = make(map[string]int)
	}
	f.fs.read[f.name] += n
	return n, err
}

// oldFiles writes files to the disk, and reports change times on every system. In a bubble of
// synctest that runs settle first, the files are an hour old.
func oldFiles(t *testing.T, files map[string]string) (fsys *readsFs, settle func()) {
	fsys = &readsFs{Fs: dated(afero.NewBasePathFs(afero.NewOsFs(), diskOf(t, files)))}
	later := time.Now().Add(time.Hour)
	return fsys, func() { time.Sleep(time.Until(later)) }
}

// bridgeOf returns the methods of a catalog for package mcpadapter.
func bridgeOf(c *toolshelf.Catalog) bridge.Catalog[toolshelf.SkillInfo, toolshelf.SkillFile] {
	return bridge.Of[toolshelf.SkillInfo, toolshelf.SkillFile](c)
}

// argumentNames returns the names of the arguments of each command on a page.
func argumentNames(t testing.TB, c *toolshelf.Catalog) map[string][]string {
	t.Helper()
	list := must.Get(bridgeOf(c).ListUsage(t.Context(), 0, "", nil))(t)
	all := make(map[string][]string)
	for _, u := range list.Rows {
		names := []string{}
		for _, a := range u.Arguments {
			names = append(names, a.Name)
		}
		all[u.Name] = names
	}
	return all
}

func TestListUsageReturnsListWithArguments(t *testing.T) {
	synctest.Test(t, testListUsageIsListWithArguments)
}

func testListUsageIsListWithArguments(t *testing.T) {
	files := map[string]string{
		"commands/fix.md":     "---\narguments: [issue, branch]\n---\nFix $issue.\n",
		"commands/plain.md":   "Nothing.\n",
		"commands/release.md": "---\nargument-hint: \"<level> [date]\"\n---\nMake a $1 release.\n",
		"commands/part.md":    "---\nis_dependency: true\n---\n$1\n",
	}
	for i := range 120 {
		files[fmt.Sprintf("commands/c%03d.md", i)] = fmt.Sprintf("$1 ${input:n%d:a hint}\n", i)
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
	whole, err := bridgeOf(c).ListUsage(t.Context(), math.MaxInt, "", nil)
	all := whole.Rows
	must.Do(t, err)
	must.Len(t, "all", 123, all)
	for page := (toolshelf.Page{Size: 50}); ; {
		list := must.Get(c.List(t.Context(), page))(t)
		usage := must.Get(bridgeOf(c).ListUsage(t.Context(), page.Size, page.Cursor, nil))(t)
		must.Match(t, "(-List +ListUsage)", list.Pagination.NextCursor, usage.NextCursor)
		for i, u := range usage.Rows {
			command := must.Get(c.Get(t.Context(), u.Name))(t)
			want := bridge.Usage{Name: list.Commands[i].Name, Description: list.Commands[i].Description}
			for _, a := range argumentsOf(t, command) {
				want.Arguments = append(want.Arguments, template.Parameter(a))
			}
			must.Match(t, u.Name, want, u)
			must.Match(t, "the whole list", want, all[0])
			all = all[1:]
		}
		for name, want := range map[string]bool{"fix": true, "fix.md": true, "c119": true, "part": false, "none": false, "../fix": false} {
			must.Equal(t, name, want, usage.Contains(name))
		}
		if page.Cursor = list.Pagination.NextCursor; page.Cursor == "" {
			return
		}
	}
}

func TestListUsageReturnsTheErrorsOfList(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithCommandsDir("commands"))
	list := func(ctx context.Context, page toolshelf.Page) error {
		_, err := bridgeOf(c).ListUsage(ctx, page.Size, page.Cursor, nil)
		return err
	}
	must.Is(t, "no directory", toolshelf.ErrDirectoryNotFound, list(t.Context(), toolshelf.Page{}))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	must.Is(t, "error", context.Canceled, list(ended, toolshelf.Page{}))
	c.Close()
	must.Is(t, "closed", toolshelf.ErrClosed, list(t.Context(), toolshelf.Page{}))
	must.Equal(t, "the zero list has a command", false, (bridge.UsageList{}).Contains("x"))
}

func TestListUsageReadsAnUnchangedFileOnce(t *testing.T) {
	fsys, settle := oldFiles(t, map[string]string{"commands/a.md": "$1\n", "commands/b.md": "$1 $2\n"})
	synctest.Test(t, func(t *testing.T) {
		c := catalog(t, toolshelf.WithFs(fsys))
		settle()
		argumentNames(t, c)
		fsys.total()
		want := map[string][]string{"a": {"1"}, "b": {"1", "2"}}
		must.Match(t, "result", want, argumentNames(t, c))
		must.Equal(t, "the second list read", 0, fsys.total())
		// A renderer with other options has other arguments.
		list, err := bridgeOf(c).ListUsage(t.Context(), 0, "", &client.Rules{Count: client.CountFromZero})
		if err != nil || len(list.Rows[0].Arguments) != 2 {
			t.Errorf("from zero, $1 is the second argument: got %+v, %v", list.Rows, err)
		}
		must.Do(t, afero.WriteFile(fsys, "commands/a.md", []byte("${input:new}\n"), 0o644))
		want["a"] = []string{"new"}
		must.Match(t, "after a change", want, argumentNames(t, c))
		c.Close()
	})
}

func TestListUsageWaitsOnceForABlockedFile(t *testing.T) {
	files := map[string]string{"commands/stuck.md": "$1\n"}
	for i := range 30 {
		files[fmt.Sprintf("commands/c%02d.md", i)] = "$1\n"
	}
	fsys, settle := oldFiles(t, files)
	synctest.Test(t, func(t *testing.T) {
		c := catalog(t, toolshelf.WithFs(fsys))
		settle()
		if _, err := c.List(t.Context(), toolshelf.Page{}); err != nil { // the headers are read
			t.Fatal(err)
		}
		gate := make(chan struct{})
		fsys.gate("stuck.md", gate)
		for i, limit := range []time.Duration{time.Second, 0, 0} {
			begin := time.Now()
			got := argumentNames(t, c)
			if took := time.Since(begin); took > limit {
				t.Errorf("list %d waited %s, want at most %s", i, took, limit)
			}
			for name, arguments := range got {
				must.Equal(t, i, (len(arguments) == 1), name != "stuck")
			}
		}
		close(gate)
		synctest.Wait()
		must.Len(t, "after it was read", 1, argumentNames(t, c)["stuck"])
		c.Close()
	})
}

func TestListUsageEndsWithItsContextOrTheCatalog(t *testing.T) {
	fsys, settle := oldFiles(t, map[string]string{"commands/stuck.md": "$1\n"})
	synctest.Test(t, func(t *testing.T) {
		c := catalog(t, toolshelf.WithFs(fsys))
		settle()
		must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
		gate := make(chan struct{})
		fsys.gate("stuck.md", gate)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		begin := time.Now()
		if _, err := bridgeOf(c).ListUsage(ctx, 0, "", nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > time.Millisecond {
			t.Errorf("got %v after %s", err, time.Since(begin))
		}
		close(gate)
		c.Close()
	})
}

func TestListUsagePassesOnAPanicOfTheFilesystem(t *testing.T) {
	for way, exit := range map[string]func(file string){"panic": func(file string) { panic("open " + file) }, "Goexit": func(string) { runtime.Goexit() }} {
		t.Run(way, func(t *testing.T) {
			fsys := &readsFs{Fs: memoryOf(t, map[string]string{"commands/a.md": "$1\n"})}
			c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithCacheTTL(time.Hour))
			must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
			fsys.Fs = onOpen(fsys.Fs, func(name string) {
				if path.Ext(name) == ".md" {
					exit(path.Base(name))
				}
			})
			var panicked any
			if returned(func() {
				defer func() { panicked = recover() }()
				argumentNames(t, c)
			}) && panicked == nil {
				t.Error("ListUsage returned")
			}
			if way == "panic" && panicked != "open a.md" {
				t.Errorf("recovered %v", panicked)
			}
		})
	}
}

func TestListUsageReadsTheHeadOfALongFile(t *testing.T) {
	synctest.Test(t, testUsageReadsTheBeginningOfALongFile)
}

func testUsageReadsTheBeginningOfALongFile(t *testing.T) {
	const limit = 64 << 10
	long := map[string]string{
		"hostile":   strings.Repeat("@"+strings.Repeat("a", 100)+"（）", 40_000),
		"late":      "$1\n" + strings.Repeat("x\n", limit) + "$2 ${input:late}\n",
		"cut":       strings.Repeat("x\n", limit/2-2) + "$1234567 $12345\n" + strings.Repeat("x\n", limit),
		"one line":  "$1 " + strings.Repeat("x", 2*limit),
		"many":      strings.Repeat("${input:a} ", 1) + manyInputs(5000),
		"no end":    "---\narguments: [a]\n" + strings.Repeat("b: c\n", limit),
		"exact":     "$1" + strings.Repeat("x\n", limit/2-2) + "$2",
		"backticks": "$1\n" + strings.Repeat("`", 2*limit),
	}
	want := map[string]int{"hostile": 0, "late": 1, "cut": 0, "one line": 0, "many": 100, "no end": 0, "exact": 0, "backticks": 1}
	for name, text := range long {
		fsys := &readsFs{Fs: memoryOf(t, map[string]string{"commands/long.md": text})}
		c := catalog(t, toolshelf.WithFs(fsys))
		must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
		fsys.total()
		got := must.Get(bridgeOf(c).ListUsage(t.Context(), 0, "", nil))(t).Rows[0].Arguments
		must.Len(t, name, want[name], got)
		command := must.Get(c.Get(t.Context(), "long"))(t)
		head := command.Raw[:min(len(command.Raw), limit)]
		must.Match(t, name,
			template.Renderer{}.Listed(command.Metadata.Path, head, len(head) == len(command.Raw)), got)
	}
	fsys := &readsFs{Fs: memoryOf(t, map[string]string{"commands/long.md": strings.Repeat("$1\n", 4<<20/3)})}
	c := catalog(t, toolshelf.WithFs(fsys))
	must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	head := fsys.total()
	argumentNames(t, c)
	if n := fsys.total(); n > limit+head { // the scan may read the header again
		t.Errorf("read %d bytes of a file of 4 MiB, want at most %d", n, limit+head)
	}
}

func manyInputs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "${input:a%d}\n", i)
	}
	return b.String()
}
