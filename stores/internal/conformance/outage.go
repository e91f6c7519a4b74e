package conformance

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

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

// A call calls a method of a catalog with Files, and returns the number of the results.
type call struct {
	name string
	want int
	do   func() (int, error)
}

// calls returns calls of all methods that read a store. The methods that list come first.
func calls(ctx context.Context, cat *toolshelf.Catalog) []call {
	first := func(text string, err error) (int, error) { return strings.Count(text, "Do the first step"), err }
	get := func(name string) (int, error) {
		c, err := cat.Get(ctx, name)
		return first(c.Content, err)
	}
	getSkill := func(name string) (int, error) { // the content and the files
		s, err := cat.GetSkill(ctx, name)
		content, err := first(s.Content, err)
		return content + len(s.Files), err
	}
	read := func(path string) call {
		return call{"ReadSkillFile of " + path, len(Files["skills/pdf/"+path]), func() (int, error) {
			raw, err := cat.ReadSkillFile(ctx, "pdf", path)
			return len(raw), err
		}}
	}
	return []call{
		{"List", 2, func() (int, error) {
			list, err := cat.List(ctx, toolshelf.Page{})
			return len(list.Commands), err
		}},
		{"ListSkills", 2, func() (int, error) {
			skills, err := cat.ListSkills(ctx)
			return len(skills), err
		}},
		{"ListPrompts", 3, func() (int, error) { // the skill "long" hides the command "long"
			adapter, err := mcpadapter.New(cat)
			if err != nil {
				return 0, err
			}
			list, err := adapter.ListPrompts(ctx, nil)
			return len(list.Prompts), err
		}},
		{"Get", 1, func() (int, error) { return get("deploy") }},
		{"Get of a long command", 1, func() (int, error) { return get("long") }},
		{"Get of an unknown name", 0, func() (int, error) {
			found, err := get("unknown")
			if errors.Is(err, toolshelf.ErrCommandNotFound) {
				return 0, nil
			}
			return found + 1, err
		}},
		{"Render", 1, func() (int, error) {
			c, err := cat.Get(ctx, "deploy")
			if err != nil {
				return 0, err
			}
			text, err := c.Render("main")
			return strings.Count(text, "step for main."), err
		}},
		{"Search", 2, func() (int, error) {
			found, err := cat.Search(ctx, "deploy", 10)
			return len(found.Results), err
		}},
		{"SearchSkills", 2, func() (int, error) {
			found, err := cat.SearchSkills(ctx, "files", 10)
			return len(found.Results), err
		}},
		{"GetSkill", 1 + 2, func() (int, error) { return getSkill("pdf") }},
		{"GetSkill of a long SKILL.md", 1 + 1, func() (int, error) { return getSkill("long") }},
		read("SKILL.md"),
		read("scripts/run.sh"),
	}
}

// Calls returns the names of all calls.
func Calls() (names []string) {
	for _, c := range calls(context.Background(), nil) {
		names = append(names, c.name)
	}
	return names
}

// Prepare makes the calls with the given names. A call that reaches a short Options.Timeout is
// repeated.
func Prepare(t *testing.T, cat *toolshelf.Catalog, names ...string) {
	t.Helper()
	for _, c := range calls(t.Context(), cat) {
		if !slices.Contains(names, c.name) {
			continue
		}
		got, err := c.do()
		for errors.Is(err, context.DeadlineExceeded) {
			got, err = c.do()
		}
		if err != nil || got != c.want {
			t.Fatalf("%s: %d results, %v; want %d", c.name, got, err, c.want)
		}
	}
}

// Check makes all calls during an outage. The calls with the given names must fail with
// toolshelf.ErrFileRead and with cause in the chain, unless cause is nil.
func Check(t *testing.T, cat *toolshelf.Catalog, cause error, fail ...string) {
	t.Helper()
	for _, c := range calls(t.Context(), cat) {
		got, err := c.do()
		switch {
		case !slices.Contains(fail, c.name):
			if err != nil || got != c.want {
				t.Errorf("%s: %d results, %v; want %d", c.name, got, err, c.want)
			}
		case !errors.Is(err, toolshelf.ErrFileRead) || cause != nil && !errors.Is(err, cause):
			t.Errorf("%s: error %v; want ErrFileRead with the cause %v", c.name, err, cause)
		case !strings.Contains(err.Error(), "check the connection to the store"):
			t.Errorf("%s: the message does not name the store: %v", c.name, err)
		}
	}
}

// MethodsDuringAnOutage tests all methods of a catalog over a store with Files: without
// Options.Stale all fail, and with Options.Stale none. The function open returns the store of a
// directory, and outage begins or ends the outage, whose error is cause.
func MethodsDuringAnOutage(
	t *testing.T, open func(t *testing.T, dir string, stale Stale) fs.FS, outage func(bool), cause error,
) {
	for name, test := range map[string]struct {
		stale Stale
		fail  []string
	}{
		"without Stale": {nil, Calls()},
		"with Stale":    {func(error, time.Duration) error { return nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := Catalog(t, open(t, "commands", test.stale), open(t, "skills", test.stale))
			Prepare(t, catalog, "List", "ListSkills")
			outage(true)
			defer outage(false)
			Check(t, catalog, cause, test.fail...)
		})
	}
}
