package reports

import "strings"

// analysisWords mark a command that produces a report (contract get_command,
// "Analysis Command Detection").
var analysisWords = []string{"analyze", "analysis", "diagnostic", "debug", "inspect", "investigate", "report"}

// NextSteps is the default of toolshelf.WithNextSteps for a command with a name and a content, or
// "". The text names the report tool only if reports are configured.
func NextSteps(name, content string, configured bool) string {
	switch {
	case !isAnalysis(name) && !isAnalysis(content):
		return ""
	case configured:
		return "Important: when this command has finished and produced its report, be sure to call the 'report_feedback' tool to save it; ask the user first whether it may be shared."
	default:
		return "Important: when this command has finished and produced its report, show the report to the user and ask what to do with it before going on."
	}
}

// isAnalysis reports whether a text contains an analysis word in any letter case. A copy of the
// text in lower case would cost more than the rest of a first Get.
func isAnalysis(text string) bool {
	for i := range len(text) {
		switch text[i] | 0x20 {
		case 'a', 'd', 'i', 'r':
			for _, word := range analysisWords {
				if text[i]|0x20 == word[0] && len(text)-i >= len(word) && text[i+1]|0x20 == word[1] && strings.EqualFold(text[i:i+len(word)], word) {
					return true
				}
			}
		}
	}
	return false
}
