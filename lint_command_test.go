package toolshelf_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
)

func TestLintCommands(t *testing.T) {
	const good = "---\ndescription: d\n---\n"
	for _, tt := range []struct {
		behaviour string
		files     map[string]string // below commands
		want      []string
	}{
		{"nothing wrong", map[string]string{"a.md": good}, nil},
		{"a colon in a text", map[string]string{"a.md": "---\ndescription: Review: is it correct?\n---\n"},
			[]string{`a.md:2:1: warning FRONTMATTER_RECOVERED description (write description: "Review: is it correct?")`}},
		{"a hint of two lists", map[string]string{"a.md": "---\ndescription: d\nargument-hint: [pr] [priority]\n---\n"},
			[]string{`a.md:3:1: warning FRONTMATTER_RECOVERED argument-hint (write argument-hint: "[pr] [priority]")`}},
		{"a name that no command can have", map[string]string{"my plan.md": good},
			[]string{`my plan.md:0:0: error INVALID_COMMAND_NAME (rename it to "my-plan.md", or admit the name with WithLooseNames)`}},
		{"names that differ in case", map[string]string{"Plan.md": good, "plan.md": good},
			[]string{"plan.md:0:0: warning NAME_DIFFERS_IN_CASE (rename one of the two; on some systems they are the same file)"}},
		{"two files of one name", map[string]string{"plan.MD": good, "plan.md": good},
			[]string{"plan.MD:0:0: warning SHADOWED (rename one of the two)"}},
		{"no frontmatter", map[string]string{"a.md": "Text.\n"},
			[]string{"a.md:0:0: warning NO_DESCRIPTION description (add one that says what the command does and when to use it)"}},
		{"an empty description", map[string]string{"a.md": "---\nmodel: x\ndescription:\n---\nText.\n"},
			[]string{"a.md:3:1: warning NO_DESCRIPTION description (add one that says what the command does and when to use it)"}},
		{"a dependency without description", map[string]string{"a.md": "---\nis_dependency: true\n---\n"}, nil},
		{"a dependency with a problem", map[string]string{"a.md": "---\nis_dependency: true\nmodel: a\nmodel: b\n---\n"},
			[]string{"a.md:4:1: warning DUPLICATE_KEY model (remove the others)"}},
		{"frontmatter that is not closed", map[string]string{"a.md": "---\ndescription: d\n\nText.\n"}, []string{
			"a.md:0:0: warning NO_DESCRIPTION description (add one that says what the command does and when to use it)",
			`a.md:1:0: error FRONTMATTER_UNTERMINATED (put a line "---" after its last field)`}},
		{"broken TOML", map[string]string{"a.md": "+++\ndescription = d\n+++\n"}, []string{
			"a.md:0:0: warning NO_DESCRIPTION description (add one that says what the command does and when to use it)",
			"a.md:2:0: error FRONTMATTER_INVALID ()"}},
		{"a text that aliases repeat 200 times", map[string]string{"a.md": "---\ndescription: d\nx: &a " + strings.Repeat("y", 5_000) + "\nz:" + strings.Repeat("\n  - *a", 200) + "\n---\n"}, []string{
			"a.md:1:0: error FRONTMATTER_REFUSED (write the values out, in a few levels)",
			"a.md:4:1: warning FRONTMATTER_RECOVERED z ()"}},
		{"blank lines before the frontmatter", map[string]string{"a.md": "\n\n---\ndescription: d\nmodel: a: b\n---\n/x:y and `/two-words`\n"}, []string{
			"a.md:1:0: warning FRONTMATTER_AFTER_BLANK_LINES (remove the blank lines)",
			`a.md:5:1: warning FRONTMATTER_RECOVERED model (write model: "a: b")`}},
		{"a text that YAML cuts", map[string]string{"a.md": "---\ndescription: Fix issue #$1\n---\n"},
			[]string{`a.md:2:24: warning FRONTMATTER_VALUE_CUT description (write description: "Fix issue #$1")`}},
		{"a description that is a comment", map[string]string{"a.md": "---\ndescription: #$1\n---\n"}, []string{
			"a.md:2:1: warning NO_DESCRIPTION description (add one that says what the command does and when to use it)",
			`a.md:2:14: warning FRONTMATTER_VALUE_CUT description (write description: "#$1")`}},
		{"a tool that is not closed", map[string]string{"a.md": "---\ndescription: d\nallowed-tools: Bash(git:* Read\n---\n"},
			[]string{`a.md:3:1: warning ALLOWED_TOOLS_UNBALANCED allowed-tools (close each "(" before the next tool begins, as in "Bash(git:*) Read")`}},
		{"a fence that is indented", map[string]string{"a.md": "  ---\ndescription: d\n---\nText.\n"}, []string{
			"a.md:0:0: warning NO_DESCRIPTION description (add one that says what the command does and when to use it)",
			`a.md:1:0: error FRONTMATTER_UNKNOWN_FENCE (begin the file with a line "---" that holds nothing else)`}},
		{"a byte that is no text, beyond what a list reads", map[string]string{"a.md": good + strings.Repeat("Text.\n", 2000) + "Wei\xdf.\n"},
			[]string{"a.md:2004:4: warning NOT_UTF8 (save the file as UTF-8)"}},
		{"a file that is too large", map[string]string{"a.md": strings.Repeat("x", 20<<10+1)},
			[]string{"a.md:0:0: error FILE_TOO_LARGE (shorten it, or raise the limit with WithMaxFileSize)"}},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range tt.files {
				files["commands/"+name] = text
			}
			var got []string
			for _, d := range lint(t, files, toolshelf.WithSkillsDir(), toolshelf.WithMaxFileSize(20<<10)) {
				got = append(got, fmt.Sprintf("%s:%d:%d: %s %s%s (%s)", strings.TrimPrefix(d.Path, "commands/"), d.Line, d.Column, d.Severity,
					d.Code, strings.TrimRight(" "+d.Key, " "), d.Suggestion))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLintReferences(t *testing.T) {
	others := map[string]string{
		"dev/review.md":        "",
		"dev/dev-build.md":     "",
		"dev/parts/base.md":    "---\nis_dependency: true\n---\n",
		"task-find.md":         "",
		"shared-rules.md":      "---\nis_dependency: true\n---\n",
		"v1.2 notes.txt":       "",
		"README.md":            "",
		"../docs/plan.md":      "",
		"../skills/x/SKILL.md": "---\nname: x\ndescription: d\n---\n",
	}
	for _, tt := range []struct {
		behaviour string
		text      string
		want      string // line:column and the suggestion; "" for none
	}{
		{"a command in a folder", "Then /dev:review it.", ""},
		{"a command in a folder that is not there", "Then\n`/dev:deploy prod` it.", "2:2 make the command, or remove what refers to it"},
		{"a command in a folder, within a block of code", "```\n/dev:deploy\n```\n", "2:1 make the command, or remove what refers to it"},
		{"a name that is spelt wrongly", "/dev:reviw", "1:1 write /dev:review if that is meant, else make the command"},
		{"a name that leaves out its folder's", "/dev:build", "1:1 write /dev:dev-build"},
		{"a hidden command", "/dev:parts:base", ""},
		{"a hidden command that is not there", "/dev:parts:rules", "1:1 make the command, or remove what refers to it"},
		{"another folder, of a client or a plugin", "/plugin:deploy", ""},
		{"a name that a client puts the project before", "/dev:task-find", ""},
		{"each once", "/dev:deploy /dev:deploy", "1:1 make the command, or remove what refers to it"},
		{"characters before it", "é /dev:deploy", "1:3 make the command, or remove what refers to it"},

		{"a command to run", "Run /task-find.", ""},
		{"a command to run that is not there", "First run `/task-list --all`.", "1:12 make the command, or remove what refers to it"},
		{"a command to run, spelt wrongly", "Use /task-fnd", "1:5 write /task-find if that is meant, else make the command"},
		{"a command to run that is a skill", "Run /x-y and /x", "1:5 make the command, or remove what refers to it"},
		{"one word, which may be the client's own", "Run /help, use /clear", ""},
		{"a command that nobody is told to run", "The endpoint /task-list", ""},
		{"a placeholder", "Run /your-command or use /command-name", ""},
		{"a path", "Run /usr/local-bin/x, use /etc-d/ and /task-list.sh, execute ./task-list", ""},
		{"a route with a parameter", "Call /user-list/{id} and call /user-list?page=1 and call /user-list={x}", ""},
		{"a URL", "Use https://example.com/task-list and http://x/dev:deploy", ""},
		{"a word that only ends like one", "Rerun /task-list", ""},
		{"a block of code", "```sh\n# run /task-list\n```\n", ""},

		{"a link to a command", "[rules](shared-rules.md) [base](./dev/parts/base.md#top)", ""},
		{"a link to a command that is not there", "See [the rules](rules.md).", `1:17 make "rules.md", or remove the link`},
		{"a link into a folder of commands", "See [the rules](dev/rules.md \"Rules\").", `1:17 make "dev/rules.md", or remove the link`},
		{"a link in angle brackets", "[r](<rules.md>)", `1:6 make "rules.md", or remove the link`},
		{"a link to a file that is elsewhere, in other letter case", "[base](Base.md)", `1:8 write "dev/parts/base.md" if that is meant, else make "Base.md"`},
		{"a link to a file that is elsewhere", "[base](base.md)", `1:8 write "dev/parts/base.md" if that is meant, else make "base.md"`},
		{"a definition of a link", "[rules]: rules.md", `1:10 make "rules.md", or remove the link`},
		{"a link to another folder", "[x](docs/x.md) [y](../x.md) [z](/x.md)", ""},
		{"a link that is right from the root", "[plan](docs/plan.md)", ""},
		{"a link to what is no command", "[a](README.md) [b](SKILL.md) [c](x.txt) [d](a%20b.md) [e](https://x.org/x.md) [f](#x.md) [g]({x}.md)", ""},
		{"a link in a code span", "`[rules](rules.md)` ``a`[r](rules.md)``", ""},
		{"a link in a code span of two lines", "a `b\n[rules](rules.md) c` d", ""},
		{"a link in indented code", "a\n\n    [rules](rules.md)\n", ""},
		{"a link in a comment", "<!-- [rules](rules.md)\n [more](more.md) --> [base](dev/base.md)", `2:29 write "dev/parts/base.md" if that is meant, else make "dev/base.md"`},
		{"a link that is escaped", "\\[rules](rules.md) [a] \\[rules](rules.md)", ""},
		{"a link around an image", "[![a](a.png)](rules.md)", `1:15 make "rules.md", or remove the link`},
		{"a link beside a code span", "`a` [rules](rules.md)", `1:13 make "rules.md", or remove the link`},
		{"a link in a block of code", "~~~\n[rules](rules.md)\n~~~\n", ""},
		{"a link in a block within a block", "```markdown\n```sh\nls\n```\n[rules](rules.md)\n```\n", ""},
		{"a link after a block that is an item", "- ```sh\n  ls\n  ```\n\n[rules](rules.md)", `5:9 make "rules.md", or remove the link`},
		{"a link in a block in a quote", "> ```md\n> [rules](rules.md)\n> ```\n", ""},
		{"a link after a block", "1. a\n   ```\n   x\n   ```\n[rules](rules.md)", `5:9 make "rules.md", or remove the link`},
		{"a link in a line of data", strings.Repeat("x", 5000) + "[rules](rules.md) /dev:deploy", ""},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range maps.All(others) {
				files["commands/"+name] = text
			}
			files["commands/a.md"] = tt.text
			got := ""
			for _, d := range lint(t, files, toolshelf.WithNestedCommands()) {
				if d.Code == "REFERENCE_NOT_FOUND" {
					got += fmt.Sprintf("%d:%d %s\n", d.Line, d.Column, d.Suggestion)
				}
			}
			if got = strings.TrimSuffix(got, "\n"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLintReferencesOfLayers(t *testing.T) {
	for _, tt := range []struct {
		behaviour string
		options   []toolshelf.Option
		want      int
	}{
		{"the file is in another layer", []toolshelf.Option{toolshelf.WithCommandsDir("own", "team")}, 0},
		{"the file is in no layer", []toolshelf.Option{toolshelf.WithCommandsDir("own")}, 2},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			got := 0
			for _, d := range lint(t, map[string]string{"own/a.md": "[r](rules.md), run /the-rules", "team/rules.md": "", "team/the-rules.md": ""}, tt.options...) {
				if d.Code == "REFERENCE_NOT_FOUND" {
					got++
				}
			}
			if got != tt.want {
				t.Errorf("%d references are reported, want %d", got, tt.want)
			}
		})
	}
}

// Names are compared quickly enough that many files with many wrong names take no time.
func TestLintOfManyMissingReferences(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		var text strings.Builder
		text.WriteString("---\ndescription: d\n---\n")
		for j := range 100 {
			fmt.Fprintf(&text, "Run /missing-command-%d-%d now\n", i, j)
		}
		files[fmt.Sprintf("commands/present-command-%d.md", i)] = text.String()
	}
	found := lint(t, files, toolshelf.WithSkillsDir())
	if len(found) != 300*100 {
		t.Errorf("%d diagnostics, want 30,000", len(found))
	}
}

func TestLintDoesNotSendALinkBackToItsOwnFile(t *testing.T) {
	got := lint(t, map[string]string{
		"commands/a/one.md": "---\ndescription: d\n---\n[x](../b/one.md)\n",
		"commands/b/two.md": "---\ndescription: d\n---\n",
	}, toolshelf.WithNestedCommands(), toolshelf.WithSkillsDir())
	if len(got) != 1 || got[0].Suggestion != `make "b/one.md", or remove the link` {
		t.Errorf("got %+v", got)
	}
}
