package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

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
	if found != 300*100 {
		t.Errorf("%d problems, want 30,000", found)
	}
}

func TestSuggestionsNameAnotherFile(t *testing.T) {
	l := commandsOf("a/one.md", "b/two.md")
	got := l.Check(file("a:one", "[x](../b/one.md)\n"), Command{Name: "a:one", Path: "a/one.md"})
	if len(got) != 1 || got[0].Suggestion != `create "b/one.md", or remove the link` {
		t.Errorf("got %+v", got)
	}
}
