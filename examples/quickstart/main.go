// Command quickstart shows a project with toolshelf: the commands page by page, a
// search, the content of one command, handled errors, the skills and the files.
//
//	go run ./examples/quickstart        # an embedded sample project
//	go run ./examples/quickstart DIR    # your own project
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
			toolshelf.WithRoot(os.Args[1]), toolshelf.WithLooseNames(), // also accept names such as "v1.2 notes"
			toolshelf.WithCommandsDir(firstDir(os.Args[1], "commands", ".claude/commands")),
			toolshelf.WithSkillsDir("skills", ".claude/skills"), // the first directory takes precedence
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
		page.Cursor = list.Pagination.NextCursor // skips and repeats no row, even if files change
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
	if err != nil && !errors.Is(err, toolshelf.ErrDirectoryNotFound) { // a project without skills is fine
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

// firstDir returns the first subdirectory of dir, or "." if dir has no subdirectory.
func firstDir(dir string, names ...string) string {
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			return name
		}
	}
	return "."
}
