package agents_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// TestViewOfAnAgentNeedsWithTools shows a pitfall of the document: the tools for files show a
// hidden skill.
func TestViewOfAnAgentNeedsWithTools(t *testing.T) {
	view, err := newShelf(t).catalog.View(toolshelf.WithSkillFilter(func(toolshelf.SkillInfo) bool { return false }))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		opts []mcpadapter.Option
		tool string
		want string
	}{
		{nil, "list_skills", `{"skills":[]}`},
		{nil, "list_directory", "[FILE] SKILL.md"},
		{[]mcpadapter.Option{mcpadapter.WithTools("list_skills", "get_skill")}, "list_directory", "Unknown tool"},
	} {
		adapter := must.Get(mcpadapter.New(view, test.opts...))(t)
		arguments := `{}`
		if test.tool == "list_directory" {
			arguments = `{"path":"skills/letter"}`
		}
		if text, _ := adapter.Answer(t.Context(), test.tool, json.RawMessage(arguments)); !strings.Contains(text, test.want) {
			t.Errorf("%s: got %s, want %s", test.tool, text, test.want)
		}
	}
}
