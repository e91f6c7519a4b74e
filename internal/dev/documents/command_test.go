package documents

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

const modulePath = "github.com/toolshelf-go/toolshelf"

// isCommand reports whether a text begins like a command of the Go toolchain or of the
// repository. Other texts in code spans and in blocks without a language are no commands.
func isCommand(text string) bool {
	return strings.HasPrefix(text, "go ") || strings.HasPrefix(text, ".ci/")
}

// otherPrograms are programs whose arguments no test checks.
var otherPrograms = []string{"cd", "claude", "codex", "curl", "git", "npx"}

// A commandChecker checks commands of documents without running them.
type commandChecker struct {
	help map[string]string // by subcommand of go: the help with the flags
}

func newCommandChecker(t *testing.T) *commandChecker {
	t.Helper()
	c := &commandChecker{help: map[string]string{}}
	topic := func(name ...string) string {
		out, err := exec.CommandContext(t.Context(), "go", append([]string{"help"}, name...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("go help %s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	build, tests := topic("build"), topic("testflag")
	for _, name := range []string{"build", "get", "install", "list", "run", "vet"} {
		c.help[name] = topic(name) + build
	}
	c.help["test"] = topic("test") + build + tests
	for _, name := range []string{"mod edit", "mod tidy", "doc", "generate", "tool"} {
		c.help[name] = topic(strings.Fields(name)...)
	}
	return c
}

// words splits a command into words like a shell, without comments, redirections and
// environment variables before the program.
func words(command string) (all []string) {
	word := regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)
	for _, w := range word.FindAllString(command, -1) {
		if strings.HasPrefix(w, "#") {
			break
		}
		if strings.HasPrefix(w, "<") || strings.HasPrefix(w, ">") || len(all) == 0 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(w) {
			continue
		}
		all = append(all, strings.NewReplacer("'", "", `"`, "").Replace(w))
	}
	return all
}

// isPlaceholder reports whether the reader replaces a word, such as DIR, [REGEXP or ….
func isPlaceholder(word string) bool {
	return regexp.MustCompile(`^\[?[A-Z]{2,}\b|…`).MatchString(word)
}

// defect describes the defect of a command line, or is empty.
func (c *commandChecker) defect(line string) string {
	for _, command := range regexp.MustCompile(`\s(?:&&|\|\||\||;)\s`).Split(line, -1) {
		if defect := c.commandDefect(words(command)); defect != "" {
			return defect
		}
	}
	return ""
}

func (c *commandChecker) commandDefect(words []string) string {
	if len(words) == 0 {
		return ""
	}
	program, args := words[0], words[1:]
	switch {
	case slices.Contains(otherPrograms, program):
		return ""
	case strings.HasPrefix(program, "."):
		if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() {
			return "no such program: " + program
		}
		return ""
	case program != "go":
		return "unknown program " + program
	}
	dir := "."
	if len(args) > 1 && args[0] == "-C" {
		dir, args = args[1], args[2:]
	}
	if len(args) == 0 {
		return "no subcommand"
	}
	name, args := args[0], args[1:]
	if name == "mod" && len(args) > 0 {
		name, args = name+" "+args[0], args[1:]
	}
	help, ok := c.help[name]
	if !ok {
		return "unknown subcommand " + name
	}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		flag, value, joined := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
		name := regexp.QuoteMeta(flag)
		usage := regexp.MustCompile(`(?m)(?:^\s+|\[)-` + name + `\b([ =][^\]\s]+)?|(?:The|and) -` + name + `\b(=\S+)?`).FindStringSubmatch(help)
		if usage == nil {
			return "unknown flag -" + flag
		}
		args = args[1:]
		if takesValue := usage[1]+usage[2] != ""; takesValue && !joined {
			if len(args) == 0 {
				return "no value of -" + flag
			}
			value, args = args[0], args[1:]
		}
		if defect := flagDefect(dir, flag, value, args); defect != "" {
			return defect
		}
	}
	if slices.Contains([]string{"build", "list", "run", "test", "vet", "get", "install"}, name) {
		return packagesDefect(dir, name, args)
	}
	return ""
}

// flagDefect checks the values of flags that name tests, directories or modules.
func flagDefect(dir, flag, value string, packages []string) string {
	switch flag {
	case "run", "bench", "fuzz":
		return testsDefect(dir, value, packages)
	case "replace":
		module, target, _ := strings.Cut(value, "=")
		target = strings.TrimPrefix(strings.TrimPrefix(target, "CLONE"), "/")
		for _, dir := range []string{target, strings.TrimPrefix(strings.TrimPrefix(module, modulePath), "/")} {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
				return "no module in " + dir
			}
		}
	case "require":
		module, _, _ := strings.Cut(value, "@")
		if _, err := os.Stat(filepath.Join(strings.TrimPrefix(strings.TrimPrefix(module, modulePath), "/"), "go.mod")); err != nil {
			return "no module " + module
		}
	}
	return ""
}

// testsDefect checks that a pattern selects a test of the packages.
func testsDefect(dir, pattern string, packages []string) string {
	first, _, _ := strings.Cut(pattern, "/")
	selected, err := regexp.Compile(first)
	if err != nil {
		return err.Error()
	}
	if pattern == "^$" || isPlaceholder(pattern) {
		return ""
	}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)
	for _, dir := range directories(dir, packages) {
		files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
		for _, file := range files {
			source, _ := os.ReadFile(file)
			for _, match := range function.FindAllSubmatch(source, -1) {
				if selected.Match(match[1]) {
					return ""
				}
			}
		}
	}
	return "the packages have no test, benchmark or fuzz target " + pattern
}

// directories returns the directories of packages. The patterns work and ./... stand for
// the root directory.
func directories(dir string, packages []string) (all []string) {
	for _, p := range packages {
		p, _, _ = strings.Cut(p, "@")
		p = strings.TrimSuffix(strings.TrimSuffix(p, "..."), "/")
		if p == "work" {
			p = "."
		}
		if below, ok := strings.CutPrefix(p, modulePath); ok {
			all = append(all, filepath.Join(".", below))
		} else if strings.HasPrefix(p, ".") {
			all = append(all, filepath.Join(dir, p))
		}
	}
	if len(all) == 0 {
		all = []string{dir}
	}
	return all
}

// packagesDefect checks that the packages of a command exist, and that a program that go
// run starts has the flags of the command.
func packagesDefect(dir, name string, args []string) string {
	if name == "run" && len(args) > 1 {
		for _, arg := range args[1:] {
			if strings.HasPrefix(arg, "-") && !hasFlag(directories(dir, args[:1])[0], strings.TrimLeft(arg, "-")) {
				return args[0] + " has no flag " + arg
			}
		}
		args = args[:1]
	}
	for _, arg := range args {
		arg, _, _ = strings.Cut(arg, "@")
		local := arg == modulePath || strings.HasPrefix(arg, modulePath+"/") || strings.HasPrefix(arg, ".")
		if isPlaceholder(arg) || arg == "work" {
			continue
		}
		if !local {
			if host, _, _ := strings.Cut(arg, "/"); !strings.Contains(host, ".") {
				return "unknown package " + arg
			}
			continue
		}
		files, _ := filepath.Glob(filepath.Join(directories(dir, []string{arg})[0], "*.go"))
		if len(files) == 0 && !strings.HasSuffix(arg, "...") {
			return "no package " + arg
		}
		if info, err := os.Stat(directories(dir, []string{arg})[0]); err != nil || !info.IsDir() {
			return "no directory " + arg
		}
	}
	return ""
}

// hasFlag reports whether a file of a program contains the quoted name of a flag.
func hasFlag(dir, flag string) bool {
	flag, _, _ = strings.Cut(flag, "=")
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	return slices.ContainsFunc(files, func(file string) bool {
		source, _ := os.ReadFile(file)
		return strings.Contains(string(source), `"`+flag+`"`)
	})
}

func TestCommandCheckFindsEachDefect(t *testing.T) {
	needsWorkspace(t)
	checker := newCommandChecker(t)
	for _, command := range []string{
		"go run ./examples/quickstart  # a comment",
		"go run ./cmd/toolshelf-mcp -root DIR",
		"GOWORK=off go vet ./...",
		"go -C examples/agents test ./...",
		"go test -run '^$' -bench . -benchmem ./internal/matter && .ci/api -update",
		"go get " + modulePath + "/mcpadapter/gosdk@v0.1.0",
		"go get github.com/bytedance/sonic@v1.15.5",
		"go mod edit -replace " + modulePath + "=CLONE -replace=" + modulePath + "/mcpadapter/gosdk=CLONE/mcpadapter/gosdk",
		"go build -o toolshelf-mcp ./cmd/toolshelf-mcp",
		"git switch main",
	} {
		must.Equal(t, command, "", checker.defect(command))
	}
	for _, command := range []string{
		"go run ./examples/none",
		"go run ./cmd/toolshelf-mcp -rot DIR",
		"go vett ./...",
		"go vet ./none/...",
		"go -C examples/none test ./...",
		"go test -rum '^$' .",
		"go test -run '^TestNone$' .",
		"go test -bench '(' .",
		"go test -fuzz '^FuzzNone$' ./internal/matter",
		"go test -run",
		"go get " + modulePath + "/none",
		"go get toolshelf",
		"go mod edit -replace " + modulePath + "/none=DIR",
		"go mod edit -require=" + modulePath + "/none@v0.1.0",
		"go vet work && go build ./none",
		".ci/none",
		"toolshelf list",
	} {
		if checker.defect(command) == "" {
			t.Errorf("%s: no defect", command)
		}
	}
}
