// Package outagetest tests the methods of a catalog over a store that does not answer.
package outagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// Files are the files for Calls. The commands are below "commands" and the skills below
// "skills". The files with the name long are longer than the 4 KB that a list reads.
var Files = map[string]string{
	"commands/deploy.md":        command("Deploy"),
	"commands/long.md":          command("Deploy more") + long,
	"skills/pdf/SKILL.md":       skill("pdf"),
	"skills/pdf/scripts/run.sh": "echo run\n",
	"skills/long/SKILL.md":      skill("long") + long,
}

var long = strings.Repeat("Do the next step.\n", 500)

func command(description string) string {
	return "---\ndescription: " + description + "\n---\nDo the first step for $1.\n"
}

func skill(name string) string {
	return "---\nname: " + name + "\ndescription: Read " + name + " files\n---\nDo the first step.\n"
}

// A Call calls a method of a catalog with Files.
type Call struct {
	Name string
	Do   func(context.Context, *toolshelf.Catalog) error
}

// Calls are calls of all methods that read a store. The methods that list come first.
var Calls = []Call{
	{"List", func(ctx context.Context, cat *toolshelf.Catalog) error {
		list, err := cat.List(ctx, toolshelf.Page{})
		return expect(err, len(list.Commands), 2)
	}},
	{"ListSkills", func(ctx context.Context, cat *toolshelf.Catalog) error {
		skills, err := cat.ListSkills(ctx)
		return expect(err, len(skills), 2)
	}},
	{"ListPrompts", func(ctx context.Context, cat *toolshelf.Catalog) error {
		adapter, err := mcpadapter.New(cat)
		if err != nil {
			return err
		}
		list, err := adapter.ListPrompts(ctx, nil)
		return expect(err, len(list.Prompts), 3) // the skill "long" hides the command "long"
	}},
	{"Get", get("deploy")},
	{"Get of a long command", get("long")},
	{"Get of an unknown name", func(ctx context.Context, cat *toolshelf.Catalog) error {
		_, err := cat.Get(ctx, "unknown")
		if errors.Is(err, toolshelf.ErrCommandNotFound) {
			return nil
		}
		return err
	}},
	{"Render", func(ctx context.Context, cat *toolshelf.Catalog) error {
		c, err := cat.Get(ctx, "deploy")
		if err != nil {
			return err
		}
		text, err := c.Render("main")
		return expect(err, strings.Count(text, "step for main."), 1)
	}},
	{"Search", func(ctx context.Context, cat *toolshelf.Catalog) error {
		found, err := cat.Search(ctx, "deploy", 10)
		return expect(err, len(found.Results), 2)
	}},
	{"SearchSkills", func(ctx context.Context, cat *toolshelf.Catalog) error {
		found, err := cat.SearchSkills(ctx, "files", 10)
		return expect(err, len(found.Results), 2)
	}},
	{"GetSkill", getSkill("pdf", 2)},
	{"GetSkill of a long SKILL.md", getSkill("long", 1)},
	{"ReadSkillFile of SKILL.md", readSkillFile("SKILL.md")},
	{"ReadSkillFile of a script", readSkillFile("scripts/run.sh")},
}

func expect(err error, got, want int) error {
	if err == nil && got != want {
		err = fmt.Errorf("%d results, want %d", got, want)
	}
	return err
}

func get(name string) func(context.Context, *toolshelf.Catalog) error {
	return func(ctx context.Context, cat *toolshelf.Catalog) error {
		c, err := cat.Get(ctx, name)
		return expect(err, strings.Count(c.Content, "Do the first step"), 1)
	}
}

func getSkill(name string, files int) func(context.Context, *toolshelf.Catalog) error {
	return func(ctx context.Context, cat *toolshelf.Catalog) error {
		s, err := cat.GetSkill(ctx, name)
		if err == nil {
			err = expect(nil, strings.Count(s.Content, "Do the first step"), 1)
		}
		return expect(err, len(s.Files), files)
	}
}

func readSkillFile(path string) func(context.Context, *toolshelf.Catalog) error {
	return func(ctx context.Context, cat *toolshelf.Catalog) error {
		raw, err := cat.ReadSkillFile(ctx, "pdf", path)
		return expect(err, len(raw), len(Files["skills/pdf/"+path]))
	}
}

// Prepare makes the calls with the given names.
func Prepare(t *testing.T, cat *toolshelf.Catalog, names ...string) {
	t.Helper()
	for _, c := range Calls {
		if !slices.Contains(names, c.Name) {
			continue
		}
		if err := c.Do(t.Context(), cat); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
	}
}

// Check makes all calls during an outage. The calls with the given names must fail with
// toolshelf.ErrFileRead and with cause in the chain, unless cause is nil.
func Check(t *testing.T, cat *toolshelf.Catalog, cause error, fail ...string) {
	t.Helper()
	for _, c := range Calls {
		err := c.Do(t.Context(), cat)
		switch {
		case !slices.Contains(fail, c.Name):
			if err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		case !errors.Is(err, toolshelf.ErrFileRead) || cause != nil && !errors.Is(err, cause):
			t.Errorf("%s: error %v; want ErrFileRead with the cause %v", c.Name, err, cause)
		case !strings.Contains(err.Error(), "check the connection to the store"):
			t.Errorf("%s: the message does not name the store: %v", c.Name, err)
		}
	}
}

// Names returns the names of all calls.
func Names() (names []string) {
	for _, c := range Calls {
		names = append(names, c.Name)
	}
	return names
}
