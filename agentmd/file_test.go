package agentmd_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func ExampleParseSkill() {
	skill := agentmd.ParseSkill("pdf", []byte("---\nname: PDF\ndescription: Fills forms: all of them\nallowed-tools: Read Bash(pdftk:*)\n---\nRead the form.\n"))
	fmt.Println(skill.Name, "-", skill.Description, skill.Fields.AllowedTools)
	for _, d := range skill.Diagnostics {
		fmt.Println(d.Severity, d.Code)
	}
	// Output:
	// pdf - Fills forms: all of them [Read Bash(pdftk:*)]
	// error SKILL_NAME_MISMATCH
	// error SKILL_NAME_NOT_LOWERCASE
	// error FRONTMATTER_RECOVERED
}

func ExampleSkill_Check() {
	skill := agentmd.ParseSkill("pdf", []byte("---\nname: pdf\nversion: 2\n---\nRead the form.\n"))
	fmt.Println(skill.Check(client.Claude()))
	fmt.Println(skill.Check(client.AgentSkills()))
	// Output:
	// <nil>
	// Agent Skills rejects the file: line 1: description is missing; describe what the skill does and when to use it (and 1 more reason)
}

func ExampleParseCommand() {
	command := agentmd.ParseCommand("review.md", []byte("---\nargument-hint: <number>\n---\nReview pull request $ARGUMENTS.\n\nReport bugs.\n"))
	fmt.Printf("%s %s: %s\n", command.Name, command.Fields.ArgumentHint, command.Description)
	// Output: review <number>: Review pull request $ARGUMENTS.
}

func ExampleParseAgent() {
	agent := agentmd.ParseAgent("reviewer.md", []byte("---\nname: code-reviewer\ndescription: Reviews code\ntools: Read, Grep\nmodel: opus\n---\nYou review code.\n"))
	fmt.Println(agent.Name, agent.Fields.Tools, agent.Fields.Model)
	// Output: code-reviewer [Read Grep] opus
}

func codes(all []agentmd.Diagnostic) (codes []string) {
	for _, d := range all {
		codes = append(codes, string(d.Severity)+" "+string(d.Code))
	}
	return codes
}

func TestSetOfACommandInTOML(t *testing.T) {
	got, err := agentmd.ParseCommand("commit.toml", []byte("prompt = \"Commit.\"\n")).Set("description", "Commits")
	if want := "description = \"Commits\"\nprompt = \"Commit.\"\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestParseSkillTakesTheNameOfTheDirectory(t *testing.T) {
	for dir, want := range map[string]string{"pdf": "pdf", "x/pdf": "pdf", "x/pdf/": "pdf", "pdf/SKILL.md": "pdf", "skill.md": "", "": "", "/": "", ".": ""} {
		skill := agentmd.ParseSkill(dir, []byte("---\nname: pdf\ndescription: Fills forms\n---\nText.\n"))
		if skill.Name != want || skill.Diagnostics != nil || skill.Check(client.AgentSkills()) != nil {
			t.Errorf("%q: the name is %q, want %q; %v", dir, skill.Name, want, skill.Diagnostics)
		}
	}
	without := agentmd.ParseSkill("", []byte("---\nname: PDF\ndescription: Fills forms\n---\n"))
	if got := without.Diagnostics; len(got) != 1 || got[0].Suggestion != "write name: pdf" {
		t.Errorf("the diagnostics are %v", got)
	}
}

func TestParseCommandTakesTheNameOfThePath(t *testing.T) {
	for file, want := range map[string]string{"a/review.md": "review", "review.md": "review", "a/.md": ".md", "/": "", "": ""} {
		if c := agentmd.ParseCommand(file, nil); c.Name != want || c.File != file {
			t.Errorf("%q: the name is %q, want %q", file, c.Name, want)
		}
	}
}

func TestParseAgentNamesTheAgentByItsHeader(t *testing.T) {
	for _, tt := range []struct{ data, want string }{
		{"---\nname: code-reviewer\n---\n", "code-reviewer"},
		{"---\nname: ''\n---\n", "reviewer"},
		{"You review code.", "reviewer"},
	} {
		if a := agentmd.ParseAgent("reviewer.md", []byte(tt.data)); a.Name != tt.want {
			t.Errorf("%q has the name %q, want %q", tt.data, a.Name, tt.want)
		}
	}
}

func TestCheckReturnsTheReasonsOfTheClient(t *testing.T) {
	mine := client.Client{Name: "mine", Fields: []client.Field{{Name: "description", Files: client.Commands, Required: true, Limit: 5}}}
	for _, tt := range []struct {
		rule string
		err  error
		want []string
	}{
		{"a valid skill", agentmd.ParseSkill("a", []byte("---\nname: a\ndescription: b\n---\n")).Check(client.AgentSkills()), nil},
		{"a skill with another name", agentmd.ParseSkill("a", []byte("---\nname: b\ndescription: b\n---\n")).Check(client.AgentSkills()), []string{"error SKILL_NAME_MISMATCH"}},
		{"a skill without a header", agentmd.ParseSkill("a", []byte("Text.")).Check(client.AgentSkills()), []string{"error SKILL_FRONTMATTER_MISSING"}},
		{"a command without a description", agentmd.ParseCommand("a.md", []byte("---\nx: y\n---\n")).Check(mine), []string{"error FIELD_MISSING"}},
		{"a command with a long description", agentmd.ParseCommand("a.md", []byte("---\ndescription: 123456\n---\n")).Check(mine), []string{"error FIELD_TOO_LONG"}},
		{"a command for a client without rules", agentmd.ParseCommand("a.md", nil).Check(client.Client{}), nil},
		{"a TOML file that is not valid", agentmd.ParseCommand("a.toml", []byte("prompt = ")).Check(client.Gemini()), []string{"error FRONTMATTER_INVALID"}},
		{"an agent without a description", agentmd.ParseAgent("a.md", []byte("---\nname: a\n---\n")).Check(client.Claude()), []string{"error FIELD_MISSING"}},
		{"an agent with its fields", agentmd.ParseAgent("a.md", []byte("---\nname: a\ndescription: b\n---\n")).Check(client.Claude()), nil},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			var got []string
			if rejected := (*agentmd.CheckError)(nil); errors.As(tt.err, &rejected) {
				got = codes(rejected.Diagnostics)
			} else if tt.err != nil {
				t.Fatal(tt.err)
			}
			must.Match(t, "result", tt.want, got)
		})
	}
}

// FuzzParseFiles checks that no file panics, and that each file of the kinds has the header and the
// body of Parse.
func FuzzParseFiles(f *testing.F) {
	for _, data := range []string{"", "---\nname: a\ndescription: b\ntools: [Read\n---\n$1 `$0`\n", "+++\na = 1\n+++\n", "---\narguments: [a, {name: b}]\n---\n!`x`"} {
		f.Add("a", []byte(data))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		doc := agentmd.Parse(data)
		skill, agent, command := agentmd.ParseSkill(name, data), agentmd.ParseAgent(name, data), agentmd.ParseCommand(name, data)
		for _, c := range client.All() {
			_ = errors.Join(skill.Check(c), agent.Check(c), command.Check(c))
		}
		if !skill.Frontmatter.Equal(doc.Frontmatter) || string(skill.Body) != string(doc.Body) || !strings.HasSuffix(name, ".toml") && string(agent.Body) != string(doc.Body) {
			t.Errorf("%q: the document differs", data)
		}
	})
}

// TestCorpusFiles reads public files through this package alone: every header that a YAML library
// accepts has the same texts, no description is lost, and the body is the end of the file.
func TestCorpusFiles(t *testing.T) {
	dir := os.Getenv("TOOLSHELF_CORPUS")
	if dir == "" {
		t.Skip("TOOLSHELF_CORPUS is not set: it names a directory of public command and skill files")
	}
	files, compared, recovered := 0, 0, 0
	must.Do(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.EqualFold(filepath.Ext(path), ".md") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		skill, command := agentmd.ParseSkill(path, data), agentmd.ParseCommand(path, data)
		if !bytes.HasSuffix(data, skill.Body) || !bytes.Equal(skill.Body, command.Body) {
			t.Errorf("%s: the body is not the end of the file", path)
		}
		header := skill.Frontmatter
		if strings.Contains("\n"+header.Raw, "\ndescription: ") && command.Description == "" {
			t.Errorf("%s: the description is lost", path)
		}
		var node yaml.Node
		if header.Format != "yaml" || yaml.Unmarshal([]byte(header.Raw), &node) != nil || len(node.Content) == 0 || agentmd.Parse(data).Diagnostics != nil {
			recovered++
			return nil
		}
		compared++
		for i := 0; i+1 < len(node.Content[0].Content); i += 2 {
			key, value := node.Content[0].Content[i], node.Content[0].Content[i+1]
			if value.Kind == yaml.ScalarNode && value.Tag == "!!str" && header.Text(key.Value) != value.Value {
				t.Errorf("%s: %s is %q, want %q", path, key.Value, header.Text(key.Value), value.Value)
			}
		}
		return nil
	}))
	t.Logf("%d files, %d headers compared, %d without a header or with a defect", files, compared, recovered)
	if compared == 0 {
		t.Error("no header was compared")
	}
}
