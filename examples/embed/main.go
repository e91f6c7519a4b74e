// Command embed has default commands in its binary. The commands of a project replace the defaults
// with the same name. The program lists each command with its layer: the directory of the project,
// or the defaults. With a line such as "/review-pr 417", the program prints the text of the
// command.
//
//	go run ./examples/embed                            # only the defaults
//	go run ./examples/embed examples/sample/project    # a project with a command review-pr of its own
//	go run ./examples/embed . "/review-pr 417"         # the text of a command
package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"

	"github.com/toolshelf-go/toolshelf"
)

//go:embed defaults
var files embed.FS

func main() {
	log.SetFlags(0)
	args := []string{".", ""} // the root of the project, and a line
	copy(args, os.Args[1:])
	if err := run(context.Background(), os.Stdout, args[0], args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, dir, line string) error {
	defaults, err := fs.Sub(files, "defaults")
	if err != nil {
		return err
	}
	catalog, err := toolshelf.New(
		toolshelf.WithRoot(dir), // the directory commands of the project takes precedence
		toolshelf.WithNestedCommands(),
		toolshelf.WithCommandsFS("defaults", defaults), // for skills: WithSkillsFS
	)
	if err != nil {
		return err
	}
	defer catalog.Close()
	if line != "" {
		x, err := catalog.Expand(ctx, line)
		if err == nil {
			_, err = fmt.Fprint(w, x.Text)
		}
		return err
	}
	for info, err := range catalog.All(ctx) {
		if err != nil {
			return err
		}
		command, err := catalog.Get(ctx, info.Name)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%-10s %-26s %.80s\n", command.Layer, command.Name, info.Description); err != nil {
			return err
		}
	}
	return nil
}
