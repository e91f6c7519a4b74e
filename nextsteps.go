package toolshelf

import "strings"

// analysisWords mark a command that leads to a report (contract get_command,
// "Analysis Command Detection").
var analysisWords = []string{"analyze", "analysis", "diagnostic", "debug", "inspect", "investigate", "report"}

// defaultNextSteps is the default of WithNextSteps.
func defaultNextSteps(c Command) string {
	text := strings.ToLower(c.Name + "\n" + c.Content)
	for _, word := range analysisWords {
		if strings.Contains(text, word) {
			return "Important: when this command has finished and produced its report, show the report to the user and ask what to do with it before going on."
		}
	}
	return ""
}
