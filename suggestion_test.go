package toolshelf_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
)

func TestGetSuggestsASimilarName(t *testing.T) {
	c := catalog(t, toolshelf.WithNestedCommands(), toolshelf.WithFs(memoryOf(t, map[string]string{
		"commands/review.md":             "",
		"commands/fix.md":                "",
		"commands/frontend/component.md": "",
		"commands/secretive.md":          "---\nis_dependency: true\n---\n",
		"commands/private-notes.md":      "",
	})), toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Name != "private-notes" }))
	const list = "list the commands for the names"
	for _, tt := range []struct{ name, says string }{
		{"Review", `did you mean "review"?`},
		{"reviw.md", `did you mean "review"?`},
		{"rviews", list},
		{"FIX", `did you mean "fix"?`},
		{"fox", list},
		{"fxi", `did you mean "fix"?`},
		{"IFX", `did you mean "fix"?`},
		{"xif", list}, // two swaps
		{"fi", list},
		{"frontend:componnt", `did you mean "frontend:component"?`},
		{"component", list},
		{"secretiv", list},     // List omits secretive
		{"private-note", list}, // the filter hides private-notes
	} {
		_, err := c.Get(t.Context(), tt.name)
		if !errors.Is(err, toolshelf.ErrCommandNotFound) || !strings.HasSuffix(err.Error(), tt.says+" (COMMAND_NOT_FOUND)") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.says)
		}
	}
}

func TestUnknownNamesWithArgumentsOrSwappedLettersAreAnsweredWithTheName(t *testing.T) {
	c := catalog(t, toolshelf.WithLooseNames(), toolshelf.WithFs(memoryOf(t, map[string]string{
		"commands/review.md": "", "skills/pdf/SKILL.md": "---\nname: pdf\ndescription: d\n---\n",
	})))
	_, err := c.Get(t.Context(), "review 417")
	if !errors.Is(err, toolshelf.ErrCommandNotFound) || !strings.Contains(err.Error(), `did you mean "review"?`) {
		t.Error(err)
	}
	for _, name := range []string{"PDF extract the text", "pfd"} {
		_, err := c.GetSkill(t.Context(), name)
		if !errors.Is(err, toolshelf.ErrSkillNotFound) || !strings.Contains(err.Error(), `did you mean "pdf"?`) {
			t.Error(err)
		}
	}
}

func TestGetExplainsANestedNameWithoutNestedCommands(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"commands/frontend/component.md": ""})))
	if _, err := c.Get(t.Context(), "frontend:component"); !errors.Is(err, toolshelf.ErrInvalidCommandName) || !strings.Contains(err.Error(), "WithNestedCommands") {
		t.Error(err)
	}
}
