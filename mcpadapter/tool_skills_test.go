package mcpadapter_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/afero"

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
	got := must.Get(a.Call(ctx, "list_skills", nil))(t)
	must.Equal(t, "IsError", false, got.IsError)
	must.Equal(t, "Text", string(got.Structured), got.Text)
	must.Do(t, json.Unmarshal(got.Structured, &list))
	tool, _ := a.Lookup("list_skills")
	must.Do(t, validate(t, compiled(t, tool.OutputSchema), got.Structured))
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
		must.Match(t, tt.name, []string{"a"}, got.Skills)
		must.Match(t, tt.name, tt.want, got.Descriptions["a"])
	}
}

func TestListSkillsWithoutSkills(t *testing.T) {
	fsys := memory(t, map[string]string{"skills/notes.txt": ""})
	must.Equal(t, "Text", `{"skills":[]}`,
		must.Get(adapterOf(t, catalog(t, fsys)).Call(ctx, "list_skills", nil))(t).Text)
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
		must.Equal(t, "len(got.Skills)", tt.first+tt.second, len(got.Skills))
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
		must.Equal(t, tt.first, tt.described, described)
		if longest < 60 {
			t.Errorf("%d and %d skills: the longest of %d descriptions, such as %q, has %d characters", tt.first, tt.second, len(got.Descriptions),
				slices.Sorted(maps.Values(got.Descriptions))[0], longest)
		}
	}
}

func TestReportFeedbackRequiresWithReports(t *testing.T) {
	tests := []struct {
		shared, local string
		want          bool
	}{{"", "", false}, {"reports", "", true}, {"", "local", true}, {"reports", "local", true}}
	for _, tt := range tests {
		a := adapterOf(t, catalog(t, memory(t, project), toolshelf.WithReports(tt.shared, tt.local)))
		got := slices.ContainsFunc(a.Tools(), func(t mcpadapter.Tool) bool { return t.Name == "report_feedback" })
		must.Equal(t, tt.shared, tt.want, got)
	}
}

func TestReportFeedbackSaves(t *testing.T) {
	fsys := memory(t, project)
	a := adapterOf(t, catalog(t, fsys, toolshelf.WithReports("reports", "local")))
	for upload, want := range map[string]struct{ action, dir string }{
		"true":  {"uploaded", "reports/analyze_log/analyze_log_slow_"},
		"false": {"saved_locally", "local/analyze_log/analyze_log_slow_"},
	} {
		got, err := a.Call(ctx, "report_feedback", json.RawMessage(
			`{"command_name":"analyze_log","report_content":"It is slow.\n","user_wants_upload":`+upload+`,"report_name":"slow"}`))
		if err != nil || got.IsError {
			t.Fatalf("got %+v, %v", got, err)
		}
		var saved struct {
			Success bool
			Action  string `json:"action_taken"`
			Path    string `json:"report_path"`
			Version int
		}
		must.Do(t, json.Unmarshal([]byte(got.Text), &saved))
		if !saved.Success || saved.Action != want.action || !strings.HasPrefix(saved.Path, want.dir) || saved.Version != 1 {
			t.Errorf("got %+v, want %+v", saved, want)
		}
		must.Equal(t, "the file holds", "It is slow.\n",
			string(must.Get(afero.ReadFile(fsys, saved.Path))(t)))
	}
}

func TestReportFeedbackErrorCodes(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, project), toolshelf.WithReports("reports", "")))
	tests := []struct{ arguments, code string }{
		{`{"command_name":"../x","report_content":"x","user_wants_upload":true}`, "INVALID_COMMAND_NAME"},
		{`{"command_name":"nothing","report_content":"x","user_wants_upload":true}`, "COMMAND_NOT_FOUND"},
		{`{"command_name":"commit","report_content":"","user_wants_upload":true}`, "EMPTY_CONTENT"},
		{`{"command_name":"commit","report_content":"` + strings.Repeat("x", 10<<20+1) + `","user_wants_upload":true}`, "SIZE_LIMIT_EXCEEDED"},
		{`{"command_name":"commit","report_content":"x","user_wants_upload":true,"report_name":"a/b"}`, "INVALID_REPORT_NAME"},
		{`{"command_name":"commit","report_content":"x","user_wants_upload":false}`, "DIRECTORY_PREPARATION_FAILED"},
		{`{"command_name":"commit","report_content":"x"}`, "INVALID_ARGUMENTS"},
		{`{"command_name":"commit","user_wants_upload":true}`, "EMPTY_CONTENT"},
	}
	for _, tt := range tests {
		got, err := a.Call(ctx, "report_feedback", json.RawMessage(tt.arguments))
		if err != nil || !got.IsError || !strings.HasPrefix(got.Text, `{"error":{"code":"`+tt.code+`"`) {
			t.Errorf("%.80s: got %+v, %v; want %s", tt.arguments, got, err, tt.code)
		}
	}
}

func TestReportFeedbackIsAnnotatedAsWriting(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, project), toolshelf.WithReports("reports", "local")), mcpadapter.WithTools("report_feedback"))
	raw := must.Get(json.Marshal(a.Tools()[0]))(t)
	var wire struct{ Annotations json.RawMessage }
	must.Do(t, json.Unmarshal(raw, &wire))
	sameJSON(t, wire.Annotations, `{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}`)
}
