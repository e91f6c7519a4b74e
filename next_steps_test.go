package toolshelf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
)

func TestNextSteps(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		want          bool
	}{
		{"plain", "Write a poem.", false},
		{"analyze-this", "", true},
		{"plain", "Do an ANALYSIS of it.", true},
		{"diagnostic", "", true},
		{"plain", "Debugging is fun.", true},
		{"plain", "Inspect it.", true},
		{"plain", "Investigate.", true},
		{"plain", "It is reported.", true},
		{"plain", "An anal ysis.", false},
	} {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"commands/" + tt.name + ".md": tt.content})))
		got, err := c.Get(t.Context(), tt.name)
		if err != nil {
			t.Fatal(err)
		}
		if (got.NextSteps != "") != tt.want {
			t.Errorf("%s with %q: next steps %q", tt.name, tt.content, got.NextSteps)
		}
		if strings.Contains(got.NextSteps, "report_feedback") {
			t.Errorf("next steps name a missing tool: %q", got.NextSteps)
		}
	}
	t.Run("the function of WithNextSteps receives the complete command", func(t *testing.T) {
		rule := func(c toolshelf.Command) string {
			return fmt.Sprint("after ", c.Name, " of ", c.Layer, ": ", c.Frontmatter.Text("tags"))
		}
		got, err := catalog(t, toolshelf.WithFs(memory(t, ".")), toolshelf.WithNextSteps(rule)).Get(t.Context(), "analyze-logs")
		if want := "after analyze-logs of commands: [logs, incident]"; err != nil || got.NextSteps != want {
			t.Errorf("got %q, %v; want %q", got.NextSteps, err, want)
		}
	})
	t.Run("a nil function returns no hint", func(t *testing.T) {
		got, err := catalog(t, toolshelf.WithFs(memory(t, ".")), toolshelf.WithNextSteps(nil)).Get(t.Context(), "analyze-logs")
		if err != nil || got.NextSteps != "" {
			t.Errorf("got %q, %v", got.NextSteps, err)
		}
	})
}

func TestNextStepsNameReportFeedbackIfConfigured(t *testing.T) {
	for _, tt := range []struct {
		shared, local string
		want          bool
	}{{"", "", false}, {"reports", "", true}, {"", "reports", true}} {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, reported)), toolshelf.WithReports(tt.shared, tt.local))
		command, err := c.Get(t.Context(), "analyze")
		if got := strings.Contains(command.NextSteps, "be sure to call the 'report_feedback' tool"); got != tt.want || err != nil {
			t.Errorf("%q, %q: %q, %v", tt.shared, tt.local, command.NextSteps, err)
		}
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, reported)), toolshelf.WithReports("reports", ""))
	if command, err := c.Get(t.Context(), "hidden"); command.NextSteps != "" || err != nil {
		t.Errorf("for a command without reports: %q, %v", command.NextSteps, err)
	}
}
