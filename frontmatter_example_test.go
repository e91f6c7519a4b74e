package toolshelf_test

import (
	"context"
	"fmt"

	"github.com/toolshelf-go/toolshelf"
)

func ExampleFrontmatter() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"commands/deploy.md": "---\nallowed-tools: [Read, Bash]\nhide: yes\nmodel:\n---\nDeploy.\n",
	})))
	defer catalog.Close()
	command, err := catalog.Get(context.Background(), "deploy")
	if err != nil {
		fmt.Println(err)
		return
	}
	fields := command.Frontmatter
	fmt.Printf("%q\n", fields.List("allowed-tools"))
	fmt.Println(fields.Bool("hide"))
	fmt.Println(fields.Bool("draft"))
	fmt.Println(fields.Has("model"), fields.Has("draft"))
	// Output:
	// ["Read" "Bash"]
	// true true
	// false false
	// true false
}
