// Command watch prints a line for each change of the commands and skills of a project, until
// an interrupt. Edit, add and remove files below commands and skills to see the lines.
//
//	go run ./examples/watch [DIR]    # DIR defaults to the working directory; try a copy of examples/sample/project
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"

	"github.com/toolshelf-go/toolshelf"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, append(os.Args, ".")[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, dir string) error {
	catalog, err := toolshelf.New(toolshelf.WithRoot(dir), toolshelf.WithNestedCommands(), toolshelf.WithWatch())
	if err != nil {
		return err
	}
	defer catalog.Close()
	if _, err := catalog.Stat(ctx, "."); err != nil {
		return err // the root is missing; commands and skills may come later
	}
	changes := make(chan toolshelf.Change)
	stop := catalog.OnChange(func(c toolshelf.Change) {
		select {
		case changes <- c:
		case <-ctx.Done():
		}
	})
	defer stop()
	for status := "watching"; ; {
		total, err := count(ctx, catalog)
		if ctx.Err() != nil {
			return nil // an interrupt is not a failure
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s (commands: %d)\n", status, total); err != nil {
			return err
		}
		select {
		case c := <-changes:
			status = strings.TrimSpace(describe("command", c.Commands) + describe("skill", c.Skills))
		case <-ctx.Done():
			return nil
		}
	}
}

// count returns the number of commands. After a change, List never returns an earlier state.
func count(ctx context.Context, catalog *toolshelf.Catalog) (int, error) {
	list, err := catalog.List(ctx, toolshelf.Page{Size: 1})
	if errors.Is(err, toolshelf.ErrDirectoryNotFound) {
		return 0, nil
	}
	return list.Pagination.Total, err
}

func describe(kind string, names toolshelf.Names) string {
	var b strings.Builder
	for _, part := range []struct {
		verb  string
		names []string
	}{{"added", names.Added}, {"changed", names.Changed}, {"removed", names.Removed}} {
		for _, name := range part.names {
			fmt.Fprintf(&b, " %s %s %s", part.verb, kind, name)
		}
	}
	return b.String()
}
