package documents

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
)

// docRenderers has the Renderer values that docs/rendering.md names.
var docRenderers = map[string]toolshelf.Renderer{
	"Renderer{}":             {},
	"Renderer{InCode: true}": {InCode: true},
	"Renderer{CountFromZero: true, InCode: true}": {CountFromZero: true, InCode: true},
	"Renderer{InCode: true, NoAppend: true}":      {InCode: true, NoAppend: true},
}

// tableRows returns the cells of the table below a heading of a page, without
// the marks of code.
func tableRows(t *testing.T, page, heading string) [][]string {
	t.Helper()
	_, section, ok := strings.Cut(page, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("the page has no section %q", heading)
	}
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
	page, err := os.ReadFile("docs/rendering.md")
	if err != nil {
		t.Fatal(err)
	}
	renderers := map[string]toolshelf.Renderer{}
	examples := map[string]int{}
	for _, row := range tableRows(t, string(page), "Renderers") {
		r, ok := docRenderers[row[len(row)-1]]
		if !ok {
			t.Errorf("%s: unknown %s", row[0], row[len(row)-1])
		}
		renderers[row[0]] = r
	}
	files := map[string]string{"commands/c.md": "---\narguments: [issue, branch]\nargument-hint: <issue> <branch> [label]\n---\n"}
	headed, err := catalogtest.Open(t, toolshelf.WithRoot(catalogtest.Disk(t, files))).Get(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range tableRows(t, string(page), "Examples") {
		client := row[0]
		t.Run(client+"/"+row[1], func(t *testing.T) {
			r, ok := renderers[client]
			if !ok || len(row) != 4 {
				t.Fatalf("unknown client or wrong row: %q", row)
			}
			examples[client]++
			text, want := unquote(t, row[1]), unquote(t, row[3])
			command := toolshelf.Command{Content: text}
			if strings.HasPrefix(client, "Claude Code") {
				command.Frontmatter = headed.Frontmatter
			}
			var args []string
			named := map[string]string{}
			for rest := strings.TrimPrefix(row[2], "none"); rest != ""; rest = strings.TrimSpace(rest) {
				quoted, err := strconv.QuotedPrefix(rest)
				if err != nil {
					t.Fatalf("arguments %s: %v", row[2], err)
				}
				rest = rest[len(quoted):]
				arg := unquote(t, quoted)
				if name, value, ok := strings.Cut(arg, "="); ok {
					named[name] = value
				} else {
					args = append(args, arg)
				}
			}
			got, err := r.Render(t.Context(), command, args...)
			if len(named) > 0 {
				got, err = r.RenderNamed(t.Context(), command, named)
			}
			if err != nil || got.Text != want {
				t.Errorf("got %q, %v; the page says %q", got.Text, err, want)
			}
		})
	}
	for client := range renderers {
		if examples[client] < 2 {
			t.Errorf("%s has %d examples", client, examples[client])
		}
	}
}

func unquote(t *testing.T, s string) string {
	t.Helper()
	text, err := strconv.Unquote(s)
	if err != nil {
		t.Fatalf("%s is no Go string: %v", s, err)
	}
	return text
}
