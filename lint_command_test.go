package toolshelf_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

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
		{"a hint of two lists", map[string]string{"a.md": "---\ndescription: d\nargument-hint: [pr] [priority]\n---\n$1 $2\n"},
			[]string{`a.md:3:1: warning FRONTMATTER_RECOVERED argument-hint (write argument-hint: "[pr] [priority]")`}},
		{"a name that no command can have", map[string]string{"my plan.md": good},
			[]string{`my plan.md:0:0: error INVALID_COMMAND_NAME (rename the file to "my-plan.md", or let the program accept other names)`}},
		{"names that differ in case", map[string]string{"Plan.md": good, "plan.md": good},
			[]string{"plan.md:0:0: warning NAME_DIFFERS_IN_CASE (rename one of the files; on some systems both names are the same file)"}},
		{"two files of one name", map[string]string{"plan.MD": good, "plan.md": good},
			[]string{"plan.MD:0:0: warning SHADOWED (rename one of the files)"}},
		{"no frontmatter", map[string]string{"a.md": "Text.\n"},
			[]string{"a.md:0:0: warning NO_DESCRIPTION description (describe what the command does and when to use it)"}},
		{"an empty description", map[string]string{"a.md": "---\nmodel: x\ndescription:\n---\nText.\n"},
			[]string{"a.md:3:1: warning NO_DESCRIPTION description (describe what the command does and when to use it)"}},
		{"a dependency without description", map[string]string{"a.md": "---\nis_dependency: true\n---\n"}, nil},
		{"a dependency with a problem", map[string]string{"a.md": "---\nis_dependency: true\nmodel: a\nmodel: b\n---\n"},
			[]string{"a.md:4:1: warning DUPLICATE_KEY model (remove the other values)"}},
		{"frontmatter that is not closed", map[string]string{"a.md": "---\ndescription: d\n\nText.\n"}, []string{
			`a.md:1:0: error FRONTMATTER_UNTERMINATED (add a line "---" after the last field)`}},
		{"broken TOML", map[string]string{"a.md": "+++\ndescription = d\n+++\n"}, []string{
			"a.md:2:0: error FRONTMATTER_INVALID ()"}},
		{"a text that aliases repeat 200 times", map[string]string{"a.md": "---\ndescription: d\nx: &a " + strings.Repeat("y", 5_000) + "\nz:" + strings.Repeat("\n  - *a", 200) + "\n---\n"}, []string{
			"a.md:1:0: error FRONTMATTER_REFUSED (replace aliases by values, and use fewer levels)",
			"a.md:4:1: warning FRONTMATTER_RECOVERED z ()"}},
		{"blank lines before the frontmatter", map[string]string{"a.md": "\n\n---\ndescription: d\nmodel: a: b\n---\n/x:y and `/two-words`\n"}, []string{
			"a.md:1:0: warning FRONTMATTER_AFTER_BLANK_LINES (remove the blank lines)",
			`a.md:5:1: warning FRONTMATTER_RECOVERED model (write model: "a: b")`}},
		{"a text that YAML cuts", map[string]string{"a.md": "---\ndescription: Fix issue #$1\n---\n"},
			[]string{`a.md:2:24: warning FRONTMATTER_RECOVERED description (write description: "Fix issue #$1")`}},
		{"a list that a tab indents", map[string]string{"a.md": "---\ndescription: d\nallowed-tools:\n\t- Read\n---\n"},
			[]string{`a.md:4:1: warning FRONTMATTER_RECOVERED allowed-tools (replace lines 3 to 4 by allowed-tools:⏎  - Read)`}},
		{"a fence that is not closed exactly", map[string]string{"a.md": "\n---\ndescription: d\n----\nText.\n"},
			[]string{`a.md:2:0: error FRONTMATTER_UNTERMINATED (write "---" in line 4)`}},
		{"a description that is a comment", map[string]string{"a.md": "---\ndescription: #$1\n---\n"}, []string{
			`a.md:2:14: warning FRONTMATTER_RECOVERED description (write description: "#$1")`}},
		{"a tool that is not closed", map[string]string{"a.md": "---\ndescription: d\nallowed-tools: Bash(git:* Read\n---\n"},
			[]string{`a.md:3:1: warning ALLOWED_TOOLS_UNBALANCED allowed-tools (close each "(" before the next tool, as in "Bash(git:*) Read")`}},
		{"a fence that is indented", map[string]string{"a.md": "  ---\ndescription: d\n---\nText.\n"}, []string{
			`a.md:1:0: error FRONTMATTER_UNKNOWN_FENCE (begin the file with a line that contains only "---")`}},
		{"a byte that is no text, beyond what a list reads", map[string]string{"a.md": good + strings.Repeat("Text.\n", 2000) + "Wei\xdf.\n"},
			[]string{"a.md:2004:4: warning NOT_UTF8 (save the file as UTF-8)"}},
		{"a misspelled key", map[string]string{"a.md": "---\ndescription: d\nargument_hint: x\nallowed_tools: Read\nmodle: opus\nmodle: x\n---\n$ARGUMENTS\n"}, []string{
			"a.md:3:1: warning FIELD_MISSPELLED argument_hint (rename the key to argument-hint)",
			"a.md:4:1: warning FIELD_MISSPELLED allowed_tools (rename the key to allowed-tools)",
			"a.md:6:1: warning DUPLICATE_KEY modle (remove the other values)",
			"a.md:6:1: warning FIELD_MISSPELLED modle (rename the key to model)"}},
		{"a misspelled description", map[string]string{"a.md": "---\ndescripton: d\n---\n"}, []string{
			"a.md:2:1: warning FIELD_MISSPELLED descripton (rename the key to description)"}},
		{"a misspelled description beside a description", map[string]string{"a.md": "---\ndescripton: a\ndescription: b\n---\n"}, []string{
			"a.md:2:1: warning FIELD_MISSPELLED descripton (merge the value into description in line 3, or remove the field)"}},
		{"a misspelled description that resembles a list", map[string]string{"a.md": "---\nDescription: [a\n---\n"}, []string{
			"a.md:2:1: warning FIELD_MISSPELLED Description (rename the key to description)",
			"a.md:2:1: warning FRONTMATTER_RECOVERED Description ()"}},
		{"a misspelled hint without a placeholder", map[string]string{"a.md": "---\ndescription: d\nargument_hint: x\n---\nReview.\n"}, []string{
			"a.md:3:1: warning FIELD_MISSPELLED argument_hint (rename the key to argument-hint)",
			"a.md:3:1: warning HINT_WITHOUT_PLACEHOLDER argument_hint (write $ARGUMENTS in the text, or remove argument-hint)"}},
		{"a key in capitals", map[string]string{"a.md": "---\ndescription: d\nTags: x\nDisable_Model_Invocation: true\n---\n"}, []string{
			"a.md:3:1: warning FIELD_MISSPELLED Tags (rename the key to tags)",
			"a.md:4:1: warning FIELD_MISSPELLED Disable_Model_Invocation (rename the key to disable-model-invocation)"}},
		{"keys of clients and of authors", map[string]string{"a.md": "---\ndescription: d\nmode: agent\nagents: x\ntools: x\ndisallowed-tools: x\nuser-invokable: true\ncontext: fork\n" +
			"subtask: true\nscripts: x\ncategory: x\ntag: x\nauthor: x\ndesc: x\ndepartment: x\n---\n"}, nil},
		{"a hint without a placeholder", map[string]string{"a.md": "---\ndescription: d\nargument-hint: <file>\n---\nReview the file.\n"},
			[]string{"a.md:3:1: warning HINT_WITHOUT_PLACEHOLDER argument-hint (write $ARGUMENTS in the text, or remove argument-hint)"}},
		{"a hint with a placeholder of any client", map[string]string{
			"a.md": "---\ndescription: d\nargument-hint: <file>\n---\n${input:file}\n", "b.md": "---\ndescription: d\nargument-hint: <file>\n---\n`wc $FILE`\n",
			"c.md": "---\ndescription: d\nargument-hint: <file>\n---\n{{args}}\n", "d.md": "---\ndescription: d\nargument-hint: <file>\n---\n${@:2}\n",
			"e.md": "---\ndescription: d\nargument-hint:\n---\nReview.\n", "f.md": "---\ndescription: d\nargument-hint: <file>\n---\n```\n$1\n```\n"}, nil},
		{"a placeholder beyond the hint", map[string]string{"a.md": "---\ndescription: d\nargument-hint: <file>\n---\nReview $1.\nFor é, see $2 and $3.\n"},
			[]string{`a.md:6:12: warning PLACEHOLDER_BEYOND_HINT (add the argument to argument-hint; for a literal text, write \$2)`}},
		{"a file that is too large", map[string]string{"a.md": strings.Repeat("x", 20<<10+1)},
			[]string{"a.md:0:0: error FILE_TOO_LARGE (shorten the file, or let the program raise the limit)"}},
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

// ignoredFiles returns the diagnostics of files that no list shows, as "severity CODE path".
func ignoredFiles(diagnostics []toolshelf.Diagnostic) (found []string) {
	for _, d := range diagnostics {
		switch d.Code {
		case "SUBDIRECTORY_NOT_READ", "EXTENSION_NOT_READ", "FILESYSTEM_TOP_EMPTY", "SKILL_NOT_A_DIRECTORY", "SKILL_FILE_MISSING":
			found = append(found, fmt.Sprintf("%s %s %s", d.Severity, d.Code, d.Path))
		}
	}
	return found
}

func TestLintReportsIgnoredCommands(t *testing.T) {
	const command, prompt = "---\ndescription: d\n---\n", "prompt = \"\"\"Do it.\"\"\"\n"
	nested := []toolshelf.Option{toolshelf.WithNestedCommands()}
	for _, tt := range []struct {
		behaviour string
		options   []toolshelf.Option
		files     map[string]string // below commands
		want      []string
	}{
		{"files in subdirectories", nil, map[string]string{"a.md": "", "git/commit.md": "", "git/deep/b.md": "", "x/y/c.md": ""},
			[]string{"warning SUBDIRECTORY_NOT_READ commands/git", "warning SUBDIRECTORY_NOT_READ commands/x"}},
		{"files in subdirectories that the program reads", nested, map[string]string{"a.md": "", "git/commit.md": ""}, nil},
		{"subdirectories without commands", nil, map[string]string{"a.md": "", "doc/README.md": "", "src/a.go": "", ".git/a.md": "", "pdf/SKILL.md": "", "pdf/forms/x.md": "", "node_modules/x/a.md": ""}, nil},
		{"Markdown with another extension", nil, map[string]string{"a.markdown": "", "b.MDC": "Text."},
			[]string{"warning EXTENSION_NOT_READ commands/a.markdown", "warning EXTENSION_NOT_READ commands/b.MDC"}},
		{"Markdown with another extension in a subdirectory", nested, map[string]string{"git/a.mdc": "", "b.md": ""}, []string{"warning EXTENSION_NOT_READ commands/git/a.mdc"}},
		{"a TOML file with a prompt", nil, map[string]string{"a.toml": prompt, "b.toml": "description = \"d\"\n", "Cargo.toml": "[package]\nname = \"x\"\n", "broken.toml": "prompt"},
			[]string{"warning EXTENSION_NOT_READ commands/a.toml"}},
		{"a text file that is written as a command", nil, map[string]string{"a.txt": command, "b.txt": "Fix $ARGUMENTS.", "notes.txt": "Buy milk.", "requirements.txt": "flask"},
			[]string{"warning EXTENSION_NOT_READ commands/a.txt", "warning EXTENSION_NOT_READ commands/b.txt"}},
		{"files that resemble no command", nil, map[string]string{"README.markdown": "", "License.txt": command, "CHANGELOG.mdc": "", "a.go": "", "b.json": "", "c.mdx": "", ".d.mdc": "", "e f.mdc": ""}, nil},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range tt.files {
				files["commands/"+name] = text
			}
			if diff := cmp.Diff(tt.want, ignoredFiles(lint(t, files, append(tt.options, toolshelf.WithSkillsDir())...))); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}

// The files of an embed.FS begin at the directory of the Go file.
func TestLintReportsAFilesystemWithoutFilesAtTheTop(t *testing.T) {
	skill := &fstest.MapFile{Data: []byte(skillNamed("pdf"))}
	for _, tt := range []struct {
		behaviour string
		files     fstest.MapFS
		options   []toolshelf.Option
		want      []string // as "path: suggestion"
	}{
		{"one directory", fstest.MapFS{"commands/a.md": {}, "commands/git/b.md": {}}, nil, []string{`built in/commands: pass the result of fs.Sub(fsys, "commands")`}},
		{"a hidden directory", fstest.MapFS{".claude/commands/a.md": {}, "doc.go": {}}, []toolshelf.Option{toolshelf.WithNestedCommands()},
			[]string{`built in/.claude/commands: pass the result of fs.Sub(fsys, ".claude/commands")`}},
		{"commands and skills", fstest.MapFS{"commands/a.md": {}, "skills/pdf/SKILL.md": skill, "skills/pdf/forms.md": {}}, nil,
			[]string{`built in/commands: pass the result of fs.Sub(fsys, "commands")`, `built in/skills: pass the result of fs.Sub(fsys, "skills")`}},
		{"files of a skill", fstest.MapFS{"skills/pdf/SKILL.md": skill, "skills/pdf/references/forms.md": {}}, nil, []string{`built in/skills: pass the result of fs.Sub(fsys, "skills")`}},
		{"commands at the top", fstest.MapFS{"a.md": {}, "commands/b.md": {}, "pdf/SKILL.md": skill}, nil, nil},
		{"nested commands", fstest.MapFS{"commands/a.md": {}}, []toolshelf.Option{toolshelf.WithNestedCommands()}, nil},
		{"several directories", fstest.MapFS{"a/a.md": {}, "b/b.md": {}}, nil, nil},
		{"nothing", fstest.MapFS{"doc.go": {}}, nil, nil},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			c := catalog(t, append(tt.options, toolshelf.WithCommandsFS("built in", tt.files), toolshelf.WithSkillsFS("built in", tt.files))...)
			diagnostics, err := c.Lint(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			checkCodes(t, diagnostics)
			var got []string
			for _, d := range diagnostics {
				if d.Code == "FILESYSTEM_TOP_EMPTY" {
					got = append(got, d.Path+": "+d.Suggestion)
				}
				if d.Code == "SKILL_FILE_MISSING" && strings.HasPrefix(d.Path, "built in/skills") {
					t.Errorf("a second report of the directory: %v", d)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
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
			for _, d := range lint(t, map[string]string{"own/a.md": "[r](rules.md) and [s](the-rules.md)", "team/rules.md": "", "team/the-rules.md": ""}, tt.options...) {
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
