package main

import (
	"bufio"
	"embed"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/module"
)

// programs has the source of a program for each module that is a library. The program prints the
// text of the comment after its code.
//
//go:embed testdata
var programs embed.FS

// installed are the programs of the repository that people install, with arguments, standard input
// and a part of the output, in which VERSION is the version.
var installed = []struct {
	pkg, stdin, output string
	args               []string
}{
	{pkg: "cmd/toolshelf-lint", args: []string{"-version"}, output: "VERSION"},
	{
		pkg: "cmd/toolshelf-mcp", args: []string{"-root", "examples/sample/project"},
		stdin: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
			`"capabilities":{},"clientInfo":{"name":"release","version":"1"}}}` + "\n",
		output: `"serverInfo":{"name":"toolshelf-mcp","version":"VERSION"}`,
	},
	{
		pkg: "stores/fleet", args: []string{"-stable", "40", "-volatile", "20"},
		output: "each of the 40 prompts once",
	},
}

// environment sets the environment of the go commands of a program. In the working tree, all
// programs share one cache.
func (s *stage) environment(shared bool) error {
	proxies, err := output("", nil, "go", "env", "GOPROXY")
	if err != nil {
		return err
	}
	s.env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-trimpath -modcacherw", "GOPRIVATE=",
		"GONOSUMDB="+repository,
		// Without "direct", the go command reaches only the proxies.
		"GOPROXY=file://"+filepath.ToSlash(s.proxy)+","+strings.TrimSuffix(strings.TrimSpace(string(proxies)), ",direct"))
	if shared {
		return s.shareCache()
	}
	s.newCache("checks")
	return nil
}

// newCache uses an empty module cache.
func (s *stage) newCache(name string) {
	s.env = append(s.env, "GOMODCACHE="+filepath.Join(s.temp, "cache", name))
}

// shareCache uses a module cache that links to the cache of the user, except for the modules of the
// repository.
func (s *stage) shareCache() error {
	users, err := output("", nil, "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	s.newCache("shared")
	link := func(name string) error {
		from := filepath.Join(strings.TrimSpace(string(users)), name)
		to := filepath.Join(s.temp, "cache/shared", name)
		if err := errors.Join(os.MkdirAll(from, 0o755), os.MkdirAll(filepath.Dir(to), 0o755)); err != nil {
			return err
		}
		if err := os.Symlink(from, to); !errors.Is(err, os.ErrExist) {
			return err
		}
		return nil
	}
	if err := link("cache/download/sumdb"); err != nil {
		return err
	}
	for _, m := range s.modules {
		sums, err := os.ReadFile(filepath.Join(s.tree, m.dir, "go.sum"))
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(sums)) {
			name, _, _ := strings.Cut(line, " ")
			if ours(name) {
				continue
			}
			name, err = module.EscapePath(name)
			if err != nil {
				return err
			}
			// Links lead to the directories of hosts, and of the owners at github.com. A link is
			// never the directory of a module, which the go command would not walk.
			host, rest, _ := strings.Cut(name, "/")
			if host == "github.com" {
				owner, repository, _ := strings.Cut(rest, "/")
				host, rest = path.Join(host, owner), repository
			}
			err := link("cache/download/" + host)
			if err == nil && rest != "" {
				err = link(host)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// checkModules checks that the go.mod and go.sum files are complete without the workspace. In the
// working tree, .ci/agents checks the examples with a workspace of their own, which require many
// modules.
func (s *stage) checkModules(shared bool) error {
	for _, m := range s.modules {
		dir := filepath.Join(s.tree, m.dir)
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil && m.dir != "." && shared {
			continue
		}
		fmt.Printf("go mod tidy -diff in %s\n", m.dir)
		if _, err := output(dir, s.env, "go", "mod", "tidy", "-diff"); err != nil {
			return fmt.Errorf("%s: %w", m.dir, err)
		}
	}
	return nil
}

// runPrograms fetches, builds and runs a program for each module.
func (s *stage) runPrograms(shared bool) error {
	sources, err := programs.ReadDir("testdata")
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, source := range sources {
		if !shared {
			s.newCache(source.Name())
		}
		if err := s.runProgram(source.Name(), used); err != nil {
			return fmt.Errorf("program %s: %w", source.Name(), err)
		}
	}
	for _, p := range installed {
		used[p.pkg] = true
		if !shared {
			s.newCache(path.Base(p.pkg))
		}
		bin := filepath.Join(s.temp, "bin")
		env := append(s.env, "GOBIN="+bin)
		pkg := path.Join(repository, p.pkg) + "@" + s.version
		fmt.Println("go install " + pkg)
		if _, err := output(s.temp, env, "go", "install", pkg); err != nil {
			return err
		}
		got, err := ask(s.tree, filepath.Join(bin, path.Base(p.pkg)), p.args, p.stdin)
		if err != nil {
			return err
		}
		if want := strings.ReplaceAll(p.output, "VERSION", s.version); !strings.Contains(string(got), want) {
			return fmt.Errorf("%s: the output does not contain %s:\n%s", p.pkg, want, got)
		}
	}
	for _, m := range s.modules {
		if m.released && !used[m.dir] {
			return fmt.Errorf("%s: no program uses the module; add a program to internal/dev/release", m.dir)
		}
	}
	return nil
}

// ask runs a program in a directory, and returns its output. The standard input ends after the
// first line of the output.
func ask(dir, program string, args []string, question string) ([]byte, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_, err = io.WriteString(stdin, question)
	reader := bufio.NewReader(stdout)
	first, _ := reader.ReadBytes('\n')
	stdin.Close()
	rest, _ := io.ReadAll(reader)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", cmd, err, first, rest)
	}
	return append(first, rest...), nil
}

// runProgram fetches the packages of the repository that a program imports, and compares the output
// of the program.
func (s *stage) runProgram(name string, used map[string]bool) error {
	source, err := programs.ReadFile("testdata/" + name)
	if err != nil {
		return err
	}
	dir := filepath.Join(s.temp, "programs", strings.TrimSuffix(name, ".go"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), source, 0o644); err != nil {
		return err
	}
	if _, err := output(dir, s.env, "go", "mod", "init", "example"); err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
	if err != nil {
		return err
	}
	get := []string{"get"}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err == nil && ours(imported) {
			get = append(get, imported+"@"+s.version)
			used[path.Join(".", strings.TrimPrefix(imported, repository))] = true
		}
	}
	fmt.Println("go " + strings.Join(get, " "))
	if _, err := output(dir, s.env, "go", get...); err != nil {
		return err
	}
	got, err := output(dir, s.env, "go", "run", ".")
	if err != nil {
		return err
	}
	if _, want, _ := strings.Cut(string(source), "\n// Output: "); string(got) != want {
		return fmt.Errorf("the output is %q, want %q", got, want)
	}
	return nil
}

// runInWorkspace runs a command in each module of go.work.
func (s *stage) runInWorkspace(args []string) error {
	if len(args) == 0 {
		return nil
	}
	dirs, err := output(s.tree, append(s.env, "GOWORK="), "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return err
	}
	for dir := range strings.Lines(string(dirs)) {
		fmt.Printf("%s in %s", strings.Join(args, " "), dir)
		if err := command(strings.TrimSpace(dir), s.env, args[0], args[1:]...); err != nil {
			return err
		}
	}
	return nil
}
