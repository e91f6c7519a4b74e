package documents

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// A goBlock is a Go block of a document, with the text between the block and the
// previous or next Go block.
type goBlock struct {
	document string
	before   string
	code     string
	after    string
}

func (b goBlock) isProgram() bool { return strings.HasPrefix(b.code, "package main\n") }

// goBlocks returns the Go blocks of README.md and of docs, without the blocks below a
// link to a file of examples/agents, whose tests compare the blocks with the files.
func goBlocks(t *testing.T) (blocks []goBlock) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the library")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command to build the programs with: ", err)
	}
	documents := must.Get(filepath.Glob("docs/*.md"))(t)
	recipe := regexp.MustCompile(`\n\[.*\]\(\.\./examples/agents/.*\.go\).*\n$`)
	for _, document := range append(documents, "README.md") {
		text := must.Get(os.ReadFile(document))(t)
		parts := strings.Split("\n"+strings.ReplaceAll(string(text), "\r\n", "\n"), "\n```go\n")
		before := parts[0]
		for _, part := range parts[1:] {
			code, after, closed := strings.Cut(part, "\n```\n")
			must.Equal(t, document, true, closed)
			if !recipe.MatchString(before) {
				blocks = append(blocks, goBlock{document, before, code + "\n", after})
			}
			before = after
		}
	}
	return blocks
}

// build compiles a Go file and returns the path of the program, if the file is one.
func build(t *testing.T, code string) string {
	t.Helper()
	dir := t.TempDir()
	file, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program.exe")
	must.Do(t, os.WriteFile(file, []byte(code), 0o644))
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s\nof\n%s", err, out, code)
	}
	return program
}

// runIn runs a program in a directory, with an empty home directory.
func runIn(t *testing.T, dir, program string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program)
	home := t.TempDir()
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+home, "USERPROFILE="+home)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// documentedFiles returns the files of a document by path. The sentence above the
// block of a file names the path: The file `PATH` of a project:
func documentedFiles(text string) map[string]string {
	files := map[string]string{}
	for _, match := range regexp.MustCompile("(?s)\nThe file `([^`]+)` of a project:\n\n```[a-z]*\n(.*?\n)```\n").FindAllStringSubmatch(text, -1) {
		files[match[1]] = match[2]
	}
	return files
}

// TestDocumentedProgramsPrintTheDocumentedOutput runs each program of the
// documents in a directory with the files above the program, and compares the
// output with the block below "It prints".
func TestDocumentedProgramsPrintTheDocumentedOutput(t *testing.T) {
	t.Parallel()
	programs := 0
	for _, b := range goBlocks(t) {
		if !b.isProgram() {
			continue
		}
		programs++
		_, shown, ok := strings.Cut(b.after, "It prints\n\n```\n")
		want, _, closed := strings.Cut(shown, "```\n")
		if !ok || !closed {
			t.Errorf("%s: no output below the program:\n%s", b.document, b.code)
			continue
		}
		got := must.Get(runIn(t, catalogtest.Disk(t, documentedFiles(b.before)), build(t, b.code)))(t)
		must.Match(t, "got", want, got)
	}
	if programs == 0 {
		t.Error("the documents have no program")
	}
}

// snippetFile returns the Go file of a block that is not a program: the block is the body of
// a function of a context, a catalog and an adapter. A comment "// import" in the block names
// its other packages. Embedded variables go to the level of the package.
func snippetFile(name, block string) string {
	imports := []string{"context", "github.com/toolshelf-go/toolshelf", "github.com/toolshelf-go/toolshelf/mcpadapter"}
	for _, std := range []string{"encoding/json", "errors", "fmt"} {
		if strings.Contains(block, path.Base(std)+".") {
			imports = append(imports, std)
		}
	}
	quoted := regexp.MustCompile(`"([^"]+)"`)
	variables, body := "", ""
	for line := range strings.Lines(block) {
		switch {
		case strings.HasPrefix(line, "// import "):
			for _, match := range quoted.FindAllStringSubmatch(line, -1) {
				imports = append(imports, match[1])
			}
		case strings.HasPrefix(line, "//go:embed ") || strings.HasPrefix(line, "var ") && strings.Contains(line, "embed.FS"):
			variables += line
		default:
			body += line
		}
	}
	code := "package main\n\n"
	slices.Sort(imports)
	for _, name := range slices.Compact(imports) {
		code += fmt.Sprintf("import %q\n", name)
	}
	return code + "\n" + variables + "\nfunc " + name + "(ctx context.Context, catalog *toolshelf.Catalog, adapter *mcpadapter.Adapter) error {\n" + body + "return nil\n}\n"
}

// callSnippets is the main function of the program with the snippets.
const callSnippets = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func main() {
	catalog, err := toolshelf.New()
	if err != nil {
		panic(err)
	}
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		panic(err)
	}
	for i, snippet := range []func(context.Context, *toolshelf.Catalog, *mcpadapter.Adapter) error{%s} {
		if err := snippet(context.Background(), catalog, adapter); err != nil {
			fmt.Printf("snippet %%d: %%v\n", i+1, err)
			os.Exit(1)
		}
	}
}
`

// TestDocumentedSnippets compiles each Go block that is not a program, all blocks in one
// program, and calls the blocks of README.md in a project. The standard input is empty, so
// the MCP server ends.
func TestDocumentedSnippets(t *testing.T) {
	t.Parallel()
	needsWorkspace(t) // some blocks import the bindings
	project := map[string]string{
		"commands/review.md":                         "Read the diff of $1.\n",
		"vendor/plugins/deploy/commands/rollback.md": "Roll back.\n",
		"skills/pdf/SKILL.md":                        "---\nname: pdf\ndescription: Reads PDF files\n---\nRead it.\n",
		".claude/agents/reviewer.md":                 "---\nname: reviewer\ndescription: Reviews\ntools: Read\n---\nReview.\n",
		"src/main.go":                                "package main\n",
	}
	embedded := regexp.MustCompile(`(?m)^//go:embed (\w+)$`)
	files := map[string]string{}
	var called []string
	for i, b := range goBlocks(t) {
		if b.isProgram() {
			continue
		}
		name := fmt.Sprintf("snippet%d", i+1)
		files[name+".go"] = snippetFile(name, b.code)
		for _, match := range embedded.FindAllStringSubmatch(b.code, -1) {
			files[match[1]+"/review.md"] = project["commands/review.md"]
		}
		if b.document == "README.md" {
			called = append(called, name)
		}
	}
	if len(called) == 0 {
		t.Fatal("README.md has no snippet")
	}
	files["main.go"] = fmt.Sprintf(callSnippets, strings.Join(called, ", "))
	dir := catalogtest.Disk(t, files)
	sources := must.Get(filepath.Glob(filepath.Join(dir, "*.go")))(t)
	program := filepath.Join(t.TempDir(), "program.exe")
	if out, err := exec.CommandContext(t.Context(), "go", append([]string{"build", "-ldflags=-s -w", "-o", program}, sources...)...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	must.Get(runIn(t, catalogtest.Disk(t, project), program))(t)
}

// TestPlatformTableAgreesWithCI compares the table of platforms in
// docs/platforms.md with the list in .ci/nightly.
func TestPlatformTableAgreesWithCI(t *testing.T) {
	platform := regexp.MustCompile(`[a-z0-9]+/(?:amd64|386|arm64|wasm)`)
	tables := func(file, row string) (platforms []string) {
		text := must.Get(os.ReadFile(file))(t)
		for line := range strings.Lines(strings.ReplaceAll(string(text), "\r\n", "\n")) {
			if regexp.MustCompile(row).MatchString(strings.TrimSpace(line)) {
				platforms = append(platforms, platform.FindAllString(line, -1)...)
			}
		}
		slices.Sort(platforms)
		return platforms
	}
	vetted := tables(".ci/nightly", `^readonly vetted=`)
	if len(vetted) == 0 {
		t.Fatal(".ci/nightly names no platform")
	}
	if diff := cmp.Diff(vetted, tables("docs/platforms.md", `^\| [^,]* \| (no|(?:all|some) packages .*|the parsers .*) \| yes \|$`)); diff != "" {
		t.Errorf("vetted platforms, -.ci/nightly +docs/platforms.md:\n%s", diff)
	}
}

var (
	lineNumber = regexp.MustCompile(`(?m)^\s*(?:\S*:)?(\d+):`)
	lineTerm   = regexp.MustCompile(`LINE(?:\+(\d+))?`)
)

// An agentTask is a row of the table of internal/dev/documents/tasks.md.
type agentTask struct {
	name            string
	commands, calls []string // in order; LINE is the first line number in the output of the step before
}

func agentTasks(t *testing.T) []agentTask {
	page := must.Get(os.ReadFile("internal/dev/documents/tasks.md"))(t)
	spans := func(cell string) (all []string) {
		for _, span := range codeSpan.FindAllStringSubmatch("`"+strings.Trim(cell, "`")+"`", -1) {
			all = append(all, strings.ReplaceAll(span[1], `\|`, "|"))
		}
		return all
	}
	var tasks []agentTask
	for _, row := range tableRows(t, string(page), "Tasks of a coding agent") {
		if strings.HasPrefix(row[0], "---") || row[0] == "total" {
			continue
		}
		tasks = append(tasks, agentTask{row[0], spans(row[1]), spans(row[3])})
	}
	return tasks
}

// outputs runs the steps of a task, and returns the number of characters of all outputs.
func outputs(t *testing.T, steps []string, run func(step string) string) int {
	t.Helper()
	characters, line := 0, 0
	for _, step := range steps {
		step = lineTerm.ReplaceAllStringFunc(step, func(term string) string {
			more, _ := strconv.Atoi(strings.TrimPrefix(term[len("LINE"):], "+"))
			return strconv.Itoa(line + more)
		})
		text := run(step)
		if match := lineNumber.FindStringSubmatch(text); match != nil {
			line, _ = strconv.Atoi(match[1])
		}
		characters += utf8.RuneCountInString(text)
	}
	return characters
}

// TestTasksOfACodingAgent compares the texts of the tools with the outputs of the commands, over
// the files of Go.
func TestTasksOfACodingAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all files of Go several times")
	}
	out := must.Get(exec.Command("go", "env", "GOROOT").Output())(t)
	root := strings.TrimSpace(string(out))
	if _, err := os.Stat(filepath.Join(root, "src", "net", "http", "server.go")); err != nil {
		t.Skipf("GOROOT has no sources: %v", err)
	}
	shell := func(line string) ([]byte, error) {
		c := exec.Command("sh", "-c", line)
		c.Dir = root
		return c.CombinedOutput()
	}
	if out, err := shell("find src/bufio -printf '%s' && sed -n '1,+1p' VERSION && grep -rc --include='*.go' bufio src/bufio"); err != nil {
		t.Skipf("the commands of the table need find, grep and sed of GNU: %s", out)
	}
	adapter := must.Get(mcpadapter.New(catalogtest.Open(t, toolshelf.WithRoot(root))))(t)
	command := func(line string) string {
		out, err := shell(line)
		if err != nil || len(out) == 0 {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return string(out)
	}
	call := func(step string) string {
		name, arguments, _ := strings.Cut(step, " ")
		text, isError := adapter.Answer(t.Context(), name, json.RawMessage(arguments))
		must.Equal(t, step, false, isError)
		return text
	}
	tasks := agentTasks(t)
	must.Len(t, "tasks in the table", 15, tasks)
	var commands, calls, ofCommands, ofCalls int
	var report strings.Builder
	for _, task := range tasks {
		x, y := outputs(t, task.commands, command), outputs(t, task.calls, call)
		fmt.Fprintf(&report, "\n%-26s %d commands %6d characters, %d calls %6d characters, ratio %.2f", task.name, len(task.commands), x, len(task.calls), y, float64(y)/float64(x))
		commands, calls, ofCommands, ofCalls = commands+len(task.commands), calls+len(task.calls), ofCommands+x, ofCalls+y
	}
	t.Logf("%s\n%-25s %2d commands %6d characters, %d calls %6d characters, ratio %.2f", report.String(), "total", commands, ofCommands, calls, ofCalls, float64(ofCalls)/float64(ofCommands))
	if most := 1.3; calls > commands || float64(ofCalls) > most*float64(ofCommands) {
		t.Errorf("%d calls, want at most %d; %d characters, want at most %.1f × %d", calls, commands, ofCalls, most, ofCommands)
	}
}
