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

func ExampleRenderer_Arguments() {
	skill := toolshelf.Command{Content: "Migrate $0 from $1 to ${input:target:which framework?}.\n"}
	renderer := toolshelf.Renderer{CountFromZero: true}
	values := map[string]string{}
	for i, arg := range renderer.Arguments(skill) {
		fmt.Println(arg.Position, arg.Name)
		values[arg.Name] = []string{"SearchBar", "React", "Vue"}[i]
	}
	rendering, err := renderer.RenderNamed(skill, values)
	fmt.Printf("%q %v\n", rendering.Text, err)
	// Output:
	// 1 0
	// 2 1
	// 3 target
	// "Migrate SearchBar from React to Vue.\n" <nil>
}
