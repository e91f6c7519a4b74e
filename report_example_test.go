package toolshelf_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolshelf-go/toolshelf"
)

// clock is a stopped clock. Each run of an example prints the same.
func clock() time.Time { return time.Date(2025, 11, 20, 10, 30, 0, 0, time.UTC) }

func ExampleCatalog_SaveReport() {
	catalog := open(
		toolshelf.WithFs(project(map[string]string{"commands/analyze-logs.md": "Analyze the logs.\n"})),
		toolshelf.WithReports("reports", "local"),
		toolshelf.WithClock(clock),
	)
	defer catalog.Close()
	for range 2 { // in one second
		saved, err := catalog.SaveReport(context.Background(), toolshelf.Report{
			Command: "analyze-logs",
			Content: "# Logs\n\nNothing to worry about.\n",
			Upload:  true,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(saved.Path)
	}
	_, err := catalog.SaveReport(context.Background(), toolshelf.Report{Command: "analyze-logs", Name: "../../x", Content: "x"})
	fmt.Println(err, errors.Is(err, toolshelf.ErrInvalidReportName))
	// Output:
	// reports/analyze-logs/analyze-logs_report_20251120_103000_v1.md
	// reports/analyze-logs/analyze-logs_report_20251120_103000_v2.md
	// toolshelf: SaveReport: invalid report name "../../x"; use 1 to 100 letters, digits, "_" and "-" (INVALID_REPORT_NAME) true
}

// The JSON forms of Report and SavedReport are the input and the output of the tool
// report_feedback.
func ExampleSavedReport() {
	catalog := open(
		toolshelf.WithFs(project(map[string]string{"commands/analyze-logs.md": "Analyze the logs.\n"})),
		toolshelf.WithReports("reports", "local"),
		toolshelf.WithClock(clock),
	)
	defer catalog.Close()
	var report toolshelf.Report
	input := `{"command_name": "analyze-logs", "report_name": "nightly", "report_content": "All is well.", "user_wants_upload": false}`
	if err := json.Unmarshal([]byte(input), &report); err != nil {
		fmt.Println(err)
		return
	}
	saved, err := catalog.SaveReport(context.Background(), report)
	if err != nil {
		fmt.Println(err)
		return
	}
	output, err := json.MarshalIndent(saved, "", "  ")
	fmt.Println(string(output), err)
	// Output:
	// {
	//   "success": true,
	//   "action_taken": "saved_locally",
	//   "report_path": "local/analyze-logs/analyze-logs_nightly_20251120_103000_v1_local.md",
	//   "report_name": "nightly",
	//   "version": 1,
	//   "message": "The report was saved locally as analyze-logs_nightly_20251120_103000_v1_local.md."
	// } <nil>
}

func ExampleCatalog_Reports() {
	catalog := open(
		toolshelf.WithFs(project(map[string]string{
			"commands/analyze-logs.md":                                            "Analyze the logs.\n",
			"reports/analyze-logs/analyze-logs_report_20251119_080000_v1.md":      "Yesterday's.",
			"local/analyze-logs/analyze-logs_report_20251120_080000_v1_local.md":  "Today's.",
			"local/analyze-logs/analyze-logs_nightly_20251118_235959_v2_local.md": "The second of that night.",
		})),
		toolshelf.WithReports("reports", "local"),
	)
	defer catalog.Close()
	reports, err := catalog.Reports(context.Background(), "analyze-logs")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range reports {
		fmt.Printf("%s %s v%d, %d bytes, local: %t\n", r.Time.Format(time.DateTime), r.Name, r.Version, r.Size, r.Local)
	}
	// Output:
	// 2025-11-20 08:00:00 report v1, 8 bytes, local: true
	// 2025-11-19 08:00:00 report v1, 12 bytes, local: false
	// 2025-11-18 23:59:59 nightly v2, 25 bytes, local: true
}

// SaveReport rejects a report if its directory is not configured. The hint of Get
// names the tool only if a directory is configured.
func ExampleWithReports() {
	files := project(map[string]string{"commands/analyze-logs.md": "Analyze the logs.\n"})
	for _, catalog := range []*toolshelf.Catalog{
		open(toolshelf.WithFs(files)),
		open(toolshelf.WithFs(files), toolshelf.WithReports("", "local")),
	} {
		command, err := catalog.Get(context.Background(), "analyze-logs")
		fmt.Println(command.NextSteps, err)
		_, err = catalog.SaveReport(context.Background(), toolshelf.Report{Command: "analyze-logs", Content: "Fine.", Upload: true})
		fmt.Println(err)
		catalog.Close()
	}
	// Output:
	// Important: when this command has finished and produced its report, show the report to the user and ask what to do with it before going on. <nil>
	// toolshelf: SaveReport: no directory for shared reports is configured; use WithReports (DIRECTORY_PREPARATION_FAILED)
	// Important: when this command has finished and produced its report, be sure to call the 'report_feedback' tool to save it; ask the user first whether it may be shared. <nil>
	// toolshelf: SaveReport: no directory for shared reports is configured; use WithReports, or set user_wants_upload to false if the user agrees (DIRECTORY_PREPARATION_FAILED)
}
