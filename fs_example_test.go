package toolshelf_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolshelf-go/toolshelf"
)

// source is the project that the examples list.
func source() *toolshelf.Catalog {
	return open(toolshelf.WithFs(project(map[string]string{
		"src/main.go":      "package main\n",
		"src/build.log":    "ok\n",
		"src/.env":         "SECRET=1\n",
		"src/.gitignore":   "*.log\n",
		"src/tools/fmt.go": "package tools\n\n// Format does what its name says.\nfunc Format() {}\n",
		"README.md":        "# Project\n",
	})))
}

func ExampleCatalog_ListDir() {
	c := source()
	defer c.Close()
	listing, err := c.ListDir(context.Background(), "src")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(listing)
	fmt.Println(listing.Entries[1].Name, listing.Entries[1].Size)

	_, err = c.ListDir(context.Background(), "../elsewhere")
	fmt.Println(errors.Is(err, toolshelf.ErrOutsideRoot))
	// Output:
	// Directory: src/
	// Total: 2 files, 1 directory
	//
	// [DIR]  tools/
	// [FILE] build.log  (3 B)
	// [FILE] main.go    (13 B)
	// build.log 3
	// true
}

func ExampleCatalog_Stat() {
	c := source()
	defer c.Close()
	info, err := c.Stat(context.Background(), "src/tools/fmt.go")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(info.Type, info.Size)
	_, err = c.Stat(context.Background(), "src/tools/fnt.go")
	fmt.Println(err)
	// Output:
	// file 67
	// toolshelf: Stat: File 'src/tools/fnt.go' not found (did you mean 'src/tools/fmt.go'?) (NOT_FOUND)
}

func ExampleCatalog_Tree() {
	c := source()
	defer c.Close()
	tree, err := c.Tree(context.Background(), ".", toolshelf.Exclude("*.log"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tree)
	// Output:
	// Directory tree: ./
	//
	// Excluding: *.log
	//
	// [DIR]  src/
	//   [DIR]  tools/
	//     [FILE] fmt.go (67 B)
	//   [FILE] main.go (13 B)
	// [FILE] README.md (10 B)
}

func ExampleCatalog_FindFiles() {
	c := source()
	defer c.Close()
	matches, err := c.FindFiles(context.Background(), ".", "**/*.go")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(matches)
	_, err = c.FindFiles(context.Background(), ".", "[")
	fmt.Println(toolshelf.CodeOf(err))
	// Output:
	// Found 2 files matching '**/*.go':
	//
	//   src/tools/fmt.go
	//   src/main.go
	// INVALID_PATTERN
}

func printEntries(opts ...toolshelf.DirOption) {
	c := source()
	defer c.Close()
	listing, err := c.ListDir(context.Background(), "src", opts...)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range listing.Entries {
		fmt.Println(e.Type, e.Name)
	}
}

func ExampleShowHidden() {
	printEntries(toolshelf.ShowHidden())
	// Output:
	// directory tools
	// file .env
	// file .gitignore
	// file build.log
	// file main.go
}

func ExampleSortedBy() {
	printEntries(toolshelf.SortedBy(toolshelf.BySize))
	// Output:
	// directory tools
	// file main.go
	// file build.log
}

func ExampleExclude() {
	printEntries(toolshelf.Exclude("tools", "*.log"))
	// Output:
	// file main.go
}

func ExampleGitignore() {
	printEntries(toolshelf.Gitignore())
	// Output:
	// directory tools
	// file main.go
}

func ExampleBudget() {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("page%02d.html", i)] = ""
		files[fmt.Sprintf("assets/image%02d.png", i)] = ""
		files[fmt.Sprintf("scripts/step%02d.js", i)] = ""
	}
	c := open(toolshelf.WithFs(project(files)))
	defer c.Close()
	tree, err := c.Tree(context.Background(), ".", toolshelf.Budget(360))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tree)
	// Output:
	// Directory tree: ./
	//
	// [DIR]  assets/
	//   [FILE] image00.png (0 B)
	//   … and 49 more
	// [DIR]  scripts/
	//   [FILE] step00.js (0 B)
	//   … and 49 more
	// [FILE] page00.html (0 B)
	// [FILE] page01.html (0 B)
	// [FILE] page02.html (0 B)
	// [FILE] page03.html (0 B)
	// [FILE] page04.html (0 B)
	// … and 45 more
	//
	// Cut at 360 characters; raise this limit, or give the path of a subdirectory
}

func ExampleBudgetTokens() {
	c := source()
	defer c.Close()
	estimate := func(text string) int { return len(text) / 4 } // or the tokenizer of your model
	found, err := c.FindFiles(context.Background(), ".", "*", toolshelf.BudgetTokens(20, estimate))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found)
	// Output:
	// Found 4 files matching '*':
	//
	//   src/tools/fmt.go
	//   src/build.log
	//   … and 2 more
}

func ExampleWithoutSizes() {
	c := source()
	defer c.Close()
	tree, err := c.Tree(context.Background(), "src", toolshelf.WithoutSizes())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tree)
	// Output:
	// Directory tree: src/
	//
	// [DIR]  tools/
	//   [FILE] fmt.go
	// [FILE] build.log
	// [FILE] main.go
}

func ExampleWithProgress() {
	c := source()
	defer c.Close()
	tree, err := c.Tree(context.Background(), ".", toolshelf.WithProgress(func(p toolshelf.Progress) {
		if p.Done {
			fmt.Println("read", p.Entries, "entries")
		} else {
			fmt.Print(p.Entries, " entries so far\r")
		}
	}))
	fmt.Println(tree.Files, "files", err)
	// Output:
	// read 8 entries
	// 4 files <nil>
}

func ExampleSkipDependencies() {
	c := open(toolshelf.WithFs(project(map[string]string{
		"main.js":                        "require('left-pad')\n",
		"node_modules/left-pad/index.js": "",
		"node_modules/.bin/eslint":       "",
		".gitignore":                     "node_modules/\n",
	})))
	defer c.Close()
	tree, err := c.Tree(context.Background(), ".", toolshelf.SkipDependencies(), toolshelf.Gitignore())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tree)
	// Output:
	// Directory tree: ./
	//
	// [DIR]  node_modules/ (2 entries)
	// [FILE] main.js (20 B)
}

func ExampleAfter() {
	c := source()
	defer c.Close()
	cursor := ""
	for {
		page, err := c.ListDir(context.Background(), "src", toolshelf.Limit(2), toolshelf.After(cursor))
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, e := range page.Entries {
			fmt.Println(e.Name)
		}
		if cursor = page.NextCursor; cursor == "" {
			return
		}
		fmt.Println("of", page.Files+page.Dirs)
	}
	// Output:
	// tools
	// build.log
	// of 3
	// main.go
}

func ExampleLimit() {
	printEntries(toolshelf.Limit(1))
	// Output:
	// directory tools
}

func ExampleMaxDepth() {
	c := source()
	defer c.Close()
	tree, err := c.Tree(context.Background(), ".", toolshelf.MaxDepth(1))
	fmt.Println(len(tree.Children), tree.Children[0].Name, tree.Children[0].Children, err)
	// Output:
	// 2 src [] <nil>
}

func ExampleCatalog_RelativePath() {
	c := open(toolshelf.WithFs(project(map[string]string{
		"srv/app/commands/review.md": "Read the diff.\n",
		"srv/shared/greet.md":        "Say hello.\n",
	})), toolshelf.WithRoot("srv/app"), toolshelf.WithCommandsDir("commands", "../shared"))
	defer c.Close()
	fmt.Println("root", c.Root())
	for _, name := range []string{"review", "greet"} {
		command, err := c.Get(context.Background(), name)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(command.Metadata.Path, "is", c.RelativePath(command.Layer, command.Metadata.Path))
	}
	// Output:
	// root srv/app
	// srv/app/commands/review.md is commands/review.md
	// srv/shared/greet.md is ../shared/greet.md
}
