package toolshelf_test

import (
	"context"
	"fmt"
	"time"

	"github.com/toolshelf-go/toolshelf"
)

func ExampleCommand_Render() {
	review := toolshelf.Command{Content: "Review PR #$1 with priority $2. Leave `awk '{print $1}'` alone."}
	fmt.Println(review.Render("456", "high"))
	fmt.Println(review.Render("456"))

	plan := toolshelf.Command{Content: "Plan the work."}
	fmt.Println(plan.Render("A new login page", "$1"))
	// Output:
	// Review PR #456 with priority high. Leave `awk '{print $1}'` alone. <nil>
	// Review PR #456 with priority $2. Leave `awk '{print $1}'` alone. <nil>
	// Plan the work.
	//
	// ARGUMENTS: A new login page $1 <nil>
}

func ExampleCommand_RenderNamed() {
	fix := toolshelf.Command{Content: "Fix ${input:issue:its number} on $BRANCH, and leave $PATH alone."}
	fmt.Println(fix.RenderNamed(map[string]string{"issue": "7", "BRANCH": "main"}))
	// Output:
	// Fix 7 on main, and leave $PATH alone. <nil>
}

func ExampleRenderer_RenderContext() {
	ctx, cancel := context.WithCancel(context.Background())
	fix := toolshelf.Command{Content: "Fix issue $1."}
	rendering, err := toolshelf.Renderer{}.RenderContext(ctx, fix, "417")
	fmt.Println(rendering.Text, err)

	cancel()
	_, err = toolshelf.Renderer{}.RenderContext(ctx, fix, "417")
	fmt.Println(err)
	// Output:
	// Fix issue 417. <nil>
	// context canceled
}

func ExampleRenderer_RenderNamedContext() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fix := toolshelf.Command{Content: "Fix issue ${input:issue}."}
	rendering, err := toolshelf.Renderer{}.RenderNamedContext(ctx, fix, map[string]string{"issue": "417"})
	fmt.Println(rendering.Text, err)
	// Output:
	// Fix issue 417. <nil>
}

func ExampleRenderer_ArgumentsContext() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	arguments, err := toolshelf.Renderer{}.ArgumentsContext(ctx, toolshelf.Command{Content: "Fix issue ${input:issue}."})
	fmt.Println(len(arguments), arguments[0].Name, err)
	// Output:
	// 1 issue <nil>
}

func ExampleCommand_Arguments() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"commands/fix.md": "---\nargument-hint: <issue> [branch]\n---\nFix $1 on $2, due in ${input:days:how many?} days.\n",
	})))
	defer catalog.Close()
	command, err := catalog.Get(context.Background(), "fix")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, arg := range command.Arguments() {
		fmt.Println(arg.Position, arg.Name, arg.Hint, arg.Required)
	}
	// Output:
	// 1 issue <issue> true
	// 2 branch [branch] false
	// 3 days how many? false
}

func ExampleRenderer() {
	skill := toolshelf.Command{Content: "Migrate $0 from $1 to $2.\n\n    $0 --from $1\n"}
	rendering, err := toolshelf.Renderer{CountFromZero: true}.Render(skill, "SearchBar", "React")
	fmt.Printf("%q %v\n", rendering.Text, err)
	// Output:
	// "Migrate SearchBar from React to $2.\n\n    SearchBar --from React\n" <nil>
}

// This program reads no file, and runs a command only if the text of the command
// contains no text of an argument.
func ExampleRenderer_Render() {
	command := toolshelf.Command{Content: "Status: !`git status --short`\nDiff: !`git diff $1`\nRules: @docs/style.md\n"}
	rendering, err := toolshelf.Renderer{}.Render(command, "main; rm -rf /")
	if err != nil {
		fmt.Println(err)
		return
	}
	text := rendering.Text
	for i := len(rendering.Directives) - 1; i >= 0; i-- { // from the last, so that earlier positions stay valid
		d := rendering.Directives[i]
		if d.Kind == toolshelf.DirectiveShell && !d.FromArguments {
			text = text[:d.Start] + "(the output of " + d.Text + ")" + text[d.End:]
		}
	}
	fmt.Print(text)
	// Output:
	// Status: (the output of git status --short)
	// Diff: !`git diff main; rm -rf /`
	// Rules: @docs/style.md
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
