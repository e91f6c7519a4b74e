package lint

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

//go:embed testdata/texts.txt
var texts string

// TestTexts asks the questions of testdata/texts.txt, which describes the questions.
func TestTexts(t *testing.T) { must.Answer(t, texts, answers) }

var kinds = map[string]client.Files{"commands": client.Commands, "skills": client.Skills,
	"agents": client.Agents, "instructions": client.Instructions}

var answers = map[string]func(t *testing.T, arguments ...string) string{
	"name": func(t *testing.T, a ...string) string {
		return strings.Join(lintSkill(a[0], named(a[1])), ", ")
	},
	"skill": func(t *testing.T, a ...string) string { return strings.Join(lintSkill(a[0], a[1]), ", ") },
	"suggest": func(t *testing.T, a ...string) string {
		got := Default().Skill(file(a[0], a[1]))
		slices.SortFunc(got, problem.Compare)
		return got[0].Suggestion
	},
	"correct": func(t *testing.T, a ...string) string { return corrected(t, a[0], a[1], a[2], a[3]) },
	"strict": func(t *testing.T, a ...string) string {
		doc := checkStrict(t, a[0])
		var got []string
		for _, p := range strictProblems(&doc) {
			got = append(got, fmt.Sprintf("%d:%d %s %s", p.Line, p.Column, p.Code, p.Key))
		}
		return strings.TrimSpace(strings.Join(got, ", "))
	},
	"refer": func(t *testing.T, a ...string) string { return references(a[0]) },
	"judge": func(t *testing.T, a ...string) string {
		text := "---\n" + a[1] + "---\n"
		codes := strings.Fields(judged(clientOf(t, a[0], mySkills), client.Skills, "pdf", text))
		slices.Sort(codes)
		return strings.Join(codes, " ")
	},
	"command": func(t *testing.T, a ...string) string {
		return judged(clientOf(t, a[0], myCommands), client.Commands, a[1], a[2])
	},
	"review": func(t *testing.T, a ...string) string {
		doc, _ := matter.Parse([]byte(a[1]), true)
		found := Review(kinds[a[0]], File{Path: "f", Raw: []byte(a[1]), Doc: doc})
		return strings.Join(shownProblems(found), ", ")
	},
	"beside": func(t *testing.T, a ...string) string {
		var codes []string
		for _, p := range ReviewBeside(a[0], []byte(a[1])) {
			codes = append(codes, string(p.Code))
		}
		return strings.Join(codes, " ")
	},
}

// The fields of the client "mine".
var (
	mySkills = []client.Field{{Name: "name"}, {Name: "model", Required: true, Limit: 5},
		{Name: "description", Cut: 3}}
	myCommands = []client.Field{{Name: "description", Required: true, Limit: 9, Cut: 3},
		{Name: "model", Required: true}}
)

func clientOf(t *testing.T, name string, mine []client.Field) client.Client {
	switch name {
	case "mine":
		return client.Client{Name: name, Fields: mine}
	case "agentskills":
		return client.AgentSkills()
	}
	return must.Get(client.Lookup(name))(t)
}

// corrected returns the header of a file after all suggestions, and what is wrong then.
func corrected(t *testing.T, kind, dir, header, n string) string {
	lint := func(dir, text string) (found []problem.Problem) {
		if kind == "skill" {
			return Default().Skill(file(dir, text))
		}
		command := Command{Name: "a", Path: "a.md", Listed: true}
		found = (&Commands{Profile: Default()}).Check(file("a", text), command)
		slices.SortFunc(found, problem.Compare)
		return found
	}
	const begin, end = "---\n", "---\nText.\n"
	text := begin + header + end
	found := lint(dir, text)
	dir, got := apply(t, dir, text, found)
	if left := lint(dir, got); len(left) > 0 || fmt.Sprint(len(found)) != n {
		t.Errorf("%d diagnostics, want %s: %+v\nleft: %+v", len(found), n, found, left)
	}
	return strconv.Quote(strings.TrimSuffix(strings.TrimPrefix(got, begin), end))
}

// references returns the references of the command a.md to missing commands.
func references(text string) string {
	files := strings.Fields("dev/review.md dev/dev-build.md dev/parts/base.md task-find.md shared-rules.md")
	l := commandsOf(append(files, "a.md")...)
	l.AddSkill("x")
	l.Present = func(path, fromRoot string) bool {
		return slices.Contains(append(files, "README.md"), path) || fromRoot == "docs/plan.md"
	}
	got := ""
	for _, p := range l.Check(file("a", text), Command{Name: "a", Path: "a.md"}) {
		if p.Code == problem.ReferenceNotFound {
			got += fmt.Sprintf("%d:%d %s\n", p.Line, p.Column, p.Suggestion)
		}
	}
	return strings.TrimSuffix(got, "\n")
}
