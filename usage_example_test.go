package toolshelf_test

import (
	"context"
	"fmt"
	"log"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// releaseCatalog returns a catalog with a single command.
func releaseCatalog() *toolshelf.Catalog {
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "commands/release.md", []byte("---\nargument-hint: \"<level> [date]\"\n---\nMake a $1 release.\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithFs(fsys))
	if err != nil {
		log.Fatal(err)
	}
	return catalog
}

// A menu lists each command with its arguments.
func ExampleCatalog_ListUsage() {
	catalog := releaseCatalog()
	defer catalog.Close()
	list, err := catalog.ListUsage(context.Background(), toolshelf.Page{}, toolshelf.Renderer{})
	if err != nil {
		log.Fatal(err)
	}
	for _, command := range list.Commands {
		fmt.Print("/", command.Name)
		for _, argument := range command.Arguments {
			fmt.Print(" ", argument.Hint)
		}
		fmt.Println()
	}
	fmt.Println(list.Contains("release"), list.Contains("deploy"))
	// Output:
	// /release <level> [date]
	// true false
}

func ExampleCatalog_AllUsage() {
	catalog := releaseCatalog()
	defer catalog.Close()
	for command, err := range catalog.AllUsage(context.Background(), toolshelf.Renderer{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(command.Name, len(command.Arguments))
	}
	// Output: release 2
}

func ExampleRenderer_ListedArguments() {
	catalog := releaseCatalog()
	defer catalog.Close()
	command, err := catalog.Get(context.Background(), "release")
	if err != nil {
		log.Fatal(err)
	}
	for _, argument := range (toolshelf.Renderer{}).ListedArguments(command) {
		fmt.Println(argument.Position, argument.Name, argument.Required)
	}
	// Output:
	// 1 level true
	// 2 date false
}
