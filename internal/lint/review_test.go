package lint

import (
	"bytes"
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
