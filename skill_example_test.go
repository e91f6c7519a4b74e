package toolshelf_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
)

var pdfSkill = map[string]string{
	"skills/pdf/SKILL.md":            "---\nname: pdf\ndescription: Fills PDF forms.\nx-team: docs\n---\nRun scripts/fill.py.\n",
	"skills/pdf/scripts/fill.py":     "print('filled')\n",
	"skills/pdf/references/forms.md": "# Forms\n",
}

func ExampleSkill_Render() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"/app/.claude/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Fill PDF forms\n---\nRun ${CLAUDE_SKILL_DIR}/fill.py on $0 with $1.\n",
	})), toolshelf.WithRoot("/app"), toolshelf.WithClient(client.Claude()), toolshelf.WithHome(""))
	defer catalog.Close()
	skill, err := catalog.GetSkill(context.Background(), "pdf")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := skill.Render("form.pdf", "the values of May")
	fmt.Print(filepath.ToSlash(text), err)
	// Output:
	// Run /app/.claude/skills/pdf/fill.py on form.pdf with the values of May.
	// <nil>
}

func ExampleCatalog_GetSkill() {
	catalog := open(toolshelf.WithFs(project(pdfSkill)))
	defer catalog.Close()
	skill, err := catalog.GetSkill(context.Background(), "pdf")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %s\n%s", skill.Name, skill.Description, skill.Content)
	for _, f := range skill.Files {
		fmt.Println(f.Size, f.Path)
	}
	frontmatter, _ := json.Marshal(skill.Frontmatter)
	fmt.Printf("%s\n", frontmatter)
	// Output:
	// pdf: Fills PDF forms.
	// Run scripts/fill.py.
	// 82 SKILL.md
	// 8 references/forms.md
	// 16 scripts/fill.py
	// {"name":"pdf","description":"Fills PDF forms.","x-team":"docs"}
}

// A loader keeps the texts of all skills, and tells the user which skills it could not load.
func ExampleCatalog_Skills() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"skills/pdf/SKILL.md":  "---\nname: pdf\ndescription: Fills PDF forms.\n---\nRun scripts/fill.py.\n",
		"skills/cache/old.pyc": "",
	})))
	defer catalog.Close()
	for skill, err := range catalog.Skills(context.Background()) {
		switch {
		case err != nil:
			fmt.Println(err)
		case !skill.Loadable:
			fmt.Println(skill.Name, "skipped:", skill.Diagnostics[0].Message)
		default:
			fmt.Printf("%s: %s", skill.Name, skill.Content)
		}
	}
	// Output:
	// cache skipped: the directory has no SKILL.md
	// pdf: Run scripts/fill.py.
}

func ExampleCatalog_Commands() {
	catalog := open(toolshelf.WithFs(project(map[string]string{"commands/review.md": "Review $1.\n", "commands/test.md": "Run the tests.\n"})))
	defer catalog.Close()
	for command, err := range catalog.Commands(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("/%s: %s", command.Name, command.Content)
	}
	// Output:
	// /review: Review $1.
	// /test: Run the tests.
}

func ExampleDigests() {
	catalog := open(toolshelf.WithFs(project(pdfSkill)))
	defer catalog.Close()
	skill, err := catalog.GetSkill(context.Background(), "pdf", toolshelf.Digests())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range skill.Files {
		fmt.Println(f.SHA256[:8], f.Path)
	}
	// Output:
	// 1089edbf SKILL.md
	// 111198a6 references/forms.md
	// 9907f189 scripts/fill.py
}

func ExampleCatalog_ReadSkillFile() {
	catalog := open(toolshelf.WithFs(project(pdfSkill)))
	defer catalog.Close()
	text, err := catalog.ReadSkillFile(context.Background(), "pdf", "scripts/fill.py")
	fmt.Printf("%s%v\n", text, err)
	_, err = catalog.ReadSkillFile(context.Background(), "pdf", "../../.env")
	fmt.Println(errors.Is(err, toolshelf.ErrOutsideRoot))
	// Output:
	// print('filled')
	// <nil>
	// true
}

func ExampleSkill_FS() {
	catalog := open(toolshelf.WithFs(project(pdfSkill)))
	defer catalog.Close()
	skill, err := catalog.GetSkill(context.Background(), "pdf")
	if err != nil {
		fmt.Println(err)
		return
	}
	scripts, err := fs.Glob(skill.FS(), "scripts/*.py")
	fmt.Println(scripts, err)
	_, err = fs.ReadFile(skill.FS(), "nothing.md")
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output:
	// [scripts/fill.py] <nil>
	// true
}

func ExampleCatalog_View() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"commands/deploy.md": "Deploy.", "commands/review.md": "Review.", "commands/plan.md": "Plan.",
	})))
	defer catalog.Close()

	reviewer, err := catalog.View(toolshelf.WithCommandFilter(func(c toolshelf.CommandInfo) bool {
		return slices.Contains([]string{"review", "plan"}, c.Name)
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reviewer.Close()
	printNames(reviewer)
	_, err = reviewer.Get(context.Background(), "deploy")
	fmt.Println(errors.Is(err, toolshelf.ErrCommandNotFound))
	// Output:
	// plan
	// review
	// true
}

// The website has its own skill to deploy, and a skill to check styles.
func ExampleCatalog_ListSkillsFor() {
	catalog := open(
		toolshelf.WithFs(project(map[string]string{
			".claude/skills/deploy/SKILL.md":              "---\ndescription: Deploys.\n---\n",
			"packages/web/.claude/skills/deploy/SKILL.md": "---\ndescription: Deploys the website.\n---\n",
			"packages/web/.claude/skills/styles/SKILL.md": "---\ndescription: Checks styles.\n---\n",
		})),
		toolshelf.WithClient(client.Claude()),
	)
	defer catalog.Close()
	ctx := context.Background()
	skills, err := catalog.ListSkillsFor(ctx, "packages/web/src/main.ts")
	for _, s := range skills {
		fmt.Println(s.Name)
	}
	deploy, _ := catalog.GetSkill(ctx, "packages/web:deploy")
	fmt.Println(deploy.Description, err)
	// Output:
	// deploy
	// packages/web:deploy
	// styles
	// Deploys the website. <nil>
}

func ExampleForPath() {
	catalog := open(
		toolshelf.WithFs(project(map[string]string{
			".claude/skills/deploy/SKILL.md":              "---\ndescription: Deploys.\n---\n",
			"packages/web/.claude/skills/styles/SKILL.md": "---\ndescription: Checks styles.\n---\n",
		})),
		toolshelf.WithClient(client.Claude()),
	)
	defer catalog.Close()
	path := toolshelf.ForPath("packages/web/src/main.ts")
	prompt, err := catalog.SkillsPrompt(context.Background(), path)
	fmt.Println(prompt.Included, err)
	styles, err := catalog.GetSkill(context.Background(), "styles", path)
	fmt.Println(styles.Name, err)
	// Output:
	// [deploy styles] <nil>
	// packages/web:styles <nil>
}

// The settings of Claude Code hide a skill from the model, and the program turns another skill off.
func ExampleWithExposure() {
	catalog := open(
		toolshelf.WithFs(project(map[string]string{
			".claude/skills/pdf/SKILL.md":    "---\ndescription: Fills PDF forms.\n---\n",
			".claude/skills/deploy/SKILL.md": "---\ndescription: Deploys.\n---\n",
			".claude/skills/legacy/SKILL.md": "---\ndescription: Deploys to the old cluster.\n---\n",
			".claude/settings.json":          `{"skillOverrides": {"deploy": "user-invocable-only"}}`,
		})),
		toolshelf.WithClient(client.Claude()),
		toolshelf.WithExposure(func(s toolshelf.SkillInfo) toolshelf.Exposure {
			if s.Name == "legacy" {
				return toolshelf.ExposeOff
			}
			return s.Exposure // of the header and of the settings
		}),
	)
	defer catalog.Close()
	ctx := context.Background()
	all, _ := catalog.ListSkills(ctx)
	for _, s := range all {
		fmt.Printf("%s %q\n", s.Name, s.Exposure)
	}
	model, _ := catalog.SkillsPrompt(ctx)
	user, err := catalog.CompleteName(ctx, "/", 0)
	fmt.Println(model.Included, user[0].Name, user[1].Name, len(user), err)
	// Output:
	// deploy "user"
	// legacy "off"
	// pdf ""
	// [pdf] deploy pdf 2 <nil>
}

func ExampleWithSkillFilter() {
	catalog := open(
		toolshelf.WithFs(project(map[string]string{
			"skills/pdf/SKILL.md":    "---\ndescription: Fills PDF forms.\n---\n",
			"skills/deploy/SKILL.md": "---\ndescription: Deploys.\ndisable-model-invocation: true\n---\n",
		})),
		toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return !s.DisableModelInvocation }),
	)
	defer catalog.Close()
	printSkills(catalog)
	// Output:
	// pdf of skills
}

func ExampleWithSkillDepth() {
	catalog := open(toolshelf.WithSkillDepth(2), toolshelf.WithFs(project(map[string]string{
		"skills/pdf/SKILL.md":        "---\ndescription: Fills PDF forms.\n---\n",
		"skills/office/csv/SKILL.md": "---\ndescription: Reads tables.\n---\n",
	})))
	defer catalog.Close()
	printSkills(catalog)
	// Output:
	// csv of skills
	// pdf of skills
}

func ExampleWithClient() {
	builtIn := fstest.MapFS{"pdf/SKILL.md": {Data: []byte("---\ndescription: Reads PDF files.\n---\n")}}
	catalog := open(
		toolshelf.WithFs(project(map[string]string{
			".claude/skills/pdf/SKILL.md": "---\ndescription: Fills PDF forms.\n---\n",
			".agents/skills/csv/SKILL.md": "---\ndescription: Reads tables.\n---\n",
		})),
		toolshelf.WithClient(client.Claude(), client.Gemini()),
		toolshelf.WithSkillsFS("built in", builtIn), // comes after them
	)
	defer catalog.Close()
	printSkills(catalog)
	// Output:
	// csv of .agents/skills
	// pdf of .claude/skills, which shadows [built in/pdf/SKILL.md]
}

func ExampleWithParents() {
	catalog := open(
		toolshelf.WithFs(project(map[string]string{
			"/repo/.git":                                   "gitdir: /elsewhere",
			"/repo/.agents/skills/pdf/SKILL.md":            "---\ndescription: Fills PDF forms.\n---\n",
			"/repo/services/.agents/skills/csv/SKILL.md":   "---\ndescription: Reads tables.\n---\n",
			"/repo/services/a/.agents/skills/sql/SKILL.md": "---\ndescription: Writes queries.\n---\n",
		})),
		toolshelf.WithRoot("/repo/services/a"),
		toolshelf.WithClient(client.Codex()),
		toolshelf.WithParents(""), // up to the directory with .git
	)
	defer catalog.Close()
	printSkills(catalog)
	// Output:
	// csv of ../.agents/skills
	// pdf of ../../.agents/skills
	// sql of .agents/skills
}

func printSkills(c *toolshelf.Catalog) {
	skills, err := c.ListSkills(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range skills {
		fmt.Print(s.Name, " of ", s.Layer)
		if s.Shadows != nil {
			fmt.Print(", which shadows ", s.Shadows)
		}
		fmt.Println()
	}
}

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
