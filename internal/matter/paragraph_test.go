package matter

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestFirstParagraph(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"a line", "Text.", "Text."},
		{"lines are joined", "One\n  two\nthree.\n\nFour.", "One two three."},
		{"hard breaks are joined", "One  \ntwo\\\nthree", "One two three"},
		{"inline markup stays", "A *b* `c` [d](e)\n", "A *b* `c` [d](e)"},
		{"CRLF", "One\r\ntwo\r\n\r\nthree", "One two"},
		{"after a heading", "# H\nText", "Text"},
		{"a heading ends it", "Text\n# H", "Text"},
		{"seven marks are no heading", "####### x", "####### x"},
		{"after an underlined heading", "H\n===\nText", "Text"},
		{"after one of several lines", "H\nH\n---\nText", "Text"},
		{"after a rule", "* * *\nText", "Text"},
		{"after a fence", "```sh\n# no\n\nno\n```\nText", "Text"},
		{"a longer fence", "````\n```\n````\nText", "Text"},
		{"an unclosed fence", "```\nno", ""},
		{"a fence ends it", "Text\n```\nno\n```", "Text"},
		{"code spans are no fence", "``` a ``` b", "``` a ``` b"},
		{"after indented code", "    no\n\nText", "Text"},
		{"an indented line goes on", "One\n      two", "One two"},
		{"after a comment", "<!-- no\n\nno -->\nText", "Text"},
		{"after a comment in a line", "<!-- no -->\n\nText", "Text"},
		{"after HTML", "<div>\nno\n</div>\n\nText", "Text"},
		{"after a tag alone", "<x-y a='b'>\nno\n\nText", "Text"},
		{"an attribute begins with an underscore", "<x-y _a='b'>\nno\n\nText", "Text"},
		{"an attribute begins with a colon", "<x-y :a>\nno\n\nText", "Text"},
		{"an attribute begins with no digit", "<x-y 1='b'>\nmore", "<x-y 1='b'> more"},
		{"an attribute begins with no hyphen", "<x-y -a>\nmore", "<x-y -a> more"},
		{"an inline tag begins it", "<b>Text</b> more", "<b>Text</b> more"},
		{"an autolink begins it", "<https://example.com> more", "<https://example.com> more"},
		{"after a list", "- no\n- no\n\nText", "Text"},
		{"after a numbered list", "1. no\n   no\n2) no\n\nText", "Text"},
		{"a list goes on after a blank line", "- no\n\n  no\n\nText", "Text"},
		{"a lazy line is the item's", "- no\nno\n\nText", "Text"},
		{"a nested list", "- no\n  - no\n\n    no\n\nText", "Text"},
		{"a list ends it", "Text\n- no", "Text"},
		{"a list ends it that looks like a table", "Text\n- |\n", "Text"},
		{"an empty item holds nothing after a blank line", "-\n\n  Text", "Text"},
		{"an empty item holds the next line", "-\n  no\n\nText", "Text"},
		{"an empty item ends a quotation", "> no\n-\nText", "Text"},
		{"a tab after the mark reaches to the fourth column", "-\tno\n\n  Text", "Text"},
		{"code in an item has no lazy lines", "-     no\nText", "Text"},
		{"an underlined heading in an item has no lazy lines", "- no\n  ===\nText", "Text"},
		{"a number other than 1 does not", "Text\n2. more", "Text 2. more"},
		{"a number is no item", "2024 was", "2024 was"},
		{"a hyphen is no item", "-x", "-x"},
		{"after a quotation", "> no\nno\n\nText", "Text"},
		{"after a quoted heading", "> # no\nText", "Text"},
		{"after a table", "| a | b |\n|---|---|\n| c | d |\n\nText", "Text"},
		{"a table ends it", "Text\n| a | b |\n|---|---|\n", "Text"},
		{"bars are no table", "a | b\nc | d", "a | b c | d"},
		{"after link definitions", "[a]: /b\n[c]: <d e> \"f\"\nText", "Text"},
		{"after definitions on several lines", "[a]:\n/b\n'c\nd'\n[e\nf]: g\n\"h\"\nText", "Text"},
		{"a definition without a title before quotes", "[a]: /b\n\"c\" Text", "\"c\" Text"},
		{"no label is no definition", "[ ]: Text", "[ ]: Text"},
		{"a link begins it", "[a](b): c", "[a](b): c"},
		{"only link definitions", "[a]: /b\n", ""},
		{"a placeholder", "$ARGUMENTS", "$ARGUMENTS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, _ := firstParagraph([]byte(tt.in), true); got != tt.want {
				t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

var oracle = goldmark.New(goldmark.WithExtensions(extension.Table)).Parser()

// oracleParagraph is the first paragraph according to goldmark.
func oracleParagraph(source []byte) string {
	for n := oracle.Parse(text.NewReader(source)).FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindParagraph {
			continue
		}
		var parts []string
		for i := range n.Lines().Len() {
			segment := n.Lines().At(i)
			line := strings.Trim(string(segment.Value(source)), " \t\r\n")
			if i < n.Lines().Len()-1 {
				line = strings.TrimRight(strings.TrimSuffix(line, `\`), " \t")
			}
			if line != "" {
				parts = append(parts, line)
			}
		}
		if s := strings.TrimSpace(strings.Join(parts, " ")); s != "" {
			return s
		}
	}
	return ""
}

func TestFirstParagraphAgreesWithGoldmark(t *testing.T) {
	dir := os.Getenv("TOOLSHELF_CORPUS")
	if dir == "" {
		t.Skip("TOOLSHELF_CORPUS is not set: it names a folder of public command and skill files")
	}
	files, differ := 0, 0
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.EqualFold(filepath.Ext(path), ".md") || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		doc, _ := Parse(data, true)
		body := data[doc.Body:]
		files++
		got, _ := firstParagraph(body, true)
		if want := oracleParagraph(body); got != want {
			differ++
			t.Errorf("%s:\n got %.200q\nwant %.200q", path, got, want)
		}
		return nil
	}))
	t.Logf("%d files, %d differ", files, differ)
}

// BenchmarkFirstParagraphOfHostileText reports how much longer four times the
// text takes: 4 is linear, 16 is quadratic.
func BenchmarkFirstParagraphOfHostileText(b *testing.B) {
	for _, tt := range []struct{ name, unit, end string }{
		{"marks", "- ", "x"},
		{"mixed marks", "- * + 1. > ", "x"},
		{"definitions", "[a]: /b\n", ""},
		{"open titles", "[a]: /b\n\"\n", ""},
		{"open labels", "[", ""},
		{"attributes", "<a b\n", ""},
		{"delimiter rows", "a|b\n-|-|-\n", ""},
	} {
		b.Run(tt.name, func(b *testing.B) {
			text := func(size int) []byte {
				return []byte(strings.Repeat(tt.unit, size/len(tt.unit)) + tt.end)
			}
			quarter, whole := text(MaxHead/4), text(MaxHead)
			var quarters time.Duration
			for b.Loop() {
				start := time.Now()
				firstParagraph(quarter, true)
				quarters += time.Since(start)
				firstParagraph(whole, true)
			}
			b.ReportMetric(float64(b.Elapsed()-quarters)/float64(quarters), "growth")
		})
	}
}

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
		lines, c := strings.SplitAfter(file, "\n"), doc.correction(f, "")
		notation, value, _ := keyLine(lines[c.from-1])
		text := fmt.Sprintf("%s |-\n%s\n%s", notation, value, strings.Join(lines[c.from:c.to], ""))
		text = strings.TrimRightFunc(strings.ReplaceAll(text, "\n", "\n  "), unicode.IsSpace)
		return strings.Join(lines[:c.from-1], "") + text + "\n" + strings.Join(lines[c.to:], "")
	}
	return file
}
