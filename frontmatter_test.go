package toolshelf_test

import (
	"testing"

	"github.com/toolshelf-go/toolshelf"
)

func TestFrontmatterAfterBlankLines(t *testing.T) {
	const text = "\ufeff\n \r\n---\nname: x\ndescription: d\nis_dependency: false\n---\n\nText.\n"
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"commands/x.md": text, "skills/x/SKILL.md": text})))
	check := func(what, description, content string, raw []byte, diagnostics []toolshelf.Diagnostic) {
		if description != "d" || content != "\nText.\n" || string(raw) != text {
			t.Errorf("%s has the description %q, the content %q and the bytes %q", what, description, content, raw)
		}
		if len(diagnostics) != 1 || diagnostics[0].Code != "FRONTMATTER_AFTER_BLANK_LINES" {
			t.Errorf("%s has the diagnostics %v", what, diagnostics)
		}
	}
	list, err := c.List(t.Context(), toolshelf.Page{})
	if err != nil || len(list.Commands) != 1 || list.Commands[0].Description != "d" {
		t.Errorf("List: %+v, %v", list.Commands, err)
	}
	command, err := c.Get(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	check("the command", command.Metadata.Description, command.Content, command.Raw, command.Diagnostics)
	skill, err := c.GetSkill(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	check("the skill", skill.Description, skill.Content, skill.Raw, skill.Diagnostics)
}
