package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// monorepo has a skill of the root with globs, and skills of the directories on the way to
// packages/web/src/a.ts.
func monorepo() map[string]string {
	at := func(text string) string { return skill("description: " + text) }
	return map[string]string{
		".claude/skills/deploy/SKILL.md":                    at("Ships the project"),
		".claude/skills/types/SKILL.md":                     skill("description: Checks types\npaths: [\"src\", \"*.{ts,tsx}\"]"),
		".claude/skills/docs/SKILL.md":                      skill("description: Writes pages\npaths: docs/**"),
		"packages/.claude/skills/release/SKILL.md":          at("Releases a package"),
		"packages/web/.claude/skills/deploy/SKILL.md":       at("Ships the website"),
		"packages/web/.claude/skills/deploy/run.sh":         "web",
		"packages/web/.claude/skills/lint/SKILL.md":         skill("description: Checks styles\npaths: nothing"),
		"packages/web/src/a.ts":                             "",
		"packages/node_modules/x/.claude/skills/o/SKILL.md": at("Of a dependency"),
		"web/.claude/skills/deploy/SKILL.md":                at("Ships the other website"),
	}
}

// near returns the names of ListSkillsFor.
func near(t *testing.T, c *toolshelf.Catalog, path string) (names []string) {
	t.Helper()
	list := must.Get(c.ListSkillsFor(t.Context(), path))(t)
	for _, s := range list {
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
			"packages/node_modules/x/index.js": "deploy release",
			"web/a.go":                         "deploy web:deploy",
			"docs/a.md":                        "deploy docs",
			"src/a.go":                         "deploy types",
			".":                                "deploy",
			"":                                 "deploy",
		} {
			if got := strings.Join(near(t, c, path), " "); got != want {
				t.Errorf("%q: %s, want %s", path, got, want)
			}
		}
		if _, err := c.ListSkillsFor(t.Context(), "../x"); !errors.Is(err, toolshelf.ErrOutsideRoot) {
			t.Errorf("outside: %v", err)
		}
		list, err := c.ListSkills(t.Context())
		if err != nil || len(list) != 3 {
			t.Errorf("the list without a path has %d skills, %v", len(list), err)
		}
	})
}

func TestASkillOfADirectoryIsFoundByItsName(t *testing.T) {
	onMemoryAndDisk(t, monorepo(), func(t *testing.T, at toolshelf.Option) {
		c := catalog(t, at, toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()))
		for name, want := range map[string]string{"packages/web:deploy": "Ships the website", "web:deploy": "Ships the other website", "packages/web:lint": "Checks styles", "deploy": "Ships the project"} {
			s, err := c.GetSkill(t.Context(), name)
			if err != nil || s.Description != want || s.Name != name {
				t.Errorf("%s: %q, %q, %v", name, s.Name, s.Description, err)
			}
			if text, err := s.FS().Open("SKILL.md"); err != nil {
				t.Errorf("FS of %s: %v", name, err)
			} else {
				text.Close()
			}
		}
		if raw, err := c.ReadSkillFile(t.Context(), "packages/web:deploy", "run.sh"); err != nil || string(raw) != "web" {
			t.Errorf("ReadSkillFile: %q, %v", raw, err)
		}
		for name, want := range map[string]error{
			"packages/web:none": toolshelf.ErrSkillNotFound, "packages:deploy": toolshelf.ErrSkillNotFound, "none/x:deploy": toolshelf.ErrSkillNotFound, "lint": toolshelf.ErrSkillNotFound,
			"a/b": toolshelf.ErrInvalidSkillName, "packages/../packages/web:deploy": toolshelf.ErrInvalidSkillName, "../x:deploy": toolshelf.ErrInvalidSkillName, "/packages/web:deploy": toolshelf.ErrInvalidSkillName,
			`packages\web:deploy`: toolshelf.ErrInvalidSkillName, "packages/web:": toolshelf.ErrInvalidSkillName, "packages/web:a/b": toolshelf.ErrInvalidSkillName, "packages//web:deploy": toolshelf.ErrInvalidSkillName,
			"packages/./web:deploy": toolshelf.ErrInvalidSkillName, "packages/web:.x": toolshelf.ErrInvalidSkillName, "packages/\x00:deploy": toolshelf.ErrInvalidSkillName,
		} {
			_, err := c.GetSkill(t.Context(), name)
			_, fileErr := c.ReadSkillFile(t.Context(), name, "run.sh")
			if !errors.Is(err, want) || !errors.Is(fileErr, want) {
				t.Errorf("%q: %v; %v", name, err, fileErr)
			}
		}
		for _, name := range []string{"lint", "packages/web:lint"} {
			if s, err := c.GetSkill(t.Context(), name, toolshelf.ForPath("packages/web/src/a.ts")); err != nil || s.Name != "packages/web:lint" {
				t.Errorf("GetSkill of %s with ForPath: %q, %v", name, s.Name, err)
			}
		}
		if _, err := c.GetSkill(t.Context(), "lint", toolshelf.ForPath("docs")); !errors.Is(err, toolshelf.ErrSkillNotFound) {
			t.Errorf("GetSkill for another path: %v", err)
		}
	})
	c := catalog(t, toolshelf.WithFs(memoryOf(t, monorepo())), toolshelf.WithSkillsDir(".claude/skills"))
	if _, err := c.GetSkill(t.Context(), "packages/web:deploy"); !errors.Is(err, toolshelf.ErrInvalidSkillName) {
		t.Errorf("without a client: %v", err)
	}
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
		found, err := c.SearchSkills(t.Context(), query, 1, path)
		if err != nil || len(found.Results) != 1 || found.Results[0].Name != want {
			t.Errorf("%s: %+v, %v", query, found, err)
		}
	}
	for query, total := range map[string]int{"pages": 0, "website": 0, "ships": 1} {
		if found, err := c.SearchSkills(t.Context(), query, 0, toolshelf.ForPath(".")); err != nil || found.TotalFound != total {
			t.Errorf("%s: %+v, %v", query, found, err)
		}
	}
	if found, err := c.SearchSkills(t.Context(), "website", 0); err != nil || found.TotalFound != 0 {
		t.Errorf("without a path: %+v, %v", found, err)
	}
	for _, call := range map[string]func() error{
		"prompt": func() error { _, err := c.SkillsPrompt(t.Context(), toolshelf.ForPath("..")); return err },
		"search": func() error { _, err := c.SearchSkills(t.Context(), "x", 0, toolshelf.ForPath("..")); return err },
	} {
		if err := call(); !errors.Is(err, toolshelf.ErrOutsideRoot) {
			t.Errorf("outside: %v", err)
		}
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
				if got := near(t, c, "packages/web"); !slices.Contains(got, "fresh") {
					t.Errorf("%q lacks the new skill", got)
				}
				write(t, skill("description: Other"), dir, "SKILL.md")
				if s, err := c.GetSkill(t.Context(), "packages/web:fresh"); err != nil || s.Description != "Other" {
					t.Errorf("%q, %v", s.Description, err)
				}
				must.Do(t, os.RemoveAll(dir))
				if got := near(t, c, "packages/web"); slices.Contains(got, "fresh") {
					t.Errorf("%q has the removed skill", got)
				}
				if _, err := c.GetSkill(t.Context(), "packages/web:fresh"); !errors.Is(err, toolshelf.ErrSkillNotFound) {
					t.Error(err)
				}
			}
		})
	}
}

func TestTheGateDecidesAboutSkillsOfDirectories(t *testing.T) {
	files := map[string]string{}
	for name, text := range monorepo() {
		files["/p/"+name] = text
	}
	fsys, c, g := gatedCatalog(t, files, toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()))
	path := "packages/web/src/a.ts"
	if got := near(t, c, path); len(got) != 0 {
		t.Errorf("%q without an approval", got)
	}
	if _, err := c.GetSkill(t.Context(), "packages/web:deploy"); !errors.Is(err, toolshelf.ErrSkillNotFound) {
		t.Error(err)
	}
	if got := g.approve(t, c); !slices.Contains(got, "skill packages/web:deploy") || slices.Contains(got, "skill packages/node_modules/x:o") {
		t.Errorf("pending: %q", got)
	}
	if got := strings.Join(near(t, c, path), " "); got != "deploy types release packages/web:deploy lint" {
		t.Errorf("approved: %s", got)
	}
	if raw, err := c.ReadSkillFile(t.Context(), "packages/web:deploy", "run.sh"); err != nil || string(raw) != "web" {
		t.Errorf("%q, %v", raw, err)
	}
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
	prompt, err := c.SkillsPrompt(t.Context(), toolshelf.ForPath("packages/web"))
	if err != nil || !slices.Equal(prompt.Included, []string{"deploy", "release", "lint"}) || !slices.Equal(prompt.Named, []string{"lint"}) {
		t.Errorf("%+v, %v", prompt, err)
	}
	view := must.Get(c.View(toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Name != "packages/web:lint" })))(t)
	if got := near(t, view, "packages/web"); slices.Contains(got, "lint") {
		t.Errorf("the filter shows %q", got)
	}
	if _, err := view.GetSkill(t.Context(), "lint", toolshelf.ForPath("packages/web")); !errors.Is(err, toolshelf.ErrSkillNotFound) {
		t.Error(err)
	}
	events = nil
	if _, err := c.GetSkill(t.Context(), "packages/web:lint"); err != nil {
		t.Error(err)
	}
	if _, err := view.GetSkill(t.Context(), "packages/web:lint"); err == nil {
		t.Error("the filter has no effect")
	}
	if want := []string{"loaded packages/web:lint packages/web/.claude/skills", "refused packages/web:lint packages/web/.claude/skills"}; !slices.Equal(events, want) {
		t.Errorf("%q", events)
	}
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
	if list, err := c.ListSkillsFor(t.Context(), "out/a.go"); !errors.Is(err, toolshelf.ErrOutsideRoot) {
		t.Errorf("%v, %v", list, err)
	}
	if s, err := c.GetSkill(t.Context(), "out/.:evil"); err == nil {
		t.Errorf("%q", s.Path)
	}
	if got := near(t, c, "in/a.go"); !slices.Contains(got, "in:deploy") {
		t.Errorf("%q", got)
	}
}

// statsFs counts the calls that look at a file or a directory.
type statsFs struct {
	afero.Fs
	n int
}

func (f *statsFs) Open(name string) (afero.File, error)  { f.n++; return f.Fs.Open(name) }
func (f *statsFs) Stat(name string) (os.FileInfo, error) { f.n++; return f.Fs.Stat(name) }
func (f *statsFs) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	f.n++
	info, err := f.Fs.Stat(name)
	return info, false, err
}

func TestAPathCostsTheStatsOnTheWay(t *testing.T) {
	files := map[string]string{".claude/skills/deploy/SKILL.md": skill("description: d"), "a/b/c/d/e/f/x.go": ""}
	for row, most := range map[string]int{"claude": 60, "codex": 0} {
		c := must.Get(client.Lookup(row))(t)
		fsys := &statsFs{Fs: memoryOf(t, files)}
		opened := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithHome(""), toolshelf.WithClient(c))
		costs := map[string]int{}
		for range 2 { // the second time is the measurement
			for name, call := range map[string]func() error{
				"list": func() error { _, err := opened.ListSkills(t.Context()); return err },
				"path": func() error { _, err := opened.ListSkillsFor(t.Context(), "a/b/c/d/e/f/x.go"); return err },
			} {
				fsys.n = 0
				must.Do(t, call())
				costs[name] = fsys.n
			}
		}
		if n := costs["path"] - costs["list"]; n > most {
			t.Errorf("%s: %d calls for the path (%v), want at most %d", row, n, costs, most)
		} else {
			t.Log(fmt.Sprintf("%s: %d calls for a path of depth 6", row, n))
		}
	}
}

// A skill that is off keeps its place: the skill of a lower layer and the command of the name stay
// hidden.
func TestASkillThatIsOffKeepsItsPlace(t *testing.T) {
	files := memoryOf(t, map[string]string{"skills/deploy/SKILL.md": skill("description: Ours"), "user/deploy/SKILL.md": skill("description: Theirs"), "commands/deploy.md": "Command.\n"})
	state := toolshelf.ExposeOff
	c := catalog(t, toolshelf.WithFs(files), toolshelf.WithSkillsDir("skills", "user"), toolshelf.WithExposure(func(toolshelf.SkillInfo) toolshelf.Exposure { return state }))
	if _, err := c.Expand(t.Context(), "/deploy"); !errors.Is(err, toolshelf.ErrCommandNotFound) || !strings.Contains(err.Error(), `the skill "deploy" is off`) {
		t.Errorf("Expand: %v", err)
	}
	if completions, err := c.CompleteName(t.Context(), "", 0); err != nil || len(completions) != 0 {
		t.Errorf("CompleteName: %v, %v", completions, err)
	}
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
	if x, err := c.Expand(t.Context(), "/deploy"); err != nil || x.Kind != toolshelf.KindSkill {
		t.Errorf("%+v, %v", x, err)
	}
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
				skills, err := view.ListSkills(t.Context())
				if err != nil || (len(skills) == 1) != (state == "on") {
					t.Errorf("%s: %v, %v", state, skills, err)
				}
				if _, err := view.GetSkill(t.Context(), "deploy"); (err == nil) != (state == "on") {
					t.Errorf("%s: %v", state, err)
				}
			}
		})
	}
}
