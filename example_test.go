package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strings"
	"testing/fstest"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// project is what the examples read: a filesystem in memory.
func project(files map[string]string) afero.Fs {
	fsys := afero.NewMemMapFs()
	at := time.Date(2025, 11, 20, 10, 30, 0, 0, time.UTC)
	for path, text := range files {
		if err := errors.Join(afero.WriteFile(fsys, path, []byte(text), 0o644), fsys.Chtimes(path, at, at)); err != nil {
			log.Fatal(err)
		}
	}
	return fsys
}

func open(opts ...toolshelf.Option) *toolshelf.Catalog {
	c, err := toolshelf.New(opts...)
	if err != nil {
		log.Fatal(err)
	}
	return c
}

func printNames(c *toolshelf.Catalog) {
	for info, err := range c.All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(info.Name)
	}
}

func ExampleNew() {
	catalog, err := toolshelf.New(toolshelf.WithFs(afero.NewMemMapFs())) // without WithFs: the working directory
	if err != nil {
		fmt.Println(err)
		return
	}
	defer catalog.Close()
	_, err = catalog.List(context.Background(), toolshelf.Page{})
	fmt.Println(err)
	// Output:
	// toolshelf: List: Commands folder not found at path: commands (DIRECTORY_NOT_FOUND)
}

func ExampleCatalog_List() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"commands/review.md": "---\ndescription: Review a change\n---\nRead the diff.\n",
		"commands/test.md":   "Run the tests and name those that fail.\n",
		"commands/plan.md":   "---\ndescription: Plan a feature\n---\n",
	})))
	defer catalog.Close()
	page := toolshelf.Page{Size: 2}
	for {
		list, err := catalog.List(context.Background(), page)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, c := range list.Commands {
			fmt.Printf("%s: %s\n", c.Name, c.Description)
		}
		if !list.Pagination.HasNext {
			return
		}
		page.Cursor = list.Pagination.NextCursor
	}
	// Output:
	// plan: Plan a feature
	// review: Review a change
	// test: Run the tests and name those that fail.
}

func ExampleCatalog_All() {
	catalog := open(toolshelf.WithFs(project(map[string]string{"commands/b.md": "", "commands/A.md": "", "commands/README.md": ""})))
	defer catalog.Close()
	for info, err := range catalog.All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(info.Name, info.Size)
	}
	// Output:
	// A 0
	// b 0
}

func ExampleCatalog_Get() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"commands/review.md": "---\ndescription: Review a change\nargument-hint: [number]\nallowed-tools: [Read, Grep]\n---\nRead the diff of $1.\n",
	})))
	defer catalog.Close()
	command, err := catalog.Get(context.Background(), "review.md")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", command.Content)
	fmt.Println(command.Metadata.Description)
	fmt.Println(command.Frontmatter.Text("argument-hint"), command.Frontmatter.List("allowed-tools"))

	_, err = catalog.Get(context.Background(), "revue")
	fmt.Println(errors.Is(err, toolshelf.ErrCommandNotFound))
	// Output:
	// "Read the diff of $1.\n"
	// Review a change
	// [number] [Read Grep]
	// true
}

func ExampleCatalog_ListSkills() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Read PDF files. Use for forms.\n---\n# PDF\n",
		"skills/new/notes.md": "nothing here yet",
	})))
	defer catalog.Close()
	skills, err := catalog.ListSkills(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range skills {
		fmt.Printf("%s: %q\n", s.Name, s.Description)
		for _, d := range s.Diagnostics {
			fmt.Println(" ", d.Path, d.Message)
		}
	}
	// Output:
	// new: ""
	//   skills/new/SKILL.md the directory has no SKILL.md
	// pdf: "Read PDF files. Use for forms."
}

func ExampleCatalog_Lint() {
	catalog := open(toolshelf.WithSkillsDir(), toolshelf.WithFs(project(map[string]string{
		"commands/review.md":   "---\ndescription: Review: is it correct?\n---\n",
		"commands/my plan.md":  "---\ndescription: Plan\n---\n",
		"commands/explain.md":  "---\ndescription: Explain\n---\n",
		"commands/explain2.md": "No header.\n",
	})))
	defer catalog.Close()
	diagnostics, err := catalog.Lint(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range diagnostics {
		fmt.Printf("%s:%d: %s: %s\n", d.Path, d.Line, d.Severity, d.Code)
	}
	// Output:
	// commands/explain2.md:0: warning: NO_DESCRIPTION
	// commands/my plan.md:0: error: INVALID_COMMAND_NAME
	// commands/review.md:2: warning: FRONTMATTER_RECOVERED
}

func ExampleCatalog_OnChange() {
	fsys := project(map[string]string{"commands/a.md": ""})
	catalog := open(toolshelf.WithFs(fsys))
	defer catalog.Close()
	told := make(chan toolshelf.Change)
	stop := catalog.OnChange(func(c toolshelf.Change) { told <- c })
	defer stop()

	printNames(catalog)
	afero.WriteFile(fsys, "commands/b.md", nil, 0o644)
	printNames(catalog) // with WithWatch, no call is needed
	fmt.Println("added:", (<-told).Commands.Added)
	// Output:
	// a
	// a
	// b
	// added: [b]
}

func ExampleCatalog_Close() {
	catalog := open(toolshelf.WithFs(afero.NewMemMapFs()))
	fmt.Println(catalog.Close(), catalog.Close())
	_, err := catalog.Get(context.Background(), "a")
	fmt.Println(err)
	// Output:
	// <nil> <nil>
	// toolshelf: Get: the catalog is closed; create another catalog with New (CLOSED)
}

func ExampleFrontmatter_MarshalJSON() {
	catalog := open(toolshelf.WithFs(project(map[string]string{"commands/a.md": "---\nversion: 1.20\ntags: [x, 007]\nyes: no\n---\n"})))
	defer catalog.Close()
	command, err := catalog.Get(context.Background(), "a")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := command.Frontmatter.MarshalJSON()
	fmt.Println(string(text), err)
	fmt.Println(command.Frontmatter.Keys())
	// Output:
	// {"version":1.20,"tags":["x",7],"yes":"no"} <nil>
	// [version tags yes]
}

func ExampleWithRoot() {
	catalog := open(toolshelf.WithRoot("/srv/app"), toolshelf.WithFs(project(map[string]string{"/srv/app/commands/a.md": "", "/srv/other/commands/b.md": ""})))
	defer catalog.Close()
	printNames(catalog)
	// Output:
	// a
}

func ExampleWithCommandsDir() {
	catalog := open(toolshelf.WithCommandsDir(".agent/commands", "/home/me/commands"), toolshelf.WithFs(project(map[string]string{
		".agent/commands/review.md":   "The project's.",
		"/home/me/commands/review.md": "Mine.",
		"/home/me/commands/plan.md":   "Mine.",
	})))
	defer catalog.Close()
	for info := range catalog.All(context.Background()) {
		fmt.Println(info.Name, info.Description)
	}
	// Output:
	// plan Mine.
	// review The project's.
}

func ExampleWithSkillsDir() {
	catalog := open(toolshelf.WithSkillsDir(".agent/skills"), toolshelf.WithFs(project(map[string]string{".agent/skills/pdf/SKILL.md": ""})))
	defer catalog.Close()
	skills, err := catalog.ListSkills(context.Background())
	fmt.Println(len(skills), skills[0].Layer, err)
	// Output:
	// 1 .agent/skills <nil>
}

func ExampleWithCommandsFS() {
	builtIn := fstest.MapFS{"help.md": {Data: []byte("What I can do.")}} // in a program: an embed.FS
	catalog := open(toolshelf.WithCommandsDir("commands"), toolshelf.WithCommandsFS("built in", builtIn),
		toolshelf.WithFs(project(map[string]string{"commands/review.md": ""})))
	defer catalog.Close()
	help, err := catalog.Get(context.Background(), "help")
	fmt.Println(help.Layer, help.Content, err)
	printNames(catalog)
	// Output:
	// built in What I can do. <nil>
	// help
	// review
}

func ExampleWithSkillsFS() {
	builtIn := fstest.MapFS{"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: PDF\n---\n")}}
	catalog := open(toolshelf.WithSkillsFS("built in", builtIn))
	defer catalog.Close()
	skills, err := catalog.ListSkills(context.Background())
	fmt.Println(skills[0].Name, skills[0].Path, err)
	// Output:
	// pdf pdf/SKILL.md <nil>
}

func ExampleImmutable() {
	archive := fstest.MapFS{"help.md": {Data: []byte("What I can do.")}} // in a program: a zip.Reader
	catalog := open(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("archive", toolshelf.Immutable(archive)))
	defer catalog.Close()
	printNames(catalog) // reads the archive
	printNames(catalog) // reads nothing
	// Output:
	// help
	// help
}

func ExampleWithNestedCommands() {
	catalog := open(toolshelf.WithNestedCommands(), toolshelf.WithFs(project(map[string]string{"commands/frontend/page.md": "", "commands/review.md": ""})))
	defer catalog.Close()
	printNames(catalog)
	// Output:
	// frontend:page
	// review
}

func ExampleWithLooseNames() {
	files := project(map[string]string{"commands/my plan.md": "", "commands/v1.2.md": "", "commands/.draft.md": ""})
	strict, loose := open(toolshelf.WithFs(files)), open(toolshelf.WithFs(files), toolshelf.WithLooseNames())
	defer strict.Close()
	defer loose.Close()
	printNames(strict)
	printNames(loose)
	// Output:
	// my plan
	// v1.2
}

func ExampleWithMaxFileSize() {
	catalog := open(toolshelf.WithMaxFileSize(10), toolshelf.WithFs(project(map[string]string{"commands/a.md": "0123456789", "commands/b.md": "0123456789a"})))
	defer catalog.Close()
	printNames(catalog)
	_, err := catalog.Get(context.Background(), "b")
	fmt.Println(toolshelf.CodeOf(err))
	// Output:
	// a
	// FILE_TOO_LARGE
}

func ExampleWithNextSteps() {
	rule := func(c toolshelf.Command) string {
		if c.Frontmatter.Text("output") == "table" {
			return "Show the table as it is."
		}
		return ""
	}
	catalog := open(toolshelf.WithNextSteps(rule), toolshelf.WithFs(project(map[string]string{"commands/a.md": "---\noutput: table\n---\n"})))
	defer catalog.Close()
	command, err := catalog.Get(context.Background(), "a")
	fmt.Println(command.NextSteps, err)
	// Output:
	// Show the table as it is. <nil>
}

func ExampleWithSymlinks() {
	_, err := toolshelf.New(toolshelf.WithSymlinks(toolshelf.SymlinksTrusted, "dotfiles"))
	fmt.Println(err)
	catalog := open(toolshelf.WithSymlinks(toolshelf.SymlinksDeny))
	fmt.Println(catalog.Close())
	// Output:
	// toolshelf: New: WithSymlinks: the trusted directory "dotfiles" is not an absolute path (INVALID_OPTION)
	// <nil>
}

func ExampleWithCacheTTL() {
	fsys := project(map[string]string{"commands/a.md": ""})
	catalog := open(toolshelf.WithCacheTTL(time.Hour), toolshelf.WithFs(fsys))
	defer catalog.Close()
	printNames(catalog)
	afero.WriteFile(fsys, "commands/b.md", nil, 0o644)
	printNames(catalog) // b is seen an hour later at most
	// Output:
	// a
	// a
}

func ExampleWithWatch() {
	root, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	os.MkdirAll(root+"/commands", 0o755)
	catalog := open(toolshelf.WithRoot(root), toolshelf.WithWatch())
	defer catalog.Close()
	told := make(chan toolshelf.Change)
	defer catalog.OnChange(func(c toolshelf.Change) { told <- c })()
	printNames(catalog)
	os.WriteFile(root+"/commands/new.md", nil, 0o644)
	fmt.Println("added:", (<-told).Commands.Added)
	// Output:
	// added: [new]
}

func ExampleWithLogger() {
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	fsys := project(map[string]string{"commands/a.md": ""})
	catalog := open(toolshelf.WithLogger(slog.New(handler)), toolshelf.WithFs(fsys))
	defer catalog.Close()
	printNames(catalog)
	afero.WriteFile(fsys, "commands/b.md", []byte(strings.Repeat("b", 3)), 0o644)
	printNames(catalog)
	// Output:
	// a
	// level=DEBUG msg="files changed" generation=2 listed=2 problems=0
	// a
	// b
}
