package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// candidates are the skills of a project. The words of the request "rotate the keys" are at the end of
// the description of secrets.
func candidates() []candidate {
	return []candidate{
		{Name: "deploy", Description: "Ships the website to production. Use after a release.", Content: "Ship the website to production with the pipeline.\n", Path: "deploy/SKILL.md"},
		{Name: "publish", Description: "Ships the website to production. Use for a publication.", Content: "# Publish\n\nShip the website to the production servers.\n", Path: "publish/SKILL.md"},
		{Name: "pdf", Description: "Fills in PDF forms and joins PDF files.", Content: "Fill in the forms of PDF files.\n", Path: "pdf/SKILL.md"},
		{Name: "secrets", Description: "Keeps passwords. " + strings.Repeat("x ", 100) + "Rotates the keys of the vault.", Content: "Short.\n\nOther.\n", Path: "secrets/SKILL.md"},
		{Name: "vague", Description: "Helps with everything.", Content: "Migrate the database schema with Alembic. Then check each table.\n", Path: "vague/SKILL.md"},
	}
}

func TestRankRequestsFindsEachDefect(t *testing.T) {
	requests, err := parseRequests(`# requests
fill in a pdf form => pdf

ship a publication of the website => deploy
what is the weather => none
join two pdf files => none
rotate the keys of the vault => secrets
translate a letter => vague
no such skill => missing
`)
	if err != nil {
		t.Fatal(err)
	}
	cuts := []cut{{"A client", 50}, {"Another client", 1000}}
	found, first, err := rankRequests(t.Context(), candidates(), "requests.txt", requests, cuts)
	if err != nil || first != 3 {
		t.Errorf("%d requests as expected, %v", first, err)
	}
	want := []string{
		`requests.txt:4: warning: the request "ship a publication of the website" ranks the skill "deploy" as number 2, after "publish"`,
		`requests.txt:6: warning: the request "join two pdf files" finds the skill "pdf"`,
		`secrets/SKILL.md: warning: the request "rotate the keys of the vault" finds the skill by words after the first 50 characters of the description, which A client does not show`,
		`requests.txt:8: error: the request "translate a letter" does not find the skill "vague"`,
		`requests.txt:9: error: a model sees no skill "missing"`,
		`publish/SKILL.md: warning: the descriptions of the skills "deploy" and "publish" answer the same requests`,
		`vague/SKILL.md: warning: no request from the first sentences of the text finds the skill`,
	}
	for i, d := range found {
		if i >= len(want) || !strings.HasPrefix(d.String(), want[i]) {
			t.Errorf("%d: %s", i, d)
		}
	}
	must.Equal(t, "len(found)", len(want), len(found))
}

// The order of the skills has no effect.
func TestRankRequestsIsDeterministic(t *testing.T) {
	requests := []request{{"ship the website", "publish", 1}}
	want, _, err := rankRequests(t.Context(), candidates(), "f", requests, nil)
	if err != nil {
		t.Fatal(err)
	}
	reversed := candidates()
	slices.Reverse(reversed)
	if got, _, err := rankRequests(t.Context(), reversed, "f", requests, nil); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestParseRequestsNamesTheWrongLine(t *testing.T) {
	for text, want := range map[string]string{"a => b\nship it": `line 2 is "ship it"`, " => deploy": `line 1 is "=> deploy"`, "a =>": `line 1`} {
		if _, err := parseRequests(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	all, err := parseRequests("\ufeffa => b => c\r\n")
	if err != nil || len(all) != 1 || all[0] != (request{"a => b", "c", 1}) {
		t.Errorf("%+v, %v", all, err)
	}
}
