package instruction_test

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

//go:embed testdata/projects.txt
var projects string

// TestProjects runs the steps of testdata/projects.txt, which describes the steps.
func TestProjects(t *testing.T) {
	p := new(steps)
	for q := range must.Questions(projects) {
		if q.Title != p.name {
			p = &steps{name: q.Title, files: map[string]string{}, root: toolshelf.WithRoot("/repo")}
		}
		if p.line = q.Line; !q.Asks {
			p.set(q.Query)
			continue
		}
		t.Run(p.name, func(t *testing.T) { p.ask(t, q.Query, q.Want) })
	}
}

// steps are a project after some of its steps.
type steps struct {
	name                             string
	line                             int
	files                            map[string]string
	root, parents, clients, refusing toolshelf.Option
}

func (p *steps) set(step string) {
	word, rest, _ := strings.Cut(step, " ")
	switch word {
	case "clients":
		var rows []client.Client
		for _, name := range strings.Fields(strings.TrimPrefix(rest, "none")) {
			row, err := client.Lookup(name)
			if rows = append(rows, row); err != nil {
				panic(err)
			}
		}
		p.clients = toolshelf.WithInstructions(rows...)
	case "file":
		name, text, _ := strings.Cut(rest, " ")
		if below, ok := strings.CutPrefix(name, "~/"); ok {
			name = "/home/me/" + below
		} else if name[0] != '/' {
			name = "/repo/" + name
		}
		p.files[name] = strings.Join(must.Arguments(text), "")
	case "root":
		dir, _, parents := strings.Cut(rest, " ")
		if p.root = toolshelf.WithRoot(dir); parents {
			p.parents = toolshelf.WithParents("")
		}
	case "refuse":
		kind, text, _ := strings.Cut(rest, " ")
		p.refusing = toolshelf.WithInstructionFilter(func(i toolshelf.Instruction) bool {
			return kind == "path" && i.Path != text ||
				kind == "text" && !strings.Contains(i.Text, text)
		})
	default:
		panic("unknown step " + word)
	}
}

func (p *steps) ask(t *testing.T, query, want string) {
	word, rest, _ := strings.Cut(query, " ")
	args := strings.Fields(rest)
	if word == "mode" {
		header := must.Arguments(rest)[2]
		if header != "" {
			header = "---\n" + header + "\n---\n"
		}
		p.files = map[string]string{"/repo/" + args[1]: header + "Text.\n"}
		p.set("clients " + args[0])
	}
	c := memory(t, p.files, p.root, p.parents, p.clients, p.refusing,
		toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir())
	equal := func(got string) {
		t.Helper()
		must.Equal(t, fmt.Sprintf("line %d", p.line), want, got)
	}
	switch word {
	case "list":
		for _, path := range args {
			for range 2 { // with kept entries
				equal(strings.Join(pathsOf(t, c, path), " "))
			}
		}
	case "scope":
		equal(joined(instructions(t, c, args[0]), " ", func(i toolshelf.Instruction) string { return i.Scope }))
	case "mode":
		equal(joined(instructions(t, c, "a.go"), " ", func(i toolshelf.Instruction) string { return string(i.Mode) }))
	case "sizes":
		equal(joined(instructions(t, c, args[0], toolshelf.Imports(0)), ", ", func(i toolshelf.Instruction) string {
			return strings.Join(append([]string{i.Path, strconv.Itoa(len(i.Text))}, codesOf(i)...), " ")
		}))
	case "prompt":
		equal(strconv.Quote(promptOf(t, c, args[0]).Text))
	case "show":
		var opts []toolshelf.InstructionOption
		if len(args) > 1 {
			opts = append(opts, toolshelf.Imports(must.Get(strconv.Atoi(args[1]))(t)))
		}
		equal(joined(instructions(t, c, args[0], opts...), "; ", shown))
	case "lint":
		none := func(toolshelf.CommandInfo) bool { return false }
		view := must.Get(c.View(toolshelf.WithCommandFilter(none)))(t)
		for _, c := range []*toolshelf.Catalog{c, view} {
			equal(strings.Join(linted(t, c), ", "))
		}
	default:
		t.Fatalf("line %d: unknown step %s", p.line, word)
	}
}

func joined(
	all []toolshelf.Instruction, separator string, text func(toolshelf.Instruction) string,
) string {
	var texts []string
	for _, i := range all {
		texts = append(texts, text(i))
	}
	return strings.Join(texts, separator)
}

func shown(i toolshelf.Instruction) string {
	text := fmt.Sprintf("%s %q", i.Path, i.Text)
	if i.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(i.Text))) {
		text += " of another digest"
	}
	if i.Imports != nil {
		text += " imports " + strings.Join(i.Imports, " ")
	}
	for _, d := range i.Diagnostics {
		text += fmt.Sprintf(" %s:%d %s", d.Path, d.Line, d.Code)
	}
	return text
}
