package documents

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// shownForms has the placeholders and the directives of the table of rules, in order.
var shownForms = []struct {
	form client.Form
	text string
}{
	{client.Arguments, "`$ARGUMENTS`"}, {client.Indexed, "`$ARGUMENTS[0]`"}, {client.Numbered, "`$1`"}, {client.Args, "`{{args}}`"},
	{client.Declared, "`$name` of `arguments`"}, {client.Hinted, "`$name` of `argument-hint` or of a given name"}, {client.Capital, "`$NAME` given as `NAME=value`"},
	{client.Input, "`${input:name}`"}, {client.Value, "`${NAME}` of `Values`"}, {client.At, "`$@`"}, {client.Plus, "`$+`"}, {client.BracedArguments, "`${ARGUMENTS}`, `${@}`"},
	{client.BracedNumber, "`${1}`"}, {client.Slice, "`${@:2}`, `${@:2:3}`"}, {client.NumberSlice, "`${2:3}`"}, {client.Default, "`${1:-text}`, `${@:-text}`"},
	{client.ShellQuote, "``!`command` ``"}, {client.ShellBraces, "`!{command}`"}, {client.FilePath, "`@path`"}, {client.FileBraces, "`@{path}`"},
}

// rulesTable returns the table of docs/rendering.md for the rules of package client.
func rulesTable() string {
	var table strings.Builder
	table.WriteString("| Client | Placeholders and directives | First number | Missing number, name | `$ARGUMENTS` | In code | Escape | Without a placeholder |\n")
	table.WriteString("|---|---|---|---|---|---|---|---|\n")
	var others []string
	row := func(title string, r client.Rules) {
		forms := r.Forms
		if forms == 0 {
			forms = client.DefaultForms
		}
		var shown []string
		for _, f := range shownForms {
			if forms&f.form == 0 {
				continue
			}
			shown = append(shown, f.text)
			if f.form == client.Input && r.Pairs {
				shown[len(shown)-1] += " given as `name=value`"
			}
		}
		numbers := forms&(client.Numbered|client.BracedNumber) != 0
		has := func(of client.Form, text string) string {
			if forms&of == 0 {
				return "–"
			}
			return text
		}
		first := []string{"by the text", "`$1`", "`$0`"}[r.Count]
		if r.Rest {
			first += "; the greatest number takes the rest"
		}
		first += []string{"; not in `$1st`, `$1.50`", "; not in `$1st`", "", "; one digit"}[r.Number]
		if !numbers {
			first = "–"
		}
		missing := []string{"stays", "empty", "error"}
		number := missing[r.NoNumber]
		if !numbers {
			number = "–"
		}
		line := "the line as typed"
		if r.Joined {
			line = "the list, joined by blanks"
		}
		if len(shown) == 0 {
			shown = []string{"none"}
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s, %s | %s | %s | %s | %s |\n", title, strings.Join(shown, ", "), first,
			number, has(client.Declared|client.Hinted|client.Capital, missing[r.NoName]), has(client.Arguments|client.Args, line),
			[]string{"placeholders except `$1`", "placeholders", "nothing", "all: the text is not Markdown"}[r.Code],
			[]string{"`\\$1`, `$$1`", "`\\$1`", "`$$1`", "none"}[r.Escape],
			[]string{"a blank line, `ARGUMENTS: ` and the line", "a blank line and the line", "a blank line and `/name` with the line", "dropped"}[r.Append])
	}
	row("default", client.Rules{})
	for _, c := range client.All() {
		switch {
		case c.Rules != client.Rules{}:
			row(c.Title, c.Rules)
		case len(c.Commands) > 0:
			others = append(others, c.Title)
		}
		if (c.SkillRules != client.Rules{}) && c.SkillRules != c.Rules {
			row(c.Title+", skills", c.SkillRules)
		}
	}
	table.WriteString("\n")
	if len(others) > 0 {
		fmt.Fprintf(&table, "Without rules of their own in the table, these clients have the default rules: %s.\n", strings.Join(others, ", "))
	}
	var skills []string
	for _, c := range client.All() {
		if (c.SkillRules != client.Rules{}) && c.SkillRules == c.Rules {
			skills = append(skills, c.Title)
		}
	}
	fmt.Fprintf(&table, "The rules of these clients hold for commands and skills: %s. Skills without a row have the default rules.\n", strings.Join(skills, ", "))
	return table.String()
}

// tableRows returns the cells of the table below a heading of a page, without
// the marks of code.
func tableRows(t *testing.T, page, heading string) [][]string {
	t.Helper()
	_, section, ok := strings.Cut(page, "\n## "+heading+"\n")
	must.Equal(t, "the page has the section", true, ok)
	section, _, _ = strings.Cut(section, "\n## ")
	var rows [][]string
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		for i, cell := range cells {
			if i > 0 && strings.HasPrefix(cell, "`") && strings.HasSuffix(cell, "`") {
				cells[i] = strings.Trim(cell, "`")
			}
		}
		rows = append(rows, cells)
	}
	if len(rows) < 2 {
		t.Fatalf("the section %q has no table", heading)
	}
	return rows[1:]
}

func TestRenderingDocument(t *testing.T) {
	page := strings.ReplaceAll(string(must.Get(os.ReadFile("docs/rendering.md"))(t)), "\r\n", "\n")
	must.Contain(t, "the table of rules", page, rulesTable())
	examples := map[string]int{}
	for _, row := range tableRows(t, page, "Examples") {
		t.Run(row[0]+"/"+row[1], func(t *testing.T) {
			var rules client.Rules
			if row[0] != "default" {
				c := must.Get(client.Lookup(row[0]))(t)
				must.Len(t, "columns", 4, row)
				rules = c.Rules
			}
			examples[row[0]]++
			doc := agentmd.Parse([]byte("---\narguments: [issue, branch]\n---\n" + unquote(t, row[1])))
			command := toolshelf.Command{Name: "c", Content: string(doc.Body), Frontmatter: doc.Frontmatter}
			r := toolshelf.Renderer{Rules: rules, Values: map[string]string{"CLAUDE_SKILL_DIR": "/skills/c", "selection": "x := 1"}}
			got, err := r.Render(t.Context(), command, toolshelf.ParseArgs(unquote(t, row[2])))
			if row[3] == "error" && err != nil {
				return
			}
			if want := unquote(t, row[3]); err != nil || got.Text != want {
				t.Errorf("got %q, %v; the page says %q", got.Text, err, want)
			}
		})
	}
	for _, c := range client.All() {
		if (c.Rules != client.Rules{}) && examples[c.Name] < 2 {
			t.Errorf("%s has %d examples", c.Name, examples[c.Name])
		}
	}
}

func unquote(t *testing.T, s string) string {
	t.Helper()
	return must.Get(strconv.Unquote(s))(t)
}

// instructionTable returns the table of docs/instructions.md for the clients of package client.
func instructionTable() string {
	var table strings.Builder
	table.WriteString("| Client | Single files | Rules | Imports | Limit |\n|---|---|---|---|---|\n")
	for _, c := range client.All() {
		if len(c.Instructions) == 0 {
			continue
		}
		single, rules := "", ""
		for _, p := range c.Instructions {
			shown := p.Path()
			if p.Single() {
				if shown += "/" + p.Pattern; p.Path() == "." {
					shown = p.Pattern
				}
				if shown = "`" + shown + "`"; p.Parents {
					shown += " ↑"
				}
				if p.Below {
					shown += " ↓"
				}
				switch {
				case single == "":
				case p.Fallback == client.InDirectory:
					single += ", else "
				case p.Fallback == client.InProject:
					single += ", in a project without them "
				default:
					single += ", "
				}
				single += shown
				continue
			}
			shown = "`" + shown + "/" + p.Pattern + "`"
			if p.Parents {
				shown += " ↑"
			}
			if p.Below {
				shown += " ↓"
			}
			var keys []string
			for _, key := range []string{p.Globs, p.When} {
				if key != "" {
					keys = append(keys, "`"+key+"`")
				}
			}
			if keys != nil {
				shown += " (" + strings.Join(keys, ", ") + ")"
			}
			if rules != "" {
				rules += ", "
			}
			rules += shown
		}
		hops, limit := "–", "–"
		if c.ImportHops > 0 {
			hops = fmt.Sprint(c.ImportHops)
		}
		if c.InstructionBytes > 0 {
			limit = fmt.Sprint(c.InstructionBytes>>10, " KiB")
		}
		if rules == "" {
			rules = "–"
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", c.Title, single, rules, hops, limit)
	}
	return table.String()
}

func TestInstructionsDocumentHasTheTableOfClients(t *testing.T) {
	page := must.Get(os.ReadFile("docs/instructions.md"))(t)
	must.Contain(t, "the table of instructions", strings.ReplaceAll(string(page), "\r\n", "\n"),
		instructionTable())
}
