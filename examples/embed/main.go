// Command embed has default commands in its binary. The commands of a project replace the
// defaults with the same name. The program lists each command with its layer: the directory of
// the project, or the defaults.
//
//	go run ./examples/embed                            # only the defaults
//	go run ./examples/embed examples/sample/project    # a project with a command review-pr of its own
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
	dir := "." // the root of the project
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := run(context.Background(), os.Stdout, dir); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, dir string) error {
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
