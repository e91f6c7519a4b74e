package client_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A clientCase is a published case: what a client makes of a text and of the arguments that a user
// types. The file testdata/rendering/NAME.txt has the cases of the client NAME. A case is a line with
// the name, and lines with a tab, a key and a Go string. A line "source" names the source of all
// later cases.
type clientCase struct {
	name, source string
	header       []string // lines of the frontmatter
	text         string
	skill        bool              // the text is the text of a skill
	line         string            // what a user types after the name of the command
	named        map[string]string // what a user answers if the client asks for a value
	values       map[string]string // what the client knows, such as the selection
	want         string
	failure      string   // the reason for which the client refuses
	shell        []string // the commands that the client would run

	// The library deviates from the client on purpose, for a reason that docs/rendering.md
	// contains.
	deviates, ours string
}

// clientCases reads the cases of a file.
func clientCases(t *testing.T, file string) []clientCase {
	t.Helper()
	data := must.Get(os.ReadFile(file))(t)
	var (
		cases  []clientCase
		source string
		names  = map[string]bool{}
	)
	for i, line := range strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n") {
		field, isField := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || strings.HasPrefix(line, "# ") || line == "#":
			continue
		case !isField && strings.HasPrefix(line, "source "):
			_, source, _ = strings.Cut(line, " ")
			continue
		case !isField:
			if names[line] || source == "" {
				t.Fatalf("%s:%d: repeated name, or no source", file, i+1)
			}
			names[line] = true
			cases = append(cases, clientCase{name: line, source: source, named: map[string]string{}, values: map[string]string{}})
			continue
		}
		c := &cases[len(cases)-1]
		key, value, _ := strings.Cut(field, " ")
		if key == "deviates" {
			c.deviates = value
			continue
		}
		text, err := strconv.Unquote(value)
		if err != nil {
			t.Fatalf("%s:%d: %s is no Go string", file, i+1, value)
		}
		name, assigned, _ := strings.Cut(text, "=")
		switch key {
		case "header":
			c.header = append(c.header, text)
		case "skill":
			c.skill, c.text = true, text
		case "text":
			c.text = text
		case "line":
			c.line = text
		case "named":
			c.named[name] = assigned
		case "value":
			c.values[name] = assigned
		case "want":
			c.want = text
		case "error":
			c.failure = text
		case "shell":
			c.shell = append(c.shell, text)
		case "ours":
			c.ours = text
		default:
			t.Fatalf("%s:%d: unknown key %q", file, i+1, key)
		}
	}
	return cases
}

// template returns the text of the case as a command or as a skill with the name plan.
func (c clientCase) template(t *testing.T) toolshelf.Template {
	t.Helper()
	header := slices.Clone(c.header)
	if c.skill {
		header = append(header, "name: plan", "description: Plans.")
	}
	file := c.text
	if len(header) > 0 {
		file = "---\n" + strings.Join(header, "\n") + "\n---\n" + file
	}
	catalog := catalogtest.Open(t,
		toolshelf.WithCommandsFS("case", fstest.MapFS{"plan.md": &fstest.MapFile{Data: []byte(file)}}),
		toolshelf.WithSkillsFS("case", fstest.MapFS{"plan/SKILL.md": &fstest.MapFile{Data: []byte(file)}}))
	if c.skill {
		skill, err := catalog.GetSkill(t.Context(), "plan")
		if err != nil || skill.Content != c.text {
			t.Fatalf("skill %q: %v", skill.Content, err)
		}
		return skill
	}
	command, err := catalog.Get(t.Context(), "plan")
	if err != nil || command.Content != c.text {
		t.Fatalf("command %q: %v", command.Content, err)
	}
	return command
}

// TestPublishedCases renders each case by the rules of the client. The file default.txt has the
// cases of the default rules.
func TestPublishedCases(t *testing.T) {
	page, err := os.ReadFile("../docs/rendering.md")
	if err != nil {
		t.Fatal(err)
	}
	document := strings.Join(strings.Fields(string(page)), " ")
	files := must.Get(filepath.Glob("testdata/rendering/*.txt"))(t)
	all, agree := 0, 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		var row client.Client
		if name != "default" {
			if row, err = client.Lookup(name); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range clientCases(t, file) {
			all++
			if c.deviates == "" {
				agree++
			}
			t.Run(name+"/"+c.name, func(t *testing.T) {
				rules := row.Rules
				if c.skill {
					rules = row.SkillRules
				}
				args := toolshelf.ParseArgs(c.line)
				args.Named = c.named
				got, err := toolshelf.Renderer{Rules: rules, Values: c.values}.Render(t.Context(), c.template(t), args)
				var shell []string
				for _, d := range got.Directives {
					if d.Kind == toolshelf.DirectiveShell {
						shell = append(shell, d.Text)
					}
				}
				same := got.Text == c.want && (err != nil) == (c.failure != "") && (c.shell == nil || slices.Equal(shell, c.shell))
				switch {
				case same && c.deviates != "":
					t.Error("the library does not deviate; remove the reason")
				case same:
				case c.deviates == "":
					t.Errorf("text %q, line %q: got %q, commands %q, error %v\nwant %q, commands %q, error %q: %s",
						c.text, c.line, got.Text, shell, err, c.want, c.shell, c.failure, c.source)
				case got.Text != c.ours || err != nil:
					t.Errorf("text %q, line %q: got %q, error %v; want the deviation %q", c.text, c.line, got.Text, err, c.ours)
				case !strings.Contains(document, c.deviates):
					t.Errorf("docs/rendering.md does not contain %q", c.deviates)
				}
			})
		}
	}
	t.Logf("%d of %d published cases", agree, all)
	if agree < 540 || agree*100 < all*95 {
		t.Errorf("%d cases of %d have the result of the client; want 540, and 95 %% of all", agree, all)
	}
}
