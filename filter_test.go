package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
)

// shop is a project. Names that begin with "admin" are restricted.
func shop() map[string]string {
	files := map[string]string{
		"commands/admin-drop.md": "---\ndescription: drops it\n---\n", "commands/buy.md": "---\ndescription: buys it\n---\n", "commands/sell.md": "---\ndescription: sells it\n---\n",
		"commands/admin-part.md": "---\nis_dependency: true\n---\n", "commands/part.md": "---\nis_dependency: true\n---\n",
		"more/admin-drop.md": "---\ndescription: shadowed\n---\n", "more/buy.md": "---\ndescription: shadowed\n---\n",
	}
	for _, name := range []string{"admin-tools", "cart", "stock"} {
		files["skills/"+name+"/SKILL.md"] = "---\nname: " + name + "\ndescription: It " + name + "s.\n---\n"
	}
	return files
}

func withoutAdmin() []toolshelf.Filter {
	return []toolshelf.Filter{
		toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return !strings.HasPrefix(i.Name, "admin") }),
		toolshelf.WithSkillFilter(func(i toolshelf.SkillInfo) bool { return !strings.HasPrefix(i.Name, "admin") }),
	}
}

// everything returns what each method of a catalog shows.
func everything(t *testing.T, c *toolshelf.Catalog) map[string][]string {
	t.Helper()
	shown := map[string][]string{"All": names(t, c)}
	for _, command := range collected(t, c.Commands(t.Context())) {
		shown["Commands"] = append(shown["Commands"], command.Name)
	}
	for _, skill := range collected(t, c.Skills(t.Context())) {
		shown["Skills"] = append(shown["Skills"], skill.Name)
	}
	for _, name := range []string{"admin-drop", "buy", "sell", "admin-part", "part"} {
		for range 2 { // first read from the file, then cached
			command, err := c.Get(t.Context(), name)
			switch {
			case err == nil && command.Metadata.Description != "shadowed":
				shown["Get"] = append(shown["Get"], name)
			case !errors.Is(err, toolshelf.ErrCommandNotFound):
				t.Errorf("Get(%q): %v, %v", name, command, err)
			}
		}
	}
	for _, name := range []string{"admin-tools", "cart", "stock"} {
		for range 2 {
			if _, err := c.GetSkill(t.Context(), name); err == nil {
				shown["GetSkill"] = append(shown["GetSkill"], name)
			} else if !errors.Is(err, toolshelf.ErrSkillNotFound) {
				t.Error(err)
			}
		}
		if _, err := c.ReadSkillFile(t.Context(), name, "SKILL.md"); err == nil {
			shown["ReadSkillFile"] = append(shown["ReadSkillFile"], name)
		} else if !errors.Is(err, toolshelf.ErrSkillNotFound) {
			t.Error(err)
		}
	}
	list, err := c.List(t.Context(), toolshelf.Page{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	shown["List"] = []string{fmt.Sprint(list.Pagination.Total)}
	shown["ListSkills"] = slices.Sorted(maps.Keys(skillsOf(t, c)))
	results, err := c.Search(t.Context(), "it", 0)
	if err != nil {
		t.Fatal(err)
	}
	skills, err := c.SearchSkills(t.Context(), "it", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(results.Results, skills.Results...) {
		shown["Search"] = append(shown["Search"], r.Name)
	}
	slices.Sort(shown["Search"])
	skillsPrompt, err := c.SkillsPrompt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	commandsPrompt, err := c.CommandsPrompt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shown["prompts"] = append(skillsPrompt.Included, commandsPrompt.Included...)
	return shown
}

func twice(names ...string) (all []string) {
	for _, n := range names {
		all = append(all, n, n)
	}
	return all
}

func TestAFilterHidesEntriesFromEveryMethod(t *testing.T) {
	whole := map[string][]string{
		"All": {"admin-drop", "buy", "sell"}, "Commands": {"admin-drop", "buy", "sell"}, "List": {"3"}, "Get": twice("admin-drop", "buy", "sell", "admin-part", "part"),
		"ListSkills": {"admin-tools", "cart", "stock"}, "Skills": {"admin-tools", "cart", "stock"}, "GetSkill": twice("admin-tools", "cart", "stock"), "ReadSkillFile": {"admin-tools", "cart", "stock"},
		"Search": {"admin-drop", "admin-tools", "buy", "cart", "sell", "stock"}, "prompts": {"admin-tools", "cart", "stock", "admin-drop", "buy", "sell"},
	}
	filtered := map[string][]string{
		"All": {"buy", "sell"}, "Commands": {"buy", "sell"}, "List": {"2"}, "Get": twice("buy", "sell", "part"),
		"ListSkills": {"cart", "stock"}, "Skills": {"cart", "stock"}, "GetSkill": twice("cart", "stock"), "ReadSkillFile": {"cart", "stock"},
		"Search": {"buy", "cart", "sell", "stock"}, "prompts": {"cart", "stock", "buy", "sell"},
	}
	root := toolshelf.WithRoot(diskOf(t, shop()))
	layers := toolshelf.WithCommandsDir("commands", "more")
	owner := catalog(t, root, layers)
	view, err := owner.View(withoutAdmin()...)
	if err != nil {
		t.Fatal(err)
	}
	one, err := owner.View(withoutAdmin()[0])
	if err != nil {
		t.Fatal(err)
	}
	both, err := one.View(withoutAdmin()[1])
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		catalog *toolshelf.Catalog
		want    map[string][]string
	}{
		"no filter":            {owner, whole},
		"filters of New":       {catalog(t, root, withoutAdmin()[0], layers, withoutAdmin()[1]), filtered},
		"filters of a view":    {view, filtered},
		"a view of a view":     {both, filtered},
		"no filter, once more": {owner, whole},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, everything(t, tt.catalog)); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFilterReceivesTheInfoOfAList(t *testing.T) {
	var commands, skills []string
	c := catalog(t, toolshelf.WithFs(memoryOf(t, shop())),
		toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Description == "buys it" && i.Size > 0 }),
		toolshelf.WithSkillFilter(func(i toolshelf.SkillInfo) bool {
			return i.Frontmatter.Text("description") == "It stocks." && i.Layer == "skills"
		}))
	commands, skills = names(t, c), slices.Collect(maps.Keys(skillsOf(t, c)))
	if !slices.Equal(commands, []string{"buy"}) || !slices.Equal(skills, []string{"stock"}) {
		t.Errorf("got %q and %q", commands, skills)
	}
}

func TestAFilterIsCalledAgainForAChangedFile(t *testing.T) {
	root := diskOf(t, shop())
	var asked atomic.Int64
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool {
		asked.Add(1)
		return i.Description == "buys it"
	}))
	for range 3 {
		if got := names(t, c); !slices.Equal(got, []string{"buy"}) {
			t.Errorf("got %q", got)
		}
	}
	if n := asked.Load(); n != 5 {
		t.Errorf("the filter was called %d times for 5 unchanged commands", n)
	}
	if _, err := c.Get(t.Context(), "buy"); err != nil {
		t.Error(err)
	}
	write := func(name, description string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, "commands", name), []byte("---\ndescription: "+description+"\n---\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("buy.md", "bought it")
	if _, err := c.Get(t.Context(), "buy"); !errors.Is(err, toolshelf.ErrCommandNotFound) {
		t.Errorf("a command that the filter now refuses: %v", err)
	}
	write("sell.md", "buys it")
	if _, err := c.Get(t.Context(), "sell"); err != nil {
		t.Errorf("a command that the filter now keeps: %v", err)
	}
	if got := names(t, c); !slices.Equal(got, []string{"sell"}) {
		t.Errorf("got %q", got)
	}
}

func TestAFilterReceivesTheCurrentSkill(t *testing.T) {
	root := diskOf(t, shop())
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithSkillFilter(func(i toolshelf.SkillInfo) bool { return !i.DisableModelInvocation }))
	if _, err := c.GetSkill(t.Context(), "cart"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "skills", "cart", "SKILL.md"), []byte("---\ndescription: d\ndisable-model-invocation: true\n---\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetSkill(t.Context(), "cart"); !errors.Is(err, toolshelf.ErrSkillNotFound) {
		t.Errorf("GetSkill: %v", err)
	}
	if _, err := c.ReadSkillFile(t.Context(), "cart", "SKILL.md"); !errors.Is(err, toolshelf.ErrSkillNotFound) {
		t.Errorf("ReadSkillFile: %v", err)
	}
}

// With a cache TTL, the filter has seen an older version of the file. The catalog
// does not show a new version that the filter refuses.
func TestAFilterIsAppliedToANewVersionDespiteTheCache(t *testing.T) {
	root := diskOf(t, map[string]string{
		"commands/note.md":     "---\ndescription: note\n---\nNothing yet.\n",
		"skills/zed/SKILL.md":  "---\nname: zed\ndescription: d\n---\n",
		"skills/zed/notes.txt": "notes",
	})
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithCacheTTL(time.Hour),
		toolshelf.WithSkillFilter(func(i toolshelf.SkillInfo) bool { return i.License != "private" }),
		toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Description != "private" }))
	names(t, c)
	if _, err := c.ReadSkillFile(t.Context(), "zed", "notes.txt"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"skills/zed/SKILL.md": "---\nname: zed\ndescription: d\nlicense: private\n---\n", "skills/zed/notes.txt": "secret",
		"commands/note.md": "---\ndescription: private\n---\nThe secret.\n",
	} {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"notes.txt", "SKILL.md", "none"} {
		if got, err := c.ReadSkillFile(t.Context(), "zed", file); !errors.Is(err, toolshelf.ErrSkillNotFound) || strings.Contains(err.Error(), "declares this name") {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
	if results, err := c.Search(t.Context(), "secret", 0); err != nil || results.TotalFound > 0 {
		t.Errorf("found %+v, %v", results, err)
	}
}

func TestAFilterMayCallACatalogWithoutTheFilter(t *testing.T) {
	owner := catalog(t, toolshelf.WithFs(memoryOf(t, shop())))
	view, err := owner.View(
		toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool {
			command, err := owner.Get(t.Context(), i.Name)
			return err == nil && !command.Dependency && len(names(t, owner)) == 3 && i.Name != "sell"
		}),
		toolshelf.WithSkillFilter(func(i toolshelf.SkillInfo) bool {
			skill, err := owner.GetSkill(t.Context(), i.Name)
			return err == nil && len(skill.Files) == 1 && i.Name != "cart"
		}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"All": {"admin-drop", "buy"}, "Commands": {"admin-drop", "buy"}, "List": {"2"}, "Get": twice("admin-drop", "buy"),
		"ListSkills": {"admin-tools", "stock"}, "Skills": {"admin-tools", "stock"}, "GetSkill": twice("admin-tools", "stock"), "ReadSkillFile": {"admin-tools", "stock"},
		"Search": {"admin-drop", "admin-tools", "buy", "stock"}, "prompts": {"admin-tools", "stock", "admin-drop", "buy"},
	}
	if diff := cmp.Diff(want, everything(t, view)); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}

func TestANilFilterIsAnInvalidOption(t *testing.T) {
	for _, filter := range []toolshelf.Filter{toolshelf.WithCommandFilter(nil), toolshelf.WithSkillFilter(nil)} {
		if _, err := toolshelf.New(filter); !errors.Is(err, toolshelf.ErrInvalidOption) {
			t.Errorf("New: %v", err)
		}
		if _, err := catalog(t).View(filter); !errors.Is(err, toolshelf.ErrInvalidOption) {
			t.Errorf("View: %v", err)
		}
	}
}

// A panic of a filter reaches the caller, with any context.
func TestPanicOfAFilterReachesTheCaller(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, shop())),
		toolshelf.WithSkillFilter(func(i toolshelf.SkillInfo) bool { panic("no " + i.Name) }))
	for _, ctx := range []context.Context{context.Background(), t.Context()} {
		for range 2 {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				c.GetSkill(ctx, "cart")
			}()
		}
	}
}
