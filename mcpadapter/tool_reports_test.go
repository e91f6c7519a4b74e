package mcpadapter_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func TestReportFeedbackRequiresWithReports(t *testing.T) {
	tests := []struct {
		shared, local string
		want          bool
	}{{"", "", false}, {"reports", "", true}, {"", "local", true}, {"reports", "local", true}}
	for _, tt := range tests {
		a := adapterOf(t, catalog(t, memory(t, project), toolshelf.WithReports(tt.shared, tt.local)))
		got := slices.ContainsFunc(a.Tools(), func(t mcpadapter.Tool) bool { return t.Name == "report_feedback" })
		if got != tt.want {
			t.Errorf("WithReports(%q, %q): offered %t, want %t", tt.shared, tt.local, got, tt.want)
		}
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
		if content, err := afero.ReadFile(fsys, saved.Path); err != nil || string(content) != "It is slow.\n" {
			t.Errorf("the file holds %q, %v", content, err)
		}
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
