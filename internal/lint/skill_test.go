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

// The comment of each DiagnosticCode states the severity of the rule.
func TestRulesAreDocumented(t *testing.T) {
	source := must.Get(os.ReadFile("../../agentmd/diagnostic_codes.go"))(t)
	for _, found := range regexp.MustCompile(`(error|warning) (SKILL_\w+)`).FindAllStringSubmatch(texts, -1) {
		row := regexp.MustCompile(`DiagnosticCode = "` + found[2] + `" +// (?:.*; )?` + found[1] + `\b`)
		if !row.Match(source) {
			t.Errorf("%s is not documented as a %s", found[2], found[1])
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
