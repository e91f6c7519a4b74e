package documents

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// linked are the modules of a program that imports only the library.
var linked = []string{
	"example",
	"github.com/BurntSushi/toml",
	"github.com/adrg/frontmatter",
	"github.com/bmatcuk/doublestar/v4",
	"github.com/fsnotify/fsnotify",
	"github.com/spf13/afero",
	"github.com/toolshelf-go/toolshelf",
	"go.yaml.in/yaml/v3",
	"golang.org/x/sync",
	"golang.org/x/sys",
	"golang.org/x/text",
	"gopkg.in/yaml.v2",
}

// linkedByParser are the modules of a program that imports only package agentmd.
var linkedByParser = []string{
	"example",
	"github.com/BurntSushi/toml",
	"github.com/adrg/frontmatter",
	"github.com/toolshelf-go/toolshelf",
	"go.yaml.in/yaml/v3",
	"gopkg.in/yaml.v2",
}

// mentioned are the modules in the module graph of the program that the program does
// not link. The tests of the library and of its dependencies require these modules.
var mentioned = []string{
	"github.com/google/go-cmp",
	"github.com/kr/text",
	"github.com/santhosh-tekuri/jsonschema/v6",
	"github.com/yuin/goldmark",
	"go.uber.org/goleak",
	"golang.org/x/mod",
	"golang.org/x/tools",
	"gopkg.in/check.v1",
	"pgregory.net/rapid",
}

// TestImportingTheLibraryAddsTheseModules fails if a change adds a module to the
// programs that import the root or mcpadapter, such as an SDK. A new module needs a
// reason. The test reads only the module cache.
func TestImportingTheLibraryAddsTheseModules(t *testing.T) {
	root := must.Get(os.Getwd())(t)
	all := slices.Sorted(slices.Values(slices.Concat(linked, mentioned)))
	for imported, linked := range map[string][]string{"github.com/toolshelf-go/toolshelf": linked, "github.com/toolshelf-go/toolshelf/mcpadapter": linked,
		"github.com/toolshelf-go/toolshelf/agentmd": linkedByParser} {
		t.Run(imported, func(t *testing.T) {
			list := goList(t, map[string]string{
				"main.go": fmt.Sprintf("package main\n\nimport _ %q\n\nfunc main() {}\n", imported),
				"go.mod": fmt.Sprintf("module example\n\ngo 1.25.0\n\nrequire github.com/toolshelf-go/toolshelf v0.1.0\n\n"+
					"replace github.com/toolshelf-go/toolshelf => %q\n", filepath.ToSlash(root)),
			})
			// Listing the packages adds the linked modules to go.mod, as go mod tidy does.
			must.Match(t, "linked modules", linked, list("-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "."))
			// The cache lacks the time of modules that nothing links. With -e, the go command lists
			// them.
			graph := list("-e", "-m", "-f", "{{.Path}}", "all")
			if len(linked) < len(linkedByParser)+1 { // without the modules that only the other linked modules mention
				graph = slices.Compact(slices.Sorted(slices.Values(slices.Concat(graph, all))))
			}
			must.Match(t, "modules in the module graph", all, graph)
		})
	}
}

// TestTheTableOfModulesIsTrue compares the table "Modules" of docs/stores.md with the modules that
// a release tags: the go line, and the numbers of modules of other projects for a program that
// imports the package of the module: the modules that the program links, and all modules of its
// module graph.
func TestTheTableOfModulesIsTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("listing the packages of all modules takes seconds")
	}
	const prefix = "github.com/toolshelf-go/toolshelf"
	read := func(file string) string {
		return string(must.Get(os.ReadFile(file))(t))
	}
	root := must.Get(os.Getwd())(t)
	files := must.Get(filepath.Glob("*/*/go.mod"))(t)
	var dirs []string
	replace := ""
	for _, file := range append(files, "go.mod") {
		dir := filepath.ToSlash(filepath.Dir(file))
		if strings.HasPrefix(dir, "examples/") {
			continue
		}
		dirs = append(dirs, dir)
		replace += fmt.Sprintf("\t%s => %q\n", path.Join(prefix, dir), path.Join(filepath.ToSlash(root), dir))
		must.Contain(t, "CONTRIBUTING.md", read("CONTRIBUTING.md"),
			"`"+path.Join(dir, "v0.1.0")+"`")
	}
	table := read("docs/stores.md")
	for _, dir := range dirs {
		t.Run(dir, func(t *testing.T) {
			module := path.Join(prefix, dir)
			goMod := fmt.Sprintf("module example\n\ngo 1.26.0\n\nrequire %s v0.1.0\n\nreplace (\n%s)\n", module, replace)
			source := map[string]string{"go.mod": goMod, "main.go": fmt.Sprintf("package main\n\nimport _ %q\n\nfunc main() {}\n", module)}
			program := "." // listing the program adds the linked modules to go.mod, as go mod tidy does
			if name := goList(t, map[string]string{"go.mod": goMod})("-f", "{{.Name}}", module); name[0] == "main" {
				delete(source, "main.go")
				program = module
			}
			list := goList(t, source)
			count := func(args ...string) int {
				return len(slices.DeleteFunc(list(args...), func(listed string) bool {
					return listed == "example" || strings.HasPrefix(listed, prefix)
				}))
			}
			linked := count("-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", program)
			graph := count("-e", "-m", "-f", "{{.Path}}", "all")
			_, line, _ := strings.Cut(read(path.Join(dir, "go.mod")), "\ngo ")
			line, _, _ = strings.Cut(line, "\n")
			row := fmt.Sprintf("| `%s` | %s | %d | %d |", strings.TrimPrefix(module, "github.com/toolshelf-go/"), line, linked, graph)
			must.Contain(t, "docs/stores.md lacks the row", table, "\n"+row)
		})
	}
}

// goList writes the files of a module, and returns a function that lists with the module cache
// alone.
func goList(t *testing.T, files map[string]string) func(args ...string) []string {
	t.Helper()
	dir := t.TempDir()
	for file, content := range files {
		must.Do(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644))
	}
	for key, value := range map[string]string{"GOWORK": "off", "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOSUMDB": "off",
		"GOOS": "linux", "GOARCH": "amd64"} {
		t.Setenv(key, value)
	}
	return func(args ...string) []string {
		out, err := runGo(t, dir, append([]string{"list"}, args...)...)
		if err != nil && strings.Contains(err.Error(), "GOPROXY=off") {
			t.Skip("the module cache lacks a module of the library; run .ci/release -tree")
		}
		must.Do(t, err)
		return slices.Compact(slices.Sorted(strings.FieldsSeq(out)))
	}
}

// needsWorkspace skips a test of several modules of the repository outside the workspace
// of go.work.
func needsWorkspace(t *testing.T) {
	t.Helper()
	file := must.Get(runGo(t, ".", "env", "GOWORK"))(t)
	if file == "" || file == "off" {
		t.Skip("the go command uses no go.work file")
	}
}

// runGo runs a go command in a directory and returns the standard output without the
// space around. The error contains the standard error. Without a go command, runGo skips
// the test.
func runGo(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command: ", err)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// programs are packages that run commands or open network connections.
var programs = []string{"net", "net/http", "net/rpc", "net/smtp", "os/exec", "plugin", "github.com/toolshelf-go/toolshelf/embedding"}

// processCalls are functions that start a process or open a connection.
var processCalls = []string{
	"os.StartProcess", "syscall.Exec", "syscall.ForkExec", "syscall.StartProcess", "syscall.Socket", "syscall.Connect",
	"unix.Exec", "unix.Socket", "unix.Connect", "windows.CreateProcess", "windows.Socket", "windows.Connect",
}

// TestTheLibraryRunsNoCommandAndOpensNoConnection checks the imports and calls of the
// packages that a program imports, on all platforms. The test does not check dependencies,
// because afero imports net/http for a filesystem that the library does not use.
func TestTheLibraryRunsNoCommandAndOpensNoConnection(t *testing.T) {
	checked := 0
	repositoryFiles(t, ".go", func(file string) {
		name := filepath.ToSlash(file)
		for _, dir := range []string{"examples/", "cmd/", "embedding/", "internal/dev/", "mcpadapter/gosdk/", "mcpadapter/mcpgo/", "internal/hosttest/", "stores/wellknown/"} {
			if strings.HasPrefix(name, dir) {
				return
			}
		}
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		checked++
		parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution))(t)
		for _, i := range parsed.Imports {
			if imported, _ := strconv.Unquote(i.Path.Value); slices.Contains(programs, imported) {
				t.Errorf("%s imports %s", name, imported)
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := call.X.(*ast.Ident); ok && slices.Contains(processCalls, pkg.Name+"."+call.Sel.Name) {
					t.Errorf("%s uses %s.%s", name, pkg.Name, call.Sel.Name)
				}
			}
			return true
		})
	})
	if checked < 100 {
		t.Errorf("the test checked %d files", checked)
	}
}
