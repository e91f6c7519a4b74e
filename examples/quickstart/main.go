// Quickstart shows the library on a project: its commands page by page, a search,
// one of them whole, errors that are handled, its skills, its files.
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
		options = []toolshelf.Option{
			toolshelf.WithRoot(os.Args[1]), toolshelf.WithLooseNames(), // names such as "v1.2 notes" too
			toolshelf.WithCommandsDir(folder(os.Args[1], "commands", ".claude/commands")),
			toolshelf.WithSkillsDir("skills", ".claude/skills"), // the first that has a name wins; either may be missing
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
		fmt.Printf("== Commands, page %d of %d\n", list.Pagination.Page, list.Pagination.TotalPages)
		for _, command := range list.Commands {
			fmt.Printf("%-26s %.90s\n", command.Name, command.Description)
			names = append(names, command.Name)
		}
		if !list.Pagination.HasNext {
			break
		}
		page.Cursor = list.Pagination.NextCursor // files may come and go meanwhile: no row is skipped or repeated
	}
	const query = "find out why a build fails"
	found, err := catalog.Search(ctx, query, 3)
	if err != nil {
		return err
	}
	fmt.Printf("\n== Search for %q, the best of %d\n", query, found.TotalFound)
	for _, hit := range found.Results {
		fmt.Printf("%-26s %.2f %s\n", hit.Name, hit.Score, hit.MatchReason)
	}
	for _, name := range append(names[:min(1, len(names))], "no-such-command", "../secrets") {
		command, err := catalog.Get(ctx, name)
		if err != nil {
			fmt.Printf("\n== %q: %s\n%v\n", name, toolshelf.CodeOf(err), err)
			continue
		}
		fmt.Printf("\n== Command %s, argument hint %q\n%s\n", name, command.Frontmatter.Text("argument-hint"), command.Content)
	}
	skills, err := catalog.ListSkills(ctx)
	if err != nil && !errors.Is(err, toolshelf.ErrDirectoryNotFound) { // a project need not have skills
		return err
	}
	fmt.Println("\n== Skills")
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
