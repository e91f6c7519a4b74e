package toolshelf

import "strings"

// analysisWords mark a command that produces a report (contract get_command,
// "Analysis Command Detection").
var analysisWords = []string{"analyze", "analysis", "diagnostic", "debug", "inspect", "investigate", "report"}

// defaultNextSteps is the default of WithNextSteps. The text names the report tool
// only if reports are configured.
func defaultNextSteps(c Command, reports bool) string {
	text := strings.ToLower(c.Name + "\n" + c.Content)
	for _, word := range analysisWords {
		if strings.Contains(text, word) {
			if reports {
				return "Important: when this command has finished and produced its report, be sure to call the 'report_feedback' tool to save it; ask the user first whether it may be shared."
			}
			return "Important: when this command has finished and produced its report, show the report to the user and ask what to do with it before going on."
		}
	}
	return ""
}
