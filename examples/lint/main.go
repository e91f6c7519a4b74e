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
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/toolshelf-go/toolshelf"
)

func main() {
	strict := flag.Bool("strict", false, "fail for warnings too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir := "."
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	failed, err := lint(ctx, os.Stdout, dir, *strict)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}

// lint writes the diagnostics of the project in dir, and reports whether it
// failed.
func lint(ctx context.Context, w io.Writer, dir string, strict bool) (failed bool, err error) {
	commands, skills := present(dir, "commands", ".claude/commands"), present(dir, "skills", ".claude/skills")
	if len(commands)+len(skills) == 0 {
		return false, errors.New(dir + " has no commands, .claude/commands, skills or .claude/skills")
	}
	catalog, err := toolshelf.New(toolshelf.WithRoot(dir), toolshelf.WithNestedCommands(),
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
		failed = failed || strict || d.Severity == "error"
		message := d.Message
		if d.Suggestion != "" {
			message += "; " + d.Suggestion
		}
		// A file as a whole is at its first character, which every reader of this format takes.
		_, err := fmt.Fprintf(w, "%s:%d:%d: %s: %s [%s]\n", filepath.Join(dir, filepath.FromSlash(d.Path)),
			max(d.Line, 1), max(d.Column, 1), d.Severity, message, d.Code)
		if err != nil {
			return failed, err
		}
	}
	return failed, nil
}

// present returns those of the folders that dir has.
func present(dir string, folders ...string) []string {
	var found []string
	for _, folder := range folders {
		if info, err := os.Stat(filepath.Join(dir, folder)); err == nil && info.IsDir() {
			found = append(found, folder)
		}
	}
	return found
}
