// Command lint checks the commands and skills of a project and prints what is
// wrong as a compiler does, so that editors and CI systems can read it:
//
//	path:line:column: severity: message [CODE]
//
// It exits with 1 if there is an error, and with 2 if it could not look. With
// -strict a warning counts as an error.
//
//	go run ./examples/lint [-strict] [DIR]    # the working directory without DIR
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/toolshelf-go/toolshelf"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: lint [-strict] [DIR]    checks the commands and skills of the project in DIR, or here")
		flag.PrintDefaults()
	}
	strict := flag.Bool("strict", false, "fail for warnings too")
	flag.Parse()
	if flag.NArg() > 1 {
		flag.Usage()
		os.Exit(2)
	}
	dir := "."
	if flag.NArg() == 1 {
		dir = flag.Arg(0)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed, err := lint(ctx, os.Stdout, dir, *strict)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}

// Where projects have their commands and skills.
var (
	commandFolders = []string{"commands", ".claude/commands"}
	skillFolders   = []string{"skills", ".claude/skills", ".agents/skills"}
)

// lint writes the diagnostics of the project in dir, and reports whether it
// failed.
func lint(ctx context.Context, w io.Writer, dir string, strict bool) (failed bool, err error) {
	if _, err := os.ReadDir(dir); err != nil {
		return false, err
	}
	commands, skills := present(dir, commandFolders), present(dir, skillFolders)
	if len(commands)+len(skills) == 0 {
		return false, fmt.Errorf("%s has none of %s, %s", dir, strings.Join(commandFolders, ", "), strings.Join(skillFolders, ", "))
	}
	catalog, err := toolshelf.New(toolshelf.WithRoot(dir), toolshelf.WithNestedCommands(), toolshelf.WithSkillDepth(4),
		toolshelf.WithCommandsDir(commands...), toolshelf.WithSkillsDir(skills...))
	if err != nil {
		return false, err
	}
	defer catalog.Close()
	diagnostics, err := catalog.Lint(ctx)
	if err != nil {
		return false, err
	}
	for _, d := range diagnostics {
		failed = failed || strict || d.Severity == toolshelf.SeverityError
		// A file as a whole is at its first character, which every reader of this format takes.
		d.Path, d.Line, d.Column = filepath.Join(dir, filepath.FromSlash(d.Path)), max(d.Line, 1), max(d.Column, 1)
		if _, err := fmt.Fprintln(w, d); err != nil {
			return failed, err
		}
	}
	return failed, nil
}

// present returns those of the folders that dir has.
func present(dir string, folders []string) []string {
	var found []string
	for _, folder := range folders {
		if info, err := os.Stat(filepath.Join(dir, folder)); err == nil && info.IsDir() {
			found = append(found, folder)
		}
	}
	return found
}
