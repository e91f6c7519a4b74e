// Quickstart shows the library on a project: its commands page by page, one
// of them whole, its skills, its files, and errors that are handled.
//
//	go run ./examples/quickstart        # a sample project that is built in
//	go run ./examples/quickstart DIR    # a folder of yours
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/spf13/afero"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/examples/sample"
)

func main() {
	log.SetFlags(0)
	options := []toolshelf.Option{toolshelf.WithFs(afero.FromIOFS{FS: sample.FS()})}
	if len(os.Args) > 1 {
		dir := os.Args[1]
		log.SetPrefix(dir + ": ") // layers are named below it
		options = []toolshelf.Option{
			toolshelf.WithRoot(dir),
			toolshelf.WithCommandsDir(folder(dir, "commands", ".claude/commands")),
			toolshelf.WithSkillsDir(folder(dir, "skills", ".claude/skills")),
			toolshelf.WithLooseNames(), // names such as "v1.2 notes" too
		}
	}
	if err := run(context.Background(), append(options, toolshelf.WithNestedCommands())); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, options []toolshelf.Option) error {
	catalog, err := toolshelf.New(options...)
	if err != nil {
		return err
	}
	defer catalog.Close()
	var names []string
	for page := (toolshelf.Page{Size: 20}); ; {
		list, err := catalog.List(ctx, page)
		if err != nil {
			return err
		}
		p := list.Pagination
		fmt.Printf("== Commands, page %d of %d (%d in all)\n", p.Page, p.TotalPages, p.Total)
		for _, command := range list.Commands {
			fmt.Printf("%-26s %.90s\n", command.Name, command.Description)
			names = append(names, command.Name)
		}
		if !p.HasNext {
			break
		}
		page.Cursor = p.NextCursor // files may come and go meanwhile: no row is skipped or repeated
	}

	for _, name := range append(names[:min(1, len(names))], "no-such-command", "../secrets") {
		switch command, err := catalog.Get(ctx, name); {
		case errors.Is(err, toolshelf.ErrCommandNotFound):
			fmt.Printf("\n== %q is not there\n%v\n", name, err)
		case err != nil:
			fmt.Printf("\n== %q cannot be had: %s\n%v\n", name, toolshelf.CodeOf(err), err)
		default:
			fmt.Printf("\n== Command %s, argument hint %q\n%s\n", name, command.Frontmatter.Text("argument-hint"), command.Content)
		}
	}

	skills, err := catalog.ListSkills(ctx)
	if err != nil {
		return err
	}
	fmt.Println("== Skills")
	for _, skill := range skills {
		fmt.Printf("%-26s %.90q\n", skill.Name, skill.Description)
	}

	listing, err := catalog.ListDir(ctx, ".")
	if err != nil {
		return err
	}
	fmt.Printf("\n== Files\n%s\n", listing)
	return nil
}

// folder returns the first of the names that is a folder in dir, else dir itself.
func folder(dir string, names ...string) string {
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			return name
		}
	}
	return "."
}
