package toolshelf_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestSkillsPromptOfTheProject(t *testing.T) {
	text := string(must.Get(os.ReadFile("testdata/skills_prompt.txt"))(t))
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		got := must.Get(open().SkillsPrompt(t.Context()))(t)
		want := toolshelf.SkillsPrompt{
			Text:     strings.TrimSuffix(text, "\n"),
			Included: []string{"list-style", "lower-case", "pdf-tools"}, Shortened: []string{}, Dropped: []string{},
		}
		must.Match(t, "prompt", want, got)
	})
}

func TestCommandsPromptHasTheCommandsOfList(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		c := open(toolshelf.WithNestedCommands(), toolshelf.WithLooseNames())
		var names []string
		for info, err := range c.All(t.Context()) {
			must.Do(t, err)
			names = append(names, info.Name)
		}
		got := must.Get(c.CommandsPrompt(t.Context()))(t)
		must.Match(t, "Included", names, got.Included)
		must.Equal(t, "commands of in", len(names), strings.Count(got.Text, "\n  <command>\n    <name>"))
	})
}

// skill returns a SKILL.md with lines of frontmatter.
func skill(lines ...string) string {
	return "---\n" + strings.Join(lines, "\n") + "\n---\nDo it.\n"
}

// TestPrompts asks the questions of testdata/prompts.txt, which describes the questions.
func TestPrompts(t *testing.T) {
	questions := string(must.Get(os.ReadFile("testdata/prompts.txt"))(t))
	must.Answer(t, questions, map[string]func(t *testing.T, a ...string) string{
		"skills": func(t *testing.T, a ...string) string {
			var options []toolshelf.PromptOption
			for ; !strings.Contains(a[0], "/"); a = a[1:] {
				option, value, _ := strings.Cut(a[0], "=")
				n, _ := strconv.Atoi(value)
				options = append(options, map[string]toolshelf.PromptOption{
					"budget":    toolshelf.Budget(n),
					"lines":     toolshelf.Tokens(n, func(s string) int { return strings.Count(s, "\n") }),
					"locations": toolshelf.PromptLocations(),
				}[option])
			}
			files := map[string]string{}
			for i := 0; i < len(a); i += 2 {
				files[a[i]] = a[i+1]
			}
			c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithSkillsDir("skills", "user"))
			got := must.Get(c.SkillsPrompt(t.Context(), options...))(t)
			answer := ""
			if got.Text != "" {
				answer = strconv.Quote(got.Text)
			}
			for i, names := range [][]string{got.Included, got.Shortened, got.Named, got.Dropped} {
				if names == nil && i != 2 {
					t.Error("a list is null in JSON")
				}
				if len(names) > 0 {
					list := []string{"included", "shortened", "named", "dropped"}[i]
					answer += fmt.Sprintf(" %s%q", list, names)
				}
			}
			return strings.TrimSpace(answer)
		},
		"skill": func(t *testing.T, a ...string) string {
			s := toolshelf.Skill{SkillInfo: toolshelf.SkillInfo{Name: a[0], Path: a[1]}, Content: a[2]}
			for _, file := range a[3:] {
				if s.FilesTruncated = file == "…"; !s.FilesTruncated {
					s.Files = append(s.Files, toolshelf.SkillFile{Path: file})
				}
			}
			prompt := s.Prompt()
			if dir := path.Dir(a[1]); !strings.Contains(dir, "<") {
				host := filepath.FromSlash(dir)
				s.Path = filepath.FromSlash(s.Path)
				must.Equal(t, "the host's path", strings.ReplaceAll(prompt, dir, host), s.Prompt())
			}
			return strconv.Quote(prompt)
		},
	})
}

func TestCommandsPrompt(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		"commands/review.md":  "---\ndescription: Review <one> change\n---\n",
		"commands/bare.md":    "",
		"commands/shared.md":  "---\nis_dependency: true\n---\n",
		"commands/release.md": "---\ndescription: For people\ndisable-model-invocation: true\n---\n",
		"commands/unknown.md": "First paragraph,\nin two lines.\n",
	})))
	got := must.Get(c.CommandsPrompt(t.Context(), toolshelf.PromptLocations(), toolshelf.Budget(400)))(t)
	want := `<available_commands>
  <command>
    <name>bare</name>
    <description></description>
    <location>commands/bare.md</location>
  </command>
  <command>
    <name>review</name>
    <description>Review &lt;one&gt; change</description>
    <location>commands/review.md</location>
  </command>
  <names not_listed="0">
unknown
  </names>
</available_commands>`
	must.Match(t, "prompt", want, got.Text)
	must.Match(t, "named", []string{"unknown"}, got.Named)
}

func TestPromptsOfAView(t *testing.T) {
	all := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		"skills/a/SKILL.md": skill("description: A"), "skills/b/SKILL.md": skill("description: B"), "commands/a.md": "", "commands/b.md": "",
	})))
	view := must.Get(all.View(
		toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Name == "b" }),
		toolshelf.WithCommandFilter(func(c toolshelf.CommandInfo) bool { return c.Name == "b" })))(t)
	skills := must.Get(view.SkillsPrompt(t.Context()))(t)
	commands := must.Get(view.CommandsPrompt(t.Context()))(t)
	for _, p := range []toolshelf.SkillsPrompt{skills, toolshelf.SkillsPrompt(commands)} {
		must.Match(t, "append", []string{"b"}, append(p.Included, p.Dropped...))
		must.NotContain(t, "Text", p.Text, "<name>a")
	}
}

// preferring returns a catalog with skills in two layers. The skill own has
// disable-model-invocation, and the filter excludes the skill secret.
func preferring(t *testing.T) *toolshelf.Catalog {
	t.Helper()
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		"skills/alpha/SKILL.md": skill("description: Paint a picture of a landscape"),
		"skills/beta/SKILL.md":  skill("description: Bake bread"),
		"skills/gamma/SKILL.md": skill("description: Convert a PDF form"),
		"user/delta/SKILL.md":   skill("description: Fill in a PDF form, a PDF table and a PDF letter"),
		"user/eta/SKILL.md":     skill("description: Bake a cake"),
		"user/own/SKILL.md":     skill("description: A PDF form for people", "disable-model-invocation: true"),
		"user/secret/SKILL.md":  skill("description: A PDF form"),
	})), toolshelf.WithSkillsDir("skills", "user"), toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Name != "secret" }))
	return c
}

func TestPreferredSkillsKeepTheirDescriptions(t *testing.T) {
	first, query := toolshelf.PromptFirst, toolshelf.PromptFor
	long := strings.Repeat("x", 500)
	for _, tt := range []struct {
		name    string
		options []toolshelf.PromptOption
		want    string // the names of the two skills with a description
	}{
		{"neither", nil, "alpha beta"},
		{"names of any layer", []toolshelf.PromptOption{first("eta", "gamma")}, "eta gamma"},
		{"names in any order", []toolshelf.PromptOption{first("gamma", "eta", "delta")}, "eta gamma"},
		{"one name, and the order of the layers", []toolshelf.PromptOption{first("eta")}, "alpha eta"},
		{"repeated names", []toolshelf.PromptOption{first("eta", "eta", "eta", "delta")}, "delta eta"},
		{"names that are not listed", []toolshelf.PromptOption{first("nothing", "own", "secret", "", "eta")}, "alpha eta"},
		{"no name", []toolshelf.PromptOption{first()}, "alpha beta"},
		{"the last PromptFirst", []toolshelf.PromptOption{first("gamma", "eta"), first("delta")}, "alpha delta"},
		{"a query", []toolshelf.PromptOption{query("fill in a pdf")}, "delta gamma"},
		{"a query with one match", []toolshelf.PromptOption{query("cake")}, "alpha eta"},
		{"a query without a match", []toolshelf.PromptOption{query("xyzzy")}, "alpha beta"},
		{"an empty query", []toolshelf.PromptOption{query(" \n")}, "alpha beta"},
		{"a query that begins with blanks", []toolshelf.PromptOption{query(strings.Repeat(" ", 600) + "cake")}, "alpha eta"},
		{"a query that is too long to search", []toolshelf.PromptOption{query("cake " + long)}, "alpha eta"},
		{"a match beyond the first 500 characters", []toolshelf.PromptOption{query(long + " cake")}, "alpha beta"},
		{"the last PromptFor", []toolshelf.PromptOption{query("pdf"), query("cake")}, "alpha eta"},
		{"names before matches", []toolshelf.PromptOption{query("pdf"), first("eta")}, "delta eta"},
		{"names before matches, in the other order", []toolshelf.PromptOption{first("eta"), query("pdf")}, "delta eta"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, limit := range []toolshelf.PromptOption{toolshelf.Budget(320), toolshelf.Tokens(320, utf8.RuneCountInString)} {
				got := must.Get(preferring(t).SkillsPrompt(t.Context(), append(tt.options, limit)...))(t)
				must.Match(t, "described", tt.want, strings.Join(got.Included[:len(got.Included)-len(got.Named)], " "))
				if len(got.Named) != 3 || len(got.Dropped) > 0 || strings.Contains(got.Text, "people") || utf8.RuneCountInString(got.Text) > 320 {
					t.Errorf("dropped %q in\n%s", got.Dropped, got)
				}
			}
		})
	}
}

func TestPreferredSkillsHaveNoEffectIfAllFit(t *testing.T) {
	c := preferring(t)
	want := must.Get(c.SkillsPrompt(t.Context()))(t)
	for _, options := range [][]toolshelf.PromptOption{nil, {toolshelf.Budget(10_000)}} {
		got := must.Get(c.SkillsPrompt(t.Context(), append(options, toolshelf.PromptFirst("eta"), toolshelf.PromptFor("pdf"))...))(t)
		must.Match(t, "got", want, got)
	}
}

// The descriptions of preferred skills are cut before the description of another skill is omitted.
func TestPreferredSkillsAreShortened(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("Read and fill forms. ", 10))
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		"skills/a/SKILL.md": skill("description: " + long), "skills/b/SKILL.md": skill("description: " + long), "skills/c/SKILL.md": skill("description: " + long)})))
	for budget, want := range map[int]toolshelf.SkillsPrompt{
		600: {Included: []string{"a", "b", "c"}, Shortened: []string{"a", "b", "c"}, Dropped: []string{}},
		400: {Included: []string{"b", "c", "a"}, Shortened: []string{"b", "c"}, Dropped: []string{}, Named: []string{"a"}},
		300: {Included: []string{"c", "a", "b"}, Shortened: []string{"c"}, Dropped: []string{}, Named: []string{"a", "b"}},
		78:  {Included: []string{"b", "c"}, Shortened: []string{}, Dropped: []string{"a"}, Named: []string{"b", "c"}},
	} {
		got := must.Get(c.SkillsPrompt(t.Context(), toolshelf.Budget(budget), toolshelf.PromptFirst("c", "b")))(t)
		got.Text = ""
		must.Match(t, budget, want, got)
	}
}

func TestCommandsPromptPrefersCommands(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		"commands/a.md": "Bake bread.\n", "commands/b.md": "Paint.\n", "commands/c.md": "Fill in a form.\n", "commands/d.md": "---\nis_dependency: true\n---\nA form.\n",
	})))
	for _, tt := range []struct {
		option toolshelf.PromptOption
		want   string
	}{{toolshelf.PromptFirst("d", "b"), "b"}, {toolshelf.PromptFor("a form"), "c"}, {nil, "a"}} {
		got := must.Get(c.CommandsPrompt(t.Context(), tt.option, toolshelf.Budget(185)))(t)
		must.Match(t, "Included", tt.want, got.Included[0])
		must.Len(t, "Named", 2, got.Named)
	}
}

func TestPromptForEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(preferring(t).SkillsPrompt(ctx, toolshelf.Budget(100), toolshelf.PromptFor("pdf")))(t, "error", context.Canceled)
}

func TestPromptErrors(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithCommandsDir("commands"), toolshelf.WithSkillsDir("skills"))
	unreadable := catalog(t, toolshelf.WithFs(catalogtest.Faulty{
		Fs:    memory(t, "."),
		Opens: map[string]error{"skills": fs.ErrPermission, "commands": fs.ErrPermission},
	}))
	closed := catalog(t, toolshelf.WithFs(memory(t, ".")))
	must.Do(t, closed.Close())
	for _, tt := range []struct {
		name    string
		catalog *toolshelf.Catalog
		options []toolshelf.PromptOption
		want    error
	}{
		{"a missing directory", c, nil, toolshelf.ErrDirectoryNotFound},
		{"an unreadable directory", unreadable, nil, toolshelf.ErrPermissionDenied},
		{"a closed catalog", closed, nil, toolshelf.ErrClosed},
		{"no counter", c, []toolshelf.PromptOption{nil, toolshelf.Tokens(100, nil)}, toolshelf.ErrInvalidOption},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.catalog.SkillsPrompt(t.Context(), tt.options...)
			if !errors.Is(err, tt.want) || !strings.HasPrefix(err.Error(), "toolshelf: SkillsPrompt: ") {
				t.Errorf("SkillsPrompt: %v, want %v", err, tt.want)
			}
			_, err = tt.catalog.CommandsPrompt(t.Context(), tt.options...)
			if !errors.Is(err, tt.want) || !strings.HasPrefix(err.Error(), "toolshelf: CommandsPrompt: ") {
				t.Errorf("CommandsPrompt: %v, want %v", err, tt.want)
			}
		})
	}
}

func TestCorpusPrompts(t *testing.T) {
	listed := 0
	for _, root := range layersBelow(t, filepath.Join(corpus(t), "skills")) {
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithSkillsDir("."))
		p := must.Get(c.SkillsPrompt(t.Context()))(t)
		var block struct {
			Skills []struct {
				Name        string `xml:"name"`
				Description string `xml:"description"`
			} `xml:"skill"`
		}
		if err := xml.Unmarshal([]byte(p.Text), &block); err != nil && p.Text != "" {
			t.Fatal(err)
		}
		read := map[string]string{}
		for _, s := range block.Skills {
			read[s.Name] = s.Description
		}
		for _, s := range must.Get(c.ListSkills(t.Context()))(t) {
			if description, ok := read[s.Name]; ok && description != s.Description {
				t.Errorf("%s has the description %q, want %q", s.Path, description, s.Description)
			} else if !ok && s.Description != "" {
				t.Logf("%s is hidden", s.Path)
			}
		}
		listed += len(read)
	}
	if listed == 0 {
		t.Error("the corpus has no skills for a model")
	}
	t.Logf("%d skills listed", listed)
}

// A user reported that 1,141 skills filled the context of a model 34 times.
func TestHostileSkillsStayWithinTheBudget(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 1141 {
		name := "skill-" + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + string(rune('0'+i/26%10)) + string(rune('a'+i/260))
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(skill("description: " + strings.Repeat("Use me & me alone. ", 60)))}
	}
	files["large/SKILL.md"] = &fstest.MapFile{Data: []byte(skill("description: " + strings.Repeat("Use me & me alone. ", 5<<20/19)))}
	c := catalog(t, toolshelf.WithSkillsFS("hostile", files), toolshelf.WithMaxFileSize(10<<20))
	must.Len(t, "list", 1142, must.Get(c.ListSkills(t.Context()))(t))
	for _, budget := range []int{0, 120, 1000, 8000, 200_000, 1_000_000} {
		p := must.Get(c.SkillsPrompt(t.Context(), toolshelf.Budget(budget)))(t)
		n := utf8.RuneCountInString(p.Text)
		if n > budget || n < budget*9/10-300 {
			t.Errorf("%d characters of a budget of %d", n, budget)
		}
		if eligible := len(p.Included) + len(p.Dropped); eligible < 1141 {
			t.Errorf("the result names %d skills", eligible)
		}
	}
}

func TestPromptOfAnActivatedSkill(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		s := must.Get(open().GetSkill(t.Context(), "pdf-tools"))(t)
		want := "<skill_content name=\"pdf-tools\">\n" + strings.Trim(s.Content, "\n")
		if !strings.HasSuffix(t.Name(), "/embedded") {
			want += "\n\nSkill directory: " + strings.TrimRight(strings.TrimSuffix(s.Path, "SKILL.md"), `/\`) + "\nRelative paths in this skill are relative to the skill directory."
		}
		want += "\n</skill_content>"
		must.Match(t, "prompt", want, s.Prompt())
	})
}

// The model cannot read a path of an fs.FS.
// The text of a skill of Skills tells the model that the skill can have files.
func TestThePromptOfARangedSkillNamesItsTool(t *testing.T) {
	c := catalog(t, toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("built-in", fstest.MapFS{"pdf/SKILL.md": {Data: []byte(skillFile("pdf"))}, "pdf/a.md": {}}))
	for _, skill := range collected(t, c.Skills(t.Context())) {
		prompt := skill.Prompt()
		must.Contain(t, "Prompt", prompt, "read_skill_file", "more files not listed")
	}
}

func TestPromptsNameNoPathOfAnFS(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"skills/disk/SKILL.md": skillFile("disk")})),
		toolshelf.WithSkillsFS("built in", fstest.MapFS{"pdf/SKILL.md": {Data: []byte(skillFile("pdf") + "Run scripts/fill.py.\n")}, "pdf/scripts/fill.py": {}}),
		toolshelf.WithCommandsFS("built in", fstest.MapFS{"review.md": {Data: []byte("Review.")}}))
	s := must.Get(c.GetSkill(t.Context(), "pdf"))(t)
	const want = `<skill_content name="pdf">
Run scripts/fill.py.

The files of this skill are in no directory. To read a file, use the tool read_skill_file with the name of the skill and the relative path.

<skill_resources>
  <file>scripts/fill.py</file>
</skill_resources>
</skill_content>`
	must.Match(t, "result", want, s.Prompt())
	skills, skillsErr := c.SkillsPrompt(t.Context(), toolshelf.PromptLocations())
	commands, commandsErr := c.CommandsPrompt(t.Context(), toolshelf.PromptLocations())
	must.Do(t, errors.Join(skillsErr, commandsErr))
	if all := skills.Text + commands.Text; strings.Count(all, "<location>") != 1 || !strings.Contains(all, "<location>skills/disk/SKILL.md</location>") {
		t.Errorf("got\n%s", all)
	}
}

// A refused item has no text and no name, a vanished item its name, and a plugin selects the entry.
func TestRestorePromptOfRefusedAndVanishedItems(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		"skills/ours/SKILL.md": skill("description: A") + "Ours.\n", "skills/secret/SKILL.md": skill("description: B") + "Secret.\n", "skills/off/SKILL.md": skill("description: C"),
		"commands/hidden.md": "Hidden.\n", "AGENTS.md": "Root.\n", "src/AGENTS.md": "Source.\n",
	})), toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Name != "secret" }), toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Name != "hidden" }),
		toolshelf.WithExposure(func(s toolshelf.SkillInfo) toolshelf.Exposure {
			if s.Name == "off" {
				return toolshelf.ExposeOff
			}
			return s.Exposure
		}))
	known := must.Get(c.Instructions(t.Context(), "."))(t)
	must.Len(t, "known", 1, known)
	used := []toolshelf.Item{{Kind: toolshelf.KindInstruction, Name: "AGENTS.md"}, {Kind: toolshelf.KindSkill, Name: "ours"}, {Kind: toolshelf.KindSkill, Name: "secret"},
		{Kind: toolshelf.KindSkill, Name: "off"}, {Kind: toolshelf.KindCommand, Name: "hidden"}, {Kind: toolshelf.KindSkill, Name: "ours", Plugin: "other"},
		{Kind: toolshelf.KindSkill, Name: "no/name"}, {Kind: toolshelf.KindInstruction, Name: "gone/AGENTS.md"}, {Kind: toolshelf.KindInstruction, Name: "src/AGENTS.md"}, {Kind: toolshelf.KindSkill, Name: "ours"}, {Kind: toolshelf.KindAgent, Name: "x"}}
	got := must.Get(c.RestorePrompt(t.Context(), used, toolshelf.Except(known...)))(t)
	must.Match(t, "Included", []string{"ours", "src/AGENTS.md", "gone/AGENTS.md", "no/name", "ours"},
		got.Included)
	must.NotContain(t, "prompt", got.Text, "Secret", "secret", "Hidden", "hidden", "off", "Root")
}

// An instruction with imports has changed only if the file or an imported file has changed since its
// use. With Imports, the text has the imported texts.
func TestRestorePromptOfInstructionsWithImports(t *testing.T) {
	files := map[string]string{"CLAUDE.md": "Run. @style.md\n", "style.md": "Be short.\n",
		".claude/rules/go.md": "---\npaths: \"*.go\"\n---\nFormat. @../../style.md\n"}
	fsys := memoryOf(t, files)
	var used []toolshelf.Item
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithInstructions(client.Claude()), toolshelf.WithObserver(func(_ context.Context, e toolshelf.Event) {
		if e.Action == toolshelf.EventLoaded {
			used = append(used, toolshelf.Item{Kind: e.Kind, Name: e.Name, Digest: e.Digest})
		}
	}))
	must.Len(t, "list", 2, must.Get(c.Instructions(t.Context(), "x.go"))(t))
	items := used
	for _, tt := range []struct {
		name, style string
		opts        []toolshelf.PromptOption
		changed     bool
		want        string
	}{
		{"the same files", files["style.md"], nil, false, "@style.md"},
		{"with imports", files["style.md"], []toolshelf.PromptOption{toolshelf.Imports(0)}, false, "Run. Be short."},
		{"an import has changed", "Be long.\n", []toolshelf.PromptOption{toolshelf.Imports(0)}, true, "Format. Be long."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must.Do(t, afero.WriteFile(fsys, "style.md", []byte(tt.style), 0o644))
			got := must.Get(c.RestorePrompt(t.Context(), items, tt.opts...))(t)
			if changed := strings.Contains(got.Text, "has changed"); changed != tt.changed || !strings.Contains(got.Text, tt.want) || len(got.Included) != 2 {
				t.Errorf("got %s", got.Text)
			}
		})
	}
	must.Fail(c.RestorePrompt(t.Context(), items, toolshelf.Imports(-1)))(t, "RestorePrompt",
		toolshelf.ErrInvalidOption)
}

// monorepo has a skill of the root with globs, and skills of the directories on the way to
// packages/web/src/a.ts.
func monorepo() map[string]string { return filesOf("monorepo") }

// near returns the names of ListSkillsFor.
func near(t *testing.T, c *toolshelf.Catalog, path string) (names []string) {
	t.Helper()
	for _, s := range must.Get(c.ListSkillsFor(t.Context(), path))(t) {
		names = append(names, s.Name)
	}
	return names
}

func TestListSkillsForHasTheSkillsOnTheWay(t *testing.T) {
	onMemoryAndDisk(t, monorepo(), func(t *testing.T, at toolshelf.Option) {
		c := catalog(t, at, toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()))
		for path, want := range map[string]string{
			"packages/web/src/a.ts":            "deploy types release packages/web:deploy lint",
			"packages/web/src/new/b.ts":        "deploy types release packages/web:deploy lint",
			"packages/web":                     "deploy release packages/web:deploy lint",
			"packages/api/x.go":                "deploy release",
			"packages/dist/x.js":               "deploy release",
			"packages/node_modules/x/index.js": "deploy release",
			"web/a.go":                         "deploy web:deploy",
			"docs/a.md":                        "deploy docs",
			"src/a.go":                         "deploy types",
			".":                                "deploy",
			"":                                 "deploy",
		} {
			must.Equal(t, path, want, strings.Join(near(t, c, path), " "))
		}
		must.Fail(c.ListSkillsFor(t.Context(), "../x"))(t, "outside", toolshelf.ErrOutsideRoot)
		must.Len(t, "the list without a path has skills", 3, must.Get(c.ListSkills(t.Context()))(t))
	})
}

func TestASkillOfADirectoryIsFoundByItsName(t *testing.T) {
	onMemoryAndDisk(t, monorepo(), func(t *testing.T, at toolshelf.Option) {
		c := catalog(t, at, toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()))
		for name, want := range map[string]string{"packages/web:deploy": "Ships the website", "web:deploy": "Ships the other website", "packages/web:lint": "Checks styles", "deploy": "Ships the project"} {
			s := must.Get(c.GetSkill(t.Context(), name))(t)
			must.Equal(t, name, want, s.Description)
			must.Equal(t, name, name, s.Name)
			if text, err := s.FS().Open("SKILL.md"); err != nil {
				t.Errorf("FS of %s: %v", name, err)
			} else {
				text.Close()
			}
		}
		must.Equal(t, "ReadSkillFile", "web",
			string(must.Get(c.ReadSkillFile(t.Context(), "packages/web:deploy", "run.sh"))(t)))
		for name, want := range map[string]error{
			"packages/web:none": toolshelf.ErrSkillNotFound, "packages/dist:built": toolshelf.ErrSkillNotFound, "packages:deploy": toolshelf.ErrSkillNotFound, "none/x:deploy": toolshelf.ErrSkillNotFound, "lint": toolshelf.ErrSkillNotFound,
			"a/b": toolshelf.ErrInvalidSkillName, "packages/../packages/web:deploy": toolshelf.ErrInvalidSkillName, "../x:deploy": toolshelf.ErrInvalidSkillName, "/packages/web:deploy": toolshelf.ErrInvalidSkillName,
			`packages\web:deploy`: toolshelf.ErrInvalidSkillName, "packages/web:": toolshelf.ErrInvalidSkillName, "packages/web:a/b": toolshelf.ErrInvalidSkillName, "packages//web:deploy": toolshelf.ErrInvalidSkillName,
			"packages/./web:deploy": toolshelf.ErrInvalidSkillName, "packages/web:.x": toolshelf.ErrInvalidSkillName, "packages/\x00:deploy": toolshelf.ErrInvalidSkillName,
		} {
			_, err := c.GetSkill(t.Context(), name)
			_, fileErr := c.ReadSkillFile(t.Context(), name, "run.sh")
			must.Is(t, name, want, err)
			must.Is(t, name, want, fileErr)
		}
		for _, name := range []string{"lint", "packages/web:lint"} {
			must.Equal(t, name, "packages/web:lint",
				must.Get(c.GetSkill(t.Context(), name, toolshelf.ForPath("packages/web/src/a.ts")))(t).Name)
		}
		for _, name := range []string{"packages/web:deploy", "web:deploy"} {
			must.Equal(t, name, name,
				must.Get(c.GetSkill(t.Context(), name, toolshelf.ForPath("docs")))(t).Name)
		}
		must.Fail(c.GetSkill(t.Context(), "lint", toolshelf.ForPath("docs")))(t, "GetSkill for another path", toolshelf.ErrSkillNotFound)
	})
	c := catalog(t, toolshelf.WithFs(memoryOf(t, monorepo())), toolshelf.WithSkillsDir(".claude/skills"))
	must.Fail(c.GetSkill(t.Context(), "packages/web:deploy"))(t, "without a client", toolshelf.ErrInvalidSkillName)
}

func TestPromptAndSearchForAPath(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, monorepo())), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()))
	path := toolshelf.ForPath("packages/web/src/a.ts")
	prompt, err := c.SkillsPrompt(t.Context(), path)
	if want := []string{"deploy", "types", "release", "packages/web:deploy", "lint"}; err != nil || !slices.Equal(prompt.Included, want) {
		t.Errorf("%q, %v", prompt.Included, err)
	}
	prompt, err = c.SkillsPrompt(t.Context(), path, toolshelf.Budget(300), toolshelf.PromptFirst("lint"))
	if err != nil || len(prompt.Dropped)+len(prompt.Named) == 0 || !strings.Contains(prompt.Text, "Checks styles") {
		t.Errorf("lint is not first: %+v, %v", prompt, err)
	}
	for query, want := range map[string]string{"website": "packages/web:deploy", "styles": "lint", "ships project": "deploy"} {
		found := must.Get(c.SearchSkills(t.Context(), query, 1, path))(t)
		must.Len(t, query, 1, found.Results)
		must.Equal(t, query, want, found.Results[0].Name)
	}
	for query, total := range map[string]int{"pages": 0, "website": 0, "ships": 1} {
		must.Equal(t, query, total,
			must.Get(c.SearchSkills(t.Context(), query, 0, toolshelf.ForPath(".")))(t).TotalFound)
	}
	must.Equal(t, "without a path", 0,
		must.Get(c.SearchSkills(t.Context(), "website", 0))(t).TotalFound)
	for _, call := range map[string]func() error{
		"prompt": func() error { _, err := c.SkillsPrompt(t.Context(), toolshelf.ForPath("..")); return err },
		"search": func() error { _, err := c.SearchSkills(t.Context(), "x", 0, toolshelf.ForPath("..")); return err },
	} {
		must.Is(t, "outside", toolshelf.ErrOutsideRoot, call())
	}
}

func TestSkillsForAPathAreFresh(t *testing.T) {
	root := diskOf(t, monorepo())
	for name, option := range map[string]toolshelf.Option{"validated": nil, "watched": toolshelf.WithWatch()} {
		t.Run(name, func(t *testing.T) {
			c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()), option)
			dir := filepath.Join(root, "packages", "web", ".claude", "skills", "fresh")
			for range 3 {
				write(t, skill("description: New"), dir, "SKILL.md")
				must.Has(t, "skills", near(t, c, "packages/web"), "fresh")
				write(t, skill("description: Other"), dir, "SKILL.md")
				must.Equal(t, "Description", "Other",
					must.Get(c.GetSkill(t.Context(), "packages/web:fresh"))(t).Description)
				must.Do(t, os.RemoveAll(dir))
				if got := near(t, c, "packages/web"); slices.Contains(got, "fresh") {
					t.Errorf("%q has the removed skill", got)
				}
				must.Fail(c.GetSkill(t.Context(), "packages/web:fresh"))(t, "GetSkill",
					toolshelf.ErrSkillNotFound)
			}
		})
	}
}

// With WithWatch, OnChange reports the skills of the directories for which calls have asked, and a
// filter hides a skill there.
func TestOnChangeReportsSkillsOfDirectories(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems do not watch single directories")
	}
	root := diskOf(t, monorepo())
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()), toolshelf.WithWatch())
	view := must.Get(c.View(toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Name != "packages/web:fresh" })))(t)
	near(t, c, "packages/web/src/a.ts")
	all, filtered := make(chan toolshelf.Change, 10), make(chan toolshelf.Change, 10)
	defer c.OnChange(func(change toolshelf.Change) { all <- change })()
	defer view.OnChange(func(change toolshelf.Change) { filtered <- change })()
	next := func(changes chan toolshelf.Change) toolshelf.Names {
		select {
		case change := <-changes:
			return change.Skills
		case <-time.After(patience):
			t.Fatal("no change is reported")
			return toolshelf.Names{}
		}
	}
	at := func(name string) []string {
		return []string{root, "packages", "web", ".claude", "skills", name, "SKILL.md"}
	}
	write(t, skill("description: New"), root, "new", "SKILL.md")
	fresh := filepath.Dir(filepath.Join(at("fresh")...))
	must.Do(t, os.Rename(filepath.Join(root, "new"), fresh)) // the file is complete from the beginning
	must.Match(t, "added", []string{"packages/web:fresh"}, next(all).Added)
	write(t, skill("description: Another text"), at("lint")...)
	for kind, changes := range map[string]chan toolshelf.Change{"catalog": all, "view": filtered} {
		if got := next(changes); !slices.Equal(got.Changed, []string{"packages/web:lint"}) || got.Added != nil {
			t.Errorf("%s: changed: %+v", kind, got)
		}
	}
}

func TestTheGateDecidesAboutSkillsOfDirectories(t *testing.T) {
	files := map[string]string{}
	for name, text := range monorepo() {
		files["/p/"+name] = text
	}
	fsys, c, g := gatedCatalog(t, files, toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()))
	path := "packages/web/src/a.ts"
	must.Len(t, "without an approval", 0, near(t, c, path))
	must.Fail(c.GetSkill(t.Context(), "packages/web:deploy"))(t, "GetSkill",
		toolshelf.ErrSkillNotFound)
	if got := g.approve(t, c); !slices.Contains(got, "skill packages/web:deploy") || slices.Contains(got, "skill packages/node_modules/x:o") {
		t.Errorf("pending: %q", got)
	}
	must.Equal(t, "approved", "deploy types release packages/web:deploy lint", strings.Join(near(t, c, path), " "))
	must.Equal(t, "raw", "web",
		string(must.Get(c.ReadSkillFile(t.Context(), "packages/web:deploy", "run.sh"))(t)))
	putFile(t, fsys, "/p/packages/web/.claude/skills/deploy/run.sh", "evil")
	if got := near(t, c, path); slices.Contains(got, "packages/web:deploy") {
		t.Errorf("changed: %q", got)
	}
	if raw, err := c.ReadSkillFile(t.Context(), "packages/web:deploy", "run.sh"); err == nil {
		t.Errorf("read %q", raw)
	}
}

func TestFiltersExposureAndEventsOfSkillsForAPath(t *testing.T) {
	files := monorepo()
	files[".claude/settings.json"] = `{"skillOverrides":{"packages/web:deploy":"off","lint":"name-only"}}`
	files["packages/web/.claude/settings.json"] = `{"skillOverrides":{"release":"off","packages:release":"off"}}`
	var events []string
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()),
		toolshelf.WithObserver(func(_ context.Context, e toolshelf.Event) { events = append(events, e.Action+" "+e.Name+" "+e.Layer) }))
	prompt := must.Get(c.SkillsPrompt(t.Context(), toolshelf.ForPath("packages/web")))(t)
	must.Match(t, "prompt.Included", []string{"deploy", "release", "lint"}, prompt.Included)
	must.Match(t, "prompt.Named", []string{"lint"}, prompt.Named)
	view := must.Get(c.View(toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Name != "packages/web:lint" })))(t)
	if got := near(t, view, "packages/web"); slices.Contains(got, "lint") {
		t.Errorf("the filter shows %q", got)
	}
	if _, err := view.GetSkill(t.Context(), "lint", toolshelf.ForPath("packages/web")); !errors.Is(err, toolshelf.ErrSkillNotFound) || strings.Contains(err.Error(), "packages/web:lint") {
		t.Errorf("the error %v shows a hidden skill", err)
	}
	events = nil
	must.Get(c.GetSkill(t.Context(), "packages/web:lint"))(t)
	if _, err := view.GetSkill(t.Context(), "packages/web:lint"); err == nil {
		t.Error("the filter has no effect")
	}
	must.Match(t, "events", []string{"loaded packages/web:lint packages/web/.claude/skills", "refused packages/web:lint packages/web/.claude/skills"}, events)
	restored, err := c.RestorePrompt(t.Context(), []toolshelf.Item{{Kind: toolshelf.KindSkill, Name: "packages/web:lint"}})
	if err != nil || !slices.Equal(restored.Included, []string{"packages/web:lint"}) {
		t.Errorf("%+v, %v", restored, err)
	}
}

// No link leads out of the root, and a link within the root is followed.
func TestSkillsForAPathAreConfined(t *testing.T) {
	outside, root := diskOf(t, map[string]string{".claude/skills/evil/SKILL.md": skill("description: x")}), diskOf(t, monorepo())
	for link, target := range map[string]string{"out": outside, "in": filepath.Join("packages", "web")} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()))
	must.Fail(c.ListSkillsFor(t.Context(), "out/a.go"))(t, "ListSkillsFor", toolshelf.ErrOutsideRoot)
	if s, err := c.GetSkill(t.Context(), "out/.:evil"); err == nil {
		t.Errorf("%q", s.Path)
	}
	must.Has(t, "near", near(t, c, "in/a.go"), "in:deploy")
}

// Globs of hostile skills take bounded time, and have no effect on other skills.
func TestGlobsOfSkillsAreBounded(t *testing.T) {
	files := monorepo()
	for i := range 200 {
		files[fmt.Sprintf(".claude/skills/h%03d/SKILL.md", i)] = skill("description: x\npaths: \"" + strings.Repeat("**/{a,b}*c*d*e*f*g*h,", 2000) + "\"")
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()))
	must.Match(t, "skills apply", []string{"deploy", "types"},
		near(t, c, "src/"+strings.Repeat("a/", 500)+"acdefg"))
}

func TestAPathCostsTheStatsOnTheWay(t *testing.T) {
	files := map[string]string{".claude/skills/deploy/SKILL.md": skill("description: d"), "a/b/c/d/e/f/x.go": ""}
	for row, most := range map[string]int{"claude": 60, "codex": 0} {
		c := must.Get(client.Lookup(row))(t)
		var looks []string
		opened := catalog(t, toolshelf.WithFs(recording(memoryOf(t, files), &looks)), toolshelf.WithHome(""), toolshelf.WithClient(c))
		costs := map[string]int{}
		for range 2 { // the second time is the measurement
			for name, call := range map[string]func() error{
				"list": func() error { _, err := opened.ListSkills(t.Context()); return err },
				"path": func() error { _, err := opened.ListSkillsFor(t.Context(), "a/b/c/d/e/f/x.go"); return err },
			} {
				looks = nil
				must.Do(t, call())
				costs[name] = len(looks)
			}
		}
		if n := costs["path"] - costs["list"]; n > most {
			t.Errorf("%s: %d calls for the path (%v), want at most %d", row, n, costs, most)
		} else {
			t.Logf("%s: %d calls for a path of depth 6", row, n)
		}
	}
}

// A skill that is off keeps its place: the skill of a lower layer and the command of the name stay
// hidden.
func TestASkillThatIsOffKeepsItsPlace(t *testing.T) {
	files := memoryOf(t, map[string]string{"skills/deploy/SKILL.md": skill("description: Ours"), "user/deploy/SKILL.md": skill("description: Theirs"), "commands/deploy.md": "Command.\n"})
	state := toolshelf.ExposeOff
	c := catalog(t, toolshelf.WithFs(files), toolshelf.WithSkillsDir("skills", "user"), toolshelf.WithExposure(func(toolshelf.SkillInfo) toolshelf.Exposure { return state }))
	must.Fail(c.Expand(t.Context(), "/deploy"))(t, "Expand", toolshelf.ErrCommandNotFound,
		`the skill "deploy" is off`)
	must.Len(t, "CompleteName", 0, must.Get(c.CompleteName(t.Context(), "", 0))(t))
	prompt, err := c.SkillsPrompt(t.Context())
	if err != nil || prompt.Text != "" {
		t.Errorf("SkillsPrompt: %v, %v", prompt, err)
	}
	for _, unknown := range []toolshelf.Exposure{"on", "hidden"} {
		state = unknown
		if found, err := c.GetSkill(t.Context(), "deploy"); err != nil || found.Exposure != toolshelf.ExposeOff || found.Description != "Ours" {
			t.Errorf("%q: %+v, %v", unknown, found, err)
		}
	}
	state = toolshelf.ExposeUser
	must.Equal(t, "Kind", toolshelf.KindSkill, must.Get(c.Expand(t.Context(), "/deploy"))(t).Kind)
}

// Settings are read again after a change, also by a view, and a filter sees the current exposure.
func TestExposureFollowsTheSettings(t *testing.T) {
	root := t.TempDir()
	write := func(file, text string) {
		t.Helper()
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755), os.WriteFile(filepath.Join(root, file), []byte(text), 0o644)))
	}
	write(".claude/skills/deploy/SKILL.md", skill("description: Ships"))
	for name, option := range map[string]toolshelf.Option{"validated": toolshelf.WithHome(""), "watched": toolshelf.WithWatch()} {
		t.Run(name, func(t *testing.T) {
			write(".claude/settings.json", "{}")
			c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()), option)
			view := must.Get(c.View(toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Exposure == toolshelf.ExposeFull })))(t)
			for _, state := range []string{"on", "off", "name-only", "on"} {
				write(".claude/settings.json", `{"skillOverrides":{"deploy":"`+state+`"}}`)
				must.Equal(t, state, state == "on", len(must.Get(view.ListSkills(t.Context()))(t)) == 1)
				if _, err := view.GetSkill(t.Context(), "deploy"); (err == nil) != (state == "on") {
					t.Errorf("%s: %v", state, err)
				}
			}
		})
	}
}
