package matter

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// TestADescriptionGoesOnWithoutIndentation reads headers as authors of agents write them.
func TestADescriptionGoesOnWithoutIndentation(t *testing.T) {
	const talk = "<example>\nContext: A change.\nuser: \"Review: now\"\nassistant: \"I review.\"\n<commentary>\nThe user asks.\n</commentary>\nassistant: \"Done.\"\n</example>"
	for _, tt := range []struct {
		name, header, want string // want is the text of the description
		keys               string // with all problems, as in readOf
	}{
		{"examples", "name: x\ndescription: Reviews. Examples:\n\n" + talk + "\n\n" + talk + "\n\nmodel: y\ntools: [\"A\"]\n", "Reviews. Examples:\n\n" + talk + "\n\n" + talk, "name description model tools: FRONTMATTER_RECOVERED 5 description"},
		{"examples with the line breaks of JSON", "description: Reviews.\\n\\n<example>\\nContext: A.\nuser: \"a\"\n</example>\\n\\n<example>\\nContext: B.\nuser: \"b\"\n</example>\nmodel: y\n",
			"Reviews.\\n\\n<example>\\nContext: A.\nuser: \"a\"\n</example>\\n\\n<example>\\nContext: B.\nuser: \"b\"\n</example>", "description model: FRONTMATTER_RECOVERED 3 description"},
		{"examples below a heading", "description: Reviews.\n\nExamples:\n" + talk + "\nmodel: y\n", "Reviews.\n\nExamples:\n" + talk, "description model: FRONTMATTER_RECOVERED 4 description"},
		{"examples below the key", "description:\n" + talk + "\nmodel: y\n", talk, "description model: FRONTMATTER_RECOVERED 3 description"},
		{"examples below the sign of a block", "description: |\n" + talk + "\nmodel: y\n", talk, "description model: FRONTMATTER_RECOVERED 3 description"},
		{"a list and a heading in an example", "description: a\n<example>\n- b\n# c\nname:pdf\n---- \n</example>\nmodel: y\n", "a\n<example>\n- b\n# c\nname:pdf\n----\n</example>", "description model: FRONTMATTER_RECOVERED 3 description"},
		{"lines of Windows", "description: a\r\n<example>\r\nuser: b\r\n</example>\r\nmodel: y\r\n", "a\n<example>\nuser: b\n</example>", "description model: FRONTMATTER_RECOVERED 3 description"},
		{"a line", "description: Reviews: code.\nAll of it.\n\nSee https://example.com.\nhttps://example.com\nmodel: y\n", "Reviews: code.\nAll of it.\n\nSee https://example.com.\nhttps://example.com", "description model: FRONTMATTER_RECOVERED 3 description"},
		{"a list", "description: Reviews\n- code: all\n  - and tests\n- text\nmodel: y\n", "Reviews\n- code: all\n  - and tests\n- text", "description model: FRONTMATTER_RECOVERED 3 description"},
		{"a line after indented lines", "description: Reviews\n  code\nand text\nmodel: y\n", "Reviews code\nand text", "description model: FRONTMATTER_RECOVERED 4 description"},
		{"a line after a block", "description: |\n  Reviews\n  code\n\nand text\nmodel: y\n", "Reviews\ncode\n\nand text", "description model: FRONTMATTER_RECOVERED 6 description"},
		{"a line before a comment", "description: a\nb\n# c\n\nmodel: y\n", "a\nb", "description model: FRONTMATTER_RECOVERED 3 description"},

		{"a comment before a line", "description: a\n# b\nc\nmodel: y\n", "a", "description model: FRONTMATTER_RECOVERED 4"},
		{"a text after a comment", "description: a\nb\n# c\nd\n  e\nmodel: y\n", "a\nb", "description model: FRONTMATTER_RECOVERED 5, FRONTMATTER_RECOVERED 3 description"},
		{"a key without a blank", "description: a\nb\nname:pdf\nc\nmodel: y\n", "a\nb", "description model: FRONTMATTER_RECOVERED 4, FRONTMATTER_RECOVERED 3 description"},
		{"a fence of four hyphens", "description: a\n----\n", "a", "description: FRONTMATTER_RECOVERED 3"},
		{"a value in quotes", "description: \"a\"\nb\nmodel: y\n", "a", "description model: FRONTMATTER_RECOVERED 3"},
		{"a list that is the value", "description:\n- a\nb\nmodel: y\n", "a", "description model: FRONTMATTER_RECOVERED 4"},
		{"a field of another key", "name: a\n<example>\nb\n</example>\nmodel: y\ndescription: d\n", "d", "name model description: FRONTMATTER_RECOVERED 3"},
		{"an example that is not closed", "description: a\n<example>\nuser: b\nmodel: y\n", "a\n<example>", "description user model: FRONTMATTER_RECOVERED 3 description"},
		{"an example after another that is not closed", "description: a\n<example>\nuser: b\n<example>\nuser: c\n</example>\nmodel: y\n", "a\n<example>\nuser: b\n<example>\nuser: c\n</example>", "description model: FRONTMATTER_RECOVERED 3 description"},
		{"a tag of another field", "description: Finds <example> tags: all\nmodel: y\nargument-hint: [a] b\n", "Finds <example> tags: all", "description model argument-hint: FRONTMATTER_RECOVERED 2 description, FRONTMATTER_RECOVERED 4 argument-hint"},
		{"a heading of no example", "description: a\nb\nVersion:\nmodel: y\n", "a\nb", "description Version model: FRONTMATTER_RECOVERED 3 description"},
		{"a key above an example", "description: a\nmodel:\n<example>\nuser: b\n</example>\n", "a", "description model user: FRONTMATTER_RECOVERED 4, FRONTMATTER_RECOVERED 6"},
		{"keys of valid YAML", "description: a\nContext: b\nuser: c\n", "a", "description Context user: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := "---\n" + tt.header + "---\nText.\n"
			doc, _ := Parse([]byte(file), true)
			var keys []string
			for _, f := range doc.Fields {
				keys = append(keys, f.Key)
			}
			description, _ := doc.Get("description")
			if got := strings.Join(keys, " ") + ": " + readOf(doc, file).problems; got != tt.keys || description.String() != tt.want {
				t.Errorf("got  %q with %s\nwant %q with %s", description, got, tt.want, tt.keys)
			}
			checkSuggestions(t, file)
		})
	}
}

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
