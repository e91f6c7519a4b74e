package mcpadapter_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// skillList is the result of list_skills.
type skillList struct {
	Skills       []string
	Descriptions map[string]string
}

func listSkills(t *testing.T, a *mcpadapter.Adapter) (list skillList) {
	t.Helper()
	got, err := a.Call(ctx, "list_skills", nil)
	if err != nil || got.IsError || got.Text != string(got.Structured) {
		t.Fatalf("%+v, %v", got, err)
	}
	must.Do(t, json.Unmarshal(got.Structured, &list))
	tool, _ := a.Lookup("list_skills")
	if err := validate(t, compiled(t, tool.OutputSchema), got.Structured); err != nil {
		t.Error(err)
	}
	return list
}

func TestListSkillsDescribesTheSkills(t *testing.T) {
	for _, tt := range []struct {
		name, description, want string
	}{
		{"one line", "Reads PDF files.", "Reads PDF files."},
		{"several lines", "|\n  Reads PDF files.\n\n  Use\tit   for forms.", "Reads PDF files. Use it for forms."},
		{"200 characters", strings.Repeat("é", 200), strings.Repeat("é", 200)},
		{"201 characters in one word", strings.Repeat("é", 201), strings.Repeat("é", 199) + "…"},
		{"the end of a word", strings.Repeat("word ", 60), strings.TrimSpace(strings.Repeat("word ", 40)) + "…"},
		{"the exact end of a word", strings.Repeat("x", 199) + " y", strings.Repeat("x", 199) + "…"},
		{"no description", `""`, ""},
	} {
		a := adapterOf(t, catalog(t, memory(t, map[string]string{"skills/a/SKILL.md": "---\ndescription: " + tt.description + "\n---\n"})))
		got := listSkills(t, a)
		if diff := cmp.Diff([]string{"a"}, got.Skills); diff != "" {
			t.Errorf("%s: skills (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(tt.want, got.Descriptions["a"]); diff != "" {
			t.Errorf("%s: description (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestListSkillsWithoutSkills(t *testing.T) {
	fsys := memory(t, map[string]string{"skills/notes.txt": ""})
	got, err := adapterOf(t, catalog(t, fsys)).Call(ctx, "list_skills", nil)
	if err != nil || got.Text != `{"skills":[]}` {
		t.Errorf("got %+v, %v", got, err)
	}
}

// list_skills shortens long descriptions before it omits descriptions, and omits the descriptions
// of later layers first.
func TestListSkillsLimitsTheDescriptions(t *testing.T) {
	for _, tt := range []struct {
		first, second int // skills in each layer
		described     string
		most          int // characters of the longest description
	}{
		{50, 50, "all", 200},
		{60, 60, "all", 167},
		{100, 600, "the first layer", 150},
		{1500, 1, "some of the first layer", 150},
	} {
		files := map[string]string{}
		for layer, n := range map[string]int{"z-first": tt.first, "a-second": tt.second} {
			for i := range n {
				files[fmt.Sprintf("%s/%s-%04d/SKILL.md", layer, layer, i)] = "---\ndescription: " + strings.Repeat("é", 1000) + "\n---\n"
			}
		}
		got := listSkills(t, adapterOf(t, catalog(t, memory(t, files), toolshelf.WithSkillsDir("z-first", "a-second"))))
		if len(got.Skills) != tt.first+tt.second {
			t.Errorf("%d skills, want %d", len(got.Skills), tt.first+tt.second)
		}
		total, longest, first := 0, 0, 0
		for name, description := range got.Descriptions {
			n := utf8.RuneCountInString(description)
			total += n
			longest = max(longest, n)
			if strings.HasPrefix(name, "z-first") {
				first++
			}
		}
		if total > 20_000 || total < 16_000 || longest > tt.most {
			t.Errorf("%d and %d skills: %d characters, %d of one skill", tt.first, tt.second, total, longest)
		}
		second := len(got.Descriptions) - first
		described := "none"
		switch {
		case first == tt.first && second == tt.second:
			described = "all"
		case first == tt.first:
			described = "the first layer"
		case second == 0 && first > 0:
			described = "some of the first layer"
		}
		if described != tt.described {
			t.Errorf("%d and %d skills: %d and %d are described", tt.first, tt.second, first, second)
		}
		if longest < 60 {
			t.Errorf("%d and %d skills: the longest of %d descriptions, such as %q, has %d characters", tt.first, tt.second, len(got.Descriptions),
				slices.Sorted(maps.Values(got.Descriptions))[0], longest)
		}
	}
}
