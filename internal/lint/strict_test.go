package lint

import (
	"fmt"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestStrict(t *testing.T) {
	for _, tt := range []struct {
		behaviour, header string
		want              []string
	}{
		{"plain fields", "a: b\nc: d\n", nil},
		{"quotes, blocks and comments", "a: '[x]' # &x\nb: |\n  {x} *y\nc:\n  - \"!z\"\n", nil},
		{"a list in brackets", "a: b\nc: [d]\n", []string{"3:4 SKILL_YAML_FLOW_STYLE c"}},
		{"once in a field", "a: [b]\nc:\n  - [d]\n  - {e: f}\n", []string{"2:4 SKILL_YAML_FLOW_STYLE a", "4:5 SKILL_YAML_FLOW_STYLE c"}},
		{"a key in brackets", "[a]: b\n", []string{"2:1 SKILL_YAML_FLOW_STYLE "}},
		{"an anchor and its alias", "a: &x b\nc: *x\n", []string{"2:4 SKILL_YAML_ANCHOR a", "3:4 SKILL_YAML_ANCHOR c"}},
		{"a tag", "a: !x b\n", []string{"2:4 SKILL_YAML_TAG a"}},
		{"a key twice below the top", "a:\n  b: c\n  b: d\n", []string{"4:3 DUPLICATE_KEY a"}},
		{"a key twice at the top is Parse's", "a: b\na: c\n", nil},
		{"mappings that are indented differently", "a:\n  b: c\nd:\n   e: f\n", []string{"5:4 SKILL_YAML_INDENTATION d"}},
		{"mappings of different levels", "a:\n  b:\n    c: d\ne:\n  f: g\n", nil},
		{"a tag of nothing", "a: !\n", []string{"2:4 SKILL_YAML_TAG a"}},
		{"a text that begins with an exclamation mark", "a: '!'\nb: \"!\"\nc: x!\n", nil},
		{"a tab before a value", "a:\tb\n", []string{"2:3 SKILL_YAML_TAB a"}},
		{"a tab in a text", "é: b\tc\n", []string{"2:5 SKILL_YAML_TAB é"}},
		{"a tab after a value", "a: 'b\t'\t# c\nd: e\t\n", []string{"2:8 SKILL_YAML_TAB a", "3:5 SKILL_YAML_TAB d"}},
		{"a tab in a list", "a:\n  - b\t\n", []string{"3:6 SKILL_YAML_TAB a"}},
		{"tabs after CRLF", "a: b\r\nc:\td\r\n", []string{"3:3 SKILL_YAML_TAB c"}},
		{"tabs in quotes", "a: 'b\t''c\t'\nd: \"e\\\"\tf\\\\\"\n", nil},
		{"tabs in quotes after an anchor and a tag", "a: &x 'b\tc'\nd: !!str \"\te\"\nf: 'g'\n", []string{"2:4 SKILL_YAML_ANCHOR a", "3:4 SKILL_YAML_TAG d"}},
		{"tabs in a text of several lines in quotes", "a: \"b\n  \tc\t\"\n", nil},
		{"tabs in blocks", "a: |\n  b\tc\nd: >-\n  \te\n", nil},
		{"tabs in comments", "#\ta\nb: c #\td\n", nil},
		{"a tab after the sign of a block", "a: |\t\n  b\n", []string{"2:5 SKILL_YAML_TAB a"}},
		{"what is not YAML as a whole", "a: [b] c\nd: [e]\n", nil},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			doc := checkStrict(t, tt.header)
			var got []string
			for _, p := range strictProblems(&doc) {
				got = append(got, fmt.Sprintf("%d:%d %s %s", p.Line, p.Column, p.Code, p.Key))
			}
			must.Match(t, "problems", tt.want, got)
		})
	}
}

func TestStrictIsOfYAMLOnly(t *testing.T) {
	for _, text := range []string{"", "text", "+++\na = [1]\n+++\n", "{\"a\": [1]}\n"} {
		doc, _ := matter.Parse([]byte(text), true)
		if got := strictProblems(&doc); got != nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// checkStrict compares the fast path of strictProblems with the nodes of the YAML library.
func checkStrict(t *testing.T, header string) matter.Document {
	doc, _ := matter.Parse([]byte("---\n"+header+"---\n"), true)
	if found := ofNodes(&doc); doc.Plain && isStrict(&doc) && len(found) > 0 {
		t.Fatalf("%q is not strict: %v", header, found)
	}
	return doc
}

func FuzzStrict(f *testing.F) {
	for _, header := range []string{"a: b\n", "a:\n  b: c\n  b: d\n", "a:\n  b: c\nd:\n   e: f\n", "a:\n  - b: [c]\n", "a: >\n  b\nc:\n- d # e\n"} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) { checkStrict(t, header) })
}
