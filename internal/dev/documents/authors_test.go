package documents

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A documentedMessage is a row of the tables of messages in docs/authors.md.
type documentedMessage struct {
	code, severity, example string
	files                   []string // the files to which the message may apply
}

// documentedMessages reads the tables of messages.
func documentedMessages(t *testing.T) (all []documentedMessage) {
	t.Helper()
	text := must.Get(os.ReadFile("docs/authors.md"))(t)
	page := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n### ", "\n## ")
	for heading, files := range map[string][]string{
		"Messages for commands and skills": {"commands/review.md", "skills/pdf/SKILL.md"},
		"Messages for commands":            {"commands/review.md"},
		"Messages for agents":              {"agents/review.md"},
		"Messages for instructions":        nil, // the examples need the rules of a client
		"Messages for skills":              {"skills/pdf/SKILL.md"},
		"Messages for approvals":           nil, // Lint reports no such message
		"Messages for plugins":             nil, // Lint of files without plugins reports no such message
		"Messages for MCP servers":         nil, // the examples need the files of a client
	} {
		for _, row := range tableRows(t, page, heading) {
			if len(row) != 4 || row[3] == "" {
				t.Fatalf("%s: wrong row %q", heading, row)
			}
			all = append(all, documentedMessage{strings.Trim(row[0], "`"), row[1], row[2], files})
		}
	}
	return all
}

// documentedCodes returns the comment of each diagnostic code, also of the codes of skills over
// MCP.
func documentedCodes(t *testing.T) map[string]string {
	t.Helper()
	comments := map[string]string{}
	for _, file := range []string{"agentmd/diagnostic_codes.go", "mcpadapter/internal/publish/publication.go"} {
		source := must.Get(os.ReadFile(file))(t)
		for _, code := range regexp.MustCompile(`\bDiagnosticCode += "(\w+)" +// (.*)`).FindAllStringSubmatch(string(source), -1) {
			comments[code[1]] = code[2]
		}
	}
	return comments
}

func TestAuthorsDocumentListsEveryDiagnosticCode(t *testing.T) {
	listed := map[string]string{}
	for _, m := range documentedMessages(t) {
		must.Equal(t, "docs/authors.md lists twice", "", listed[m.code])
		listed[m.code] = m.severity
	}
	want := map[string]string{}
	for code, comment := range documentedCodes(t) {
		want[code], _, _ = strings.Cut(comment, ": ")
	}
	must.Match(t, "listed", want, listed)
}

// lint returns the diagnostics of files. Their severities agree with the comments of the codes, and
// no text names an option of Go, because authors do not know the program.
func lint(t *testing.T, files map[string]string) []toolshelf.Diagnostic {
	t.Helper()
	diagnostics := must.Get(catalogtest.Open(t, toolshelf.WithRoot(catalogtest.Disk(t, files)), toolshelf.WithAgentsDir("agents")).Lint(t.Context()))(t)
	comments := documentedCodes(t)
	for _, d := range diagnostics {
		must.Contain(t, d.Code, comments[string(d.Code)], string(d.Severity))
		must.Equal(t, d, "", goOption.FindString(d.String()))
	}
	return diagnostics
}

var goOption = regexp.MustCompile(`\bWith[A-Z]\w*`)

// TestAuthorsDocumentShowsExamplesOfMessages runs Lint on each example in code. An
// example is a whole file, or lines that replace fields of a valid frontmatter.
func TestAuthorsDocumentShowsExamplesOfMessages(t *testing.T) {
	code := regexp.MustCompile("`([^`]+)`")
	field := regexp.MustCompile(`^\w[\w-]*:`)
	run := 0
	for _, m := range documentedMessages(t) {
		example, whole := strings.CutPrefix(m.example, "file: ")
		// tableRows has removed the marks around a cell that begins and ends with code.
		if !strings.HasPrefix(example, "`") && field.MatchString(example) {
			example = "`" + example + "`"
		}
		if !strings.HasPrefix(example, "`") || strings.TrimSpace(code.ReplaceAllString(example, "")) != "" {
			continue
		}
		run++
		for _, file := range m.files {
			text := ""
			for _, line := range code.FindAllStringSubmatch(example, -1) {
				text += line[1] + "\n"
			}
			if !whole {
				header := ""
				for _, valid := range []string{"name: pdf\n", "description: Fill PDF forms\n"} {
					if key := field.FindString(valid); !strings.Contains("\n"+text, "\n"+key) {
						header += valid
					}
				}
				text = "---\n" + header + text + "---\nText.\n"
			}
			severity := toolshelf.Severity(strings.Fields(m.severity)[0])
			if strings.HasSuffix(file, "SKILL.md") && strings.Contains(m.severity, "(error)") {
				severity = toolshelf.SeverityError
			}
			found := lint(t, map[string]string{file: text})
			if !slices.ContainsFunc(found, func(d toolshelf.Diagnostic) bool {
				return string(d.Code) == m.code && d.Severity == severity
			}) {
				t.Errorf("%s is no %s of the example, in %s:\n%s\n%v", m.code, severity, file, text, found)
			}
		}
	}
	if run < 25 {
		t.Errorf("only %d examples in code", run)
	}
}

// clientTable returns the table of docs/authors.md for the clients of package client.
func clientTable() string {
	cell := func(places []client.Place, unmarked string) string {
		var all []string
		for _, p := range places {
			shown := p.Path()
			if suffix := p.Suffix(); suffix != unmarked {
				shown += "/*" + suffix
			}
			if shown = "`" + shown + "`"; p.Parents {
				shown += " ↑"
			}
			all = append(all, shown)
		}
		if all == nil {
			return "none"
		}
		return strings.Join(all, ", ")
	}
	var table strings.Builder
	table.WriteString("| Client | `-client` of the linter | Commands | Skills | Agents |\n|---|---|---|---|---|\n")
	for _, c := range client.All() {
		fmt.Fprintf(&table, "| %s | `%s` | %s | %s | %s |\n", c.Title, c.Name, cell(c.Commands, ".md"), cell(c.Skills, "/SKILL.md"), cell(c.Agents, ".md"))
	}
	return table.String()
}

func TestAuthorsDocumentHasTheTableOfClients(t *testing.T) {
	page := must.Get(os.ReadFile("docs/authors.md"))(t)
	must.Contain(t, "the table of clients", strings.ReplaceAll(string(page), "\r\n", "\n"), clientTable())
}

// fieldTable returns the table of docs/authors.md for the fields of package client with a
// requirement or a limit.
func fieldTable() string {
	var table strings.Builder
	table.WriteString("| Client | Files | Fields |\n|---|---|---|\n")
	for _, c := range append([]client.Client{client.AgentSkills()}, client.All()...) {
		for _, kind := range []struct {
			of   client.Files
			name string
		}{{client.Commands, "commands"}, {client.Skills, "skills"}, {client.Agents, "agents"}} {
			var all []string
			for _, f := range c.Fields {
				if !f.In(kind.of) {
					continue
				}
				var notes []string
				if f.Required {
					notes = append(notes, "required")
				}
				if f.Directory {
					notes = append(notes, "the name of the directory")
				}
				if f.Limit > 0 {
					notes = append(notes, fmt.Sprintf("at most %d characters", f.Limit))
				}
				if f.Cut > 0 {
					notes = append(notes, fmt.Sprintf("cut after %d characters", f.Cut))
				}
				if notes != nil {
					all = append(all, "`"+f.Name+"` ("+strings.Join(notes, ", ")+")")
				}
			}
			if all != nil {
				fmt.Fprintf(&table, "| %s | %s | %s |\n", c.Title, kind.name, strings.Join(all, ", "))
			}
		}
	}
	return table.String()
}

func TestAuthorsDocumentHasTheTableOfFields(t *testing.T) {
	page := must.Get(os.ReadFile("docs/authors.md"))(t)
	must.Contain(t, "the table of fields", strings.ReplaceAll(string(page), "\r\n", "\n"), fieldTable())
}
