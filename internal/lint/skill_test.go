package lint

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// file returns a parsed text.
func file(name, text string) File {
	doc, _ := matter.Parse([]byte(text), true)
	return File{Name: name, Path: name + "/SKILL.md", Raw: []byte(text), Doc: doc, NFKC: norm.NFKC.String}
}

// lintSkill returns the problems of a SKILL.md in a directory, in the form
// "line:column severity CODE key".
func lintSkill(dir, text string) []string {
	found := Default().Skill(file(dir, text))
	slices.SortFunc(found, problem.Compare)
	var all []string
	for _, p := range found {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%d:%d %s %s %s", p.Line, p.Column, p.Severity, p.Code, p.Key)))
	}
	return all
}

// named returns a SKILL.md in which only the name can be invalid.
func named(name string) string { return "---\ndescription: d\nname: " + name + "\n---\n" }

// The reference validator rejects the rows with an error, and accepts the others.
func TestSkillNames(t *testing.T) {
	const tooLong, upper, edge, double, characters, mismatch, portability = "error SKILL_NAME_TOO_LONG", "error SKILL_NAME_NOT_LOWERCASE",
		"error SKILL_NAME_HYPHEN_AT_EDGE", "error SKILL_NAME_DOUBLE_HYPHEN", "error SKILL_NAME_CHARACTERS", "error SKILL_NAME_MISMATCH",
		"warning SKILL_NAME_NOT_ASCII"
	for _, tt := range []struct {
		behaviour string
		dir, name string
		want      []string // in the order of their codes
	}{
		{"letters, digits and hyphens", "pdf-2-text", "pdf-2-text", nil},
		{"one character", "a", "a", nil},
		{"digits alone", "007", "007", nil},
		{"blanks around it", "pdf", `" pdf "`, nil},
		{"64 characters", strings.Repeat("x", 64), strings.Repeat("x", 64), nil},
		{"65 characters", strings.Repeat("x", 65), strings.Repeat("x", 65), []string{tooLong}},
		{"64 characters of three bytes", strings.Repeat("技", 64), strings.Repeat("技", 64), []string{portability}},
		{"65 characters of three bytes", strings.Repeat("技", 65), strings.Repeat("技", 65), []string{tooLong}},
		{"64 characters once normalized", strings.Repeat("ffi", 21) + "x", strings.Repeat("ﬃ", 21) + "x", nil},
		{"65 characters once normalized", strings.Repeat("ffi", 21) + "xx", strings.Repeat("ﬃ", 21) + "xx", []string{tooLong}},
		{"an upper case letter", "Pdf", "Pdf", []string{upper}},
		{"an upper case letter of Cyrillic", "Мой", "Мой", []string{upper}},
		{"an upper case letter once normalized", "A", "Ａ", []string{upper}},
		{"a hyphen in front", "-pdf", "-pdf", []string{edge}},
		{"a hyphen at the end", "pdf-", "pdf-", []string{edge}},
		{"a hyphen alone", "-", `"-"`, []string{edge}},
		{"two hyphens in a row", "pdf--text", "pdf--text", []string{double}},
		{"hyphens wherever they are wrong", "--", `"--"`, []string{double, edge}},
		{"an underscore", "pdf_text", "pdf_text", []string{characters}},
		{"a dot", "pdf.text", "pdf.text", []string{characters}},
		{"a blank", "pdf text", "pdf text", []string{characters}},
		{"a combining mark that has no composed form", "हिन्दी", "हिन्दी", []string{characters}},
		{"an emoji", "a😀", "a😀", []string{characters}},
		{"a format character", "ab", "a\u200db", []string{characters, mismatch}},
		{"another name than the directory's", "other", "pdf", []string{mismatch}},
		{"the directory's name in other letter case", "Pdf", "pdf", []string{mismatch}},
		{"letters of any script", "мой-навык", "мой-навык", []string{portability}},
		{"composed, in a directory that is decomposed", "cafe\u0301", "caf\u00e9", []string{portability}},
		{"decomposed, in a directory that is composed", "caf\u00e9", "cafe\u0301", []string{portability}},
		{"full width letters, in a directory of ASCII", "ab", "ａｂ", nil},
		{"a ligature, in a directory of ASCII", "fine", "ﬁne", nil},
		{"a Roman numeral", "iv", "ⅳ", nil},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			var want []string
			for _, w := range tt.want {
				want = append(want, "3:1 "+w+" name")
			}
			must.Match(t, "diagnostics", want, lintSkill(tt.dir, named(tt.name)))
		})
	}
}

// The comment of each DiagnosticCode states the severity of the rule.
func TestRulesAreDocumented(t *testing.T) {
	source := must.Get(os.ReadFile("../../agentmd/codes.go"))(t)
	for _, r := range slices.Concat(fileRules, fieldRules) {
		row := regexp.MustCompile(`DiagnosticCode = "` + string(r.code) + `" +// ` + string(r.severity) + `: .`)
		if !row.Match(source) {
			t.Errorf("%s is not documented as a %s", r.code, r.severity)
		}
	}
}

func TestSkillLimitsItsProblems(t *testing.T) {
	for name, line := range map[string]string{"fields": "f%d: x\n", "lists in brackets": "f%d: []\n", "values that are not YAML": "f%d: a: b\n"} {
		text := "---\nname: pdf\ndescription: d\n"
		for i := range 1000 {
			text += fmt.Sprintf(line, i)
		}
		got := Default().Skill(file("pdf", text+"---\n"))
		if n := len(got); n != problem.Max || !strings.HasSuffix(got[n-1].Message, " more problems from here on") {
			t.Errorf("%s: %d problems, the last is %+v", name, n, got[n-1])
		}
	}
}

func TestSkillFrontmatter(t *testing.T) {
	const ok = "name: pdf\ndescription: d\n"
	for _, tt := range []struct {
		behaviour string
		text      string
		want      []string
	}{
		{"all fields", "---\n" + ok + "license: MIT\ncompatibility: any\nmetadata:\n  version: \"1\"\nallowed-tools: Read Bash(ls:*)\n---\n", nil},
		{"no file", "", []string{"1:0 error SKILL_FRONTMATTER_MISSING"}},
		{"text alone", "# PDF\n", []string{"1:0 error SKILL_FRONTMATTER_MISSING"}},
		{"a blank line first", "\n---\n" + ok + "---\n", []string{"1:0 error FRONTMATTER_AFTER_BLANK_LINES"}},
		{"rules of fields after a blank line", "\n--- \t\n" + ok + "color: x---y\n---\n", []string{"1:0 error FRONTMATTER_AFTER_BLANK_LINES", "2:5 error SKILL_YAML_TAB",
			"5:1 error SKILL_FIELD_UNEXPECTED color", "5:9 warning SKILL_FENCE_IN_FIELD"}},
		{"a byte order mark", "\ufeff---\n" + ok + "---\n", []string{"1:0 error SKILL_BYTE_ORDER_MARK"}},
		{"not closed", "---\n" + ok, []string{"1:0 error FRONTMATTER_UNTERMINATED"}},
		{"TOML", "+++\nname = \"pdf\"\ndescription = \"d\"\n+++\n", []string{"1:0 error SKILL_FRONTMATTER_NOT_YAML"}},
		{"JSON", "{\"name\": \"pdf\", \"description\": \"d\"}\n", []string{"1:0 error SKILL_FRONTMATTER_NOT_YAML"}},
		{"a fence that names its format", "---yaml\n" + ok + "---\n", []string{"1:0 error SKILL_FRONTMATTER_NOT_YAML"}},
		{"a list", "---\n- name: pdf\n---\n", []string{"1:0 error FRONTMATTER_NOT_A_MAPPING"}},
		{"a text", "---\nname pdf\n---\n", []string{"1:0 error FRONTMATTER_NOT_A_MAPPING"}},
		{"nothing", "---\n---\n", []string{"1:0 error SKILL_DESCRIPTION_MISSING description", "1:0 error SKILL_NAME_MISSING name"}},
		{"a colon in a text", "---\nname: pdf\ndescription: Read: PDF\n---\n", []string{"3:1 error FRONTMATTER_RECOVERED description"}},
		{"a key twice", "---\n" + ok + "name: pdf\n---\n", []string{"4:1 error DUPLICATE_KEY name"}},
		{"a key twice further down", "---\n" + ok + "metadata:\n  a: b\n  a: c\n---\n", []string{"6:3 error DUPLICATE_KEY metadata"}},
		{"a list in brackets", "---\n" + ok + "allowed-tools: [Read]\n---\n", []string{"4:16 error SKILL_YAML_FLOW_STYLE allowed-tools"}},
		{"a mapping in brackets", "---\n" + ok + "metadata:\n  a: {}\n---\n", []string{"5:6 error SKILL_YAML_FLOW_STYLE metadata"}},
		{"brackets in quotes", "---\n" + ok + "license: \"[MIT]\"\n---\n", nil},
		{"an anchor", "---\n" + ok + "license: &l MIT\n---\n", []string{"4:10 warning FRONTMATTER_VALUE_CUT license", "4:10 error SKILL_YAML_ANCHOR license"}},
		{"a tag", "---\n" + ok + "license: !!str 5\n---\n", []string{"4:10 error SKILL_YAML_TAG license"}},
		{"mappings indented alike", "---\n" + ok + "metadata:\n  a:\n    b: c\n  d:\n    e: f\n---\n", nil},
		{"mappings indented differently", "---\n" + ok + "metadata:\n  a:\n    b: c\n  d:\n      e: f\n---\n", []string{"8:7 error SKILL_YAML_INDENTATION metadata"}},
		{"three hyphens in a field", "---\n" + ok + "license: MIT --- or so\n---\n", []string{"4:14 warning SKILL_FENCE_IN_FIELD"}},
		{"three hyphens in quotes", "---\n" + ok + "license: \"MIT --- or so\"\n---\n", []string{"4:15 error SKILL_FENCE_IN_FIELD"}},
		{"three hyphens before what is needed", "---\nlicense: MIT --- or so\n" + ok + "---\n", []string{"2:14 error SKILL_FENCE_IN_FIELD"}},
		{"three hyphens where another thing is wrong", "---\nlicense: \"MIT --- or so\"\nname: pdf\n---\n", []string{"1:0 error SKILL_DESCRIPTION_MISSING description", "2:15 warning SKILL_FENCE_IN_FIELD"}},
		{"a tab before a value", "---\nname:\tpdf\ndescription: d\n---\n", []string{"2:6 error SKILL_YAML_TAB name"}},
		{"a tab after the fence", "---\t\n" + ok + "---\n", []string{"1:4 error SKILL_YAML_TAB"}},
		{"a NUL", "---\n" + ok + "license: M\x00IT\n---\n", []string{"4:11 error CONTROL_CHARACTER"}},
		{"what is not UTF-8, in the header", "---\n" + ok + "license: \xff\n---\n", []string{"4:10 error NOT_UTF8"}},
		{"what is not UTF-8, far down", "---\n" + ok + "---\n" + strings.Repeat("é\n", 5000) + "éa\xff\n", []string{"5005:3 error NOT_UTF8"}},
		{"CRLF", "---\r\nname: pdf\r\ndescription: d\r\n---\r\n", nil},

		{"metadata without keys", "---\n" + ok + "metadata: 1.2\n---\n", []string{"4:1 warning SKILL_METADATA_NOT_A_MAPPING metadata"}},
		{"metadata that is a list", "---\n" + ok + "metadata:\n  - a\n---\n", []string{"4:1 warning SKILL_METADATA_NOT_A_MAPPING metadata"}},
		{"empty metadata", "---\n" + ok + "metadata:\n---\n", nil},
		{"a field that is none", "---\n" + ok + "version: 1\n---\n", []string{"4:1 error SKILL_FIELD_UNEXPECTED version"}},
		{"two fields that are none", "---\nmodel: x\n" + ok + "hooks:\n  - a\n---\n", []string{"2:1 error SKILL_FIELD_UNEXPECTED model", "5:1 error SKILL_FIELD_UNEXPECTED hooks"}},
		{"a field in upper case", "---\n" + ok + "License: MIT\n---\n", []string{"4:1 error SKILL_FIELD_UNEXPECTED License"}},

		{"no name", "---\ndescription: d\n---\n", []string{"1:0 error SKILL_NAME_MISSING name"}},
		{"an empty name", "---\nname:\ndescription: d\n---\n", []string{"2:1 error SKILL_NAME_NOT_TEXT name"}},
		{"a name of blanks", "---\nname: \"  \"\ndescription: d\n---\n", []string{"2:1 error SKILL_NAME_NOT_TEXT name"}},
		{"a name that is a list", "---\nname:\n  - pdf\ndescription: d\n---\n", []string{"2:1 error SKILL_NAME_NOT_TEXT name"}},
		{"no description", "---\nname: pdf\n---\nText.\n", []string{"1:0 error SKILL_DESCRIPTION_MISSING description"}},
		{"an empty description", "---\nname: pdf\ndescription: \"\"\n---\nText.\n", []string{"3:1 error SKILL_DESCRIPTION_NOT_TEXT description"}},
		{"a description that is a mapping", "---\nname: pdf\ndescription:\n  a: b\n---\n", []string{"3:1 error SKILL_DESCRIPTION_NOT_TEXT description"}},
		{"a description of 1,024 characters", "---\nname: pdf\ndescription: " + strings.Repeat("é", 1024) + "\n---\n", nil},
		{"a description of 1,025 characters", "---\nname: pdf\ndescription: " + strings.Repeat("é", 1025) + "\n---\n", []string{"3:1 error SKILL_DESCRIPTION_TOO_LONG description"}},
		{"a block of 1,024 characters and a line break", "---\nname: pdf\ndescription: >\n  " + strings.Repeat("x", 1024) + "\n---\n", []string{"3:1 error SKILL_DESCRIPTION_TOO_LONG description"}},
		{"a block of 1,024 characters without", "---\nname: pdf\ndescription: >-\n  " + strings.Repeat("x", 1024) + "\n---\n", nil},

		{"a compatibility of 500 characters", "---\n" + ok + "compatibility: " + strings.Repeat("é", 500) + "\n---\n", nil},
		{"a compatibility of 501 characters", "---\n" + ok + "compatibility: " + strings.Repeat("é", 501) + "\n---\n", []string{"4:1 error SKILL_COMPATIBILITY_TOO_LONG compatibility"}},
		{"a compatibility that is a number", "---\n" + ok + "compatibility: 5\n---\n", nil},
		{"a compatibility that is a list", "---\n" + ok + "compatibility:\n  - any\n---\n", []string{"4:1 error SKILL_COMPATIBILITY_NOT_TEXT compatibility"}},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			must.Match(t, "diagnostics", tt.want, lintSkill("pdf", tt.text))
		})
	}
}

func TestSkillSuggestions(t *testing.T) {
	for _, tt := range []struct{ dir, text, want string }{
		{"pdf", named("PDF"), `write name: pdf`},
		{"PDF", named("PDF"), `rename the directory to "pdf" and write name: pdf`},
		{"PDF tools", named("pdf-tools"), `rename the directory to "pdf-tools"`},
		{"pdf", named(`"-"`), `write name: pdf`},
		{"~", named(`"-"`), "give the name and the directory lowercase letters, digits and hyphens"},
		{"PDF Tools", "---\ndescription: d\n---\n", `rename the directory to "pdf-tools" and add name: pdf-tools`},
		{"x", "---\nname: x\ndescription: d\nallowed_tools: Read\n---\n", "rename the key to allowed-tools"},
		{"x", "---\nname: x\ndescription: d\nlicence: MIT\n---\n", "rename the key to license"},
		{"x", "---\nname: x\ndescription: d\ndisable_model_invocation: true\n---\n", "rename the key to disable-model-invocation"},
		{"x", "---\nname: x\ndescription: d\nmodle: opus\n---\n", "rename the key to model"},
		{"x", "---\nname: x\ndescription: d\nmodel: opus\n---\n", `move the field below "metadata", or remove the field`},
		{"x", "---\nname: x\ndescription: d\nversion: 1\n---\n", `move the field below "metadata", or remove the field`},
		{"x", "---\nname: x\ndescription: " + strings.Repeat("x", 1030) + "\n---\n", "remove 6 characters"},
		{"x", "---\nname: x\ndescription: Review: is it correct?\n---\n", `write description: "Review: is it correct?"`},
	} {
		got := Default().Skill(file(tt.dir, tt.text))
		slices.SortFunc(got, problem.Compare)
		if len(got) == 0 || got[0].Suggestion != tt.want {
			t.Errorf("%q with %q: got %+v, want the suggestion %q", tt.dir, tt.text, got, tt.want)
		}
	}
}

// The correction of a name writes no line that holds another field, or that would become a
// part of another field.
func TestNameSuggestionsKeepOtherFields(t *testing.T) {
	for _, header := range []string{"{name: PDF, description: d}\n", "? name\n: PDF\ndescription: d\n", "a: \"b\nname: PDF: x\ndescription: z\"\n"} {
		for _, p := range Default().Skill(file("pdf", "---\n"+header+"---\n")) {
			if _, ok := matter.Written(p.Suggestion); ok && p.Key == "name" || p.Code == problem.SkillNameMismatch && p.Suggestion != `give the name the value "pdf"` {
				t.Errorf("%q: %+v", header, p)
			}
		}
	}
}

// A skill is valid after the author writes the suggested field in place of the broken field.
func TestFieldSuggestionsMakeASkillValid(t *testing.T) {
	for _, broken := range []string{"metadata:\n\tversion: \"1\"\n", "allowed-tools:\n\t- Read\n\t- Bash(git:*)\n", "allowed-tools: [Read, Write\n", "license: \"MIT\n",
		"compatibility: Linux: all\n", "metadata:\n  author: Foo: bar\n  more: {{X}}: y\n", "description: # Title\n", "description: Fix #1 in the parser\n", "description: 'it's broken'\n"} {
		text := "---\nname: pdf\n"
		if !strings.HasPrefix(broken, "description") {
			text += "description: d\n"
		}
		var suggestion string
		for _, p := range Default().Skill(file("pdf", text+broken+"---\n")) {
			if p.Code == problem.FrontmatterRecovered {
				suggestion = p.Suggestion
			}
		}
		field, ok := matter.Written(suggestion)
		corrected := text + strings.ReplaceAll(field, "⏎", "\n") + "\n---\n"
		if left := lintSkill("pdf", corrected); !ok || left != nil {
			t.Errorf("%q: corrected to %q, with %q", broken, corrected, left)
		}
	}
}

// apply applies each suggestion literally. The line numbers are the numbers before the
// first change.
func apply(t *testing.T, dir, text string, found []problem.Problem) (newDir, newText string) {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	fields := map[int]string{} // line → field to write in the line
	value := func(n int) string { _, value, _ := strings.Cut(strings.TrimSpace(lines[n-1]), ": "); return value }
	for _, p := range found {
		from, to, other, key := p.Line, p.Line, 0, ""
		written, ok := strings.CutPrefix(p.Suggestion, "rename the directory to ")
		if !ok {
			written = p.Suggestion
		} else if quoted, rest, more := strings.Cut(written, " and "); true {
			dir, written = strings.Trim(quoted, `"`), rest
			if !more {
				continue
			}
		}
		fmt.Sscanf(written, "replace lines %d to %d by ", &from, &to)
		field, ok := matter.Written(written)
		added, adds := strings.CutPrefix(written, "add name: ")
		switch {
		case ok && fields[from] != "" && fields[from] != field:
			t.Errorf("%q: write %q or %q?", text, field, fields[from])
		case ok:
			fields[from] = field
			for n := from; n <= to; n++ {
				lines[n-1] = ""
			}
			lines[from-1] = strings.ReplaceAll(field, "⏎", "\n") + "\n"
		case adds:
			lines[from-1] += "name: " + added + "\n"
		case scan(written, "rename the key to %s and remove the empty field in line %d", &key, &other), scan(written, "rename the key to %s", &key):
			_, rest, _ := strings.Cut(lines[from-1], ":")
			lines[from-1] = strings.Trim(key, ",") + ":" + rest
			if other > 0 {
				lines[other-1] = ""
			}
		case scan(written, "merge the value into %s in line %d, or remove the field", &key, &other):
			lines[other-1] = strings.TrimSpace(lines[other-1]) + " " + value(from) + "\n"
			lines[from-1] = ""
		case written == "remove the field":
			lines[from-1] = ""
		case written == "remove the other values":
			for n := range lines[:from-1] {
				if strings.HasPrefix(lines[n], p.Key+":") {
					lines[n] = ""
				}
			}
		default:
			t.Errorf("%q: the suggestion %q of %s in line %d is not literal", text, p.Suggestion, p.Code, p.Line)
		}
	}
	return dir, strings.Join(lines, "")
}

// scan reports whether a text has a format, and reads the values of the format.
func scan(text, format string, values ...any) bool {
	n, err := fmt.Sscanf(text, format, values...)
	return err == nil && n == len(values)
}

// All suggestions for one file together correct the file, and keep each value.
func TestSuggestionsOfOneFileAgree(t *testing.T) {
	const command, skill = false, true
	for _, tt := range []struct {
		skill       bool
		dir         string
		header      string
		want        string
		diagnostics int
	}{
		{command, "", "descripton: X\n", "description: X\n", 1},
		{command, "", "Description: X\n", "description: X\n", 1},
		{command, "", "descripton: >\n  a\n  b\n", "description: >\n  a\n  b\n", 1},
		{command, "", "descripton: A\ndescription: B\n", "description: B A\n", 1},
		{command, "", "description: B\nmodel: x\nDescription: A\n", "description: B A\nmodel: x\n", 1},
		{command, "", "descripton: A\ndesciption: B\n", "description: A B\n", 2},
		{command, "", "descripton: A\ndescription:\n", "description: A\n", 1},
		{command, "", "descripton: A: b\ndescription:\n", "description: \"A: b\"\n", 2},
		{command, "", "descripton:\ndescription: B\n", "description: B\n", 1},
		{command, "", "descripton: A: b\n", "description: \"A: b\"\n", 2},
		{command, "", "Description: [broken\n", "description: \"[broken\"\n", 2},
		{command, "", "Description: [\n", "description: \"[\"\n", 2},
		{command, "", "Description: Fix #1\n", "description: \"Fix #1\"\n", 2},
		{command, "", "Description: a # b\n", "description: \"a # b\"\n", 1},
		{command, "", "description: d\nAllowed-Tools:\n\t- Read\nmodel: x: y\n", "description: d\nallowed-tools:\n  - Read\nmodel: \"x: y\"\n", 3},
		{command, "", "description: d\nmodle: opus\nmodle: x\n", "description: d\nmodel: x\n", 2},
		{command, "", "description: d\nmetadata:\n\tversion: 1\nmodel: x\n", "description: d\nmetadata:\n  version: 1\nmodel: x\n", 1},
		{command, "", "description: d\nmetadata:\n  a: b #1\n  c: &d e\n", "description: d\nmetadata:\n  a: \"b #1\"\n  c: \"&d e\"\n", 2},
		{skill, "pdf", "name: pdf\ndescripton: Deploys app: use when shipping\n", "name: pdf\ndescription: \"Deploys app: use when shipping\"\n", 2},
		{skill, "pdf", "Name: pdf\ndescripton: d\n", "name: pdf\ndescription: d\n", 2},
		{skill, "pdf", "name: pdf\ndescripton: A\ndescription: B\n", "name: pdf\ndescription: B A\n", 1},
		{skill, "pdf", "name: pdf\ndescription:\ndescripton: A\n", "name: pdf\ndescription: A\n", 1},
		{skill, "pdf", "Name: PDF: x\ndescription: d\n", "name: pdf\ndescription: d\n", 5},
		{skill, "broken", "name: [broken\ndescription: d\n", "name: broken\ndescription: d\n", 3},
		{skill, "pdf", "name:\n  - pdf\ndescription: d\n", "name: pdf\ndescription: d\n", 1},
		{skill, "pdf", "name:\n\t- pdf\ndescription: d\n", "name: pdf\ndescription: d\n", 2},
		{skill, "pdf", "name: PDF\ndescription: d\n", "name: pdf\ndescription: d\n", 2},
		{skill, "PDF Tools", "description: d\n", "name: pdf-tools\ndescription: d\n", 1},
		{skill, "PDF Tools", "name: PDF Tools\ndescription: d\n", "name: pdf-tools\ndescription: d\n", 2},
		{skill, "PDF", "name: \"pdf\ndescription: d\n", "name: \"pdf\"\ndescription: d\n", 2},
		{skill, "null", "name: Null\ndescription: d\n", "name: \"null\"\ndescription: d\n", 1},
		{skill, "pdf", "name: pdf\ndescription: d\nmetadata:\n\tversion: \"1\"\nlicense: &l MIT\n",
			"name: pdf\ndescription: d\nmetadata:\n  version: \"1\"\nlicense: \"&l MIT\"\n", 2},
		{skill, "pdf", "name: pdf\ndescription: d\nlicense: !l MIT\ncompatibility: &x y\n", "name: pdf\ndescription: d\nlicense: \"!l MIT\"\ncompatibility: \"&x y\"\n", 4},
		{skill, "pdf", "name: pdf\ndescription: d\ncompatibility: [linux\nallowed_tools:\n\t- Read\n", "name: pdf\ndescription: d\ncompatibility: \"[linux\"\nallowed-tools:\n  - Read\n", 3},
	} {
		lint := func(dir, text string) (found []problem.Problem) {
			if tt.skill {
				return Default().Skill(file(dir, text))
			}
			found = (&Commands{Profile: Default()}).Check(file("a", text), Command{Name: "a", Path: "a.md", Listed: true})
			slices.SortFunc(found, problem.Compare)
			return found
		}
		text, want := "---\n"+tt.header+"---\nText.\n", "---\n"+tt.want+"---\nText.\n"
		found := lint(tt.dir, text)
		dir, got := apply(t, tt.dir, text, found)
		if got != want {
			t.Errorf("%q: corrected to %q, want %q", text, got, want)
		}
		if left := lint(dir, got); len(left) > 0 || len(found) != tt.diagnostics {
			t.Errorf("%q: %d diagnostics, want %d: %+v\nleft: %+v", text, len(found), tt.diagnostics, found, left)
		}
	}
}

// A name is valid after the author follows the suggestions.
func TestNameSuggestionsMakeANameValid(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		draw := func(label string) string { return rapid.StringMatching(`[a-cA-C0-9_.é技 -]{1,80}`).Draw(r, label) }
		dir, name := strings.TrimSpace(draw("dir")), draw("name")
		if dir == "" || strings.Contains(dir, "..") || dir[0] == '.' {
			dir = "x"
		}
		for range 2 {
			var wrong *problem.Problem
			for _, d := range Default().Skill(file(dir, named(fmt.Sprintf("%q", name)))) {
				if d.Severity == problem.Error {
					wrong = &d
				}
			}
			if wrong == nil || strings.HasPrefix(wrong.Suggestion, "give the name and the directory") {
				return
			}
			for step := range strings.SplitSeq(wrong.Suggestion, " and ") {
				if s, ok := strings.CutPrefix(step, "write name: "); ok {
					name = strings.Trim(s, `"`)
				} else if _, err := fmt.Sscanf(step, "rename the directory to %q", &dir); err != nil {
					r.Fatalf("the suggestion has an unknown step: %q", step)
				}
			}
		}
		r.Fatalf("name %q in directory %q is still invalid", name, dir)
	})
}

// commandsOf returns the commands of files.
func commandsOf(files ...string) *Commands {
	l := &Commands{Profile: Default(), Nested: true, Valid: names.Plain, Present: func(path, _ string) bool { return slices.Contains(files, path) }}
	for _, file := range files {
		stem, _ := names.TrimMarkdown(file)
		l.Add(Command{Name: strings.ReplaceAll(stem, "/", ":"), Path: file})
	}
	return l
}

func TestReferences(t *testing.T) {
	l := commandsOf("a.md", "dev/review.md", "dev/dev-build.md", "dev/parts/base.md", "task-find.md", "shared-rules.md")
	l.AddSkill("x")
	l.Present = func(path, fromRoot string) bool {
		return slices.Contains([]string{"dev/review.md", "dev/dev-build.md", "dev/parts/base.md", "task-find.md", "shared-rules.md", "README.md"}, path) ||
			fromRoot == "docs/plan.md"
	}
	for _, tt := range []struct {
		behaviour string
		text      string
		want      string // line:column and the suggestion; "" for none
	}{
		{"a command in a directory", "Then /dev:review it.", ""},
		{"a missing command in a directory", "Then\n`/dev:deploy prod` it.", "2:2 create the command, or remove the reference"},
		{"a command in a directory, within a block of code", "```\n/dev:deploy\n```\n", "2:1 create the command, or remove the reference"},
		{"a name that is spelt wrongly", "/dev:reviw", "1:1 write /dev:review, or create the command"},
		{"a name without the prefix of its directory", "/dev:build", "1:1 write /dev:dev-build, or create the command"},
		{"a hidden command", "/dev:parts:base", ""},
		{"a hidden command that is not there", "/dev:parts:rules", "1:1 create the command, or remove the reference"},
		{"another directory, of a client or a plugin", "/plugin:deploy", ""},
		{"a name that a client puts the project before", "/dev:task-find", ""},
		{"each once", "/dev:deploy /dev:deploy", "1:1 create the command, or remove the reference"},
		{"characters before it", "é /dev:deploy", "1:3 create the command, or remove the reference"},

		{"a name of two words", "Run /task-find.", ""},
		{"a similar name of two words", "First run `/task-fnd --all`.", "1:12 write /task-find, or create the command"},
		{"a similar name without a verb", "Then /task-fnd", "1:6 write /task-find, or create the command"},
		{"a name of two words that no command resembles, such as a route", "Run /task-list", ""},
		{"the name of a skill", "Run /x", ""},
		{"one word, which may be a command of the client", "Run /help, use /clear", ""},
		{"a placeholder", "Run /your-command or use /command-name", ""},
		{"a path", "Run /usr/task-fnd/x, use /task-fnd/ and /task-fnd.sh, execute ./task-fnd", ""},
		{"a route with a parameter", "Call /task-fnd/{id} and call /task-fnd?page=1 and call /task-fnd={x}", ""},
		{"a URL", "Use https://example.com/task-fnd and http://x/dev:deploy", ""},
		{"a block of code", "```sh\n# run /task-fnd\n```\n", ""},

		{"a link to a command", "[rules](shared-rules.md) [base](./dev/parts/base.md#top)", ""},
		{"a link to a command that is not there", "See [the rules](rules.md).", `1:17 create "rules.md", or remove the link`},
		{"a link into a directory of commands", "See [the rules](dev/rules.md \"Rules\").", `1:17 create "dev/rules.md", or remove the link`},
		{"a link in angle brackets", "[r](<rules.md>)", `1:6 create "rules.md", or remove the link`},
		{"a link to a file that is elsewhere, in other letter case", "[base](Base.md)", `1:8 write "dev/parts/base.md", or create "Base.md"`},
		{"a link to a file that is elsewhere", "[base](base.md)", `1:8 write "dev/parts/base.md", or create "base.md"`},
		{"a definition of a link", "[rules]: rules.md", `1:10 create "rules.md", or remove the link`},
		{"a link to another directory", "[x](docs/x.md) [y](../x.md) [z](/x.md)", ""},
		{"a link that is right from the root", "[plan](docs/plan.md)", ""},
		{"a link to what is no command", "[a](README.md) [b](SKILL.md) [c](x.txt) [d](a%20b.md) [e](https://x.org/x.md) [f](#x.md) [g]({x}.md)", ""},
		{"a link in a code span", "`[rules](rules.md)` ``a`[r](rules.md)``", ""},
		{"a link in a code span of two lines", "a `b\n[rules](rules.md) c` d", ""},
		{"a link in indented code", "a\n\n    [rules](rules.md)\n", ""},
		{"a link in a comment", "<!-- [rules](rules.md)\n [more](more.md) --> [base](dev/base.md)", `2:29 write "dev/parts/base.md", or create "dev/base.md"`},
		{"a link that is escaped", "\\[rules](rules.md) [a] \\[rules](rules.md)", ""},
		{"a link around an image", "[![a](a.png)](rules.md)", `1:15 create "rules.md", or remove the link`},
		{"a link beside a code span", "`a` [rules](rules.md)", `1:13 create "rules.md", or remove the link`},
		{"a link in a block of code", "~~~\n[rules](rules.md)\n~~~\n", ""},
		{"a link in a block within a block", "```markdown\n```sh\nls\n```\n[rules](rules.md)\n```\n", ""},
		{"a link after a block that is an item", "- ```sh\n  ls\n  ```\n\n[rules](rules.md)", `5:9 create "rules.md", or remove the link`},
		{"a link in a block in a quote", "> ```md\n> [rules](rules.md)\n> ```\n", ""},
		{"a link after a block", "1. a\n   ```\n   x\n   ```\n[rules](rules.md)", `5:9 create "rules.md", or remove the link`},
		{"a link in a line of data", strings.Repeat("x", 5000) + "[rules](rules.md) /dev:deploy", ""},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			got := ""
			for _, p := range l.Check(file("a", tt.text), Command{Name: "a", Path: "a.md"}) {
				if p.Code == problem.ReferenceNotFound {
					got += fmt.Sprintf("%d:%d %s\n", p.Line, p.Column, p.Suggestion)
				}
			}
			if got = strings.TrimSuffix(got, "\n"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The check of many files with many unknown names is fast.
func TestManyMissingReferences(t *testing.T) {
	if testing.Short() {
		t.Skip("long files, which one goroutine checks")
	}
	var files []string
	for i := range 300 {
		files = append(files, fmt.Sprintf("dev/present-command-%d.md", i))
	}
	l := commandsOf(files...)
	found := 0
	for i, name := range files {
		var text strings.Builder
		for j := range 100 {
			fmt.Fprintf(&text, "Run /dev:missing-command-%d-%d now\n", i, j)
		}
		found += len(l.Check(file(name, text.String()), Command{Name: name, Path: name}))
	}
	must.Equal(t, "found", 300*100, found)
}

func TestSuggestionsNameAnotherFile(t *testing.T) {
	l := commandsOf("a/one.md", "b/two.md")
	got := l.Check(file("a:one", "[x](../b/one.md)\n"), Command{Name: "a:one", Path: "a/one.md"})
	if len(got) != 1 || got[0].Suggestion != `create "b/one.md", or remove the link` {
		t.Errorf("got %+v", got)
	}
}
