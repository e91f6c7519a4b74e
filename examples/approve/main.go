// Command approve shows what a project wants to tell an agent, asks for an approval of each new or
// changed file, and lists what is available then. The approvals are in one file of the user. A
// second run asks only about changes.
//
//	go run ./examples/approve [DIR]    # DIR defaults to the working directory; commands, skills and agents of Claude Code
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/examples/approve/show"
	"github.com/toolshelf-go/toolshelf/trust"
)

func main() {
	log.SetFlags(0)
	config, err := os.UserConfigDir()
	if err == nil {
		err = run(context.Background(), os.Stdin, os.Stdout, filepath.Join(config, "toolshelf-approve", "trust"), append(os.Args, ".")[1])
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer, file, dir string) error {
	store, err := trust.Open(file)
	if err != nil {
		return err // the store allows nothing
	}
	catalog, err := toolshelf.New(toolshelf.WithRoot(dir), toolshelf.WithClient(client.Claude()), toolshelf.WithHome(""), toolshelf.WithGate(store))
	if err != nil {
		return err
	}
	defer catalog.Close()
	pending, err := catalog.Pending(ctx)
	if err != nil {
		return err
	}
	answers := bufio.NewScanner(in)
	for i, p := range pending {
		describe(out, p)
		fmt.Fprintf(out, "[%d of %d] approve %s %s? (y, n, q) ", i+1, len(pending), p.Kind, show.Escape(p.Name))
		quit := !answers.Scan() || answers.Text() == "q"
		fmt.Fprintln(out)
		if quit {
			break
		}
		if answers.Text() != "y" {
			continue
		}
		if err := store.Approve(ctx, p); err != nil { // what describe has shown; the file may have changed since
			return err
		}
	}
	return errors.Join(answers.Err(), available(ctx, out, catalog))
}

// describe writes an entry and its differences from the approved state.
func describe(out io.Writer, p toolshelf.Pending) {
	fmt.Fprintf(out, "== %s %s: %s\n", p.Kind, show.Escape(p.Name), show.Escape(p.Path))
	for _, f := range p.Findings {
		fmt.Fprintf(out, "%s: %s\n", f.Severity, show.Escape(cmp.Or(f.Message, string(f.Code))))
	}
	show.Difference(out, p.Old, p.New)
}

func available(ctx context.Context, out io.Writer, catalog *toolshelf.Catalog) error {
	var lines []string
	for row, err := range catalog.Commands(ctx) {
		if err == nil {
			lines = append(lines, "command "+row.Name)
		} else if !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
			return err
		}
	}
	skills, errSkills := catalog.ListSkills(ctx)
	for _, row := range skills {
		lines = append(lines, "skill "+row.Name)
	}
	agents, errAgents := catalog.ListAgents(ctx)
	for _, row := range agents {
		lines = append(lines, "agent "+row.Name)
	}
	fmt.Fprintln(out, "available:", show.Escape(strings.Join(lines, ", ")))
	return errors.Join(errSkills, errAgents)
}
