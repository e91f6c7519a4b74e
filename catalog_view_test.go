package toolshelf_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
)

func TestNilFiltersShowEverything(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, shop())), nil, toolshelf.Filter(nil))
	view, err := c.View(nil, toolshelf.Filter(nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*toolshelf.Catalog{"the catalog": c, "the view": view} {
		if got := names(t, c); len(got) != 3 {
			t.Errorf("%s shows %q", name, got)
		}
	}
}

func TestCloseOfAViewClosesNothingElse(t *testing.T) {
	owner := catalog(t, toolshelf.WithFs(memoryOf(t, shop())))
	view, err := owner.View(withoutAdmin()...)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := view.View()
	if err != nil {
		t.Fatal(err)
	}
	works := func(c *toolshelf.Catalog) error {
		_, listErr := c.List(t.Context(), toolshelf.Page{})
		_, getErr := c.Get(t.Context(), "buy")
		_, skillErr := c.GetSkill(t.Context(), "cart")
		_, dirErr := c.ListDir(t.Context(), ".")
		_, viewErr := c.View()
		for _, err := range []error{getErr, skillErr, dirErr, viewErr} {
			if toolshelf.CodeOf(err) != toolshelf.CodeOf(listErr) {
				t.Errorf("List: %v, but another method: %v", listErr, err)
			}
		}
		return listErr
	}
	for range 2 {
		if err := view.Close(); err != nil {
			t.Error(err)
		}
		if err := works(view); !errors.Is(err, toolshelf.ErrClosed) {
			t.Errorf("a closed view: %v", err)
		}
	}
	for name, c := range map[string]*toolshelf.Catalog{"the owner": owner, "a view of the view": inner} {
		if err := works(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := owner.Close(); err != nil {
		t.Error(err)
	}
	if err := works(inner); !errors.Is(err, toolshelf.ErrClosed) {
		t.Errorf("a view of a closed catalog: %v", err)
	}
}

func TestOnChangeOfAViewReportsItsEntries(t *testing.T) {
	root := diskOf(t, shop())
	owner := catalog(t, toolshelf.WithRoot(root))
	view, err := owner.View(withoutAdmin()[1], toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Description != "secret" }))
	if err != nil {
		t.Fatal(err)
	}
	names(t, owner)
	skillsOf(t, owner)
	changes := make(chan toolshelf.Change, 10)
	view.OnChange(func(c toolshelf.Change) { changes <- c })
	closing, err := owner.View()
	if err != nil {
		t.Fatal(err)
	}
	closing.OnChange(func(toolshelf.Change) { t.Error("OnChange of a closed view is called") })
	if err := closing.Close(); err != nil {
		t.Fatal(err)
	}

	for _, step := range []struct {
		name  string
		files map[string]string // "" removes the file
		want  toolshelf.Change
	}{
		{"a new command that the filter keeps is added", map[string]string{"commands/new.md": "New.", "commands/hidden.md": "---\ndescription: secret\n---\n"},
			toolshelf.Change{Commands: toolshelf.Names{Added: []string{"new"}}}},
		{"a command that the filter no longer keeps is removed", map[string]string{"commands/new.md": "---\ndescription: secret\n---\n", "commands/buy.md": "---\ndescription: other\n---\n"},
			toolshelf.Change{Commands: toolshelf.Names{Removed: []string{"new"}, Changed: []string{"buy"}}}},
		{"a command that the filter keeps again is added", map[string]string{"commands/new.md": "New.", "skills/admin-tools/SKILL.md": "x", "skills/cart/SKILL.md": ""},
			toolshelf.Change{Commands: toolshelf.Names{Added: []string{"new"}}, Skills: toolshelf.Names{Changed: []string{"cart"}}}},
	} {
		for file, content := range step.files {
			file = filepath.Join(root, file)
			err := os.Remove(file)
			if content != "" {
				err = os.WriteFile(file, []byte(content), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		names(t, owner)
		skillsOf(t, owner)
		got := <-changes
		for end := time.After(10 * time.Second); !cmp.Equal(got, step.want); {
			// Commands and skills may arrive in two changes.
			select {
			case more := <-changes:
				got.Skills = more.Skills
			case <-end:
				t.Fatalf("%s (-want +got):\n%s", step.name, cmp.Diff(step.want, got))
			}
		}
	}
}
