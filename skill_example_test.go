package toolshelf_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"testing/fstest"

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
