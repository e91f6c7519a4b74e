package mcpadapter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func TestGetInstructionsIsOfferedForTheClientsOfWithInstructions(t *testing.T) {
	files := map[string]string{"AGENTS.md": "Be brief.\n"}
	for name, tt := range map[string]struct {
		option toolshelf.Option
		want   bool
	}{
		"without WithInstructions":           {nil, false},
		"a client of WithClient":             {toolshelf.WithClient(client.Claude()), false},
		"WithInstructions without a client":  {toolshelf.WithInstructions(), false},
		"a client":                           {toolshelf.WithInstructions(client.Codex()), true},
		"a client whose files do not exist":  {toolshelf.WithInstructions(client.Gemini()), true},
		"a client whose rules are of a user": {toolshelf.WithInstructions(client.Kiro()), true},
	} {
		c := catalog(t, memory(t, files), tt.option)
		for _, of := range []*toolshelf.Catalog{c, must.Get(c.View())(t)} {
			if _, ok := adapterOf(t, of).Lookup("get_instructions"); ok != tt.want {
				t.Errorf("%s: offered: %t", name, ok)
			}
			_, err := mcpadapter.New(of, mcpadapter.WithTools("get_instructions"))
			if (err == nil) != tt.want || err != nil && !strings.Contains(err.Error(), "no clients of instructions; use toolshelf.WithInstructions") {
				t.Errorf("%s: WithTools: %v", name, err)
			}
		}
	}
}

// instructed is a project with instructions of Claude Code.
var instructed = map[string]string{
	"CLAUDE.md": "Root.\n", "services/CLAUDE.md": "See @style.md.\n", "services/style.md": "Style\n", "services/api/CLAUDE.md": "JSON.\n",
	".claude/rules/always.md": "Always.\n", ".claude/rules/go.md": "---\npaths: \"**/*.go\"\n---\nGo.\n",
	"services/api/main.go": "package main\n", "services/api/user.go": "package main\n", "services/run.sh": "#!/bin/sh\n", "top.txt": "x\n", "main.go": "package main\n",
}

func instructedAdapter(t testing.TB, files map[string]string, opts ...mcpadapter.Option) *mcpadapter.Adapter {
	t.Helper()
	return adapterOf(t, catalog(t, memory(t, files), toolshelf.WithInstructions(client.Claude())), opts...)
}

// callOf returns the result of a call without an error.
func callOf(t testing.TB, a *mcpadapter.Adapter, tool, arguments string) mcpadapter.Result {
	t.Helper()
	got := must.Get(a.Call(ctx, tool, json.RawMessage(arguments)))(t)
	must.Equal(t, tool, false, got.IsError)
	return got
}

func TestGetInstructionsReturnsThePromptWithTheImportsOfTheClient(t *testing.T) {
	want := string(must.Get(os.ReadFile("testdata/instructions.txt"))(t))
	got := callOf(t, instructedAdapter(t, instructed, mcpadapter.WithStructuredContent()), "get_instructions", `{"path":"services/api/new.go"}`)
	must.Match(t, "text", want, got.Text+"\n")
	c := catalog(t, memory(t, instructed), toolshelf.WithInstructions(client.Claude()))
	list := must.Get(c.Instructions(ctx, "services/api/new.go", toolshelf.Imports(0)))(t)
	var structured struct{ Instructions []toolshelf.Instruction }
	must.Do(t, json.Unmarshal(got.Structured, &structured))
	must.Len(t, "structured.Instructions", len(list), structured.Instructions)
	for n, i := range structured.Instructions {
		if i.Path != list[n].Path || i.Text != list[n].Text || i.Digest != list[n].Digest || i.Scope != list[n].Scope || i.Mode != list[n].Mode {
			t.Errorf("got %+v, want %+v", i, list[n])
		}
	}
	empty := callOf(t, instructedAdapter(t, map[string]string{"a.txt": ""}, mcpadapter.WithStructuredContent()), "get_instructions", `{"path":"a.txt"}`)
	must.Equal(t, "without instructions", "No instructions apply to this path", empty.Text)
	must.Equal(t, "without instructions", `{"instructions":[]}`, string(empty.Structured))
}

func TestGetInstructionsNamesTheFilesThatCannotBeRead(t *testing.T) {
	files := maps.Clone(instructed)
	files["services/CLAUDE.md"], files["services/api/CLAUDE.md"] = strings.Repeat("x", 200), "@missing.md\n"
	c := catalog(t, memory(t, files), toolshelf.WithInstructions(client.Claude()), toolshelf.WithMaxFileSize(100))
	got := callOf(t, adapterOf(t, c, mcpadapter.WithStructuredContent()), "get_instructions", `{"path":"services/api/main.go"}`)
	if !strings.Contains(got.Text, "</project_instructions>\n\nWarning: ") || !strings.Contains(got.Text, "\nWarning: services/CLAUDE.md: the file is not read: the file has more than 100 bytes") ||
		!strings.Contains(got.Text, "\nWarning: services/api/CLAUDE.md: the import \"@missing.md\" ") || strings.Count(got.Text, "Warning: ") != 2 ||
		strings.Contains(string(got.Structured), `"path":"services/CLAUDE.md"`) || !strings.Contains(string(got.Structured), `"services/CLAUDE.md: the file is not read`) {
		t.Errorf("got %s\n%s", got.Text, got.Structured)
	}
}

func TestTheWarningsOfGetInstructionsTakeAQuarterOfTheCharacters(t *testing.T) {
	files := map[string]string{"CLAUDE.md": strings.Repeat("Far. ", 5000), "x/CLAUDE.md": ""}
	for i := range 60 {
		files["x/CLAUDE.md"] += fmt.Sprintf("@missing%d%s.md ", i, strings.Repeat("-", 100))
	}
	for name, options := range map[string][]mcpadapter.Option{"text": nil, "both": {mcpadapter.WithStructuredContent()}} {
		got := callOf(t, instructedAdapter(t, files, options...), "get_instructions", `{"path":"x","max_characters":20000}`)
		block, notes, _ := strings.Cut(got.Text, "</project_instructions>")
		if size := utf8.RuneCountInString(got.Text); size > 20_000 || len(notes) < 2000 || len(notes) > 5500 || !regexp.MustCompile(`\nWarning: \d+ more$`).MatchString(notes) || !strings.Contains(block, "Far. Far.") {
			t.Errorf("%s: a text of %d characters, %d of warnings: %.300s", name, size, len(notes), notes)
		}
	}
}

// Clients count the characters of the part that they hand to a model. The files have many texts,
// warnings, globs and escapes.
func TestBothPartsOfGetInstructionsAreWithinMaxCharacters(t *testing.T) {
	files := map[string]string{"CLAUDE.md": strings.Repeat("\x01\"<", 9000), "x/CLAUDE.md": strings.Repeat("é\n", 3000), "x/y/CLAUDE.md": strings.Repeat("@missing.md ", 300)}
	for i := range 100 {
		files[fmt.Sprintf(".claude/rules/%03d.md", i)] = "---\npaths: [" + strings.Repeat("\"nothing/**\", ", 50) + "\"**/*.go\"]\n---\n" + strings.Repeat("Rule. ", i)
	}
	for name, options := range map[string][]mcpadapter.Option{"text": nil, "both": {mcpadapter.WithStructuredContent()}} {
		a := instructedAdapter(t, files, options...)
		for _, most := range []int{1000, 1001, 1500, 4000, 20_000, 100_000} {
			got := callOf(t, a, "get_instructions", fmt.Sprintf(`{"path":"x/y/z.go","max_characters":%d}`, most))
			text, structured := utf8.RuneCountInString(got.Text), utf8.RuneCount(got.Structured)
			if text > most || structured > most || max(text, structured) < min(most, 60_000)/3 {
				t.Errorf("%s, %d: a text of %d and structured content of %d characters", name, most, text, structured)
			}
		}
	}
	dir := strings.Repeat(strings.Repeat("d", 100)+"/", 30)
	long := instructedAdapter(t, map[string]string{dir + "CLAUDE.md": "x"})
	got, err := long.Call(ctx, "get_instructions", json.RawMessage(fmt.Sprintf(`{"path":%q,"max_characters":1000}`, dir)))
	if want := "Error: max_characters: 1000 characters cannot hold the nearest instruction; use a larger budget"; err != nil || got.Text != want || !strings.Contains(string(got.Structured), "INVALID_OPTION") {
		t.Errorf("a long path: %+v, %v", got, err)
	}
}

// The note about a cut is a part of the text, also if only the note or a warning makes the cut
// necessary.
func TestEachNumberOfCharactersHoldsTheNotesOfGetInstructions(t *testing.T) {
	files := map[string]string{"CLAUDE.md": strings.Repeat("Far. ", 300) + "@missing.md", "x/CLAUDE.md": "Near."}
	a := instructedAdapter(t, files)
	whole := callOf(t, a, "get_instructions", `{"path":"x"}`).Text
	size := utf8.RuneCountInString(whole)
	for most := 1000; most < size+2; most++ {
		got := callOf(t, a, "get_instructions", fmt.Sprintf(`{"path":"x","max_characters":%d}`, most)).Text
		cut := strings.Contains(got, "\n\nCut at max_characters; raise the limit")
		if utf8.RuneCountInString(got) > most || cut != (most < size) || !cut && got != whole || !strings.Contains(got, "\nWarning: CLAUDE.md: ") {
			t.Fatalf("%d of %d: %d characters: %s", most, size, utf8.RuneCountInString(got), got)
		}
	}
}

func TestReadFileNamesTheInstructionsThatDoNotApplyToTheRoot(t *testing.T) {
	files := maps.Clone(instructed)
	for _, name := range []string{"AGENTS.md", "odd, \nname/CLAUDE.md", "~/CLAUDE.md"} {
		files[name] = "Odd.\n"
	}
	for _, name := range []string{"odd, \nname/a.txt", "~/a.txt"} {
		files[name] = "x\n"
	}
	files["nested/.claude/rules/sh.md"], files["nested/run.sh"] = "---\npaths: '*.sh'\n---\nNested.\n", "x\n"
	const call = "; call get_instructions to read the texts"
	a := instructedAdapter(t, files, mcpadapter.WithInstructionHints())
	for path, want := range map[string]string{
		"top.txt":                 "",
		"main.go":                 ".claude/rules/go.md",
		"services/run.sh":         "services/CLAUDE.md",
		"services/api/main.go":    "services/CLAUDE.md, services/api/CLAUDE.md, .claude/rules/go.md",
		"services/api/CLAUDE.md":  "services/CLAUDE.md",
		"services/CLAUDE.md":      "",
		".claude/rules/always.md": "",
		"odd, \nname/a.txt":       `odd, \nname/CLAUDE.md`,
		"~/a.txt":                 "./~/CLAUDE.md",
		"nested/run.sh":           "nested/.claude/rules/sh.md",
	} {
		raw := must.Get(json.Marshal(map[string]string{"path": path}))(t)
		for range 2 { // without memory
			_, line, _ := strings.Cut(callOf(t, a, "read_file", string(raw)).Text, "\n\nInstructions for this file: ")
			if want != "" && line != want+call || want == "" && line != "" {
				t.Errorf("%s: got %q, want %q", path, line, want)
			}
		}
	}
	must.Contain(t, "get_instructions",
		callOf(t, a, "get_instructions", `{"path":"nested/run.sh"}`).Text, "Nested.")
	got := callOf(t, instructedAdapter(t, files, mcpadapter.WithInstructionHints(), mcpadapter.WithStructuredContent(), mcpadapter.WithTools("read_file")), "read_file", `{"path":"services/run.sh"}`)
	if !strings.HasSuffix(got.Text, "1\t#!/bin/sh\n\nInstructions for this file: services/CLAUDE.md") || !strings.HasSuffix(string(got.Structured), `"instructions":["services/CLAUDE.md"]}`) {
		t.Errorf("without get_instructions: %s, %s", got.Text, got.Structured)
	}
	if got := callOf(t, adapterOf(t, catalog(t, memory(t, map[string]string{"x/CLAUDE.md": "a", "x/y": "z"})), mcpadapter.WithInstructionHints()), "read_file", `{"path":"x/y"}`); !strings.HasSuffix(got.Text, ": x/CLAUDE.md") {
		t.Errorf("without WithInstructions: %s", got.Text)
	}
}

func TestReadFileNamesAnInstructionOnceForSeveralFiles(t *testing.T) {
	got := callOf(t, instructedAdapter(t, instructed, mcpadapter.WithInstructionHints(), mcpadapter.WithTools("read_file")), "read_file", `{"paths":["services/run.sh","nothing","services/api/main.go","services/api/user.go"]}`)
	const want = "==> services/run.sh <==\n1\t#!/bin/sh\n\nInstructions for this file: services/CLAUDE.md\n\n" +
		"==> nothing <==\nError: File 'nothing' not found\n\n" +
		"==> services/api/main.go <==\n1\tpackage main\n\nInstructions for this file: services/api/CLAUDE.md, .claude/rules/go.md\n\n" +
		"==> services/api/user.go <==\n1\tpackage main"
	must.Equal(t, "got.Text", want, got.Text)
}

func TestReadFileNamesAtMostTwentyInstructions(t *testing.T) {
	files := maps.Clone(instructed)
	for i := range 1000 {
		files[fmt.Sprintf(".claude/rules/%04d.md", i)] = "---\npaths: \"**/*.sh\"\n---\nShell.\n"
	}
	got := callOf(t, instructedAdapter(t, files, mcpadapter.WithInstructionHints()), "read_file", `{"path":"services/run.sh"}`)
	if !strings.Contains(got.Text, ": services/CLAUDE.md, .claude/rules/0000.md, ") || !strings.Contains(got.Text, ".claude/rules/0018.md and 981 more; call get_instructions") || len(got.Text) > 700 {
		t.Errorf("got %.1000s", got.Text)
	}
}

func TestReadFileSucceedsIfInstructionsCannotBeFound(t *testing.T) {
	fsys := deny{memory(t, instructed), []string{".claude/rules"}}
	c := catalog(t, fsys, toolshelf.WithInstructions(client.Claude()))
	if _, err := c.Instructions(ctx, "."); err == nil {
		t.Fatal("Instructions returns no error; the test shows nothing")
	}
	got := callOf(t, adapterOf(t, c, mcpadapter.WithInstructionHints()), "read_file", `{"path":"services/run.sh"}`)
	must.Equal(t, "got.Text", "1\t#!/bin/sh", got.Text)
}

// A countingFs records the names that a program opens. A scan opens files in
// several goroutines.
type countingFs struct {
	afero.Fs
	mu     sync.Mutex
	opened []string
}

func (c *countingFs) Open(name string) (afero.File, error) {
	c.mu.Lock()
	c.opened = append(c.opened, name)
	c.mu.Unlock()
	return c.Fs.Open(name)
}

func TestReadFileLooksForInstructionsOnlyWithTheOption(t *testing.T) {
	var opened [][]string
	for _, options := range [][]mcpadapter.Option{{mcpadapter.WithTools("read_file")}, nil, {mcpadapter.WithInstructionHints()}} {
		fsys := &countingFs{Fs: memory(t, instructed)}
		a := adapterOf(t, catalog(t, fsys, toolshelf.WithInstructions(client.Claude())), options...)
		fsys.opened = nil
		callOf(t, a, "read_file", `{"path":"services/run.sh"}`)
		opened = append(opened, fsys.opened)
	}
	named := func(name string) bool { return strings.Contains(name, "CLAUDE") || strings.Contains(name, ".claude") }
	if slices.ContainsFunc(opened[1], named) || len(opened[1]) != len(opened[0]) || !slices.ContainsFunc(opened[2], named) {
		t.Errorf("opened %q", opened)
	}
}

func TestAReadThatFailsLooksForNoInstructions(t *testing.T) {
	fsys := &countingFs{Fs: memory(t, instructed)}
	a := adapterOf(t, catalog(t, fsys, toolshelf.WithInstructions(client.Claude())), mcpadapter.WithInstructionHints())
	got, err := a.Call(ctx, "read_file", json.RawMessage(`{"path":"services/missing.sh"}`))
	if err != nil || !got.IsError || slices.ContainsFunc(fsys.opened, func(name string) bool { return strings.Contains(name, "CLAUDE.md") }) {
		t.Errorf("%+v, %v, opened %q", got, err, fsys.opened)
	}
	var failed *toolshelf.Error
	if c := catalog(t, memory(t, instructed)); !errors.As(c.Close(), &failed) {
		got, err := adapterOf(t, c, mcpadapter.WithInstructionHints()).Call(ctx, "read_file", json.RawMessage(`{"path":"top.txt"}`))
		if err != nil || !strings.Contains(string(got.Structured), "CLOSED") {
			t.Errorf("a closed catalog: %+v, %v", got, err)
		}
	}
}

// failing is a filesystem on which an operation on a path fails. The error contains the
// full path, as errors of package os do.
type failing struct {
	afero.Fs
	operation, path string
	cause           error
}

func (f failing) fail(operation, name string) error {
	if operation != f.operation || filepath.Clean(name) != f.path {
		return nil
	}
	return &fs.PathError{Op: operation, Path: name, Err: f.cause}
}

func (f failing) Open(name string) (afero.File, error) {
	if err := f.fail("open", name); err != nil {
		return nil, err
	}
	file, err := f.Fs.Open(name)
	return failingFile{file, f, name}, err
}

func (f failing) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if flag != os.O_RDONLY {
		return f.Fs.OpenFile(name, flag, perm)
	}
	return f.Open(name)
}

func (f failing) Stat(name string) (os.FileInfo, error) {
	if err := f.fail("stat", name); err != nil {
		return nil, err
	}
	return f.Fs.Stat(name)
}

func (f failing) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	if err := f.fail("lstat", name); err != nil {
		return nil, true, err
	}
	info, err := os.Lstat(name)
	return info, true, err
}

func (f failing) ReadlinkIfPossible(name string) (string, error) {
	if err := f.fail("readlink", name); err != nil {
		return "", err
	}
	return os.Readlink(name)
}

type failingFile struct {
	afero.File
	fsys failing
	name string
}

func (f failingFile) Read(p []byte) (int, error) {
	if err := f.fsys.fail("read", f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f failingFile) Readdir(n int) ([]os.FileInfo, error) {
	if err := f.fsys.fail("readdir", f.name); err != nil {
		return nil, err
	}
	return f.File.Readdir(n)
}

func (f failingFile) Readdirnames(n int) ([]string, error) {
	if err := f.fsys.fail("readdir", f.name); err != nil {
		return nil, err
	}
	return f.File.Readdirnames(n)
}

func (f failingFile) Stat() (os.FileInfo, error) {
	if err := f.fsys.fail("fstat", f.name); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

// fileAnswers returns the texts and the structured contents of the tools for files.
func fileAnswers(t *testing.T, a *mcpadapter.Adapter) (answers []string) {
	t.Helper()
	for _, call := range []struct{ tool, arguments string }{
		{"list_directory", `"path":%q`}, {"list_directory", `"path":%q,"gitignore":true`}, {"list_directory", `"path":%q,"show_sizes":false`}, {"directory_tree", `"path":%q`},
		{"get_file_info", `"path":%q`}, {"search_files", `"path":%q,"pattern":"*"`}, {"search_text", `"path":%q,"pattern":"a"`}, {"read_file", `"path":%q`},
	} {
		for _, path := range []string{".", "src", "src/agent.lisp", "link", "link/x", "nothing"} {
			got := must.Get(a.Call(ctx, call.tool, json.RawMessage("{"+fmt.Sprintf(call.arguments, path)+"}")))(t)
			answers = append(answers, call.tool+" "+path+": "+got.Text, string(got.Structured))
		}
	}
	return answers
}

// The model does not know the path of the root, and has no use for the path.
func TestToolsForFilesNeverShowTheRoot(t *testing.T) {
	disks := map[string]func(t *testing.T, root string) afero.Fs{
		"missing": func(t *testing.T, root string) afero.Fs { remove(t, root, "."); return nil },
		"file": func(t *testing.T, root string) afero.Fs {
			remove(t, root, ".")
			must.Do(t, os.WriteFile(root, nil, 0o644))
			return nil
		},
		"loop": func(t *testing.T, root string) afero.Fs {
			remove(t, root, ".")
			hosttest.Symlink(t, root, root)
			return nil
		},
		"link to nothing": func(t *testing.T, root string) afero.Fs {
			remove(t, root, ".")
			hosttest.Symlink(t, root+"nothing", root)
			return nil
		},
		"loops below": func(t *testing.T, root string) afero.Fs {
			remove(t, root, "src")
			hosttest.Symlink(t, filepath.Join(root, "src"), filepath.Join(root, "src"))
			hosttest.Symlink(t, filepath.Join(root, "src"), filepath.Join(root, "link"))
			return nil
		},
		"link out of the root": func(t *testing.T, root string) afero.Fs {
			hosttest.Symlink(t, filepath.Dir(root), filepath.Join(root, "link"))
			return nil
		},
		"broken link": func(t *testing.T, root string) afero.Fs {
			hosttest.Symlink(t, root+"/nothing", filepath.Join(root, "link"))
			return nil
		},
	}
	causes := []error{fs.ErrNotExist, syscall.EACCES, syscall.ELOOP}
	if testing.Short() {
		causes = causes[:1]
	}
	for _, operation := range []string{"open", "stat", "lstat", "fstat", "readdir", "read", "readlink"} {
		for _, path := range []string{".", "src", "src/agent.lisp", "link"} {
			for _, cause := range causes {
				disks[fmt.Sprintf("%s of %s: %v", operation, path, cause)] = func(t *testing.T, root string) afero.Fs {
					if path == "link" || operation == "readlink" {
						hosttest.Symlink(t, "src", filepath.Join(root, "link"))
					} else {
						_ = os.Symlink("src", filepath.Join(root, "link")) // if the filesystem makes links
					}
					return failing{afero.NewOsFs(), operation, filepath.Join(root, path), cause}
				}
			}
		}
	}
	for name, disk := range disks {
		t.Run(name, func(t *testing.T) {
			top := onDisk(t, map[string]string{"root/src/agent.lisp": "a\n", "root/.gitignore": "*.log\n"})
			options := []toolshelf.Option{toolshelf.WithRoot(filepath.Join(top, "root"))}
			if fsys := disk(t, filepath.Join(top, "root")); fsys != nil {
				options = append(options, toolshelf.WithFs(fsys))
			}
			for _, answer := range containing(fileAnswers(t, adapterOf(t, opened(t, options...), mcpadapter.WithStructuredContent())), filepath.Base(filepath.Dir(top))) {
				t.Error(answer)
			}
		})
	}
}
