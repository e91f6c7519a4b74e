package toolshelf_test

import (
	"context"
	"fmt"

	"github.com/toolshelf-go/toolshelf"
)

// Lint applies the rules of the reference validator. A catalog lists and loads all
// of these skills.
func ExampleCatalog_Lint_skills() {
	catalog := open(toolshelf.WithCommandsDir(), toolshelf.WithFs(project(map[string]string{
		"skills/pdf/SKILL.md":     "---\nname: PDF\ndescription: Read PDF files.\n---\n",
		"skills/release/SKILL.md": "---\nname: release\ndescription: Cut a release: tag, build, publish.\nallowed_tools: Read\n---\n",
	})))
	defer catalog.Close()
	diagnostics, err := catalog.Lint(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range diagnostics {
		fmt.Printf("%s:%d:%d: %s [%s]\n\t%s\n", d.Path, d.Line, d.Column, d.Severity, d.Code, d.Suggestion)
	}
	// Output:
	// skills/pdf/SKILL.md:2:1: error [SKILL_NAME_MISMATCH]
	// 	write name: pdf
	// skills/pdf/SKILL.md:2:1: error [SKILL_NAME_NOT_LOWERCASE]
	// 	write name: pdf
	// skills/release/SKILL.md:3:1: error [FRONTMATTER_RECOVERED]
	// 	write description: "Cut a release: tag, build, publish."
	// skills/release/SKILL.md:4:1: error [SKILL_FIELD_UNEXPECTED]
	// 	rename the key to allowed-tools
}
