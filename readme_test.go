package toolshelf_test

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A goBlock is a Go block of a document, with the text up to the next Go block.
type goBlock struct {
	document string
	code     string
	after    string
}

func (b goBlock) isProgram() bool { return strings.HasPrefix(b.code, "package main\n") }

// goBlocks returns the Go blocks of README.md and of docs, without the blocks below a
// link to a file of examples/agents. That module compiles its files and compares them
// with the blocks.
func goBlocks(t *testing.T) (blocks []goBlock) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command to build the programs with: ", err)
	}
	documents, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile(`\n\[.*\]\(\.\./examples/agents/.*\.go\)\n$`)
	for _, document := range append(documents, "README.md") {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split("\n"+strings.ReplaceAll(string(text), "\r\n", "\n"), "\n```go\n")
		for i, part := range parts[1:] {
			if recipe.MatchString(parts[i]) {
				continue
			}
			code, after, closed := strings.Cut(part, "\n```\n")
			if !closed {
				t.Fatalf("%s: a Go block is not closed", document)
			}
			blocks = append(blocks, goBlock{document, code + "\n", after})
		}
	}
	return blocks
}

// build compiles a Go file and returns the path of the program, if the file is one.
func build(t *testing.T, code string) string {
	t.Helper()
	dir := t.TempDir()
	file, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program.exe")
	if err := os.WriteFile(file, []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s\nof\n%s", err, out, code)
	}
	return program
}

// runIn runs a program in a directory.
func runIn(t *testing.T, dir, program string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestDocumentedProgramsPrintTheDocumentedOutput runs each program of the
// documents in an empty directory and compares the output with the block below
// "It prints".
func TestDocumentedProgramsPrintTheDocumentedOutput(t *testing.T) {
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
		got, err := runIn(t, t.TempDir(), build(t, b.code))
		if err != nil {
			t.Errorf("%s: %v", b.document, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("output, -%s +program:\n%s", b.document, diff)
		}
	}
	if programs == 0 {
		t.Error("the documents have no program")
	}
}

// TestFirstProgramWithoutWithFsReadsTheWorkingDirectory follows the comment of
// the first program of the README.
func TestFirstProgramWithoutWithFsReadsTheWorkingDirectory(t *testing.T) {
	const option = "toolshelf.WithFs(project)"
	for _, b := range goBlocks(t) {
		if b.document != "README.md" || !b.isProgram() {
			continue
		}
		if strings.Count(b.code, option) != 1 || !strings.Contains(b.code, "// without WithFs, ") {
			t.Fatalf("the program has no comment on %s:\n%s", option, b.code)
		}
		program := build(t, strings.Replace(b.code, option, "", 1))

		got, err := runIn(t, t.TempDir(), program)
		if err == nil || strings.Contains(got, "panic") || !strings.Contains(got, "toolshelf: List: ") || !strings.Contains(got, "(DIRECTORY_NOT_FOUND)") {
			t.Errorf("in an empty directory: got %v and\n%s\nwant an exit status and DIRECTORY_NOT_FOUND", err, got)
		}
		dir := diskOf(t, map[string]string{"commands/review.md": "---\ndescription: On disk\n---\nText.\n"})
		got, err = runIn(t, dir, program)
		if want := "review - On disk\n\"Text.\\n\" \nINVALID_COMMAND_NAME\n"; err != nil || got != want {
			t.Errorf("in a project: got %q, %v; want %q", got, err, want)
		}
		return
	}
	t.Fatal("README.md has no program")
}

// TestDocumentedSnippetsCompile compiles each Go block that is not a program as
// the body of a function of a context, a catalog and an adapter. A comment
// "// import" in the block names its other packages.
func TestDocumentedSnippetsCompile(t *testing.T) {
	needsWorkspace(t) // some blocks import the bindings
	quoted := regexp.MustCompile(`"([^"]+)"`)
	for _, b := range goBlocks(t) {
		if b.isProgram() {
			continue
		}
		imports := []string{"context", "github.com/toolshelf-go/toolshelf", "github.com/toolshelf-go/toolshelf/mcpadapter"}
		for _, std := range []string{"encoding/json", "errors", "fmt"} {
			if strings.Contains(b.code, path.Base(std)+".") {
				imports = append(imports, std)
			}
		}
		for line := range strings.Lines(b.code) {
			if strings.HasPrefix(line, "// import ") {
				for _, match := range quoted.FindAllStringSubmatch(line, -1) {
					imports = append(imports, match[1])
				}
			}
		}
		code := "package snippet\n\n"
		for _, name := range imports {
			code += fmt.Sprintf("import %q\n", name)
		}
		code += "\nfunc _(ctx context.Context, catalog *toolshelf.Catalog, adapter *mcpadapter.Adapter) error {\n" + b.code + "return nil\n}\n"
		build(t, code)
	}
}

// TestPlatformTablesAgreeWithCI compares the tables of platforms in README.md
// and docs/platforms.md with the list in .ci/run.
func TestPlatformTablesAgreeWithCI(t *testing.T) {
	platform := regexp.MustCompile(`[a-z0-9]+/(?:amd64|386|arm64|wasm)`)
	tables := func(file, row string) (platforms []string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(strings.ReplaceAll(string(text), "\r\n", "\n")) {
			if regexp.MustCompile(row).MatchString(strings.TrimSpace(line)) {
				platforms = append(platforms, platform.FindAllString(line, -1)...)
			}
		}
		slices.Sort(platforms)
		return platforms
	}
	vetted := tables(".ci/run", `^readonly vetted=`)
	if len(vetted) == 0 {
		t.Fatal(".ci/run names no platform")
	}
	for file, row := range map[string]string{"README.md": `^\| .* \| vetted:`, "docs/platforms.md": `^\| .* \| no \| yes \|$`} {
		if diff := cmp.Diff(vetted, tables(file, row)); diff != "" {
			t.Errorf("vetted platforms, -.ci/run +%s:\n%s", file, diff)
		}
	}
}
