package matter

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// TestProseKeepsTheNextField writes each field that a client knows below texts of several lines.
func TestProseKeepsTheNextField(t *testing.T) {
	for _, prose := range []string{"a line", "- a: list", "<example>\nuser: b\n</example>", "Examples:\n<example>\nuser: b\n</example>", "<example> and no end", "<example>\nmodel: m", "</example>", "Examples:"} {
		for _, key := range strings.Fields("name description tools disallowedTools allowed-tools disallowed-tools argument-hint arguments model color permissionMode mcpServers disable-model-invocation user-invocable is_dependency tags license metadata hooks version") {
			header := "description: Reviews: code\n" + prose + "\n" + key + ": value\nlast: x\n"
			doc, _ := Parse([]byte("---\n"+header+"---\n"), true)
			value, _ := doc.Get(key)
			last, _ := doc.Get("last")
			if value.String() != "value" || last.String() != "x" {
				t.Errorf("%q is read as %s", header, doc.AppendJSON(nil))
			}
		}
	}
}

// TestALongTextIsCorrectedByABlock follows the advice for a text that is too long for a message.
func TestALongTextIsCorrectedByABlock(t *testing.T) {
	file := "---\nname: x\ndescription: Reviews: code. " + strings.Repeat("é", maxSuggested/2) + "\n\n<example>\nuser: \"a: b\"\n  - c\n</example>\n\n# The model.\nmodel: y\n---\nText.\n"
	before, _ := Parse([]byte(file), true)
	corrected, left := followAll(t, file)
	after, _ := Parse([]byte(corrected), true)
	if corrected == file || len(left) > 0 || string(after.AppendJSON(nil)) != string(before.AppendJSON(nil)) {
		t.Errorf("corrected to %q with the problems %v", corrected, left)
	}
}

// writeBlock follows the advice to write a field as a block.
func writeBlock(file, key string) string {
	doc, _ := Parse([]byte(file), true)
	for _, f := range doc.Fields {
		if f.Key != key {
			continue
		}
		lines := strings.SplitAfter(file, "\n")
		from, to := doc.Lines(f)
		notation, value, _ := KeyLine(lines[from-1])
		text := fmt.Sprintf("%s |-\n%s\n%s", notation, value, strings.Join(lines[from:to], ""))
		text = strings.TrimRightFunc(strings.ReplaceAll(text, "\n", "\n  "), unicode.IsSpace)
		return strings.Join(lines[:from-1], "") + text + "\n" + strings.Join(lines[to:], "")
	}
	return file
}
