package lint

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// judged returns the codes of the problems of a file for a client, each error in upper case and
// each warning in lower case.
func judged(c client.Client, kind client.Files, dir, text string) string {
	f := file(dir, text)
	var found []problem.Problem
	if kind == client.Skills {
		found = For(c).Skill(f)
	} else {
		f.Path = dir
		f.Doc, _ = matter.ParseFile(dir, f.Raw, true)
		found = (&Commands{Profile: For(c)}).Check(f, Command{Name: "a", Path: dir, Listed: true})
	}
	var codes []string
	for _, p := range found {
		code := string(p.Code)
		if p.Severity == problem.Warning {
			code = strings.ToLower(code)
		}
		codes = append(codes, code)
	}
	return strings.Join(codes, " ")
}

// TestAClientJudgesASkill has what the clients do according to the sources in package client.
func TestAClientJudgesASkill(t *testing.T) {
	mine := client.Client{Name: "mine", Fields: []client.Field{{Name: "name"}, {Name: "model", Required: true, Limit: 5}, {Name: "description", Cut: 3}}}
	for _, tt := range []struct {
		client client.Client
		header string
		want   string
	}{
		{client.AgentSkills(), "name: pdf\ndescription: d\nmodel: opus\ntags: [a]\n", "SKILL_FIELD_UNEXPECTED SKILL_FIELD_UNEXPECTED SKILL_YAML_FLOW_STYLE"},
		{client.Claude(), "name: pdf\ndescription: d\nmodel: opus\ntags: [a]\n", ""},
		{client.Claude(), "name: PDF Tools\ndescription: d\n", ""},
		{client.Claude(), "description: d\n", ""},
		{client.Claude(), "name: pdf\n", "skill_description_missing"},
		{client.Claude(), "name: pdf\ndescription: [a]\n", "skill_description_not_text"},
		{client.Claude(), "name: pdf\ndescription: " + strings.Repeat("d", 1536) + "\n", ""},
		{client.Claude(), "name: pdf\ndescription: " + strings.Repeat("d", 1500) + "\nwhen_to_use: " + strings.Repeat("d", 34) + "\n", "description_cut"},
		{client.Claude(), "name: pdf\ndescription: " + strings.Repeat("d", 1500) + "\nwhen_to_use: " + strings.Repeat("d", 33) + "\n", ""},
		{client.Claude(), "name: pdf\ndescription: " + strings.Repeat("d", 1537) + "\ndisable-model-invocation: yes\n", ""},
		{client.Claude(), "name: pdf\ndescription: d\nalwaysApply: true\nlicense: MIT\nis_dependency: no\n", "skill_field_unexpected"},
		{client.Claude(), "name: pdf\ndescription: a: b\nmodel: a\nmodel: b\n", "frontmatter_recovered duplicate_key"},
		{client.Codex(), "name: PDF Tools\ndescription: d\n", ""},
		{client.Codex(), "name: pdf\n", "SKILL_DESCRIPTION_MISSING"},
		{client.Codex(), "name:\ndescription: d\n", "SKILL_NAME_NOT_TEXT"},
		{client.Codex(), "name: pdf\ndescription: " + strings.Repeat("d", 1025) + "\n", "SKILL_DESCRIPTION_TOO_LONG"},
		{client.Codex(), "name: " + strings.Repeat("d", 65) + "\ndescription: d\n", "SKILL_NAME_TOO_LONG"},
		{client.Gemini(), "description: d\n", "SKILL_NAME_MISSING"},
		{client.Gemini(), "name: other\ndescription: " + strings.Repeat("d", 5000) + "\n", ""},
		{client.OpenCode(), "name: pdf\nmodel: m\n", "SKILL_DESCRIPTION_MISSING skill_field_unexpected"},
		{client.VSCode(), "name: other\ndescription: d\n", "SKILL_NAME_MISMATCH"},
		{client.VSCode(), "name: pdf\ndescription: " + strings.Repeat("d", 1025) + "\n", "description_cut"},
		{client.Pi(), "name: Other\n", "SKILL_DESCRIPTION_MISSING"},
		{client.Amp(), "name: Other\ndescription: [a]\nmodel: m\n", "SKILL_NAME_NOT_LOWERCASE SKILL_NAME_MISMATCH SKILL_DESCRIPTION_NOT_TEXT skill_field_unexpected"}, // as the specification, in any YAML
		{mine, "name: pdf\ndescription: d\n", "FIELD_MISSING"},
		{mine, "name: pdf\ndescription: dddd\nmodel: abcdef\n", "description_cut FIELD_TOO_LONG"},
	} {
		got := strings.Split(judged(tt.client, client.Skills, "pdf", "---\n"+tt.header+"---\n"), " ")
		want := strings.Split(tt.want, " ")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %.80q: got %v, want %v", tt.client.Name, tt.header, got, want)
		}
	}
}

func TestAClientRejectsASkillWithoutAHeaderIfTheClientRequiresAField(t *testing.T) {
	for _, text := range []string{"# PDF\n", "---\nname: pdf\ndescription: d\n", "+++\nname = \"pdf\"\n+++\n", "---\n- a\n---\n"} {
		for _, tt := range []struct {
			client   client.Client
			rejected bool
		}{{client.AgentSkills(), true}, {client.Codex(), true}, {client.Gemini(), true}, {client.Claude(), false}} {
			rejects := For(tt.client).Rejects(client.Skills, file("pdf", text))
			if len(rejects) > 0 != tt.rejected {
				t.Errorf("%s: %q: %v", tt.client.Name, text, rejects)
			}
			if found := judged(tt.client, client.Skills, "pdf", text); found == "" {
				t.Errorf("%s: %q: no problem", tt.client.Name, text)
			}
		}
	}
}

func TestAClientJudgesACommand(t *testing.T) {
	mine := client.Client{Name: "mine", Fields: []client.Field{{Name: "description", Required: true, Limit: 9, Cut: 3}, {Name: "model", Required: true}}}
	for _, tt := range []struct {
		client           client.Client
		file, text, want string
	}{
		{client.AgentSkills(), "a.md", "---\ndescription: d\n", "FRONTMATTER_UNTERMINATED"},
		{client.Claude(), "a.md", "---\ndescription: d\n", "frontmatter_unterminated"},
		{client.Claude(), "a.md", "---\ndescription: d\nname: A b\nalwaysApply: true\n---\n", ""},
		{client.Gemini(), "a.toml", "prompt = \"a\"\n", "no_description"},
		{client.Gemini(), "a.toml", "description = \"a\"\n", "FIELD_MISSING"},
		{client.Gemini(), "a.toml", "description = a\n", "FRONTMATTER_INVALID"},
		{client.Qwen(), "a.toml", "description = a\n", "FRONTMATTER_INVALID"},
		{client.Pi(), "a.md", "---\ndescription: d\n---\n", ""},
		{mine, "a.md", "---\nmodel: m\n---\n", "FIELD_MISSING"},
		{mine, "a.md", "---\ndescription:\nmodel: m\n---\n", "FIELD_MISSING"},
		{mine, "a.md", "Review.\n", "FIELD_MISSING FIELD_MISSING"},
		{mine, "a.md", "---\ndescription: 0123456789\nmodel: m\n---\n", "description_cut"},
		{mine, "a.md", "---\ndescription: d\nmodel:\n---\n", "FIELD_MISSING"},
	} {
		if got := judged(tt.client, client.Commands, tt.file, tt.text); got != tt.want {
			t.Errorf("%s: %q: got %q, want %q", tt.client.Name, tt.text, got, tt.want)
		}
	}
}

func TestAMissingFieldHasTheLineOfTheOpeningFence(t *testing.T) {
	mine := For(client.Client{Name: "mine", Fields: []client.Field{{Name: "description", Required: true}}})
	for text, want := range map[string]int{"---\nmodel: m\n---\n": 1, "Review.\n": 0, "---\nmodel: m\ndescription:\n---\n": 3} {
		for _, found := range [][]problem.Problem{mine.Text(client.Commands, file("a.md", text)), mine.Rejects(client.Commands, file("a.md", text))} {
			if len(found) != 1 || found[0].Code != problem.FieldMissing || found[0].Line != want {
				t.Errorf("%q: got %+v, want line %d", text, found, want)
			}
		}
	}
}

func TestAMisspelledKeyMeansAKeyOfTheClient(t *testing.T) {
	for _, tt := range []struct {
		profile   *Profile
		kind      client.Files
		key, want string
	}{
		{For(client.Claude()), client.Commands, "subtaks", ""},
		{For(client.OpenCode()), client.Commands, "subtaks", "subtask"},
		{For(client.OpenCode()), client.Commands, "argument_hint", ""},
		{For(client.Claude()), client.Commands, "argument_hint", "argument-hint"},
		{For(client.Claude()), client.Commands, "mode", ""}, // a key of another client
		{For(client.Claude()), client.Skills, "disallowed_tools", "disallowed-tools"},
		{For(client.Claude()), client.Skills, "licence", "license"},
		{Default(), client.Commands, "subtaks", "subtask"},
		{Default(), client.Commands, "argument_hint", "argument-hint"},
		{Default(), client.Commands, "is-dependency", "is_dependency"},
		{Default(), client.Skills, "disallowed-tools", ""},
		{Default(), client.Skills, "compatability", "compatibility"},
		{Default(), client.Commands, strings.Repeat("a", 1e6), ""},
	} {
		f := file("a", "")
		f.prepare(tt.kind, tt.profile)
		if got := f.spelling(tt.key); got != tt.want {
			t.Errorf("%s, %d: %.30q means %q, want %q", tt.profile.client.Name, tt.kind, tt.key, got, tt.want)
		}
	}
}

// TestRejectsAreTheErrors compares the reasons of a rejection with the errors of the whole check.
func TestRejectsAreTheErrors(t *testing.T) {
	headers := []string{"", "name: pdf\n", "description: d\n", "name: pdf\ndescription: d\n", "name: PDF\ndescription: [a]\n", "name: pdf\ndescription: a: b\nmodel: {}\n",
		"name: other\ndescription: " + strings.Repeat("d", 2000) + "\n", "name: pdf\ndescription: d\nlicense: MIT #2\nallowed-tools: Bash(git\n", "\tname: pdf\n"}
	for _, c := range append(client.All(), client.AgentSkills()) {
		for _, header := range headers {
			for _, text := range []string{"---\n" + header + "---\nText.\n", header, "---\n" + header} {
				errors := map[string]bool{}
				for _, p := range For(c).Skill(file("pdf", text)) {
					if p.Severity == problem.Error {
						errors[fmt.Sprint(p)] = true
					}
				}
				rejects := For(c).Rejects(client.Skills, file("pdf", text))
				if len(rejects) != len(errors) {
					t.Errorf("%s: %q: %d rejects, %d errors", c.Name, text, len(rejects), len(errors))
				}
				for _, p := range rejects {
					if !errors[fmt.Sprint(p)] {
						t.Errorf("%s: %q: %v is no error of the check", c.Name, text, p)
					}
				}
			}
		}
	}
}

// shownProblems returns "line code message" of each problem.
func shownProblems(all []problem.Problem) (shown []string) {
	for _, p := range all {
		shown = append(shown, strings.TrimSpace(strings.Repeat("line ", min(p.Line, 1))+string(p.Code)+": "+p.Message))
	}
	return shown
}

func TestReviewFindsWhatAPersonHasToSee(t *testing.T) {
	for _, tt := range []struct {
		name string
		kind client.Files
		text string
		want []string
	}{
		{"a plain text", client.Commands, "Review $1. Wow! `code`", nil},
		{"a shell command", client.Commands, "Now !`git status`.", []string{"line RUNS_COMMAND: some clients run 1 shell command of the text, the first is \"!`git status`\""}},
		{"a shell command in braces, and in code", client.Skills, "```\n!{rm -rf /}\n```\n!`b`", []string{`line RUNS_COMMAND: some clients run 2 shell commands of the text, the first is "!{rm -rf /"`}},
		{"a block of code that a client runs", client.Skills, "```!\nrm -rf /\n```", []string{"line RUNS_COMMAND: some clients run 1 shell command of the text, the first is \"```!\""}},
		{"a shell command in an agent", client.Agents, "Now !`git status`.", nil},
		{"tools as a text", client.Skills, "---\nallowed-tools: Bash(git:*) Read\n---\n", []string{`line ALLOWS_TOOLS: the field allowed-tools grants "Bash(git:*) Read"`}},
		{"tools as a list", client.Agents, "---\ntools:\n  - Bash\n  - Read\n---\n", []string{`line ALLOWS_TOOLS: the field tools grants "Bash, Read"`}},
		{"an empty list of tools", client.Agents, "---\ntools:\n---\n", nil},
		{"hooks", client.Skills, "---\nhooks:\n  Stop: []\n---\n", []string{"line RUNS_COMMAND: the field hooks can start programs"}},
		{"URLs", client.Instructions, "See https://a.example/x, <http://b.example:80/y>.\n[x](https://a.example)", []string{`line URL: the text has 3 URLs of "a.example", "b.example:80"`}},
		{"many hosts", client.Instructions, "https://a http://b ftp://c ssh://d wss://e FILE://f https://g", []string{`line URL: the text has 7 URLs of "a", "b", "c", "d", "e" and 2 more`}},
		{"a host that controls a terminal", client.Commands, "https://a\u202e.example", []string{`line URL: the text has 1 URL of "a\u202e.example"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, _ := matter.Parse([]byte(tt.text), true)
			if got := shownProblems(Review(tt.kind, File{Path: "f", Raw: []byte(tt.text), Doc: doc})); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestReviewBesideFindsProgramsURLsAndHiddenCharacters(t *testing.T) {
	for _, tt := range []struct{ file, text, want string }{
		{"notes.md", "Notes.", ""},
		{"x/run.sh", "echo", "SCRIPT"},
		{"run", "#!/bin/sh\n", "SCRIPT"},
		{"run", "\ufeff#!/bin/sh\n", "SCRIPT"},
		{"Makefile", "all:", "SCRIPT"},
		{"tool", "\x7fELF\x01\xff", "SCRIPT"},
		{"picture.png", "\x89PNG\xff https://a.example", ""},
		{"a.PY", "print('\u202e') # https://a.example", "SCRIPT URL INVISIBLE_CHARACTER"},
	} {
		var codes []string
		for _, p := range ReviewBeside(tt.file, []byte(tt.text)) {
			codes = append(codes, string(p.Code))
		}
		if got := strings.Join(codes, " "); got != tt.want {
			t.Errorf("%s %q: got %q, want %q", tt.file, tt.text, got, tt.want)
		}
	}
}

// The expressions define the parts of a text that a review reports. A review does not use the
// expressions, because a match takes a hundred times as long.
func TestReviewFindsTheMatchesOfTheExpressions(t *testing.T) {
	for name, tt := range map[string]struct {
		find  func(text []byte, meter *markdown.Meter) func(from int) (span, bool)
		as    *regexp.Regexp
		words string
	}{
		"shell directives": {shellDirectives, regexp.MustCompile("!`[^`\n]+`|!\\{[^}\n]+|(?m:^[ \t]*```!.*)"), "!|`|!`|{|!{|}|```!|a|\n| |\t|\r|\xff|é"},
		"URLs":             {findURLs, regexp.MustCompile(`(?i)\b(?:https?|wss?|ftps?|ssh|git|file)://[^\s"'<>\x60()\[\]{}|\\^]+`), "://|http|https|HTTP|ws|s|git|file|a|_|é|\xff| |\n|\v|\u00a0|(|)|\"|\\|/|:"},
	} {
		t.Run(name, func(t *testing.T) {
			words := strings.Split(tt.words, "|")
			rapid.Check(t, func(t *rapid.T) {
				text := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 30).Draw(t, "words"), ""))
				var want []span
				for _, at := range tt.as.FindAllIndex(text, -1) {
					want = append(want, span{at[0], at[1]})
				}
				if got := first(len(text), tt.find(text, new(markdown.Meter))); !slices.Equal(got, want) {
					t.Fatalf("%q: got %v, want %v", text, got, want)
				}
				var meter markdown.Meter
				hostile := bytes.Repeat(text, 100)
				if first(len(hostile), tt.find(hostile, &meter)); meter.Steps() > 4*len(hostile)+10 {
					t.Fatalf("%d steps for %d bytes of %q", meter.Steps(), len(hostile), text)
				}
			})
		})
	}
}
