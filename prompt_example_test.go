package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
)

// described is a project of skills and commands for the examples of prompts.
func described() *toolshelf.Catalog {
	return open(toolshelf.WithFs(project(map[string]string{
		"skills/data-analysis/SKILL.md": "---\nname: data-analysis\ndescription: Analyze datasets, generate charts & create summary reports. Use when the user has a table and a question.\n---\n",
		"skills/deploy/SKILL.md":        "---\nname: deploy\ndescription: Deploy to production.\ndisable-model-invocation: true\n---\n",
		"skills/pdf-tools/SKILL.md":     "---\nname: pdf-tools\ndescription: Read and fill PDF forms.\n---\n",
		"commands/review.md":            "---\ndescription: Review a change\n---\nRead the diff.\n",
	})))
}

func ExampleCatalog_SkillsPrompt() {
	c := described()
	defer c.Close()
	skills, err := c.SkillsPrompt(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	instructions := "You are a helpful agent."
	if skills.Text != "" { // with no skill there is no block, and nothing to say about it
		instructions += "\n\nWhen a task matches a skill's description, call activate_skill with its name.\n\n" + skills.Text
	}
	fmt.Println(instructions)
	// Output:
	// You are a helpful agent.
	//
	// When a task matches a skill's description, call activate_skill with its name.
	//
	// <available_skills>
	//   <skill>
	//     <name>data-analysis</name>
	//     <description>Analyze datasets, generate charts &amp; create summary reports. Use when the user has a table and a question.</description>
	//   </skill>
	//   <skill>
	//     <name>pdf-tools</name>
	//     <description>Read and fill PDF forms.</description>
	//   </skill>
	// </available_skills>
}

func ExampleBudget_prompt() {
	c := described()
	defer c.Close()
	for _, characters := range []int{320, 260} {
		skills, err := c.SkillsPrompt(context.Background(), toolshelf.Budget(characters))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(skills.Text)
		fmt.Println("shortened", skills.Shortened, "named", skills.Named, "dropped", skills.Dropped)
	}
	// Output:
	// <available_skills>
	//   <skill>
	//     <name>data-analysis</name>
	//     <description>Analyze datasets, generate charts &amp; create summary reports. Use when the user has a table…</description>
	//   </skill>
	//   <skill>
	//     <name>pdf-tools</name>
	//     <description>Read and fill PDF forms.</description>
	//   </skill>
	// </available_skills>
	// shortened [data-analysis] named [] dropped []
	// <available_skills>
	//   <skill>
	//     <name>data-analysis</name>
	//     <description>Analyze datasets, generate charts &amp; create summary reports. Use when the user has a…</description>
	//   </skill>
	//   <names not_listed="0">
	// pdf-tools
	//   </names>
	// </available_skills>
	// shortened [data-analysis] named [pdf-tools] dropped []
}

func ExamplePromptFirst() {
	c := described()
	defer c.Close()
	pinned := []string{"pdf-tools"} // in the user's settings
	skills, err := c.SkillsPrompt(context.Background(), toolshelf.Budget(260), toolshelf.PromptFirst(pinned...))
	fmt.Println(skills.Included, skills.Named, err)
	// Output:
	// [pdf-tools data-analysis] [data-analysis] <nil>
}

func ExamplePromptFor() {
	c := described()
	defer c.Close()
	task := "Please fill in the attached PDF form."
	skills, err := c.SkillsPrompt(context.Background(), toolshelf.Budget(260), toolshelf.PromptFor(task))
	fmt.Println(skills.Included, skills.Named, err)
	// Output:
	// [pdf-tools data-analysis] [data-analysis] <nil>
}

func ExampleTokens_prompt() {
	c := described()
	defer c.Close()
	tokens := func(text string) int { return len(strings.Fields(text)) } // use your model's tokenizer
	skills, err := c.SkillsPrompt(context.Background(), toolshelf.Tokens(20, tokens))
	fmt.Println(tokens(skills.Text), skills.Included, skills.Shortened, skills.Dropped, err)
	// Output:
	// 20 [data-analysis pdf-tools] [data-analysis] [] <nil>
}

func ExamplePromptLocations() {
	c := described()
	defer c.Close()
	commands, err := c.CommandsPrompt(context.Background(), toolshelf.PromptLocations())
	fmt.Println(commands.Text, err)
	// Output:
	// <available_commands>
	//   <command>
	//     <name>review</name>
	//     <description>Review a change</description>
	//     <location>commands/review.md</location>
	//   </command>
	// </available_commands> <nil>
}

func ExampleCatalog_SkillsPrompt_disabled() {
	c := described()
	defer c.Close()
	disabled := []string{"data-analysis"} // in the user's settings
	view, err := c.View(toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return !slices.Contains(disabled, s.Name) }))
	if err != nil {
		fmt.Println(err)
		return
	}
	skills, err := view.SkillsPrompt(context.Background())
	fmt.Println(skills.Included, err)
	// Output:
	// [pdf-tools] <nil>
}

func ExampleCatalog_CommandsPrompt() {
	c := described()
	defer c.Close()
	commands, err := c.CommandsPrompt(context.Background())
	fmt.Println(commands.Text, err)

	none := open(toolshelf.WithFs(project(nil)), toolshelf.WithCommandsDir("prompts"))
	defer none.Close()
	_, err = none.CommandsPrompt(context.Background())
	fmt.Println(errors.Is(err, toolshelf.ErrDirectoryNotFound))
	// Output:
	// <available_commands>
	//   <command>
	//     <name>review</name>
	//     <description>Review a change</description>
	//   </command>
	// </available_commands> <nil>
	// true
}

func ExampleSkill_Prompt() {
	c := open(toolshelf.WithFs(project(map[string]string{
		"skills/pdf-tools/SKILL.md":           "---\nname: pdf-tools\ndescription: Read and fill PDF forms.\n---\n\n# PDF tools\n\nRun scripts/fill.py.\n",
		"skills/pdf-tools/scripts/fill.py":    "print()\n",
		"skills/pdf-tools/references/form.md": "# Forms\n",
	})))
	defer c.Close()
	skill, err := c.GetSkill(context.Background(), "pdf-tools")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(skill.Prompt())
	// Output:
	// <skill_content name="pdf-tools">
	// # PDF tools
	//
	// Run scripts/fill.py.
	//
	// Skill directory: skills/pdf-tools
	// Relative paths in this skill are relative to the skill directory.
	//
	// <skill_resources>
	//   <file>references/form.md</file>
	//   <file>scripts/fill.py</file>
	// </skill_resources>
	// </skill_content>
}

// The instructions for a file: the AGENTS.md of the root, and the nearest last.
func ExampleCatalog_InstructionsPrompt() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"AGENTS.md":               "Run the tests before you finish. @docs/style.md\n",
		"docs/style.md":           "Write short functions.\n",
		"services/api/AGENTS.md":  "Return errors as JSON.\n",
		".cursor/rules/go.mdc":    "---\nglobs: **/*.go\n---\nUse gofmt.\n",
		".cursor/rules/react.mdc": "---\nglobs: **/*.tsx\n---\nUse hooks.\n",
	})), toolshelf.WithInstructions(client.Cursor()))
	defer catalog.Close()
	prompt, err := catalog.InstructionsPrompt(context.Background(), "services/api/main.go", toolshelf.Imports(4))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(prompt.Text)
	// Output:
	// <project_instructions>
	// <instruction_file path="AGENTS.md">
	// Run the tests before you finish. Write short functions.
	// </instruction_file>
	// <instruction_file path="services/api/AGENTS.md">
	// Return errors as JSON.
	// </instruction_file>
	// <instruction_file path=".cursor/rules/go.mdc">
	// Use gofmt.
	// </instruction_file>
	// </project_instructions>
}

// A program collects what a session uses, compacts the conversation, and restores the last texts.
func ExampleCatalog_RestorePrompt() {
	var used []toolshelf.Item
	files := project(map[string]string{
		"skills/pdf/SKILL.md": "---\ndescription: Fills PDF forms.\n---\nUse pdftk.\n",
		"commands/review.md":  "Review $1.\n",
		"AGENTS.md":           "Write short sentences.\n",
	})
	catalog := open(toolshelf.WithFs(files), toolshelf.WithObserver(func(_ context.Context, e toolshelf.Event) {
		if e.Action == toolshelf.EventLoaded && e.Code == "" {
			used = append(used, toolshelf.Item{Kind: e.Kind, Name: e.Name, Plugin: e.Plugin, Digest: e.Digest})
		}
	}))
	defer catalog.Close()
	ctx := context.Background()
	_, _ = catalog.Instructions(ctx, ".")
	_, _ = catalog.Get(ctx, "review")
	_, _ = catalog.GetSkill(ctx, "pdf")
	_ = afero.WriteFile(files, "commands/review.md", []byte("Review $1 twice.\n"), 0o644)

	tokens := func(text string) int { return len(text) / 4 } // use your model's tokenizer
	restored, err := catalog.RestorePrompt(ctx, used, toolshelf.Tokens(25_000, tokens), toolshelf.PromptEach(5000))
	fmt.Println(restored.Text, err)
	// Output:
	// <used_texts>
	// <skill_content name="pdf">
	// Use pdftk.
	//
	// Skill directory: skills/pdf
	// Relative paths in this skill are relative to the skill directory.
	// </skill_content>
	// <!-- the command review has changed since its use; this is the new text -->
	// <command_content name="review">
	// Review $1 twice.
	// </command_content>
	// <instruction_file path="AGENTS.md">
	// Write short sentences.
	// </instruction_file>
	// </used_texts> <nil>
}

func ExamplePromptEach() {
	catalog := open(toolshelf.WithFs(project(map[string]string{"commands/long.md": strings.Repeat("word ", 100), "commands/short.md": "Brief.\n"})))
	defer catalog.Close()
	used := []toolshelf.Item{{Kind: toolshelf.KindCommand, Name: "short"}, {Kind: toolshelf.KindCommand, Name: "gone"}, {Kind: toolshelf.KindCommand, Name: "long"}}
	restored, err := catalog.RestorePrompt(context.Background(), used, toolshelf.PromptEach(20))
	fmt.Println(restored.Text, restored.Shortened, err)
	// Output:
	// <used_texts>
	// <command_content name="long">
	// word word word word…
	// </command_content>
	// <!-- the command gone does not exist any more -->
	// <command_content name="short">
	// Brief.
	// </command_content>
	// </used_texts> [long] <nil>
}
