// Command toolshelf-lint checks the commands and skills of a project, and prints diagnostics in the
// format of compilers, for editors and CI systems:
//
//	path:line:column: severity: message [CODE]
//
// The exit status is 1 if a diagnostic is an error, and 2 if the check fails. With
// -strict, warnings count as errors.
//
//	go run ./cmd/toolshelf-lint [-strict] [DIR]    # DIR defaults to the working directory
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
		fmt.Fprintln(flag.CommandLine.Output(), "usage: lint [-strict] [DIR]    checks the commands and skills of the project in DIR (default: working directory)")
		flag.PrintDefaults()
	}
	strict := flag.Bool("strict", false, "treat warnings as errors")
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

// The usual directories of commands and skills.
var (
	commandDirs = []string{"commands", ".claude/commands"}
	skillDirs   = []string{"skills", ".claude/skills", ".agents/skills"}
)

// lint writes the diagnostics of the project in dir, and reports whether the check failed.
func lint(ctx context.Context, w io.Writer, dir string, strict bool) (failed bool, err error) {
	if _, err := os.ReadDir(dir); err != nil {
		return false, err
	}
	commands, skills := existing(dir, commandDirs), existing(dir, skillDirs)
	if len(commands)+len(skills) == 0 {
		return false, fmt.Errorf("%s has none of the directories %s, %s", dir, strings.Join(commandDirs, ", "), strings.Join(skillDirs, ", "))
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
		// A diagnostic for a whole file gets position 1:1, because some readers require a position.
		d.Path, d.Line, d.Column = filepath.Join(dir, filepath.FromSlash(d.Path)), max(d.Line, 1), max(d.Column, 1)
		if _, err := fmt.Fprintln(w, d); err != nil {
			return failed, err
		}
	}
	return failed, nil
}

// existing returns the names that are directories in dir.
func existing(dir string, names []string) []string {
	var found []string
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			found = append(found, name)
		}
	}
	return found
}
