package toolshelf_test

import (
	"context"
	"encoding/json"
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
	"github.com/toolshelf-go/toolshelf/client"
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
	fmt.Println(fields.Keys())
	// Output:
	// ["Read" "Bash"]
	// true true
	// false false
	// [allowed-tools hide model]
}

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

func ExampleWithStrict() {
	catalog := open(toolshelf.WithCommandsDir(), toolshelf.WithStrict(client.Codex()), toolshelf.WithFs(project(map[string]string{
		"skills/pdf/SKILL.md":     "---\nname: pdf\ndescription: Read PDF files.\n---\n",
		"skills/release/SKILL.md": "---\nname: release\n---\n",
	})))
	defer catalog.Close()
	skills, err := catalog.ListSkills(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range skills {
		fmt.Println(s.Name, s.Loadable)
	}
	_, err = catalog.GetSkill(context.Background(), "release")
	fmt.Println(err)
	// Output:
	// pdf true
	// release false
	// toolshelf: GetSkill: SKILL.md of skill "release" is rejected by the rules of WithStrict: line 1: description is missing; describe what the skill does and when to use it (FILE_READ_ERROR)
}

func ExampleLintFor() {
	catalog := open(toolshelf.WithCommandsDir(), toolshelf.WithFs(project(map[string]string{
		"skills/pdf/SKILL.md": "---\nname: PDF Tools\nmodel: opus\n---\n",
	})))
	defer catalog.Close()
	for _, row := range []client.Client{client.Claude(), client.OpenCode()} {
		diagnostics, err := catalog.Lint(context.Background(), toolshelf.LintFor(row))
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, d := range diagnostics {
			fmt.Printf("%s: %s: %s\n", row.Title, d.Severity, d.Message)
		}
	}
	// Output:
	// Claude Code: warning: description is missing
	// OpenCode: error: description is missing
	// OpenCode: warning: OpenCode does not define the field "model"
}

func ExampleCatalog_Search() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"commands/analyze-slow-meeting.md": "---\ndescription: Find out what delays a meeting\n---\nDraw a timeline.\n",
		"commands/deploy.md":               "---\ndescription: Ship a release\n---\nWatch the proxies, and the timeline of errors.\n",
	})))
	defer catalog.Close()

	for _, query := range []string{"slow meeting", "timelnie of a proxy", "haiku"} {
		found, err := catalog.Search(context.Background(), query, 5)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %d\n", query, found.TotalFound)
		for _, r := range found.Results {
			fmt.Printf("  %s %s: %s\n", r.Name, r.Tier, r.MatchReason)
		}
	}
	// Output:
	// slow meeting: 1
	//   analyze-slow-meeting tier1: name matches "slow meeting"
	// timelnie of a proxy: 2
	//   deploy tier2: body matches "proxy"; body matches "timelnie" nearly
	//   analyze-slow-meeting tier2: body matches "timelnie" nearly
	// haiku: 0
}

func ExampleCatalog_SearchSkills() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"skills/pdf-tools/SKILL.md": "---\nname: pdf-tools\ndescription: Read and fill forms\n---\n# Encrypted files\n\nAsk for the password.\n",
		"skills/sql-style/SKILL.md": "---\nname: sql-style\ndescription: Write readable queries\n---\nOne clause, one line.\n",
	})))
	defer catalog.Close()

	found, err := catalog.SearchSkills(context.Background(), "query in an encrypted form", 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("found:", found.TotalFound)
	for _, r := range found.Results {
		fmt.Printf("%s: %s\n", r.Name, r.MatchReason)
	}
	// Output:
	// found: 2
	// pdf-tools: description matches "form"; headings match "encrypted"
}

// A contains is a Searcher that finds the commands whose names contain the query. A program
// uses an engine such as Bleve instead.
type contains []string

func (c contains) Search(ctx context.Context, query string, limit int) ([]toolshelf.Hit, int, error) {
	var hits []toolshelf.Hit
	for _, name := range c {
		if strings.Contains(name, query) {
			hits = append(hits, toolshelf.Hit{Name: name, Score: float64(len(query)) / float64(len(name)), Reason: "name contains " + query})
		}
	}
	return hits[:min(limit, len(hits))], len(hits), ctx.Err()
}

func ExampleWithSearcher() {
	engine := contains{"deploy", "deploy-docs", "removed-deploy"}
	catalog := open(
		toolshelf.WithFs(project(map[string]string{
			"commands/deploy.md":      "Ship a release.\n",
			"commands/deploy-docs.md": "Publish the documentation.\n",
		})),
		toolshelf.WithSearcher(engine, nil),
	)
	defer catalog.Close()

	found, err := catalog.Search(context.Background(), "deploy", 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range found.Results {
		fmt.Printf("%s %.2f: %s\n", r.Name, r.Score, r.MatchReason)
	}
	// Output:
	// deploy 1.00: name contains deploy
	// deploy-docs 0.55: name contains deploy
}

// topics is a toy model: a text about money has another direction than any other text.
type topics struct{}

func (topics) ID() string { return "topics-1" }

func (topics) Embed(_ context.Context, texts []string, _ bool) (vectors [][]float32, err error) {
	for _, text := range texts {
		v := []float32{1, 0}
		if strings.Contains(text, "invoice") || strings.Contains(text, "payment") {
			v = []float32{0, 1}
		}
		vectors = append(vectors, v)
	}
	return vectors, nil
}

func ExampleWithEmbedder() {
	files := map[string]string{"commands/bill-customers.md": "Creates an invoice for each customer.\n"}
	for i := range 40 {
		files[fmt.Sprintf("commands/step-%d.md", i)] = "Does another step.\n"
	}
	catalog := open(toolshelf.WithFs(project(files)), toolshelf.WithEmbedder(topics{}))
	defer catalog.Close()

	found, err := catalog.Search(context.Background(), "collect a payment", 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range found.Results {
		fmt.Println(r.Name, "by", r.MatchReason, found.Semantic)
	}
	// Output: bill-customers by meaning true
}

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

func ExampleCatalog_CompleteName() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"commands/release.md":     "---\ndescription: Publishes a version.\n---\n",
		"commands/review.md":      "---\nargument-hint: <number> [priority]\ndescription: Reviews a pull request.\n---\n",
		"skills/reports/SKILL.md": "---\nname: reports\ndescription: Writes a report.\n---\n",
	})))
	defer catalog.Close()
	rows, err := catalog.CompleteName(context.Background(), "/re", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range rows {
		fmt.Printf("/%s %s (%s) %s\n", row.Name, row.Hint, row.Kind, row.Description)
	}
	// Output:
	// /release  (command) Publishes a version.
	// /reports  (skill) Writes a report.
	// /review <number> [priority] (command) Reviews a pull request.
}

// A terminal sends each line that names no command and no skill to the model.
func ExampleCatalog_Expand() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"commands/review.md":    "Review pull request #$1 with priority $2.",
		"skills/notes/SKILL.md": "---\nname: notes\ndescription: Writes notes.\n---\nWrite notes about: $ARGUMENTS",
	})))
	defer catalog.Close()
	for _, line := range []string{`/review 417 "very high"`, "/notes the release", "/usr/bin/make fails"} {
		text := line
		x, err := catalog.Expand(context.Background(), line)
		switch {
		case err == nil:
			text = x.Text
		case !errors.Is(err, toolshelf.ErrCommandNotFound):
			fmt.Println(err)
			return
		}
		fmt.Println(text)
	}
	// Output:
	// Review pull request #417 with priority very high.
	// Write notes about: the release
	// /usr/bin/make fails
}

func ExampleParseArgs() {
	args := toolshelf.ParseArgs(`417 "needs a test" assignee=ada don't`)
	fmt.Println(args.Line)
	fmt.Printf("%q\n", args.List)
	// Output:
	// 417 "needs a test" assignee=ada don't
	// ["417" "needs a test" "assignee=ada" "don't"]
}

func ExampleRenderer_Render_context() {
	ctx, cancel := context.WithCancel(context.Background())
	fix := toolshelf.Command{Content: "Fix issue $1."}
	rendering, err := toolshelf.Renderer{}.Render(ctx, fix, toolshelf.ParseArgs("417"))
	fmt.Println(rendering.Text, err)

	cancel()
	_, err = toolshelf.Renderer{}.Render(ctx, fix, toolshelf.ParseArgs("417"))
	fmt.Println(err)
	// Output:
	// Fix issue 417. <nil>
	// context canceled
}

func ExampleRenderer_Render_named() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fix := toolshelf.Command{Content: "Fix ${input:issue:its number} on $BRANCH, and leave $PATH alone."}
	rendering, err := toolshelf.Renderer{}.Render(ctx, fix, toolshelf.Args{Named: map[string]string{"issue": "7", "BRANCH": "main"}})
	fmt.Println(rendering.Text, err)
	// Output:
	// Fix 7 on main, and leave $PATH alone. <nil>
}

func ExampleRenderer_Arguments() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"commands/fix.md": "---\nargument-hint: <issue> [branch]\n---\nFix $1 on $2, due in ${input:days:how many?} days.\n",
	})))
	defer catalog.Close()
	command, err := catalog.Get(context.Background(), "fix")
	if err != nil {
		fmt.Println(err)
		return
	}
	arguments, err := toolshelf.Renderer{}.Arguments(context.Background(), command)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, arg := range arguments {
		fmt.Println(arg.Position, arg.Name, arg.Hint, arg.Required)
	}
	// Output:
	// 1 issue <issue> true
	// 2 branch [branch] false
	// 3 days how many? false
}

func ExampleRenderer() {
	review := toolshelf.Command{Content: "Review $1: $ARGUMENTS"}
	args := toolshelf.ParseArgs(`"the parser" now`)
	for _, rules := range []client.Rules{{}, client.Claude().Rules, client.OpenCode().Rules, client.Codex().Rules} {
		rendering, err := toolshelf.Renderer{Rules: rules}.Render(context.Background(), review, args)
		fmt.Println(rendering.Text, err)
	}
	// Output:
	// Review the parser: "the parser" now <nil>
	// Review now: "the parser" now <nil>
	// Review the parser now: "the parser" now <nil>
	// Review the parser: the parser now <nil>
}

// This program reads no file, and runs a command only if the text of the command
// contains no text of an argument.
func ExampleRenderer_Render() {
	command := toolshelf.Command{Content: "Status: !`git status --short`\nDiff: !`git diff $1`\nRules: @docs/style.md\n"}
	rendering, err := toolshelf.Renderer{}.Render(context.Background(), command, toolshelf.ParseArgs("'main; rm -rf /'"))
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

func ExampleRenderer_Arguments_countFromZero() {
	skill := toolshelf.Command{Content: "Migrate $0 from $1 to ${input:target:which framework?}.\n"}
	renderer := toolshelf.Renderer{}
	values := map[string]string{}
	arguments, err := renderer.Arguments(context.Background(), skill)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, arg := range arguments {
		fmt.Println(arg.Position, arg.Name)
		values[arg.Name] = []string{"SearchBar", "React", "Vue"}[i]
	}
	rendering, err := renderer.Render(context.Background(), skill, toolshelf.Args{Named: values})
	fmt.Printf("%q %v\n", rendering.Text, err)
	// Output:
	// 1 0
	// 2 1
	// 3 target
	// "Migrate SearchBar from React to Vue.\n" <nil>
}

// clock is a stopped clock. Each run of an example prints the same.
func clock() time.Time { return time.Date(2025, 11, 20, 10, 30, 0, 0, time.UTC) }

func ExampleCatalog_SaveReport() {
	catalog := open(
		toolshelf.WithFs(project(map[string]string{"commands/analyze-logs.md": "Analyze the logs.\n"})),
		toolshelf.WithReports("reports", "local"),
		toolshelf.WithClock(clock),
	)
	defer catalog.Close()
	for range 2 { // in one second
		saved, err := catalog.SaveReport(context.Background(), toolshelf.Report{
			Command: "analyze-logs",
			Content: "# Logs\n\nNothing to worry about.\n",
			Upload:  true,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(saved.Path)
	}
	_, err := catalog.SaveReport(context.Background(), toolshelf.Report{Command: "analyze-logs", Name: "../../x", Content: "x"})
	fmt.Println(err, errors.Is(err, toolshelf.ErrInvalidReportName))
	// Output:
	// reports/analyze-logs/analyze-logs_report_20251120_103000_v1.md
	// reports/analyze-logs/analyze-logs_report_20251120_103000_v2.md
	// toolshelf: SaveReport: invalid report name "../../x"; use 1 to 100 letters, digits, "_" and "-" (INVALID_REPORT_NAME) true
}

// The JSON forms of Report and SavedReport are the input and the output of the tool
// report_feedback.
func ExampleSavedReport() {
	catalog := open(
		toolshelf.WithFs(project(map[string]string{"commands/analyze-logs.md": "Analyze the logs.\n"})),
		toolshelf.WithReports("reports", "local"),
		toolshelf.WithClock(clock),
	)
	defer catalog.Close()
	var report toolshelf.Report
	input := `{"command_name": "analyze-logs", "report_name": "nightly", "report_content": "All is well.", "user_wants_upload": false}`
	if err := json.Unmarshal([]byte(input), &report); err != nil {
		fmt.Println(err)
		return
	}
	saved, err := catalog.SaveReport(context.Background(), report)
	if err != nil {
		fmt.Println(err)
		return
	}
	output, err := json.MarshalIndent(saved, "", "  ")
	fmt.Println(string(output), err)
	// Output:
	// {
	//   "success": true,
	//   "action_taken": "saved_locally",
	//   "report_path": "local/analyze-logs/analyze-logs_nightly_20251120_103000_v1_local.md",
	//   "report_name": "nightly",
	//   "version": 1,
	//   "message": "The report was saved locally as analyze-logs_nightly_20251120_103000_v1_local.md."
	// } <nil>
}

func ExampleCatalog_Reports() {
	catalog := open(
		toolshelf.WithFs(project(map[string]string{
			"commands/analyze-logs.md":                                            "Analyze the logs.\n",
			"reports/analyze-logs/analyze-logs_report_20251119_080000_v1.md":      "Yesterday's.",
			"local/analyze-logs/analyze-logs_report_20251120_080000_v1_local.md":  "Today's.",
			"local/analyze-logs/analyze-logs_nightly_20251118_235959_v2_local.md": "The second of that night.",
		})),
		toolshelf.WithReports("reports", "local"),
	)
	defer catalog.Close()
	reports, err := catalog.Reports(context.Background(), "analyze-logs")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range reports {
		fmt.Printf("%s %s v%d, %d bytes, local: %t\n", r.Time.Format(time.DateTime), r.Name, r.Version, r.Size, r.Local)
	}
	// Output:
	// 2025-11-20 08:00:00 report v1, 8 bytes, local: true
	// 2025-11-19 08:00:00 report v1, 12 bytes, local: false
	// 2025-11-18 23:59:59 nightly v2, 25 bytes, local: true
}

// SaveReport rejects a report if its directory is not configured. The hint of Get
// names the tool only if a directory is configured.
func ExampleWithReports() {
	files := project(map[string]string{"commands/analyze-logs.md": "Analyze the logs.\n"})
	for _, catalog := range []*toolshelf.Catalog{
		open(toolshelf.WithFs(files)),
		open(toolshelf.WithFs(files), toolshelf.WithReports("", "local")),
	} {
		command, err := catalog.Get(context.Background(), "analyze-logs")
		fmt.Println(command.NextSteps, err)
		_, err = catalog.SaveReport(context.Background(), toolshelf.Report{Command: "analyze-logs", Content: "Fine.", Upload: true})
		fmt.Println(err)
		catalog.Close()
	}
	// Output:
	// Important: when this command has finished and produced its report, show the report to the user and ask what to do with it before going on. <nil>
	// toolshelf: SaveReport: no directory for shared reports is configured; use WithReports (DIRECTORY_PREPARATION_FAILED)
	// Important: when this command has finished and produced its report, be sure to call the 'report_feedback' tool to save it; ask the user first whether it may be shared. <nil>
	// toolshelf: SaveReport: no directory for shared reports is configured; use WithReports, or set user_wants_upload to false if the user agrees (DIRECTORY_PREPARATION_FAILED)
}

func ExampleCatalog_MCPServers() {
	fsys := afero.NewMemMapFs()
	afero.WriteFile(fsys, "/repo/.mcp.json", []byte(`{"mcpServers": {
		"files": {"command": "npx", "args": ["-y", "files-server@1.4.0", "${FILES_DIR:-.}"], "env": {"TOKEN": "${FILES_TOKEN}"}},
		"search": {"type": "http", "url": "https://search.example.com/mcp"}}}`), 0o644)
	catalog, err := toolshelf.New(toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithClient(client.Claude()))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	servers, err := catalog.MCPServers(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range servers {
		fmt.Println(s) // without the values of variables
	}

	// Output:
	// files (stdio): npx -y files-server@1.4.0 ${FILES_DIR:-.}; env TOKEN
	// search (http): https://search.example.com/mcp
}

func ExampleMCPServer_Resolve() {
	fsys := afero.NewMemMapFs()
	afero.WriteFile(fsys, "/repo/.vscode/mcp.json", []byte(`{"servers": {
		"files": {"command": "files-server", "args": ["${workspaceFolder}/docs"], "env": {"TOKEN": "${input:token}"}}}}`), 0o644)
	catalog, err := toolshelf.New(toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithClient(client.VSCode()))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	servers, err := catalog.MCPServers(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	_, err = servers[0].Resolve(func(string) (string, bool) { return "", false })
	fmt.Println(err)
	ready, err := servers[0].Resolve(func(name string) (string, bool) { return "the answer of the user", name == "input:token" })
	fmt.Println(ready.Command, ready.Args, ready.Env["TOKEN"], err)

	// Output:
	// toolshelf: MCPServer.Resolve: server "files": set the variables "input:token" (INVALID_ARGUMENTS)
	// files-server [/repo/docs] the answer of the user <nil>
}

func ExampleWithMCPServerFilter() {
	fsys := afero.NewMemMapFs()
	afero.WriteFile(fsys, "/repo/.mcp.json", []byte(`{"mcpServers": {"local": {"command": "server"}, "web": {"type": "http", "url": "https://example.com/mcp"}}}`), 0o644)
	local := func(s toolshelf.MCPServer) bool { return s.Transport == "stdio" }
	catalog, err := toolshelf.New(toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithClient(client.Claude()), toolshelf.WithMCPServerFilter(local))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	servers, err := catalog.MCPServers(context.Background())
	fmt.Println(servers, err)

	// Output:
	// [local (stdio): server] <nil>
}
