package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	table "github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// project makes a new directory with files the working directory and returns its path.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	}
	t.Chdir(dir)
	return dir
}

// prints compares the standard output with a text.
func prints(t *testing.T, want string, status int, args ...string) {
	t.Helper()
	got, _ := printed(t, status, args...)
	must.Equal(t, args, want, got)
}

// printed runs the program and returns its output. The program must return the status.
func printed(t *testing.T, status int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	if got := run(t.Context(), args, &out, &problems); got != status {
		t.Errorf("%q: exit status %d, want %d\n%s", args, got, status, problems.String())
	}
	return out.String(), problems.String()
}

const (
	fine    = "---\nname: a\ndescription: a\n---\n"
	warning = "---\ndescription: a: b\n---\n" // as a command
	wrong   = "---\nname: b\ndescription: b\n---\n"

	theWarning = `:2:1: warning: the value is not valid YAML and is read as text; write description: "a: b" [FRONTMATTER_RECOVERED]` + "\n"
	theError   = `:2:1: error: name "b" does not match the directory name "a"; write name: a [SKILL_NAME_MISMATCH]` + "\n"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		args             []string
		status           int
		want             string
	}{
		{"nothing wrong", "commands/a.md", fine, []string{"-strict"}, 0, ""},
		{"a warning", "commands/a.md", warning, nil, 0, "commands/a.md" + theWarning},
		{"a warning that counts", ".claude/commands/a.md", warning, []string{"-strict"}, 1, ".claude/commands/a.md" + theWarning},
		{"an error", "skills/a/SKILL.md", wrong, nil, 1, "skills/a/SKILL.md" + theError},
		{"a skill in a group", ".agents/skills/group/a/SKILL.md", wrong, nil, 1, ".agents/skills/group/a/SKILL.md" + theError},
		{"a diagnostic of a whole file", "commands/sub/a b.md", "---\ndescription: a\n---\n", nil, 1,
			`commands/sub/a b.md:1:1: error: not listed: a command name contains only letters, digits, "_" and "-"; ` +
				`rename the file to "a-b.md", or let the program accept other names [INVALID_COMMAND_NAME]` + "\n"},
		{"a directory as argument", "x/skills/a/SKILL.md", wrong, []string{"x"}, 1, "x/skills/a/SKILL.md" + theError},
		{"a directory twice", "x/skills/a/SKILL.md", wrong, []string{"./x/", "x"}, 1, strings.Repeat("x/skills/a/SKILL.md"+theError, 2)},
		{"another client", ".cursor/commands/a.md", warning, []string{"-client", "cursor"}, 0, ".cursor/commands/a.md" + theWarning},
		{"a named directory of skills", "tools/agent/a/SKILL.md", wrong, []string{"-skills", "tools/agent"}, 1, "tools/agent/a/SKILL.md" + theError},
		{"an agent", "agents/team/a.md", "---\nname: a\n---\n", nil, 0, "agents/team/a.md:1:1: warning: description is missing in the frontmatter; describe what the agent does and when to use it [NO_DESCRIPTION]\n"},
		{"an agent that Claude Code rejects", ".claude/agents/a.md", "---\nname: a\n---\n", []string{"-client", "claude"}, 1, ".claude/agents/a.md:1:1: error: Claude Code requires the field description; add the field [FIELD_MISSING]\n"},
		{"a file that is no agent of Claude Code", ".claude/agents/a.md", "Text.\n", nil, 0, ".claude/agents/a.md:1:1: warning: not listed: the frontmatter has no valid name; add a valid name to the frontmatter, or move the file away [FRONTMATTER_REQUIRED]\n"},
		{"a directory of plugins", "shop/deploy/.claude-plugin/plugin.json", `{"name": "deploy", "commands": "../x"}`, []string{"-plugins", "shop"}, 1,
			"shop/deploy/.claude-plugin/plugin.json:1:1: error: the path \"../x\" of the field \"commands\" leads outside; write a path below the plugin, such as ./commands [PLUGIN_PATH_INVALID]\n"},
		{"a named directory of agents", "tools/a.md", fine, []string{"-agents", "tools"}, 0, ""},
		{"a named directory of commands", "prompts/sub/a.md", warning, []string{"-commands=prompts"}, 0, "prompts/sub/a.md" + theWarning},
		{"named directories of two projects", "x/tools/a/SKILL.md", wrong, []string{"-skills", "tools", "x", "./x"}, 1, strings.Repeat("x/tools/a/SKILL.md"+theError, 2)},
		{"a named directory beside the project", "tools/a/SKILL.md", wrong, []string{"-skills", "../tools", "x"}, 1, "tools/a/SKILL.md" + theError},
		{"a named directory that a client has too", "skills/a/SKILL.md", wrong, []string{"-skills", "./skills/", "-skills", "skills"}, 1, "skills/a/SKILL.md" + theError},
		{"a group of a client that finds skills in no groups", "tools/group/a/SKILL.md", fine, []string{"-client", "claude", "-skills", "tools/group"}, 0, ""},
		{"instructions below the root only", "x/services/AGENTS.md", "a\u202eb", []string{"x", "-client", "codex"}, 0,
			"x/services/AGENTS.md:1:2: warning: the text contains the invisible character U+202E; remove the characters: a model reads the characters, and a person does not see the characters [INVISIBLE_CHARACTER]\n"},
		{"a rule of any client", ".cursor/rules/a.mdc", "---\nglobs: \"src/{a\"\n---\nText.\n", nil, 0,
			".cursor/rules/a.mdc:2:1: warning: the glob \"src/{a\" matches no file: the glob is malformed; close each bracket and each brace [RULE_GLOB_INVALID]\n"},
		{"a rule of another client", ".cursor/rules/a.mdc", "---\nglobs: \"src/{a\"\n---\nText.\n", []string{"-client", "codex", "-skills", "x"}, 0, ""},
		{"flags after the directory", "x/.cursor/commands/a.md", warning, []string{"x", "-client", "cursor", "-strict"}, 1, "x/.cursor/commands/a.md" + theWarning},
		{"flags between directories", "x/tools/a/SKILL.md", wrong, []string{"x", "-skills=tools", "./x"}, 1, strings.Repeat("x/tools/a/SKILL.md"+theError, 2)},
		{"a directory with the name of a flag", "-strict/commands/a.md", warning, []string{"-format=text", "--", "-strict"}, 0, "-strict/commands/a.md" + theWarning},
		{"names with dots for VS Code", ".github/prompts/a.prompt.md", warning, []string{"-client=vscode"}, 0, ".github/prompts/a.prompt.md" + theWarning},
	} {
		t.Run(tt.name, func(t *testing.T) {
			project(t, map[string]string{tt.file: tt.text, "x/README.md": ""})
			prints(t, tt.want, tt.status, tt.args...)
		})
	}
}

func TestSummaryStatesTheNumberOfCheckedFiles(t *testing.T) {
	project(t, map[string]string{"commands/a.md": warning, "commands/b.md": fine, "skills/a/SKILL.md": wrong, "skills/empty/x": "", "x/commands/a.md": fine, "y/commands/x": ""})
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"x"}, 0, "1 file checked: 0 errors, 0 warnings"},
		{[]string{"y"}, 0, "0 files checked: 0 errors, 0 warnings"},
		{[]string{".", "x"}, 1, "4 files checked: 2 errors, 1 warning"},
		{[]string{"-format", "json"}, 1, "3 files checked: 2 errors, 1 warning"},
	} {
		if _, got := printed(t, tt.status, tt.args...); got != "toolshelf-lint: "+tt.want+"\n" {
			t.Errorf("%q: got %q, want %q", tt.args, got, tt.want)
		}
	}
}

// GitHub Actions executes each line of the output that begins with "::".
func TestArgumentsForgeNoLineOfTheOutput(t *testing.T) {
	const name = "x\n::error ::y"
	project(t, map[string]string{"commands/a.md": warning, "empty/file": ""})
	if err := os.Rename("empty", name); err != nil {
		t.Log(err)
		t.Skip("the filesystem has no line breaks in names")
	}
	for _, hasCommands := range []bool{false, true} {
		if hasCommands {
			must.Do(t, os.Rename("commands", filepath.Join(name, "commands")))
		}
		for _, args := range [][]string{{name}, {"-format", "github", name}, {"-format", "sarif", name}, {"-commands", name + "/none", name}, {"-" + name}, {"-format", name}, {"missing" + name}} {
			var stdout, stderr bytes.Buffer
			run(t.Context(), args, &stdout, &stderr)
			for line := range strings.Lines(stdout.String() + stderr.String()) {
				if strings.HasPrefix(line, "::error ::y") {
					t.Errorf("%q printed the line %q", args, line)
				}
			}
		}
	}
	prints(t, `x\n::error ::y/commands/a.md`+theWarning, 0, name)
	if got, _ := printed(t, 0, "-format", "github", name); !strings.HasPrefix(got, "::warning file=x%0A%3A%3Aerror %3A%3Ay/commands/a.md,line=2,") {
		t.Errorf("github: %q", got)
	}
	must.Do(t, os.Rename(name, "::error ::y"))
	prints(t, "./::error ::y/commands/a.md"+theWarning, 0, "::error ::y")
}

func TestPathsBelowTheWorkingDirectoryAreRelative(t *testing.T) {
	outside := filepath.ToSlash(project(t, map[string]string{"skills/a/SKILL.md": wrong}))
	prints(t, "skills/a/SKILL.md"+theError, 1, outside)
	project(t, map[string]string{"x/skills/a/SKILL.md": wrong})
	prints(t, outside+"/skills/a/SKILL.md"+theError+"x/skills/a/SKILL.md"+theError, 1, outside, "x")
}

func TestNamedDirectoriesAddToTheDirectoriesOfAClient(t *testing.T) {
	dir := project(t, map[string]string{"skills/a/SKILL.md": wrong, "more/b/SKILL.md": "", "tools/c/SKILL.md": "", "commands/a.md": warning, "prompts/b.md": warning})
	want := []string{"commands/a.md FRONTMATTER_RECOVERED", "more/b/SKILL.md SKILL_FRONTMATTER_MISSING", "prompts/b.md FRONTMATTER_RECOVERED",
		"skills/a/SKILL.md SKILL_NAME_MISMATCH", "tools/c/SKILL.md SKILL_FRONTMATTER_MISSING"}
	for _, tools := range []string{"tools", filepath.Join(dir, "tools")} {
		output, _ := printed(t, 1, "-skills", tools, "-commands", "prompts", "-skills", "more")
		var got []string
		for line := range strings.Lines(output) {
			path, _, _ := strings.Cut(line, ":")
			got = append(got, path+" "+strings.Trim(line[strings.LastIndex(line, "["):], "[]\n"))
		}
		slices.Sort(got)
		must.Match(t, tools, want, got)
	}
}

// theTOMLError is the message for a file in TOML with a defect.
const theTOMLError = ":1:1: error: the frontmatter is not valid TOML; the fields are unknown: expected value but found \"x\" instead [FRONTMATTER_INVALID]\n"

// theFileError is the message for a skill in a file without a description.
const theFileError = ":1:1: error: description is missing; describe what the skill does and when to use it [SKILL_DESCRIPTION_MISSING]\n"

func TestEachDirectoryOfAClientIsChecked(t *testing.T) {
	for _, row := range table.All() {
		name := row.Name
		c := must.Get(lookup(name))(t)
		for i, p := range append(c.Commands, c.Skills...) {
			t.Run(name+" "+p.Dir+" "+p.Pattern, func(t *testing.T) {
				file, text, status, want := p.Dir+"/a"+p.Suffix(), warning, 0, theWarning
				if p.Suffix() == ".toml" {
					text, status, want = "description = x", 1, theTOMLError
				}
				if i >= len(c.Commands) {
					text, want = "---\nname: a"+strings.TrimPrefix(warning, "---"), strings.Replace(theWarning, ":2:", ":3:", 1)
				}
				if i >= len(c.Commands) && p.Suffix() == ".md" {
					text, status, want = "---\nname: a\n---\n", 1, theFileError
				}
				project(t, map[string]string{file: text})
				prints(t, file+want, status, "-client", name)
			})
		}
	}
}

func TestEachDirectoryOfAgentsOfAClientIsChecked(t *testing.T) {
	for _, row := range table.All() {
		c := must.Get(lookup(row.Name))(t)
		for _, p := range c.Agents {
			file := p.Dir + "/a" + p.Suffix()
			project(t, map[string]string{file: "---\nname: a\ndescription: b\ntools: Read(\n---\n"})
			if got, _ := printed(t, 0, "-client", row.Name); !strings.HasPrefix(got, file+":4:1: warning: ") || strings.Count(got, "\n") != 1 {
				t.Errorf("%s %s: got %q", row.Name, p.Dir, got)
			}
		}
	}
}

func TestDescriptionsBeyondTheLimitOfAClient(t *testing.T) {
	text := func(name string, description, more int, lines ...string) string {
		return "---\nname: " + name + "\ndescription: " + strings.Repeat("é", description) + "\nwhen_to_use: " + strings.Repeat("é", more) + "\n" + strings.Join(lines, "\n") + "---\n"
	}
	const cut = ":3:1: warning: description and when_to_use, joined by \" - \", have 1537 characters; Claude Code shows a model the first 1536; " +
		"remove 1 characters, or write the most important words first [DESCRIPTION_CUT]\n"
	project(t, map[string]string{
		".claude/commands/a.md":       text("a", 1000, 533),
		".claude/commands/git/b.md":   text("b", 1000, 534),
		".claude/commands/user.md":    text("user", 1000, 534, "disable-model-invocation: true\n"),
		".codex/prompts/a.md":         text("a", 1000, 534),
		"x/.claude/skills/a/SKILL.md": text("a", 1000, 534),
		"x/.claude/skills/b/SKILL.md": text("b", 1000, 500),
	})
	prints(t, ".claude/commands/git/b.md"+cut, 0, "-client", "claude")
	if got, _ := printed(t, 0, "-client", "claude", "x"); !strings.HasPrefix(got, "x/.claude/skills/a/SKILL.md"+cut) || strings.Count(got, "DESCRIPTION_CUT") != 1 {
		t.Errorf("skills: %q", got)
	}
	prints(t, "", 0, "-client", "codex")
}

func TestClaudeReadsNoSkillsInGroups(t *testing.T) {
	project(t, map[string]string{".claude/skills/group/a/SKILL.md": fine})
	if got, _ := printed(t, 1, "-client", "claude", "-strict"); !strings.Contains(got, "SKILL_FILE_MISSING") {
		t.Errorf("got %q", got)
	}
	prints(t, "", 0)
}

// Projects that serve several clients link one directory of skills to another.
func TestLinkedDirectoryIsCheckedOnce(t *testing.T) {
	project(t, map[string]string{".agents/skills/a/SKILL.md": wrong, ".claude/settings.json": "{}"})
	hosttest.Symlink(t, filepath.Join("..", ".agents", "skills"), filepath.Join(".claude", "skills"))
	prints(t, ".claude/skills/a/SKILL.md"+theError, 1)
}

func TestADirectoryOfSkillsNeedsNoFlag(t *testing.T) {
	project(t, map[string]string{"shelf/a/SKILL.md": wrong, "shelf/AGENTS.md": "Text.\n"})
	for _, args := range [][]string{{"shelf"}, {"-client", "agentskills", "shelf"}} {
		prints(t, "shelf/a/SKILL.md"+theError, 1, args...)
	}
}

// The call that the error proposes checks the file.
func TestErrorsProposeTheCallThatWorks(t *testing.T) {
	project(t, map[string]string{"shelf/a/SKILL.md": wrong, "group/shelf/a/SKILL.md": wrong, "texts/b.md": fine})
	for _, dir := range []string{filepath.Join("shelf", "a"), "group", "texts"} {
		_, message := printed(t, 2, dir)
		_, proposed, _ := strings.Cut(message, "write toolshelf-lint ")
		_, summary := printed(t, map[bool]int{true: 0, false: 1}[dir == "texts"], strings.Fields(proposed)...)
		if !strings.Contains(summary, " 1 file checked: ") {
			t.Errorf("%s: the error %q proposes a call with the summary %q", dir, message, summary)
		}
	}
}

func TestImpossibleChecks(t *testing.T) {
	project(t, map[string]string{"commands/a.md": fine, "file": "", "empty/file": ""})
	for _, tt := range []struct {
		args []string
		want string // in the message
	}{
		{[]string{"missing"}, "missing"},
		{[]string{".", "missing"}, "missing"},
		{[]string{"file"}, "file"},
		{[]string{"empty"}, "empty has none of the directories commands, .claude/commands, skills,"},
		{[]string{"-client", "gemini"}, ". has none of the directories .gemini/commands, .agents/skills, .gemini/skills, .gemini/agents, and no instructions;"},
		{[]string{"-skills", "missing"}, "missing"},
		{[]string{"-commands", "commands/a.md"}, "a.md"},
		{[]string{"-skills", "commands", ".", "empty"}, filepath.Join("empty", "commands")},
		{[]string{"-skills="}, "the name of the directory is empty"},
		{[]string{"-client", "nobody"}, "use one of amp, claude, cline, "},
		{[]string{"-client", "cluade"}, `did you mean "claude"?`},
		{[]string{"-format", "xml"}, "use one of github, json, sarif, text"},
		{[]string{"-unknown"}, "usage: toolshelf-lint"},
	} {
		if stdout, stderr := printed(t, 2, tt.args...); stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%q printed %q and %q", tt.args, stdout, stderr)
		}
	}
}

func TestAWrongFlagPrintsTheErrorAfterTheUsage(t *testing.T) {
	project(t, nil)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-unknown"}, "toolshelf-lint: flag provided but not defined: -unknown"},
		{[]string{"-client", "acme"}, "zed (for a client of your own, use -commands, -skills, -agents and -plugins, or call Lint with LintFor)"},
	} {
		_, stderr := printed(t, 2, tt.args...)
		if lines := strings.Split(strings.TrimSpace(stderr), "\n"); !strings.HasPrefix(stderr, "usage: ") || !strings.HasSuffix(lines[len(lines)-1], tt.want) {
			t.Errorf("%q printed %q", tt.args, stderr)
		}
	}
}

func TestTheClientAgentSkillsHasTheUsualDirectories(t *testing.T) {
	project(t, map[string]string{"empty/file": ""})
	_, without := printed(t, 2, "empty")
	if _, stderr := printed(t, 2, "-client", "agentskills", "empty"); stderr != without {
		t.Errorf("printed %q, without -client %q", stderr, without)
	}
}

func TestAPublicationChecksTheSkillsOfOneDirectory(t *testing.T) {
	project(t, map[string]string{
		"shared/pdf/SKILL.md":  "---\nname: pdf\ndescription: Fills forms\n---\n",
		"shared/Bad/SKILL.md":  "---\nname: bad\ndescription: Reads\n---\n",
		"commands/a b.md":      "Is not checked.",
		"skills/none/other.md": "Is not checked.",
	})
	out, _ := printed(t, exitFailed, "-well-known", "shared", "-format", "text")
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "shared/Bad/SKILL.md:") {
			t.Error(line)
		}
	}
	must.Do(t, os.RemoveAll("shared/Bad"))
	prints(t, "", exitPassed, "-well-known", "shared")
	printed(t, exitUnchecked, "-well-known", "missing")
}

func TestTriggersRankRequestsByWords(t *testing.T) {
	long := "---\nname: keys\ndescription: Keeps passwords. " + strings.Repeat("Many words. ", 120) + "\nwhen_to_use: Rotate the vault.\n---\n"
	project(t, map[string]string{
		"skills/deploy/SKILL.md": "---\nname: deploy\ndescription: Ships the website to production.\n---\n",
		"skills/keys/SKILL.md":   long,
		"skills/admin/SKILL.md":  "---\nname: admin\ndescription: Removes accounts.\ndisable-model-invocation: true\n---\n",
		"requests.txt":           "ship the website => deploy\nremove an account => admin\nrotate the vault => keys\n",
		"wrong.txt":              "ship the website\n",
	})
	got, summary := printed(t, 1, "-client", "vscode", "-skills", "skills", "-triggers", "requests.txt", "-format", "github")
	for _, want := range []string{
		"::error file=requests.txt,line=2,col=1,title=TRIGGER_MISSED::a model sees no skill \"admin\"",
		"::warning file=skills/keys/SKILL.md,line=1,col=1,title=TRIGGER_CUT::the request \"rotate the vault\" finds the skill by words after the first 1024 characters of the description, which VS Code does not show",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if !strings.HasSuffix(summary, "; 2 of 3 requests as expected\n") {
		t.Errorf("the summary is %q", summary)
	}
	if sarif, _ := printed(t, 1, "-triggers", "requests.txt", "-format", "sarif"); !strings.Contains(sarif, `"ruleId": "TRIGGER_MISSED"`) {
		t.Errorf("no TRIGGER_MISSED in\n%s", sarif)
	}
	for file, want := range map[string]string{"wrong.txt": "wrong.txt: line 1 is", "none.txt": "none.txt"} {
		if _, problem := printed(t, 2, "-triggers", file); !strings.Contains(problem, want) {
			t.Errorf("%s: %q", file, problem)
		}
	}
}

func TestHelpAndVersionCheckNothing(t *testing.T) {
	project(t, nil)
	if _, stderr := printed(t, 0, "-h"); !strings.Contains(stderr, "-client NAME") || !strings.Contains(stderr, "⏎ stands for a line break") {
		t.Errorf("help is %q", stderr)
	}
	if stdout, _ := printed(t, 0, "-version"); !strings.HasPrefix(stdout, "toolshelf-lint ") || stdout == "toolshelf-lint \n" {
		t.Errorf("version is %q", stdout)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestLostOutputIsNotAPass(t *testing.T) {
	project(t, map[string]string{"commands/a.md": warning})
	for name := range formats {
		var stderr bytes.Buffer
		if status := run(t.Context(), []string{"-format", name}, fullDisk{}, &stderr); status != 2 || stderr.String() != "toolshelf-lint: no space left\n" {
			t.Errorf("%s: exit status %d, %q", name, status, stderr.String())
		}
	}
}

func TestOutputIsDeterministic(t *testing.T) {
	project(t, map[string]string{"commands/a.md": warning, "commands/b c.md": "", "skills/a/SKILL.md": wrong, "skills/b/x": ""})
	for name := range formats {
		first, _ := printed(t, 1, "-format", name)
		for range 3 {
			if again, _ := printed(t, 1, "-format", name); again != first {
				t.Errorf("%s (-first +again):\n%s", name, cmp.Diff(first, again))
			}
		}
	}
}

func TestTheSummaryCountsEmptyRules(t *testing.T) {
	project(t, map[string]string{"CLAUDE.md": "Use tabs.", ".claude/rules/empty.md": ""})
	const want = "toolshelf-lint: 2 files checked: 0 errors, 0 warnings\n"
	if _, summary := printed(t, exitPassed, "-client", "claude"); summary != want {
		t.Errorf("the summary is %q, want %q", summary, want)
	}
}
