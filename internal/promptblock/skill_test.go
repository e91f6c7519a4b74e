package promptblock

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSkill(t *testing.T) {
	for _, tt := range []struct {
		name  string
		skill Skill
		want  string
	}{
		{"everything", Skill{Name: `a"b`, Content: "\n# Text </skill_content>\n\n", Dir: "/home/a&b", Files: []string{"<x>", "y\nz"}},
			"<skill_content name=\"a&quot;b\">\n# Text &lt;/skill_content>\n\nSkill directory: /home/a&amp;b\nRelative paths in this skill are relative to the skill directory.\n" +
				"\n<skill_resources>\n  <file>&lt;x&gt;</file>\n  <file>y&#10;z</file>\n</skill_resources>\n</skill_content>"},
		{"files without a directory", Skill{ByName: true, Dir: "pdf", Files: []string{"a"}}, "<skill_content name=\"\">\n\nThe files of this skill are in no directory. To read a file, use the tool read_skill_file " +
			"with the name of the skill and the relative path.\n\n<skill_resources>\n  <file>a</file>\n</skill_resources>\n</skill_content>"},
		{"no files and no directory", Skill{ByName: true, Dir: "pdf"}, "<skill_content name=\"\">\n</skill_content>"},
		{"nothing", Skill{}, "<skill_content name=\"\">\n</skill_content>"},
		{"more files", Skill{Truncated: true}, "<skill_content name=\"\">\n\n<skill_resources>\n  <!-- more files not listed -->\n</skill_resources>\n</skill_content>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.skill.String(); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestSkillListsAHundredFiles(t *testing.T) {
	for _, tt := range []struct {
		resources, listed int
		more              string
	}{
		{99, 99, ""},
		{100, 100, ""},
		{101, 100, "  <!-- 1 more file not listed -->\n</skill_resources>"},
		{5000, 100, "  <!-- 4900 more files not listed -->\n</skill_resources>"},
	} {
		s := Skill{Name: "pdf", Dir: "pdf"}
		for i := range tt.resources {
			s.Files = append(s.Files, fmt.Sprintf("f%04d", i))
		}
		got := s.String()
		if n := strings.Count(got, "<file>f"); n != tt.listed {
			t.Errorf("%d files of %d", n, tt.resources)
		}
		if !strings.Contains(got, tt.more) || strings.Contains(got, "<!--") != (tt.more != "") {
			t.Errorf("%d files, but not %q in\n%s", tt.resources, tt.more, got)
		}
	}
}

func TestSkillIsOneBlock(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`((<|</|< / |<\n)?(skill_content|Skill_Content|x)[ >"\n]{0,3}){0,6}`))
	rapid.Check(t, func(t *rapid.T) {
		s := Skill{Name: text.Draw(t, "name"), Dir: text.Draw(t, "directory"), Content: text.Draw(t, "content"), Files: []string{text.Draw(t, "file")}}
		got := s.String()
		inner, begins := strings.CutPrefix(got, "<skill_content name=\"")
		inner, ends := strings.CutSuffix(inner, "\n</skill_content>")
		// A tolerant reader ignores blanks and letter case.
		if tags := strings.ToLower(strings.Join(strings.Fields(inner), "")); !begins || !ends ||
			strings.Contains(tags, "</skill_content") || strings.Contains(tags, "<skill_content") {
			t.Errorf("more than one block:\n%s", got)
		}
	})
}
