package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/client"
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
		{Default(), client.Commands, "description\ufffd", ""}, // of a header that is not UTF-8
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

// The expressions define the parts of a text that a review reports. A review does not use the
// expressions, because a match takes a hundred times as long.
func TestReviewFindsTheMatchesOfTheExpressions(t *testing.T) {
	for name, tt := range map[string]struct {
		find  func(text []byte) []span
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
				if got := tt.find(text); !slices.Equal(got, want) {
					t.Fatalf("%q: got %v, want %v", text, got, want)
				}
			})
		})
	}
}
